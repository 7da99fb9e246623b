//! Intents: the actions that one event named, sent in order, each after the one before it was answered.

use serde_json::{Value, json};

use super::builder::Merge;
use super::doubt::Proof;
use super::effect::{Deed, Effects, Keys, Read, SendAction, Urgency};
use super::event;
use super::input::SendOutcome;
use super::reply::{self, Summary};
use super::state::Guard;
use crate::venue::action::{Action, Grouping};
use crate::venue::info::{Leverage, MarginMode};
use crate::venue::json::Node;
use crate::venue::reply::{Reply, Status};
use crate::venue::signing::Terms;

/// An event whose actions are being sent.
#[derive(Debug)]
pub(super) struct Intent {
    pub(super) actions: Vec<Planned>,
    /// The client that waits, until it is answered.
    pub(super) waiting: Option<Waiting>,
    pub(super) urgency: Urgency,
    /// The action that is sent or waits for its answer.
    pub(super) at: usize,
    /// What became of `forward`, once it was answered.
    pub(super) forwarded: Option<Reply>,
    /// The action in doubt whose nonce this one burns.
    pub(super) settles: Option<(u64, usize)>,
}

/// A client that waits for the venue's answer.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) request: u64,
    /// The client's own orders: the first so many of `forward`.
    pub(super) orders: usize,
    pub(super) summary: Summary,
    /// What a first answer already says, where some orders were sent again.
    pub(super) merge: Option<Merge>,
}

/// One action of an intent.
#[derive(Debug, Clone)]
pub(super) struct Planned {
    pub(super) role: Role,
    pub(super) action: Action,
    pub(super) node: Node,
    pub(super) terms: Terms,
}

/// What an action is for, and when it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// First; its failure stops the rest, but for what only reduces.
    Pre,
    /// The client's own.
    Forward,
    /// Only if the order at this place of `forward` was accepted.
    Post(usize),
    /// The guard's own, whatever became of the one before.
    Own,
}

impl Intent {
    pub(super) fn new(actions: Vec<Planned>, waiting: Option<Waiting>, urgency: Urgency) -> Self {
        Self { actions, waiting, urgency, at: 0, forwarded: None, settles: None }
    }

    /// The send of the action at `index`.
    pub(super) fn send(&self, intent: u64, index: usize) -> Option<Deed> {
        let planned = self.actions.get(index)?;
        Some(Deed::Send(SendAction {
            intent,
            index,
            action: planned.node.clone(),
            terms: planned.terms,
            batch_len: planned.action.batch_len(),
            urgency: self.urgency,
        }))
    }

    /// The next action to send after `index`, given what became of `forward`.
    fn next(&self, index: usize) -> Option<usize> {
        self.actions.iter().enumerate().skip(index.saturating_add(1)).find_map(|(next, planned)| {
            let wanted = match (planned.role, &self.forwarded) {
                (Role::Pre | Role::Forward | Role::Own, _) => true,
                (Role::Post(place), Some(reply)) => !matches!(reply.status(place), Status::Error(_)),
                (Role::Post(_), None) => false,
            };
            wanted.then_some(next)
        })
    }

    /// The next action where the one at `index` got no answer: what follows `forward`, and what the guard does of its
    /// own accord, does not hang on one another.
    fn next_after_failure(&self, index: usize) -> Option<usize> {
        let role = self.actions.get(index).map(|planned| planned.role);
        if matches!(role, Some(Role::Post(_) | Role::Own)) { self.next(index) } else { None }
    }
}

/// How an action ended, as far as it is known.
pub(super) enum Ending {
    Answered(Reply, Value),
    NotSent(String),
    Unknown(String),
}

impl Ending {
    fn of(outcome: SendOutcome) -> Self {
        match outcome {
            SendOutcome::Answered(value) => match Reply::read(&value) {
                Some(reply) => Ending::Answered(reply, value),
                None => Ending::Unknown(format!("an answer that cannot be read: {value}")),
            },
            SendOutcome::NotSent(text) => Ending::NotSent(text),
            SendOutcome::Unrecorded(error) => {
                Ending::NotSent(format!("the event that names it is not on disk: {error}"))
            }
            SendOutcome::NoAnswer(text) => Ending::Unknown(text),
        }
    }

