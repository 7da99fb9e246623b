//! Exits: which orders can only reduce, and how they count for the orders after them.

use super::context::JudgeContext;
use crate::base::amount::to_wire;
use crate::guard::state::entry_leg::EntryLeg;
use crate::guard::state::exposure::Exposure;
use crate::guard::state::guard::Guard;
use crate::guard::state::stop_geometry::make_fillable;
use crate::venue::market::{FIRST_BUILDER_PERP, FIRST_NON_CORE_ASSET, FIRST_OUTCOME};
use crate::venue::order::{Order, Tif};
use crate::venue::side::Side;

/// An order's kind, by what the account could come to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Can only reduce.
    Exit,
    /// Can open or enlarge a position.
    Entry,
}

/// Tells an exit from an entry, and counts an exit. One that is not marked so is marked reduce-only: no race can then
/// make it open.
pub(crate) fn classify(context: &mut JudgeContext<'_>, order: &mut Order) -> Class {
    let class = class_of(context, order);
    if class == Class::Exit {
        if !order.reduce_only {
            mark_exit(context, order);
        }
        let asked = order.limit_px;
        let market = context.guard.view.market(order.asset);
        if let Some(px) = market.and_then(|market| make_fillable(market, order)) {
            let (asked, px) = (to_wire(asked), to_wire(px));
            context
                .changes
                .push(format!("limit price of a stop set from {asked} to {px}: beyond its trigger, so that it fills"));
        }
        add_exit(context.guard, &mut context.exposure, order);
    }
    class
}

/// Whether an order only closes, marked so or not, and may rest.
pub(crate) fn may_rest(context: &mut JudgeContext<'_>, order: &Order) -> bool {
    !order.tif().is_some_and(Tif::is_immediate) && class_of(context, order) == Class::Exit
}

fn class_of(context: &mut JudgeContext<'_>, order: &Order) -> Class {
    let is_spot = (FIRST_NON_CORE_ASSET..FIRST_BUILDER_PERP).contains(&order.asset);
    if is_spot || order.asset >= FIRST_OUTCOME {
        // Spot and outcome markets have no positions to reduce: the flag proves nothing there.
        return Class::Entry;
    }
    if order.reduce_only {
        return Class::Exit;
    }
    let is_core = order.asset < FIRST_NON_CORE_ASSET;
    let only_closes = is_core && !order.size.is_zero() && context.market_exposure(order.asset).only_closes(order);
    if only_closes { Class::Exit } else { Class::Entry }
}

/// Marks an order reduce-only that its client did not mark.
pub(crate) fn mark_exit(context: &mut JudgeContext<'_>, order: &mut Order) {
    order.reduce_only = true;
    let side = Side::of(order.is_buy).name();
    context.changes.push(format!("{side} of {} only closes and goes as reduce-only", to_wire(order.size)));
}

/// Counts an exit, so that the orders after it cannot close the same position twice.
pub(crate) fn add_exit(guard: &Guard, exposure: &mut Exposure, order: &Order) {
    if !order.is_trigger() {
        let leg = EntryLeg { size: order.size, px: order.limit_px, stop: None, may_rest: order.may_rest() };
        exposure.add(&guard.view, order.asset, order.is_buy, true, leg);
    }
}
