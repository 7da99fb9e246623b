//! The market stops that stand for a position, and those on their way to or from the venue.
//!
//! Whether a position is bare is decided with everything that may rest; whether a stop is spare only with what a read
//! showed to rest and nobody is cancelling. Both mistakes then leave a stop too many rather than one too few.

use crate::guard::state::cover::{CoverSize, of_resting, side_covered, total_size};
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
    /// The venue has it: a read showed it, or the venue said that it rests.
    pub(crate) is_live: bool,
    /// Since when that is known; a read tells it anew.
    known_ms: Option<u64>,
}

impl StandingStop {
    /// Its trigger and size.
    pub(crate) fn cover(&self) -> (Decimal, CoverSize) {
        (self.px, self.size)
    }
}

/// The market stops that may stand for one side of a market, and are not on their way out.
pub(crate) fn stops_for(guard: &Guard, asset: u32, side: PositionSide) -> Vec<StandingStop> {
    let is_here = |other: u32, is_buy: bool| other == asset && side_covered(is_buy) == side;
    let shown = guard.view.orders.values().filter(|order| is_here(order.asset, order.is_buy));
    let shown = shown.filter(|order| !guard.sent.is_being_cancelled(order.oid, order.cloid)).filter_map(|order| {
        let shown = Some((order.oid, order.seen_ms));
        let (px, size) = (order.stop_px?, of_resting(order)?);
        let (is_own, known_ms) = (order.is_guards(), guard.view.orders_ms);
        Some(StandingStop { px, size, is_own, shown, is_live: true, known_ms })
    });
    let sent = guard.sent.standing_triggers().filter(|sent| is_here(sent.asset, sent.is_buy));
    let sent = sent.filter(|sent| !sent.cloid.is_some_and(|cloid| guard.view.shows(&cloid))).filter_map(|sent| {
        let (px, size) = sent.stop?;
        let is_own = sent.cloid.is_some_and(|cloid| is_guard_stop(&cloid));
        let known_ms = sent.live_ms();
        Some(StandingStop { px, size, is_own, shown: None, is_live: known_ms.is_some(), known_ms })
    });
    shown.chain(sent).collect()
}

/// Trigger and size of those of them that the venue has.
pub(crate) fn live_for(guard: &Guard, asset: u32, side: PositionSide) -> Vec<(Decimal, CoverSize)> {
    stops_for(guard, asset, side).iter().filter(|stop| stop.is_live).map(StandingStop::cover).collect()
}

/// The same without those that may be gone with a position which has ended since they were last heard of.
pub(crate) fn lasting_for(guard: &Guard, asset: u32, side: PositionSide) -> Vec<(Decimal, CoverSize)> {
    let ended_ms = guard.watch.ended_ms.get(&(asset, side)).copied();
    let lasts = |stop: &StandingStop| stop.is_live && (ended_ms.is_none() || stop.known_ms > ended_ms);
    stops_for(guard, asset, side).iter().filter(|stop| lasts(stop)).map(StandingStop::cover).collect()
}

/// Those of them that more than one read tells of, each as far as both do: the farther trigger, and the smaller size. One whose
/// answer alone is known is as the venue said.
pub(crate) fn sure_for(guard: &Guard, asset: u32, side: PositionSide) -> Vec<(Decimal, CoverSize)> {
    let live = stops_for(guard, asset, side).into_iter().filter(|stop| stop.is_live);
    let sure = live.filter_map(|stop| {
        let Some((oid, _)) = stop.shown else { return Some(stop.cover()) };
        let (px, size) = guard.view.orders.get(&oid)?.before?;
        let size = match stop.size {
            CoverSize::Part(now) => CoverSize::Part(now.min(size)),
            CoverSize::Whole => CoverSize::Whole,
        };
        Some((side.further_of(px, stop.px), size))
    });
    sure.collect()
}

/// How much of a market's position the stops that the venue has leave without cover.
pub(crate) fn bare_size(guard: &Guard, asset: u32) -> Decimal {
    let Some(line) = guard.lines.get(asset) else { return guard.view.position(asset).abs() };
    total_size(&line.bare(&live_for(guard, asset, line.side), Decimal::ZERO))
}
