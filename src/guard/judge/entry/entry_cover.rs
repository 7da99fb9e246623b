//! The stop of an entry: one that came with its request, one that rests already, or one that the guard attaches.

use rust_decimal::Decimal;

use super::requested_stop::RequestedStop;
use crate::guard::judge::context::JudgeContext;
use crate::guard::judge::stop::{self, Entry};
use crate::guard::judge::veto::Veto;
use crate::guard::state::entry_leg::StopAt;
use crate::guard::state::stop_geometry::stop_order;
use crate::venue::order::Order;

/// Where an entry that passed is stopped out.
#[derive(Debug, Clone)]
pub(crate) enum Cover {
    /// By stops that came with the request; the farthest trigger.
    Requested(Decimal),
    /// By cover that already rests.
    Resting(Decimal),
    /// By this stop of the guard's.
    Attached(Order),
}

impl Cover {
    pub(crate) fn stop_at(&self) -> StopAt {
        match self {
            Cover::Requested(px) => StopAt { px: *px, is_own: true },
            Cover::Resting(px) => StopAt { px: *px, is_own: false },
            Cover::Attached(order) => StopAt { px: order.market_stop_px().unwrap_or_default(), is_own: true },
        }
    }
}

/// Finds the cover of an entry that opens `opening`, the liquidation price aside: that depends on the size, which the
/// limits may still cut.
pub(crate) fn find(
    context: &mut JudgeContext<'_>,
    entry: &Entry<'_>,
    requested: &mut [RequestedStop<'_>],
    opening: Decimal,
) -> Result<Cover, Veto> {
    let guard = context.guard;
    if !requested.is_empty() {
        requested.iter_mut().try_for_each(|stop| stop::judge(guard, entry, stop.order))?;
        return Ok(Cover::Requested(farthest(entry, requested)));
    }
    match resting_cover(context, entry, opening) {
        Some(px) => Ok(Cover::Resting(px)),
        None => {
            let px = entry.attached_px(guard)?;
            Ok(Cover::Attached(stop_order(entry.market, entry.side(), px, opening)))
        }
    }
}

/// Moves the stops of an entry inside the liquidation price that it has at its final size.
pub(crate) fn move_inside_liquidation(
    context: &mut JudgeContext<'_>,
    entry: &Entry<'_>,
    cover: &mut Cover,
    requested: &mut [RequestedStop<'_>],
    opening: Decimal,
) {
    let guard = context.guard;
    let inside = |px: Decimal| entry.inside_liquidation(guard, px, opening).unwrap_or(px);
    match cover {
        // Cut to its closing part: nothing is opened that needs a stop.
        Cover::Attached(stop) if opening.is_zero() => {
            *cover = Cover::Resting(stop.market_stop_px().unwrap_or_default());
        }
        Cover::Attached(stop) => {
            stop.size = opening;
            let px = inside(stop.market_stop_px().unwrap_or_default());
            stop::move_to(entry, stop, px);
        }
        Cover::Requested(px) => {
            for RequestedStop { order, asked_px } in requested.iter_mut() {
                let px = inside(order.market_stop_px().unwrap_or_default());
                stop::move_to(entry, order, px);
                if px != *asked_px {
                    context.changes.push(stop::tightened_text(guard, entry, *asked_px, px));
                }
            }
            *px = farthest(entry, requested);
        }
        Cover::Resting(_) => {}
    }
}

fn farthest(entry: &Entry<'_>, stops: &[RequestedStop<'_>]) -> Decimal {
    entry.side().furthest(stops.iter().filter_map(|stop| stop.order.market_stop_px())).unwrap_or_default()
}

/// The farthest trigger of the cover that rests, if it has room for `opening` more and is good enough.
fn resting_cover(context: &mut JudgeContext<'_>, entry: &Entry<'_>, opening: Decimal) -> Option<Decimal> {
    let guard = context.guard;
    let market_exposure = context.market_exposure(entry.market.asset);
    if market_exposure.spare_cover(entry.side()).is_some_and(|spare| spare < opening) {
        return None;
    }
    let farthest = entry.side().furthest(market_exposure.stops(entry.side()).iter().map(|stop| stop.px))?;
    entry.accepts(guard, farthest, opening).then_some(farthest)
}
