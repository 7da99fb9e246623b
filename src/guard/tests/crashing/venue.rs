//! The model venue: nonces, expiry, orders that rest, fill and cover, and what it remembers of every order.

use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use crate::base::address::Cloid;
use crate::guard::effects::SendAction;
use crate::guard::tests::fixture::*;
use crate::venue::action::{Action, Grouping, Target};
use crate::venue::info::{OpenOrder, Side};
use crate::venue::order::{Order, OrderKind};

/// A filled order may be unknown for so long after it was taken.
const STATUS_LAG_MS: u64 = 1_500;

/// What the venue did with one action.
#[derive(Debug, Clone)]
pub(super) struct Taken {
    pub(super) nonce: u64,
    pub(super) action: Value,
    pub(super) reply: Value,
}

impl Taken {
    /// Whether any part of it was done.
    pub(super) fn happened(&self) -> bool {
        let statuses = self.reply.pointer("/response/data/statuses").and_then(Value::as_array);
        let all_failed = statuses.is_some_and(|all| all.iter().all(|status| status.get("error").is_some()));
        self.reply["status"] == "ok" && !all_failed
    }
}

/// The venue's truth.
#[derive(Debug, Clone, Default)]
pub(super) struct Venue {
    pub(super) positions: BTreeMap<&'static str, Decimal>,
    /// What rests, with the size it was placed at.
    pub(super) orders: BTreeMap<u64, (OpenOrder, Decimal)>,
    pub(super) leverage: BTreeMap<u32, u32>,
    pub(super) taken: Vec<Taken>,
    nonces: BTreeSet<u64>,
    records: BTreeMap<Cloid, (Value, u64)>,
    next_oid: u64,
}

pub(super) fn coin_of(asset: u32) -> &'static str {
    if asset == ETH { "ETH" } else { "SOL" }
}

pub(super) fn mid(coin: &str) -> Decimal {
    if coin == "ETH" { dec!(2000) } else { dec!(100) }
}

impl Venue {
    /// An account with a leverage setting in one market that is over the rules.
    pub(super) fn new() -> Self {
        Self { leverage: BTreeMap::from([(ETH, 20), (SOL, 5)]), ..Self::default() }
    }

    /// Takes in a request; `refuse` makes every order of it fail.
    pub(super) fn take(&mut self, send: &SendAction, refuse: bool, now_ms: u64) -> Value {
        let nonce = send.terms.nonce;
        if !self.nonces.insert(nonce) {
            let text = format!("Invalid nonce: duplicate nonce {nonce}");
            return json!({"status": "err", "response": text});
        }
        let reply = if send.terms.expires_after_ms.is_some_and(|expires_ms| expires_ms < now_ms) {
            json!({"status": "err", "response": "Action already expired"})
        } else {
            self.act(&Action::parse(&send.action).unwrap(), refuse, now_ms)
        };
        self.taken.push(Taken { nonce, action: json_of(&send.action), reply: reply.clone() });
        reply
    }

    fn act(&mut self, action: &Action, refuse: bool, now_ms: u64) -> Value {
        match action {
            Action::Noop => done(),
            _ if refuse => {
                statuses((0..action.batch_len().max(1)).map(|_| json!({"error": "Insufficient margin"})).collect())
            }
            Action::UpdateLeverage { asset, leverage, .. } => {
                self.leverage.insert(*asset, *leverage);
                done()
            }
            Action::Order(orders) if orders.grouping == Grouping::NormalTpsl => {
                let mut all = Vec::new();
                for (at, order) in orders.orders.iter().enumerate() {
                    // The guard's children hang on the first order, and fill or rest with it.
                    let waits = at > 0 && all.first().is_some_and(|first: &Value| first.get("resting").is_some());
                    all.push(if waits { self.child(order, now_ms) } else { self.place(order, now_ms) });
                }
                statuses(json!(all))
            }
            Action::Cancel { cancels, .. } => statuses(cancels.iter().map(|cancel| self.cancel(cancel.oid)).collect()),
            Action::CancelByCloid { cancels, .. } => {
                let find = |venue: &Self, cloid| {
                    venue.orders.values().find(|(order, _)| order.cloid == Some(cloid)).map(|(o, _)| o.oid)
                };
                statuses(
                    cancels
                        .iter()
                        .map(|one| {
                            let oid = find(self, one.cloid).unwrap_or_default();
                            self.cancel(oid)
                        })
                        .collect(),
                )
            }
            Action::Modify { modify, .. } => {
                let oid = match modify.target {
                    Target::Oid(oid) => oid,
                    Target::Cloid(cloid) => self
                        .orders
                        .values()
                        .find(|(order, _)| order.cloid == Some(cloid))
                        .map_or(0, |(order, _)| order.oid),
                };
                if self.cancel(oid).get("error").is_some() {
                    return json!({"status": "err", "response": "Cannot modify canceled or filled order"});
                }
                match self.place(&modify.order, now_ms).get("error") {
                    Some(text) => json!({"status": "err", "response": text}),
                    None => done(),
                }
            }
            action => statuses(action.orders().map(|order| self.place(order, now_ms)).collect()),
        }
    }

