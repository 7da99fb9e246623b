//! Fills that may have happened to what was sent, as far as no read shows them.

use super::closed_of_others::is_close_of;
use super::key::{Moment, SentKey};
use super::ledger::SentOrders;
use super::order::SentOrder;
use crate::venue::side::{PositionSide, Side};
use rust_decimal::Decimal;

impl SentOrders {
    /// Takes note that the live feed has told of a fill of the order with this id.
    pub(crate) fn note_fill(&mut self, oid: u64) {
        self.orders.iter_mut().filter(|order| order.oid == Some(oid)).for_each(|order| order.is_filling = true);
    }

    /// Takes note of a fill of the order with this id that is older than this read of the account, which shows it: what the venue
    /// told to have filled waits for no other proof, whatever else moved the position meanwhile.
    pub(crate) fn note_shown(&mut self, oid: u64, size: Decimal, read: Moment) {
        let mut shown = Vec::new();
        for order in self.told_by(read).filter(|order| order.oid == Some(oid)) {
            let before = order.moved();
            order.on_shown(size, read.now_ms);
            shown.push((order.asset, !order.is_buy, order.moved().saturating_sub(before)));
        }
        // The read showed so much less of it because others went the other way by then.
        for (asset, is_buy, more) in shown {
            let others = self.told_by(read).filter(|order| (order.asset, order.is_buy) == (asset, is_buy));
            others.fold(more, |left, order| order.on_move(left, read.now_ms));
        }
        let is_over = |order: &SentOrder| order.is_told_before(read) && order.moved() >= order.told();
        self.orders.retain(|order| order.oid != Some(oid) || !is_over(order));
    }

    /// The orders that the venue told to have filled, in answers that this read is not older than.
    fn told_by(&mut self, read: Moment) -> impl Iterator<Item = &mut SentOrder> {
        let all = self.unshown.fills.iter_mut().chain(&mut self.orders);
        all.filter(move |order| order.is_told_before(read))
    }

    /// How much of orders that open or enlarge one side may have filled and is shown by no read yet: not what is known
    /// to rest, unless a read has missed it.
    pub(crate) fn may_have_filled(&self, asset: u32, side: PositionSide) -> Decimal {
        let opening = self.orders.iter().filter(|order| !order.reduce_only && may_have(order, asset, side.opening()));
        opening.fold(Decimal::ZERO, |sum, order| sum.saturating_add(order.size))
    }

    /// The same without what moves of the position have shown of them.
    pub(crate) fn may_yet_show(&self, asset: u32, side: PositionSide) -> Decimal {
        let opening = self.orders.iter().filter(|order| !order.reduce_only && may_have(order, asset, side.opening()));
        opening.fold(Decimal::ZERO, |sum, order| sum.saturating_add(order.unmoved().abs()))
    }

    /// How much of what filled of an order no move of the position has shown.
    pub(crate) fn left_to_show(&self, key: SentKey) -> Decimal {
        let order = self.orders.iter().find(|order| order.key == key);
        order.map_or(Decimal::ZERO, |order| order.told().saturating_sub(order.moved()).max(Decimal::ZERO))
    }

    /// How much of one side the venue told to be closed by what can only reduce, as far as no read of the account has shown it.
    pub(crate) fn told_closed(&self, asset: u32, side: PositionSide) -> Decimal {
        let closes = self.orders.iter().filter(|order| is_close_of(order, (asset, side)));
        closes.fold(Decimal::ZERO, |sum, order| sum.saturating_add(order.unshown().abs()))
    }

    /// How much of one side is being closed by what can only reduce and does not rest, or was, as far as no read of the account has
    /// shown it.
    pub(crate) fn being_closed(&self, asset: u32, side: PositionSide) -> Decimal {
        let closes = self.orders.iter().filter(|order| is_close_of(order, (asset, side)));
        let closes = closes.filter(|order| may_have(order, asset, side.closing()));
        closes.fold(Decimal::ZERO, |sum, order| sum.saturating_add(order.unmoved().abs()))
    }

    /// Whether all that is held on one side may have been closed since it was read, and some of it opened anew: the venue
    /// takes the stops of a side that ends away, and no read has shown that.
    pub(crate) fn may_have_turned(&self, asset: u32, side: PositionSide, held: Decimal) -> bool {
        let closing = self.orders.iter().filter(|order| may_have(order, asset, side.closing()));
        let closing = closing.fold(Decimal::ZERO, |sum, order| sum.saturating_add(order.size));
        closing > Decimal::ZERO && closing >= held && !self.may_have_filled(asset, side).is_zero()
    }
}

/// Whether an order of this side of a market may have filled: not one that is known to rest, unless a read has missed it.
fn may_have(order: &SentOrder, asset: u32, side: Side) -> bool {
    (order.asset, order.is_buy) == (asset, side.is_buy())
        && !(order.phase.is_open() && order.resting.is_some() && !order.is_missed)
}