    /// Whether the venue filled an order of it, as far as that is known.
    fn may_have_filled(&self) -> bool {
        match self {
            Ending::Answered(Reply::Statuses(statuses), _) => {
                statuses.iter().any(|status| matches!(status, Status::Filled(..) | Status::Other))
            }
            Ending::Answered(..) | Ending::NotSent(_) => false,
            Ending::Unknown(_) => true,
        }
    }
}

impl Guard {
    /// Takes in how an action ended: tells of it, answers the client, and sends what comes next.
    pub(super) fn sent(&mut self, effects: &mut Effects, seq: u64, index: usize, outcome: SendOutcome, now_ms: u64) {
        let Some(mut intent) = self.intents.remove(&seq) else { return };
        if let SendOutcome::Unrecorded(error) = &outcome {
            // The decision is no more on disk than the action: the client is not told of it.
            answer_as(effects, &mut intent, 503, |_| reply::unrecorded(error));
        }
        let Some(planned) = intent.actions.get(index) else { return };
        let (role, nonce) = (planned.role, planned.terms.nonce);
        let is_recorded = !matches!(outcome, SendOutcome::Unrecorded(_));
        let ending = Ending::of(outcome);
        self.tell_sent(effects, seq, index, nonce, &ending, now_ms);
        self.watch.in_flight.ended(seq, index, &ending, now_ms);
        if ending.may_have_filled() {
            self.risk.traded(now_ms);
        }
        if role == Role::Own {
            self.own_ended(effects, &planned.action, &ending, now_ms);
        }
        let next = match &ending {
            Ending::Answered(reply, value) => {
                self.hear_of_signer(effects, reply, now_ms);
                self.pending.answered(seq, index, now_ms, |place| reply.status(place));
                self.learn_orders(&planned.action, reply, now_ms);
                if reply.is_ok() {
                    self.learn_leverage(&planned.action, now_ms);
                }
                match role {
                    Role::Pre if !reply.is_ok() => {
                        let why = format!("what had to go first was refused: {value}");
                        self.send_what_reduces(effects, (seq, index), &mut intent, &why, now_ms);
                        let text = format!("what had to go first was refused, so nothing was sent: {value}");
                        answer(effects, &mut intent, |waiting| reply::failed(&text, &waiting.summary));
                        None
                    }
                    Role::Forward => {
                        self.send_without_builder(effects, seq, planned, (reply, value), &mut intent.waiting, now_ms);
                        answer(effects, &mut intent, |waiting| {
                            let orders = waiting.orders;
                            match waiting.merge.take() {
                                Some(merge) => reply::forwarded(&merge.with(value), orders, &waiting.summary),
                                None => reply::forwarded(value, orders, &waiting.summary),
                            }
                        });
                        intent.forwarded = Some(reply.clone());
                        intent.next(index)
                    }
                    Role::Pre | Role::Post(_) | Role::Own => intent.next(index),
                }
            }
            Ending::NotSent(text) => {
                self.pending.did_not_happen((seq, index));
                if role == Role::Pre && is_recorded {
                    let why = format!("what had to go first did not reach the venue: {text}");
                    self.send_what_reduces(effects, (seq, index), &mut intent, &why, now_ms);
                }
                let text = format!("the venue was not reached, so nothing was sent: {text}");
                answer(effects, &mut intent, |waiting| reply::failed(&text, &waiting.summary));
                intent.next_after_failure(index)
            }
            Ending::Unknown(text) => {
                if intent.settles.is_none() {
                    self.doubt((seq, index), planned.clone(), Proof::Wanted, now_ms);
                }
                if role == Role::Pre {
                    let why = format!("what had to go first got no answer: {text}");
                    self.send_what_reduces(effects, (seq, index), &mut intent, &why, now_ms);
                }
                let text = format!(
                    "the venue gave no answer and may have acted on it; look at the open orders before sending it \
                     again: {text}"
                );
                answer(effects, &mut intent, |waiting| reply::failed(&text, &waiting.summary));
                intent.next_after_failure(index)
            }
        };
        let is_own = role == Role::Own;
        let reads = if is_own { [Read::OrdersNow, Read::AccountNow] } else { [Read::Orders, Read::Account] };
        effects.at_once.extend(reads.map(Deed::Read));
        let next = next.filter(|next| {
            is_recorded && !self.is_too_late(effects, &mut intent, *next) && !self.bares(&intent, *next)
        });
        if let Some(key) = intent.settles {
            let answered = match &ending {
                Ending::Answered(reply, value) => Some((reply, value)),
                _ => None,
            };
            self.burnt(effects, key, answered, now_ms);
        }
        intent.at = next.unwrap_or_default();
        match next.and_then(|next| intent.send(seq, next)) {
            Some(send) => {
                effects.at_once.push(send);
                self.intents.insert(seq, intent);
            }
            None => {
                self.pending.never_sent(seq, index.saturating_add(1));
                self.watch.in_flight.never_sent(seq, index.saturating_add(1));
                let keys = Keys { serves: Some(seq), ..Keys::default() };
                self.record(effects, now_ms, "done", &event::Done { intent: seq }, keys);
            }
        }
    }

