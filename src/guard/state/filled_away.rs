//! Entries of an earlier life that filled while no guard ran. What is held by them has the stops that they were judged with, where the
//! venue's fills tell of them; nothing else tells which order has opened a position, or enlarged it.

use crate::base::address::Cloid;
use crate::guard::state::cover::{LinePart, sort_parts, take_front};
use crate::venue::fill::{Fill, FillId};
use crate::venue::side::{PositionSide, Side};
use rust_decimal::Decimal;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// As many fills are kept, the newest: as the venue shows of an absence in two answers.
const MOST: usize = 4_000;

/// Fills of before this life's first read of the account, until all of them were told.
#[derive(Debug, Clone, Default)]
pub(crate) struct FilledAway {
    fills: VecDeque<AwayFill>,
    /// Of those that were ever told: an answer is read again where the disk did not take it.
    ids: BTreeSet<FillId>,
    /// Entries in doubt: what they have opened is found without fills.
    doubted: BTreeSet<Cloid>,
    /// By the venue's time of the first read of the account: what fills later is seen as it happens.
    until_ms: Option<u64>,
    /// Whether an answer told of them, up to the newest.
    is_told: bool,
    /// Whether it was looked what the first read of the account shows.
    has_looked: bool,
    /// What they made of each market's position, once all is told.
    held: BTreeMap<String, Held>,
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

    /// Takes in that the account was read, as of this time of the venue's.
    pub(crate) fn on_account(&mut self, venue_ms: u64) {
        let until_ms = *self.until_ms.get_or_insert(venue_ms);
        self.fills.retain(|fill| fill.id.time <= until_ms);
        self.sum_up();
    }

    /// Whether fills are to be read, once: the first read of the account shows positions that the life before did not know.
    pub(crate) fn look(&mut self, is_unknown: bool) -> bool {
        let is_first = self.until_ms.is_some() && !std::mem::replace(&mut self.has_looked, true);
        is_first && is_unknown
    }

    /// Takes in a fill, told in the order in which they happened, and where its entry is stopped out.
    pub(crate) fn note(&mut self, fill: &Fill, stop_px: Option<Decimal>) {
        let is_away = self.until_ms.is_none_or(|until_ms| fill.time <= until_ms);
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
        self.sum_up();
    }

    fn sum_up(&mut self) {
        if !self.is_told || self.until_ms.is_none() {
            return;
        }
        let mut fills = Vec::from(std::mem::take(&mut self.fills));
        fills.sort_by_key(|fill| fill.id.time);
        let coins: BTreeSet<&String> = fills.iter().map(|fill| &fill.coin).collect();
        for coin in coins {
            let held = Held::after(fills.iter().filter(|fill| fill.coin == *coin));
            self.held.insert(coin.clone(), held);
        }
    }

    /// What is known to be held in a market by entries of an earlier life, each with its stop: once, when all is told.
    pub(crate) fn take(&mut self, coin: &str, side: PositionSide) -> Vec<LinePart> {
        let held = self.held.remove(coin).filter(|held| held.side() == Some(side));
        held.map_or_else(Vec::new, |held| held.known)
    }
}

/// A position as fills have made it.
#[derive(Debug, Clone, Default)]
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

    /// Steps of a position from nothing, each by an entry with this stop, or by something else.
    fn held(steps: &[(Decimal, Option<u32>)], side: PositionSide) -> Vec<LinePart> {
        let mut away = FilledAway::default();
        let mut size = Decimal::ZERO;
        for (time, (change, stop)) in (1..).zip(steps) {
            away.note(&fill(time, size, *change, stop.map(u128::from)), stop.map(Decimal::from));
            size += change;
        }
        away.on_account(100);
        away.on_told();
        away.take("ETH", side)
    }

    fn parts(parts: &[(u32, u32)]) -> Vec<LinePart> {
        parts.iter().map(|(px, size)| LinePart { px: Decimal::from(*px), size: Decimal::from(*size) }).collect()
    }

    #[test]
    fn what_entries_hold_has_their_stops() {
        let (long, short) = (PositionSide::Long, PositionSide::Short);
        let two = [(dec!(1), Some(1980)), (dec!(2), None), (dec!(4), Some(1900))];
        assert_eq!(held(&two, long), parts(&[(1980, 1), (1900, 4)]));
        assert_eq!(held(&two, short), parts(&[]), "the other side");
        let closed = |size: Decimal| held(&[&two[..], &[(-size, None)]].concat(), long);
        assert_eq!(closed(dec!(2)), parts(&[(1900, 3)]), "the nearer stop was hit first");
        assert_eq!(closed(dec!(7)), parts(&[]));
        let turned = [&two[..], &[(dec!(-9), Some(2050))]].concat();
        assert_eq!(held(&turned, short), parts(&[(2050, 2)]), "as much as it opened");
        assert_eq!(held(&turned, long), parts(&[]));
        assert_eq!(
            held(&[&two[..], &[(dec!(-7), None), (dec!(3), None)]].concat(), long),
            parts(&[]),
            "by hand, since"
        );
    }

    /// Of a position that was there before, and of one whose fills are not all told.
    #[test]
    fn what_no_fill_tells_of_has_no_stop_of_these() {
        let of = |fills: &[Fill]| {
            let mut away = FilledAway::default();
            fills.iter().for_each(|fill| away.note(fill, Some(dec!(1980))));
            away.on_account(100);
            away.on_told();
            away.take("ETH", PositionSide::Long)
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
        let long = PositionSide::Long;
        assert_eq!(away.take("ETH", long), parts(&[]));
        away.on_told();
        assert_eq!(away.take("ETH", long), parts(&[]), "the account is not read");
        away.on_account(100);
        away.note(&first, Some(dec!(1980)));
        assert_eq!(away.take("BTC", long), parts(&[]));
        assert_eq!(away.take("ETH", long), parts(&[(1980, 1)]));
        assert_eq!(away.take("ETH", long), parts(&[]));
        away.note(&first, Some(dec!(1980)));
        away.on_told();
        assert_eq!(away.take("ETH", long), parts(&[]), "told again");
    }

    #[test]
    fn of_too_many_the_oldest_are_forgotten() {
        let mut away = FilledAway::default();
        let all = MOST as u64 + 2;
        (0..all).for_each(|time| away.note(&fill(time, Decimal::from(time), dec!(1), Some(1)), Some(dec!(1980))));
        assert_eq!((away.fills.len(), away.ids.len()), (MOST, MOST));
        away.on_account(all);
        away.on_told();
        assert_eq!(total_size(&away.take("ETH", PositionSide::Long)), Decimal::from(MOST));
    }
}
