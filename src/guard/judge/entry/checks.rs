//! One entry through every rule in turn: market, form, price, stop, size, leverage.

use crate::venue::side::{PositionSide, Side};
use rust_decimal::Decimal;

use super::entry_cover::{self, Cover};
use super::requested_stop::RequestedStop;
use super::{collar, known_mark, lower_leverage, market, price_invalid, size_invalid, trigger_entry_not_allowed};
use crate::guard::judge::context::JudgeContext;
use crate::guard::judge::fit_to_limits::fit_to_limits;
use crate::guard::judge::stop::Entry;
use crate::guard::judge::veto::Veto;
use crate::venue::order::Order;

/// An entry that passed.
#[derive(Debug, Clone)]
pub(crate) struct PassedEntry {
    pub(crate) cover: Cover,
    /// How much of it can open or enlarge a position.
    pub(crate) opening: Decimal,
    /// What goes ahead of it as a reduce-only order of its own.
    pub(crate) apart: Option<Apart>,
}

/// The closing part of an entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Apart {
    pub(crate) size: Decimal,
    /// The price that was asked: no collar stands between a position and the way out.
    pub(crate) px: Decimal,
}

/// Judges an entry, alters it where a rule says how, and adds it to the exposure. `requested` are the market stops of the
/// same request for the same side of the same market.
pub(crate) fn judge(
    context: &mut JudgeContext<'_>,
    order: &mut Order,
    requested: &mut [RequestedStop<'_>],
) -> Result<PassedEntry, Veto> {
    let guard = context.guard;
    let (market, mid) = market::check(guard, order.asset)?;
    trigger_entry_not_allowed::check(order)?;
    price_invalid::check(market, order)?;
    size_invalid::check(market, order)?;
    let asked_px = order.limit_px;
    let pulled = collar::pull(order, market, mid, guard.config.rules.collar);

    let market_exposure = context.market_exposure(order.asset);
    let side = PositionSide::opened_by(Side::of(order.is_buy));
    let (part, held) = (market_exposure.opening_part(order), market_exposure.held(side));
    let closing = order.size.saturating_sub(part);
    if !part.is_zero() {
        known_mark::check(guard, market, context.now_ms)?;
    }
    let market_px = guard.view.worse_px(order.asset, side, mid);
    let entry = Entry { market, market_px, is_long: order.is_buy, px: order.limit_px, held };
    let mut cover = entry_cover::find(context, &entry, requested, part)?;
    if !part.is_zero() {
        lower_leverage::check_learnt(guard, market)?;
    }
    let fitted = fit_to_limits(context, &entry, order, cover.stop_at())?;
    if order.reduce_only {
        // Cut to what closes: no collar stands between a position and the way out.
        order.limit_px = asked_px;
    } else {
        context.changes.extend(pulled);
    }
    context.changes.extend(fitted.change);

    let opening = if order.reduce_only { Decimal::ZERO } else { order.size.saturating_sub(closing) };
    if !opening.is_zero() {
        // Only an entry that opens something: one cut to its closing part must not fall with a refused update.
        lower_leverage::go_first(context, market);
    }
    entry_cover::move_inside_liquidation(context, &entry, &mut cover, requested, opening);
    Ok(PassedEntry { cover, opening, apart: fitted.apart.map(|size| Apart { size, px: asked_px }) })
}
