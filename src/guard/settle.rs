//! Settlement: what became of an action that the venue gave no answer to.
//!
//! Nothing is sent again. First the action's nonce is burnt with a `noop`: if the venue takes that, the action never
//! happened and never will. If the nonce is a duplicate, the action reached the venue, and the status of its orders says
//! what it did. Any other answer proves nothing; then only the orders' status can show that it happened, and its expiry
//! that it no longer can. Until it is settled, what it could have done stays reserved.

use serde_json::{Value, json};

use super::effect::{Deed, Effects, Keys, Read, Urgency};
use super::event;
use super::intent::{Intent, Planned, Role};
use super::state::Guard;
use crate::venue::Cloid;
use crate::venue::action::{Action, Cancel, CancelByCloid};
use crate::venue::json::Node;
use crate::venue::reply::Reply;
use crate::venue::signing::Terms;

/// Between two questions about the same action.
const ASK_EVERY_MS: u64 = 1_000;
/// An order that reached the venue may be unknown for a moment after; so many answers in a row settle that it was
/// refused.
const UNKNOWN_ANSWERS: u32 = 3;
/// An action cannot take effect later than this after its expiry, whatever the clocks say.
const EXPIRY_MARGIN_MS: u64 = 60_000;
/// An action without expiry is given up after so many questions.
const MAX_QUESTIONS: u32 = 120;
/// Evidence kept of one settlement: the first answers tell, the rest repeat.
const MAX_EVIDENCE: usize = 8;

/// An action whose outcome is not known.
#[derive(Debug)]
pub(super) struct Doubt {
    action: Action,
    node: Node,
    terms: Terms,
    /// Since when.
    since_ms: u64,
    proof: Proof,
    questions: u32,
    unknown_answers: u32,
    next_ms: u64,
    evidence: Vec<Value>,
    /// Its intent counts as unfinished until this is settled: no `sent` event tells of the action, so a `done` before
    /// would say that it was never sent, and a second crash would forget it.
    holds_done: bool,
}

/// What the burning of its nonce proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Proof {
    /// Not tried yet.
    Wanted,
    /// The noop is on its way.
    Waiting,
    /// The action reached the venue by this time.
    Reached(u64),
    /// Nothing.
    None,
}

/// How an action turned out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Happened,
    DidNotHappen,
    /// The effect holds, and nothing says that this action caused it.
    Moot,
    Unknown,
}

impl Outcome {
    fn name(self) -> &'static str {
        match self {
            Outcome::Happened => "happened",
            Outcome::DidNotHappen => "did_not_happen",
            Outcome::Moot => "moot",
            Outcome::Unknown => "unknown",
        }
    }
}

impl Doubt {
    /// `was_burnt` when a noop with its nonce went out before: a second one would prove nothing.
    fn new(planned: Planned, was_burnt: bool, now_ms: u64) -> Self {
        let Planned { action, node, terms, .. } = planned;
        Self {
            action,
            node,
            terms,
            since_ms: now_ms,
            proof: if was_burnt { Proof::None } else { Proof::Wanted },
            questions: 0,
            unknown_answers: 0,
            next_ms: now_ms,
            evidence: Vec::new(),
            holds_done: false,
        }
    }

    /// The action in the venue's form, its nonce, and whether that was burnt, for a checkpoint.
    pub(super) fn parts(&self) -> (&Node, &Terms, bool) {
        (&self.node, &self.terms, self.proof != Proof::Wanted)
    }

    /// Whether its intent is not done before it is settled.
    pub(super) fn holds_done(&self) -> bool {
        self.holds_done
    }

    /// Whether it places an order in this market, and since when it is in doubt.
    pub(super) fn about(&self, asset: u32) -> Option<u64> {
        self.action.orders().any(|order| order.asset == asset).then_some(self.since_ms)
    }

    fn cloid(&self) -> Option<Cloid> {
        self.action.orders().find_map(|order| order.cloid)
    }

    /// Whether it can no longer take effect.
    fn is_past(&self, now_ms: u64) -> bool {
        self.terms.expires_after_ms.is_some_and(|expiry| now_ms > expiry.saturating_add(EXPIRY_MARGIN_MS))
    }

    fn note(&mut self, request: &Value, reply: &Value) {
        if self.evidence.len() < MAX_EVIDENCE {
            self.evidence.push(json!({"request": request, "reply": reply}));
        }
    }
}

