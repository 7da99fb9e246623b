//! The market stops that stand for a position, and those on their way to or from the venue.
//!
//! Whether a position is bare is decided with everything that may rest; whether a stop is spare only with what a read
//! showed to rest and nobody is cancelling. Both mistakes then leave a stop too many rather than one too few.

use crate::guard::state::cover::{CoverSize, of_resting, side_covered, total};
use crate::guard::state::guard::Guard;
use crate::guard::state::own_cloid::is_guard_stop;
use crate::venue::side::PositionSide;
use rust_decimal::Decimal;

/// A market stop that may stand for a position.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StandingStop {
    pub(crate) px: Decimal,
    pub(crate) size: CoverSize,
    pub(crate) is_own: bool,
    /// The order and the time when it was first seen, for one that a read showed.
    pub(crate) shown: Option<(u64, u64)>,
}

/// How much of a position these stops cover.
pub(crate) fn sum_cover<'a>(stops: impl IntoIterator<Item = &'a StandingStop>, held: Decimal) -> Decimal {
    total(stops.into_iter().map(|stop| stop.size), held)
}

/// The market stops that may stand for one side of a market, and are not on their way out.
pub(crate) fn stops_for(guard: &Guard, asset: u32, side: PositionSide) -> Vec<StandingStop> {
    let is_here = |other: u32, is_buy: bool| other == asset && side_covered(is_buy) == side;
    let shown = guard.view.orders.values().filter(|order| is_here(order.asset, order.is_buy));
    let shown = shown.filter(|order| !guard.sent.is_being_cancelled(order.oid, order.cloid)).filter_map(|order| {
        let shown = Some((order.oid, order.seen_ms));
        Some(StandingStop { px: order.stop_px?, size: of_resting(order)?, is_own: order.is_guards(), shown })
    });
    let sent = guard.sent.standing_triggers().filter(|sent| is_here(sent.asset, sent.is_buy));
    let sent = sent.filter(|sent| !sent.cloid.is_some_and(|cloid| guard.view.shows(&cloid))).filter_map(|sent| {
        let (px, size) = sent.stop?;
        let is_own = sent.cloid.is_some_and(|cloid| is_guard_stop(&cloid));
        Some(StandingStop { px, size, is_own, shown: None })
    });
    shown.chain(sent).collect()
}
