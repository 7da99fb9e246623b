//! The model venue: one account, two markets, and the truth about both.
//!
//! Orders rest, fill in parts and are cancelled; stops trigger, and a stop whose limit the price has jumped over fills
//! nothing; nonces are used once; what reduces only never opens. No books, no fees: a fill is at the mid.

use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::super::fixture::*;
use super::dice::Dice;
use crate::base::address::Cloid;
use crate::guard::effects::SendAction;
use crate::venue::action::{Action, Grouping, Target};
use crate::venue::info::{OpenOrder, Side};
use crate::venue::order::{Order, OrderKind};

pub(super) const COINS: [&str; 2] = ["ETH", "SOL"];
/// Share of a position's value below which the equity may not fall, percent.
const MAINTENANCE_PCT: Decimal = dec!(2);

pub(super) fn asset_of(coin: &str) -> u32 {
    if coin == "ETH" { ETH } else { SOL }
}

pub(super) fn coin_of(asset: u32) -> &'static str {
    if asset == ETH { "ETH" } else { "SOL" }
}

/// What a read shows. A clone is a picture of a moment.
#[derive(Clone)]
pub(super) struct Books {
    pub(super) at_ms: u64,
    pub(super) cash: Decimal,
    /// What came in less what went out.
    pub(super) flows: Decimal,
    /// Shares of the account: who brings or takes money brings or takes shares of it, so a share is worth what was won or
    /// lost with it.
    shares: Decimal,
    /// Size and what it cost.
    pub(super) positions: BTreeMap<&'static str, (Decimal, Decimal)>,
    pub(super) mids: BTreeMap<String, Decimal>,
    pub(super) orders: BTreeMap<u64, OpenOrder>,
}

impl Books {
    pub(super) fn mid(&self, coin: &str) -> Decimal {
        self.mids[coin]
    }

    pub(super) fn held(&self, coin: &str) -> Decimal {
        self.positions.get(coin).map_or(Decimal::ZERO, |(size, _)| *size)
    }

    pub(super) fn unrealized(&self, coin: &str) -> Decimal {
        self.positions.get(coin).map_or(Decimal::ZERO, |(size, cost)| size * self.mid(coin) - cost)
    }

    /// The mean price at which a position was entered, as the venue shows it.
    pub(super) fn entry_px(&self, coin: &str) -> Option<Decimal> {
        let (size, cost) = self.positions.get(coin)?;
        Some((cost / size).round_dp(6))
    }

    pub(super) fn equity(&self) -> Decimal {
        self.cash + self.positions.keys().map(|coin| self.unrealized(coin)).sum::<Decimal>()
    }

    /// What a share is worth.
    pub(super) fn share_px(&self) -> Decimal {
        self.equity() / self.shares
    }

    fn maintenance(&self) -> Decimal {
        let held = self.positions.iter().map(|(coin, (size, _))| size.abs() * self.mid(coin));
        held.sum::<Decimal>() * MAINTENANCE_PCT / dec!(100)
    }

    /// Where the account would be liquidated if only this price moved.
    pub(super) fn liquidation_px(&self, coin: &str) -> Option<Decimal> {
        let room = self.equity() - self.maintenance();
        let px = self.mid(coin) - room.checked_div(self.held(coin))?;
        (px > Decimal::ZERO).then(|| px.round_dp(4))
    }

    /// The market stops on the losing side of a position.
    pub(super) fn stops(&self, coin: &str) -> impl Iterator<Item = &OpenOrder> {
        let side = if self.held(coin) > Decimal::ZERO { Side::Sell } else { Side::Buy };
        self.orders.values().filter(move |order| {
            order.coin == coin && order.side == side && order.market_stop_px().is_some() && order.reduce_only
        })
    }

    pub(super) fn is_bare(&self, coin: &str) -> bool {
        self.stops(coin).map(|order| order.sz).sum::<Decimal>() < self.held(coin).abs()
    }
}

