//! The model venue: one account, two markets, and the truth about both.
//!
//! Orders rest, fill in parts and are cancelled; stops trigger, and a stop whose limit the price has jumped over fills
//! nothing; nonces are used once; what reduces only never opens. No depth, no fees: what comes fills at the mid, and what
//! rests at its own price.

use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::books::{Books, COINS};
use super::dice::Dice;
use crate::base::address::Cloid;
use crate::venue::info::{OpenOrder, Side};

/// How the venue treats orders: once in so many times each, never where it is 0.
#[derive(Debug, Clone, Copy)]
pub(in crate::guard::tests) struct Manners {
    /// Refuses a stop that it could take.
    pub(in crate::guard::tests) refuses_stop: u64,
    /// Nobody stands on the other side of what must fill at once.
    pub(in crate::guard::tests) misses: u64,
    /// The book is thin: what fills at once fills in part.
    pub(in crate::guard::tests) is_thin: u64,
    /// A resting order fills in part.
    pub(in crate::guard::tests) fills_in_part: u64,
    /// A stop fills in part, and the rest of it is gone.
    pub(in crate::guard::tests) cuts_stop: u64,
    /// What reduces only may wait for a trigger without a position.
    pub(in crate::guard::tests) takes_idle_triggers: bool,
    /// As many orders may rest.
    pub(in crate::guard::tests) most_orders: usize,
}

impl Default for Manners {
    fn default() -> Self {
        Self {
            refuses_stop: 30,
            misses: 8,
            is_thin: 6,
            fills_in_part: 3,
            cuts_stop: 8,
            takes_idle_triggers: false,
            most_orders: 1_000,
        }
    }
}

/// A trade: what was held before and after it, at which price, and the order that it was of, which is 0 for one by hand.
#[derive(Debug, Clone, Copy)]
pub(in crate::guard::tests) struct Trade {
    pub(in crate::guard::tests) coin: &'static str,
    pub(in crate::guard::tests) before: Decimal,
    pub(in crate::guard::tests) after: Decimal,
    pub(in crate::guard::tests) px: Decimal,
    pub(in crate::guard::tests) oid: u64,
    pub(in crate::guard::tests) cloid: Option<Cloid>,
    pub(in crate::guard::tests) at_ms: u64,
}

pub(in crate::guard::tests) struct Venue {
    pub(in crate::guard::tests) books: Books,
    pub(in crate::guard::tests) manners: Manners,
    /// Entries with the time from which on a read shows them.
    pub(in crate::guard::tests) ledger: Vec<(u64, u64, Value)>,
    pub(in crate::guard::tests) nonces: BTreeSet<u64>,
    pub(in crate::guard::tests) taken: BTreeSet<Cloid>,
    pub(in crate::guard::tests) next_oid: u64,
    /// What has filled so far, in trades; how many of them were stops.
    pub(in crate::guard::tests) fills: (u64, u64),
    /// What reduces only goes with the position.
    pub(in crate::guard::tests) drops_orphans: bool,
    /// What a trade pays, as a share of its value.
    pub(in crate::guard::tests) fee: Decimal,
    pub(in crate::guard::tests) trades: Vec<Trade>,
    /// The client order ids of all orders that ever were.
    pub(super) named: BTreeMap<u64, Cloid>,
    /// Orders that ended without a trade that the account could show, by coin.
    pub(in crate::guard::tests) vanished: BTreeMap<&'static str, u64>,
    /// What stops that filled in part have left of what they covered, by coin.
    pub(in crate::guard::tests) left_by_stops: BTreeMap<&'static str, Decimal>,
}

impl Venue {
    pub(in crate::guard::tests) fn new(at_ms: u64, drops_orphans: bool) -> Self {
        let mids = [("ETH", dec!(2000)), ("SOL", dec!(100))].into_iter().map(|(coin, mid)| (coin.to_owned(), mid));
        let books = Books {
            at_ms,
            cash: dec!(10_000),
            flows: dec!(10_000),
            shares: dec!(10_000),
            positions: BTreeMap::new(),
            mids: mids.collect(),
            apart: BTreeMap::new(),
            orders: BTreeMap::new(),
        };
        Self {
            books,
            manners: Manners::default(),
            ledger: Vec::new(),
            nonces: BTreeSet::new(),
            taken: BTreeSet::new(),
            next_oid: 1_000,
            fills: (0, 0),
            drops_orphans,
            fee: Decimal::ZERO,
            trades: Vec::new(),
            named: BTreeMap::new(),
            vanished: BTreeMap::new(),
            left_by_stops: BTreeMap::new(),
        }
    }

    /// Trades at the mid.
    pub(in crate::guard::tests) fn trade(&mut self, coin: &'static str, size: Decimal) {
        self.trade_at(coin, size, self.books.book(coin), 0);
    }

