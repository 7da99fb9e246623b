//! Orders that may rest although no read shows them: asked about, and taken back where no answer tells either.
//!
//! A read is as old as the venue likes to have it, so neither a read that misses an order nor the time that has passed says that
//! the order is gone. What the venue answers to a cancel says so: that comes from its books and not from a picture of them.

use super::cancel::NOT_THERE;
use super::key::Moment;
use super::ledger::SentOrders;
use super::order::SentOrder;
use crate::base::address::Cloid;
use crate::guard::state::view::View;
use crate::venue::action::{Action, Cancel, CancelByCloid};
use crate::venue::reply::{Reply, Status};
use serde_json::Value;

/// Orders whose status is asked for after one read of the open orders, or that are taken back at once, at most.
const MOST_AT_ONCE: usize = 4;

impl SentOrder {
    /// Takes in that nothing more can come of its action, and that no answer has told of it. What can only reduce opens nothing.
    pub(super) fn lose(&mut self, at: Moment) {
        if self.reduce_only || !self.phase.is_open() {
            return;
        }
        if self.is_immediate || self.has_moved_all() {
            self.close(at);
        } else {
            self.lost.get_or_insert_default();
        }
    }

    /// The cancel that takes it back, if one is due; not by an id that a stop or an exit carries, which would go instead.
    fn taken_back(&mut self, view: &View, now_ms: u64) -> Option<Action> {
        let lost = self.lost.as_mut().filter(|lost| self.phase.is_open() && lost.is_due(now_ms))?;
        let asset = self.asset;
        let action = match (self.oid, self.cloid) {
            (Some(oid), _) => Action::Cancel { cancels: vec![Cancel { asset, oid }], fast: false },
            (None, Some(cloid)) => {
                let mut alike = view.orders.values().filter(|order| order.cloid == Some(cloid));
                if alike.any(|order| !order.is_entry()) {
                    return None;
                }
                Action::CancelByCloid { cancels: vec![CancelByCloid { asset, cloid }], fast: false }
            }
            (None, None) => return None,
        };
        lost.tried(now_ms);
        Some(action)
    }

    fn is_named_by(&self, action: &Action) -> bool {
        match action {
            Action::Cancel { cancels, .. } => cancels.iter().any(|cancel| self.oid == Some(cancel.oid)),
            Action::CancelByCloid { cancels, .. } => {
                self.oid.is_none() && cancels.iter().any(|cancel| self.cloid == Some(cancel.cloid))
            }
            _ => false,
        }
    }
}

impl SentOrders {
    /// The orders that were said to rest and that a read begun at `begun_ms` should show and does not, a few at a time: the
    /// action that placed each, and its client order id. Their status is asked for.
    pub(crate) fn ask_about(&mut self, begun_ms: u64, now_ms: u64) -> Vec<((u64, usize), Cloid)> {
        let due = self.orders.iter_mut().filter(|order| order.is_to_be_asked(begun_ms, now_ms));
        let asked = due.filter_map(|order| Some((order.cloid?, order))).take(MOST_AT_ONCE);
        let asked = asked.map(|(cloid, order)| {
            order.on_asked(now_ms);
            ((order.key.intent, order.key.index), cloid)
        });
        asked.collect()
    }

    /// Takes in the status of an order that was asked for.
    pub(crate) fn on_own_status(&mut self, key: (u64, usize), cloid: Cloid, answer: &Value, at: Moment) {
        let is_it = |order: &&mut SentOrder| order.key.is_of(key) && order.cloid == Some(cloid);
        self.orders.iter_mut().filter(is_it).for_each(|order| order.on_own_status(answer, at));
    }

    /// Takes in the order id that the status of an order in doubt has told.
    pub(crate) fn learn_oid(&mut self, key: (u64, usize), cloid: Cloid, answer: &Value) {
        let oid = answer.pointer("/order/order/oid").and_then(Value::as_u64);
        let mut orders = self.orders.iter_mut().filter(|order| order.key.is_of(key) && order.cloid == Some(cloid));
        if let (Some(oid), Some(order), None) = (oid, orders.next(), orders.next()) {
            order.oid.get_or_insert(oid);
        }
    }

    /// Takes in that nothing more can come of an action, and that no answer has told of its orders.
    pub(crate) fn lose(&mut self, key: (u64, usize), at: Moment) {
        self.orders.iter_mut().filter(|order| order.key.is_of(key)).for_each(|order| order.lose(at));
    }

    /// Whether what an action has reserved could still open something.
    pub(crate) fn may_open(&self, key: (u64, usize)) -> bool {
        self.orders.iter().any(|order| order.key.is_of(key) && !order.reduce_only)
    }

    /// The cancels that take back what is lost, a few at a time: each an action of its own, so that its answer is about it
    /// alone, with the event that named the order.
    pub(crate) fn take_back(&mut self, view: &View, now_ms: u64) -> Vec<(u64, Action)> {
        let due = self.orders.iter_mut().filter_map(|order| Some((order.key.intent, order.taken_back(view, now_ms)?)));
        due.take(MOST_AT_ONCE).collect()
    }

    /// Takes in the venue's answer to such a cancel: what it took away or does not hold can fill no more. What it filled before
    /// that is in any account read from then on.
    pub(crate) fn on_taken_back(&mut self, action: &Action, reply: &Reply, at: Moment) {
        let is_gone = match reply.status(0) {
            Status::Success => true,
            Status::Error(text) => matches!(reply, Reply::Statuses(_)) && text.contains(NOT_THERE),
            _ => false,
        };
        if !is_gone {
            return;
        }
        let is_taken = reply.status(0) == Status::Success;
        for order in self.orders.iter_mut().filter(|order| order.lost.is_some() && order.is_named_by(action)) {
            order.close(at);
            if is_taken {
                self.found.insert((order.key.intent, order.key.index));
            }
        }
    }

    /// Whether an order of an action that nobody told of was found after all.
    pub(crate) fn was_found(&self, key: (u64, usize)) -> bool {
        self.found.contains(&key)
    }

    /// Forgets what was found of the actions of which this does not hold.
    pub(crate) fn retain_found(&mut self, is_kept: impl Fn(&(u64, usize)) -> bool) {
        self.found.retain(is_kept);
    }
}
