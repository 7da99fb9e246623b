//! Cash: the equity without unrealised profit and loss. While no position changes its size, only funding and flows move
//! it, so cash that is gone and that the ledger does not show yet was rather withdrawn than lost. Who trades can lose it
//! between two reads that show the same sizes, so what is known of trades counts too. No halt is decided here.

use crate::base::amount::percent_of;
use crate::guard::state::risk::equity_peaks::EquitySample;
use crate::guard::state::risk::transfers::Transfer;
use crate::guard::state::view::AccountView;
use crate::venue::info::{ClearinghouseState, Position};
use rust_decimal::{Decimal, dec};
use std::collections::BTreeMap;

/// Funding and fees between two reads stay below this share of the equity, percent.
const NOISE_PCT: Decimal = Decimal::ONE;

/// A close goes this far from the mark at most, percent.
const CLOSED_AT_PCT: Decimal = dec!(20);

/// What moves less, USDC, is how the venue rounds.
const LEAST_MOVED: Decimal = dec!(0.01);

/// What an account read showed of its cash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cash {
    /// When the read began, and its time by the venue, UTC ms.
    pub(crate) begun_ms: u64,
    pub(crate) at_ms: u64,
    pub(crate) equity: Decimal,
    pub(crate) usd: Decimal,
    /// By coin: also those of no market that is known.
    positions: BTreeMap<String, Held>,
}

/// A position in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Held {
    /// Its market, where that is known.
    asset: Option<u32>,
    /// Signed.
    size: Decimal,
    /// What it has won or lost.
    unrealized: Decimal,
    /// The price that its value implies.
    mark: Decimal,
}

impl Held {
    fn of(asset: Option<u32>, position: &Position) -> Self {
        Self {
            asset,
            size: position.szi,
            unrealized: position.unrealized_pnl,
            mark: position.position_value.checked_div(position.szi.abs()).unwrap_or_default(),
        }
    }

    /// How much of it, in parts of one, is closed where these are held.
    fn closed_in(&self, coin: &str, now: &BTreeMap<String, Self>) -> Decimal {
        let left = now.get(coin).map_or(Decimal::ZERO, |held| held.size);
        let stays = if left.is_sign_negative() == self.size.is_sign_negative() { left } else { Decimal::ZERO };
        let kept = stays.checked_div(self.size).unwrap_or_default();
        Decimal::ONE.saturating_sub(kept).max(Decimal::ZERO)
    }
}

impl Cash {
    pub(crate) fn of(account: &AccountView) -> Self {
        let positions = positions(account);
        let unrealized = positions.values().map(|held| held.unrealized);
        let usd = unrealized.fold(account.equity, Decimal::saturating_sub);
        let (begun_ms, at_ms, equity) = (account.begun_ms, account.venue_ms, account.equity);
        Self { begun_ms, at_ms, equity, usd, positions }
    }

    /// An account whose equity is its account value, as the feed told it.
    pub(crate) fn told(state: &ClearinghouseState, heard_ms: u64) -> Self {
        let told = state.asset_positions.iter().map(|element| &element.position);
        let held = told.filter(|position| !position.szi.is_zero());
        let positions: BTreeMap<_, _> = held.map(|held| (held.coin.clone(), Held::of(None, held))).collect();
        let equity = state.margin_summary.account_value;
        let usd = positions.values().map(|held| held.unrealized).fold(equity, Decimal::saturating_sub);
        Self { begun_ms: heard_ms, at_ms: state.time, equity, usd, positions }
    }

    /// An equity of which nothing more is on record.
    pub(crate) fn recorded(mark: EquitySample) -> Self {
        let EquitySample { at_ms, equity } = mark;
        Self { begun_ms: at_ms, at_ms, equity, usd: equity, positions: BTreeMap::new() }
    }

    /// The same where flows that came after the read make the account worth this.
    pub(crate) fn valued_at(self, equity: Decimal) -> Self {
        let usd = self.usd.saturating_add(equity.saturating_sub(self.equity));
        Self { equity, usd, ..self }
    }

    /// This cash, carried on to an account whose own equity cannot be read: what its positions won and lost since counts.
    /// A part of a position that was closed is taken to have gone at the price that its market has now.
    pub(crate) fn carried_to(&self, account: &AccountView, price: impl Fn(u32) -> Option<Decimal>) -> Self {
        let (now, mut usd) = (positions(account), self.usd);
        for (coin, held) in &self.positions {
            let closed = held.closed_in(coin, &now);
            let moved = held.asset.and_then(&price).map_or(Decimal::ZERO, |px| px.saturating_sub(held.mark));
            let won = held.unrealized.saturating_add(held.size.saturating_mul(moved));
            usd = usd.saturating_add(won.saturating_mul(closed));
        }
        let equity = now.values().fold(usd, |sum, held| sum.saturating_add(held.unrealized));
        Self { begun_ms: account.begun_ms, at_ms: account.venue_ms, equity, usd, positions: now }
    }

