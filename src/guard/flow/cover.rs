//! Cover: the market stops that stand for a position, and those on their way to or from the venue.
//!
//! Whether a position is bare is judged with everything that may rest; whether a stop is spare only with what a read
//! showed to rest and nobody is cancelling. Both mistakes then leave a stop too many rather than one too few.

use crate::guard::state::guard::Guard;
use crate::guard::state::own_cloid::is_guard_stop;
use rust_decimal::Decimal;

/// A market stop that may stand for a position.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StandingStop {
    pub(crate) px: Decimal,
    /// `None` covers whatever the position is.
    pub(crate) size: Option<Decimal>,
    pub(crate) is_own: bool,
    /// The order and the time when it was first seen, for one that a read showed.
    pub(crate) shown: Option<(u64, u64)>,
}

impl StandingStop {
    /// How much of a position of this size it covers.
    pub(crate) fn of(&self, held: Decimal) -> Decimal {
        self.size.unwrap_or(held)
    }
}

/// How much of a position these stops cover.
pub(crate) fn sum_cover<'a>(stops: impl IntoIterator<Item = &'a StandingStop>, held: Decimal) -> Decimal {
    stops.into_iter().fold(Decimal::ZERO, |sum, stop| sum.saturating_add(stop.of(held)))
}

/// The market stops that may stand for one side of a market, and are not on their way out.
pub(crate) fn stops_for(guard: &Guard, asset: u32, is_long: bool) -> Vec<StandingStop> {
    let in_flight = &guard.watch.in_flight;
    let shown = guard.view.orders.values().filter(|order| (order.asset, order.is_buy) == (asset, !is_long));
    let shown = shown.filter(|order| !guard.pending.is_going(order.oid, order.cloid)).filter_map(|order| {
        let size = if order.is_position_tpsl && order.size.is_zero() { None } else { Some(order.size) };
        let shown = Some((order.oid, order.seen_ms));
        Some(StandingStop { px: order.stop_px?, size, is_own: order.is_guards(), shown })
    });
    let sent = in_flight.0.iter().filter(|stop| (stop.asset, stop.is_buy) == (asset, !is_long));
    let sent = sent.filter(|stop| !guard.pending.is_unseen_going(stop.cloid));
    let sent = sent.filter(|stop| !stop.cloid.is_some_and(|cloid| guard.view.shows(&cloid))).map(|stop| StandingStop {
        px: stop.px,
        size: stop.size,
        is_own: stop.cloid.is_some_and(|cloid| is_guard_stop(&cloid)),
        shown: None,
    });
    shown.chain(sent).collect()
}
