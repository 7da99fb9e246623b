//! Entries of an earlier life that filled while no guard ran. What is held by them has the stops that they were judged with, where the
//! venue's fills tell of them; nothing else tells which order has opened a position, or enlarged it.

use crate::base::address::Cloid;
use crate::guard::state::cover::{LinePart, sort_parts, take_front};
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
    /// By how much later reads have shown less; none once it has ended: what is held since is no business of these.
    less: Option<Decimal>,
}

impl HeldFirst {
    fn is_explained(&self) -> bool {
        self.told.map_or(self.is_known, |told| told == self.size)
    }
}

/// A fill, as far as it matters here.
#[derive(Debug, Clone)]
struct AwayFill {
    id: FillId,
    coin: String,
    /// The signed position before it, and by how much it moved that.
    before: Decimal,
    change: Decimal,
    /// Where what its entry opens is stopped out, where that is known.
    stop_px: Option<Decimal>,
}

impl FilledAway {
    /// Leaves these entries to those who look for what became of them.
    pub(crate) fn leave_out(&mut self, cloids: impl IntoIterator<Item = Cloid>) {
        self.doubted.extend(cloids);
    }

    /// Takes in a position, signed, that a read of the account shows before both are known; `is_known` is whether its line
    /// knows it just so.
    pub(crate) fn on_held(&mut self, coin: &str, size: Decimal, is_known: bool) {
        if self.until_ms.is_none() && !self.held.contains_key(coin) {
            let first = HeldFirst { size, is_known, told: None, less: Some(Decimal::ZERO) };
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
        let coin = fill.coin.clone();
        self.fills.push_back(AwayFill { id: fill.id(), coin, before: fill.start_position, change, stop_px });
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
            let mut of_coin = self.fills.iter().filter(|fill| fill.coin == *coin).peekable();
            if of_coin.peek().is_some() {
                first.told = Some(Held::after(of_coin).size);
                self.ready.insert(coin.clone());
            }
        }
    }

    /// What is known to be held in a market by entries of an earlier life, each with its stop: once, when it is told.
    pub(crate) fn take(&mut self, coin: &str, side: PositionSide) -> Vec<LinePart> {
        if !self.ready.remove(coin) {
            return Vec::new();
        }
        let mut held = Held::after(self.fills.iter().filter(|fill| fill.coin == *coin));
        self.fills.retain(|fill| fill.coin != coin);
        let less = self.held.get(coin).and_then(|first| first.less);
        let Some(less) = less.filter(|_| held.side() == Some(side)) else { return Vec::new() };
        sort_parts(side, &mut held.known);
        take_front(&mut held.known, less);
        held.known
    }
}

/// A position as fills have made it.
#[derive(Debug, Default)]
struct Held {
    size: Decimal,
    /// What entries with a known stop hold of it.
    known: Vec<LinePart>,
}

impl Held {
    fn after<'a>(fills: impl Iterator<Item = &'a AwayFill>) -> Self {
        let mut held = Self::default();
        for fill in fills {
            if held.size != fill.before {
                // Something between is not told: nobody knows what is left of what was there.
                held = Self { size: fill.before, known: Vec::new() };
            }
            held.add(fill);
        }
        held
    }

    fn side(&self) -> Option<PositionSide> {
        PositionSide::of(self.size)
    }

    fn add(&mut self, fill: &AwayFill) {
        let after = self.size.saturating_add(fill.change);
        let is_same_side = !after.is_zero() && after.is_sign_positive() == self.size.is_sign_positive();
        if !self.size.is_zero() && !is_same_side {
            self.known.clear();
        }
        let opened = if is_same_side { after.abs().saturating_sub(self.size.abs()) } else { after.abs() };
        self.size = after;
        let Some(side) = self.side() else { return };
        if opened > Decimal::ZERO {
            self.known.extend(fill.stop_px.map(|px| LinePart { px, size: opened }));
        } else {
            // The nearer stops are hit first.
            sort_parts(side, &mut self.known);
            take_front(&mut self.known, -opened);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::state::cover::total_size;
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
        away.on_held("ETH", size, false);
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
        away.take("ETH", side)
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
            away.take("ETH", LONG)
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
        away.on_held("ETH", dec!(2), false);
        assert_eq!(away.take("ETH", LONG), parts(&[]));
        away.on_told();
        assert_eq!(away.take("ETH", LONG), parts(&[]), "the open orders are not read");
        away.on_both(100);
        away.note(&first, Some(dec!(1980)));
        assert_eq!(away.take("BTC", LONG), parts(&[]));
        assert_eq!(away.take("ETH", LONG), parts(&[(1980, 1)]));
        assert_eq!(away.take("ETH", LONG), parts(&[]));
        away.note(&first, Some(dec!(1980)));
        away.on_told();
        assert_eq!(away.take("ETH", LONG), parts(&[]), "told again");
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
            assert_eq!(away.take("ETH", LONG), parts(left), "{less:?}");
        }
    }

    #[test]
    fn they_are_asked_for_until_they_explain_what_is_held() {
        let asked = |told: Option<Decimal>, is_known: bool| {
            let mut away = FilledAway::default();
            assert!(!away.is_due(0), "nothing is held");
            away.on_held("ETH", dec!(1), is_known);
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
        away.on_held("ETH", dec!(1), false);
        away.on_both(all);
        (0..all).for_each(|time| away.note(&fill(time, Decimal::from(time), dec!(1), Some(1)), Some(dec!(1980))));
        assert_eq!((away.fills.len(), away.ids.len()), (MOST, MOST));
        away.on_told();
        assert_eq!(total_size(&away.take("ETH", LONG)), Decimal::from(MOST));
    }
}