    /// Whether the next action is an entry that was decided on before everything had to go.
    fn is_too_late(&self, effects: &mut Effects, intent: &mut Intent, next: usize) -> bool {
        let is_forward = intent.actions.get(next).is_some_and(|planned| planned.role == Role::Forward);
        let too_late = is_forward && intent.urgency == Urgency::Entry && self.must_be_flat();
        if too_late {
            let text = "everything is being closed, so the order was not sent";
            answer(effects, intent, |waiting| reply::failed(text, &waiting.summary));
        }
        too_late
    }

    /// Whether the next action takes the guard's stop away while a client's cancel is about to take the one that was to
    /// stand in its place. Such actions come last.
    fn bares(&self, intent: &Intent, next: usize) -> bool {
        let Some(Planned { role: Role::Post(place), action: Action::Cancel { .. }, .. }) = intent.actions.get(next)
        else {
            return false;
        };
        let forward = intent.actions.iter().find(|planned| planned.role == Role::Forward);
        let replacing = forward.and_then(|planned| planned.action.orders().nth(*place));
        replacing.is_some_and(|order| self.pending.is_unseen_going(order.cloid))
    }

    /// Tells of a send; one that surely never went out has no `sent` event.
    fn tell_sent(
        &mut self,
        effects: &mut Effects,
        intent: u64,
        index: usize,
        nonce: u64,
        ending: &Ending,
        now_ms: u64,
    ) {
        let (ok, reply) = match ending {
            Ending::Answered(reply, value) => (reply.is_ok(), value.clone()),
            Ending::Unknown(text) => (false, json!({ "error": text })),
            Ending::NotSent(text) => {
                let text = format!("action {index} of intent {intent} was not sent: {text}");
                self.record(effects, now_ms, "error", &event::Trouble { text: &text }, Keys::default());
                return;
            }
        };
        let keys = Keys { serves: Some(intent), ..Keys::default() };
        let body = event::Sent { decision: intent, index, nonce, ok, reply: &reply };
        self.record(effects, now_ms, "sent", &body, keys);
    }

    /// Takes note of the orders that rest now, so that the client can name them at once.
    fn learn_orders(&mut self, action: &Action, reply: &Reply, now_ms: u64) {
        let whole = matches!(action, Action::Order(action) if action.grouping == Grouping::PositionTpsl);
        for (place, order) in action.orders().enumerate() {
            if let Status::Resting(oid) = reply.status(place) {
                self.view.place(order, oid, whole, now_ms);
            }
        }
    }

    /// Takes note of a leverage setting that was set.
    pub(super) fn learn_leverage(&mut self, action: &Action, now_ms: u64) {
        if let Action::UpdateLeverage { asset, is_cross, leverage } = action {
            let mode = if *is_cross { MarginMode::Cross } else { MarginMode::Isolated };
            self.view.leverage.insert(*asset, (Leverage { mode, value: *leverage }, now_ms));
        }
    }
}

/// Answers the client that waits for this intent, if it still does.
fn answer(effects: &mut Effects, intent: &mut Intent, body: impl FnOnce(&mut Waiting) -> String) {
    answer_as(effects, intent, 200, body);
}

fn answer_as(effects: &mut Effects, intent: &mut Intent, http_status: u16, body: impl FnOnce(&mut Waiting) -> String) {
    if let Some(mut waiting) = intent.waiting.take() {
        let body = body(&mut waiting);
        effects.at_once.push(Deed::Answer(super::Answer { request: waiting.request, http_status, body }));
    }
}
