//! The writer thread: takes all batches that wait, has them put on disk with one write and one sync a file, and then
//! releases them in the order they came. Nothing is released before it is on disk or has failed to get there.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::batch::{Batch, check, size};
use super::error::JournalError;
use super::health::Health;
use super::lookup::Lookup;
use super::store::Store;
use crate::base::day::day_of;
use crate::faults::Step;

/// Batches written at once.
const GROUP: usize = 256;

/// Bytes of text after which no further batch is taken into a group.
const GROUP_BYTES: usize = 4 * 1024 * 1024;

/// How long the thread waits for a batch while something is wrong with the disk.
const RETRY: Duration = Duration::from_secs(1);

/// A journal with its writer thread. Dropping it waits until all batches are released.
pub struct Journal<T> {
    queue: Option<Sender<Batch<T>>>,
    health: Arc<Health>,
    lookup: Lookup,
    thread: Option<JoinHandle<()>>,
}

impl Store {
    /// Starts the writer thread (named `journal`) on a queue of `capacity` batches. It calls `release` once for every
    /// batch, in order. With an error the batch is not known to be on disk: what depends on it must not happen. Its
    /// records are still written ahead of later ones when the disk works again, as far as 4 MiB of them.
    pub fn start<T: Send + 'static>(
        mut self,
        capacity: usize,
        release: impl FnMut(T, Result<(), Arc<JournalError>>) + Send + 'static,
    ) -> io::Result<Journal<T>> {
        let (queue, batches) = bounded(capacity);
        let (health, lookup) = (self.health(), self.lookup());
        self.keep_index()?;
        let mut writer = Writer { store: self, release, held: Vec::with_capacity(GROUP) };
        let thread = std::thread::Builder::new().name("journal".to_owned()).spawn(move || writer.run(&batches))?;
        Ok(Journal { queue: Some(queue), health, lookup, thread: Some(thread) })
    }
}

impl<T> Journal<T> {
    /// The queue; its length and capacity say how busy the disk is. It is disconnected once the writer is dead. The thread
    /// ends only after every clone of the sender is dropped.
    pub fn queue(&self) -> Option<Sender<Batch<T>>> {
        self.queue.clone()
    }

    /// How the journal stands.
    pub fn health(&self) -> Arc<Health> {
        Arc::clone(&self.health)
    }

    /// Looks up decisions.
    pub fn lookup(&self) -> Lookup {
        self.lookup.clone()
    }

    /// Lets go of the journal without waiting for its thread, which the process's end takes with it.
    pub fn leave(mut self) {
        drop(self.thread.take());
    }

    /// False once the writer thread has ended, which it does by itself only by a defect.
    pub fn is_alive(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }
}

impl<T> Drop for Journal<T> {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported where it happened.
            let _panicked = thread.join();
        }
    }
}

struct Writer<T, R> {
    store: Store,
    release: R,
    /// The group being written: what to give back, and whether it was refused unwritten.
    held: Vec<(T, Result<(), JournalError>)>,
}

impl<T, R: FnMut(T, Result<(), Arc<JournalError>>)> Writer<T, R> {
    fn run(&mut self, batches: &Receiver<Batch<T>>) {
        let mut next = None;
        loop {
            let first = match next.take() {
                Some(batch) => batch,
                None if !self.store.needs_retry() => match batches.recv() {
                    Ok(batch) => batch,
                    Err(_) => return,
                },
                None => match batches.recv_timeout(RETRY) {
                    Ok(batch) => batch,
                    Err(RecvTimeoutError::Timeout) => {
                        self.store.retry_backlog();
                        continue;
                    }
                    Err(RecvTimeoutError::Disconnected) => return,
                },
            };
            next = self.group(first, batches);
            self.store.retry_backlog();
        }
    }

    /// Writes one batch and those that wait behind it; gives back the first that belongs to another day's file.
    fn group(&mut self, first: Batch<T>, batches: &Receiver<Batch<T>>) -> Option<Batch<T>> {
        let (day, unwritten) = (day_of(first.at_ms), self.store.unwritten());
        let (mut bytes, mut next) = (0, Some(first));
        while let Some(batch) = next.take() {
            if day_of(batch.at_ms) != day {
                next = Some(batch);
                break;
            }
            let Batch { events, risk, after, .. } = batch;
            let checked = check(&events, &risk);
            if checked.is_ok() {
                bytes += size(&events, &risk);
                self.store.take(events, risk);
            }
            self.held.push((after, checked));
            if self.held.len() >= GROUP || bytes >= GROUP_BYTES {
                break;
            }
            next = batches.try_recv().ok();
        }
        let written = if bytes > 0 { self.store.commit(day, unwritten) } else { Ok(()) };
        // Nothing but a kill can be asked for here: the group is on disk.
        let _passed = self.store.faults().pass(Step::Release);
        for (after, checked) in self.held.drain(..) {
            let result = checked.map_err(Arc::new).and_then(|()| written.clone());
            (self.release)(after, result);
        }
        next
    }
}
