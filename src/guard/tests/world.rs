//! A venue that is slow to tell: it executes, fills and answers when it likes, and its reads lag.
//!
//! Child stops rest beside their entries from the start: nothing here depends on when they come alive.

use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::fixture::*;
use crate::base::address::Cloid;
use crate::guard::effects::SendAction;
use crate::guard::state::cover::{CoverSize, total};
use crate::guard::{Config, Effects, Input, Mode, SendOutcome};
use crate::rules::Rules;
use crate::venue::action::{Action, Modify, Target};
use crate::venue::info::{OpenOrder, Side};
use crate::venue::order::{Order, OrderKind};

/// Prices stay within this share of the mid, so that units can be compared with caps in USDC.
pub(super) const LOWEST: Decimal = dec!(0.98);

pub(super) struct World {
    pub(super) desk: Desk,
    /// Signed size by asset, as it truly is.
    positions: BTreeMap<u32, Decimal>,
    /// What truly rests, by order id.
    book: BTreeMap<u64, Order>,
    /// Sent, and not executed yet.
    waiting: Vec<(SendAction, bool)>,
    /// What the venue has seen: it takes no nonce twice.
    nonces: BTreeSet<u64>,
    /// Executed; the answer is on its way.
    answers: Vec<(u64, usize, Value)>,
    reads: Vec<(Input, u64)>,
    next_oid: u64,
    /// The share of the mid at which units are valued.
    lowest: Decimal,
}

/// What could come of one market, in units.
#[derive(Default)]
struct Side2 {
    entries: Decimal,
    closes: Decimal,
}

impl World {
    /// A world under rules that allow 5000 USDC in one market and 8000 in all, one way or the other.
    pub(super) fn new(rules: Rules, lowest: Decimal) -> Self {
        // Every answer is as old as it likes; only exposure is under test.
        let ages = u64::MAX / 2;
        let config = Config {
            account_max_age_ms: ages,
            prices_max_age_ms: ages,
            marks_max_age_ms: ages,
            orders_max_age_ms: ages,
            feed: false,
            ..config(Mode::Testnet, rules)
        };
        Self {
            desk: Desk::of(config),
            positions: BTreeMap::new(),
            book: BTreeMap::new(),
            waiting: Vec::new(),
            nonces: BTreeSet::new(),
            answers: Vec::new(),
            reads: Vec::new(),
            next_oid: 100,
            lowest,
        }
    }

    /// Posts a request; what it sends waits for the venue.
    pub(super) fn ask(&mut self, action: Value) -> Decided {
        let mut effects = self.desk.post(action);
        self.take(&effects);
        // A cancel that may name a stop which no read has shown waits for one.
        if !events(&effects).iter().any(|event| event["kind"] == "decision") {
            self.desk.now += 6_000;
            effects = self.desk.step(Input::Tick);
            self.take(&effects);
        }
        let decided = Decided::of(effects);
        self.check(&decided);
        decided
    }

    fn take(&mut self, effects: &Effects) {
        for send in sends(effects) {
            let SendAction { intent, index, action, terms, batch_len, urgency, client } = send;
            let (action, terms) = (action.clone(), *terms);
            let send = SendAction {
                intent: *intent,
                index: *index,
                action,
                terms,
                batch_len: *batch_len,
                urgency: *urgency,
                client: *client,
            };
            self.waiting.push((send, true));
        }
    }

    /// Somebody trades by hand.
    pub(super) fn hold(&mut self, asset: u32, szi: Decimal) {
        self.positions.insert(asset, szi);
    }

    /// Somebody places an order by hand.
    pub(super) fn rest(&mut self, order: &Order) {
        self.place(order);
    }

    /// The size of the position in `asset`, signed, and how much of it market stops cover.
    pub(super) fn cover(&self, asset: u32) -> (Decimal, Decimal) {
        let held = self.positions.get(&asset).copied().unwrap_or_default();
        let covers =
            |order: &&Order| order.asset == asset && order.reduce_only && order.is_buy == held.is_sign_negative();
        let sizes = self
            .book
            .values()
            .filter(covers)
            .filter_map(|order| order.market_stop_px().map(|_| CoverSize::Part(order.size)));
        (held, total(sizes, held.abs()).min(held.abs()))
    }

    /// What rests under `oid`.
    pub(super) fn resting(&self, oid: u64) -> &Order {
        &self.book[&oid]
    }

    /// The intents of the actions on their way, in the order in which [`Self::execute`] counts them.
    pub(super) fn intents(&self) -> impl Iterator<Item = u64> + Clone {
        self.waiting.iter().map(|(send, _)| send.intent)
    }

