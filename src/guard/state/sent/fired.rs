//! Stops that fired and found too little in the book: what they leave of a position has them for its line.

use super::key::Moment;
use super::ledger::SentOrders;
use super::moves::has_come_to;
use crate::guard::state::cover::{LinePart, of_resting, sort_parts};
use crate::guard::state::view::View;
use crate::venue::side::PositionSide;
use rust_decimal::Decimal;

impl SentOrders {
    /// What stops of one side leave of what they would have closed, where the price has come to them and a move of the position, which a
    /// read shows, is put down to nothing else; the nearest fire first. The stop stood for the position then, whether or not the open
    /// orders were read since it was opened.
    pub(crate) fn left_of_fired(
        &self,
        read: Moment,
        view: &View,
        (asset, side): (u32, PositionSide),
        change: Decimal,
    ) -> Vec<LinePart> {
        let told = self.told_before(read, asset);
        let rest = told.fold(change, |rest, order| rest.saturating_sub(order.unmoved()));
        if PositionSide::of(rest) == Some(side) {
            return Vec::new();
        }
        let mut closed = rest.abs();
        let before = side.held(view.position(asset).saturating_sub(change));
        let mut left = self.fired(view, (asset, side), before);
        sort_parts(side, &mut left);
        left.retain_mut(|stop| {
            let filled = closed.min(stop.size);
            closed = closed.saturating_sub(filled);
            stop.size = stop.size.saturating_sub(filled);
            !filled.is_zero() && !stop.size.is_zero()
        });
        left
    }

    /// The market stops of one side that the price has come to and nobody takes away: open by the last reads, on their way, or gone a
    /// moment ago. One for the whole position was for what was `held`.
    fn fired(&self, view: &View, (asset, side): (u32, PositionSide), held: Decimal) -> Vec<LinePart> {
        let of_side = (asset, side.closing().is_buy());
        let is_met = |px: Decimal| has_come_to(view, asset, (px, side.is_long()));
        let open = view.orders.values().filter(|order| (order.asset, order.is_buy) == of_side);
        let open = open.filter(|order| !self.is_being_cancelled(order.oid, order.cloid));
        let open = open.filter_map(|order| Some(LinePart { px: order.stop_px?, size: of_resting(order)?.of(held) }));
        let sent = self.standing_triggers().filter(|trigger| (trigger.asset, trigger.is_buy) == of_side);
        let sent = sent.filter(|trigger| !trigger.cloid.is_some_and(|cloid| view.shows(&cloid)));
        let sent = sent.filter_map(|trigger| trigger.stop.map(|(px, size)| LinePart { px, size: size.of(held) }));
        let gone = self.gone.iter().filter(|gone| (gone.asset, gone.size > Decimal::ZERO) == of_side);
        let gone = gone.filter(|gone| gone.fires.1 == side.is_long());
        let gone = gone.map(|gone| LinePart { px: gone.fires.0, size: gone.size.abs() });
        open.chain(sent).chain(gone).filter(|stop| is_met(stop.px)).collect()
    }
}
