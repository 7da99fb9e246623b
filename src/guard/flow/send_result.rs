//! The result of a send: recorded, the client answered, and what comes next sent.

use crate::base::address::Cloid;
use crate::guard::code::Code;
use crate::guard::effects::{Command, Read, Urgency};
use crate::guard::flow::step_context::Step;
use crate::guard::flow::{
    guard_actions, leverage_setting, regroup, replies, resend_reducing, resend_without_builder_fee, settlement, signer,
    uncovering,
};
use crate::guard::input::SendOutcome;
use crate::guard::judge::{cancel, stop_loosened};
use crate::guard::state::cover::side_covered;
use crate::guard::state::guard::Guard;
use crate::guard::state::in_doubt::Proof;
use crate::guard::state::intent::{Intent, Planned, Role};
use crate::guard::state::order_attempts::is_nothing_held;
use crate::guard::state::send_result::SendResult;
use crate::guard::state::sent::key::SentKey;
use crate::record::events::{Done, Sent, Trouble};
use crate::venue::action::Action;
use crate::venue::order::Order;
use crate::venue::reply::{Reply, Status};
use crate::venue::side::PositionSide;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The action of an intent whose send has ended.
#[derive(Clone, Copy)]
struct EndedAction {
    /// The intent's event, and the action's place in it.
    key: (u64, usize),
    role: Role,
    /// Whether the event that names it is on disk.
    is_recorded: bool,
}

/// Takes in how an action ended: records it, answers the client, and sends what comes next.
pub(crate) fn on_send_result(step: &mut Step<'_>, seq: u64, index: usize, outcome: SendOutcome) {
    let Some(mut intent) = step.guard.intents.remove(&seq) else { return };
    if let SendOutcome::Unrecorded(error) = &outcome {
        // The decision is no more on disk than the action: the client is not told of it.
        replies::tell_unrecorded(step, intent.request, error);
    }
    let Some(role) = intent.actions.get(index).map(|planned| planned.role) else { return };
    let is_recorded = !matches!(outcome, SendOutcome::Unrecorded(_));
    let ended = EndedAction { key: (seq, index), role, is_recorded };
    let result = SendResult::of(outcome);
    take_in(step, &intent, ended, &result);
    let next = match &result {
        SendResult::Answered(reply, value) => on_answer(step, &mut intent, ended, reply, value),
        SendResult::NotSent(code, text) => on_not_sent(step, &mut intent, ended, *code, text),
        SendResult::Unknown(text) => on_no_answer(step, &mut intent, ended, text),
    };
    let planned = intent.actions.get(index);
    let may_uncover = planned.is_some_and(|planned| uncovering::may_uncover(&planned.action, &result));
    let is_pressing = role == Role::Guard || may_uncover;
    let reads = if is_pressing { [Read::OrdersNow, Read::AccountNow] } else { [Read::Orders, Read::Account] };
    step.effects.immediate.extend(reads.map(Command::Read));
    let next = next.filter(|_| is_recorded);
    let next = skip_cancelled(step, &intent, seq, next);
    let next = next.filter(|next| !is_too_late(step, &intent, ended.key, *next));
    let next = next.filter(|next| !takes_cover(step, &intent, ended.key, *next));
    let next = next.filter(|next| !loosens_stop(step, &intent, ended.key, *next));
    let next = regroup::together(step, seq, &intent, next);
    let next = next.filter(|next| !would_bare(step.guard, &intent, seq, *next));
    if let Some(key) = intent.settles {
        let answered = match &result {
            SendResult::Answered(reply, value) => Some((reply, value)),
            _ => None,
        };
        settlement::on_nonce_burn(step, key, answered);
    }
    go_on(step, intent, ended, next);
}

