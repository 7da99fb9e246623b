//! Settlement: what became of an action that the venue gave no answer to.
//!
//! Nothing is sent again. First the action's nonce is burnt with a `noop`: if the venue takes that, the action never
//! happened and never will. If the nonce is a duplicate, the action or an earlier noop used it up, so that what has not
//! happened by then never will, and the status of its orders says what did. A noop without an answer is sent again. Any
//! other answer proves nothing; then only the orders' status can show that it happened, and its expiry that it no longer
//! can. Until it is settled, what it could have done stays reserved. That no read shows an order settles nothing: where
//! nothing more can come of an action and nobody knows its entries, they are cancelled, and the answer to that tells.

use crate::base::address::Cloid;
use crate::guard::effects::{Command, Read, Urgency};
use crate::guard::flow::dispatch;
use crate::guard::flow::guard_actions::{self, Cause};
use crate::guard::flow::step_context::Step;
use crate::guard::state::guard::Guard;
use crate::guard::state::in_doubt::{InDoubtAction, Outlook, Proof, Resolution, says_duplicate};
use crate::guard::state::intent::{Intent, Planned, Role};
use crate::guard::state::view::View;
use crate::record::events::{self, Done, Recovered};
use crate::venue::action::{Action, Cancel, CancelByCloid};
use crate::venue::reply::Reply;
use crate::venue::signing::Terms;
use serde_json::{Value, json};
use std::borrow::Cow;

/// Between two looks at the same action.
const ASK_EVERY_MS: u64 = 1_000;

/// Questions about orders that may be at the venue at once, for all doubts together.
const MOST_ASKED: usize = 4;

/// Cover goes before burning nonces for so long at most: a doubt must have its end.
const BURN_WITHIN_MS: u64 = 30_000;

/// The pause after a noop without an answer doubles so often.
const MAX_DOUBLINGS: u32 = 5;

/// Doubts an action from now on.
pub(crate) fn put_in_doubt(guard: &mut Guard, key: (u64, usize), planned: Planned, proof: Proof, now_ms: u64) {
    guard.doubts.insert(key, InDoubtAction::new(planned, proof, now_ms));
}

/// Has the intent of an action in doubt be done only once that is settled.
pub(crate) fn hold_done(guard: &mut Guard, key: (u64, usize)) {
    if let Some(doubt) = guard.doubts.get_mut(&key) {
        doubt.holds_done = true;
    }
}

/// Takes the next step of every settlement that is due.
pub(crate) fn settle_due(step: &mut Step<'_>) {
    let due =
        step.guard.doubts.iter().filter(|(_, doubt)| doubt.next_ms <= step.now_ms && doubt.proof != Proof::Waiting);
    let mut due: Vec<(u64, (u64, usize))> = due.map(|(key, doubt)| (doubt.next_ms, *key)).collect();
    // Who waits longest is asked about first: there are questions for a few only.
    due.sort_unstable();
    let earliest_ms = step.guard.clock.earliest_ms();
    let may_burn = !is_last_for_stops(step.guard);
    for (_, key) in due {
        let asked = step.guard.doubts.values().filter(|doubt| doubt.is_asking(step.now_ms)).count();
        let Some(doubt) = step.guard.doubts.get_mut(&key) else { continue };
        match doubt.proof {
            Proof::Wanted => {
                doubt.next_ms = step.now_ms.saturating_add(ASK_EVERY_MS);
                if may_burn || step.now_ms.saturating_sub(doubt.since_ms) >= BURN_WITHIN_MS {
                    burn_nonce(step, key);
                }
            }
            _ if doubt.is_given_up(earliest_ms, step.now_ms) => resolve(step, key, Resolution::Unknown),
            _ if doubt.has_orders() => {
                if doubt.is_asking(step.now_ms) || asked >= MOST_ASKED {
                    continue;
                }
                let (intent, index) = key;
                let question = doubt.question(step.now_ms);
                let read = question.map(|cloid| Command::Read(Read::OrderStatus { intent, index, cloid }));
                step.effects.immediate.extend(read);
            }
            proof => {
                doubt.next_ms = step.now_ms.saturating_add(ASK_EVERY_MS);
                settle_by_account(step, key, proof);
            }
        }
    }
    ask_about_unsettled(step);
    take_back_lost(step);
}

/// Asks once more about what was given up: an answer that comes late settles it too.
fn ask_about_unsettled(step: &mut Step<'_>) {
    let Some((key, doubt)) = step.guard.unsettled.due(step.now_ms) else { return };
    if !doubt.has_orders() {
        let proof = doubt.proof;
        return settle_by_account(step, key, proof);
    }
    let (intent, index) = key;
    let question = doubt.question(step.now_ms);
    let read = question.map(|cloid| Command::Read(Read::OrderStatus { intent, index, cloid }));
    step.effects.immediate.extend(read);
}

