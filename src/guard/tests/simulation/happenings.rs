//! Doings of others: the market, the owner at the venue's page, a client, and whatever runs the venue and this machine.

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::super::fixture::*;
use super::books::asset_of;
use super::world::World;
use crate::venue::info::OpenOrder;

impl World {
    pub(super) fn happen(&mut self) {
        let coin = if self.dice.one_in(2) { "ETH" } else { "SOL" };
        if self.dice.one_in(4) {
            let factor = self.dice.factor(if self.nature.is_rough { 30 } else { 10 });
            self.venue.move_price(coin, factor, &mut self.dice);
        }
        match self.dice.roll(400) {
            0 => self.trade_by_hand(coin),
            1 => self.cancel_by_hand(),
            2 => self.stop_by_hand(coin),
            3 | 4 => self.ask_entry(coin),
            5 => self.ask_cancel(coin),
            6 => self.flow(),
            7 if self.dice.one_in(6) => self.trouble(),
            8 if self.dice.one_in(4) => self.gap(coin),
            9 if self.nature.has_crashes && self.dice.one_in(4) => self.crash(),
            10 => self.entry_by_hand(coin),
            _ => {}
        }
    }

    /// The price jumps: over stops, and at times over their limits.
    fn gap(&mut self, coin: &'static str) {
        let spread = if self.dice.one_in(4) { 1_600 } else { 400 };
        let factor = self.dice.factor(spread);
        self.checks.note(self.now, format!("{coin} jumps by {factor}"));
        self.venue.move_price(coin, factor, &mut self.dice);
    }

    fn trade_by_hand(&mut self, coin: &'static str) {
        let most = if self.nature.is_rough { 60 } else { 3 };
        let size = Decimal::from(1 + self.dice.roll(most)) * if coin == "ETH" { dec!(0.1) } else { dec!(2) };
        let size = if self.dice.one_in(2) { size } else { -size };
        self.checks.note(self.now, format!("by hand: {size} {coin}"));
        self.venue.trade(coin, size);
    }

    fn cancel_by_hand(&mut self) {
        let count = self.venue.books.orders.len() as u64;
        let which = usize::try_from(self.dice.roll(count)).unwrap_or_default();
        let Some(oid) = self.venue.books.orders.keys().nth(which).copied() else { return };
        let order = self.venue.books.orders.remove(&oid).unwrap();
        self.checks.vanished(if order.coin == "ETH" { "ETH" } else { "SOL" }, self.now);
        self.checks.note(self.now, format!("by hand: cancels {oid}"));
    }

    fn stop_by_hand(&mut self, coin: &'static str) {
        let held = self.venue.books.held(coin);
        if held.is_zero() {
            return;
        }
        let (is_buy, px) = if held > Decimal::ZERO { (false, dec!(0.985)) } else { (true, dec!(1.015)) };
        let px = (self.venue.books.mid(coin) * px).round_dp(1);
        let size = if self.dice.one_in(3) { held.abs() / dec!(2) } else { held.abs() }.round_dp(2);
        let oid = self.venue.rest(&parsed(&stop(asset_of(coin), is_buy, &px.to_string(), &size.to_string())));
        // Stops of the venue's own page reach 10% beyond.
        let beyond = if is_buy { dec!(1.1) } else { dec!(0.9) };
        self.venue.books.orders.get_mut(&oid).unwrap().limit_px = px * beyond;
        self.checks.note(self.now, format!("by hand: a stop for {size} {coin} at {px}"));
    }

    fn entry_by_hand(&mut self, coin: &'static str) {
        let order = self.entry(coin);
        let oid = self.venue.rest(&parsed(&order));
        self.checks.note(self.now, format!("by hand: an entry {oid} in {coin}"));
    }

    fn entry(&mut self, coin: &'static str) -> Value {
        let near = self.dice.factor(10);
        let px = (self.venue.books.mid(coin) * near).round_dp(1).to_string();
        let size = if coin == "ETH" { "0.1" } else { "2" };
        let asset = asset_of(coin);
        let order = if self.dice.one_in(2) { buy(asset, &px, size) } else { sell(asset, &px, size) };
        if self.dice.one_in(3) { with(order, "/t/limit/tif", json!("Ioc")) } else { order }
    }

    fn ask_entry(&mut self, coin: &'static str) {
        let order = self.entry(coin);
        self.post(&place(vec![order]));
    }

    /// A client cancels something that rests, be it a stop that covers.
    fn ask_cancel(&mut self, coin: &'static str) {
        let is_clients = |order: &&OpenOrder| order.coin == coin;
        let Some(order) = self.venue.books.orders.values().find(is_clients) else { return };
        let action = json!({"type": "cancel", "cancels": [{"a": asset_of(coin), "o": order.oid}]});
        self.post(&action);
    }

    /// Money comes in or goes out; the ledger tells a little later.
    fn flow(&mut self) {
        if self.is_away() {
            return;
        }
        let usd = Decimal::from(1 + self.dice.roll(8_000));
        let equity = self.venue.books.equity();
        let usd = if equity > dec!(12_000) { -usd } else { usd };
        let late_ms = self.dice.roll(1_900);
        self.checks.note(self.now, format!("a flow of {usd}, in the ledger {late_ms} ms later"));
        self.venue.flow(usd, late_ms);
    }

    fn trouble(&mut self) {
        match self.dice.roll(6) {
            0 => {
                let longest = if self.dice.one_in(5) { 90_000 } else { 9_000 };
                self.away_until = self.now + 1_000 + self.dice.roll(longest);
                self.checks
                    .note(self.now, format!("the venue is away until +{}", self.checks.since_begin(self.away_until)));
            }
            1 | 2 => {
                self.lags_until = self.now + 500 + self.dice.roll(6_000);
                self.checks.note(self.now, "reads lag".into());
            }
            _ => {
                self.stumbles_until = self.now + 500 + self.dice.roll(4_000);
                self.checks.note(self.now, "the venue stumbles".into());
            }
        }
    }
}

/// An order from its JSON.
fn parsed(order: &Value) -> crate::venue::order::Order {
    let node = crate::venue::json::parse(order.to_string().as_bytes()).unwrap();
    crate::venue::order::Order::parse(&node, "order").unwrap()
}
