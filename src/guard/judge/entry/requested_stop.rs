//! The market stops that come with the entries of a request, and which entries they are for.

use rust_decimal::Decimal;

use crate::venue::order::Order;

/// A market stop of the request that an entry is in.
pub(crate) struct RequestedStop<'a> {
    pub(crate) order: &'a mut Order,
    /// Its trigger as the client asked for it.
    pub(crate) asked_px: Decimal,
}

/// Whether `stop` is a market stop for entries of this side of this market.
pub(crate) fn covers_side(stop: &Order, (asset, is_long): (u32, bool)) -> bool {
    stop.market_stop_px().is_some() && (stop.asset, stop.is_buy) == (asset, !is_long)
}

/// The market stops among the orders of a request for entries of this side of this market.
pub(crate) fn stops_for<'a>(
    orders: impl IntoIterator<Item = &'a mut Order>,
    side: (u32, bool),
) -> Vec<RequestedStop<'a>> {
    let stops = orders.into_iter().filter(|order| covers_side(order, side));
    stops.filter_map(|order| order.market_stop_px().map(|asked_px| RequestedStop { order, asked_px })).collect()
}
