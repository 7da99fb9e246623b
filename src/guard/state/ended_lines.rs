//! Positions of which one read of the account alone has shown the end, each with its line.
//!
//! A single read may be wrong. What covered a position goes, and its line is forgotten, once a second read shows the end as
//! well, or where it is known by itself; a stop that stays too long can only reduce.

use crate::venue::side::PositionSide;
use std::collections::BTreeMap;

/// A market and a side of it.
type Key = (u32, PositionSide);

/// What was kept of each position, with the venue's time in the read that showed its end.
#[derive(Debug, Clone)]
pub(crate) struct EndedLines<Line>(BTreeMap<Key, (Line, u64)>);

impl<Line> Default for EndedLines<Line> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<Line> EndedLines<Line> {
    /// Takes note that a read shows a position no more.
    pub(crate) fn add(&mut self, key: Key, line: Line, read_ms: u64) {
        self.0.insert(key, (line, read_ms));
    }

    /// The line of a position that is shown after all.
    pub(crate) fn take(&mut self, key: Key) -> Option<Line> {
        self.0.remove(&key).map(|(line, _)| line)
    }

    /// Forgets those whose end a read of an earlier time has shown, but for what `is_held` again.
    pub(crate) fn believe_before(&mut self, read_ms: u64, is_held: impl Fn(u32, PositionSide) -> bool) {
        self.0.retain(|(asset, side), (_, seen_ms)| *seen_ms >= read_ms || is_held(*asset, *side));
    }

    /// Forgets a position whose end is known.
    pub(crate) fn forget(&mut self, asset: u32) {
        self.0.retain(|(other, _), _| *other != asset);
    }

    /// Whether something may be held on this side all the same.
    pub(crate) fn may_be_held(&self, asset: u32, side: PositionSide) -> bool {
        self.0.contains_key(&(asset, side))
    }

    /// The same in a market.
    pub(crate) fn may_hold(&self, asset: u32) -> bool {
        PositionSide::BOTH.into_iter().any(|side| self.may_be_held(asset, side))
    }

    /// Whether no end is in doubt.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The markets with what was kept.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Line)> {
        self.0.iter().map(|((asset, _), (line, _))| (*asset, line))
    }
}
