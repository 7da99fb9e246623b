//! Index entries in memory: those of the journal's live end, or those that are about to become a run.

use std::collections::BTreeSet;

use super::entry::Entry;
use crate::journal::segment::Position;

/// Entries after which a table becomes a run before its day is over: 2 MiB of memory, and one file for about 50,000 events.
pub(crate) const FULL: usize = 65_536;

/// The entries of one stretch of the journal. A position of `None` is the journal's beginning.
#[derive(Default)]
pub(crate) struct MemTable {
    pub(crate) from: Option<Position>,
    pub(crate) to: Option<Position>,
    pub(crate) entries: BTreeSet<Entry>,
}

impl MemTable {
    /// A table that goes on where another one, or a run, ends.
    pub(crate) fn after(from: Option<Position>) -> MemTable {
        MemTable { from, to: from, entries: BTreeSet::new() }
    }

    /// Whether it covers no event.
    pub(crate) fn is_empty(&self) -> bool {
        self.from == self.to
    }

    /// Whether it must become a run before an event that ends at `next` is added: it is full, or its day is over.
    pub(crate) fn is_complete_before(&self, next: &Position) -> bool {
        !self.is_empty() && (self.entries.len() >= FULL || self.is_of_another_day(next))
    }

    /// Adds events up to `to`.
    pub(crate) fn add(&mut self, entries: impl Iterator<Item = Entry>, to: Position) {
        self.entries.extend(entries);
        self.to = Some(to);
    }

    /// Puts a table in front of this one, if it ends where this one begins, on the same day; else gives it back.
    pub(crate) fn prepend(&mut self, earlier: MemTable) -> Option<MemTable> {
        let differs = !self.is_empty() && earlier.to.is_some_and(|to| self.is_of_another_day(&to));
        if earlier.to != self.from || earlier.entries.len() >= FULL || differs {
            return Some(earlier);
        }
        self.from = earlier.from;
        self.entries.extend(earlier.entries);
        None
    }

    fn is_of_another_day(&self, position: &Position) -> bool {
        self.to.is_some_and(|to| to.segment.day != position.segment.day)
    }
}
