//! What only reduces, sent on its own where what had to go first for the rest of its request failed.
//!
//! An exit must not fall with the leverage update of an entry that came along with it, nor the cancel of an entry with
//! the stop that another cancel needs.

use rust_decimal::Decimal;
use serde_json::{Value, json};

use super::book::Book;
use super::builder::Merge;
use super::close::order_action;
use super::effect::{Effects, Keys, Urgency};
use super::event;
use super::intent::{Intent, Planned, Role, Waiting};
use super::judge::add_exit;
use super::state::Guard;
use super::view::Resting;
use crate::venue::action::{Action, Grouping, OrderAction, Target};
use crate::venue::market::FIRST_NON_CORE_ASSET;
use crate::venue::order::Order;
use crate::venue::signing::Terms;

impl Guard {
    /// Sends what only reduces of the intent `of`, whose `pre` at `index` failed for the reason `why`. Takes the waiting
    /// client along, which is told of each of its orders.
    pub(super) fn send_what_reduces(
        &mut self,
        effects: &mut Effects,
        (of, index): (u64, usize),
        intent: &mut Intent,
        why: &str,
        now_ms: u64,
    ) {
        // The rest stays unsent, and stands in the way of nothing.
        self.pending.never_sent(of, index.saturating_add(1));
        let Some(planned) = intent.actions.iter().find(|planned| planned.role == Role::Forward).cloned() else {
            return;
        };
        let Some((action, places)) = self.reducing_part(&planned.action) else { return };
        let Some(node) = action.to_node() else { return };
        let terms = Terms { nonce: self.next_nonce(now_ms), ..planned.terms };
        let body = event::Intent { of, action: &node, nonces: vec![terms.nonce] };
        let seq = self.record(effects, now_ms, "intent", &body, Keys { serves: Some(of), ..Keys::default() });
        let left_out = left_out(&planned.action, why);
        let waiting = intent.waiting.take().map(|mut waiting| {
            let before = waiting.merge.take();
            Waiting { merge: Some(Merge::over(before, left_out, places)), ..waiting }
        });
        let planned = Planned { role: Role::Forward, action, node, terms };
        self.launch(effects, seq, Intent::new(vec![planned], waiting, Urgency::Exit), &[], now_ms);
    }

    /// The part of an action that can only reduce, and where its orders stand in the whole; `None` where there is none.
    fn reducing_part(&self, action: &Action) -> Option<(Action, Vec<usize>)> {
        let (part, places) = match action {
            Action::Order(action) => {
                let (places, orders): (Vec<_>, Vec<_>) = self.reducing_orders(action).into_iter().unzip();
                let part = match action.grouping {
                    // Nothing hangs on it any more.
                    Grouping::NormalTpsl => order_action(orders),
                    _ => Action::Order(OrderAction { orders, ..action.clone() }),
                };
                (part, places)
            }
            Action::BatchModify { modifies, always } => {
                let reducing = modifies.iter().enumerate().filter(|(_, modify)| modify.order.reduce_only);
                let (places, modifies) = reducing.map(|(place, modify)| (place, modify.clone())).unzip();
                (Action::BatchModify { modifies, always: *always }, places)
            }
            Action::Cancel { cancels, fast } => {
                let free = cancels.iter().enumerate().filter(|(_, cancel)| !self.may_cover(Target::Oid(cancel.oid)));
                let (places, cancels) = free.map(|(place, cancel)| (place, *cancel)).unzip();
                (Action::Cancel { cancels, fast: *fast }, places)
            }
            Action::CancelByCloid { cancels, fast } => {
                let free =
                    cancels.iter().enumerate().filter(|(_, cancel)| !self.may_cover(Target::Cloid(cancel.cloid)));
                let (places, cancels) = free.map(|(place, cancel)| (place, *cancel)).unzip();
                (Action::CancelByCloid { cancels, fast: *fast }, places)
            }
            _ => return None,
        };
        (!Vec::is_empty(&places)).then_some((part, places))
    }

    /// The orders that reduce what is held, and the closing part of those that would flip it, each with its place.
    fn reducing_orders(&self, action: &OrderAction) -> Vec<(usize, Order)> {
        let mut book = Book::of(self);
        let hangs = action.grouping == Grouping::NormalTpsl;
        let orders = || action.orders.iter().enumerate();
        let mut reducing: Vec<(usize, Order)> = Vec::new();
        // What is marked first, wherever it stands: what it closes nothing else can count on closing.
        for (place, order) in orders().filter(|(_, order)| order.reduce_only && !hangs) {
            // A stop or a take-profit for what is not bought has nothing to reduce, where positions are known.
            let is_foreign = order.asset >= FIRST_NON_CORE_ASSET;
            if is_foreign || !book.market(self, order.asset).held(!order.is_buy).is_zero() {
                add_exit(self, &mut book, order);
                reducing.push((place, order.clone()));
            }
        }
        for (place, order) in orders().filter(|(_, order)| !order.reduce_only && !order.is_trigger()) {
            let closing = order.size.saturating_sub(book.market(self, order.asset).entry_part(order));
            if !closing.is_zero() {
                let order = Order { size: closing, reduce_only: true, ..order.clone() };
                add_exit(self, &mut book, &order);
                reducing.push((place, order));
            }
        }
        reducing.sort_unstable_by_key(|(place, _)| *place);
        reducing
    }

    /// Whether a cancel of this target could take a position's stop.
    fn may_cover(&self, target: Target) -> bool {
        let covers = |order: &Resting| {
            let position = self.view.position(order.asset);
            let held = if order.is_buy { -position } else { position };
            order.stop_px.is_some() && held > Decimal::ZERO
        };
        match target {
            Target::Oid(oid) => self.view.order(oid).is_some_and(covers),
            Target::Cloid(cloid) => self.view.orders_by_cloid(cloid).any(covers),
        }
    }
}

/// The answer to an action of which nothing was sent yet: each of its orders left out, for this reason.
pub(super) fn left_out(action: &Action, why: &str) -> Value {
    let response_type = match action {
        Action::Cancel { .. } | Action::CancelByCloid { .. } => "cancel",
        _ => "order",
    };
    let statuses = vec![json!({"error": format!("svc-guard: {why}")}); action.batch_len()];
    json!({"status": "ok", "response": {"type": response_type, "data": {"statuses": statuses}}})
}
