//! Entries of an earlier life that filled while no guard ran. What is held by them has the stops that they were judged with, where the
//! venue's fills tell of them; nothing else tells which order has opened a position, or enlarged it.

use crate::base::address::Cloid;
use crate::guard::state::held_away::{Filled, HeldAway, Remembered};
use crate::venue::fill::{Fill, FillId};
use crate::venue::history::FILLS_DEPTH;
use crate::venue::side::{PositionSide, Side};
use rust_decimal::Decimal;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// As many fills are kept, the newest: as many as the venue shows.
const MOST: usize = FILLS_DEPTH;

/// So often they are asked for at a start, each time after twice as long, until they explain what is held.
const MOST_ASKED: u32 = 5;
const AGAIN_MS: u64 = 2_000;

/// Fills of before this life knew what rests, until they are told.
#[derive(Debug, Clone, Default)]
pub(crate) struct FilledAway {
    fills: VecDeque<AwayFill>,
    /// Of those that were ever told.
    ids: BTreeSet<FillId>,
    /// Entries in doubt: what they have opened is found without fills.
    doubted: BTreeSet<Cloid>,
    /// When account and open orders were both read first, by the venue's time: of what fills later they tell what it was judged with.
    until_ms: Option<u64>,
    /// What was held until then, by coin.
    held: BTreeMap<String, HeldFirst>,
    /// Markets of which more is told than was taken.
    ready: BTreeSet<String>,
    /// Whether an answer told of them, up to the newest.
    is_told: bool,
    asked: u32,
    asked_ms: u64,
}

/// A position as the first reads show it.
#[derive(Debug, Clone)]
struct HeldFirst {
    /// Signed.
    size: Decimal,
    /// Whether its line knows it just so.
    is_known: bool,
    /// The size that fills end with, signed, where any are told.
    told: Option<Decimal>,
    /// As an earlier life remembered it.
    remembered: Option<Remembered>,
    /// By how much later reads have shown less; none once it has ended: what is held since is no business of these.
    less: Option<Decimal>,
}

impl HeldFirst {
    fn is_explained(&self) -> bool {
        self.told.map_or(self.is_known, |told| told == self.size)
    }
}

/// A fill of a market.
#[derive(Debug, Clone)]
struct AwayFill {
    id: FillId,
    coin: String,
    of: Filled,
}

impl FilledAway {
    /// Leaves these entries to those who look for what became of them.
    pub(crate) fn leave_out(&mut self, cloids: impl IntoIterator<Item = Cloid>) {
        self.doubted.extend(cloids);
    }

    /// Takes in a position, signed, that a read of the account shows before both are known; `is_known` is whether its line
    /// knows it just so.
    pub(crate) fn on_held(&mut self, coin: &str, (size, is_known): (Decimal, bool), remembered: Option<Remembered>) {
        if self.until_ms.is_none() && !self.held.contains_key(coin) {
            let first = HeldFirst { size, is_known, told: None, remembered, less: Some(Decimal::ZERO) };
            self.held.insert(coin.to_owned(), first);
        }
    }

    /// Takes in that a read of the account shows less of a position than the one before: by so much, or none of it any more.
    pub(crate) fn on_less(&mut self, coin: &str, by: Option<Decimal>) {
        if let Some(first) = self.held.get_mut(coin) {
            first.less = first.less.zip(by).map(|(less, by)| less.saturating_add(by));
        }
    }

    /// Takes in that account and open orders were read by this time of the venue's.
    pub(crate) fn on_both(&mut self, venue_ms: u64) {
        if self.until_ms.is_none() {
            self.until_ms = Some(venue_ms);
            self.fills.retain(|fill| fill.id.time <= venue_ms && self.held.contains_key(&fill.coin));
            self.make_ready();
        }
    }

    /// Whether account and open orders were both read: what fills from then on is seen as it happens.
    pub(crate) fn has_begun(&self) -> bool {
        self.until_ms.is_some()
    }

    /// Whether fills are to be read now.
    pub(crate) fn is_due(&self, now_ms: u64) -> bool {
        let pause_ms = AGAIN_MS.saturating_mul(1 << self.asked.saturating_sub(1));
        let is_open = self.asked == 0
            || now_ms.saturating_sub(self.asked_ms) >= pause_ms && self.held.values().any(|held| !held.is_explained());
        is_open && self.asked < MOST_ASKED && !self.held.is_empty()
    }

    /// Takes note that they are asked for.
    pub(crate) fn on_asked(&mut self, now_ms: u64) {
        (self.asked, self.asked_ms) = (self.asked.saturating_add(1), now_ms);
    }

