//! The entries of a batch that go as groups, one after the other, where the venue takes its time: what is left of them when
//! half of their life is over goes together, as one request, and their stops are placed when they fill. One by one the last
//! of them would expire on the way.

use crate::guard::effects::Urgency;
use crate::guard::flow::step_context::Step;
use crate::guard::flow::{dispatch, replies};
use crate::guard::state::entry_leg::StopAt;
use crate::guard::state::intent::{Intent, Planned, Role};
use crate::guard::state::lifetime::FORWARD_LIFE_MS;
use crate::record::events;
use crate::venue::action::{Action, Grouping, OrderAction};
use crate::venue::order::Order;
use crate::venue::signing::Terms;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Sends what is left of the groups of the intent `of` as one request, if it is time for that. Returns the action that
/// comes next in the intent.
pub(crate) fn together(step: &mut Step<'_>, of: u64, intent: &Intent, next: Option<usize>) -> Option<usize> {
    let Some(from) = next else { return next };
    let left: Vec<(usize, usize, &Planned, &Order)> = intent.parts_from(from).filter_map(group).collect();
    let Some((_, _, first, _)) = left.first().filter(|(part, ..)| left.len() > 1 && *part == from) else { return next };
    let left_ms = first.terms.expires_after_ms.unwrap_or(u64::MAX).saturating_sub(step.guard.clock.best_ms());
    // That a client gave it little says nothing of the venue.
    if left_ms > first.life_ms.unwrap_or(FORWARD_LIFE_MS) / 2 {
        return next;
    }
    let (mut orders, mut places, mut stops) = (Vec::new(), Vec::new(), BTreeMap::new());
    for (part, place, _, entry) in &left {
        let stop = step.guard.sent.stop_of((of, *part));
        step.guard.sent.did_not_happen((of, *part));
        if intent.is_cancelled(entry) {
            replies::tell(step, intent.request, |reply| reply.fail(&[*place], Intent::CANCELLED));
            continue;
        }
        orders.push((*entry).clone());
        places.push(*place);
        stops.insert(*place, stop);
    }
    send(step, of, intent, (first, orders, places), &stops);
    left.last().and_then(|(last, ..)| intent.next(*last))
}

/// Sends these entries of a request as one action on the terms of the first.
fn send(
    step: &mut Step<'_>,
    of: u64,
    intent: &Intent,
    (first, orders, places): (&Planned, Vec<Order>, Vec<usize>),
    stops: &BTreeMap<usize, Option<StopAt>>,
) {
    let Action::Order(OrderAction { builder, .. }) = &first.action else { return };
    let action = Action::Order(OrderAction { orders, grouping: Grouping::Na, builder: builder.clone() });
    let Some(node) = action.to_node().filter(|_| !places.is_empty()) else { return };
    let terms = Terms { nonce: step.guard.next_nonce(step.now_ms), ..first.terms };
    let seq = step.record(events::Intent { of, action: Cow::Borrowed(&node), nonces: vec![terms.nonce] });
    replies::tell(step, intent.request, |reply| {
        reply.wait_for(&places);
        reply.note(&format!("the venue is slow: the last {} stops are placed when their entries fill", places.len()));
    });
    let count = places.iter().max().map_or(0, |last| last.saturating_add(1));
    let by_place: Vec<Option<StopAt>> = (0..count).map(|place| stops.get(&place).copied().flatten()).collect();
    let planned = Planned { role: Role::Forward, action, node, terms, life_ms: first.life_ms, places };
    let again = Intent::new(vec![planned], intent.request, Urgency::Entry).for_client(intent.client);
    dispatch::dispatch(step, seq, again, &by_place);
}

/// The part, if it is an entry with its stop as a request of its own: with its place in the request, and the entry.
fn group((part, planned): (usize, &Planned)) -> Option<(usize, usize, &Planned, &Order)> {
    let Action::Order(action) = &planned.action else { return None };
    let [place] = planned.places[..] else { return None };
    let [entry, _] = &action.orders[..] else { return None };
    (action.grouping == Grouping::NormalTpsl).then_some((part, place, planned, entry))
}
