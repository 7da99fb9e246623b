//! Chains of fills: in each market a fill begins at the position at which the one before it ended. So fills of one millisecond
//! have an order, and one that is missing shows.

use crate::guard::state::book::held::{Held, Link};
use crate::record::book_record::GapRecord;
use crate::venue::fill::{Fill, FillId};
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// Breaks that are kept in mind at once: the oldest goes first.
const MOST_GAPS: usize = 64;
/// Fills that are remembered of one of them: it is not looked for further behind what is read then.
const MOST_FOUND: usize = 10_000;
/// Markets whose position is kept in mind: more than there are.
const MOST_COINS: usize = 1_024;

/// A place where fills are missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Gap {
    pub(crate) coin: String,
    /// When the fills before and after it were.
    pub(crate) from_ms: u64,
    pub(crate) to_ms: u64,
    /// The position after the one before it.
    pub(crate) from: Decimal,
    /// The position that the one after it began at.
    pub(crate) to: Decimal,
    /// What of the way between both no fill has shown yet.
    left: Decimal,
    /// When it was found.
    pub(crate) found_ms: u64,
    /// Reads since then that have not closed it.
    pub(crate) reads: u32,
    /// Answers have shown what there is of it up to this time: it is asked for once, also where it lies before all that is read.
    looked_ms: u64,
    /// Fills that have shown a part of it.
    found: Vec<FillId>,
}

impl Gap {
    fn take(&mut self, link: &Link) {
        self.left = self.left.saturating_sub(link.after.saturating_sub(link.before));
        self.found.push(link.id);
        if self.found.len() >= MOST_FOUND {
            self.looked_ms = u64::MAX;
        }
    }

    /// Whether a fill lies in it that is not on record: of the moments of both ends nobody knows.
    fn lacks(&self, fill: &Fill) -> bool {
        let is_within = self.from_ms < fill.time && fill.time < self.to_ms;
        self.coin == fill.coin && is_within && self.looked_ms < self.to_ms && !self.found.contains(&fill.id())
    }
}

/// Each market's position after its newest fill, with the places where fills are missing.
#[derive(Debug, Default)]
pub(crate) struct Chains {
    last: BTreeMap<String, Held>,
    pub(crate) gaps: Vec<Gap>,
}

/// Whether a market's positions change by fills alone: tokens come and go otherwise.
pub(crate) fn is_perp(coin: &str) -> bool {
    !coin.starts_with(['@', '#', '+']) && !coin.contains('/')
}

impl Chains {
    /// Takes in a fill that is on record now; whether one is missing before it.
    pub(crate) fn add(&mut self, fill: &Fill, now_ms: u64) -> bool {
        fill.position_after().is_some_and(|after| {
            self.link(&fill.coin, &Link { id: fill.id(), before: fill.start_position, after }, now_ms)
        })
    }

    /// The same of what a fill made of a market's position.
    pub(crate) fn link(&mut self, coin: &str, link: &Link, now_ms: u64) -> bool {
        if !is_perp(coin) {
            return false;
        }
        let (last, time_ms) = (self.last.get(coin).copied(), link.id.time);
        if self.fill_gap(coin, link, last.map(|held| held.time_ms)) {
            return false;
        }
        // Of one moment, and told in another order: neither a break nor the newest.
        if last.is_some_and(|held| held.after != link.before && held.time_ms == time_ms) {
            return false;
        }
        let gap = last.filter(|held| held.after != link.before).map(|held| Gap {
            coin: coin.to_owned(),
            from_ms: held.time_ms,
            to_ms: time_ms,
            from: held.after,
            to: link.before,
            left: link.before.saturating_sub(held.after),
            found_ms: now_ms,
            reads: 0,
            looked_ms: held.time_ms,
            found: Vec::new(),
        });
        let is_broken = gap.is_some();
        gap.into_iter().for_each(|gap| self.add_gap(gap));
        self.restore(coin.to_owned(), Held::next(last, link));
        is_broken
    }

    /// Keeps in mind that fills are missing.
    pub(crate) fn add_gap(&mut self, gap: Gap) {
        self.gaps.push(gap);
        let over = self.gaps.len().saturating_sub(MOST_GAPS);
        self.gaps.drain(..over);
    }

