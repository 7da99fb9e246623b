//! Actions the guard initiates itself (protect, flatten, follow-ups): journaling, sending, results.

use crate::guard::config::Mode;
use crate::guard::effects::Urgency;
use crate::guard::flow::cover;
use crate::guard::flow::dispatch;
use crate::guard::flow::dispatch::name_orders;
use crate::guard::flow::hindrances;
use crate::guard::flow::step_context::Step;
use crate::guard::state::guard::Guard;
use crate::guard::state::intent::{Intent, Planned, Role};
use crate::guard::state::order_attempts::{AttemptResult, Dust, found_nobody, is_nothing_held, is_too_small};
use crate::guard::state::own_cancels;
use crate::guard::state::send_result::SendResult;
use crate::guard::state::sent::key::SentKey;
use crate::record::events::{self, Done, Flatten, Problem, Protect, Trouble};
use crate::venue::action::Action;
use crate::venue::json::Node;
use crate::venue::order::Order;
use crate::venue::reply::Status;
use crate::venue::signing::Terms;
use std::borrow::Cow;

/// Why the guard acts: the event that names the actions.
pub(crate) enum Cause<'a> {
    /// Positions are bare.
    Protect { coins: Vec<&'a str>, problems: Vec<Problem> },
    /// Everything must go.
    Flatten { reason: &'a str, problems: Vec<Problem> },
    /// One more action for the sake of an earlier event.
    FollowUp { of: u64 },
    /// Entries are taken back that fit no limit any more, or that nothing shows; the event that says so, or that named them. It
    /// waits behind what covers and closes.
    Upkeep { of: u64 },
}

/// Whether the guard may act on its own now: it knows whom for, and is not on its way down.
pub(crate) fn can_act(guard: &Guard) -> bool {
    guard.shutdown_reason.is_none() && (guard.config.mode == Mode::Paper || guard.acts_for.is_some())
}

/// Records the event that names these actions and has them sent at once, in this order: one that hangs holds up no other.
/// In paper mode they are only recorded. Returns the event's number.
pub(crate) fn submit(step: &mut Step<'_>, cause: Cause<'_>, actions: Vec<Action>) -> u64 {
    let is_live = step.guard.config.mode != Mode::Paper;
    let actions = plan_own(step.guard, actions, step.now_ms);
    let nodes: Vec<Cow<'_, Node>> = actions.iter().map(|planned| Cow::Borrowed(&planned.node)).collect();
    let nonces = if is_live { actions.iter().map(|planned| planned.terms.nonce).collect() } else { Vec::new() };
    let urgency = if matches!(cause, Cause::Upkeep { .. }) { Urgency::Exit } else { Urgency::Own };
    let seq = match cause {
        Cause::Protect { coins, problems } => {
            let coins = coins.into_iter().map(Cow::Borrowed).collect();
            step.record(Protect { coins, actions: nodes, problems, sent: is_live, nonces })
        }
        Cause::Flatten { reason, problems } => {
            step.record(Flatten { reason: reason.into(), actions: nodes, problems, sent: is_live, nonces })
        }
        Cause::FollowUp { of } | Cause::Upkeep { of } => {
            let Some(action) = nodes.into_iter().next() else { return of };
            step.record(events::Intent { of, action, nonces })
        }
    };
    if is_live && actions.is_empty() {
        step.record(Done { intent: seq });
    } else if is_live {
        dispatch::dispatch(step, seq, Intent::new(actions, None, urgency).at_once(), &[]);
    }
    seq
}

fn plan_own(guard: &mut Guard, actions: Vec<Action>, now_ms: u64) -> Vec<Planned> {
    let (seq, mut place) = (guard.seq.saturating_add(1), 0);
    let is_live = guard.config.mode != Mode::Paper;
    let plan = |mut action: Action| {
        name_orders(&mut action, 0, seq, &mut place);
        let node = action.to_node()?;
        let nonce = if is_live { guard.next_nonce(now_ms) } else { 0 };
        // No expiry: what makes the account safer is welcome late as well.
        let terms = Terms { nonce, vault: guard.acts_for.flatten(), expires_after_ms: None };
        Some(Planned { role: Role::Guard, action, node, terms, life_ms: None, places: Vec::new() })
    };
    actions.into_iter().filter_map(plan).collect()
}

/// The guard's own actions that still have no answer.
pub(crate) fn unanswered(guard: &Guard) -> impl Iterator<Item = &Action> {
    let own = guard.intents.values().filter(|intent| intent.urgency == Urgency::Own);
    own.flat_map(Intent::at_venue).map(|(_, planned)| &planned.action)
}

/// Whether an action of the guard's own for this market still has no answer.
pub(crate) fn is_acting_on(guard: &Guard, asset: u32) -> bool {
    unanswered(guard).any(|action| touches(action, asset))
}

/// Whether an order of the guard's own for this market still has no answer. What a cancel takes counts as gone until it is
/// answered: nothing has to wait for that.
pub(crate) fn is_placing_in(guard: &Guard, asset: u32) -> bool {
    unanswered(guard).flat_map(Action::orders).any(|order| order.asset == asset)
}

/// Since when what became of a stop in this market is not known: the youngest doubt counts.
pub(crate) fn in_doubt_since(guard: &Guard, asset: u32) -> Option<u64> {
    guard.doubts.values().filter_map(|doubt| doubt.may_cover(asset)).max()
}

/// Takes in how an action of the guard's own ended.
pub(crate) fn on_own_result(step: &mut Step<'_>, (intent, index): (u64, usize), action: &Action, ending: &SendResult) {
    let (mut refused, mut is_refused) = (Vec::new(), false);
    let orders = action.orders().count();
    for (place, order) in action.orders().enumerate() {
        let outcome = match ending {
            SendResult::Answered(reply, _) => {
                heard(step.guard, order, AttemptResult::of(reply, place, action.batch_len()))
            }
            SendResult::NotSent(..) | SendResult::Unknown(_) => AttemptResult::Unheard,
        };
        if let (SendResult::Answered(reply, _), false) = (ending, order.is_trigger())
            && let Status::Error(text) = reply.status(place)
        {
            refused.push((order.asset, text));
        }
        // A limit on requests decided nothing about the close, and an empty book is full again at any moment.
        is_refused |= !order.is_trigger() && matches!(&outcome, AttemptResult::Refused(text) if !found_nobody(text));
        if let (SendResult::Answered(reply, _), false) = (ending, order.is_trigger())
            && let Status::Filled(..) = reply.status(place)
        {
            // A read may have shown it, and taken it out of the line, before its answer came.
            let closed = step.guard.sent.left_to_show(SentKey { intent, index, slot: place });
            cover::on_closed(step.guard, order.asset, closed);
        }
        let retry = step.guard.watch.retry_mut(order.asset);
        retry.record_attempt(order, &outcome, step.now_ms);
        retry.note_failure(order.is_trigger(), hindrances::failure(ending, place));
        // One status for several orders says of none which of them was too small.
        if let (AttemptResult::Refused(text), SendResult::Answered(reply, _)) = (&outcome, ending)
            && !order.is_trigger()
            && is_too_small(text)
            && reply.has_status_of_each(orders)
        {
            let account = step.guard.view.account.as_ref();
            let value = account.and_then(|account| Some(account.positions.get(&order.asset)?.position_value));
            retry.dust = value.and_then(|value| Dust::new(order.size, value));
        }
    }
    for (asset, text) in refused {
        let coin = step.guard.view.market(asset).map_or_else(|| asset.to_string(), |market| market.coin.clone());
        let text = format!("the close of {coin} was refused: {text}");
        step.record(Trouble::new(text));
    }
    if let SendResult::Answered(reply, _) = ending {
        let at = step.guard.moment(step.now_ms);
        step.guard.sent.on_taken_back(action, reply, at);
    }
    if let Action::Cancel { cancels, .. } = action {
        for (place, cancel) in cancels.iter().enumerate() {
            let is_done =
                matches!(ending, SendResult::Answered(reply, _) if own_cancels::is_done(&reply.status(place)));
            step.guard.watch.own_cancels.ended(cancel.oid, is_done, step.now_ms);
        }
    }
    step.guard.watch.flatten.ended(action, ending, is_refused, step.now_ms);
}

/// What a stop's refusal says. That nothing is held there says nothing of the stop while the account was not read since the last
/// try: what the guard knows may be over.
fn heard(guard: &Guard, order: &Order, outcome: AttemptResult) -> AttemptResult {
    let account_ms = guard.view.account.as_ref().map(|account| account.begun_ms);
    let is_unread = guard.watch.retry(order.asset).is_some_and(|retry| account_ms < Some(retry.reads_since_ms));
    match outcome {
        AttemptResult::Refused(text) if order.is_trigger() && is_unread && is_nothing_held(&text) => {
            AttemptResult::Unheard
        }
        outcome => outcome,
    }
}

fn touches(action: &Action, asset: u32) -> bool {
    match action {
        Action::Cancel { cancels, .. } => cancels.iter().any(|cancel| cancel.asset == asset),
        Action::CancelByCloid { cancels, .. } => cancels.iter().any(|cancel| cancel.asset == asset),
        action => action.orders().any(|order| order.asset == asset),
    }
}
