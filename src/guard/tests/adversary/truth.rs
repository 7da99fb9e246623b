//! The truth of the venue's books: how a position is covered, what it loses if its stops are hit, and what the account could
//! come to hold however its orders fill.

use std::collections::BTreeMap;

use rust_decimal::{Decimal, dec};

use super::super::simulation::books::{Books, COINS};
use crate::guard::state::own_cloid::is_guard_stop;
use crate::venue::action::Target;
use crate::venue::info::{AssetPosition, OpenOrder, Position, Side};

/// Cover of a position, unit by unit: from the stop nearest to the price on, trigger and size. No trigger where it is bare.
/// A stop farther away than any rule allows covers nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::guard::tests) struct Cover {
    pub(in crate::guard::tests) is_long: bool,
    pub(in crate::guard::tests) parts: Vec<(Option<Decimal>, Decimal)>,
}

impl Cover {
    pub(in crate::guard::tests) fn of(books: &Books, coin: &str) -> Self {
        Self::without(books, coin, &[])
    }

    /// The same without the orders that are about to go.
    pub(in crate::guard::tests) fn without(books: &Books, coin: &str, leaving: &[Target]) -> Self {
        Self::by_line(books, coin, leaving, &Self::default())
    }

    /// The same of a position with this line: what a stop covered before more was added, which moves the cost, it covers still.
    pub(super) fn by_line(books: &Books, coin: &str, leaving: &[Target], line: &Self) -> Self {
        let held = books.held(coin);
        let is_long = held > Decimal::ZERO;
        let mut left = held.abs();
        let farthest = from_px(books, coin) * if is_long { dec!(0.92) } else { dec!(1.08) };
        // The guard's own stood where the rules say when it was placed; what was added since has moved the cost.
        let is_own = |stop: &OpenOrder| stop.cloid.is_some_and(|cloid| is_guard_stop(&cloid));
        let is_near = |stop: &OpenOrder| {
            is_own(stop) || if is_long { stop.trigger_px > farthest } else { stop.trigger_px < farthest }
        };
        let known = |stop: &OpenOrder| -> Decimal {
            let its = line.parts.iter().filter(|(px, _)| line.is_long == is_long && *px == Some(stop.trigger_px));
            its.map(|(_, size)| *size).sum()
        };
        let counts = |stop: &&OpenOrder| is_near(stop) || known(stop) > Decimal::ZERO;
        let stays = |stop: &&OpenOrder| {
            !leaving.iter().any(|target| match target {
                Target::Oid(oid) => *oid == stop.oid,
                Target::Cloid(cloid) => Some(*cloid) == stop.cloid,
            })
        };
        let mut stops: Vec<&OpenOrder> =
            if left.is_zero() { Vec::new() } else { books.stops(coin).filter(counts).filter(stays).collect() };
        stops.sort_unstable_by_key(|stop| if is_long { -stop.trigger_px } else { stop.trigger_px });
        let mut parts = Vec::new();
        for stop in stops {
            let part = if stop.is_whole() { left } else { stop.sz.min(left) };
            let part = if is_near(stop) { part } else { part.min(known(stop)) };
            if !part.is_zero() {
                parts.push((Some(stop.trigger_px), part));
                left -= part;
            }
        }
        if !left.is_zero() {
            parts.push((None, left));
        }
        Self { is_long, parts }
    }

    pub(super) fn size(&self) -> Decimal {
        self.parts.iter().map(|(_, size)| *size).sum()
    }

    pub(in crate::guard::tests) fn bare(&self) -> Decimal {
        self.parts.iter().filter(|(px, _)| px.is_none()).map(|(_, size)| *size).sum()
    }

    /// Whether one trigger is nearer to the price than another.
    pub(super) fn is_nearer(&self, one: Option<Decimal>, other: Option<Decimal>) -> bool {
        match (one, other) {
            (Some(one), Some(other)) => {
                if self.is_long {
                    one > other
                } else {
                    one < other
                }
            }
            (one, None) => one.is_some(),
            (None, Some(_)) => false,
        }
    }

    /// The first part that was covered nearer before: its trigger then, and now.
    pub(in crate::guard::tests) fn loosened_from(&self, before: &Self) -> Option<(Option<Decimal>, Option<Decimal>)> {
        let mut units = before.unit_by_unit(self).into_iter();
        units.find(|(was, is, _)| self.is_nearer(*was, *is)).map(|(was, is, _)| (was, is))
    }