    /// The places where fills are missing, for the next life.
    pub(crate) fn gap_records(&self) -> Vec<GapRecord> {
        let gaps = self.gaps.iter().cloned();
        let record =
            |Gap { coin, from_ms, to_ms, from, to, left, .. }| GapRecord { coin, from_ms, to_ms, from, to, left };
        gaps.map(record).collect()
    }

    /// Whether a fill of before all that is read is one of those that are missing.
    pub(crate) fn lacks(&self, fill: &Fill) -> bool {
        self.gaps.iter().any(|gap| gap.lacks(fill))
    }

    /// From when on the next read has to show fills, where those from `read_ms` on are wanted anyway.
    pub(crate) fn look_from_ms(&self, read_ms: u64) -> u64 {
        let unseen = self.gaps.iter().filter(|gap| gap.looked_ms < gap.to_ms).map(|gap| gap.looked_ms);
        unseen.min().map_or(read_ms, |looked_ms| looked_ms.min(read_ms))
    }

    /// An answer has shown all there is between these times.
    pub(crate) fn looked(&mut self, since_ms: u64, up_to_ms: u64) {
        let gaps = self.gaps.iter_mut().filter(|gap| since_ms <= gap.looked_ms);
        gaps.for_each(|gap| gap.looked_ms = gap.looked_ms.max(up_to_ms));
    }

    /// Takes in one that an earlier life has found: it is looked for anew. Where a part of it was found nobody knows which, so it is
    /// not looked for behind what is read.
    pub(crate) fn restore_gap(&mut self, GapRecord { coin, from_ms, to_ms, from, to, left }: GapRecord) {
        let looked_ms = if left == to.saturating_sub(from) { from_ms } else { u64::MAX };
        let found = Vec::new();
        self.add_gap(Gap { coin, from_ms, to_ms, from, to, left, found_ms: 0, reads: 0, looked_ms, found });
    }

    /// An earlier life has told that fills are missing between these times.
    pub(crate) fn forget_gap(&mut self, from_ms: u64, to_ms: u64) {
        self.gaps.retain(|gap| (gap.from_ms, gap.to_ms) != (from_ms, to_ms));
    }

    /// Whether a fill belongs before the newest one of its market; then it is a part of what was missing.
    fn fill_gap(&mut self, coin: &str, link: &Link, last_ms: Option<u64>) -> bool {
        let time_ms = link.id.time;
        let is_late = last_ms.is_some_and(|last_ms| time_ms < last_ms);
        let is_of = |gap: &&mut Gap| {
            let is_within = gap.coin == coin && (gap.from_ms..=gap.to_ms).contains(&time_ms);
            is_within && (is_late || link.before == gap.to.saturating_sub(gap.left))
        };
        let gap = self.gaps.iter_mut().find(is_of);
        let is_found = gap.is_some();
        gap.into_iter().for_each(|gap| gap.take(link));
        self.gaps.retain(|gap| !gap.left.is_zero());
        is_late || is_found
    }

    /// The position after a market's newest fill.
    pub(crate) fn restore(&mut self, coin: String, held: Held) {
        self.last.insert(coin, held);
        if self.last.len() > MOST_COINS {
            let oldest = self.last.iter().min_by_key(|(_, held)| held.time_ms).map(|(coin, _)| coin.clone());
            oldest.into_iter().for_each(|coin| _ = self.last.remove(&coin));
        }
    }

    /// The same of a market of which no fill is known.
    pub(crate) fn restore_unknown(&mut self, coin: &str, held: Decimal, time_ms: u64) {
        if is_perp(coin) && !self.last.contains_key(coin) {
            self.restore(coin.to_owned(), Held::unknown(held, time_ms));
        }
    }

    /// Whether something is held in the perps of another dex.
    pub(crate) fn holds_elsewhere(&self) -> bool {
        self.last.iter().any(|(coin, held)| coin.contains(':') && !held.after.is_zero())
    }

    /// Each market's position after its newest fill.
    pub(crate) fn positions(&self) -> impl Iterator<Item = (&String, &Held)> + Clone {
        self.last.iter()
    }

