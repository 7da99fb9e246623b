//! The time between two lives of the guard: prices move, and what rested fills with nobody there to see it.

use rust_decimal::{Decimal, dec};

use super::super::simulation::books::COINS;
use super::super::simulation::dice::Dice;
use super::world::World;
use super::{FOUND, FOUND_SINCE};

/// As many moves of the price at most.
const MOST_MOVES: u64 = 4;

/// How far a price moves in one.
const FACTORS: [Decimal; 6] = [dec!(0.985), dec!(0.995), dec!(0.998), dec!(1.002), dec!(1.005), dec!(1.015)];

/// How long the deaths of a game are.
pub(super) struct Absence {
    /// None where the guard wakes in the moment of its death.
    dice: Option<Dice>,
}

impl Absence {
    /// In every second game. It is drawn and played by dice of its own, so that the others are played as if it were not.
    pub(super) fn draw(seed: u64) -> Self {
        let mut dice = Dice::new(seed.wrapping_mul(19).wrapping_add(7));
        let is_long = !FOUND.contains(&seed) && !FOUND_SINCE.contains(&seed) && dice.one_in(2);
        Self { dice: is_long.then_some(dice) }
    }
}

impl World {
    /// The guard is dead, and the market goes on.
    pub(super) fn is_away(&mut self) {
        let Some(dice) = self.absence.dice.take() else { return };
        let others = std::mem::replace(&mut self.dice, dice);
        for _ in 0..self.dice.roll(MOST_MOVES + 1) {
            let coin = self.dice.pick(&COINS);
            let factor = self.dice.pick(&FACTORS);
            self.move_price(coin, factor);
            self.tally.moves_away += 1;
        }
        self.absence.dice = Some(std::mem::replace(&mut self.dice, others));
    }
}