/// Takes back what may rest although nothing shows it: the answer to a cancel tells what no read does.
fn take_back_lost(step: &mut Step<'_>) {
    let Guard { sent, doubts, unsettled, intents, .. } = &mut *step.guard;
    sent.retain_found(|key| doubts.contains_key(key) || unsettled.is_kept(*key) || intents.contains_key(&key.0));
    if !guard_actions::can_act(step.guard) || is_last_for_stops(step.guard) {
        return;
    }
    let Guard { sent, view, .. } = &mut *step.guard;
    for (of, action) in sent.take_back(view, step.now_ms) {
        guard_actions::submit(step, Cause::Upkeep { of }, vec![action]);
    }
}

/// Whether the one request in ten seconds that the venue takes from an account without allowance is for the stop of what is
/// bare.
fn is_last_for_stops(guard: &Guard) -> bool {
    guard.allowance.left() == Some(0) && !guard.watch.bare_ms.is_empty()
}

/// Burns the nonce of an action in doubt.
fn burn_nonce(step: &mut Step<'_>, key: (u64, usize)) {
    // Without the name of a sub-account it is refused before its nonce is looked at, which proves nothing.
    let Some(vault) = step.guard.acts_for else { return };
    let Some(doubt) = step.guard.doubts.get_mut(&key) else { return };
    let Some(node) = Action::Noop.to_node() else { return };
    doubt.proof = Proof::Waiting;
    // While the venue is away there is less and less use in asking.
    doubt.next_ms = step.now_ms.saturating_add(ASK_EVERY_MS.saturating_mul(1 << doubt.burns.min(MAX_DOUBLINGS)));
    doubt.burns = doubt.burns.saturating_add(1);
    let terms = Terms { expires_after_ms: None, vault, ..doubt.terms };
    let seq = step.record(events::Intent { of: key.0, action: Cow::Borrowed(&node), nonces: vec![terms.nonce] });
    let planned = Planned { role: Role::Forward, action: Action::Noop, node, terms, life_ms: None, places: Vec::new() };
    let mut intent = Intent::new(vec![planned], None, Urgency::Exit);
    intent.settles = Some(key);
    dispatch::dispatch(step, seq, intent, &[]);
}

/// Takes in what became of the noop: `None` where the venue gave no answer to that either.
pub(crate) fn on_nonce_burn(step: &mut Step<'_>, key: (u64, usize), answer: Option<(&Reply, &Value)>) {
    let Some(doubt) = step.guard.doubts.get_mut(&key) else { return };
    let Some((reply, value)) = answer else {
        doubt.proof = Proof::Wanted;
        return;
    };
    doubt.note(&json!({"type": "noop", "nonce": doubt.terms.nonce}), value);
    doubt.next_ms = step.now_ms.saturating_add(ASK_EVERY_MS);
    match reply {
        Reply::Refused(text) if says_duplicate(text) => {
            doubt.proof = Proof::Used(step.now_ms);
            let at = step.guard.moment(step.now_ms);
            step.guard.sent.over(key, at);
        }
        Reply::Refused(_) => doubt.proof = Proof::None,
        _ => resolve(step, key, Resolution::DidNotHappen),
    }
}

/// Takes in the status of an order in doubt, or of one that the reads do not show: `None` where it could not be read.
pub(crate) fn on_order_status(step: &mut Step<'_>, key: (u64, usize), cloid: Cloid, answer: Option<&Value>) {
    let earliest_ms = step.guard.clock.earliest_ms();
    let at = step.guard.moment(step.now_ms);
    let guard = &mut *step.guard;
    let Some(doubt) = guard.doubts.get_mut(&key).or_else(|| guard.unsettled.get_mut(key)) else {
        answer.into_iter().for_each(|answer| guard.sent.on_own_status(key, cloid, answer, at));
        return;
    };
    doubt.on_asked(answer.is_some(), step.now_ms);
    let Some(answer) = answer else { return };
    match doubt.order_status(cloid, answer, (earliest_ms, step.now_ms)) {
        Some(Outlook::Settled(outcome)) => {
            if outcome == Resolution::Happened {
                step.guard.sent.learn_oid(key, cloid, answer);
            }
            resolve(step, key, outcome);
        }
        Some(Outlook::Lost) => end_lost(step, key),
        None => {}
    }
}

