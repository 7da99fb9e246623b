//! Intents that a restart finds unfinished: taken up again, and carried over in checkpoints.

use crate::guard::flow::settlement;
use crate::guard::flow::step_context::Step;
use crate::guard::state::guard::Guard;
use crate::guard::state::in_doubt::{Proof, Resolution};
use crate::guard::state::intent::{Planned, Role};
use crate::record::events::{Done, Recovered};
use crate::record::risk_record::{OpenAction, OpenIntent};
use crate::venue::action::Action;
use crate::venue::json::Node;
use crate::venue::signing::Terms;
use serde_json::json;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Takes up what earlier lives left open.
pub(crate) fn reopen(step: &mut Step<'_>) {
    for (intent, open) in std::mem::take(&mut step.guard.open_intents).0 {
        let (is_done, mut is_held) = (open.done, false);
        for OpenAction { index, action: node, nonce, expires_ms, used_ms, .. } in open.in_doubt() {
            let Ok(action) = Action::parse(&node) else { continue };
            if action == Action::Noop {
                resolve_noop(step, (intent, index), &node, nonce);
                continue;
            }
            let terms = Terms { nonce, vault: None, expires_after_ms: expires_ms };
            step.guard.sent.reserve_recovered((intent, index), &action, &step.guard.earlier_stops);
            let planned = Planned { role: Role::Forward, action, node, terms, life_ms: None, places: Vec::new() };
            let proof = used_ms.map_or(Proof::Wanted, Proof::Used);
            settlement::put_in_doubt(step.guard, (intent, index), planned, proof, step.now_ms);
            if !is_done {
                settlement::hold_done(step.guard, (intent, index));
                is_held = true;
            }
        }
        if !is_done && !is_held {
            step.record(Done { intent });
        }
    }
    step.guard.doubts.values_mut().for_each(|doubt| doubt.is_earlier = true);
    let Guard { filled_away, sent, .. } = &mut *step.guard;
    filled_away.leave_out(sent.orders.iter().filter_map(|order| order.cloid));
}

/// Tells of a noop without an answer: it does nothing, so its effect holds, and nothing depends on it.
fn resolve_noop(step: &mut Step<'_>, (intent, index): (u64, usize), node: &Node, nonce: u64) {
    let evidence = [json!({"request": {"type": "noop", "nonce": nonce}, "reply": null})];
    let (action, evidence) = (Cow::Borrowed(node), Cow::Borrowed(&evidence[..]));
    step.record(Recovered { intent, index, action, outcome: Resolution::Moot.name().into(), evidence });
}

/// The open intents for a checkpoint: those being sent, and those in doubt.
pub(crate) fn checkpoint_open(guard: &Guard) -> Vec<OpenIntent> {
    let mut open: BTreeMap<u64, (Vec<OpenAction>, bool)> = BTreeMap::new();
    for (seq, intent) in &guard.intents {
        let unsent = intent.untold().map(|(index, planned)| OpenAction {
            index,
            action: planned.node.clone(),
            nonce: planned.terms.nonce,
            expires_ms: planned.terms.expires_after_ms,
            doubtful: false,
            used_ms: None,
        });
        open.insert(*seq, (unsent.collect(), false));
    }
    for ((seq, index), doubt) in &guard.doubts {
        let (actions, done) = open.entry(*seq).or_insert((Vec::new(), true));
        *done = *done && !doubt.holds_done;
        actions.push(OpenAction {
            index: *index,
            action: doubt.node.clone(),
            nonce: doubt.terms.nonce,
            expires_ms: doubt.terms.expires_after_ms,
            doubtful: true,
            used_ms: doubt.used_ms(),
        });
    }
    open.into_iter().map(|(seq, (actions, done))| OpenIntent { seq, done, actions }).collect()
}
