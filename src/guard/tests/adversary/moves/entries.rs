//! Entries: alone, with stops, in batches, and against the position.

use rust_decimal::{Decimal, dec};
use serde_json::Value;

use super::{World, grouped, limit, lots, named, trigger};

impl World {
    pub(super) fn ask_entry(&mut self, coin: &'static str) {
        let order = self.entry(coin);
        let (order, number) = (order, self.cloid());
        self.post(&grouped(vec![named(order, number)], "na"));
    }

    /// Fills at once, or rests near the price or far away.
    fn entry(&mut self, coin: &'static str) -> Value {
        let is_buy = self.side(coin);
        let away = self.dice.pick(&[-40, 20, 30, 49, 60, 300]);
        let tif = self.dice.pick(&["Ioc", "Ioc", "Gtc", "Alo"]);
        let away = if tif == "Ioc" && away > 0 {
            -40
        } else if tif == "Alo" {
            away.max(20)
        } else {
            away
        };
        let px = self.px(coin, if is_buy { -away } else { away });
        let size = self.size(coin);
        limit(coin, is_buy, px, size, tif)
    }

    /// Mostly the side of the position.
    fn side(&mut self, coin: &str) -> bool {
        let held = self.venue.books.held(coin);
        if held.is_zero() { self.dice.one_in(2) } else { (held > Decimal::ZERO) != self.dice.one_in(6) }
    }

    /// An entry with its stop, at times with a take profit.
    pub(super) fn ask_bracket(&mut self, coin: &'static str) {
        let is_buy = self.side(coin);
        let away = self.dice.pick(&[-30, -30, 20, 40]);
        let tif = if away < 0 { self.dice.pick(&["Ioc", "Gtc"]) } else { self.dice.pick(&["Gtc", "Alo"]) };
        let (px, size) = (self.px(coin, if is_buy { -away } else { away }), self.size(coin));
        let distance = self.dice.pick(&[30, 50, 100, 200, 490, 510, 900]) + away.max(0);
        let stop_px = self.px(coin, if is_buy { -distance } else { distance });
        let child = self.dice.pick(&[1, 2, 3]);
        let child_size = if child == 1 { lots(coin, size / dec!(2)) } else { size };
        let (parent, stop) = (self.cloid(), self.cloid());
        let mut orders = vec![
            named(limit(coin, is_buy, px, size, tif), parent),
            named(trigger(coin, !is_buy, stop_px, child_size, "sl"), stop),
        ];
        if self.dice.one_in(4) {
            let px = self.px(coin, if is_buy { 300 } else { -300 });
            orders.push(trigger(coin, !is_buy, px, size, "tp"));
        }
        let grouping = self.dice.pick(&["normalTpsl", "normalTpsl", "na"]);
        self.post(&grouped(orders, grouping));
    }

    /// Several that rest, as a grid does.
    pub(super) fn ask_batch(&mut self, coin: &'static str) {
        let is_buy = self.side(coin);
        let count = 2 + i64::try_from(self.dice.roll(3)).unwrap_or_default();
        let percent = self.dice.pick(&[5, 25, 33, 50, 100]);
        let size = self.share(coin, percent);
        let from = self.dice.pick(&[10, 20, 40]);
        let orders = (0..count).map(|place| {
            let away = from + 5 * place;
            limit(coin, is_buy, self.px(coin, if is_buy { -away } else { away }), size, "Alo")
        });
        let orders = orders.collect();
        self.post(&grouped(orders, "na"));
    }

    /// Twice the position against it, resting or at once.
    pub(super) fn ask_flip(&mut self, coin: &'static str) {
        let held = self.venue.books.held(coin);
        let away = self.dice.pick(&[-30, 10, 20, 60]);
        let size = lots(coin, held.abs() * self.dice.pick(&[dec!(1), dec!(1.5), dec!(2), dec!(3)]));
        let is_buy = held < Decimal::ZERO;
        let px = self.px(coin, if is_buy { -away } else { away });
        let tif = if away < 0 { "Ioc" } else { "Alo" };
        self.post(&grouped(vec![limit(coin, is_buy, px, size, tif)], "na"));
    }
}