pub(super) struct Venue {
    pub(super) books: Books,
    /// Entries with the time from which on a read shows them.
    pub(super) ledger: Vec<(u64, u64, Value)>,
    nonces: BTreeSet<u64>,
    taken: BTreeSet<Cloid>,
    next_oid: u64,
    /// What reduces only goes with the position.
    pub(super) drops_orphans: bool,
    /// Orders that ended without a trade that the account could show, by coin.
    pub(super) vanished: BTreeMap<&'static str, u64>,
}

impl Venue {
    pub(super) fn new(at_ms: u64, drops_orphans: bool) -> Self {
        let mids = [("ETH", dec!(2000)), ("SOL", dec!(100))].into_iter().map(|(coin, mid)| (coin.to_owned(), mid));
        let books = Books {
            at_ms,
            cash: dec!(10_000),
            flows: dec!(10_000),
            shares: dec!(10_000),
            positions: BTreeMap::new(),
            mids: mids.collect(),
            orders: BTreeMap::new(),
        };
        Self {
            books,
            ledger: Vec::new(),
            nonces: BTreeSet::new(),
            taken: BTreeSet::new(),
            next_oid: 1_000,
            drops_orphans,
            vanished: BTreeMap::new(),
        }
    }

    /// Trades at the mid.
    pub(super) fn trade(&mut self, coin: &'static str, size: Decimal) {
        let px = self.books.mid(coin);
        let (held, cost) = self.books.positions.remove(coin).unwrap_or_default();
        let (after, paid) = (held + size, cost + size * px);
        // What is left of a position keeps the price at which it was entered; what is on the other side is new.
        let kept = if after.is_zero() || (held > Decimal::ZERO) != (after > Decimal::ZERO) {
            after * px
        } else if after.abs() < held.abs() {
            (cost / held).round_dp(8) * after
        } else {
            paid
        };
        self.books.cash -= paid - kept;
        if !after.is_zero() {
            self.books.positions.insert(coin, (after, kept));
        }
        let has_flipped = (held > Decimal::ZERO) != (after > Decimal::ZERO);
        if self.drops_orphans && (after.is_zero() || has_flipped) {
            let side = if held > Decimal::ZERO { Side::Sell } else { Side::Buy };
            self.books.orders.retain(|_, order| !(order.coin == coin && order.reduce_only && order.side == side));
        }
    }

    /// Fills what reduces only; how much of it.
    fn reduce(&mut self, coin: &'static str, is_buy: bool, size: Decimal) -> Decimal {
        let held = self.books.held(coin);
        let size = size.min(if is_buy { -held } else { held }).max(Decimal::ZERO);
        if !size.is_zero() {
            self.trade(coin, if is_buy { size } else { -size });
        }
        size
    }

    pub(super) fn move_price(&mut self, coin: &'static str, factor: Decimal, dice: &mut Dice) {
        let mid = (self.books.mid(coin) * factor).round_dp(2).clamp(dec!(20), dec!(20_000));
        self.books.mids.insert(coin.to_owned(), mid);
        let of_coin = |order: &&OpenOrder| order.coin == coin;
        let fired: Vec<u64> = self
            .books
            .orders
            .values()
            .filter(of_coin)
            .filter(|order| is_met(order, mid))
            .map(|order| order.oid)
            .collect();
        fired.into_iter().for_each(|oid| self.fire(coin, oid, mid, dice));
        let crossed: Vec<u64> = self
            .books
            .orders
            .values()
            .filter(of_coin)
            .filter(|order| crosses(order, mid))
            .map(|order| order.oid)
            .collect();
        crossed.into_iter().for_each(|oid| self.fill(coin, oid, dice));
        if self.books.equity() < self.books.maintenance() {
            for coin in COINS {
                self.trade_to(coin, Decimal::ZERO);
            }
        }
    }

    pub(super) fn trade_to(&mut self, coin: &'static str, size: Decimal) {
        let more = size - self.books.held(coin);
        if !more.is_zero() {
            self.trade(coin, more);
        }
    }

