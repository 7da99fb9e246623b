//! The market: prices that drift and jump.

use rust_decimal::{Decimal, dec};

use super::super::nature::Trouble;
use super::World;

impl World {
    /// A small move, so that what rests near the price fills.
    pub(super) fn drift(&mut self, coin: &'static str) {
        if self.nature.trouble == Trouble::Apart && self.dice.one_in(3) {
            let apart =
                self.dice.pick(&[dec!(0.9), dec!(0.97), dec!(0.997), dec!(1), dec!(1.003), dec!(1.03), dec!(1.1)]);
            self.note(|| format!("{coin} trades at {apart} of its mark"));
            self.venue.books.apart.insert(coin, apart);
        }
        let factor = self.dice.factor(50);
        self.move_price(coin, factor);
    }

    /// A large one, mostly over the stops.
    pub(super) fn gap(&mut self, coin: &'static str) {
        let factor = self.dice.pick(&[dec!(0.965), dec!(0.985), dec!(1.015), dec!(1.035)]);
        self.move_price(coin, factor);
    }

    /// One against the position.
    pub(in super::super) fn gap_against(&mut self, coin: &'static str) {
        let is_long = self.venue.books.held(coin) > Decimal::ZERO;
        let factor = if is_long { dec!(0.985) } else { dec!(1.015) };
        self.move_price(coin, factor);
    }

    pub(in super::super) fn move_price(&mut self, coin: &'static str, factor: Decimal) {
        self.note(|| format!("{coin} moves by {factor}"));
        // What fills in both directions may leave as much held, and as many orders, as there were.
        let state = |world: &Self| (world.venue.fills, world.venue.books.orders.keys().copied().collect::<Vec<u64>>());
        let before = state(self);
        self.venue.move_price(coin, factor, &mut self.dice);
        if before != state(self) {
            self.told.unasked_ms = self.now;
        }
        self.look();
    }
}
