//! The model venue's exchange: it places, cancels and replaces orders.

use rust_decimal::Decimal;
use serde_json::{Value, json};

use super::super::fixture::*;
use super::books::coin_of;
use super::dice::Dice;
use super::venue::{Venue, half};
use crate::base::address::Cloid;
use crate::guard::effects::SendAction;
use crate::venue::action::{Action, Grouping, Modify, Target};
use crate::venue::info::{OpenOrder, Side};
use crate::venue::order::{Order, OrderKind, Tif, Tpsl};
use crate::venue::signing::Terms;

const GONE: &str = "Order was never placed, already canceled, or filled.";

impl Venue {
    fn open(&mut self, order: &Order, is_position_tpsl: bool) -> OpenOrder {
        self.next_oid += 1;
        let order_type = match order.kind {
            OrderKind::Limit(_) => "Limit",
            OrderKind::Trigger { is_market: true, tpsl: Tpsl::Sl, .. } => "Stop Market",
            OrderKind::Trigger { is_market: false, tpsl: Tpsl::Sl, .. } => "Stop Limit",
            OrderKind::Trigger { is_market: true, tpsl: Tpsl::Tp, .. } => "Take Profit Market",
            OrderKind::Trigger { is_market: false, tpsl: Tpsl::Tp, .. } => "Take Profit Limit",
        };
        self.named.extend(order.cloid.map(|cloid| (self.next_oid, cloid)));
        OpenOrder {
            coin: coin_of(order.asset).to_owned(),
            side: Side::of(order.is_buy),
            limit_px: order.limit_px,
            sz: order.size,
            oid: self.next_oid,
            is_trigger: order.is_trigger(),
            trigger_px: trigger_px(order).unwrap_or_default(),
            is_position_tpsl,
            reduce_only: order.reduce_only,
            order_type: order_type.to_owned(),
            tif: None,
            cloid: order.cloid,
            children: Vec::new(),
        }
    }

    /// Puts an order into the book as it is.
    pub(in crate::guard::tests) fn rest(&mut self, order: &Order) -> u64 {
        self.rest_as(order, false)
    }

    fn rest_as(&mut self, order: &Order, is_position_tpsl: bool) -> u64 {
        let open = self.open(order, is_position_tpsl);
        let oid = open.oid;
        self.books.orders.insert(oid, open);
        oid
    }

