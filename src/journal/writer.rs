//! The writer thread: takes all batches that wait, has them put on disk with one write and one sync a file, and then
//! releases them in the order they came. Nothing is released before it is on disk or has failed to get there.

use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::batch::{Batch, Worth, check, size};
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

/// How long the thread waits for a batch before it looks at the disk.
const LOOK: Duration = Duration::from_secs(1);

/// The ends of a journal that is being written by its [`Writer`].
pub struct Journal<T> {
    queue: Sender<Batch<T>>,
    health: Arc<Health>,
    lookup: Lookup,
}

/// The work of the writer thread; see [`Store::writer`].
pub struct Writer<T, B, R> {
    store: Store,
    batches: Receiver<Batch<T>>,
    begin: B,
    release: R,
    /// The group being written: what to give back, what it is worth, and whether it was refused unwritten.
    held: Vec<(T, Worth, Result<(), JournalError>)>,
}

impl Store {
    /// A writer on a queue of `capacity` batches, for a thread of its own. It calls `begin` before it writes a batch, for
    /// what must not wait for this disk, and `release` once for every batch, in order.
    /// With an error the batch is not known to be on disk: what depends on it must not happen. Its records are still written
    /// ahead of later ones when the disk works again, as far as 4 MiB of them.
    pub fn writer<T, B, R>(self, capacity: usize, begin: B, release: R) -> (Journal<T>, Writer<T, B, R>)
    where
        B: FnMut(&T),
        R: FnMut(T, Result<(), Arc<JournalError>>),
    {
        let (queue, batches) = bounded(capacity);
        let journal = Journal { queue, health: self.health(), lookup: self.lookup() };
        (journal, Writer { store: self, batches, begin, release, held: Vec::with_capacity(GROUP) })
    }
}

impl<T> Journal<T> {
    /// The queue; its length and capacity say how busy the disk is. It is disconnected once the writer is dead.
    pub fn queue(&self) -> Sender<Batch<T>> {
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
}

impl<T, B: FnMut(&T), R: FnMut(T, Result<(), Arc<JournalError>>)> Writer<T, B, R> {
    /// Writes until the journal and every clone of its queue are dropped, and all batches are released.
    pub fn run(mut self) {
        let mut next = None;
        loop {
            let first = match next.take() {
                Some(batch) => batch,
                None => match self.batches.recv_timeout(LOOK) {
                    Ok(batch) => batch,
                    Err(RecvTimeoutError::Timeout) => {
                        self.at_disk(|writer| {
                            writer.store.look_at_places();
                            writer.store.retry_backlog();
                            writer.store.look_at_space();
                        });
                        continue;
                    }
                    Err(RecvTimeoutError::Disconnected) => return,
                },
            };
            next = self.at_disk(|writer| {
                let next = writer.group(first);
                writer.store.retry_backlog();
                writer.store.look_at_space();
                next
            });
        }
    }

    /// Does what may take as long as the disk likes, for all to see.
    fn at_disk<D>(&mut self, deed: impl FnOnce(&mut Self) -> D) -> D {
        let health = self.store.health();
        health.set_at_disk(true);
        let done = deed(self);
        health.set_at_disk(false);
        done
    }

    /// Writes one batch and those that wait behind it; gives back the first that belongs to another day's file.
    fn group(&mut self, first: Batch<T>) -> Option<Batch<T>> {
        let (day, before) = (day_of(first.at_ms), self.store.unwritten());
        let (mut bytes, mut next) = (0, Some(first));
        while let Some(batch) = next.take() {
            if day_of(batch.at_ms) != day {
                next = Some(batch);
                break;
            }
            let Batch { events, risk, worth, after, .. } = batch;
            (self.begin)(&after);
            let worth = if risk.is_empty() || worth == Worth::Later { worth } else { Worth::Own };
            let length = size(&events, &risk);
            let checked = check(&events, &risk).and_then(|()| self.store.admit(worth, length));
            if checked.is_ok() {
                bytes += length;
                self.store.take(events, risk, worth);
            }
            self.held.push((after, worth, checked));
            if self.held.len() >= GROUP || bytes >= GROUP_BYTES {
                break;
            }
            next = self.batches.try_recv().ok();
        }
        let written = if bytes > 0 { self.store.commit(day, before) } else { Ok(()) };
        // Nothing but a kill can be asked for here: the group is on disk.
        let _passed = self.store.faults().pass(Step::Release);
        for (after, worth, checked) in self.held.drain(..) {
            // What the commit let go of for the sake of others is refused, whatever became of those.
            let checked = checked.and_then(|()| if bytes > 0 { self.store.let_go(worth) } else { Ok(()) });
            let result = checked.map_err(Arc::new).and_then(|()| written.clone());
            (self.release)(after, result);
        }
        next
    }
}