    pub(super) fn oids(&self) -> Vec<u64> {
        self.book.keys().copied().collect()
    }

    /// The venue executes one action. Not before the one ahead of it in its intent, which the guard sees to.
    pub(super) fn execute(&mut self, which: usize, refuse: bool) {
        if self.waiting.is_empty() {
            return;
        }
        let (send, is_heard) = self.waiting.remove(which % self.waiting.len());
        if !self.nonces.insert(send.terms.nonce) {
            let text = format!("Invalid nonce: duplicate nonce {}", send.terms.nonce);
            if is_heard {
                self.answers.push((send.intent, send.index, json!({"status": "err", "response": text})));
            }
            return;
        }
        let action = Action::parse(&send.action).unwrap();
        let statuses: Vec<Value> = match &action {
            _ if refuse => vec![json!({"error": "refused"})],
            Action::Cancel { cancels, .. } => cancels.iter().map(|cancel| self.cancel(cancel.oid)).collect(),
            Action::CancelByCloid { cancels, .. } => {
                cancels.iter().map(|cancel| self.cancel(self.named(cancel.cloid).unwrap_or_default())).collect()
            }
            Action::Modify { modify, .. } => vec![self.modify(modify)],
            Action::BatchModify { modifies, .. } => modifies.iter().map(|modify| self.modify(modify)).collect(),
            action => action.orders().map(|order| self.place(order)).collect(),
        };
        if is_heard {
            self.answers.push((send.intent, send.index, super::fixture::statuses(json!(statuses))));
        }
    }

    fn cancel(&mut self, oid: u64) -> Value {
        match self.book.remove(&oid) {
            Some(_) => json!("success"),
            None => json!({"error": "Order was never placed, already canceled, or filled."}),
        }
    }

    fn named(&self, cloid: Cloid) -> Option<u64> {
        self.book.iter().find(|(_, order)| order.cloid == Some(cloid)).map(|(oid, _)| *oid)
    }

    fn modify(&mut self, modify: &Modify) -> Value {
        let oid = match modify.target {
            Target::Oid(oid) => Some(oid),
            Target::Cloid(cloid) => self.named(cloid),
        };
        if oid.and_then(|oid| self.book.remove(&oid)).is_none() {
            return json!({"error": "Cannot modify canceled or filled order"});
        }
        self.place(&modify.order)
    }

    fn place(&mut self, order: &Order) -> Value {
        self.next_oid += 1;
        let oid = self.next_oid;
        match &order.kind {
            OrderKind::Limit(tif) if tif.is_immediate() => {
                let filled = self.fill(order, order.size);
                if filled.is_zero() {
                    return json!({"error": "no match"});
                }
                json!({"filled": {"totalSz": filled.to_string(), "avgPx": "1.0", "oid": oid}})
            }
            _ => {
                self.book.insert(oid, order.clone());
                json!({"resting": {"oid": oid}})
            }
        }
    }

    /// Fills at most `size` of `order`.
    fn fill(&mut self, order: &Order, size: Decimal) -> Decimal {
        let position = self.positions.entry(order.asset).or_default();
        let opposite = if order.is_buy { -*position } else { *position }.max(Decimal::ZERO);
        let size = if order.reduce_only { size.min(opposite) } else { size };
        *position += if order.is_buy { size } else { -size };
        size
    }

    /// One resting order fills, in part or whole.
    pub(super) fn match_one(&mut self, which: usize, percent: u32) {
        let resting: Vec<u64> =
            self.book.iter().filter(|(_, order)| !order.is_trigger()).map(|(oid, _)| *oid).collect();
        let Some(oid) = resting.get(which % resting.len().max(1)) else { return };
        let order = self.book[oid].clone();
        let part = (order.size * Decimal::from(percent) / dec!(100)).round_dp(4).min(order.size);
        self.fill(&order, part);
        if part >= order.size {
            self.book.remove(oid);
        } else {
            self.book.get_mut(oid).unwrap().size -= part;
        }
    }

    /// An answer reaches the guard.
    pub(super) fn answer(&mut self, which: usize, is_lost: bool) {
        if self.answers.is_empty() {
            return;
        }
        let (intent, index, value) = self.answers.remove(which % self.answers.len());
        let outcome = if is_lost { SendOutcome::NoAnswer("lost".into()) } else { SendOutcome::Answered(value) };
        let effects = self.desk.step(Input::Sent { intent, index, outcome });
        self.take(&effects);
    }

