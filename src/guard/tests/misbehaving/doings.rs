//! Doings of others: prices, trades by hand, a client, flows and lending, the account's mode, markets, TWAP orders.

use rust_decimal::{Decimal, dec};
use serde_json::json;

use super::super::fixture::*;
use super::super::simulation::books::asset_of;
use super::trouble::On;
use super::world::{Twap, World};
use crate::venue::info::AccountMode;
use crate::venue::market::{Market, Universe};

const MODE_MS: u64 = 10_000;
/// The ledger is relied on two seconds after the read of the account that shows a flow.
const RELIED_ON_MS: u64 = 3_000;
const SLICE_MS: u64 = 2_000;
/// A change of the mode is read within. What flows between a loss and the first read after the change that follows it, nobody can tell
/// from the loss.
const TOLD_MS: u64 = 1_500;
/// A market leaps so far against who loses in it.
const LEAP: Decimal = dec!(0.03);

impl World {
    pub(super) fn happen(&mut self) {
        let coin = if self.listing.0 && self.dice.one_in(2) { "SOL" } else { "ETH" };
        if self.dice.one_in(3) {
            let factor = self.dice.factor(5);
            self.venue.move_price(coin, factor, &mut self.dice);
        }
        if self.mode_due_ms <= self.now {
            self.mode_due_ms = u64::MAX;
            self.change_mode();
        }
        self.lose();
        match self.dice.roll(120) {
            0..=2 => self.trade_by_hand(coin),
            3 | 4 => self.ask(coin),
            5 => self.flow(),
            6 => self.ledger_entry(),
            7 if self.dice.one_in(2) => self.change_mode(),
            8 if self.dice.one_in(2) => self.gap(coin),
            9 if self.dice.one_in(3) => self.begin_twap(),
            12 if self.dice.one_in(8) => self.open_loser(),
            10 => self.listing = (true, self.listing.0 && self.dice.one_in(4)),
            11 => self.cancel_by_hand(),
            _ => {}
        }
    }

    /// What may end in a halt happens in the quiet steps of a game.
    pub(super) fn upset(&mut self) {
        let coin = if self.listing.0 && self.dice.one_in(2) { "SOL" } else { "ETH" };
        self.lose();
        match self.dice.roll(3_000) {
            0..=5 => self.open_loser(),
            6..=8 => self.gap(coin),
            9..=13 => self.flow(),
            14 | 15 => self.begin_twap(),
            _ => {}
        }
    }

    fn note(&mut self, text: String) {
        self.checks.note(self.now, || text);
    }

    fn trade_by_hand(&mut self, coin: &'static str) {
        let size = Decimal::from(1 + self.dice.roll(10)) * if coin == "ETH" { dec!(0.1) } else { dec!(2) };
        let size = if self.dice.one_in(2) { size } else { -size };
        self.note(format!("by hand: {size} {coin}"));
        self.venue.trade(coin, size);
    }

    fn cancel_by_hand(&mut self) {
        let oid = self.venue.books.orders.keys().next().copied();
        if let Some(order) = oid.and_then(|oid| self.venue.books.orders.remove(&oid)) {
            self.checks.vanished(self.now);
            self.note(format!("by hand: {} in {} is cancelled", order.oid, order.coin));
        }
    }

    fn ask(&mut self, coin: &'static str) {
        let px = (self.venue.books.mid(coin) * self.dice.factor(10)).round_dp(1).to_string();
        let size = if coin == "ETH" { "0.1" } else { "2" };
        let order = if self.dice.one_in(2) { buy(asset_of(coin), &px, size) } else { sell(asset_of(coin), &px, size) };
        let order = if self.dice.one_in(2) { with(order, "/t/limit/tif", json!("Ioc")) } else { order };
        self.post(&place(vec![order]));
    }

    fn flow(&mut self) {
        let usd = Decimal::from(500 + self.dice.roll(3_000));
        // No venue lets more out than is there.
        let free = (self.venue.books.equity() / dec!(2)).max(Decimal::ZERO).trunc();
        let usd = if self.dice.one_in(2) { usd } else { -usd.min(free) };
        if usd.is_zero() || self.now < self.flows_from_ms {
            return;
        }
        let late_ms = self.dice.roll(1_900);
        self.note(format!("a flow of {usd}, in the ledger {late_ms} ms later"));
        // An answer from sooner may lack what moved beside it, and is asked for once more.
        self.checks.limits.moved(self.now, On::Ledger, self.now + late_ms.max(RELIED_ON_MS));
        self.checks.limits.loss.flowed(usd);
        self.venue.flow(usd, late_ms);
    }

