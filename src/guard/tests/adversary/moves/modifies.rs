//! Modifies: of one order and of several, of the same one twice, stops moved and exits turned into entries.

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::super::super::fixture::*;
use super::{World, limit, lots, reducing, trigger};

impl World {
    fn any_oid(&mut self) -> Option<u64> {
        let oids: Vec<u64> = self.venue.books.orders.keys().copied().collect();
        (!oids.is_empty()).then(|| self.dice.pick(&oids))
    }

    /// What an order is to become.
    fn instead(&mut self, coin: &'static str) -> Value {
        let held = self.venue.books.held(coin);
        let is_long = held > Decimal::ZERO;
        let away = self.dice.pick(&[30, 100, 210, 480, 1_500, 4_800]);
        match self.dice.roll(4) {
            0 => {
                let px = self.px(coin, if is_long { -away } else { away });
                let size = lots(coin, held.abs() * self.dice.pick(&[dec!(1), dec!(0.5), dec!(0.02)]));
                trigger(coin, !is_long, px, size, "sl")
            }
            1 => {
                let px = self.px(coin, if is_long { 100 } else { -100 });
                reducing(limit(coin, !is_long, px, lots(coin, held.abs()), "Gtc"))
            }
            _ => {
                let is_buy = self.dice.one_in(2);
                let px = self.px(coin, if is_buy { -30 } else { 30 });
                let size = self.size(coin);
                limit(coin, is_buy, px, size, "Gtc")
            }
        }
    }

    pub(super) fn ask_modify(&mut self, coin: &'static str) {
        let Some(oid) = self.any_oid() else { return };
        let order = self.instead(coin);
        self.post(&modify(oid, order));
    }

    pub(super) fn ask_batch_modify(&mut self, coin: &'static str) {
        let Some(first) = self.any_oid() else { return };
        let count = 1 + self.dice.roll(5);
        let is_same = self.dice.one_in(2);
        let modifies = (0..count).map(|_| {
            let oid = if is_same { first } else { self.any_oid().unwrap_or(first) };
            (oid, self.instead(coin))
        });
        let mut action = batch(modifies.collect());
        if self.dice.one_in(2) {
            action["a"] = json!(true);
        }
        self.post(&action);
    }
}
