//! Exits that the venue refused for the builder they carry: sent again without it.
//!
//! A fee for a third party must not stand between an owner and the way out. Entries are not sent again: they can wait.

use serde_json::Value;

use super::effect::{Effects, Keys, Urgency};
use super::event;
use super::intent::{Intent, Planned, Role, Waiting};
use super::pending::ToldBy;
use super::state::Guard;
use crate::venue::action::{Action, Grouping, OrderAction};
use crate::venue::reply::{Reply, Status};
use crate::venue::signing::Terms;

/// The client's answer, waiting for what becomes of the orders sent again.
#[derive(Debug)]
pub(super) struct Merge {
    /// The venue's first answer.
    answer: Value,
    /// The places in it of the orders sent again, in their order.
    places: Vec<usize>,
}

impl Merge {
    /// `answer` stands, but for the orders at these places of it.
    pub(super) fn new(answer: Value, places: Vec<usize>) -> Self {
        Self { answer, places }
    }

    /// The same where some of the request's orders were left out of what `answer` is about, as `before` has it.
    pub(super) fn over(before: Option<Self>, answer: Value, places: Vec<usize>) -> Self {
        let Some(before) = before else { return Self::new(answer, places) };
        let left = places.iter().filter_map(|place| before.places.get(*place).copied()).collect();
        // A refusal of the whole leaves nothing to take over.
        let answer = if statuses_of(&answer).is_some() { before.with(&answer) } else { before.answer };
        Self { answer, places: left }
    }

    /// The first answer with the statuses of the orders sent again in their places.
    pub(super) fn with(self, again: &Value) -> Value {
        let (Some(statuses), Some(first)) = (statuses_of(again), statuses_of(&self.answer)) else {
            return again.clone();
        };
        let mut merged = first.clone();
        for (place, status) in self.places.iter().zip(statuses) {
            if let Some(slot) = merged.get_mut(*place) {
                slot.clone_from(status);
            }
        }
        let mut answer = self.answer;
        if let Some(slot) = answer.pointer_mut("/response/data/statuses") {
            *slot = Value::Array(merged);
        }
        answer
    }
}

fn statuses_of(answer: &Value) -> Option<&Vec<Value>> {
    answer.pointer("/response/data/statuses").and_then(Value::as_array)
}

/// The exits of `action` that `reply` refused for their builder, without it, and their places.
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

impl Guard {
    /// Sends the exits that were refused for their builder again. Takes the waiting client along, which is answered
    /// with both replies in one.
    pub(super) fn send_without_builder(
        &mut self,
        effects: &mut Effects,
        of: u64,
        planned: &Planned,
        (reply, answer): (&Reply, &Value),
        waiting: &mut Option<Waiting>,
        now_ms: u64,
    ) {
        let Some((action, places)) = refused_exits(&planned.action, reply) else { return };
        let Some(node) = action.to_node() else { return };
        let terms = Terms { nonce: self.next_nonce(now_ms), ..planned.terms };
        let body = event::Intent { of, action: &node, nonces: vec![terms.nonce] };
        let seq = self.record(effects, now_ms, "intent", &body, Keys { serves: Some(of), ..Keys::default() });
        for (place, order) in action.orders().enumerate() {
            self.pending.reserve((seq, 0, place), order, None, ToldBy::CloidSince(now_ms, Vec::new()));
        }
        let waiting = waiting.take().map(|mut waiting| {
            let before = waiting.merge.take();
            Waiting { merge: Some(Merge::over(before, answer.clone(), places)), ..waiting }
        });
        let intent = Intent::new(vec![Planned { role: Role::Forward, action, node, terms }], waiting, Urgency::Exit);
        effects.after_disk.extend(intent.send(seq, 0));
        self.intents.insert(seq, intent);
    }
}