    /// The guard gives up waiting for an action: it was never sent, or may still be executed.
    pub(super) fn give_up(&mut self, which: usize, is_sent: bool) {
        if self.waiting.is_empty() {
            return;
        }
        let which = which % self.waiting.len();
        if !self.waiting[which].1 {
            return;
        }
        let (intent, index) = (self.waiting[which].0.intent, self.waiting[which].0.index);
        let outcome = if is_sent {
            self.waiting[which].1 = false;
            SendOutcome::NoAnswer("time-out".into())
        } else {
            self.waiting.remove(which);
            SendOutcome::NotSent("no connection".into())
        };
        let effects = self.desk.step(Input::Sent { intent, index, outcome });
        self.take(&effects);
    }

    /// A read begins: it shows this moment, whenever it arrives.
    pub(super) fn begin_read(&mut self, is_account: bool) {
        let begun_ms = self.desk.now;
        let input = if is_account {
            let coins = [(BTC, "BTC"), (ETH, "ETH"), (SOL, "SOL")];
            let held = coins.into_iter().map(|(asset, coin)| (coin, self.positions.get(&asset).copied()));
            self.desk.positions = held.filter_map(|(coin, szi)| Some((coin, szi?))).collect();
            Input::Account { state: self.desk.state(begun_ms), equity: self.desk.equity, begun_ms }
        } else {
            Input::Orders { orders: self.book.iter().map(|(oid, order)| shown(*oid, order)).collect(), begun_ms }
        };
        self.reads.push((input, begun_ms));
    }

    /// A read arrives.
    pub(super) fn end_read(&mut self, which: usize) {
        if !self.reads.is_empty() {
            let (input, _) = self.reads.remove(which % self.reads.len());
            let effects = self.desk.step(input);
            self.take(&effects);
        }
    }

    /// Everything that could still fill, whether it rests or is on its way.
    fn sides(&self, asset: u32) -> (Side2, Side2) {
        let (mut buys, mut sells) = (Side2::default(), Side2::default());
        // One whose nonce is used up never happens.
        let may_happen = self.waiting.iter().filter(|(send, _)| !self.nonces.contains(&send.terms.nonce));
        let on_the_way: Vec<Action> = may_happen.map(|(send, _)| Action::parse(&send.action).unwrap()).collect();
        let orders = self.book.values().chain(on_the_way.iter().flat_map(|action| action.orders()));
        for order in orders.filter(|order| order.asset == asset && !order.is_trigger()) {
            let side = if order.is_buy { &mut buys } else { &mut sells };
            *if order.reduce_only { &mut side.closes } else { &mut side.entries } += order.size;
        }
        (buys, sells)
    }

    /// The most units of one market that could come to be held on one side.
    fn worst(&self, asset: u32) -> Decimal {
        let position = self.positions.get(&asset).copied().unwrap_or_default();
        let (buys, sells) = self.sides(asset);
        let side = |held: Decimal, side: &Side2| {
            let closing = (-held).max(Decimal::ZERO);
            let closing = closing - side.closes.min(closing);
            held.max(Decimal::ZERO) + (side.entries - closing).max(Decimal::ZERO)
        };
        side(position, &buys).max(side(-position, &sells))
    }

    /// Whatever the venue does next, an entry just forwarded cannot take the account over the rules.
    fn check(&self, decided: &Decided) {
        let Some(orders) = decided.event["forward"].get("orders").and_then(Value::as_array) else { return };
        let entered = orders.iter().filter(|order| order["r"] == false);
        let entered: Vec<u32> = entered.map(|order| u32::try_from(order["a"].as_u64().unwrap()).unwrap()).collect();
        if entered.is_empty() {
            return;
        }
        let mids = [(BTC, dec!(60000)), (ETH, dec!(2000)), (SOL, dec!(100))];
        let mut gross = Decimal::ZERO;
        for (asset, mid) in mids {
            let value = self.worst(asset) * mid * self.lowest;
            gross += value;
            assert!(!entered.contains(&asset) || value <= dec!(5000), "{value} in market {asset}: {}", decided.event);
        }
        assert!(gross <= dec!(8000), "{gross} in all: {}", decided.event);
    }
}

fn shown(oid: u64, order: &Order) -> OpenOrder {
    let coin = ["BTC", "ETH", "SOL"][order.asset as usize];
    let (px, size) = (order.limit_px.to_string(), order.size.to_string());
    let mut open = match order.market_stop_px() {
        Some(trigger_px) => open_stop(coin, "A", &trigger_px.to_string(), &size, oid),
        None => open(coin, "A", &px, &size, oid),
    };
    open.side = if order.is_buy { Side::Buy } else { Side::Sell };
    open.reduce_only = order.reduce_only;
    open.cloid = order.cloid;
    open
}
