//! The result of a send: recorded, the client answered, and what comes next sent.

use crate::guard::effects::{Answer, Command, Effects, Read, Urgency};
use crate::guard::flow::step_context::Step;
use crate::guard::flow::{
    guard_actions, leverage_setting, resend_reducing, resend_without_builder_fee, settlement, signer,
};
use crate::guard::input::SendOutcome;
use crate::guard::reply;
use crate::guard::state::guard::Guard;
use crate::guard::state::in_doubt::Proof;
use crate::guard::state::intent::{Intent, PendingReply, Planned, Role};
use crate::guard::state::send_result::SendResult;
use crate::record::events::{Done, Sent, Trouble};
use crate::venue::action::Action;
use crate::venue::reply::Reply;
use serde_json::{Value, json};
use std::borrow::Cow;

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
        answer_as(&mut step.effects, &mut intent, 503, |_| reply::unrecorded(error));
    }
    let Some(role) = intent.actions.get(index).map(|planned| planned.role) else { return };
    let is_recorded = !matches!(outcome, SendOutcome::Unrecorded(_));
    let ended = EndedAction { key: (seq, index), role, is_recorded };
    let result = SendResult::of(outcome);
    take_in(step, &intent, ended, &result);
    let next = match &result {
        SendResult::Answered(reply, value) => on_answer(step, &mut intent, ended, reply, value),
        SendResult::NotSent(text) => on_not_sent(step, &mut intent, ended, text),
        SendResult::Unknown(text) => on_no_answer(step, &mut intent, ended, text),
    };
    let is_own = role == Role::Guard;
    let reads = if is_own { [Read::OrdersNow, Read::AccountNow] } else { [Read::Orders, Read::Account] };
    step.effects.immediate.extend(reads.map(Command::Read));
    let next = next.filter(|next| {
        is_recorded && !is_too_late(step, &mut intent, *next) && !would_bare(step.guard, &intent, *next)
    });
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
    if result.may_have_filled() {
        step.guard.risk.traded(step.now_ms);
    }
    if ended.role == Role::Guard {
        guard_actions::on_own_result(step, &planned.action, result);
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
        Role::Pre if !reply.is_ok() => {
            let why = format!("what had to go first was refused: {value}");
            resend_reducing::resend(step, ended.key, intent, &why);
            let text = format!("what had to go first was refused, so nothing was sent: {value}");
            answer(&mut step.effects, intent, |waiting| reply::failed(&text, &waiting.summary));
            None
        }
        Role::Forward => {
            resend_without_builder_fee::resend(step, seq, planned, (reply, value), &mut intent.waiting);
            answer(&mut step.effects, intent, |waiting| {
                let orders = waiting.orders;
                match waiting.merge.take() {
                    Some(merge) => reply::forwarded(&merge.with(value), orders, &waiting.summary),
                    None => reply::forwarded(value, orders, &waiting.summary),
                }
            });
            intent.forwarded = Some(reply.clone());
            intent.next(index)
        }
        Role::Pre | Role::Post(_) | Role::Guard => intent.next(index),
    }
}

/// It surely never reached the venue. Returns the action that comes next.
fn on_not_sent(step: &mut Step<'_>, intent: &mut Intent, ended: EndedAction, text: &str) -> Option<usize> {
    if ended.role == Role::Pre && ended.is_recorded {
        let why = format!("what had to go first did not reach the venue: {text}");
        resend_reducing::resend(step, ended.key, intent, &why);
    }
    let text = format!("the venue was not reached, so nothing was sent: {text}");
    answer(&mut step.effects, intent, |waiting| reply::failed(&text, &waiting.summary));
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
    answer(&mut step.effects, intent, |waiting| reply::failed(&text, &waiting.summary));
    intent.next_after_failure(ended.key.1)
}

/// Sends the next action of the intent, or ends it.
fn go_on(step: &mut Step<'_>, mut intent: Intent, ended: EndedAction, next: Option<usize>) {
    let (seq, index) = ended.key;
    intent.at = next.unwrap_or_default();
    match next.and_then(|next| intent.send(seq, next)) {
        Some(send) => {
            step.effects.immediate.push(send);
            step.guard.intents.insert(seq, intent);
        }
        None => {
            step.guard.sent.never_sent(seq, index.saturating_add(1));
            step.record(Done { intent: seq });
        }
    }
}

/// Whether the next action is an entry that was decided on before everything had to go.
fn is_too_late(step: &mut Step<'_>, intent: &mut Intent, next: usize) -> bool {
    let is_forward = intent.actions.get(next).is_some_and(|planned| planned.role == Role::Forward);
    let too_late = is_forward && intent.urgency == Urgency::Entry && step.guard.must_be_flat();
    if too_late {
        let text = "everything is being closed, so the order was not sent";
        answer(&mut step.effects, intent, |waiting| reply::failed(text, &waiting.summary));
    }
    too_late
}

/// Whether the next action takes the guard's stop away while a client's cancel is about to take the one that was to
/// stand in its place. Such actions come last.
fn would_bare(guard: &Guard, intent: &Intent, next: usize) -> bool {
    let Some(Planned { role: Role::Post(place), action: Action::Cancel { .. }, .. }) = intent.actions.get(next) else {
        return false;
    };
    let forward = intent.actions.iter().find(|planned| planned.role == Role::Forward);
    let replacing = forward.and_then(|planned| planned.action.orders().nth(*place));
    replacing.is_some_and(|order| guard.sent.is_cloid_being_cancelled(order.cloid))
}

/// Tells of a send; one that surely never went out has no `sent` event.
fn record_send(step: &mut Step<'_>, intent: u64, index: usize, nonce: u64, ending: &SendResult) {
    let (ok, reply) = match ending {
        SendResult::Answered(reply, value) => (reply.is_ok(), Cow::Borrowed(value)),
        SendResult::Unknown(text) => (false, Cow::Owned(json!({ "error": text }))),
        SendResult::NotSent(text) => {
            let text = format!("action {index} of intent {intent} was not sent: {text}");
            step.record(Trouble { text: text.into() });
            return;
        }
    };
    step.record(Sent { decision: intent, index, nonce, ok, reply });
}

/// Answers the client that waits for this intent, if it still does.
fn answer(effects: &mut Effects, intent: &mut Intent, body: impl FnOnce(&mut PendingReply) -> String) {
    answer_as(effects, intent, 200, body);
}

fn answer_as(
    effects: &mut Effects,
    intent: &mut Intent,
    http_status: u16,
    body: impl FnOnce(&mut PendingReply) -> String,
) {
    if let Some(mut waiting) = intent.waiting.take() {
        let body = body(&mut waiting);
        effects.immediate.push(Command::Answer(Answer { request: waiting.request, http_status, body }));
    }
}