    /// A stop's trigger is met: it fills at once, in part where the book is thin, and not at all beyond its limit.
    fn fire(&mut self, coin: &'static str, oid: u64, mid: Decimal, dice: &mut Dice) {
        let Some(order) = self.books.orders.remove(&oid) else { return };
        let is_buy = order.side == Side::Buy;
        let is_within = if is_buy { mid <= order.limit_px } else { mid >= order.limit_px };
        let size = if dice.one_in(8) { half(order.sz) } else { order.sz };
        if !is_within || self.reduce(coin, is_buy, size).is_zero() {
            self.vanished.insert(coin, self.books.at_ms);
        }
    }

    /// A resting entry is met, in part at times; its stops come alive with the last part.
    fn fill(&mut self, coin: &'static str, oid: u64, dice: &mut Dice) {
        let Some(mut order) = self.books.orders.remove(&oid) else { return };
        let size = if dice.one_in(3) { half(order.sz) } else { order.sz };
        let signed = if order.side == Side::Buy { size } else { -size };
        if order.reduce_only {
            self.reduce(coin, order.side == Side::Buy, size);
        } else {
            self.trade(coin, signed);
        }
        if size < order.sz {
            order.sz -= size;
            self.books.orders.insert(oid, order);
        } else {
            self.books.orders.extend(order.children.into_iter().map(|child| (child.oid, child)));
        }
    }

    fn open(&mut self, order: &Order) -> OpenOrder {
        self.next_oid += 1;
        let side = if order.is_buy { "B" } else { "A" };
        let px = order.market_stop_px().unwrap_or(order.limit_px).to_string();
        let make = if order.is_trigger() { open_stop } else { open };
        let made = make(coin_of(order.asset), side, &px, &order.size.to_string(), self.next_oid);
        OpenOrder { cloid: order.cloid, reduce_only: order.reduce_only, limit_px: order.limit_px, ..made }
    }

    /// Puts an order into the book as it is.
    pub(super) fn rest(&mut self, order: &Order) -> u64 {
        let open = self.open(order);
        let oid = open.oid;
        self.books.orders.insert(oid, open);
        oid
    }

    fn place(&mut self, order: &Order, dice: &mut Dice) -> Value {
        let (coin, mid) = (coin_of(order.asset), self.books.mid(coin_of(order.asset)));
        let held = self.books.held(coin);
        let reduces = if order.is_buy { held < Decimal::ZERO } else { held > Decimal::ZERO };
        if order.reduce_only && !reduces {
            return json!({"error": "Reduce only order would increase position."});
        }
        if let Some(trigger_px) = order.market_stop_px() {
            let is_met = if order.is_buy { mid >= trigger_px } else { mid <= trigger_px };
            if is_met || dice.one_in(30) {
                return json!({"error": "Invalid TP/SL price."});
            }
            return json!({"resting": {"oid": self.rest(order)}});
        }
        let crossing = if order.is_buy { order.limit_px >= mid } else { order.limit_px <= mid };
        let is_immediate = matches!(order.kind, OrderKind::Limit(tif) if tif.is_immediate());
        if is_immediate && (!crossing || dice.one_in(8)) {
            return json!({"error": "Order could not immediately match against any resting orders."});
        }
        if crossing {
            // At times the book is thin.
            let size = if is_immediate && dice.one_in(6) { half(order.size) } else { order.size };
            let filled = if order.reduce_only { self.reduce(coin, order.is_buy, size) } else { size };
            if !order.reduce_only {
                self.trade(coin, if order.is_buy { size } else { -size });
            }
            self.next_oid += 1;
            let (filled, mid) = (filled.to_string(), mid.to_string());
            return json!({"filled": {"totalSz": filled, "avgPx": mid, "oid": self.next_oid}});
        }
        json!({"resting": {"oid": self.rest(order)}})
    }

    fn cancel(&mut self, oid: u64) -> Value {
        match self.books.orders.remove(&oid) {
            Some(_) => json!("success"),
            None => json!({"error": "Order was never placed, already canceled, or filled."}),
        }
    }

