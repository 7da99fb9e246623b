//! The writer thread: takes all batches that wait, has them put on disk with one write and one sync a file, and then
//! releases them in the order they came. Nothing is released before it is on disk or has failed to get there.

use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, never, select};

use super::batch::{Batch, Records, size};
use super::disk::{Disk, Hand};
use super::error::JournalError;
use super::health::Health;
use super::lookup::Lookup;
use super::store::Store;
use crate::base::day::day_of;
use crate::base::sync::look_out;
use crate::faults::{Faults, Step};

/// Batches written at once.
const GROUP: usize = 256;

/// Bytes of text after which no further batch is taken into a group.
const GROUP_BYTES: usize = 4 * 1024 * 1024;

/// How long the thread waits for a batch before it looks at the disk.
const LOOK: Duration = Duration::from_secs(1);

/// How long it stays awake for a batch that it was called for.
const AWAKE: Duration = Duration::from_micros(500);

/// The ends of a journal that is being written by its [`Writer`].
pub struct Journal<T> {
    queue: Sender<Batch<T>>,
    call: Sender<()>,
    health: Arc<Health>,
    lookup: Lookup,
}

/// The work of the writer thread; see [`Store::writer`].
pub struct Writer<T, B, R> {
    hand: Hand,
    faults: Faults,
    health: Arc<Health>,
    batches: Receiver<Batch<T>>,
    calls: Receiver<()>,
    begin: B,
    release: R,
    /// What to give back of the group being written.
    held: Vec<T>,
}

impl Store {
    /// A writer on a queue of `capacity` batches, for a thread of its own. It calls `begin` before it writes a batch, for
    /// what must not wait for this disk, and `release` once for every batch, in order.
    /// With an error the batch is not known to be on disk: what depends on it must not happen. Its records are still written
    /// ahead of later ones when the disk works again, as far as 4 MiB of them.
    ///
    /// Where a fallback folder stands by, the [`Disk`] is the work of one more thread, which is given up when it hangs.
    pub fn writer<T, B, R>(self, capacity: usize, begin: B, release: R) -> (Journal<T>, Writer<T, B, R>, Option<Disk>)
    where
        B: FnMut(&T),
        R: FnMut(T, Result<(), Arc<JournalError>>),
    {
        let ((queue, batches), (call, calls)) = (bounded(capacity), bounded(1));
        let (health, faults, lookup) = (self.health(), self.faults().clone(), self.lookup());
        let (hand, disk) = Hand::of(self);
        let journal = Journal { queue, call, health: Arc::clone(&health), lookup };
        let held = Vec::with_capacity(GROUP);
        (journal, Writer { hand, faults, health, batches, calls, begin, release, held }, disk)
    }
}

impl<T> Journal<T> {
    /// The queue; its length and capacity say how busy the disk is. It is disconnected once the writer is dead.
    pub fn queue(&self) -> Sender<Batch<T>> {
        self.queue.clone()
    }

    /// Wakes the writer for a batch that is about to come. It is not to be waited for: one call is as good as many.
    pub fn call(&self) -> Sender<()> {
        self.call.clone()
    }

    /// How the journal stands.
    pub fn health(&self) -> Arc<Health> {
        Arc::clone(&self.health)
    }

    /// Looks up decisions.
    pub fn lookup(&self) -> Lookup {
        self.lookup.clone()
    }
}

impl<T, B: FnMut(&T), R: FnMut(T, Result<(), Arc<JournalError>>)> Writer<T, B, R> {
    /// Writes until the journal and every clone of its queue are dropped, and all batches are released.
    pub fn run(mut self) {
        let mut next = None;
        loop {
            let first = match next.take() {
                Some(batch) => batch,
                None => match self.next() {
                    Ok(batch) => batch,
                    Err(RecvTimeoutError::Timeout) => {
                        self.at_disk(|writer| writer.hand.look(true));
                        continue;
                    }
                    Err(RecvTimeoutError::Disconnected) => return self.hand.end(),
                },
            };
            next = self.at_disk(|writer| {
                let next = writer.group(first);
                writer.hand.look(false);
                next
            });
        }
    }

    /// The next batch, waited for as long as nothing else is to be done.
    fn next(&mut self) -> Result<Batch<T>, RecvTimeoutError> {
        select! {
            recv(self.batches) -> batch => batch.map_err(|_| RecvTimeoutError::Disconnected),
            recv(self.calls) -> call => {
                if call.is_err() {
                    self.calls = never();
                }
                let called = look_out(AWAKE, || self.batches.try_recv().ok());
                called.map_or_else(|| self.batches.recv_timeout(LOOK), Ok)
            }
            default(LOOK) => Err(RecvTimeoutError::Timeout),
        }
    }

    /// Does what may take as long as the disk likes, for all to see.
    fn at_disk<D>(&mut self, deed: impl FnOnce(&mut Self) -> D) -> D {
        self.health.set_at_disk(true);
        let done = deed(self);
        self.health.set_at_disk(false);
        done
    }

    /// Writes one batch and those that wait behind it; gives back the first that belongs to another day's file.
    fn group(&mut self, first: Batch<T>) -> Option<Batch<T>> {
        let day = day_of(first.at_ms);
        let (mut bytes, mut next, mut group) = (0, Some(first), Vec::new());
        while let Some(batch) = next.take() {
            if day_of(batch.at_ms) != day {
                next = Some(batch);
                break;
            }
            let Batch { events, risk, worth, after, .. } = batch;
            (self.begin)(&after);
            bytes += size(&events, &risk);
            group.push(Records { events, risk, worth });
            self.held.push(after);
            if self.held.len() >= GROUP || bytes >= GROUP_BYTES {
                break;
            }
            next = self.batches.try_recv().ok();
        }
        let written = self.hand.write(day, group);
        // Nothing but a kill can be asked for here: the group is on disk.
        let _passed = self.faults.pass(Step::Release);
        for (after, result) in self.held.drain(..).zip(written) {
            (self.release)(after, result);
        }
        next
    }
}
