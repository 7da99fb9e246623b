//! How much of an order closes, and how much of it can open: what is on its way is counted as filled.

use super::{MarketExposure, SideExposure};
use crate::venue::order::Order;
use crate::venue::side::{PositionSide, Side};
use rust_decimal::Decimal;

impl MarketExposure {
    /// How much of `order` is more than it can close as things stand.
    pub(crate) fn entry_part(&self, order: &Order) -> Decimal {
        if order.reduce_only {
            return Decimal::ZERO;
        }
        let closable = self.closable(PositionSide::opened_by(Side::of(order.is_buy)));
        order.size.saturating_sub(closable).max(Decimal::ZERO)
    }

    /// How much of `order` can open or enlarge a position, now or once it has rested.
    pub(crate) fn opening_part(&self, order: &Order) -> Decimal {
        if order.may_rest() && !order.reduce_only { order.size } else { self.entry_part(order) }
    }

    /// Whether `order` closes and no more, by answers, or by the newest fills or reads: it goes out reduce-only then, so that it opens nothing
    /// where that was wrong, and no close is to wait for a read. What else is judged goes by answers alone.
    pub(crate) fn only_closes(&self, order: &Order) -> bool {
        let side = PositionSide::opened_by(Side::of(order.is_buy));
        self.entry_part(order).is_zero() || order.size <= self.left_of(self.held_by_fills(side.opposite()), side)
    }

    /// What one more entry of one side may close of the opposite position: what nothing on its way is to close.
    fn closable(&self, side: PositionSide) -> Decimal {
        self.left_of(self.held_as_told(side.opposite()), side)
    }

    /// What is left of so much held on the other side once all on its way on this one has filled.
    fn left_of(&self, held: Decimal, side: PositionSide) -> Decimal {
        let SideExposure { reduce_only, told, .. } = self.side(side);
        let on_its_way = reduce_only.saturating_add(self.sum(side).immediate).saturating_sub(*told);
        held.saturating_sub(on_its_way.max(Decimal::ZERO)).max(Decimal::ZERO)
    }
}
