//! Bursts: several requests, or one with much in it, between two reads of the guard's.

use rust_decimal::dec;
use serde_json::{Value, json};

use super::super::super::fixture::*;
use super::cancels::cancel;
use super::{World, grouped, limit, lots, named, reducing, trigger};

impl World {
    /// One request that cancels many orders, few of which there are.
    pub(super) fn ask_many_guesses(&mut self, coin: &'static str) {
        let last = self.venue.next_oid + 1;
        let count = self.dice.pick(&[8, 40, 150]);
        let cancels: Vec<Value> = (0..count).map(|back| cancel(coin, last.saturating_sub(back))).collect();
        self.post(&json!({"type": "cancel", "cancels": cancels}));
    }

    /// Small entries at the market, each a request with both of its exits.
    pub(super) fn ask_groups(&mut self, coin: &'static str) {
        for _ in 0..2 + self.dice.roll(3) {
            let is_buy = self.dice.one_in(2);
            let px = |world: &Self, away: i64| world.px(coin, if is_buy { away } else { -away });
            let (at, stop_px, profit_px) = (px(self, 40), px(self, -150), px(self, 300));
            let size = lots(coin, dec!(0));
            let number = self.cloid();
            let orders = vec![
                limit(coin, is_buy, at, size, "Ioc"),
                named(trigger(coin, !is_buy, stop_px, size, "sl"), number),
                trigger(coin, !is_buy, profit_px, size, "tp"),
            ];
            self.post(&grouped(orders, "normalTpsl"));
        }
    }

    /// Two orders under one client order id, then a modify of whichever carries it.
    pub(super) fn ask_shared_cloid(&mut self, coin: &'static str) {
        let number = Some(u8::try_from(1 + self.dice.roll(12)).unwrap_or(1));
        for _ in 0..2 {
            let is_buy = self.dice.one_in(2);
            let away = self.dice.pick(&[10, 30, 60]);
            let px = self.px(coin, if is_buy { -away } else { away });
            let size = self.size(coin);
            self.post(&grouped(vec![named(limit(coin, is_buy, px, size, "Gtc"), number)], "na"));
        }
        let is_buy = self.dice.one_in(2);
        let px = self.px(coin, if is_buy { -20 } else { 20 });
        let order = named(limit(coin, is_buy, px, self.size(coin), "Gtc"), number);
        let name = number.map(cloid);
        self.post(&json!({"type": "modify", "oid": name, "order": order}));
    }

    /// One client asks for the same again and again, and while that goes out another one closes a part of the position.
    pub(super) fn ask_flood(&mut self, coin: &'static str) {
        let count = if self.dice.one_in(3) { 20 + self.dice.roll(40) } else { 5 };
        let is_buy = self.dice.one_in(2);
        let px = self.px(coin, if is_buy { -30 } else { 30 });
        let unknown = self.venue.next_oid + 1_000;
        let action = match self.dice.roll(5) {
            0 => json!({"type": "noop"}),
            1 => grouped(vec![limit(coin, is_buy, px, lots(coin, dec!(0)), "Alo")], "na"),
            2 => grouped(vec![reducing(limit(coin, is_buy, px, lots(coin, dec!(0)), "Ioc"))], "na"),
            3 => grouped(vec![trigger(coin, is_buy, px, lots(coin, dec!(0)), "tp")], "na"),
            _ => json!({"type": "cancel", "cancels": [cancel(coin, unknown)]}),
        };
        (0..count).for_each(|_| self.post_as(0, &action));
        if let Some(order) = self.closing_order(coin, dec!(0.5)) {
            let other = self.nature.clients - 1;
            self.post_as(other, &grouped(vec![reducing(order)], "na"));
        }
    }

    /// In and out at once, again and again.
    pub(super) fn ask_round_trips(&mut self, coin: &'static str) {
        for _ in 0..1 + self.dice.roll(3) {
            let is_buy = self.dice.one_in(2);
            let size = self.size(coin);
            let px = |world: &Self, is_buy: bool| world.px(coin, if is_buy { 40 } else { -40 });
            let (into, out) = (px(self, is_buy), px(self, !is_buy));
            self.post(&grouped(vec![limit(coin, is_buy, into, size, "Ioc")], "na"));
            self.post(&grouped(vec![reducing(limit(coin, !is_buy, out, size, "Ioc"))], "na"));
            let pause = self.dice.pick(&[0, 60, 300]);
            self.run_until(self.now + pause);
        }
    }
}
