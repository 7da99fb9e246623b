//! The exchange itself, pure: no clock, no I/O, no threads. Whoever drives it says what time it is.
//!
//! One account trades against the synthetic book of each market. Amounts reach it bounded (digits are limited where
//! they are parsed), so that plain `Decimal` operators cannot overflow here.

pub(crate) mod account;
mod amend;
pub(crate) mod fill;
mod liquidation;
mod margin;
pub(crate) mod market;
mod matching;
pub(crate) mod news;
pub(crate) mod order;
mod place;
mod reduce;
pub(crate) mod settings;
mod time;
mod trigger;
pub(crate) mod twap;

pub(crate) use amend::{AmendError, OrderRef};
pub(crate) use margin::Summary;

use account::Account;
use fill::{Fill, Funding, LedgerEntry};
use market::Market;
use news::News;
use order::{Order, Record};
use rust_decimal::Decimal;
use serde_json::Value;
use settings::Settings;
use std::collections::{BTreeMap, HashMap, VecDeque};
use svc_guard::venue::signing::Source;
use twap::Twap;

/// Fills, ledger entries and status changes kept, as many as the venue's reads return.
const HISTORY_KEPT: usize = 2_000;
/// Fills kept: more than any answer shows, so that its own record holds them all.
const FILLS_KEPT: usize = 100_000;
/// Orders whose last status is remembered.
const RECORDS_KEPT: usize = 100_000;
/// The first order id handed out; ids on the live venue are of this size.
const FIRST_OID: u64 = 77_738_308;

/// The whole exchange. A clone is a picture of it at that moment.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    pub(crate) now_ms: u64,
    pub(crate) settings: Settings,
    /// By asset id.
    pub(crate) markets: Vec<Market>,
    pub(crate) account: Account,
    /// Live orders by id, which is also the order of time.
    pub(crate) orders: BTreeMap<u64, Order>,
    /// Orders of spot and builder-deployed markets, which are not traded here, as reads show them.
    pub(crate) foreign_orders: Vec<Value>,
    pub(crate) records: BTreeMap<u64, Record>,
    /// The latest order that used a client order id.
    pub(crate) cloids: HashMap<String, u64>,
    /// Every status change, oldest first.
    pub(crate) history: VecDeque<Record>,
    pub(crate) fills: VecDeque<Fill>,
    pub(crate) ledger: VecDeque<LedgerEntry>,
    pub(crate) funding: VecDeque<Funding>,
    pub(crate) twaps: BTreeMap<u64, Twap>,
    /// When all orders are to be cancelled.
    pub(crate) scheduled_cancel_ms: Option<u64>,
    news: VecDeque<News>,
    next_oid: u64,
    next_tid: u64,
    next_twap: u64,
    funded_hour: u64,
}

impl Engine {
    pub(crate) fn new(network: Source, equity: Decimal, now_ms: u64) -> Self {
        Self {
            now_ms,
            settings: Settings::default(),
            markets: market::listings(network),
            account: Account::new(equity),
            orders: BTreeMap::new(),
            foreign_orders: Vec::new(),
            records: BTreeMap::new(),
            cloids: HashMap::new(),
            history: VecDeque::new(),
            fills: VecDeque::new(),
            ledger: VecDeque::new(),
            funding: VecDeque::new(),
            twaps: BTreeMap::new(),
            scheduled_cancel_ms: None,
            news: VecDeque::new(),
            next_oid: FIRST_OID,
            next_tid: 1,
            next_twap: 1,
            funded_hour: time::hour(now_ms),
        }
    }

    pub(crate) fn market(&self, asset: u32) -> Option<&Market> {
        self.markets.get(usize::try_from(asset).ok()?)
    }

    pub(crate) fn market_mut(&mut self, asset: u32) -> Option<&mut Market> {
        self.markets.get_mut(usize::try_from(asset).ok()?)
    }

    /// Lists a perp that was not there before.
    pub(crate) fn list(&mut self, name: &'static str, px: Decimal) {
        self.markets.push(market::new_listing(name, px));
    }

    /// Takes the perp that was listed last off again, if that is it: the others keep their numbers.
    pub(crate) fn unlist(&mut self, name: &str) -> bool {
        self.markets.pop_if(|market| market.name == name).is_some()
    }

    /// The asset id of a coin.
    pub(crate) fn asset(&self, coin: &str) -> Option<u32> {
        self.markets.iter().position(|market| market.name == coin).and_then(|index| u32::try_from(index).ok())
    }

    /// The coin of an asset id; `@<id>` for one that is not listed, as the venue names what has no name.
    pub(crate) fn coin(&self, asset: u32) -> String {
        self.market(asset).map_or_else(|| format!("@{asset}"), |market| market.name.into())
    }

    /// Mark price; zero for what is not listed.
    pub(crate) fn mark(&self, asset: u32) -> Decimal {
        self.market(asset).map_or(Decimal::ZERO, |market| market.mark)
    }

    /// Signed position in base units.
    pub(crate) fn szi(&self, asset: u32) -> Decimal {
        self.account.positions.get(&asset).map_or(Decimal::ZERO, |position| position.szi)
    }

    fn take_oid(&mut self) -> u64 {
        let oid = self.next_oid;
        self.next_oid = oid.saturating_add(1);
        oid
    }

    /// Remembers that `order` now has `status`.
    fn record(&mut self, order: &Order, status: &'static str) {
        let record = Record { order: order.clone(), status, status_ms: self.now_ms };
        if let Some(cloid) = &order.spec.cloid {
            let latest = self.cloids.entry(cloid.clone()).or_insert(order.oid);
            *latest = order.oid.max(*latest);
        }
        self.records.insert(order.oid, record.clone());
        self.tell(News::Order(record.clone()));
        push_bounded(&mut self.history, record, HISTORY_KEPT);
        while self.records.len() > RECORDS_KEPT {
            let Some((oid, gone)) = self.records.pop_first() else { break };
            if let Some(cloid) = gone.order.spec.cloid
                && self.cloids.get(&cloid) == Some(&oid)
            {
                self.cloids.remove(&cloid);
            }
        }
    }

    /// Takes a live order away for `status`, with what hangs on it.
    fn end(&mut self, oid: u64, status: &'static str) -> Option<Order> {
        let order = self.orders.remove(&oid)?;
        self.record(&order, status);
        self.after_parent_ended(oid, status);
        Some(order)
    }

    /// Sets mid and mark and lets everything follow that follows from a price: fills of resting orders, triggers,
    /// liquidation. False when the coin is not listed or the price not positive.
    pub(crate) fn set_price(&mut self, coin: &str, mid: Decimal, mark: Decimal) -> bool {
        let Some(asset) = self.asset(coin) else { return false };
        if mid <= Decimal::ZERO || mark <= Decimal::ZERO {
            return false;
        }
        if let Some(market) = self.market_mut(asset) {
            market.mid = mid;
            market.mark = mark;
        }
        self.fill_crossed(asset);
        self.fire_triggers(asset);
        self.liquidate();
        true
    }
}

/// Appends, forgetting the oldest beyond `kept`.
fn push_bounded<T>(queue: &mut VecDeque<T>, item: T, kept: usize) {
    if queue.len() >= kept {
        queue.pop_front();
    }
    queue.push_back(item);
}
