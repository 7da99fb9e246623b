//! The stops that entries were judged with, part by part, until stops cover what they have opened.
//!
//! Several may fill before anything is read: each of them goes by its own, and the nearest are no further than they were for the
//! sake of one that is farther.

use crate::guard::state::cover::{LinePart, bound_parts, sort_parts, take_front, total_size};
use crate::venue::side::PositionSide;
use rust_decimal::Decimal;

/// Stops with the sizes that they were judged for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct JudgedStops(Vec<LinePart>);

impl JudgedStops {
    /// Of fills that are known one by one.
    pub(crate) fn each(parts: impl IntoIterator<Item = LinePart>) -> Self {
        Self(parts.into_iter().filter(|part| part.px > Decimal::ZERO).collect())
    }

    /// Any of these may have filled, for so much in all.
    pub(crate) fn any(side: PositionSide, stops: impl IntoIterator<Item = LinePart>, size: Decimal) -> Self {
        Self::each(stops).of_size(side, size)
    }

    /// Takes in more of them: one part a stop, and no more parts than a line has.
    pub(crate) fn add(&mut self, side: PositionSide, more: Self) {
        self.0.extend(more.0);
        sort_parts(side, &mut self.0);
        self.0.dedup_by(|part, before| {
            let is_same = part.px == before.px;
            before.size = if is_same { before.size.saturating_add(part.size) } else { before.size };
            is_same
        });
        bound_parts(&mut self.0);
    }

    /// For a part of just this size: one by one where they come to it; the farthest of them where they come to more, each for no more
    /// than it was judged for; and the farthest for all of it where they come to less: something else has filled.
    pub(crate) fn of_size(&self, side: PositionSide, size: Decimal) -> Self {
        let whole = self.size();
        let mut left = size.max(Decimal::ZERO);
        let mut farthest = self.clone();
        sort_parts(side, &mut farthest.0);
        for (place, part) in farthest.0.iter_mut().rev().enumerate() {
            part.size = if whole < size && place == 0 { left } else { part.size.min(left) };
            left = left.saturating_sub(part.size);
        }
        // The farthest stays for no size as well: what was closed and opened anew may have changed nothing.
        let furthest_px = farthest.furthest(side);
        farthest.0.retain(|part| part.size > Decimal::ZERO || Some(part.px) == furthest_px);
        farthest
    }

    /// For what a position grew by: the same, but where more has filled than that, stops that fired in the same moment have closed the
    /// rest, or some of it never filled. Nobody knows which, so the nearest stand for what is new.
    pub(crate) fn of_growth(&self, side: PositionSide, grown: Decimal) -> Self {
        if self.size() <= grown {
            return self.of_size(side, grown);
        }
        let mut nearest = self.clone();
        nearest.shrink_to(side, grown, &[]);
        nearest
    }

    /// The nearest of those that are more than a position grew by, for so much at most: as much was closed in the same moment, and it
    /// may have been what was there before.
    pub(crate) fn beyond_growth(&self, side: PositionSide, grown: Decimal, most: Decimal) -> Vec<LinePart> {
        let mut nearest = self.0.clone();
        sort_parts(side, &mut nearest);
        take_front(&mut nearest, grown);
        let mut left = most;
        nearest.iter_mut().for_each(|part| {
            part.size = part.size.min(left);
            left = left.saturating_sub(part.size);
        });
        nearest.retain(|part| part.size > Decimal::ZERO);
        nearest
    }

    /// How far a stop may be to cover each part of so much: no farther than it was judged, nor than `widest_px`; that for what nobody
    /// judged.
    pub(crate) fn lines(&self, side: PositionSide, size: Decimal, widest_px: Decimal) -> Vec<LinePart> {
        let mut left = size.max(Decimal::ZERO);
        let unjudged = LinePart { px: widest_px, size: left };
        let parts = self.0.iter().copied().chain([unjudged]).map(|part| {
            let size = part.size.min(left);
            left = left.saturating_sub(size);
            LinePart { px: side.nearer_of(part.px, widest_px), size }
        });
        parts.filter(|part| part.size > Decimal::ZERO).collect()
    }

    pub(crate) fn size(&self) -> Decimal {
        total_size(&self.0)
    }