/// What any end of a send means: its event, the ledger of what was sent, the guard's own retries.
fn take_in(step: &mut Step<'_>, intent: &Intent, ended: EndedAction, result: &SendResult) {
    let (seq, index) = ended.key;
    let Some(planned) = intent.actions.get(index) else { return };
    record_send(step, seq, index, planned.terms.nonce, result);
    let at = step.guard.moment(step.now_ms);
    let Guard { sent, view, .. } = &mut *step.guard;
    sent.on_result(ended.key, &planned.action, result, view, at);
    if let SendResult::Answered(reply, _) = result {
        for (slot, order) in planned.action.orders().enumerate() {
            if let Status::Resting(oid) | Status::Filled(_, oid, _) = reply.status(slot) {
                step.guard.book.sent.note_oid(oid, seq, order.cloid);
                step.guard.view.note_oid(oid);
            }
        }
    }
    match result {
        SendResult::Answered(reply, _) => {
            step.guard.allowance.on_answer(intent.client, planned.price(), reply.is_too_late());
        }
        SendResult::NotSent(..) => step.guard.allowance.on_not_sent(planned.price()),
        SendResult::Unknown(_) => {}
    }
    if result.may_have_filled() {
        step.guard.risk.traded(step.now_ms);
    }
    if ended.role == Role::Guard {
        guard_actions::on_own_result(step, ended.key, &planned.action, result);
    }
    if let SendResult::Answered(reply, _) = result
        && (planned.action == Action::Noop && reply.is_ok()
            || (0..planned.action.orders().count()).any(|slot| !matches!(reply.status(slot), Status::Error(_))))
    {
        step.guard.watch.on_venue_answers();
    }
}

/// The venue answered. Returns the action that comes next.
fn on_answer(
    step: &mut Step<'_>,
    intent: &mut Intent,
    ended: EndedAction,
    reply: &Reply,
    value: &Value,
) -> Option<usize> {
    let (seq, index) = ended.key;
    let planned = intent.actions.get(index)?;
    signer::on_reply(step, reply);
    if reply.is_ok() {
        leverage_setting::learn_leverage(step.guard, &planned.action, step.now_ms);
    }
    match ended.role {
        // Where it is not known which side is held a cancel has stops for both in front: the venue refuses one of them.
        Role::Pre if intent.only_cancels() && says_nothing_held(reply) => intent.next(index),
        Role::Pre if !reply.is_ok() => {
            let why = format!("what had to go first was refused: {value}");
            resend_reducing::resend(step, ended.key, intent, &why);
            let text = format!("what had to go first was refused, so nothing was sent: {value}");
            fail_parts_after(step, intent, ended.key, &text);
            intent.next_after_failure(index)
        }
        Role::Forward => {
            let again = resend_without_builder_fee::resend(step, seq, planned, reply, intent.request);
            replies::tell(step, intent.request, |pending| pending.tell(&planned.places, value, &again));
            intent.on_reply(index, reply);
            intent.next(index)
        }
        Role::Pre | Role::Post | Role::Guard => intent.next(index),
    }
}

/// It surely never reached the venue. Returns the action that comes next.
fn on_not_sent(
    step: &mut Step<'_>,
    intent: &mut Intent,
    ended: EndedAction,
    code: Option<Code>,
    text: &str,
) -> Option<usize> {
    if ended.role == Role::Pre && ended.is_recorded {
        let why = format!("what had to go first did not reach the venue: {text}");
        resend_reducing::resend(step, ended.key, intent, &why);
    }
    let text = match code {
        Some(code) => format!("nothing was sent ({code}): {text}"),
        None => format!("the venue was not reached, so nothing was sent: {text}"),
    };
    fail_request(step, intent, ended, &text);
    intent.next_after_failure(ended.key.1)
}

/// Nothing says whether it reached the venue: it is in doubt. Returns the action that comes next.
fn on_no_answer(step: &mut Step<'_>, intent: &mut Intent, ended: EndedAction, text: &str) -> Option<usize> {
    let planned = intent.actions.get(ended.key.1)?;
    if intent.settles.is_none() {
        settlement::put_in_doubt(step.guard, ended.key, planned.clone(), Proof::Wanted, step.now_ms);
    }
    if ended.role == Role::Pre {
        let why = format!("what had to go first got no answer: {text}");
        resend_reducing::resend(step, ended.key, intent, &why);
    }
    let text = format!(
        "the venue gave no answer and may have acted on it; look at the open orders before sending it again: {text}"
    );
    fail_request(step, intent, ended, &text);
    intent.next_after_failure(ended.key.1)
}