    /// Takes a signed action, unless its nonce was used or its time is over.
    pub(super) fn take(&mut self, send: &SendAction, dice: &mut Dice) -> Value {
        if !self.nonces.insert(send.terms.nonce) {
            return refusal("Invalid nonce: duplicate nonce");
        }
        if send.terms.expires_after_ms.is_some_and(|expiry| self.books.at_ms > expiry) {
            return refusal("Action expired");
        }
        let action = Action::parse(&send.action).expect("the guard sends what can be read");
        self.taken.extend(action.orders().filter_map(|order| order.cloid));
        match &action {
            Action::Order(orders) if orders.grouping == Grouping::NormalTpsl => {
                self.place_with_child(&orders.orders, dice)
            }
            Action::Order(orders) => statuses(orders.orders.iter().map(|order| self.place(order, dice)).collect()),
            Action::Modify { modify, .. } => {
                if let Target::Oid(oid) = modify.target {
                    self.cancel(oid);
                }
                statuses(json!([self.place(&modify.order, dice)]))
            }
            Action::Cancel { cancels, .. } => statuses(cancels.iter().map(|one| self.cancel(one.oid)).collect()),
            Action::CancelByCloid { cancels, .. } => {
                let oid_of = |orders: &BTreeMap<u64, OpenOrder>, cloid: Cloid| {
                    orders.values().find(|order| order.cloid == Some(cloid)).map(|order| order.oid)
                };
                let done = cancels.iter().map(|one| {
                    let oid = oid_of(&self.books.orders, one.cloid).unwrap_or_default();
                    self.cancel(oid)
                });
                statuses(done.collect())
            }
            _ => done(),
        }
    }

    fn place_with_child(&mut self, orders: &[Order], dice: &mut Dice) -> Value {
        let (parent, child) = (&orders[0], self.open(&orders[1]));
        let status = self.place(parent, dice);
        if let Some(oid) = status.pointer("/resting/oid").and_then(Value::as_u64) {
            self.books.orders.get_mut(&oid).unwrap().children.push(child);
            return statuses(json!([status, "waitingForFill"]));
        }
        // A parent that filled in part leaves no stop behind.
        let filled = status.pointer("/filled/totalSz").and_then(Value::as_str).map(str::parse::<Decimal>);
        if filled == Some(Ok(parent.size)) {
            self.books.orders.insert(child.oid, child);
            return statuses(json!([status, "waitingForTrigger"]));
        }
        statuses(json!([status, "waitingForFill"]))
    }

    /// The answer to a question after an order's status.
    pub(super) fn order_status(&self, cloid: Cloid) -> Value {
        json!({"status": if self.taken.contains(&cloid) { "order" } else { "unknownOid" }})
    }

    /// Money comes in (or goes out); the ledger shows it `late_ms` later.
    pub(super) fn flow(&mut self, usd: Decimal, late_ms: u64) {
        let now = self.books.at_ms;
        let share_px = self.books.share_px();
        if share_px <= Decimal::ZERO {
            return;
        }
        self.books.shares += usd / share_px;
        self.books.cash += usd;
        self.books.flows += usd;
        let delta = if usd < Decimal::ZERO {
            json!({"type": "withdraw", "usdc": (-usd).to_string(), "fee": "0.0", "nonce": 1})
        } else {
            json!({"type": "deposit", "usdc": usd.to_string()})
        };
        let hash = format!("0x{:x}", self.ledger.len());
        self.ledger.push((now + late_ms, now, json!({"time": now, "hash": hash, "delta": delta})));
    }
}

fn half(size: Decimal) -> Decimal {
    let half = (size / dec!(2)).round_dp(2);
    if half.is_zero() { size } else { half }
}

pub(super) fn refusal(text: &str) -> Value {
    json!({"status": "err", "response": text})
}

fn is_met(order: &OpenOrder, mid: Decimal) -> bool {
    let met = if order.side == Side::Buy { mid >= order.trigger_px } else { mid <= order.trigger_px };
    order.is_trigger && met
}

fn crosses(order: &OpenOrder, mid: Decimal) -> bool {
    !order.is_trigger && if order.side == Side::Buy { order.limit_px >= mid } else { order.limit_px <= mid }
}
