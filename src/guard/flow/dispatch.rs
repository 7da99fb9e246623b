//! The one place where actions set out: what they could do is reserved, their orders are named, and the first one, or all
//! where none waits for another, is released by the event that names them.

use crate::guard::flow::step_context::Step;
use crate::guard::state::entry_leg::StopAt;
use crate::guard::state::intent::Intent;
use crate::guard::state::own_cloid::{OrderOwner, derived_cloid};
use crate::venue::action::Action;
use crate::venue::order::Order;

/// Gives every order without a client order id one by which it is found again; those at `own_from` and after are the
/// guard's own.
pub(crate) fn name_orders(action: &mut Action, own_from: usize, seq: u64, place: &mut u16) {
    let mut name = |(index, order): (usize, &mut Order)| {
        let whose = if index >= own_from { OrderOwner::Guard } else { OrderOwner::Client };
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

/// Reserves what the actions could fill and has those sent that wait for no other, once the decision is on disk. `stops` are where the
/// orders of the request are stopped out, by their place in it.
pub(crate) fn dispatch(step: &mut Step<'_>, seq: u64, intent: Intent, stops: &[Option<StopAt>]) {
    for (index, planned) in intent.actions.iter().enumerate() {
        let stops: Vec<Option<StopAt>> =
            planned.places.iter().map(|place| stops.get(*place).copied().flatten()).collect();
        let mut siblings = std::mem::take(&mut step.guard.siblings);
        siblings.note(&planned.action, |oid| step.guard.order(oid)?.cloid);
        step.guard.siblings = siblings;
        step.guard.sent.reserve((seq, index), &planned.action, &stops, step.now_ms);
    }
    step.guard.note_order_owners(&intent);
    let client = intent.client;
    intent.actions.iter().for_each(|planned| step.guard.book.sent.note(seq, client, &planned.action));
    for (index, _) in intent.at_venue() {
        step.guard.count_send(&intent, index);
        step.effects.after_commit.extend(intent.send(seq, index));
    }
    step.guard.intents.insert(seq, intent);
}