    pub(crate) fn furthest(&self, side: PositionSide) -> Option<Decimal> {
        side.furthest(self.0.iter().map(|part| part.px))
    }

    pub(crate) fn nearest(&self, side: PositionSide) -> Option<Decimal> {
        side.nearest(self.0.iter().map(|part| part.px))
    }

    /// Leaves those of so much at most: what these stops stand for goes first, and the farthest then.
    pub(crate) fn shrink_to(&mut self, side: PositionSide, size: Decimal, covering: &[LinePart]) {
        let mut gone = self.size().saturating_sub(size).max(Decimal::ZERO);
        let mut take = |part: &mut LinePart, most: Decimal| {
            let taken = gone.min(part.size).min(most);
            gone = gone.saturating_sub(taken);
            part.size = part.size.saturating_sub(taken);
        };
        sort_parts(side, &mut self.0);
        for stop in covering {
            let its = self.0.iter_mut().filter(|part| part.px == stop.px);
            its.for_each(|part| take(part, stop.size));
        }
        self.0.iter_mut().rev().for_each(|part| take(part, Decimal::MAX));
        self.0.retain(|part| part.size > Decimal::ZERO);
    }

    /// Takes out those that the price has passed.
    pub(crate) fn take_passed(&mut self, side: PositionSide, mark: Decimal) -> Vec<LinePart> {
        let (left, passed) = std::mem::take(&mut self.0).into_iter().partition(|part| side.losing(part.px, mark));
        self.0 = left;
        passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rust_decimal::dec;

    fn parts(parts: &[(u32, u32)]) -> Vec<LinePart> {
        parts.iter().map(|(px, size)| LinePart { px: Decimal::from(*px), size: Decimal::from(*size) }).collect()
    }

    #[test]
    fn parts_of_one_price_are_one_and_no_more_are_kept_than_a_line_has() {
        let mut stops = JudgedStops::default();
        for more in [[(1980, 1), (1900, 2)], [(1900, 4), (1980, 8)], [(1940, 16), (1980, 32)]] {
            stops.add(PositionSide::Long, JudgedStops::each(parts(&more)));
        }
        assert_eq!(stops.0, parts(&[(1980, 41), (1940, 16), (1900, 6)]));
        stops.add(PositionSide::Long, JudgedStops::each(parts(&(1000..1100).map(|px| (px, 1)).collect::<Vec<_>>())));
        assert_eq!((stops.0.len(), total_size(&stops.0)), (64, dec!(163)));
    }

    /// Of two at 1980 and one at 1900 that may have filled.
    #[test]
    fn where_fewer_filled_they_are_the_farthest_and_no_more_of_each_than_it_was_judged_for() {
        for (size, judged) in [
            (0, &[(1900, 0)][..]),
            (1, &[(1900, 1)]),
            (2, &[(1980, 1), (1900, 1)]),
            (3, &[(1980, 2), (1900, 1)]),
            // Something else has filled, and may have been judged with the farthest.
            (4, &[(1900, 4)]),
        ] {
            let (side, size) = (PositionSide::Long, Decimal::from(size));
            let (stops, judged) = (parts(&[(1900, 1), (1980, 2)]), parts(judged));
            let mut of_size = JudgedStops::each(stops.clone()).of_size(side, size).0;
            sort_parts(side, &mut of_size);
            assert_eq!(of_size, judged, "{size}");
            let mut any = JudgedStops::any(side, stops, size).0;
            sort_parts(side, &mut any);
            assert_eq!(any, judged, "{size}");
        }
    }

    /// Of five, where a stop may be at 1950 at the farthest.
    #[test]
    fn each_part_has_the_nearer_of_its_own_stop_and_the_widest() {
        for (judged, lines) in [
            (&[(1980, 2), (1900, 1)][..], &[(1980, 2), (1950, 1), (1950, 2)][..]),
            (&[(1980, 4), (1960, 3)], &[(1980, 4), (1960, 1)]),
            (&[], &[(1950, 5)]),
        ] {
            let stops = JudgedStops::each(parts(judged));
            assert_eq!(stops.lines(PositionSide::Long, dec!(5), dec!(1950)), parts(lines), "{judged:?}");
        }
        assert!(JudgedStops::each(parts(&[(1980, 2)])).lines(PositionSide::Long, dec!(-1), dec!(1950)).is_empty());
    }
}