    /// Why the venue does not take an order in, if it does not.
    fn fault(&self, order: &Order, dice: &mut Dice) -> Option<&'static str> {
        let (held, mid) = (self.books.held(coin_of(order.asset)), self.books.mid(coin_of(order.asset)));
        let reduces = if order.is_buy { held < Decimal::ZERO } else { held > Decimal::ZERO };
        if order.reduce_only && !reduces && !(order.is_trigger() && self.manners.takes_idle_triggers) {
            return Some("Reduce only order would increase position.");
        }
        if let OrderKind::Trigger { trigger_px, tpsl, .. } = order.kind {
            let is_above = order.is_buy != (tpsl == Tpsl::Tp);
            let is_met = if is_above { mid >= trigger_px } else { mid <= trigger_px };
            if is_met || dice.chance(self.manners.refuses_stop) {
                return Some("Invalid TP/SL price.");
            }
        }
        None
    }

    fn place(&mut self, order: &Order, grouping: Grouping, dice: &mut Dice) -> Value {
        let (coin, mid) = (coin_of(order.asset), self.books.book(coin_of(order.asset)));
        if let Some(fault) = self.fault(order, dice) {
            return json!({"error": fault});
        }
        let is_full = self.books.orders.len() >= self.manners.most_orders;
        let too_many = || json!({"error": format!("Too many open orders: {}", self.books.orders.len())});
        if order.is_trigger() {
            if is_full {
                return too_many();
            }
            return json!({"resting": {"oid": self.rest_as(order, grouping == Grouping::PositionTpsl)}});
        }
        let crossing = if order.is_buy { order.limit_px >= mid } else { order.limit_px <= mid };
        let is_immediate = order.tif().is_some_and(Tif::is_immediate);
        if is_immediate && (!crossing || dice.chance(self.manners.misses)) {
            return json!({"error": "Order could not immediately match against any resting orders."});
        }
        if crossing && order.tif() == Some(Tif::Alo) {
            return json!({"error": "Post only order would have immediately matched."});
        }
        if crossing {
            let size = if is_immediate && dice.chance(self.manners.is_thin) { half(order.size) } else { order.size };
            self.next_oid += 1;
            let oid = self.next_oid;
            self.named.extend(order.cloid.map(|cloid| (oid, cloid)));
            let filled = if order.reduce_only { self.reduce(coin, order.is_buy, size, oid) } else { size };
            if !order.reduce_only {
                self.trade_at(coin, if order.is_buy { size } else { -size }, mid, oid);
            }
            let (filled, mid) = (filled.to_string(), mid.to_string());
            return json!({"filled": {"totalSz": filled, "avgPx": mid, "oid": self.next_oid}});
        }
        if is_full {
            return too_many();
        }
        json!({"resting": {"oid": self.rest(order)}})
    }

    fn cancel(&mut self, oid: u64) -> Value {
        if self.books.orders.remove(&oid).is_some() {
            return json!("success");
        }
        for parent in self.books.orders.values_mut() {
            if let Some(place) = parent.children.iter().position(|child| child.oid == oid) {
                parent.children.remove(place);
                return json!("success");
            }
        }
        json!({"error": GONE})
    }

    fn oid_of(&self, cloid: Cloid) -> Option<u64> {
        let orders = || self.books.orders.values();
        let mut all = orders().chain(orders().flat_map(|order| &order.children));
        all.find(|order| order.cloid == Some(cloid)).map(|order| order.oid)
    }

    fn modify(&mut self, modify: &Modify, always: bool, dice: &mut Dice) -> Value {
        let oid = match modify.target {
            Target::Oid(oid) => Some(oid),
            Target::Cloid(cloid) => self.oid_of(cloid),
        };
        let is_gone = self.cancel(oid.unwrap_or_default()).get("error").is_some();
        if is_gone && !always {
            return json!({"error": "Cannot modify canceled or filled order"});
        }
        self.place(&modify.order, Grouping::Na, dice)
    }

    /// Takes a signed action, unless its nonce was used or its time is over.
    pub(in crate::guard::tests) fn take(&mut self, send: &SendAction, dice: &mut Dice) -> Value {
        let action = Action::parse(&send.action).expect("the guard sends what can be read");
        self.take_action(&action, send.terms, dice)
    }

    /// The same for one that was read already.
    pub(in crate::guard::tests) fn take_action(&mut self, action: &Action, terms: Terms, dice: &mut Dice) -> Value {
        if !self.nonces.insert(terms.nonce) {
            return refusal("Invalid nonce: duplicate nonce");
        }
        if terms.expires_after_ms.is_some_and(|expiry| self.books.at_ms > expiry) {
            return refusal("Action expired");
        }
        self.taken.extend(action.orders().filter_map(|order| order.cloid));
        match action {
            Action::Order(orders) if orders.grouping == Grouping::NormalTpsl => {
                self.place_with_children(&orders.orders, dice)
            }
            Action::Order(orders) => {
                statuses(orders.orders.iter().map(|order| self.place(order, orders.grouping, dice)).collect())
            }
            Action::Modify { modify, always } => statuses(json!([self.modify(modify, *always, dice)])),
            Action::BatchModify { modifies, always } => {
                statuses(modifies.iter().map(|modify| self.modify(modify, *always, dice)).collect())
            }
            Action::Cancel { cancels, .. } => statuses(cancels.iter().map(|one| self.cancel(one.oid)).collect()),
            Action::CancelByCloid { cancels, .. } => {
                let done = cancels.iter().map(|one| {
                    let oid = self.oid_of(one.cloid).unwrap_or_default();
                    self.cancel(oid)
                });
                statuses(done.collect())
            }
            _ => done(),
        }
    }

    /// Children rest with a parent that rests, and come alive with the fill of the whole of it.
    fn place_with_children(&mut self, orders: &[Order], dice: &mut Dice) -> Value {
        let Some((parent, children)) = orders.split_first() else { return statuses(json!([])) };
        let status = self.place(parent, Grouping::Na, dice);
        if status.get("error").is_some() {
            return statuses(vec![status; orders.len()].into());
        }
        let children: Vec<OpenOrder> = children.iter().map(|child| self.open(child, false)).collect();
        let all = |of_children: &str| {
            let told = std::iter::repeat_n(json!(of_children), children.len());
            statuses(std::iter::once(status.clone()).chain(told).collect())
        };
        if let Some(oid) = status.pointer("/resting/oid").and_then(Value::as_u64) {
            let reply = all("waitingForFill");
            self.books.orders.get_mut(&oid).unwrap().children = children;
            return reply;
        }
        // A parent that filled in part leaves no stop behind.
        let filled = status.pointer("/filled/totalSz").and_then(Value::as_str).map(str::parse::<Decimal>);
        if filled == Some(Ok(parent.size)) {
            let reply = all("waitingForTrigger");
            self.books.orders.extend(children.into_iter().map(|child| (child.oid, child)));
            return reply;
        }
        all("waitingForFill")
    }
}

fn trigger_px(order: &Order) -> Option<Decimal> {
    match order.kind {
        OrderKind::Trigger { trigger_px, .. } => Some(trigger_px),
        OrderKind::Limit(_) => None,
    }
}

pub(in crate::guard::tests) fn refusal(text: &str) -> Value {
    json!({"status": "err", "response": text})
}