    /// Since when a position of this size is open, where its fills tell of it.
    pub(crate) fn opened_ms(&self, coin: &str, size: Decimal) -> Option<u64> {
        // Where the account shows another size some fills are not on record yet.
        self.last.get(coin).filter(|held| held.after == size)?.opened_ms
    }

    /// Since when fills are missing.
    pub(crate) fn missing_since_ms(&self) -> Option<u64> {
        self.gaps.iter().map(|gap| gap.from_ms).min()
    }

    /// Puts fills in their order: by time, and those of one moment and market by where each begins.
    pub(crate) fn in_order(&self, mut fills: Vec<Fill>) -> Vec<Fill> {
        if fills.first().map(|fill| fill.time) > fills.last().map(|fill| fill.time) {
            fills.reverse();
        }
        fills.sort_by_key(|fill| fill.time);
        let mut held: BTreeMap<String, Decimal> =
            self.last.iter().map(|(coin, held)| (coin.clone(), held.after)).collect();
        let mut ordered = Vec::with_capacity(fills.len());
        let mut rest = fills.into_iter().peekable();
        while let Some(first) = rest.next() {
            let mut moment: Vec<(String, Vec<Fill>)> = vec![(first.coin.clone(), vec![first])];
            while let Some(next) = rest.next_if(|next| moment.iter().any(|(_, of)| is_of_time(of, next.time))) {
                match moment.iter_mut().find(|(coin, _)| *coin == next.coin) {
                    Some((_, of)) => of.push(next),
                    None => moment.push((next.coin.clone(), vec![next])),
                }
            }
            for (coin, of) in moment {
                let chain = linked(of, held.get(&coin).copied());
                let after = chain.last().and_then(Fill::position_after);
                after.into_iter().for_each(|after| _ = held.insert(coin.clone(), after));
                ordered.extend(chain);
            }
        }
        ordered
    }
}

fn is_of_time(fills: &[Fill], time_ms: u64) -> bool {
    fills.first().is_some_and(|first| first.time == time_ms)
}

