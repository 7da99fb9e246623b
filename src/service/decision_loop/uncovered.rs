//! How much a start would have to read: when the next checkpoint is due.

use crate::base::day::Day;
use crate::guard;

/// Events between two checkpoints, and the length of their texts.
pub(super) const CHECKPOINT_EVENTS: usize = 5_000;
pub(super) const CHECKPOINT_BYTES: usize = 4 * 1024 * 1024;

/// What was written since the last checkpoint, which is what a start reads.
#[derive(Default)]
pub(super) struct Uncovered {
    events: usize,
    bytes: usize,
    /// The day of the last events.
    day: Option<Day>,
}

impl Uncovered {
    /// Counts what is about to be written; whether a checkpoint is due with it. One stands at each end of a life: there the
    /// two journals agree on where they are. And one with the first events of a day: no start needs a day before the last two,
    /// which may be moved away, however quiet they were.
    pub(super) fn add(&mut self, records: &[guard::Record], today: Day) -> bool {
        let is_new_day = !records.is_empty() && self.day.replace(today).is_some_and(|day| day != today);
        self.events += records.len();
        self.bytes += records.iter().map(|record| record.text.len()).sum::<usize>();
        let is_end = |record: &guard::Record| matches!(record.kind, "started" | "stopped");
        let is_much = self.events >= CHECKPOINT_EVENTS || self.bytes >= CHECKPOINT_BYTES;
        is_much || is_new_day || records.iter().any(is_end)
    }

    /// A checkpoint has just covered it.
    pub(super) fn begin_anew(&mut self) {
        *self = Self { day: self.day, ..Self::default() };
    }
}
