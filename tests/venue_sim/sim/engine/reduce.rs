//! Reduce-only orders after their position changed.

use super::Engine;
use super::order::Stage;
use rust_decimal::Decimal;

/// How a resting reduce-only order is treated that the position has room for in part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Excess {
    /// A newer order takes its room: it is cancelled.
    Cancel,
    /// The position shrank: it shrinks with it.
    Shrink,
}

impl Engine {
    /// What a reduce-only order of this side could reduce.
    pub(super) fn reducible(&self, asset: u32, is_buy: bool) -> Decimal {
        let szi = self.szi(asset);
        if szi.is_zero() || szi.is_sign_positive() == is_buy { Decimal::ZERO } else { szi.abs() }
    }

    /// Follows a change of the position: whole-position triggers end with it, reduce-only orders fit what is left.
    pub(super) fn after_position_changed(&mut self, asset: u32) {
        let gone: Vec<u64> = self
            .orders
            .values()
            .filter(|order| order.spec.asset == asset && order.position_tpsl)
            .filter(|order| self.reducible(asset, order.spec.is_buy).is_zero())
            .map(|order| order.oid)
            .collect();
        for oid in gone {
            self.end(oid, "reduceOnlyCanceled");
        }
        self.fit_reduce_only(asset, Excess::Shrink);
    }

    /// Makes the resting reduce-only orders fit the position together; the newest keep their place.
    pub(super) fn fit_reduce_only(&mut self, asset: u32, excess: Excess) {
        for is_buy in [true, false] {
            let mut room = self.reducible(asset, is_buy);
            let resting: Vec<u64> = self
                .orders
                .values()
                .rev()
                .filter(|order| order.stage == Stage::Resting && order.spec.reduce_only)
                .filter(|order| order.spec.asset == asset && order.spec.is_buy == is_buy)
                .map(|order| order.oid)
                .collect();
            for oid in resting {
                let Some(order) = self.orders.get_mut(&oid) else { continue };
                if order.remaining <= room {
                    room -= order.remaining;
                } else if room.is_zero() || excess == Excess::Cancel {
                    self.end(oid, "reduceOnlyCanceled");
                } else {
                    order.remaining = room;
                    room = Decimal::ZERO;
                }
            }
        }
    }
}
