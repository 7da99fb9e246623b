//! Batches on their way to the journal, in order: the decision loop waits for no full queue.

use std::collections::VecDeque;

use crossbeam_channel::{Sender, TrySendError};

use crate::journal::Batch;
use crate::service::on_commit::AfterCommit;

/// Batches that may wait here before nothing more is taken in: more than all connections together can have at work.
/// Entries are refused from the first on, so that this is room for exits.
const MOST: usize = 8_192;
/// The same as the length of their texts.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// The journal's queue, and what it has no room for.
pub(in crate::service) struct Backlog {
    journal: Sender<Batch<AfterCommit>>,
    /// Wakes the journal's thread.
    call: Sender<()>,
    /// Oldest first.
    batches: VecDeque<Batch<AfterCommit>>,
}

impl Backlog {
    pub(in crate::service) fn new(journal: Sender<Batch<AfterCommit>>, call: Sender<()>) -> Self {
        Self { journal, call, batches: VecDeque::new() }
    }

    /// Has the journal's thread awake by the time that a batch comes.
    pub(super) fn announce(&self) {
        // Called already, or busy.
        _ = self.call.try_send(());
    }

    pub(super) fn push(&mut self, batch: Batch<AfterCommit>) {
        self.batches.push_back(batch);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.batches.len()
    }

    /// Length and capacity of the journal's queue.
    pub(super) fn queue(&self) -> (usize, usize) {
        (self.journal.len(), self.journal.capacity().unwrap_or_default())
    }

    /// Whether not even the room kept for exits is left.
    pub(super) fn is_full(&self) -> bool {
        let texts = self.batches.iter().flat_map(|batch| &batch.events).map(|line| line.text.len());
        self.batches.len() > MOST || texts.fold(0, usize::saturating_add) > MOST_BYTES
    }

    /// Gives the journal as many batches as it has room for.
    ///
    /// # Errors
    /// When its thread is gone.
    pub(super) fn flush(&mut self) -> Result<(), String> {
        while let Some(batch) = self.batches.pop_front() {
            match self.journal.try_send(batch) {
                Ok(()) => {}
                Err(TrySendError::Full(batch)) => {
                    self.batches.push_front(batch);
                    return Ok(());
                }
                Err(TrySendError::Disconnected(_)) => return Err("the journal's thread is gone".to_owned()),
            }
        }
        Ok(())
    }
}