/// Ends a doubt that no answer settles, once nothing is reserved for it that could open anything: until then the venue is asked
/// to take that back.
fn end_lost(step: &mut Step<'_>, key: (u64, usize)) {
    let at = step.guard.moment(step.now_ms);
    step.guard.sent.lose(key, at);
    if step.guard.sent.may_open(key) {
        return;
    }
    let was_found = step.guard.sent.was_found(key);
    resolve(step, key, if was_found { Resolution::Happened } else { Resolution::DidNotHappen });
}

/// Settles what places no order by what the account shows.
fn settle_by_account(step: &mut Step<'_>, key: (u64, usize), proof: Proof) {
    let earliest_ms = step.guard.clock.earliest_ms();
    let guard = &mut *step.guard;
    let Some(doubt) = guard.doubts.get_mut(&key).or_else(|| guard.unsettled.get_mut(key)) else { return };
    doubt.begin_asking(step.now_ms);
    // What can no longer happen shows in what is read from now on.
    let is_over = doubt.is_past(earliest_ms);
    let (since_ms, used) = match proof {
        Proof::Used(at_ms) => (at_ms.max(doubt.since_ms), true),
        _ => (doubt.since_ms, false),
    };
    let is_read = guard.view.orders_ms.is_some_and(|begun_ms| begun_ms > since_ms);
    let outcome = match &doubt.action {
        Action::Cancel { .. } | Action::CancelByCloid { .. } if is_read => {
            let are_gone = targets_gone(&guard.view, &doubt.action);
            doubt.note(&json!({"type": "frontendOpenOrders"}), &json!({"all_gone": are_gone}));
            match are_gone {
                // They may have filled as well.
                true => Some(Resolution::Moot),
                false if used || is_over => Some(Resolution::DidNotHappen),
                false => None,
            }
        }
        // What it did is not to be had: nothing depends on it that is not read anew.
        Action::Noop | Action::TwapCancel { .. } | Action::UpdateIsolatedMargin { .. } if used => {
            Some(Resolution::Moot)
        }
        Action::UpdateLeverage { asset, leverage, .. } => {
            let known = guard.view.leverage.get(asset).filter(|(_, learnt_ms)| *learnt_ms > since_ms);
            let is_so = known.map(|(known, _)| known.value == *leverage);
            if let Some((known, _)) = known {
                let answer = json!({"leverage": known.value});
                doubt.note(&json!({"type": "activeAssetData", "asset": asset}), &answer);
            }
            match is_so {
                Some(true) => Some(Resolution::Moot),
                Some(false) if used || is_over => Some(Resolution::DidNotHappen),
                _ => None,
            }
        }
        _ => None,
    };
    if let Some(outcome) = outcome {
        return resolve(step, key, outcome);
    }
    let read = match &doubt.action {
        Action::UpdateLeverage { asset, .. } => guard.view.market(*asset).map(|market| {
            let (asset, coin) = (market.asset, market.coin.clone());
            Read::Leverage { asset, coin }
        }),
        _ => Some(Read::Orders),
    };
    step.effects.immediate.extend(read.map(Command::Read));
}

/// Tells how an action turned out and lets go of what it reserved, as far as that is known.
fn resolve(step: &mut Step<'_>, key: (u64, usize), outcome: Resolution) {
    let guard = &mut *step.guard;
    let Some(doubt) = guard.doubts.remove(&key).or_else(|| guard.unsettled.take(key)) else { return };
    let (intent, index) = key;
    let (action, evidence) = (Cow::Borrowed(&doubt.node), Cow::Borrowed(&doubt.evidence[..]));
    step.record(Recovered { intent, index, action, outcome: outcome.name().into(), evidence });
    let is_held = step.guard.doubts.iter().any(|((other, _), doubt)| *other == intent && doubt.holds_done);
    if doubt.holds_done && !is_held {
        step.record(Done { intent });
    }
    match outcome {
        Resolution::DidNotHappen => step.guard.sent.did_not_happen(key),
        Resolution::Happened | Resolution::Moot => {
            let at = step.guard.moment(step.now_ms);
            step.guard.sent.accepted(key, at);
        }
        Resolution::Unknown => {
            step.guard.sent.given_up(key, step.now_ms);
            step.guard.unsettled.keep(key, doubt, step.now_ms);
        }
    }
    step.effects.immediate.extend([Command::Read(Read::Orders), Command::Read(Read::Account)]);
}

/// Whether none of the orders that a cancel names is open.
fn targets_gone(view: &View, action: &Action) -> bool {
    let gone_oid = |cancel: &Cancel| !view.orders.contains_key(&cancel.oid);
    let gone_cloid = |cancel: &CancelByCloid| !view.shows(&cancel.cloid);
    match action {
        Action::Cancel { cancels, .. } => cancels.iter().all(gone_oid),
        Action::CancelByCloid { cancels, .. } => cancels.iter().all(gone_cloid),
        _ => false,
    }
}
