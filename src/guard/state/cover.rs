//! Cover: what a market stop closes of a position. The one definition of it; whoever asks whether a position is covered,
//! whether a stop may go, or what a client's stop replaces, asks here.

use crate::guard::state::view::Resting;
use crate::venue::action::Grouping;
use crate::venue::order::Order;
use crate::venue::side::{PositionSide, Side};
use rust_decimal::Decimal;

/// How much of a position a stop closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CoverSize {
    /// Whatever the position is when it fires: a position's stop without a size of its own.
    Whole,
    /// At most this much.
    Part(Decimal),
}

impl CoverSize {
    /// Of an order's size. Only a stop that belongs to the position closes the whole of it, and only without a size.
    pub(crate) fn new(size: Decimal, is_position_tpsl: bool) -> Self {
        if is_position_tpsl && size.is_zero() { CoverSize::Whole } else { CoverSize::Part(size) }
    }

    /// How much of `held` it closes.
    pub(crate) fn of(self, held: Decimal) -> Decimal {
        match self {
            CoverSize::Part(size) => size,
            CoverSize::Whole => held,
        }
    }
}

/// How much of `held` stops of these sizes close together; more than `held` where they overlap.
pub(crate) fn total(sizes: impl IntoIterator<Item = CoverSize>, held: Decimal) -> Decimal {
    sizes.into_iter().fold(Decimal::ZERO, |sum, size| sum.saturating_add(size.of(held)))
}

/// The side of the positions that a stop with this `is_buy` covers.
pub(crate) fn side_covered(is_buy: bool) -> PositionSide {
    PositionSide::reduced_by(Side::of(is_buy))
}

/// What an open order closes of a position of its market, if it is a market stop.
pub(crate) fn of_resting(order: &Resting) -> Option<CoverSize> {
    order.stop_px.map(|_| CoverSize::new(order.size, order.is_position_tpsl))
}

/// What an order of a request closes once the venue has taken it, if it is a market stop. The child of an entry closes
/// nothing: it waits for that to fill, and dies with it.
pub(crate) fn of_order(order: &Order, grouping: Grouping) -> Option<CoverSize> {
    let is_child = grouping == Grouping::NormalTpsl;
    order.market_stop_px().filter(|_| !is_child)?;
    Some(CoverSize::new(order.size, grouping == Grouping::PositionTpsl))
}

/// Whether an open order is a market stop that closes a part at least of the position of signed size `szi`.
pub(crate) fn covers(order: &Resting, szi: Decimal) -> bool {
    order.stop_px.is_some() && PositionSide::of(szi) == Some(side_covered(order.is_buy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rust_decimal::dec;

    #[test]
    fn only_a_position_s_stop_without_a_size_covers_the_whole() {
        for (size, is_position_tpsl, of_three) in [
            (dec!(0), true, dec!(3)),
            (dec!(0.01), true, dec!(0.01)),
            (dec!(2), false, dec!(2)),
            (dec!(0), false, dec!(0)),
        ] {
            assert_eq!(CoverSize::new(size, is_position_tpsl).of(dec!(3)), of_three, "{size} {is_position_tpsl}");
        }
        let sizes = [CoverSize::Part(dec!(1)), CoverSize::Whole];
        assert_eq!(total(sizes, dec!(3)), dec!(4));
        assert_eq!([true, false].map(side_covered), [PositionSide::Short, PositionSide::Long]);
    }
}
