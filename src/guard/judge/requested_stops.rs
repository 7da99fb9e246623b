//! The stops of a request against all its entries together: on the right side of each, and as large as what they open.

use crate::guard::state::cover::{CoverSize, of_order};
use crate::venue::side::{PositionSide, Side};
use std::collections::BTreeMap;

use rust_decimal::Decimal;

use super::attached_stops::Kept;
use super::context::JudgeContext;
use super::entry::checks::PassedEntry;
use super::entry::entry_cover::Cover;
use super::entry::market;
use super::entry::requested_stop::covers_side;
use super::stop::{self, Entry};
use super::veto::Veto;
use crate::base::amount::to_wire;
use crate::guard::state::guard::Guard;
use crate::venue::action::OrderAction;
use crate::venue::order::Order;

/// Refuses stops that were tightened for one entry and now stand on the wrong side of another.
pub(crate) fn check_shared(guard: &Guard, orders: &[Order], passed: &[Option<PassedEntry>]) -> Result<(), Veto> {
    for (order, passed) in orders.iter().zip(passed) {
        if !matches!(passed, Some(PassedEntry { cover: Cover::Requested(_), .. })) {
            continue;
        }
        let (market, mid) = market::check(guard, order.asset)?;
        let market_px = guard.view.worse_px(order.asset, PositionSide::opened_by(Side::of(order.is_buy)), mid);
        let entry = Entry { market, market_px, is_long: order.is_buy, px: order.limit_px, held: Decimal::ZERO };
        let mut stops = orders.iter().filter(|stop| covers_side(stop, (order.asset, order.is_buy)));
        stops.try_for_each(|stop| stop::check_side(guard, &entry, stop.market_stop_px().unwrap_or_default()))?;
    }
    Ok(())
}

/// Makes the stops of a request cover its entries: raised where they are too small, and shrunk after a cut.
pub(crate) fn fit_to_entries(context: &mut JudgeContext<'_>, action: &OrderAction, kept: &mut [Kept]) {
    for (side, opened) in opened_by_side(kept) {
        let (asset, is_long) = side;
        let held = context.market_exposure(asset).held(PositionSide::opened_by(Side::of(is_long)));
        let was_cut = entries_of(&action.orders, side) != entries_of(kept.iter().map(|kept| &kept.order), side);
        let orders = kept.iter_mut().map(|kept| &mut kept.order);
        let mut stops: Vec<&mut Order> = orders.filter(|order| covers_side(order, side)).collect();
        if stops.iter().any(|stop| of_order(stop, action.grouping) == Some(CoverSize::Whole)) {
            continue;
        }
        let total = stops.iter().map(|stop| stop.size).fold(Decimal::ZERO, Decimal::saturating_add);
        let Some(last) = stops.last_mut() else { continue };
        let others = total.saturating_sub(last.size);
        let most = opened.saturating_add(held);
        let size = if total < opened {
            opened.saturating_sub(others)
        } else if was_cut && total > most && most > others {
            most.saturating_sub(others)
        } else {
            continue;
        };
        let asked = std::mem::replace(&mut last.size, size);
        let change = format!("stop size set from {} to {}, that of the entry", to_wire(asked), to_wire(size));
        context.changes.push(change);
    }
}

/// How much the entries of a request open on each side of each market.
fn opened_by_side(kept: &[Kept]) -> BTreeMap<(u32, bool), Decimal> {
    let mut opened: BTreeMap<(u32, bool), Decimal> = BTreeMap::new();
    for Kept { order, passed, .. } in kept {
        let opening = passed.as_ref().map_or(Decimal::ZERO, |passed| passed.opening);
        let sum = opened.entry((order.asset, order.is_buy)).or_default();
        *sum = sum.saturating_add(opening);
    }
    opened
}

/// The size of all orders of one side that are not marked reduce-only.
fn entries_of<'a>(orders: impl IntoIterator<Item = &'a Order>, side: (u32, bool)) -> Decimal {
    let entries = orders.into_iter().filter(|order| !order.reduce_only && (order.asset, order.is_buy) == side);
    entries.map(|order| order.size).fold(Decimal::ZERO, Decimal::saturating_add)
}
