//! The one place where actions set out: what they could do is reserved, their orders are named, and the first one is
//! released by the event that names them.

use crate::guard::flow::step_context::Step;
use crate::guard::state::exposure::StopAt;
use crate::guard::state::intent::{Intent, Role};
use crate::guard::state::own_cloid::{Whose, derived_cloid};
use crate::guard::state::pending::ToldBy;
use crate::venue::action::{Action, Target};
use crate::venue::order::Order;

/// Gives every order without a client order id one by which it is found again; those at `own_from` and after are the
/// guard's own.
pub(crate) fn name_orders(action: &mut Action, own_from: usize, seq: u64, place: &mut u16) {
    let mut name = |(index, order): (usize, &mut Order)| {
        let whose = if index >= own_from { Whose::Guard } else { Whose::Client };
        order.cloid.get_or_insert_with(|| derived_cloid(whose, seq, *place));
        *place = place.saturating_add(1);
    };
    match action {
        Action::Order(action) => action.orders.iter_mut().enumerate().for_each(name),
        Action::Modify { modify, .. } => name((0, &mut modify.order)),
        Action::BatchModify { modifies, .. } => {
            modifies.iter_mut().map(|modify| &mut modify.order).enumerate().for_each(name);
        }
        _ => {}
    }
}

/// What a cancel or modify takes away, with its place in the action.
fn cancelled_by(action: &Action) -> Vec<(usize, Target)> {
    let targets: Vec<Target> = match action {
        Action::Modify { modify, .. } => vec![modify.target],
        Action::BatchModify { modifies, .. } => modifies.iter().map(|modify| modify.target).collect(),
        Action::Cancel { cancels, .. } => cancels.iter().map(|cancel| Target::Oid(cancel.oid)).collect(),
        Action::CancelByCloid { cancels, .. } => cancels.iter().map(|cancel| Target::Cloid(cancel.cloid)).collect(),
        _ => Vec::new(),
    };
    targets.into_iter().enumerate().collect()
}

/// Reserves what the actions could fill and has the first one sent once the decision is on disk.
pub(crate) fn dispatch(step: &mut Step<'_>, seq: u64, intent: Intent, stops: &[Option<StopAt>]) {
    for (index, planned) in intent.actions.iter().enumerate() {
        step.guard.watch.in_flight.reserve(seq, index, &planned.action);
        for (place, order) in planned.action.orders().enumerate() {
            let stop = if planned.role == Role::Forward { stops.get(place).copied().flatten() } else { None };
            step.guard.pending.reserve((seq, index, place), order, stop, ToldBy::CloidSince(step.now_ms, Vec::new()));
        }
        for (place, target) in cancelled_by(&planned.action) {
            step.guard.pending.cancel(seq, index, place, target);
        }
    }
    step.effects.after_disk.extend(intent.send(seq, 0));
    step.guard.intents.insert(seq, intent);
}
