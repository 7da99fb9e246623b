//! A moment of one market: its fills have an order, whatever order they were told in. Each begins where the one before it ended.

use crate::guard::state::book::held::{Held, Link};
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// Fills of one moment that are put in order: more than one order of the venue's fills at once.
const MOST_LINKS: usize = 4_096;

/// The fills of a market's newest moment.
#[derive(Debug)]
pub(crate) struct Moment {
    /// The position before it, as it was known.
    pub(crate) before: Option<Held>,
    /// What fills of before it, that came after its first one, have changed of that.
    pub(crate) late: Decimal,
    links: Vec<Link>,
}

impl Moment {
    /// One of which this is the first fill that was told.
    pub(crate) fn new(before: Option<Held>, first: Link) -> Self {
        Self { before, late: Decimal::ZERO, links: vec![first] }
    }

    /// One that an earlier life began.
    pub(crate) fn restored(before: Option<Held>, late: Decimal, links: Vec<Link>) -> Self {
        Self { before, late, links }
    }

    /// Its fills, as they were told.
    pub(crate) fn links(&self) -> &[Link] {
        &self.links
    }

    /// Takes in one more; whether there was room.
    pub(crate) fn push(&mut self, link: Link) -> bool {
        let has_room = self.links.len() < MOST_LINKS;
        if has_room {
            self.links.push(link);
        }
        has_room
    }

    /// Where its first fill began, if none is missing.
    pub(crate) fn from(&self) -> Option<Decimal> {
        self.before.map(|held| held.after.saturating_add(self.late))
    }

    /// Its fills in their order.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = &Link> {
        let ends: Vec<(Decimal, Decimal)> = self.links.iter().map(|link| (link.before, link.after)).collect();
        chained(&ends, self.from()).into_iter().filter_map(|place| self.links.get(place))
    }
}

/// The places of what goes from one position to another, each from where the one before it ended. `from` is where the first
/// one begins, where that is known. What was told first goes first where more than one can.
pub(crate) fn chained(ends: &[(Decimal, Decimal)], from: Option<Decimal>) -> Vec<usize> {
    let mut ways = Ways::new(ends);
    let (mut at, mut order) = (from, Vec::with_capacity(ends.len()));
    while let Some(start) = ways.start(at) {
        let mut trail = ways.walk(start);
        let mut place = 0;
        // A way there and back may leave a position that was passed before.
        while let Some((before, _)) = trail.get(place).and_then(|way| ends.get(*way)) {
            let detour = ways.walk(*before);
            if !detour.is_empty() && ways.end(&detour) == Some(*before) {
                trail.splice(place..place, detour);
            } else {
                ways.put_back(detour);
                place = place.saturating_add(1);
            }
        }
        at = ways.end(&trail);
        order.extend(trail);
    }
    order
}

/// What was not passed yet.
struct Ways<'a> {
    ends: &'a [(Decimal, Decimal)],
    /// By where each begins, what was told first last.
    by_start: BTreeMap<Decimal, Vec<usize>>,
    /// By how many more begin somewhere than end there, where that is not even.
    more: BTreeMap<Decimal, i64>,
}

impl<'a> Ways<'a> {
    fn new(ends: &'a [(Decimal, Decimal)]) -> Self {
        let mut ways = Self { ends, by_start: BTreeMap::new(), more: BTreeMap::new() };
        ways.put_back((0..ends.len()).collect());
        ways
    }

    /// Counts so many more ways there.
    fn count(&mut self, (before, after): (Decimal, Decimal), ways: i64) {
        for (at, ways) in [(before, ways), (after, -ways)] {
            let more = self.more.entry(at).or_default();
            *more = more.saturating_add(ways);
            if *more == 0 {
                self.more.remove(&at);
            }
        }
    }

    /// Where to go on from `at`: there, or where more of them begin than end. Of several such the nearest one is next, and before
    /// anything is known the one that all others lead away from.
    fn start(&self, at: Option<Decimal>) -> Option<Decimal> {
        if let Some(at) = at.filter(|at| self.by_start.contains_key(at)) {
            return Some(at);
        }
        let first = self.by_start.iter().min_by_key(|(_, ways)| ways.last())?;
        let mut begins = self.more.iter().filter(|(_, more)| **more > 0).map(|(start, _)| *start);
        let is_up = first.1.last().and_then(|way| self.ends.get(*way)).is_none_or(|(before, after)| after > before);
        let next = match at {
            Some(at) => begins.min_by_key(|start| start.saturating_sub(at).abs()),
            None if is_up => begins.next(),
            None => begins.next_back(),
        };
        next.or(Some(*first.0))
    }

    /// As far as it goes from there.
    fn walk(&mut self, start: Decimal) -> Vec<usize> {
        let (mut at, mut trail) = (start, Vec::new());
        while let Some(ways) = self.by_start.get_mut(&at) {
            let way = ways.pop();
            if ways.is_empty() {
                self.by_start.remove(&at);
            }
            let Some((way, ends)) = way.and_then(|way| Some((way, *self.ends.get(way)?))) else { break };
            self.count(ends, -1);
            trail.push(way);
            at = ends.1;
        }
        trail
    }

    fn put_back(&mut self, trail: Vec<usize>) {
        for way in trail.into_iter().rev() {
            if let Some(ends) = self.ends.get(way).copied() {
                self.by_start.entry(ends.0).or_default().push(way);
                self.count(ends, 1);
            }
        }
    }

    fn end(&self, trail: &[usize]) -> Option<Decimal> {
        trail.last().and_then(|way| self.ends.get(*way)).map(|(_, after)| *after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rust_decimal::dec;

    #[test]
    fn a_way_there_and_back_is_gone_before_the_one_that_ends() {
        let ends = [(0, 2), (0, 1), (1, 0)].map(|(from, to)| (Decimal::from(from), Decimal::from(to)));
        assert_eq!(chained(&ends, Some(dec!(0))), [1, 2, 0]);
        assert_eq!(chained(&ends, None), [1, 2, 0]);
        // Something is missing: what is nearer comes first.
        let ends = [(7, 8), (3, 4)].map(|(from, to)| (Decimal::from(from), Decimal::from(to)));
        assert_eq!((chained(&ends, Some(dec!(0))), chained(&ends, Some(dec!(9)))), (vec![1, 0], vec![0, 1]));
        assert_eq!(chained(&ends, None), [1, 0]);
    }

    proptest! {
        #[test]
        fn whatever_order_it_is_told_in_a_chain_is_found_again(
            steps in prop::collection::vec(-3_i64..=3, 1..30), from in -5_i64..=5, shuffle in any::<u64>()
        ) {
            let mut at = from;
            let mut ends: Vec<(Decimal, Decimal)> = Vec::new();
            for step in steps.into_iter().filter(|step| *step != 0) {
                ends.push((Decimal::from(at), Decimal::from(at + step)));
                at += step;
            }
            prop_assert!(chained(&ends, Some(Decimal::from(from))).into_iter().eq(0..ends.len()), "as it was told");
            let mut dice = shuffle;
            for place in (1..ends.len()).rev() {
                dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                ends.swap(place, usize::try_from(dice >> 33).unwrap() % (place + 1));
            }
            let order = chained(&ends, Some(Decimal::from(from)));
            prop_assert_eq!(order.len(), ends.len());
            let mut held = Decimal::from(from);
            for place in order {
                prop_assert_eq!(ends[place].0, held);
                held = ends[place].1;
            }
            prop_assert_eq!(held, Decimal::from(at));
        }
    }
}