impl Guard {
    /// Doubts an action from now on.
    pub(super) fn doubt(&mut self, key: (u64, usize), planned: Planned, was_burnt: bool, now_ms: u64) {
        self.doubts.insert(key, Doubt::new(planned, was_burnt, now_ms));
    }

    /// Has the intent of an action in doubt be done only once that is settled.
    pub(super) fn hold_done(&mut self, key: (u64, usize)) {
        if let Some(doubt) = self.doubts.get_mut(&key) {
            doubt.holds_done = true;
        }
    }

    /// Takes the next step of every settlement that is due.
    pub(super) fn settle(&mut self, effects: &mut Effects, now_ms: u64) {
        let due = self.doubts.iter().filter(|(_, doubt)| doubt.next_ms <= now_ms && doubt.proof != Proof::Waiting);
        let due: Vec<(u64, usize)> = due.map(|(key, _)| *key).collect();
        for key in due {
            let Some(doubt) = self.doubts.get_mut(&key) else { continue };
            doubt.next_ms = now_ms.saturating_add(ASK_EVERY_MS);
            match (doubt.proof, doubt.cloid()) {
                (Proof::Wanted, _) => self.burn(effects, key, now_ms),
                (_, Some(cloid)) => {
                    doubt.questions = doubt.questions.saturating_add(1);
                    effects.at_once.push(Deed::Read(Read::OrderStatus { intent: key.0, index: key.1, cloid }));
                }
                (proof, None) => self.settle_by_account(effects, key, proof, now_ms),
            }
        }
    }

    /// Burns the nonce of an action in doubt.
    fn burn(&mut self, effects: &mut Effects, key: (u64, usize), now_ms: u64) {
        let Some(doubt) = self.doubts.get_mut(&key) else { return };
        let Some(node) = Action::Noop.to_node() else { return };
        doubt.proof = Proof::Waiting;
        let terms = Terms { expires_after_ms: None, ..doubt.terms };
        let body = event::Intent { of: key.0, action: &node, nonces: vec![terms.nonce] };
        let keys = Keys { serves: Some(key.0), ..Keys::default() };
        let seq = self.record(effects, now_ms, "intent", &body, keys);
        let planned = Planned { role: Role::Forward, action: Action::Noop, node, terms };
        let intent = Intent { settles: Some(key), ..Intent::new(vec![planned], None, Urgency::Exit) };
        effects.after_disk.extend(intent.send(seq, 0));
        self.intents.insert(seq, intent);
    }

    /// Takes in what became of the noop: `None` where the venue gave no answer to that either.
    pub(super) fn burnt(
        &mut self,
        effects: &mut Effects,
        key: (u64, usize),
        answer: Option<(&Reply, &Value)>,
        was_sent: bool,
        now_ms: u64,
    ) {
        let Some(doubt) = self.doubts.get_mut(&key) else { return };
        let Some((reply, value)) = answer else {
            // A noop that never went out can be tried again; one without an answer may have burnt the nonce itself.
            doubt.proof = if was_sent { Proof::None } else { Proof::Wanted };
            return;
        };
        doubt.note(&json!({"type": "noop", "nonce": doubt.terms.nonce}), value);
        match reply {
            Reply::Refused(text) if text.contains("duplicate nonce") => doubt.proof = Proof::Reached(now_ms),
            Reply::Refused(_) => doubt.proof = Proof::None,
            _ => self.recovered(effects, key, Outcome::DidNotHappen, now_ms),
        }
    }

    /// Takes in the status of an order in doubt: `None` where it could not be read.
    pub(super) fn order_status(
        &mut self,
        effects: &mut Effects,
        key: (u64, usize),
        answer: Option<&Value>,
        now_ms: u64,
    ) {
        let Some(doubt) = self.doubts.get_mut(&key) else { return };
        let (Some(answer), Some(cloid)) = (answer, doubt.cloid()) else { return };
        let question = json!({"type": "orderStatus", "oid": cloid});
        let outcome = match answer.get("status").and_then(Value::as_str) {
            Some("order") => {
                doubt.note(&question, answer);
                Outcome::Happened
            }
            Some("unknownOid") => {
                doubt.unknown_answers = doubt.unknown_answers.saturating_add(1);
                doubt.note(&question, answer);
                let refused = matches!(doubt.proof, Proof::Reached(_)) && doubt.unknown_answers >= UNKNOWN_ANSWERS;
                if refused || doubt.is_past(now_ms) {
                    Outcome::DidNotHappen
                } else if doubt.terms.expires_after_ms.is_none() && doubt.questions >= MAX_QUESTIONS {
                    Outcome::Unknown
                } else {
                    return;
                }
            }
            _ => return,
        };
        self.recovered(effects, key, outcome, now_ms);
    }