/// Tells the client that the action that ended came to nothing, or may have, and that what it has still to come was not
/// sent.
fn fail_request(step: &mut Step<'_>, intent: &Intent, ended: EndedAction, text: &str) {
    let (_, index) = ended.key;
    match ended.role {
        Role::Forward => {
            let places = intent.actions.get(index).map(|planned| planned.places.clone()).unwrap_or_default();
            replies::tell(step, intent.request, |pending| pending.fail(&places, text));
            let text = "not sent: a part of this request that went before it failed";
            fail_parts_after(step, intent, ended.key, text);
        }
        Role::Pre => fail_parts_after(step, intent, ended.key, text),
        Role::Post => {
            let text = "not sent: the stop of what went before it got no answer";
            fail_parts_after(step, intent, ended.key, text);
        }
        Role::Guard => {}
    }
}

/// Takes back the parts of the request after an action, of which nothing is told yet, and tells its client why.
fn fail_parts_after(step: &mut Step<'_>, intent: &Intent, (seq, index): (u64, usize), text: &str) {
    for (part, planned) in intent.parts_after(index) {
        step.guard.sent.did_not_happen((seq, part));
        replies::tell(step, intent.request, |pending| pending.fail_untold(&planned.places, text));
    }
}

/// Sends the next action of the intent, or ends it.
fn go_on(step: &mut Step<'_>, mut intent: Intent, ended: EndedAction, next: Option<usize>) {
    let (seq, index) = ended.key;
    intent.at = next.unwrap_or_default();
    match next.and_then(|next| intent.send(seq, next)) {
        Some(send) => {
            step.guard.count_send(&intent, intent.at);
            step.effects.immediate.push(send);
            step.guard.intents.insert(seq, intent);
        }
        None if intent.has_others(index) => drop(step.guard.intents.insert(seq, intent)),
        None => {
            step.guard.sent.never_sent(seq, intent.first_unsent(index));
            step.record(Done { intent: seq });
        }
    }
}

/// The next action, without the parts of the request that a cancel has named in the meantime: that was answered on the
/// belief that they were never placed.
fn skip_cancelled(step: &mut Step<'_>, intent: &Intent, seq: u64, mut next: Option<usize>) -> Option<usize> {
    while let Some(index) = next {
        let planned = intent.actions.get(index).filter(|planned| planned.role == Role::Forward);
        let is_cancelled = |planned: &Planned| {
            planned.action.orders().take(planned.places.len()).any(|order| intent.is_cancelled(order))
        };
        let Some(planned) = planned.filter(|planned| is_cancelled(planned)) else { break };
        step.guard.sent.did_not_happen((seq, index));
        replies::tell(step, intent.request, |pending| pending.fail(&planned.places, Intent::CANCELLED));
        next = intent.next(index);
    }
    next
}

/// Whether the next action is an entry that was decided on before everything had to go.
fn is_too_late(step: &mut Step<'_>, intent: &Intent, key: (u64, usize), next: usize) -> bool {
    let opens =
        intent.actions.get(next).is_some_and(|planned| planned.role == Role::Forward && !planned.only_reduces());
    let too_late = opens && intent.urgency == Urgency::Entry && step.guard.must_be_flat();
    if too_late {
        fail_parts_after(step, intent, key, "everything is being closed, so the order was not sent");
    }
    too_late
}

