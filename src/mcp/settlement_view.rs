//! The state of a trade in the guard's journal: `/guard/decision` gives a decision, the sends for it and the replies. Pure.

use serde_json::Value;

use super::sanitize;
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
#[derive(Debug, Clone, Copy)]
pub(super) struct DecisionRecord<'a>(pub(super) &'a Value);

impl<'a> DecisionRecord<'a> {
    pub(super) fn decision(self) -> &'a Value {
        self.0.get("decision").unwrap_or(&Value::Null)
    }

    pub(super) fn seq(self) -> Option<u64> {
        self.decision().get("seq")?.as_u64()
    }

    pub(super) fn is_veto(self) -> bool {
        self.decision().get("verdict").and_then(Value::as_str) == Some("veto")
    }

    /// Changes that the guard made.
    pub(super) fn changes(self) -> Vec<String> {
        let changes = self.decision().get("changes").and_then(Value::as_array).into_iter().flatten();
        changes.filter_map(Value::as_str).map(sanitize::text).collect()
    }

    /// The first order that was asked for under this client order id.
    pub(super) fn asked_order(self, cloid: &str) -> Option<&'a Value> {
        let orders = self.decision().pointer("/request/orders")?.as_array()?;
        orders.iter().find(|order| order.get("c").and_then(Value::as_str) == Some(cloid))
    }

    /// The venue's text on a refused stop that went with an entry, the client's or the guard's.
    pub(super) fn refused_stop(self) -> Option<String> {
        let Settlement::Replied(reply) = self.settlement() else { return None };
        let reply = Reply::read(&reply)?;
        let orders = self.decision().pointer("/forward/orders")?.as_array()?;
        let is_stop = |order: &Value| order.pointer("/t/trigger/tpsl").and_then(Value::as_str) == Some("sl");
        let stops = (0..).zip(orders).filter(|(_, order)| is_stop(order));
        stops.into_iter().find_map(|(index, _)| match reply.status(index) {
            Answered::Error(text) => Some(text),
            _ => None,
        })
    }

    fn events(self, list: &str, index: usize) -> impl Iterator<Item = &'a Value> {
        let (seq, index) = (self.seq(), u64::try_from(index).ok());
        let events = self.0.get(list).and_then(Value::as_array).into_iter().flatten();
        events.filter(move |event| {
            let of = event.get("decision").or_else(|| event.get("intent")).and_then(Value::as_u64);
            of == seq && event.get("index").and_then(Value::as_u64) == index
        })
    }

    /// The state of the action that was forwarded.
    pub(super) fn settlement(self) -> Settlement {
        let decision = self.decision();
        if decision.get("nonces").is_none() {
            return Settlement::Paper;
        }
        let forward = decision.get("pre").and_then(Value::as_array).map_or(0, Vec::len);
        if let Some(settled) = self.events("recovered", forward).last() {
            return match settled.get("outcome").and_then(Value::as_str) {
                // Moot: it is as the action would have it, whoever did it.
                Some("happened" | "moot") => Settlement::Done,
                Some("did_not_happen") => Settlement::NotDone,
                _ => Settlement::GaveUp,
            };
        }
        if let Some(reply) = self.events("sent", forward).last().and_then(|sent| sent.get("reply")) {
            // The venue's replies have a `status`; the guard's note of a send without one has none.
            return if reply.get("status").is_none() {
                Settlement::InDoubt
            } else {
                Settlement::Replied(reply.clone())
            };
        }
        if self.0.get("done").is_none_or(Value::is_null) {
            return Settlement::InProgress;
        }
        let refused = (0..forward).flat_map(|index| self.events("sent", index)).find(|sent| {
            sent.get("ok").and_then(Value::as_bool) == Some(false) && sent.pointer("/reply/status").is_some()
        });
        match refused.and_then(|sent| sent.get("reply")) {
            Some(reply) => Settlement::BlockedByRefusal(reply.clone()),
            None => Settlement::NotDone,
        }
    }
}
