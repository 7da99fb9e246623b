//! The records that wait to be written: those of the batches at hand, and before them what the disk refused. Memory only.

use super::batch::{Line, RiskLine, Worth, size, with_position};
use super::segment::Position;

/// Text that the disk refused is kept up to this (bytes) and written ahead of later records.
const MAX_UNWRITTEN: usize = 4 * 1024 * 1024;

/// Records to be written next, in order.
#[derive(Default)]
pub(super) struct Backlog {
    pub(super) events: Vec<Line>,
    /// What each of the events is worth.
    worths: Vec<Worth>,
    pub(super) risk: Vec<Record>,
    size: usize,
}

/// A risk record to be written.
pub(super) struct Record {
    pub(super) text: String,
    worth: Worth,
    /// For one that does not name its place yet: how many of the waiting events come before it.
    pub(super) after: Option<usize>,
}

/// How much was waiting at some moment.
#[derive(Clone, Copy)]
pub(super) struct Unwritten {
    events: usize,
    risk: usize,
}

impl Backlog {
    pub(super) fn is_empty(&self) -> bool {
        self.size == 0
    }

    pub(super) fn unwritten(&self) -> Unwritten {
        Unwritten { events: self.events.len(), risk: self.risk.len() }
    }

    /// Takes records that were checked.
    pub(super) fn take(&mut self, events: Vec<Line>, risk: Vec<RiskLine>, worth: Worth) {
        self.size += size(&events, &risk);
        self.events.extend(events);
        let after = self.events.len();
        self.worths.resize(after, worth);
        self.risk.extend(risk.into_iter().map(|line| Record { text: line.text, worth, after: Some(after) }));
    }

    /// What the records that wait are worth: as much as the best of them.
    pub(super) fn worth(&self) -> Worth {
        self.worths.iter().copied().chain(self.risk.iter().map(|record| record.worth)).max().unwrap_or_default()
    }

    /// Lets go of the events that are worth less than this, but for those that wait: what is left of the disk is for the others.
    pub(super) fn drop_below(&mut self, least: Worth) {
        let worths = std::mem::take(&mut self.worths);
        let is_kept = |worth: &Worth| *worth == Worth::Later || *worth >= least;
        let mut kept = worths.iter().map(is_kept);
        for record in &mut self.risk {
            let before = |after: &usize| worths.iter().take(*after).filter(|worth| is_kept(worth)).count();
            record.after = record.after.as_ref().map(before);
        }
        self.events.retain(|_| kept.next().unwrap_or(true));
        self.worths = worths.into_iter().filter(is_kept).collect();
        self.measure();
    }

    fn measure(&mut self) {
        let texts = self.events.iter().map(|line| line.text.len());
        self.size = texts.chain(self.risk.iter().map(|record| record.text.len())).sum();
    }

    /// After a failed write: keeps all for the next one, unless that is too much. Then what came since `before` is dropped.
    pub(super) fn refused(&mut self, before: Unwritten) {
        if self.size > MAX_UNWRITTEN {
            self.events.truncate(before.events);
            self.worths.truncate(before.events);
            self.risk.truncate(before.risk);
            self.measure();
        }
    }

    /// The events are on disk, the last of each at these positions; `before` is where the journal ended until then.
    /// Risk records name their places for good now, should their own write fail.
    pub(super) fn events_written(&mut self, positions: &[Position], before: Option<&Position>) {
        for record in &mut self.risk {
            if let Some(after) = record.after.take() {
                let position = after.checked_sub(1).map_or(before, |last| positions.get(last));
                record.text = with_position(&record.text, position);
            }
        }
        self.events.clear();
        self.worths.clear();
    }

    /// All is on disk.
    pub(super) fn written(&mut self) {
        self.events.clear();
        self.worths.clear();
        self.risk.clear();
        self.size = 0;
    }
}
