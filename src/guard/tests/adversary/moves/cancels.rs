//! Cancels: of what rests, of what is only guessed, by either id, and of everything.

use serde_json::{Value, json};

use super::super::super::fixture::*;
use super::super::super::simulation::books::asset_of;
use super::World;
use crate::venue::info::OpenOrder;

impl World {
    /// Cancels one of those that rest, the guard's own among them.
    pub(super) fn ask_cancel(&mut self, is_meant: fn(&OpenOrder) -> bool) {
        let oids: Vec<u64> =
            self.venue.books.orders.values().filter(|order| is_meant(order)).map(|one| one.oid).collect();
        if oids.is_empty() {
            return;
        }
        let oid = self.dice.pick(&oids);
        let coin =
            self.venue.books.orders.get(&oid).map_or("ETH", |order| if order.coin == "ETH" { "ETH" } else { "SOL" });
        self.post(&json!({"type": "cancel", "cancels": [cancel(coin, oid)]}));
    }

    /// Cancels children that wait for their entries, most of them.
    pub(super) fn ask_cancel_children(&mut self) {
        let resting = self.venue.books.orders.values();
        let children = resting.flat_map(|order| order.children.iter().map(|child| (order.coin == "ETH", child.oid)));
        let all: Vec<(bool, u64)> = children.collect();
        let named = all.into_iter().filter(|_| !self.dice.one_in(4));
        let cancels: Vec<Value> = named.map(|(is_eth, oid)| cancel(if is_eth { "ETH" } else { "SOL" }, oid)).collect();
        if !cancels.is_empty() {
            self.post(&json!({"type": "cancel", "cancels": cancels}));
        }
    }

    /// Cancels what no read has shown: the ids are counted up by the venue.
    pub(super) fn ask_cancel_guess(&mut self, coin: &'static str) {
        let last = self.venue.next_oid;
        let back = self.dice.roll(4);
        self.post(&json!({"type": "cancel", "cancels": [cancel(coin, last + 1 - back)]}));
    }

    pub(super) fn ask_cancel_by_cloid(&mut self, coin: &'static str) {
        let number = u8::try_from(1 + self.dice.roll(12)).unwrap_or(1);
        self.post(&json!({"type": "cancelByCloid", "cancels": [{"asset": asset_of(coin), "cloid": cloid(number)}]}));
    }

    pub(super) fn ask_cancel_all(&mut self) {
        let all = self.venue.books.orders.values();
        let cancels: Vec<Value> =
            all.map(|order| cancel(if order.coin == "ETH" { "ETH" } else { "SOL" }, order.oid)).collect();
        if !cancels.is_empty() {
            self.post(&json!({"type": "cancel", "cancels": cancels}));
        }
    }
}

pub(super) fn cancel(coin: &str, oid: u64) -> Value {
    json!({"a": asset_of(coin), "o": oid})
}
