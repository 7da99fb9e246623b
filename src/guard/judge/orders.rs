//! The `order` action: exits first, then each entry in turn with budgets running down, then the limits of the whole and
//! the stops that hang on its entries.

use crate::guard::state::cover::side_covered;
use rust_decimal::Decimal;

use super::context::JudgeContext;
use super::entry::checks::{self, PassedEntry};
use super::entry::requested_stop::stops_for;
use super::exit::{self, Class};
use super::plan::Plan;
use super::throttle::{self, AskedEntries};
use super::veto::Veto;
use super::{admission, attached_stops, redundant_stops, requested_stops};
use crate::base::address::Address;
use crate::guard::state::guard::Guard;
use crate::guard::state::stop_geometry::stop_order;
use crate::guard::state::throttle::EntryNote;
use crate::venue::action::{Action, Grouping, OrderAction};
use crate::venue::order::Order;
use crate::venue::side::PositionSide;

/// The orders of a request as they are judged.
struct Batch {
    orders: Vec<Order>,
    /// By place: the entries that passed.
    passed: Vec<Option<PassedEntry>>,
    asked: AskedEntries,
}

pub(crate) fn judge(guard: &Guard, client: Address, action: &OrderAction, now_ms: u64) -> Result<Plan, Veto> {
    let mut context = JudgeContext::new(guard, client, now_ms);
    let mut orders = action.orders.clone();
    // Exits first, wherever they stand: the position that they close is not there for an entry to close.
    let classes: Vec<Class> = orders.iter_mut().map(|order| exit::classify(&mut context, order)).collect();
    let mut batch = Batch { passed: vec![None; orders.len()], orders, asked: AskedEntries::default() };
    for (place, class) in classes.into_iter().enumerate() {
        if class == Class::Entry {
            batch.judge_entry(&mut context, place)?;
        }
    }
    requested_stops::check_shared(guard, &batch.orders, &batch.passed)?;
    throttle::check(guard, &batch.asked, now_ms)?;
    requested_stops::fit_to_entries(&mut context, action, &mut batch.orders, &batch.passed);
    Ok(batch.into_plan(context, action))
}

impl Batch {
    /// Judges the entry at `place`.
    fn judge_entry(&mut self, context: &mut JudgeContext<'_>, place: usize) -> Result<(), Veto> {
        let Some(mut order) = self.orders.get(place).cloned() else { return Ok(()) };
        if let Err(veto) = admission::checks::check(context.guard, context.now_ms) {
            close_instead(context, &mut order, veto)?;
        } else {
            let note = EntryNote::of(context.client, &order);
            let mut stops = stops_for(&mut self.orders, (order.asset, order.is_buy));
            let passed = checks::judge(context, &mut order, &mut stops)?;
            if !passed.opening.is_zero() {
                self.asked.cloids.extend(order.cloid);
                self.asked.notes.push(note);
                self.asked.resting += usize::from(order.may_rest());
            }
            if let Some(slot) = self.passed.get_mut(place) {
                *slot = Some(passed);
            }
        }
        if let Some(slot) = self.orders.get_mut(place) {
            *slot = order;
        }
        Ok(())
    }

    /// The plan of a request whose every order passed.
    fn into_plan(self, context: JudgeContext<'_>, action: &OrderAction) -> Plan {
        let Batch { mut orders, passed, asked } = self;
        let stops = passed.iter().map(|passed| passed.as_ref().map(|passed| passed.cover.stop_at())).collect();
        // Before the guard's stops are added: only a client's stop lets one of them go.
        let released = redundant_stops::own_stops(context.guard, &orders, action.grouping);
        let (grouping, mut post) = attached_stops::attach(context.guard, action, &mut orders, passed);
        post.extend(released);
        let is_entry = !asked.notes.is_empty();
        Plan {
            kept: None,
            pre: context.pre,
            forward: Some(Action::Order(OrderAction { orders, grouping, builder: action.builder.clone() })),
            post,
            changes: context.changes,
            stops,
            entries: asked.notes,
            is_entry,
            reduces: !is_entry,
        }
    }
}

/// Takes an entry for a close where nothing may be opened and it asks for no more than the opposite position; otherwise
/// refuses it with `veto`.
///
/// It counts as an entry because something on its way may close the position first, and then it would open one. Marked
/// reduce-only it cannot.
fn close_instead(context: &mut JudgeContext<'_>, order: &mut Order, veto: Veto) -> Result<(), Veto> {
    if order.is_trigger() || order.size > context.market_exposure(order.asset).held(side_covered(order.is_buy)) {
        return Err(veto);
    }
    exit::mark_exit(context, order);
    Ok(())
}

/// The guard's own stop for `size` of one side at `trigger_px`.
pub(crate) fn own_stop(
    guard: &Guard,
    asset: u32,
    side: PositionSide,
    trigger_px: Decimal,
    size: Decimal,
) -> Option<Action> {
    let market = guard.view.market(asset)?;
    let orders = vec![stop_order(market, side, trigger_px, size)];
    Some(Action::Order(OrderAction { orders, grouping: Grouping::Na, builder: None }))
}