    /// Without its nearest units.
    pub(super) fn without_nearest(&self, mut size: Decimal) -> Self {
        let mut parts = Vec::new();
        for (px, part) in &self.parts {
            let gone = size.min(*part);
            size -= gone;
            if gone < *part {
                parts.push((*px, part - gone));
            }
        }
        Self { is_long: self.is_long, parts }
    }

    /// With more units at this trigger, or about which nothing is said.
    pub(super) fn with_more_at(mut self, px: Option<Decimal>, size: Decimal) -> Self {
        if !size.is_zero() {
            let place = self.parts.iter().position(|(other, _)| self.is_nearer(px, *other)).unwrap_or(self.parts.len());
            self.parts.insert(place, (px, size));
        }
        self
    }

    /// Of two covers of the same size: unit by unit what `pick` takes of both.
    pub(super) fn unit_by_unit(&self, other: &Self) -> Vec<(Option<Decimal>, Option<Decimal>, Decimal)> {
        let (mut ours, mut theirs) = (self.parts.iter().copied(), other.parts.iter().copied());
        let (mut our, mut their) = (ours.next(), theirs.next());
        let mut units = Vec::new();
        while let (Some((our_px, our_size)), Some((their_px, their_size))) = (our, their) {
            let size = our_size.min(their_size);
            units.push((our_px, their_px, size));
            our = if our_size > size { Some((our_px, our_size - size)) } else { ours.next() };
            their = if their_size > size { Some((their_px, their_size - size)) } else { theirs.next() };
        }
        units
    }

    /// Of two covers of the same size the nearer one, unit by unit.
    pub(super) fn tighter(&self, other: &Self) -> Self {
        let units = self.unit_by_unit(other).into_iter();
        let parts = units.map(|(one, two, size)| (if self.is_nearer(one, two) { one } else { two }, size)).collect();
        Self { is_long: self.is_long, parts }
    }
}

/// The price a position's losses count from: what it cost, or what it trades at where that is worse already.
fn from_px(books: &Books, coin: &str) -> Decimal {
    let (size, cost) = books.positions.get(coin).copied().unwrap_or_default();
    let (paid, book) = (cost.checked_div(size).unwrap_or_default(), books.book(coin));
    if size > Decimal::ZERO { paid.min(book) } else { paid.max(book) }
}

/// The prices that losses count from, of positions that were enlarged: what was lost before that was lost already when the
/// last part was judged, and is no loss of it. Two bought at 2000 and two more at 1970, all with a stop at 1960, lose 40 by then;
/// back at 2000 they lose 100 from the price of 1985 that was paid, though nobody opened anything or moved the stop.
#[derive(Debug, Default)]
pub(super) struct Enlarged {
    counted: BTreeMap<&'static str, (Decimal, Decimal)>,
    /// The least and the highest price by which the last entry may have been judged.
    judged: BTreeMap<&'static str, (Decimal, Decimal)>,
}

impl Enlarged {
    /// An entry in this market is sent; `told` are the prices that the guard was told last.
    pub(super) fn judged(&mut self, coin: &'static str, told: &BTreeMap<String, Decimal>, books: &Books) {
        let mid = books.mid(coin);
        let told = told.get(coin).copied().unwrap_or(mid);
        self.judged.insert(coin, (mid.min(told), mid.max(told)));
    }

    /// The price that the losses of this market's position count from now.
    pub(super) fn counted_px(&mut self, books: &Books, coin: &'static str) -> Decimal {
        let (held, now) = (books.held(coin), from_px(books, coin));
        let known = self.counted.get(coin).copied().filter(|(before, _)| *before * held > Decimal::ZERO);
        let px = match (known, self.judged.get(coin)) {
            (Some((before, px)), _) if held.abs() <= before.abs() => px,
            // What was there counts from where it stood when more was judged, and what was added from where it is.
            (Some((before, _)), Some((least, most))) => {
                let stood = if held > Decimal::ZERO { now.min(*least) } else { now.max(*most) };
                (before.abs() * stood + (held.abs() - before.abs()) * now) / held.abs()
            }
            _ => now,
        };
        self.counted.insert(coin, (held, px));
        if held > Decimal::ZERO { px.min(now) } else { px.max(now) }
    }
}

