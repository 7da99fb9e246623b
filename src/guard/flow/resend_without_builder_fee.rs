//! Exits that the venue refused for the builder they carry: sent again without it.
//!
//! A fee for a third party must not stand between an owner and the way out. Entries are not sent again: they can wait.

use crate::guard::effects::Urgency;
use crate::guard::flow::dispatch;
use crate::guard::flow::step_context::Step;
use crate::guard::state::intent::{Intent, Planned, Role};
use crate::record::events;
use crate::venue::action::{Action, Grouping, OrderAction};
use crate::venue::reply::{Reply, Status};
use crate::venue::signing::Terms;
use std::borrow::Cow;

/// Sends the exits that were refused for their builder again, for the client that waits for `request`. Returns their
/// places in the request: what becomes of them is told later.
pub(crate) fn resend(
    step: &mut Step<'_>,
    of: u64,
    planned: &Planned,
    reply: &Reply,
    request: Option<u64>,
) -> Vec<usize> {
    let Some((action, slots)) = refused_exits(&planned.action, reply) else { return Vec::new() };
    let Some(node) = action.to_node() else { return Vec::new() };
    let places: Vec<usize> = slots.iter().filter_map(|slot| planned.places.get(*slot).copied()).collect();
    let terms = Terms { nonce: step.guard.next_nonce(step.now_ms), ..planned.terms };
    let seq = step.record(events::Intent { of, action: Cow::Borrowed(&node), nonces: vec![terms.nonce] });
    let again = Planned { role: Role::Forward, action, node, terms, life_ms: planned.life_ms, places: places.clone() };
    dispatch::dispatch(step, seq, Intent::new(vec![again], request, Urgency::Exit), &[]);
    places
}

/// The exits of `action` that `reply` refused for their builder, without it, and their places in it.
fn refused_exits(action: &Action, reply: &Reply) -> Option<(Action, Vec<usize>)> {
    let Action::Order(OrderAction { orders, grouping, builder: Some(_) }) = action else { return None };
    if *grouping == Grouping::NormalTpsl {
        // What hangs on a refused entry has nothing to protect.
        return None;
    }
    let is_refused = |place: usize| match reply.status(place) {
        Status::Error(text) => text.to_ascii_lowercase().contains("builder"),
        _ => false,
    };
    let (places, orders): (Vec<_>, Vec<_>) = orders
        .iter()
        .enumerate()
        .filter(|(place, order)| order.reduce_only && is_refused(*place))
        .map(|(place, order)| (place, order.clone()))
        .unzip();
    let again = OrderAction { orders, grouping: *grouping, builder: None };
    (!places.is_empty()).then_some((Action::Order(again), places))
}