    fn cancel(&mut self, oid: u64) -> Value {
        match self.orders.remove(&oid) {
            Some(_) => json!("success"),
            None => json!({"error": "Order was never placed, already canceled, or filled."}),
        }
    }

    /// A stop that waits for the order placed last to fill.
    fn child(&mut self, order: &Order, now_ms: u64) -> Value {
        let child = self.open(order, now_ms);
        if let Some((parent, _)) = self.orders.get_mut(&(child.oid - 1)) {
            parent.children.push(child);
        }
        json!("waitingForFill")
    }

    fn open(&mut self, order: &Order, now_ms: u64) -> OpenOrder {
        self.next_oid += 1;
        let side = if order.is_buy { "B" } else { "A" };
        let px = order.market_stop_px().unwrap_or(order.limit_px).to_string();
        let make = if order.is_trigger() { open_stop } else { open };
        let made = make(coin_of(order.asset), side, &px, &order.size.to_string(), self.next_oid);
        let shown =
            json!({"side": side, "limitPx": order.limit_px, "origSz": order.size, "reduceOnly": order.reduce_only});
        if let Some(cloid) = order.cloid {
            let record = json!({"status": "order", "order": {"order": shown, "status": "open"}});
            self.records.insert(cloid, (record, now_ms));
        }
        OpenOrder { cloid: order.cloid, reduce_only: order.reduce_only, limit_px: order.limit_px, ..made }
    }

    fn place(&mut self, order: &Order, now_ms: u64) -> Value {
        let coin = coin_of(order.asset);
        let crosses = if order.is_buy { order.limit_px >= mid(coin) } else { order.limit_px <= mid(coin) };
        let is_immediate = matches!(order.kind, OrderKind::Limit(tif) if tif.is_immediate());
        if order.is_trigger() || !crosses && !is_immediate {
            let open = self.open(order, now_ms);
            let oid = open.oid;
            self.orders.insert(oid, (open, order.size));
            return json!({"resting": {"oid": oid}});
        }
        let filled = if crosses { self.fill(coin, order.is_buy, order.size, order.reduce_only) } else { Decimal::ZERO };
        if filled.is_zero() {
            return json!({"error": "Order could not immediately match against any resting orders."});
        }
        let oid = self.open(order, now_ms).oid;
        json!({"filled": {"totalSz": filled.to_string(), "avgPx": "1.0", "oid": oid}})
    }

    fn fill(&mut self, coin: &'static str, is_buy: bool, size: Decimal, reduce_only: bool) -> Decimal {
        let held = self.positions.entry(coin).or_default();
        let opposite = if is_buy { -*held } else { *held }.max(Decimal::ZERO);
        let size = if reduce_only { size.min(opposite) } else { size };
        *held += if is_buy { size } else { -size };
        size
    }

    /// A resting entry fills, and its child comes alive.
    pub(super) fn match_one(&mut self, which: usize) {
        let entries: Vec<u64> =
            self.orders.values().filter(|(order, _)| !order.is_trigger).map(|(order, _)| order.oid).collect();
        let Some((order, _)) = entries.get(which % entries.len().max(1)).and_then(|oid| self.orders.remove(oid)) else {
            return;
        };
        let coin = if order.coin == "ETH" { "ETH" } else { "SOL" };
        self.fill(coin, order.side == Side::Buy, order.sz, order.reduce_only);
        self.orders.extend(order.children.into_iter().map(|child| (child.oid, (child.clone(), child.sz))));
    }

    /// What the venue says about the order under this id.
    pub(super) fn status(&self, cloid: Cloid, now_ms: u64) -> Value {
        match self.records.get(&cloid) {
            Some((record, since_ms)) if now_ms >= since_ms + STATUS_LAG_MS => record.clone(),
            _ => json!({"status": "unknownOid"}),
        }
    }

    /// A position that its stops do not cover in full.
    pub(super) fn bare(&self) -> Option<String> {
        self.positions.iter().find_map(|(coin, held)| {
            let covers = |order: &&(OpenOrder, Decimal)| {
                order.0.coin == *coin
                    && order.0.market_stop_px().is_some()
                    && (order.0.side == Side::Sell) == (*held > Decimal::ZERO)
            };
            let covered: Decimal = self.orders.values().filter(covers).map(|(order, _)| order.sz).sum();
            (covered < held.abs()).then(|| format!("{held} {coin} covered for {covered}"))
        })
    }

    pub(super) fn is_flat(&self) -> bool {
        self.orders.is_empty() && self.positions.values().all(Decimal::is_zero)
    }
}
