//! One entry through every rule in turn.

use rust_decimal::Decimal;

use super::stop::Entry;
use super::veto::Veto;
use super::{collar, leverage, market, size, stop, tick};
use crate::base::amount::to_wire;
use crate::guard::code::Code;
use crate::guard::state::exposure::{Book, StopAt};
use crate::guard::state::guard::Guard;
use crate::guard::state::stop_geometry::stop_order;
use crate::venue::action::Action;
use crate::venue::order::Order;

/// Where an entry that passed is stopped out.
#[derive(Debug, Clone)]
pub(crate) enum Cover {
    /// By stops that came with the request.
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

/// An entry that passed.
#[derive(Debug, Clone)]
pub(crate) struct Judged {
    pub(crate) cover: Cover,
    /// How much of it can open or enlarge a position.
    pub(crate) opening: Decimal,
}

/// What judging an entry altered besides the entry itself.
#[derive(Debug, Default)]
pub(crate) struct Altered {
    pub(crate) changes: Vec<String>,
    pub(crate) pre: Vec<Action>,
}

/// Judges an entry, alters it where a rule says how, and adds it to the book. `requested` are the market stops of the
/// same request for the same side of the same market.
pub(crate) fn judge(
    guard: &Guard,
    book: &mut Book,
    order: &mut Order,
    requested: &mut [&mut Order],
    altered: &mut Altered,
    now_ms: u64,
) -> Result<Judged, Veto> {
    let (market, mid) = market::check(guard, order.asset)?;
    if order.is_trigger() {
        let text = "a trigger order that is not reduce-only could open a position later, unseen; mark it reduce-only";
        return Err(Veto::new(Code::TriggerEntryNotAllowed, text));
    }
    tick::check(market, order)?;
    altered.changes.extend(collar::pull(order, market, mid, guard.config.rules.collar));
    let market_book = book.market(guard, order.asset);
    let part = market_book.entry_part(order);
    let held = market_book.held(order.is_buy);
    let entry = Entry { market, mid, is_long: order.is_buy, px: order.limit_px, held };
    let asked: Vec<_> = requested.iter().filter_map(|stop| stop.market_stop_px()).collect();
    let mut cover = if requested.is_empty() {
        match resting_cover(guard, book, &entry, part) {
            Some(px) => Cover::Resting(px),
            None => Cover::Attached(stop_order(market, entry.side(), entry.attached_px(guard)?, part)),
        }
    } else {
        requested.iter_mut().try_for_each(|stop| stop::judge(guard, &entry, stop))?;
        Cover::Requested(farthest(&entry, requested))
    };
    let closing = order.size.saturating_sub(part);
    altered.changes.extend(size::cut(guard, book, &entry, order, cover.stop_at())?);
    let opening = if order.reduce_only { Decimal::ZERO } else { order.size.saturating_sub(closing) };
    // What was cut to its closing part needs no leverage, and must not fall with a refused update of it.
    if !opening.is_zero()
        && let Some((action, change)) = leverage::lower(guard, market, now_ms)
        && !altered.pre.contains(&action)
    {
        altered.pre.push(action);
        altered.changes.push(change);
    }

    // Only now is it known how much will be held, and so where it is liquidated.
    let inside = |px: Decimal| entry.inside_liquidation(guard, px, opening).unwrap_or(px);
    match &mut cover {
        // Cut to what closes: nothing is opened that needs a stop.
        Cover::Attached(stop) if opening.is_zero() => {
            cover = Cover::Resting(stop.market_stop_px().unwrap_or_default());
        }
        Cover::Attached(stop) => {
            stop.size = opening;
            let px = inside(stop.market_stop_px().unwrap_or_default());
            stop::move_to(&entry, stop, px);
            altered.changes.push(attached_text(guard, &entry, px));
        }
        Cover::Requested(px) => {
            for (stop, asked) in requested.iter_mut().zip(asked) {
                let px = inside(stop.market_stop_px().unwrap_or_default());
                stop::move_to(&entry, stop, px);
                if px != asked {
                    altered.changes.push(stop::tightened_text(guard, &entry, asked, px));
                }
            }
            *px = farthest(&entry, requested);
        }
        Cover::Resting(_) => {}
    }
    Ok(Judged { cover, opening })
}

fn farthest(entry: &Entry<'_>, stops: &[&mut Order]) -> Decimal {
    entry.side().furthest(stops.iter().filter_map(|stop| stop.market_stop_px())).unwrap_or_default()
}

fn attached_text(guard: &Guard, entry: &Entry<'_>, px: Decimal) -> String {
    format!(
        "{} market stop attached at {}, {}% from the price {} (rule: {}%)",
        entry.market.coin,
        to_wire(px),
        stop::distance_pct(entry.px, px),
        to_wire(entry.px),
        guard.config.rules.stop
    )
}

/// The farthest trigger of the cover that rests, if it has room for `part` more and is good enough.
fn resting_cover(guard: &Guard, book: &mut Book, entry: &Entry<'_>, part: Decimal) -> Option<Decimal> {
    let market_book = book.market(guard, entry.market.asset);
    if market_book.spare_cover(entry.is_long).is_some_and(|spare| spare < part) {
        return None;
    }
    let farthest = entry.side().furthest(market_book.stops(entry.is_long).iter().map(|stop| stop.px))?;
    entry.accepts(guard, farthest, part).then_some(farthest)
}
