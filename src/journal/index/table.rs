//! Index entries in memory: those of the journal's live end, or those that are about to become a run.

use std::collections::BTreeSet;

use super::entry::Entry;
use crate::journal::segment::Position;

/// Entries of which a table becomes a run: 2 MiB of memory, and one file for about 50,000 events.
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

    /// Adds an event that ends at `to`. Gives back the entries so far, to become a run, if they were enough for one: one event
    /// at a time, so that a run made again ends where it ended before.
    pub(crate) fn add(&mut self, entries: impl Iterator<Item = Entry>, to: Position) -> Option<MemTable> {
        let full = (self.entries.len() >= FULL).then(|| std::mem::replace(self, MemTable::after(self.to)));
        self.entries.extend(entries);
        self.to = Some(to);
        full
    }

    /// Puts a table in front of this one, if it ends where this one begins and is no run of its own; else gives it back.
    pub(crate) fn prepend(&mut self, earlier: MemTable) -> Option<MemTable> {
        if earlier.to != self.from || earlier.entries.len() >= FULL {
            return Some(earlier);
        }
        self.from = earlier.from;
        self.entries.extend(earlier.entries);
        None
    }
}