    /// Takes in a fill, told in the order in which they happened, and where its entry is stopped out.
    pub(crate) fn note(&mut self, fill: &Fill, stop_px: Option<Decimal>) {
        let is_away = self.until_ms.is_none_or(|until_ms| fill.time <= until_ms && self.held.contains_key(&fill.coin));
        if !is_away || !self.ids.insert(fill.id()) {
            return;
        }
        let change = if fill.side == Side::Buy { fill.sz } else { -fill.sz };
        let stop_px = stop_px.filter(|_| fill.cloid.is_some_and(|cloid| !self.doubted.contains(&cloid)));
        let of = Filled { time_ms: fill.time, before: fill.start_position, change, px: fill.px, stop_px };
        self.fills.push_back(AwayFill { id: fill.id(), coin: fill.coin.clone(), of });
        if self.fills.len() > MOST {
            self.fills.pop_front();
        }
        while self.ids.len() > MOST {
            self.ids.pop_first();
        }
    }

    /// Takes in that an answer told of all that there is up to now.
    pub(crate) fn on_told(&mut self) {
        self.is_told = true;
        self.make_ready();
    }

    fn make_ready(&mut self) {
        if !self.is_told || self.until_ms.is_none() || self.fills.is_empty() {
            return;
        }
        self.fills.make_contiguous().sort_by_key(|fill| fill.id.time);
        for (coin, first) in &mut self.held {
            let mut of_coin = self.fills.iter().filter(|fill| fill.coin == *coin).map(|fill| &fill.of).peekable();
            if of_coin.peek().is_some() {
                first.told = Some(HeldAway::after(of_coin, None).size);
                self.ready.insert(coin.clone());
            }
        }
    }

