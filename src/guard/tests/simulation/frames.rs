//! The frames of the model venue's live feed, as its books change: each trade, what becomes of orders, flows, and states again and again.

use std::collections::BTreeMap;

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::super::fixture::ACCOUNT;
use super::account::account;
use super::books::COINS;
use super::push::{Push, STATES_MS, Sight};
use super::venue::Trade;
use crate::guard::Input;
use crate::guard::feed_news::FeedNews;
use crate::venue::fill::Fill;
use crate::venue::info::AccountMode;
use crate::venue::stream::data::Data;
use crate::venue::stream::frame::Frame;

/// Prices are told so often.
const PRICES_MS: u64 = 500;

impl Push {
    pub(super) fn tell(&mut self, sight: &Sight<'_>) {
        self.tell_fills(sight);
        self.tell_orders(sight);
        self.tell_flows(sight);
        self.tell_states(sight);
    }

    fn data(&mut self, now: u64, data: Data) {
        self.send(now, &FeedNews::Told(Box::new(data)));
    }

    fn frame(&mut self, now: u64, channel: &str, data: &Value) {
        let text = json!({"channel": channel, "data": data}).to_string();
        let Ok(Frame::Data(data)) = Frame::read(&text) else { panic!("no frame: {text}") };
        self.data(now, data);
    }

    fn tell_fills(&mut self, sight: &Sight<'_>) {
        for trade in &sight.trades[self.seen.trades..] {
            let told = fill(trade, self.seen.fills.len() as u64);
            self.seen.fills.push(serde_json::from_value(told.clone()).unwrap());
            self.frame(sight.now, "userFills", &json!({"user": ACCOUNT, "fills": [told.clone()]}));
            self.frame(sight.now, "user", &json!({"fills": [told]}));
        }
        self.seen.trades = sight.trades.len();
    }

    fn tell_orders(&mut self, sight: &Sight<'_>) {
        let orders = &sight.books.orders;
        if orders.keys().eq(&self.seen.orders) {
            return;
        }
        let before = std::mem::replace(&mut self.seen.orders, orders.keys().copied().collect());
        let gone = before.iter().filter(|oid| !orders.contains_key(*oid)).map(|oid| (oid, "canceled"));
        let come = orders.keys().filter(|oid| !before.contains(*oid)).map(|oid| (oid, "open"));
        for (oid, status) in gone.chain(come) {
            let order = orders.get(oid);
            let size = order.map_or(Decimal::ZERO, |order| order.sz);
            let order = json!({"coin": order.map_or("ETH", |order| &order.coin), "side": "B", "limitPx": "1", "sz": size,
                "origSz": size, "oid": oid, "timestamp": sight.now});
            let update = json!([{"order": order, "status": status, "statusTimestamp": sight.now}]);
            self.frame(sight.now, "orderUpdates", &update);
        }
    }

    fn tell_flows(&mut self, sight: &Sight<'_>) {
        let shown = sight.ledger.iter().filter(|(shows_ms, ..)| *shows_ms <= sight.now);
        let shown: Vec<Value> = shown.map(|row| row.2.clone()).collect();
        if shown.len() > self.seen.entries {
            let data = json!({"user": ACCOUNT, "nonFundingLedgerUpdates": &shown[self.seen.entries..]});
            self.frame(sight.now, "userNonFundingLedgerUpdates", &data);
            self.seen.entries = shown.len();
        }
    }

    fn tell_states(&mut self, sight: &Sight<'_>) {
        let (now, books) = (sight.now, sight.books);
        if now.is_multiple_of(PRICES_MS) {
            let marks = COINS.map(|coin| (coin.to_owned(), books.mid(coin))).into();
            let mids = COINS.map(|coin| (coin.to_owned(), books.book(coin))).into();
            self.send(now, &FeedNews::Prices { marks, mids, begun_ms: now });
        }
        if now.is_multiple_of(STATES_MS) {
            if let Input::Account { state, .. } = account(books, now) {
                self.data(now, Data::Account(ACCOUNT, Box::new(state)));
            }
            self.data(now, Data::Mids(books.traded()));
        }
        if (now + 2_000).is_multiple_of(STATES_MS) {
            self.data(now, Data::OpenOrders(ACCOUNT, books.orders.values().cloned().collect()));
            let mode = if sight.mode == AccountMode::Standard { "default" } else { "unifiedAccount" };
            let state = json!({"userState": {"user": ACCOUNT, "serverTime": now, "abstraction": mode}});
            self.frame(now, "webData3", &state);
        }
    }

    /// Tells what never was.
    pub(super) fn make_up(&mut self, sight: &Sight<'_>) {
        let (now, books) = (sight.now, sight.books);
        let coin = self.dice.pick(&COINS);
        let (held, mid) = (books.held(coin), books.mid(coin));
        match self.dice.roll(4) {
            0 => {
                let px = mid * self.dice.pick(&[dec!(0.5), dec!(0.85), dec!(1.15), dec!(2)]);
                let prices: BTreeMap<String, Decimal> = [(coin.to_owned(), px)].into();
                self.send(now, &FeedNews::Prices { marks: prices.clone(), mids: prices, begun_ms: now });
            }
            1 => {
                let more = self.dice.pick(&[dec!(3), dec!(-3), dec!(0.1)]);
                let trade = Trade { coin, before: held, after: held + more, px: mid, oid: 0, cloid: None, at_ms: now };
                let told = fill(&trade, 1_000_000 + now);
                self.frame(now, "userFills", &json!({"user": ACCOUNT, "fills": [told]}));
            }
            2 => {
                let mut other = books.clone();
                other.positions.remove(coin);
                if let Input::Account { state, .. } = account(&other, now) {
                    self.data(now, Data::Account(ACCOUNT, Box::new(state)));
                }
            }
            _ => self.data(now, Data::OpenOrders(ACCOUNT, Vec::new())),
        }
    }
}

/// The fills of these trades since then, as a read shows them.
pub(in crate::guard::tests) fn fills_since(trades: &[Trade], since_ms: u64) -> Vec<Fill> {
    let told = (0..).zip(trades).filter(|(_, trade)| trade.at_ms >= since_ms);
    told.map(|(tid, trade)| serde_json::from_value(fill(trade, tid)).unwrap()).collect()
}

fn fill(trade: &Trade, tid: u64) -> Value {
    let Trade { coin, before, after, px, oid, cloid, at_ms } = trade;
    let size = after - before;
    let side = if size > Decimal::ZERO { "B" } else { "A" };
    json!({"coin": coin, "px": px, "sz": size.abs(), "side": side, "time": at_ms, "startPosition": before, "dir": "",
        "closedPnl": "0.0", "hash": "0x", "oid": oid, "crossed": true, "fee": "0.0", "tid": tid, "feeToken": "USDC", "cloid": cloid})
}