/// Whether the next action is a client's cancel that takes more cover by now than the guard's own stops in front of it stand
/// in for: the position has grown since it was decided on, or is on the other side.
fn takes_cover(step: &mut Step<'_>, intent: &Intent, key: (u64, usize), next: usize) -> bool {
    let planned = intent.actions.get(next).filter(|planned| planned.role == Role::Forward);
    let Some(planned) = planned.filter(|_| intent.only_cancels()) else { return false };
    let guard = &*step.guard;
    let stands = |order: &Order| {
        let is_it = |cloid: &Cloid| guard.view.shows(cloid) || guard.sent.trigger_cloids().any(|other| other == *cloid);
        order.cloid.as_ref().is_some_and(is_it)
    };
    // Where one of its stops was refused the venue holds nothing.
    let before = intent.actions.iter().filter(|planned| planned.role == Role::Pre).flat_map(|pre| pre.action.orders());
    let flat: Vec<(u32, PositionSide)> =
        before.filter(|order| !stands(order)).map(|order| (order.asset, side_covered(order.is_buy))).collect();
    // What a cancel takes, or took, of them as well stands in for nothing: all is looked at again.
    let is_taken = intent.stops_in_front(key.0).any(|(key, order)| is_being_cancelled(guard, key, order.cloid));
    let nothing = BTreeMap::new();
    let held = if is_taken { &nothing } else { &intent.held };
    let is_more = cancel::takes_cover(guard, &planned.action, &flat, held);
    if is_more {
        let text = "not sent: the position changed while the guard's own stop went first, and this would take its cover; \
                    ask again";
        fail_parts_after(step, intent, key, text);
    }
    is_more
}

/// Whether the next action replaces a stop that covers a position by now, and may not: it covered nothing when that was decided on.
fn loosens_stop(step: &mut Step<'_>, intent: &Intent, key: (u64, usize), next: usize) -> bool {
    let planned = intent.actions.get(next).filter(|planned| planned.role == Role::Forward);
    let loosens = planned.is_some_and(|planned| stop_loosened::loosens(step.guard, &planned.action));
    if loosens {
        let text = "not sent: the stop that this replaces covers a position by now; ask again";
        fail_parts_after(step, intent, key, text);
    }
    loosens
}

/// Whether the next action takes the guard's stop away while a client's cancel is about to take, or has taken, the one that
/// was to stand in its place; it may have named an id that only the answer told. Or the position has grown since that was
/// decided on. Such actions come last.
fn would_bare(guard: &Guard, intent: &Intent, seq: u64, next: usize) -> bool {
    let Some(Planned { role: Role::Post, action, places, .. }) = intent.actions.get(next) else { return false };
    if !matches!(action, Action::Cancel { .. }) {
        return false;
    }
    if cancel::takes_cover(guard, action, &[], &BTreeMap::new()) {
        return true;
    }
    let Some((index, slot, order)) = places.first().and_then(|place| intent.order_at(*place)) else { return false };
    is_being_cancelled(guard, SentKey { intent: seq, index, slot }, order.cloid)
}

/// Whether a cancel takes, or took, an order of the guard's, by the id that the answer told or by its own.
fn is_being_cancelled(guard: &Guard, key: SentKey, cloid: Option<Cloid>) -> bool {
    match guard.sent.resting_id(key) {
        Some(oid) => guard.sent.is_being_cancelled(oid, cloid),
        None => guard.sent.is_cloid_being_cancelled(cloid),
    }
}

/// Tells of a send; one that surely never went out has no `sent` event.
fn record_send(step: &mut Step<'_>, intent: u64, index: usize, nonce: u64, ending: &SendResult) {
    let (ok, reply) = match ending {
        SendResult::Answered(reply, value) => (reply.is_ok(), Cow::Borrowed(value)),
        SendResult::Unknown(text) => (false, Cow::Owned(json!({ "error": text }))),
        SendResult::NotSent(code, text) => {
            let code = code.map_or_else(String::new, |code| format!(" ({code})"));
            let text = format!("action {index} of intent {intent} was not sent{code}: {text}");
            step.record(Trouble::new(text));
            return;
        }
    };
    step.record(Sent { decision: intent, index, nonce, ok, reply });
}

/// Whether the venue refused a stop because there is nothing that it could reduce.
fn says_nothing_held(reply: &Reply) -> bool {
    matches!(reply.status(0), Status::Error(text) if is_nothing_held(&text))
}
