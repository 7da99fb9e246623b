//! The moves: each kind of thing that a client may try, and those of the market meanwhile.

mod bursts;
mod cancels;
mod entries;
mod exits;
mod market;
mod modifies;
mod others;
mod stops;

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::super::fixture::*;
use super::super::simulation::books::{COINS, asset_of};
use super::world::World;

/// A kind of move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    Entry,
    Bracket,
    Batch,
    Flip,
    Stop,
    PositionStop,
    WaitingStop,
    Profits,
    Cancel,
    CancelStop,
    CancelChildren,
    CancelGuess,
    CancelByCloid,
    CancelAll,
    Modify,
    BatchModify,
    Close,
    CloseAll,
    CloseTooMuch,
    Mixed,
    Settings,
    Forbidden,
    Noops,
    Flood,
    FalseStops,
    BareBehindStops,
    ManyGuesses,
    Groups,
    SharedCloid,
    RoundTrips,
    Drift,
    Gap,
}

impl Move {
    /// All but those that only a world of their own gives time for.
    pub(super) const ALL: [Self; 30] = [
        Self::Entry,
        Self::Bracket,
        Self::Batch,
        Self::Flip,
        Self::Stop,
        Self::PositionStop,
        Self::WaitingStop,
        Self::Profits,
        Self::Cancel,
        Self::CancelStop,
        Self::CancelGuess,
        Self::CancelByCloid,
        Self::CancelAll,
        Self::Modify,
        Self::BatchModify,
        Self::Close,
        Self::CloseAll,
        Self::CloseTooMuch,
        Self::Mixed,
        Self::Settings,
        Self::Forbidden,
        Self::Noops,
        Self::Flood,
        Self::FalseStops,
        Self::ManyGuesses,
        Self::Groups,
        Self::SharedCloid,
        Self::RoundTrips,
        Self::Drift,
        Self::Gap,
    ];
}

impl World {
    pub(super) fn play(&mut self, one: Move) {
        let coin = self.market_of_interest();
        match one {
            Move::Entry => self.ask_entry(coin),
            Move::Bracket => self.ask_bracket(coin),
            Move::Batch => self.ask_batch(coin),
            Move::Flip => self.ask_flip(coin),
            Move::Stop => self.ask_stop(coin),
            Move::PositionStop => self.ask_position_stop(coin),
            Move::WaitingStop => self.ask_waiting_stop(coin),
            Move::Profits => self.ask_profits(coin),
            Move::Cancel => self.ask_cancel(|_| true),
            Move::CancelStop => self.ask_cancel(|order| order.is_trigger),
            Move::CancelChildren => self.ask_cancel_children(),
            Move::CancelGuess => self.ask_cancel_guess(coin),
            Move::CancelByCloid => self.ask_cancel_by_cloid(coin),
            Move::CancelAll => self.ask_cancel_all(),
            Move::Modify => self.ask_modify(coin),
            Move::BatchModify => self.ask_batch_modify(coin),
            Move::Close => self.ask_close(coin),
            Move::CloseAll => self.ask_close_all(coin),
            Move::CloseTooMuch => self.ask_close_too_much(coin),
            Move::Mixed => self.ask_mixed(coin),
            Move::Settings => self.ask_setting(coin),
            Move::Forbidden => self.ask_forbidden(),
            Move::Noops => self.ask_noops(),
            Move::Flood => self.ask_flood(coin),
            Move::FalseStops => self.ask_false_stops(coin),
            Move::BareBehindStops => self.ask_bare_behind_stops(coin),
            Move::ManyGuesses => self.ask_many_guesses(coin),
            Move::Groups => self.ask_groups(coin),
            Move::SharedCloid => self.ask_shared_cloid(coin),
            Move::RoundTrips => self.ask_round_trips(coin),
            Move::Drift => self.drift(coin),
            Move::Gap => self.gap(coin),
        }
    }

    /// Mostly a market with a position.
    fn market_of_interest(&mut self) -> &'static str {
        let held = COINS.into_iter().find(|coin| !self.venue.books.held(coin).is_zero());
        match held.filter(|_| !self.dice.one_in(4)) {
            Some(coin) => coin,
            None => self.dice.pick(&COINS),
        }
    }

    /// A price so many hundredths of a percent above the mid, or below it.
    fn px(&self, coin: &str, hundredths_pct: i64) -> Decimal {
        let factor = Decimal::ONE + Decimal::new(hundredths_pct, 4);
        rounded(coin, self.venue.books.mid(coin) * factor)
    }

    /// A size near one of the limits, or far from all.
    fn size(&mut self, coin: &str) -> Decimal {
        let percent = self.dice.pick(&[1, 5, 20, 48, 50, 97, 99, 100, 101, 130, 200, 400]);
        self.share(coin, percent)
    }

    /// The size of so many percent of the equity.
    fn share(&self, coin: &str, percent: i64) -> Decimal {
        let usd = self.venue.books.equity() * Decimal::new(percent, 2);
        lots(coin, usd / self.venue.books.mid(coin))
    }

    fn cloid(&mut self) -> Option<u8> {
        self.dice.one_in(3).then(|| u8::try_from(1 + self.dice.roll(12)).unwrap_or(1))
    }
}

fn rounded(coin: &str, px: Decimal) -> Decimal {
    px.round_dp(if coin == "ETH" { 1 } else { 2 })
}

fn lots(coin: &str, size: Decimal) -> Decimal {
    size.trunc_with_scale(if coin == "ETH" { 3 } else { 2 }).max(if coin == "ETH" { dec!(0.006) } else { dec!(0.11) })
}

/// A limit order.
fn limit(coin: &str, is_buy: bool, px: Decimal, size: Decimal, tif: &str) -> Value {
    let (px, size) = (px.to_string(), size.to_string());
    json!({"a": asset_of(coin), "b": is_buy, "p": px, "s": size, "r": false, "t": {"limit": {"tif": tif}}})
}

fn reducing(order: Value) -> Value {
    with(order, "/r", json!(true))
}

/// A reduce-only trigger order.
fn trigger(coin: &str, is_buy: bool, px: Decimal, size: Decimal, tpsl: &str) -> Value {
    let limit_px = rounded(coin, px * if is_buy { dec!(1.08) } else { dec!(0.92) }).to_string();
    let (px, size) = (px.to_string(), size.to_string());
    let trigger = json!({"isMarket": true, "triggerPx": px, "tpsl": tpsl});
    json!({"a": asset_of(coin), "b": is_buy, "p": limit_px, "s": size, "r": true, "t": {"trigger": trigger}})
}

fn named(order: Value, number: Option<u8>) -> Value {
    match number {
        Some(number) => with(order, "/c", cloid(number)),
        None => order,
    }
}

fn grouped(orders: Vec<Value>, grouping: &str) -> Value {
    json!({"type": "order", "orders": orders, "grouping": grouping})
}