    pub(super) fn trade_at(&mut self, coin: &'static str, size: Decimal, px: Decimal, oid: u64) {
        self.fills.0 += 1;
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
        self.books.cash -= paid - kept + (size * px).abs() * self.fee;
        let cloid = self.named.get(&oid).copied();
        self.trades.push(Trade { coin, before: held, after, px, oid, cloid, at_ms: self.books.at_ms });
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
    pub(super) fn reduce(&mut self, coin: &'static str, is_buy: bool, size: Decimal, oid: u64) -> Decimal {
        let px = self.books.book(coin);
        self.reduce_at(coin, is_buy, (size, px), oid)
    }

    fn reduce_at(&mut self, coin: &'static str, is_buy: bool, (size, px): (Decimal, Decimal), oid: u64) -> Decimal {
        let held = self.books.held(coin);
        let size = size.min(if is_buy { -held } else { held }).max(Decimal::ZERO);
        if !size.is_zero() {
            self.trade_at(coin, if is_buy { size } else { -size }, px, oid);
        }
        size
    }

    pub(in crate::guard::tests) fn move_price(&mut self, coin: &'static str, factor: Decimal, dice: &mut Dice) {
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
        fired.into_iter().for_each(|oid| self.fire(coin, oid, dice));
        let book = self.books.book(coin);
        let crossed: Vec<u64> = self
            .books
            .orders
            .values()
            .filter(of_coin)
            .filter(|order| crosses(order, book))
            .map(|order| order.oid)
            .collect();
        crossed.into_iter().for_each(|oid| self.fill(coin, oid, dice));
        if self.books.equity() < self.books.maintenance() {
            for coin in COINS {
                self.trade_to(coin, Decimal::ZERO);
            }
        }
    }

    pub(in crate::guard::tests) fn trade_to(&mut self, coin: &'static str, size: Decimal) {
        let more = size - self.books.held(coin);
        if !more.is_zero() {
            self.trade(coin, more);
        }
    }

    /// A stop's trigger is met: it fills at once, in part where the book is thin, and not at all beyond its limit.
    fn fire(&mut self, coin: &'static str, oid: u64, dice: &mut Dice) {
        let mid = self.books.book(coin);
        let Some(order) = self.books.orders.remove(&oid) else { return };
        let is_buy = order.side == Side::Buy;
        let is_within = if is_buy { mid <= order.limit_px } else { mid >= order.limit_px };
        let held = self.books.held(coin).abs();
        let covered = if order.is_whole() { held } else { order.sz.min(held) };
        let size = if order.is_whole() { held } else { order.sz };
        let size = if dice.chance(self.manners.cuts_stop) { half(size) } else { size };
        self.fills.1 += 1;
        let filled = if is_within { self.reduce(coin, is_buy, size, oid) } else { Decimal::ZERO };
        if filled.is_zero() {
            self.vanished.insert(coin, self.books.at_ms);
        }
        *self.left_by_stops.entry(coin).or_default() += covered - filled;
    }

    /// A resting entry is met, in part at times; its stops come alive with the last part.
    fn fill(&mut self, coin: &'static str, oid: u64, dice: &mut Dice) {
        let Some(mut order) = self.books.orders.remove(&oid) else { return };
        let size = if dice.chance(self.manners.fills_in_part) { half(order.sz) } else { order.sz };
        let signed = if order.side == Side::Buy { size } else { -size };
        if order.reduce_only {
            self.reduce_at(coin, order.side == Side::Buy, (size, order.limit_px), oid);
        } else {
            self.trade_at(coin, signed, order.limit_px, oid);
        }
        if size < order.sz {
            order.sz -= size;
            self.books.orders.insert(oid, order);
        } else {
            self.books.orders.extend(order.children.into_iter().map(|child| (child.oid, child)));
        }
    }

    /// The answer to a question after an order's status.
    pub(in crate::guard::tests) fn order_status(&self, cloid: Cloid) -> Value {
        status_in(&self.books, &self.taken, cloid)
    }

    /// Money comes in (or goes out); the ledger shows it `late_ms` later.
    pub(in crate::guard::tests) fn flow(&mut self, usd: Decimal, late_ms: u64) {
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

/// The status of an order by these books, and what was taken by then.
pub(in crate::guard::tests) fn status_in(books: &Books, taken: &BTreeSet<Cloid>, cloid: Cloid) -> Value {
    let is_open = books.orders.values().any(|order| order.cloid == Some(cloid));
    match taken.contains(&cloid) {
        true => json!({"status": "order", "order": {"status": if is_open { "open" } else { "filled" }}}),
        false => json!({"status": "unknownOid"}),
    }
}

pub(in crate::guard::tests) fn half(size: Decimal) -> Decimal {
    let half = (size / dec!(2)).round_dp(2);
    if half.is_zero() { size } else { half }
}

fn is_met(order: &OpenOrder, mid: Decimal) -> bool {
    let is_profit = order.order_type.starts_with("Take Profit");
    let is_above = (order.side == Side::Buy) != is_profit;
    order.is_trigger && if is_above { mid >= order.trigger_px } else { mid <= order.trigger_px }
}

fn crosses(order: &OpenOrder, mid: Decimal) -> bool {
    !order.is_trigger && if order.side == Side::Buy { order.limit_px >= mid } else { order.limit_px <= mid }
}