    /// Lending, staking and kinds that nobody knows move no USDC, whatever amount they name.
    fn ledger_entry(&mut self) {
        let delta = self.dice.pick(&[0, 1, 2, 3]);
        let delta = match delta {
            0 => json!({"type": "borrowLend", "token": "HYPE", "operation": "supply", "amount": "9000.0"}),
            1 => json!({"type": "deployGasAuction", "token": "HYPE", "amount": "4000.0"}),
            2 => json!({"type": "activateDexAbstraction", "dex": "", "token": "USDC", "amount": "3000.0"}),
            _ => json!({"type": "neverHeardOf", "token": "PURR", "amount": "7000.0"}),
        };
        self.note(format!("in the ledger: {delta}"));
        let (now, hash) = (self.now, format!("0x{:x}", self.venue.ledger.len()));
        self.venue.ledger.push((now, now, json!({"time": now, "hash": hash, "delta": delta})));
    }

    /// A person does this, and not twice in a moment.
    fn change_mode(&mut self) {
        if self.now < self.mode_set_ms + MODE_MS {
            return;
        }
        self.mode_set_ms = self.now;
        let is_standard = self.mode == AccountMode::Standard;
        self.mode = if is_standard { AccountMode::Unified } else { AccountMode::Standard };
        self.checks.limits.moved(self.now, On::Mode, self.now);
        self.checks.limits.loss.mode_changed();
        self.note(format!("the mode is {:?}", self.mode));
    }

    fn gap(&mut self, coin: &'static str) {
        let factor = self.dice.factor(900);
        self.note(format!("{coin} leaps by {factor}"));
        self.venue.move_price(coin, factor, &mut self.dice);
    }

    /// Somebody opens by hand what is about to lose as much as a day may, or nearly.
    fn open_loser(&mut self) {
        if self.losing.is_some() || !self.checks.limits.loss.is_read() {
            return;
        }
        let (lost, is_long) = (Decimal::from(200 + self.dice.roll(600)), self.dice.one_in(2));
        let size = (lost / self.venue.books.mid("ETH") / LEAP).round_dp(2);
        let (size, factor) = if is_long { (size, dec!(1) - LEAP) } else { (-size, dec!(1) + LEAP) };
        self.note(format!("by hand: {size} ETH, which is about to leap by {factor}"));
        self.venue.trade("ETH", size);
        self.losing = Some((self.now + self.dice.roll(3_000), factor));
    }

    /// The market leaps; half of the time all is closed in the same moment, and at times the mode changes right after.
    fn lose(&mut self) {
        let Some((_, factor)) = self.losing.take_if(|(at_ms, _)| *at_ms <= self.now) else { return };
        self.note(format!("ETH leaps by {factor}"));
        self.venue.move_price("ETH", factor, &mut self.dice);
        if self.dice.one_in(2) {
            self.note("by hand: all ETH is closed".into());
            self.venue.trade_to("ETH", Decimal::ZERO);
        }
        let is_hidden = self.checks.limits.loss.has_read_size(&self.venue.books);
        self.checks.limits.lost_at_once(self.now, is_hidden);
        if self.dice.one_in(4) {
            self.mode_due_ms = self.now + 100 + self.dice.roll(2_000);
            self.flows_from_ms = self.mode_due_ms + TOLD_MS;
        }
    }

    fn begin_twap(&mut self) {
        let slice = if self.dice.one_in(2) { dec!(0.1) } else { dec!(-0.1) };
        let (id, ends_ms) = (self.now % 1_000_000, self.now + 5_000 + self.dice.roll(60_000));
        self.note(format!("elsewhere: TWAP order {id} begins, {slice} ETH a slice"));
        self.twaps.push(Twap { id, slice, next_ms: self.now, ends_ms });
    }

    /// TWAP orders trade on.
    pub(super) fn slice(&mut self) {
        let now = self.now;
        self.twaps.retain(|twap| now < twap.ends_ms);
        let mut sizes = Vec::new();
        for twap in self.twaps.iter_mut().filter(|twap| twap.next_ms <= now) {
            twap.next_ms = now + SLICE_MS;
            sizes.push(twap.slice);
        }
        sizes.into_iter().for_each(|size| self.venue.trade("ETH", size));
    }

    /// They before SOL was listed.
    pub(super) fn unlisted(&self) -> Universe {
        self.listed_as((false, false))
    }

    /// They with two coins in each other's place.
    pub(super) fn swapped(&self) -> Universe {
        let all = self.markets();
        let other = |coin: &str| match coin {
            "ETH" => "BTC".to_owned(),
            "BTC" => "ETH".to_owned(),
            coin => coin.to_owned(),
        };
        Universe::new(all.iter().map(|market| Market { coin: other(&market.coin), ..market.clone() }).collect())
    }

    /// The venue's markets as they are now.
    pub(super) fn markets(&self) -> Universe {
        self.listed_as(self.listing)
    }

    fn listed_as(&self, (is_listed, is_delisted): (bool, bool)) -> Universe {
        let all = universe();
        let markets = all.iter().filter(|market| is_listed || market.asset < SOL).map(|market| Market {
            is_delisted: market.is_delisted || is_delisted && market.coin == "SOL",
            ..market.clone()
        });
        Universe::new(markets.collect())
    }
}