    /// What is known to be held in a market by entries of an earlier life, each with its stop, and what is held of what that life
    /// remembered: once, when it is told.
    pub(crate) fn take(&mut self, coin: &str, side: PositionSide) -> Option<HeldAway> {
        if !self.ready.remove(coin) {
            return None;
        }
        let first = self.held.get(coin)?;
        let fills = self.fills.iter().filter(|fill| fill.coin == coin).map(|fill| &fill.of);
        let mut held = HeldAway::after(fills, first.remembered.as_ref());
        self.fills.retain(|fill| fill.coin != coin);
        let less = first.less.filter(|_| held.side() == Some(side))?;
        held.close(less);
        Some(held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::state::cover::{LinePart, total_size};
    use rust_decimal::dec;
    use serde_json::json;

    fn fill(time: u64, before: Decimal, change: Decimal, cloid: Option<u128>) -> Fill {
        let side = if change > Decimal::ZERO { "B" } else { "A" };
        let fill = json!({"coin": "ETH", "px": "2000", "sz": change.abs(), "side": side, "time": time, "startPosition": before,
            "closedPnl": "0", "oid": time, "tid": time, "crossed": false, "fee": "0", "feeToken": "USDC",
            "cloid": cloid.map(|number| format!("0x{number:032x}"))});
        serde_json::from_value(fill).unwrap()
    }

    const LONG: PositionSide = PositionSide::Long;

    fn parts(parts: &[(u32, u32)]) -> Vec<LinePart> {
        parts.iter().map(|(px, size)| LinePart { px: Decimal::from(*px), size: Decimal::from(*size) }).collect()
    }

    /// A life that has read the account, which holds so much, and the open orders at 100.
    fn begun(size: Decimal) -> FilledAway {
        let mut away = FilledAway::default();
        away.on_held("ETH", (size, false), None);
        away.on_both(100);
        away
    }

    /// Steps of a position from nothing, each by an entry with this stop, or by something else.
    fn held(steps: &[(Decimal, Option<u32>)], side: PositionSide) -> Vec<LinePart> {
        let mut away = begun(steps.iter().map(|(change, _)| change).sum());
        let mut size = Decimal::ZERO;
        for (time, (change, stop)) in (1..).zip(steps) {
            away.note(&fill(time, size, *change, stop.map(u128::from)), stop.map(Decimal::from));
            size += change;
        }
        away.on_asked(0);
        away.on_told();
        assert!(!away.is_due(u64::MAX), "they explain it");
        known(&mut away, side)
    }

    /// The stops of entries that are told once.
    fn known(away: &mut FilledAway, side: PositionSide) -> Vec<LinePart> {
        away.take("ETH", side).map(|held| held.known).unwrap_or_default()
    }

    #[test]
    fn what_entries_hold_has_their_stops() {
        let short = PositionSide::Short;
        let two = [(dec!(1), Some(1980)), (dec!(2), None), (dec!(4), Some(1900))];
        assert_eq!(held(&two, LONG), parts(&[(1980, 1), (1900, 4)]));
        assert_eq!(held(&two, short), parts(&[]), "the other side");
        let closed = |size: Decimal| held(&[&two[..], &[(-size, None)]].concat(), LONG);
        assert_eq!(closed(dec!(2)), parts(&[(1900, 3)]), "the nearer stop was hit first");
        assert_eq!(closed(dec!(7)), parts(&[]));
        let turned = [&two[..], &[(dec!(-9), Some(2050))]].concat();
        assert_eq!(held(&turned, short), parts(&[(2050, 2)]), "as much as it opened");
        assert_eq!(held(&turned, LONG), parts(&[]));
        assert_eq!(
            held(&[&two[..], &[(dec!(-7), None), (dec!(3), None)]].concat(), LONG),
            parts(&[]),
            "by hand, since"
        );
    }

    /// Of a position that was there before, and of one whose fills are not all told.
    #[test]
    fn what_no_fill_tells_of_has_no_stop_of_these() {
        let of = |fills: &[Fill]| {
            let mut away = begun(dec!(1));
            fills.iter().for_each(|fill| away.note(fill, Some(dec!(1980))));
            away.on_told();
            known(&mut away, LONG)
        };
        assert_eq!(of(&[fill(1, dec!(5), dec!(1), Some(1))]), parts(&[(1980, 1)]), "what was there is not its");
        assert_eq!(of(&[fill(1, dec!(0), dec!(1), Some(1)), fill(2, dec!(3), dec!(1), Some(2))]), parts(&[(1980, 1)]));
        assert_eq!(of(&[fill(1, dec!(0), dec!(1), None)]), parts(&[]), "an order that nobody judged");
        let later = [fill(100, dec!(0), dec!(1), Some(1)), fill(101, dec!(1), dec!(1), Some(2))];
        assert_eq!(of(&later), parts(&[(1980, 1)]), "what fills later is seen as it happens");
    }

    #[test]
    fn they_are_told_once_when_all_are_known_and_those_in_doubt_never() {
        let mut away = FilledAway::default();
        away.leave_out([Cloid(2_u128.to_be_bytes())]);
        let first = fill(1, dec!(0), dec!(1), Some(1));
        away.note(&first, Some(dec!(1980)));
        away.note(&fill(2, dec!(1), dec!(1), Some(2)), Some(dec!(1980)));
        away.on_held("ETH", (dec!(2), false), None);
        assert_eq!(known(&mut away, LONG), parts(&[]));
        away.on_told();
        assert_eq!(known(&mut away, LONG), parts(&[]), "the open orders are not read");
        away.on_both(100);
        away.note(&first, Some(dec!(1980)));
        assert!(away.take("BTC", LONG).is_none());
        assert_eq!(known(&mut away, LONG), parts(&[(1980, 1)]));
        assert_eq!(known(&mut away, LONG), parts(&[]));
        away.note(&first, Some(dec!(1980)));
        away.on_told();
        assert_eq!(known(&mut away, LONG), parts(&[]), "told again");
    }

    /// Fills may be told late: what was closed since has taken what they opened along.
    #[test]
    fn what_has_gone_since_has_no_stop_of_these() {
        for (less, left) in [(Some(dec!(1)), &[(1900, 4)][..]), (Some(dec!(3)), &[(1900, 2)]), (None, &[])] {
            let mut away = begun(dec!(5));
            away.on_less("ETH", less);
            away.on_less("SOL", None);
            away.note(&fill(1, dec!(0), dec!(1), Some(1)), Some(dec!(1980)));
            away.note(&fill(2, dec!(1), dec!(4), Some(2)), Some(dec!(1900)));
            away.on_told();
            assert_eq!(known(&mut away, LONG), parts(left), "{less:?}");
        }
    }

    #[test]
    fn they_are_asked_for_until_they_explain_what_is_held() {
        let asked = |told: Option<Decimal>, is_known: bool| {
            let mut away = FilledAway::default();
            assert!(!away.is_due(0), "nothing is held");
            away.on_held("ETH", (dec!(1), is_known), None);
            away.on_both(100);
            let mut at_ms = Vec::new();
            for now_ms in (0..200_000).step_by(1_000) {
                if away.is_due(now_ms) {
                    away.on_asked(now_ms);
                    at_ms.push(now_ms);
                    told.iter().for_each(|size| away.note(&fill(1, dec!(0), *size, Some(1)), None));
                    away.on_told();
                }
            }
            at_ms
        };
        let often = [0, 2_000, 6_000, 14_000, 30_000];
        assert_eq!(asked(Some(dec!(1)), false), [0]);
        assert_eq!(asked(None, true), [0], "as its line knows it");
        assert_eq!(asked(None, false), often);
        assert_eq!(asked(Some(dec!(0.5)), true), often, "it was another");
    }

    #[test]
    fn of_too_many_the_oldest_are_forgotten() {
        let all = MOST as u64 + 2;
        let mut away = FilledAway::default();
        away.on_held("ETH", (dec!(1), false), None);
        away.on_both(all);
        (0..all).for_each(|time| away.note(&fill(time, Decimal::from(time), dec!(1), Some(1)), Some(dec!(1980))));
        assert_eq!((away.fills.len(), away.ids.len()), (MOST, MOST));
        away.on_told();
        assert_eq!(total_size(&known(&mut away, LONG)), Decimal::from(MOST));
    }
}
