//! Stops: near and far, waiting, on the wrong side, oversized, many; and take profits.

use rust_decimal::{Decimal, dec};
use serde_json::Value;

use super::{World, grouped, limit, lots, named, trigger};

impl World {
    /// A distance from the price, hundredths of a percent: nearer than the guard's own stop, farther than any rule allows, or
    /// on the wrong side.
    fn distance(&mut self) -> i64 {
        self.dice.pick(&[20, 60, 120, 150, 190, 205, 300, 480, 520, 1_500, 4_800, -100])
    }

    /// The side that closes what is held; any where nothing is.
    fn closing(&mut self, coin: &str) -> bool {
        let held = self.venue.books.held(coin);
        if held.is_zero() { self.dice.one_in(2) } else { held < Decimal::ZERO }
    }

    fn stop(&mut self, coin: &'static str, is_small: bool) -> Value {
        let is_buy = self.closing(coin);
        let distance = self.distance();
        let px = self.px(coin, if is_buy { distance } else { -distance });
        let held = self.venue.books.held(coin).abs();
        let factor = self.dice.pick(&[dec!(1), dec!(1), dec!(0.5), dec!(2), dec!(0.01)]);
        let size = if held.is_zero() { self.size(coin) } else { lots(coin, held * factor) };
        let size = if is_small { lots(coin, dec!(0)) } else { size };
        let number = self.cloid();
        named(trigger(coin, is_buy, px, size, "sl"), number)
    }

    pub(super) fn ask_stop(&mut self, coin: &'static str) {
        let stop = self.stop(coin, false);
        self.post(&grouped(vec![stop], "na"));
    }

    /// A stop that belongs to the position, with a size of its own or none.
    pub(super) fn ask_position_stop(&mut self, coin: &'static str) {
        let is_small = self.dice.one_in(3);
        let mut stop = self.stop(coin, is_small);
        if self.dice.one_in(3) {
            stop["s"] = "0".into();
        }
        self.post(&grouped(vec![stop], "positionTpsl"));
    }

    /// A stop for the position that waits for a tiny entry to fill.
    pub(super) fn ask_waiting_stop(&mut self, coin: &'static str) {
        let is_buy = !self.closing(coin);
        let px = self.px(coin, if is_buy { -20 } else { 20 });
        let stop = self.stop(coin, false);
        let entry = limit(coin, is_buy, px, lots(coin, dec!(0)), "Alo");
        self.post(&grouped(vec![entry, stop], "normalTpsl"));
    }

    /// Many take profits.
    pub(super) fn ask_profits(&mut self, coin: &'static str) {
        let is_buy = self.closing(coin);
        let away = 200 + i64::try_from(self.dice.roll(300)).unwrap_or_default();
        let px = self.px(coin, if is_buy { -away } else { away });
        let count = self.dice.pick(&[1, 2, 5, 20, 90]);
        let orders = (0..count).map(|_| trigger(coin, is_buy, px, lots(coin, dec!(0)), "tp")).collect();
        self.post(&grouped(orders, "na"));
    }

    /// More entries than go one by one, each with its stop, are filled at once, and then a stop that the venue refuses is always on
    /// its way.
    pub(super) fn ask_bare_behind_stops(&mut self, coin: &'static str) {
        let is_buy = self.dice.one_in(2);
        let px = self.px(coin, if is_buy { -20 } else { 20 });
        let size = self.share(coin, 1);
        let entries = (0..45).map(|_| limit(coin, is_buy, px, size, "Alo")).collect();
        self.post(&grouped(entries, "na"));
        self.run_until(self.now + 400);
        self.move_price(coin, if is_buy { dec!(0.996) } else { dec!(1.004) });
        for _ in 0..20 {
            let stop_px = self.px(coin, if is_buy { 800 } else { -800 });
            let size = self.share(coin, 100);
            self.post(&grouped(vec![trigger(coin, !is_buy, stop_px, size, "sl")], "na"));
            self.run_until(self.now + 600);
        }
    }

    /// Stops on the wrong side, which the venue refuses: a few at once, or so that one is always on its way.
    pub(super) fn ask_false_stops(&mut self, coin: &'static str) {
        let (count, pause_ms) = if self.dice.one_in(3) { (8, 1_200) } else { (self.dice.roll(3), 0) };
        for _ in 0..=count {
            let is_buy = self.closing(coin);
            let px = self.px(coin, if is_buy { -800 } else { 800 });
            let size = self.share(coin, 100);
            self.post(&grouped(vec![trigger(coin, is_buy, px, size, "sl")], "na"));
            self.run_until(self.now + pause_ms);
        }
    }
}
