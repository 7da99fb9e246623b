//! The state of a trade in the guard's journal: `/guard/decision` gives a decision, the sends for it and the replies. Pure.

use serde_json::Value;

use super::sanitize;
use crate::base::address::Address;
use crate::record::decision_view::DecisionRecord;
use crate::record::event::{Event, Kind};
use crate::record::events::{Decision, Recovered, Sent};
use crate::venue::reply::{Reply, Status as Answered};

/// The state of an action that passed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Settlement {
    /// Paper mode: the guard only recorded it.
    Paper,
    /// The venue's reply.
    Replied(Value),
    /// Not sent, because the venue refused an action that had to go first (its reply).
    BlockedByRefusal(Value),
    /// Surely not sent, or surely without effect.
    NotDone,
    /// Sent without a reply, and settled as done.
    Done,
    /// Sent without a reply, and not settled yet.
    InDoubt,
    /// Sent without a reply, and the guard has given up settling it.
    GaveUp,
    /// On its way.
    InProgress,
}

/// One decision with the sends, replies and settlements that belong to it.
pub(super) type Record = DecisionRecord<Event<'static>>;

/// A look at such a record.
#[derive(Debug, Clone, Copy)]
pub(super) struct SettlementView<'a> {
    record: &'a Record,
    decision: &'a Decision<'static>,
}

impl<'a> SettlementView<'a> {
    /// A look at a record; `None` where it is of no decision.
    pub(super) fn of(record: &'a Record) -> Option<Self> {
        match &record.decision.kind {
            Kind::Decision(decision) => Some(Self { record, decision }),
            _ => None,
        }
    }

    pub(super) fn seq(self) -> u64 {
        self.record.decision.seq
    }

    /// Whether this client asked for it.
    pub(super) fn is_of(self, client: Address) -> bool {
        self.decision.client == Some(client)
    }

    pub(super) fn is_veto(self) -> bool {
        self.decision.verdict == "veto"
    }

    /// Changes that the guard made.
    pub(super) fn changes(self) -> Vec<String> {
        self.decision.changes.iter().map(|text| sanitize::text(text)).collect()
    }

    /// The first order that was asked for under this client order id.
    pub(super) fn asked_order(self, cloid: &str) -> Option<&'a Value> {
        let orders = self.decision.request.get("orders")?.as_array()?;
        orders.iter().find(|order| order.get("c").and_then(Value::as_str) == Some(cloid))
    }

    /// The venue's text on a refused stop that went with an entry, the client's or the guard's.
    pub(super) fn refused_stop(self) -> Option<String> {
        let Settlement::Replied(reply) = self.settlement() else { return None };
        let reply = Reply::read(&reply)?;
        let orders = self.decision.forward.as_ref()?.get("orders")?.as_array()?;
        let is_stop = |order: &Value| order.pointer("/t/trigger/tpsl").and_then(Value::as_str) == Some("sl");
        let stops = (0..).zip(orders).filter(|(_, order)| is_stop(order));
        stops.into_iter().find_map(|(index, _)| match reply.status(index) {
            Answered::Error(text) => Some(text),
            _ => None,
        })
    }

    /// The sends of the decision's action at `index`.
    fn sent(self, index: usize) -> impl Iterator<Item = &'a Sent<'static>> {
        self.record.sent.iter().filter_map(move |event| match &event.kind {
            Kind::Sent(sent) if sent.decision == self.seq() && sent.index == index => Some(sent),
            _ => None,
        })
    }

    /// What was found out about the decision's action at `index`.
    fn recovered(self, index: usize) -> impl Iterator<Item = &'a Recovered<'static>> {
        self.record.recovered.iter().filter_map(move |event| match &event.kind {
            Kind::Recovered(settled) if settled.intent == self.seq() && settled.index == index => Some(settled),
            _ => None,
        })
    }

    /// The state of the action that was forwarded.
    pub(super) fn settlement(self) -> Settlement {
        if self.decision.nonces.is_empty() {
            return Settlement::Paper;
        }
        let forward = self.decision.pre.len();
        if let Some(settled) = self.recovered(forward).last() {
            return match &settled.outcome[..] {
                // Moot: it is as the action would have it, whoever did it.
                "happened" | "moot" => Settlement::Done,
                "did_not_happen" => Settlement::NotDone,
                _ => Settlement::GaveUp,
            };
        }
        if let Some(sent) = self.sent(forward).last() {
            return if sent.is_answered() {
                Settlement::Replied(sent.reply.as_ref().clone())
            } else {
                Settlement::InDoubt
            };
        }
        if self.record.done.is_none() {
            return Settlement::InProgress;
        }
        let refused = (0..forward).flat_map(|index| self.sent(index)).find(|sent| !sent.ok && sent.is_answered());
        match refused {
            Some(sent) => Settlement::BlockedByRefusal(sent.reply.as_ref().clone()),
            None => Settlement::NotDone,
        }
    }
}
