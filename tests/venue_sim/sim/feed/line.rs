//! One socket's way out: a bounded queue of what it is to be sent and when, and the ways in which it ends.
//!
//! The venue's lock is held while frames are queued and never while they are written, so that a client that reads
//! nothing holds up nobody. What does not fit in its queue any more ends its socket.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Frames that may wait for one socket.
const MOST_FRAMES: usize = 8_192;
/// Bytes that may.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// What goes out.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    Text(String),
    Binary(Vec<u8>),
    /// Bytes on the wire as they are, whatever a frame should look like.
    Wire(Vec<u8>),
    /// A close frame with this reason, and then the end.
    Close(&'static str),
    /// The end.
    End,
}

impl Item {
    fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Binary(bytes) | Self::Wire(bytes) => bytes.len(),
            Self::Close(reason) => reason.len(),
            Self::End => 0,
        }
    }
}

/// When an item leaves.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Leaves {
    Now,
    /// And with it all that follows.
    After(Duration),
    /// What follows may overtake it.
    Late(Duration),
    /// It waits for the next item of the same feed to overtake it, for so long at most.
    Overtaken(Duration, &'static str),
}

struct Waiting {
    item: Item,
    /// The feed whose next item sets it free.
    until: Option<&'static str>,
}

#[derive(Default)]
struct Queue {
    /// By when they leave, and by how they came.
    waiting: BTreeMap<(Instant, u64), Waiting>,
    next: u64,
    bytes: usize,
    /// Nothing leaves before this.
    floor: Option<Instant>,
    ended: bool,
}

/// The way out of one socket, shared by who queues, who writes and who reads.
pub(crate) struct Line {
    stream: TcpStream,
    queue: Mutex<Queue>,
    changed: Condvar,
    /// One writes at a time, a whole frame.
    writing: Mutex<()>,
    silent: AtomicBool,
}

impl Line {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            queue: Mutex::default(),
            changed: Condvar::new(),
            writing: Mutex::new(()),
            silent: AtomicBool::new(false),
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues an item of `feed`. False when there is no room for it.
    pub(crate) fn push(&self, feed: &'static str, item: Item, leaves: Leaves) -> bool {
        let mut queue = self.queue();
        if queue.ended {
            return true;
        }
        if queue.waiting.len() >= MOST_FRAMES || queue.bytes.saturating_add(item.len()) > MOST_BYTES {
            return false;
        }
        let now = Instant::now();
        let floor = queue.floor.map_or(now, |floor| floor.max(now));
        let (at, until) = match leaves {
            Leaves::Now => (floor, None),
            Leaves::After(wait) => {
                let at = floor.max(now + wait);
                queue.floor = Some(at);
                (at, None)
            }
            Leaves::Late(wait) => (floor.max(now + wait), None),
            Leaves::Overtaken(wait, feed) => (floor.max(now + wait), Some(feed)),
        };
        queue.put(at, Waiting { item, until });
        if until.is_none() {
            queue.free(feed, at);
        }
        drop(queue);
        self.changed.notify_all();
        true
    }

    /// The next item that is due; waits for it. None when the socket is at its end.
    pub(crate) fn next(&self) -> Option<Item> {
        let mut queue = self.queue();
        loop {
            if queue.ended {
                return None;
            }
            let now = Instant::now();
            let due = queue.waiting.first_key_value().map(|(&(at, _), _)| at);
            queue = match due {
                Some(at) if at <= now => return queue.take(),
                Some(at) => {
                    let waited = self.changed.wait_timeout(queue, at - now);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Items that wait.
    pub(crate) fn queued(&self) -> usize {
        self.queue().waiting.len()
    }

    /// From now on nothing goes out, and nobody is told.
    pub(crate) fn silence(&self) {
        self.silent.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_silent(&self) -> bool {
        self.silent.load(Ordering::SeqCst)
    }

    /// Ends the socket without a word.
    pub(crate) fn cut(&self) {
        let mut queue = self.queue();
        queue.ended = true;
        queue.waiting.clear();
        drop(queue);
        self.changed.notify_all();
        // One that is already gone needs no ending.
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Waits for the end, for so long at most.
    pub(crate) fn wait_end(&self, most: Duration) {
        let queue = self.queue();
        let waited = self.changed.wait_timeout_while(queue, most, |queue| !queue.ended);
        drop(waited);
    }

    /// Writes bytes as they are, unless the socket has fallen silent.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        if self.is_silent() {
            return Ok(());
        }
        let _turn = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        (&self.stream).write_all(bytes)
    }
}

impl Queue {
    fn put(&mut self, at: Instant, waiting: Waiting) {
        self.bytes = self.bytes.saturating_add(waiting.item.len());
        self.waiting.insert((at, self.next), waiting);
        self.next = self.next.wrapping_add(1);
    }

    fn take(&mut self) -> Option<Item> {
        let item = self.waiting.pop_first()?.1.item;
        self.bytes = self.bytes.saturating_sub(item.len());
        Some(item)
    }

    /// What waited to be overtaken by an item of `feed`, follows it.
    fn free(&mut self, feed: &'static str, at: Instant) {
        let freed: Vec<_> =
            self.waiting.iter().filter(|(_, held)| held.until == Some(feed)).map(|(&key, _)| key).collect();
        for key in freed {
            if let Some(held) = self.waiting.remove(&key) {
                self.waiting.insert((at, self.next), Waiting { until: None, ..held });
                self.next = self.next.wrapping_add(1);
            }
        }
    }
}

/// The socket as the WebSocket code sees it: frames go out whole, one at a time.
pub(crate) struct Wire<'a>(pub(crate) &'a Line);

impl Read for Wire<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&self.0.stream).read(buffer)
    }
}

impl Write for Wire<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