/// The fills of one market and moment, each from where the one before it ended; the first one begins where `held` is, or where
/// more of them begin than end.
fn linked(fills: Vec<Fill>, held: Option<Decimal>) -> Vec<Fill> {
    if fills.len() < 2 {
        return fills;
    }
    let mut begin: BTreeMap<Decimal, i64> = BTreeMap::new();
    for fill in &fills {
        let more = begin.entry(fill.start_position).or_default();
        *more = more.saturating_add(1);
        if let Some(after) = fill.position_after() {
            let more = begin.entry(after).or_default();
            *more = more.saturating_sub(1);
        }
    }
    let mut starts = fills.iter().map(|fill| fill.start_position);
    let first = starts.clone().find(|start| begin.get(start).is_some_and(|more| *more > 0));
    let mut at = held.filter(|held| starts.any(|start| start == *held)).or(first);
    let count = fills.len();
    // Oldest last in each, so that what was told first comes first.
    let mut by_start: BTreeMap<Decimal, Vec<(usize, Fill)>> = BTreeMap::new();
    fills.into_iter().enumerate().rev().for_each(|(place, fill)| {
        by_start.entry(fill.start_position).or_default().push((place, fill));
    });
    let mut chain = Vec::with_capacity(count);
    while !by_start.is_empty() {
        let told_first = || by_start.iter().min_by_key(|(_, of)| of.last().map(|(place, _)| *place));
        let start = at.filter(|at| by_start.contains_key(at)).or_else(|| told_first().map(|(start, _)| *start));
        let Some((start, of)) = start.and_then(|start| Some((start, by_start.get_mut(&start)?))) else { break };
        if let Some((_, fill)) = of.pop() {
            at = fill.position_after();
            chain.push(fill);
        }
        if of.is_empty() {
            by_start.remove(&start);
        }
    }
    chain
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A fill of this market: when, where from, and how much.
    fn fill(coin: &str, time: u64, start: &str, size: &str) -> Fill {
        let (side, sz) = match size.strip_prefix('-') {
            Some(sz) => ("A", sz),
            None => ("B", size),
        };
        serde_json::from_value(
            json!({"coin": coin, "px": "1", "sz": sz, "side": side, "time": time, "startPosition": start,
            "closedPnl": "0", "oid": 1, "crossed": true, "fee": "0", "tid": time, "feeToken": "USDC"}),
        )
        .unwrap()
    }

    fn starts(fills: &[Fill]) -> Vec<(String, String)> {
        fills.iter().map(|fill| (fill.coin.clone(), fill.start_position.to_string())).collect()
    }

    #[test]
    fn fills_of_one_moment_are_linked() {
        let told = vec![
            fill("ETH", 5, "3", "-1"),
            fill("ETH", 4, "0", "1"),
            fill("BTC", 5, "0", "2"),
            fill("ETH", 5, "2", "-4"),
            fill("ETH", 5, "1", "2"),
        ];
        let ordered = Chains::default().in_order(told.clone());
        let expected = [("ETH", "0"), ("ETH", "1"), ("ETH", "3"), ("ETH", "2"), ("BTC", "0")];
        assert_eq!(starts(&ordered), expected.map(|(coin, start)| (coin.to_owned(), start.to_owned())));
        let mut reversed = told;
        reversed.reverse();
        assert_eq!(Chains::default().in_order(reversed).len(), 5);
        // A way there and back passes the same position twice.
        let round = vec![fill("ETH", 5, "1", "-1"), fill("ETH", 5, "0", "1"), fill("ETH", 5, "0", "1")];
        let ordered = Chains::default().in_order(round);
        assert_eq!(ordered.iter().map(|fill| fill.start_position.to_string()).collect::<Vec<_>>(), ["0", "1", "0"]);
    }

    #[test]
    fn what_is_missing_is_a_gap_until_it_came() {
        let mut chains = Chains::default();
        assert!(!chains.add(&fill("ETH", 5, "0", "1"), 100) && !chains.add(&fill("ETH", 6, "1", "1"), 100));
        assert!(chains.add(&fill("ETH", 9, "5", "1"), 100));
        assert_eq!((chains.missing_since_ms(), chains.gaps.len()), (Some(6), 1));
        assert!(!chains.add(&fill("ETH", 7, "2", "2"), 100) && chains.gaps.len() == 1);
        assert!(!chains.add(&fill("ETH", 8, "4", "1"), 100) && chains.gaps.is_empty());
        assert!(!chains.add(&fill("ETH", 10, "6", "1"), 100));
        // One of before all that is read: it is asked for until an answer has shown its time, and taken once.
        assert!(!chains.add(&fill("BTC", 5, "0", "1"), 100) && chains.add(&fill("BTC", 30, "4", "1"), 100));
        let (first, second) = (fill("BTC", 10, "1", "1"), fill("BTC", 20, "2", "2"));
        assert!([&first, &second].into_iter().all(|fill| chains.lacks(fill)) && chains.look_from_ms(50) == 5);
        assert!(!chains.lacks(&fill("BTC", 5, "1", "1")) && !chains.lacks(&fill("SOL", 10, "1", "1")));
        chains.add(&first, 100);
        chains.looked(5, 10);
        assert!(!chains.lacks(&first) && chains.lacks(&second) && chains.look_from_ms(50) == 10);
        chains.looked(11, u64::MAX);
        assert_eq!(
            (chains.look_from_ms(50), chains.look_from_ms(7)),
            (10, 7),
            "an answer of later shows nothing of it"
        );
        let mut next = Chains::default();
        chains.gap_records().into_iter().for_each(|gap| next.restore_gap(gap));
        assert!(!next.lacks(&first) && next.look_from_ms(50) == 50, "which part was found is not known");
        chains.looked(10, u64::MAX);
        assert!(!chains.lacks(&second) && chains.look_from_ms(50) == 50);
        chains.forget_gap(5, 30);
        // Told the other way round within one moment.
        assert!(chains.add(&fill("ETH", 11, "8", "1"), 100) && !chains.add(&fill("ETH", 11, "7", "1"), 100));
        assert!(chains.gaps.is_empty() && !chains.add(&fill("ETH", 12, "9", "1"), 100));
        // Tokens come and go without a fill.
        assert!(!chains.add(&fill("@107", 5, "0", "1"), 100) && !chains.add(&fill("@107", 6, "7", "1"), 100));
    }
}
