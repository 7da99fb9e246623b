//! The records that wait to be written: those of the batches at hand, and before them what the disk refused. Memory only.

use super::batch::{Line, RiskLine, size, with_position};
use super::segment::Position;

/// Text that the disk refused is kept up to this (bytes) and written ahead of later records.
const MAX_UNWRITTEN: usize = 4 * 1024 * 1024;

/// Records to be written next, in order.
#[derive(Default)]
pub(super) struct Backlog {
    pub(super) events: Vec<Line>,
    pub(super) risk: Vec<Record>,
    size: usize,
}

/// A risk record to be written.
pub(super) struct Record {
    pub(super) text: String,
    /// For a checkpoint that does not name its position yet: how many of the waiting events come before it.
    pub(super) after: Option<usize>,
}

/// How much was waiting at some moment.
#[derive(Clone, Copy)]
pub(super) struct Unwritten {
    events: usize,
    risk: usize,
    size: usize,
}

impl Backlog {
    pub(super) fn is_empty(&self) -> bool {
        self.size == 0
    }

    pub(super) fn unwritten(&self) -> Unwritten {
        Unwritten { events: self.events.len(), risk: self.risk.len(), size: self.size }
    }

    /// Takes records that were checked.
    pub(super) fn take(&mut self, events: Vec<Line>, risk: Vec<RiskLine>) {
        self.size += size(&events, &risk);
        self.events.extend(events);
        let after = self.events.len();
        self.risk
            .extend(risk.into_iter().map(|line| Record { text: line.text, after: line.checkpoint.then_some(after) }));
    }

    /// After a failed write: keeps all for the next one, unless that is too much. Then what came since `before` is dropped.
    pub(super) fn refused(&mut self, before: Unwritten) {
        if self.size > MAX_UNWRITTEN {
            self.events.truncate(before.events);
            self.risk.truncate(before.risk);
            self.size = before.size;
        }
    }

    /// The events are on disk, the last of each at these positions; `before` is where the journal ended until then.
    /// Checkpoints name their positions for good now, should their own write fail.
    pub(super) fn events_written(&mut self, positions: &[Position], before: Option<&Position>) {
        for record in &mut self.risk {
            if let Some(after) = record.after.take() {
                let position = after.checked_sub(1).map_or(before, |last| positions.get(last));
                record.text = with_position(&record.text, position);
            }
        }
        self.events.clear();
    }

    /// All is on disk.
    pub(super) fn written(&mut self) {
        self.events.clear();
        self.risk.clear();
        self.size = 0;
    }
}