    /// Settles what places no order by what the account shows.
    fn settle_by_account(&mut self, effects: &mut Effects, key: (u64, usize), proof: Proof, now_ms: u64) {
        let Some(doubt) = self.doubts.get_mut(&key) else { return };
        doubt.questions = doubt.questions.saturating_add(1);
        let since_ms = match proof {
            Proof::Reached(at_ms) => Some(at_ms),
            _ => None,
        };
        let is_read = |at_ms: u64| self.view.orders_ms.is_some_and(|begun_ms| begun_ms > at_ms);
        let outcome = match (&doubt.action, since_ms) {
            (Action::Cancel { .. } | Action::CancelByCloid { .. }, Some(at_ms)) if is_read(at_ms) => {
                if targets_gone(&self.view, &doubt.action) { Outcome::Happened } else { Outcome::DidNotHappen }
            }
            (Action::Cancel { .. } | Action::CancelByCloid { .. }, None) if targets_gone(&self.view, &doubt.action) => {
                Outcome::Moot
            }
            // It reached the venue, and whether it was refused there is not to be had: nothing depends on it that is
            // not read anew.
            (Action::Noop | Action::TwapCancel { .. } | Action::UpdateIsolatedMargin { .. }, Some(_)) => Outcome::Moot,
            (Action::UpdateLeverage { asset, leverage, .. }, Some(_)) => {
                match self.view.leverage.get(asset) {
                    Some((known, _)) if known.value == *leverage => Outcome::Moot,
                    _ => {
                        // Unknown, and read anew before the next entry relies on it.
                        self.view.leverage.remove(asset);
                        Outcome::Moot
                    }
                }
            }
            _ if doubt.is_past(now_ms) => Outcome::Unknown,
            _ if doubt.questions >= MAX_QUESTIONS => Outcome::Unknown,
            _ => {
                effects.at_once.push(Deed::Read(Read::Orders));
                return;
            }
        };
        self.recovered(effects, key, outcome, now_ms);
    }

    /// Tells how an action turned out and lets go of what it reserved, as far as that is known.
    fn recovered(&mut self, effects: &mut Effects, key: (u64, usize), outcome: Outcome, now_ms: u64) {
        let Some(doubt) = self.doubts.remove(&key) else { return };
        let (intent, index) = key;
        let body =
            event::Recovered { intent, index, action: &doubt.node, outcome: outcome.name(), evidence: &doubt.evidence };
        let keys = Keys { serves: Some(intent), ..Keys::default() };
        self.record(effects, now_ms, "recovered", &body, keys);
        let is_held = self.doubts.iter().any(|((other, _), doubt)| *other == intent && doubt.holds_done);
        if doubt.holds_done && !is_held {
            let keys = Keys { serves: Some(intent), ..Keys::default() };
            self.record(effects, now_ms, "done", &event::Done { intent }, keys);
        }
        match outcome {
            Outcome::DidNotHappen => self.pending.did_not_happen(key),
            Outcome::Happened | Outcome::Moot => self.pending.accepted(key, now_ms),
            Outcome::Unknown => self.unsettled = self.unsettled.saturating_add(1),
        }
        effects.at_once.extend([Deed::Read(Read::Orders), Deed::Read(Read::Account)]);
    }
}

/// Whether none of the orders that a cancel names is open.
fn targets_gone(view: &super::view::View, action: &Action) -> bool {
    let gone_oid = |cancel: &Cancel| !view.orders.contains_key(&cancel.oid);
    let gone_cloid = |cancel: &CancelByCloid| !view.shows(&cancel.cloid);
    match action {
        Action::Cancel { cancels, .. } => cancels.iter().all(gone_oid),
        Action::CancelByCloid { cancels, .. } => cancels.iter().all(gone_cloid),
        _ => false,
    }
}
