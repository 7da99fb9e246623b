//! The orders at the venue that can open a position, each with the stops that come alive when it fills.

use crate::guard::state::cover::CoverSize;
use crate::guard::state::guard::Guard;
use crate::guard::state::sent::order::SentOrder;
use crate::guard::state::view::Resting;
use crate::venue::info::OpenOrder;
use crate::venue::side::{PositionSide, Side};
use rust_decimal::Decimal;

/// An order that can open or enlarge a position.
#[derive(Debug)]
pub(crate) struct OpenEntry {
    /// The side that it opens.
    pub(crate) side: PositionSide,
    pub(crate) size: Decimal,
    /// What it fills at, or the trigger of one that waits for that.
    pub(crate) px: Decimal,
    /// Trigger and size of the market stops that come with it.
    pub(crate) stops: Vec<(Decimal, Decimal)>,
}

/// All of them, as read and as accepted since.
pub(crate) fn open_entries(guard: &Guard) -> Vec<OpenEntry> {
    let shown = guard.view.orders.values().filter(|order| !order.reduce_only).map(shown_entry);
    let rests = |order: &&SentOrder| !order.reduce_only && !order.is_immediate && order.resting.is_some();
    let sent = guard.sent.open().filter(rests).map(|order| {
        let stop = order.stop.filter(|_| guard.sent.has_child(order.key));
        OpenEntry {
            side: PositionSide::opened_by(Side::of(order.is_buy)),
            size: order.size,
            px: order.px,
            stops: stop.map(|stop| (stop.px, order.size)).into_iter().collect(),
        }
    });
    shown.chain(sent).collect()
}

fn shown_entry(order: &Resting) -> OpenEntry {
    let stop = |child: &OpenOrder| {
        let size = CoverSize::new(child.sz, child.is_position_tpsl).of(order.size);
        child.market_stop_px().map(|px| (px, size))
    };
    OpenEntry {
        side: PositionSide::opened_by(Side::of(order.is_buy)),
        size: order.size,
        px: if order.is_trigger { order.order.trigger_px } else { order.px },
        stops: order.order.children.iter().filter_map(stop).collect(),
    }
}

/// How many of them have no stop of their own with them.
pub(crate) fn unattended(guard: &Guard) -> usize {
    open_entries(guard).iter().filter(|entry| entry.stops.is_empty()).count()
}
