//! Rows that are on record, by what each is known by: a bounded window of them, and everything of before it.

use std::collections::BTreeSet;

/// Rows that are remembered of each kind: as many fills as the venue shows at all.
const MOST: usize = 10_000;

/// What a row is known by. Its time goes first in its order, so that the oldest can be forgotten first.
pub(crate) trait RowId: Ord {
    /// When it was at the venue, UTC ms.
    fn time_ms(&self) -> u64;
}

/// A row that may be like another in all but its place among them.
pub(crate) trait Alike: RowId {
    /// Makes it what the next one like it is known by.
    fn next(&mut self);
}

/// Rows on record.
#[derive(Debug)]
pub(crate) struct Seen<K> {
    ids: BTreeSet<K>,
    /// All of before are on record, or of no concern.
    before_ms: u64,
    /// Answers have shown all of before: what they showed from `before_ms` on is kept in mind all the same.
    read_ms: u64,
}

impl<K> Default for Seen<K> {
    fn default() -> Self {
        Self { ids: BTreeSet::new(), before_ms: 0, read_ms: 0 }
    }
}

impl<K: RowId> Seen<K> {
    /// Whether it is on record, or of before what is kept in mind.
    pub(crate) fn is_known(&self, id: &K) -> bool {
        id.time_ms() < self.before_ms || self.ids.contains(id)
    }

    /// Remembers one. Over the bound the oldest go, all of a moment together.
    pub(crate) fn insert(&mut self, id: K) {
        self.ids.insert(id);
        if self.ids.len() > MOST
            && let Some(oldest) = self.ids.first()
        {
            let before_ms = oldest.time_ms().saturating_add(1);
            self.forget_before(before_ms);
        }
    }

    /// All of before this time are of no concern, and nothing of after it was seen yet but what is kept in mind.
    pub(crate) fn begin(&mut self, begin_ms: u64) {
        (self.before_ms, self.read_ms) = (begin_ms, begin_ms);
    }

    /// All of before this time are on record.
    pub(crate) fn forget_before(&mut self, before_ms: u64) {
        self.before_ms = self.before_ms.max(before_ms);
        self.read_ms = self.read_ms.max(self.before_ms);
        while self.ids.first().is_some_and(|oldest| oldest.time_ms() < self.before_ms) {
            self.ids.pop_first();
        }
    }

    /// Answers have shown all of before this time. Those of since `keep_ms` stay in mind: more of them may come.
    pub(crate) fn read_up_to(&mut self, read_ms: u64, keep_ms: u64) {
        self.read_ms = self.read_ms.max(read_ms);
        self.forget_before(self.read_ms.min(keep_ms));
    }

    /// From when on rows have to be read.
    pub(crate) fn read_ms(&self) -> u64 {
        self.read_ms
    }

    /// All of before are on record.
    pub(crate) fn before_ms(&self) -> u64 {
        self.before_ms
    }

    /// Those that are kept in mind, oldest first.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &K> {
        self.ids.iter()
    }
}

impl<K: Alike> Seen<K> {
    /// Remembers one more like `first`, and those that are.
    pub(crate) fn insert_next(&mut self, first: K) {
        let mut id = first;
        while id.time_ms() >= self.before_ms && self.ids.contains(&id) {
            id.next();
        }
        self.insert(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::venue::fill::FillId;

    fn id(time: u64, tid: u64) -> FillId {
        FillId { time, tid, oid: 1 }
    }

    #[test]
    fn over_the_bound_the_oldest_moment_goes_whole_and_stays_known() {
        let mut seen = Seen::default();
        (0..10_000).for_each(|n| seen.insert(id(1_000 + n / 2, n)));
        assert!(!seen.is_known(&id(1_000, 77)) && seen.ids().count() == 10_000);
        seen.insert(id(9_000, 1));
        assert_eq!((seen.ids().count(), seen.before_ms()), (9_999, 1_001));
        assert!(seen.is_known(&id(1_000, 77)) && !seen.is_known(&id(1_001, 77)) && seen.is_known(&id(1_001, 2)));
    }

    #[test]
    fn what_is_of_before_counts_as_known() {
        let mut seen = Seen::default();
        [5, 6, 7].into_iter().for_each(|time| seen.insert(id(time, 1)));
        seen.forget_before(7);
        seen.forget_before(6);
        assert!(seen.is_known(&id(6, 9)) && seen.is_known(&id(7, 1)) && !seen.is_known(&id(7, 2)));
        assert_eq!(seen.ids().count(), 1);
    }

    #[test]
    fn what_is_kept_in_mind_is_not_read_again_and_told_apart() {
        let mut seen = Seen::default();
        [5, 6, 7].into_iter().for_each(|time| seen.insert(id(time, 1)));
        seen.read_up_to(7, 6);
        assert_eq!((seen.read_ms(), seen.before_ms()), (7, 6));
        assert!(seen.is_known(&id(5, 2)) && seen.is_known(&id(6, 1)) && !seen.is_known(&id(6, 2)));
        seen.read_up_to(6, u64::MAX);
        assert_eq!((seen.read_ms(), seen.before_ms()), (7, 7));
    }
}
