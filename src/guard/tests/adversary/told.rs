//! The knowledge that the guard was given so far: a promise that needs knowledge binds it only where it has that knowledge.

use crate::venue::action::Action;
use crate::venue::info::OpenOrder;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What the guard was told.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Sends whose answer it has not heard.
    pub(super) unheard: BTreeSet<(u64, usize)>,
    /// The venue's time of the state that the last read of the account showed, and when the last one of the open orders began.
    pub(super) account_ms: u64,
    pub(super) orders_ms: u64,
    /// The orders that rest by the last read of them and by what was answered since, without triggers, and when a read last missed
    /// one of them: it may have filled, as far as reads of the account tell that began before.
    pub(super) resting: BTreeSet<u64>,
    /// Those that answers on their way tell of.
    pub(super) answered: BTreeMap<(u64, usize), Vec<u64>>,
    pub(super) missed_ms: u64,
    /// When the venue last did something that nobody had asked it to do just then: a fill of what rested.
    pub(super) unasked_ms: u64,
    /// When the feed told of the open orders last; the time that its newest state of the account is of, and that of the prices.
    pub(super) orders_told_ms: u64,
    pub(super) as_of_ms: u64,
    pub(super) mids_ms: u64,
    /// When it last heard how a send ended.
    pub(super) heard_ms: u64,
    /// Decisions taken while it knew everything, each with the time of what the venue had last done unasked.
    pub(super) sure: BTreeMap<u64, u64>,
}

impl Told {
    /// A read of the open orders shows these.
    pub(super) fn orders_read(&mut self, orders: &[OpenOrder], now_ms: u64) {
        let resting = orders.iter().filter(|order| !order.is_trigger).map(|order| order.oid).collect();
        if !self.resting.is_subset(&resting) {
            self.missed_ms = now_ms;
        }
        self.resting = resting;
    }

    /// The venue answers a send so: the guard hears of it later.
    pub(super) fn answered(&mut self, send: (u64, usize), action: &Action, reply: &Value) {
        let statuses = reply.pointer("/response/data/statuses").and_then(Value::as_array);
        let told = action.orders().zip(statuses.into_iter().flatten());
        let oid = |status: &Value| status.pointer("/resting/oid").and_then(Value::as_u64);
        self.answered
            .insert(send, told.filter(|(order, _)| !order.is_trigger()).filter_map(|(_, one)| oid(one)).collect());
    }

    /// It hears how this send ended.
    pub(super) fn hears(&mut self, send: (u64, usize), now_ms: u64) {
        self.unheard.remove(&send);
        self.resting.extend(self.answered.remove(&send).into_iter().flatten());
        self.heard_ms = now_ms;
    }

    /// Whether it knows of everything that happened.
    pub(super) fn is_all(&self) -> bool {
        self.unheard.is_empty() && self.unasked_ms < self.account_ms && self.unasked_ms < self.orders_ms
    }

    /// Whether this decision was taken knowing everything, and nothing has happened since.
    pub(super) fn is_sure(&self, intent: u64) -> bool {
        self.sure.get(&intent) == Some(&self.unasked_ms)
    }
}
