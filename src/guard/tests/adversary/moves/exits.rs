//! Exits: in part, in full, a little too large, unmarked, and beside orders that cannot pass.

use rust_decimal::{Decimal, dec};
use serde_json::Value;

use super::super::super::fixture::*;
use super::{World, grouped, limit, lots, reducing};

impl World {
    /// An order that closes such a share of the position at once.
    pub(super) fn closing_order(&mut self, coin: &'static str, share: Decimal) -> Option<Value> {
        let held = self.venue.books.held(coin);
        let is_buy = held < Decimal::ZERO;
        let beyond = self.dice.pick(&[20, 80, 300]);
        let px = self.px(coin, if is_buy { beyond } else { -beyond });
        (!held.is_zero()).then(|| limit(coin, is_buy, px, lots(coin, held.abs() * share), "Ioc"))
    }

    pub(super) fn ask_close(&mut self, coin: &'static str) {
        let share = self.dice.pick(&[dec!(0.1), dec!(0.5), dec!(0.9)]);
        if let Some(order) = self.closing_order(coin, share) {
            self.post(&grouped(vec![reducing(order)], "na"));
        }
    }

    pub(super) fn ask_close_all(&mut self, coin: &'static str) {
        if let Some(order) = self.closing_order(coin, dec!(1)) {
            self.post(&grouped(vec![reducing(order)], "na"));
        }
    }

    /// More than is held, and not marked as what it is.
    pub(super) fn ask_close_too_much(&mut self, coin: &'static str) {
        let share = self.dice.pick(&[dec!(1), dec!(1.001), dec!(2)]);
        if let Some(order) = self.closing_order(coin, share) {
            self.post(&grouped(vec![order], "na"));
        }
    }

    /// A close beside an entry, good or not.
    pub(super) fn ask_mixed(&mut self, coin: &'static str) {
        let Some(close) = self.closing_order(coin, dec!(1)) else { return };
        let other = if coin == "ETH" { "SOL" } else { "ETH" };
        let size = self.size(other);
        let mut entry = limit(other, true, self.px(other, 20), size, "Ioc");
        if self.dice.one_in(2) {
            entry["a"] = self.dice.pick(&[OLD, BTC, UNLISTED]).into();
        }
        let orders = if self.dice.one_in(2) { vec![reducing(close), entry] } else { vec![entry, reducing(close)] };
        self.post(&grouped(orders, "na"));
    }
}