/// What positions were worth when an entry beside them was judged: what they gained since took none of the room that it was
/// given. Of 100 SOL sold at 100 that are worth 9,950 there is room for 50 USDC more under a limit of 10,000; back at 100 both come
/// to 10,050, and nobody has opened anything. The same holds of what filled since the last read before that: it was judged at what
/// was paid for it.
#[derive(Debug, Default)]
pub(super) struct Valued {
    /// What the last read of the account showed: signed size and cost.
    read: BTreeMap<String, (Decimal, Decimal)>,
    /// By the last entry of the same market.
    of_position: BTreeMap<&'static str, Worth>,
    /// By the last entry of any market.
    of_exposure: BTreeMap<&'static str, Worth>,
}

/// A position as it was when an entry was judged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Worth {
    px: Decimal,
    /// Signed.
    held: Decimal,
    cost: Decimal,
}

impl Worth {
    /// What a position is worth now, USDC, at what it was then at most; what was added at what it cost at most.
    fn of(self, books: &Books, coin: &str) -> Decimal {
        let (size, cost) = books.positions.get(coin).copied().unwrap_or_default();
        let mid = books.mid(coin);
        let at_most = |size: Decimal, cost: Decimal, px: Decimal| cost.abs().min(size.abs() * mid.min(px));
        let whole = at_most(size, cost, self.px);
        let has_grown = self.held * size > Decimal::ZERO && size.abs() > self.held.abs();
        if has_grown {
            let added = at_most(size - self.held, cost - self.cost, Decimal::MAX);
            return whole.min(added + at_most(self.held, self.cost, self.px));
        }
        whole
    }
}

impl Valued {
    /// A read of the account shows these positions.
    pub(super) fn read(&mut self, positions: &[AssetPosition]) {
        let of_one = |Position { coin, szi, position_value, unrealized_pnl, .. }: &Position| {
            let value = if szi.is_sign_negative() { -*position_value } else { *position_value };
            (coin.clone(), (*szi, value - unrealized_pnl))
        };
        self.read = positions.iter().map(|element| of_one(&element.position)).collect();
    }

    /// An entry in this market is sent; `told` are the prices that the guard was told last.
    pub(super) fn judged(&mut self, coin: &'static str, told: &BTreeMap<String, Decimal>, books: &Books) {
        for other in COINS {
            let px = told.get(other).map_or(books.mid(other), |told| books.mid(other).min(*told));
            let (held, cost) = self.read.get(other).copied().unwrap_or_default();
            let worth = Worth { px, held, cost };
            self.of_exposure.insert(other, worth);
            if other == coin {
                self.of_position.insert(other, worth);
            }
        }
    }

    pub(super) fn of_position(&self, coin: &str) -> Option<Worth> {
        self.of_position.get(coin).copied()
    }

    pub(super) fn of_exposure(&self, coin: &str) -> Option<Worth> {
        self.of_exposure.get(coin).copied()
    }
}

/// What a market loses if all of its stops are hit; what is bare counts with a stop `stop_pct` away.
pub(super) fn loss_at_stops(from: Decimal, cover: &Cover, stop_pct: Decimal) -> Decimal {
    let sign = if cover.is_long { Decimal::ONE } else { -Decimal::ONE };
    let unit = |px: Option<Decimal>| px.map_or(from * stop_pct / Decimal::ONE_HUNDRED, |px| sign * (from - px));
    cover.parts.iter().map(|(px, size)| unit(*px).max(Decimal::ZERO) * size).sum()
}

/// The orders that may open a position or enlarge one.
pub(super) fn entries<'a>(books: &'a Books, coin: &'a str) -> impl Iterator<Item = &'a OpenOrder> {
    books.orders.values().filter(move |order| order.coin == coin && !order.reduce_only && !order.is_trigger)
}

/// What a market could come to hold, USDC, whichever of its orders fill: what closes may fill first. What is held counts at
/// what it was worth when the last entry was judged, at most.
pub(super) fn worst_notional(books: &Books, coin: &str, judged: Option<Worth>) -> Decimal {
    let held = books.held(coin);
    let (size, cost) = books.positions.get(coin).copied().unwrap_or_default();
    let value = cost.abs().min(size.abs() * books.mid(coin));
    let value = judged.map_or(value, |worth| value.min(worth.of(books, coin)));
    let resting = |side: Side| -> Decimal {
        entries(books, coin).filter(|order| order.side == side).map(|order| order.sz * order.limit_px).sum()
    };
    let (long, short) = if held > Decimal::ZERO { (value, Decimal::ZERO) } else { (Decimal::ZERO, value) };
    (long + resting(Side::Buy)).max(short + resting(Side::Sell))
}