    /// Whether this can have become of an earlier read by what was traded since: but for noise, and so much more, its cash is
    /// that one's with what had been won on what is closed, which may have gone at another price than the mark.
    pub(crate) fn follows(&self, before: &Self, more: Decimal) -> bool {
        let (mut usd, mut room) = (before.usd, percent_of(before.equity.abs(), NOISE_PCT).saturating_add(more));
        for (coin, held) in &before.positions {
            let closed = held.closed_in(coin, &self.positions);
            let value = held.size.abs().saturating_mul(held.mark);
            usd = usd.saturating_add(held.unrealized.saturating_mul(closed));
            room = room.saturating_add(percent_of(value.saturating_mul(closed), CLOSED_AT_PCT));
        }
        self.usd.saturating_sub(usd).abs() <= room
    }

    /// The same as of another time of the venue's.
    pub(crate) fn at_time(self, at_ms: u64) -> Self {
        Self { at_ms, ..self }
    }

    /// Moves it with a flow that came after it: what the ledger shows is not gone without a word.
    pub(crate) fn shift(&mut self, flow: &Transfer) {
        if flow.time_ms > self.at_ms {
            self.equity = self.equity.saturating_add(flow.usd);
            self.usd = self.usd.saturating_add(flow.usd);
        }
    }

    /// The same in parts of what the account was worth, as the marks are moved.
    pub(crate) fn scale(&mut self, flow: &Transfer) {
        let mut mark = EquitySample { at_ms: self.at_ms, equity: self.equity };
        mark.move_with(flow);
        self.usd = self.usd.saturating_add(mark.equity.saturating_sub(self.equity));
        self.equity = mark.equity;
    }

    /// The cash that is gone since an earlier read, USDC, if it is too much to be anything but a flow. `traded_ms` is when
    /// the last trade was heard of.
    pub(crate) fn gone_since(&self, before: &Self, traded_ms: Option<u64>) -> Option<Decimal> {
        let gone = before.usd.saturating_sub(self.usd);
        (gone > percent_of(before.equity.abs(), NOISE_PCT) && self.is_untouched(before, traded_ms)).then_some(gone)
    }

    /// What may have become cash since an earlier read: what had been won on positions that are not as they were.
    pub(crate) fn realized_since(&self, before: &Self) -> Decimal {
        let size = |coin: &String| self.positions.get(coin).map(|held| held.size);
        let moved = before.positions.iter().filter(|(coin, held)| size(coin) != Some(held.size));
        moved.fold(Decimal::ZERO, |sum, (_, held)| sum.saturating_add(held.unrealized.max(Decimal::ZERO)))
    }

    /// Whether nothing was traded since an earlier read, as far as is known.
    pub(crate) fn is_untouched(&self, before: &Self, traded_ms: Option<u64>) -> bool {
        self.has_sizes_of(before) && traded_ms < Some(before.begun_ms)
    }

    /// Whether all that another read showed is held still: nothing was closed that a price would have to tell the result of.
    pub(crate) fn holds_all_of(&self, other: &Self) -> bool {
        let is_held = |(coin, before): (&String, &Held)| {
            self.positions.get(coin).is_some_and(|now| {
                now.size.is_sign_negative() == before.size.is_sign_negative() && now.size.abs() >= before.size.abs()
            })
        };
        other.positions.iter().all(is_held)
    }

    /// Whether nothing is held.
    pub(crate) fn is_flat(&self) -> bool {
        self.positions.is_empty()
    }

    /// Whether the positions have the sizes that they had at another read.
    pub(crate) fn has_sizes_of(&self, other: &Self) -> bool {
        let sizes =
            |cash: &Self| cash.positions.iter().map(|(coin, held)| (coin.clone(), held.size)).collect::<Vec<_>>();
        sizes(self) == sizes(other)
    }

    /// Whether something was traded, or money moved, since an earlier read that shows the same sizes: each trade pays a fee.
    pub(crate) fn moved_unseen(&self, before: &Self) -> bool {
        self.has_sizes_of(before) && self.usd.saturating_sub(before.usd).abs() >= LEAST_MOVED
    }

    /// Whether the cash is as it was at an earlier read, but for noise.
    pub(crate) fn is_like(&self, before: &Self) -> bool {
        self.usd.saturating_sub(before.usd).abs() <= percent_of(before.equity.abs(), NOISE_PCT)
    }
}

/// What was read: what fills have opened since is in no equity yet.
fn positions(account: &AccountView) -> BTreeMap<String, Held> {
    let read = account.positions_read();
    let known = read.iter().map(|(asset, position)| (Some(*asset), position));
    let all = known.chain(account.unknown.values().map(|position| (None, position)));
    all.map(|(asset, position)| (position.coin.clone(), Held::of(asset, position))).collect()
}
