//! A guard with a few markets, an account of 10000 USDC and one client, and helpers to ask it things.

use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

pub(super) use super::wire::*;
use crate::base::address::Address;
use crate::guard::effects::SendAction;
use crate::guard::{Command, Config, Effects, Guard, Input, Mode, Read, Request, RequestBody, SendOutcome, Via};
use crate::record::event::Event;
use crate::record::risk_record::RiskRecord;
use crate::rules::Rules;
use crate::venue::envelope::Envelope;
use crate::venue::info::{ClearinghouseState, Leverage, MarginMode, OpenOrder};
use crate::venue::market::{Market, Universe};
use crate::venue::signing::Source;

pub(super) const NOW: u64 = 1_800_000_000_000;
pub(super) const CLIENT: Address = Address([0xc1; 20]);
pub(super) const ACCOUNT: Address = Address([0xac; 20]);
pub(super) const PLENTY: u64 = 1_000_000; // requests left at the venue
pub(super) const BTC: u32 = 0;
pub(super) const ETH: u32 = 1;
pub(super) const SOL: u32 = 2;
pub(super) const OLD: u32 = 3; // delisted
/// Takes isolated margin only.
pub(super) const ISO: u32 = 4;
/// Listed, without a mid.
pub(super) const BARE: u32 = 5;
/// One more than the markets listed.
pub(super) const UNLISTED: u32 = 6;

/// The guard under test with the venue as it was last shown to it.
pub(super) struct Desk {
    pub(super) guard: Guard,
    pub(super) now: u64,
    pub(super) equity: Decimal,
    pub(super) mids: BTreeMap<String, Decimal>,
    /// Signed size by coin.
    pub(super) positions: BTreeMap<&'static str, Decimal>,
    /// What each position has won or lost.
    pub(super) unrealized: Decimal,
    pub(super) orders: Vec<OpenOrder>,
    nonce: u64,
    request: u64,
}

/// What came of one request.
#[derive(Debug)]
pub(super) struct Decided {
    pub(super) event: Value,
    pub(super) effects: Effects,
}

pub(super) fn config(mode: Mode, rules: Rules) -> Config {
    Config {
        mode,
        account: ACCOUNT,
        account_network: if mode == Mode::Testnet { Source::Testnet } else { Source::Mainnet },
        api_wallet: (mode != Mode::Paper).then_some(Address([0xa9; 20])),
        clients: BTreeSet::from([CLIENT]),
        require_network: false,
        rules,
        equity_cap: None,
        account_max_age_ms: 5_000,
        prices_max_age_ms: 5_000,
        marks_max_age_ms: 30_000,
        orders_max_age_ms: 15_000,
        feed: false,
        weight_per_minute: 1_200,
        kill_file: "/home/owner/kill".to_owned(),
        life: String::new(),
        venue_url: "http://127.0.0.1:1".to_owned(),
    }
}

pub(super) fn universe() -> Universe {
    let market = |(asset, coin, size_decimals, max_leverage): (u32, &str, u32, u32)| Market {
        asset,
        coin: coin.to_owned(),
        size_decimals,
        max_leverage,
        is_delisted: asset == OLD,
        only_isolated: asset == ISO,
    };
    let markets = [(BTC, "BTC", 5, 40), (ETH, "ETH", 4, 25), (SOL, "SOL", 2, 20), (OLD, "OLD", 1, 10)];
    Universe::new(markets.into_iter().chain([(ISO, "ISO", 0, 10), (BARE, "BARE", 1, 10)]).map(market).collect())
}

/// Rules so wide that nothing but what a test narrows is reached.
pub(super) fn wide() -> Rules {
    Rules {
        loss_per_trade: dec!(100),
        open_risk: dec!(100),
        position: dec!(10000),
        exposure: dec!(10000),
        orders_per_minute: 1200,
        open_orders: 1000,
        duplicate_window: dec!(0),
        ..Rules::default()
    }
}

impl Desk {
    pub(super) fn new(mode: Mode, rules: Rules) -> Self {
        Self::of(config(mode, rules))
    }

    /// A testnet guard under the default rules.
    pub(super) fn live() -> Self {
        Self::new(Mode::Testnet, Rules::default())
    }

    pub(super) fn paper() -> Self {
        Self::new(Mode::Paper, Rules::default())
    }

    /// A guard that has read everything.
    pub(super) fn of(config: Config) -> Self {
        Self::with(Guard::new(config, 0), NOW)
    }

    /// This guard, not started yet, once it has read everything.
    pub(super) fn with(guard: Guard, now: u64) -> Self {
        let mut desk = Self::begin(guard, now);
        desk.read_surely();
        for asset in [BTC, ETH, SOL, ISO] {
            let mode = if asset == ISO { MarginMode::Isolated } else { MarginMode::Cross };
            desk.leverage(asset, Some(Leverage { mode, value: 5 }));
        }
        desk
    }

    pub(super) fn blank(config: Config) -> Self {
        Self::begin(Guard::new(config, 0), NOW)
    }

    pub(super) fn begin(guard: Guard, now: u64) -> Self {
        let mids = [("BTC", dec!(60000)), ("ETH", dec!(2000)), ("SOL", dec!(100)), ("ISO", dec!(0.5))];
        let mut desk = Self {
            guard,
            now,
            equity: dec!(10000),
            mids: mids.into_iter().map(|(coin, mid)| (coin.to_owned(), mid)).collect(),
            positions: BTreeMap::new(),
            unrealized: Decimal::ZERO,
            orders: Vec::new(),
            nonce: now,
            request: 0,
        };
        desk.guard.start(now);
        desk.step(Input::Universe(universe()));
        desk.step(Input::ActsFor(None));
        desk.step(Input::RequestsLeft(PLENTY));
        desk
    }

    pub(super) fn step(&mut self, input: Input) -> Effects {
        self.guard.step(input, self.now)
    }

    /// Lets `ms` pass and reads everything again.
    pub(super) fn wait(&mut self, ms: u64) {
        self.now += ms;
        self.read();
    }

    /// Reads prices, account and orders, begun now.
    pub(super) fn read(&mut self) {
        self.read_mids(self.now);
        self.read_account(self.now);
        self.read_orders(self.now);
    }

    pub(super) fn read_mids(&mut self, begun_ms: u64) -> Effects {
        let mids = self.mids.clone();
        self.guard.view.set_marks(&mids, begun_ms);
        self.step(Input::Mids { mids, begun_ms })
    }

    pub(super) fn read_account(&mut self, begun_ms: u64) -> Effects {
        let (state, equity) = (self.state(begun_ms), self.equity);
        self.step(Input::Account { state, equity, begun_ms })
    }

    pub(super) fn read_orders(&mut self, begun_ms: u64) -> Effects {
        let orders = self.orders.clone();
        self.step(Input::Orders { orders, begun_ms })
    }

    pub(super) fn state(&self, time: u64) -> ClearinghouseState {
        let positions: Vec<Value> = self
            .positions
            .iter()
            .map(|(coin, szi)| {
                let value = self.mids.get(*coin).copied().unwrap_or(dec!(1)) * szi.abs();
                json!({"position": {
                    "coin": coin, "szi": szi, "leverage": {"type": "cross", "value": 5}, "entryPx": null,
                    "positionValue": value, "unrealizedPnl": self.unrealized, "liquidationPx": null, "marginUsed": "0",
                }})
            })
            .collect();
        serde_json::from_value(json!({
            "marginSummary": {"accountValue": self.equity}, "crossMaintenanceMarginUsed": "0",
            "assetPositions": positions, "time": time,
        }))
        .unwrap()
    }

    pub(super) fn leverage(&mut self, asset: u32, leverage: Option<Leverage>) -> Effects {
        self.step(Input::Leverage { asset, leverage })
    }

    /// Holds `szi` of `coin` and lets the guard see it.
    pub(super) fn hold(&mut self, coin: &'static str, szi: Decimal) {
        self.positions.insert(coin, szi);
        self.read_account(self.now);
    }

    /// Shows the guard these open orders.
    pub(super) fn show(&mut self, orders: Vec<OpenOrder>) {
        self.orders = orders;
        self.read_orders(self.now);
    }

    /// Posts an action; the decision must be taken at once.
    pub(super) fn ask(&mut self, action: Value) -> Decided {
        let effects = self.post(action);
        Decided::of(effects)
    }

    pub(super) fn post(&mut self, action: Value) -> Effects {
        self.nonce += 1;
        let nonce = self.nonce;
        self.post_body(json!({"action": action, "nonce": nonce, "signature": {"r": "0x1", "s": "0x1", "v": 27}}))
    }

    pub(super) fn post_body(&mut self, body: Value) -> Effects {
        self.post_signed(body, Source::Testnet)
    }

    pub(super) fn post_signed(&mut self, body: Value, signed_as: Source) -> Effects {
        let envelope = Box::new(Envelope::parse(body.to_string().as_bytes()).unwrap());
        self.post_as(RequestBody::Signed { envelope, client: CLIENT, signed_as })
    }

    pub(super) fn post_as(&mut self, body: RequestBody) -> Effects {
        self.request += 1;
        let id = self.request;
        self.step(Input::Request(Request { id, via: Via::Http, body }))
    }

    pub(super) fn orders(&mut self, orders: Vec<Value>) -> Decided {
        self.ask(place(orders))
    }

    pub(super) fn order(&mut self, order: Value) -> Decided {
        self.orders(vec![order])
    }

    /// The venue answers the action `index` of `intent`.
    pub(super) fn answer(&mut self, intent: u64, index: usize, reply: Value) -> Effects {
        self.step(Input::Sent { intent, index, outcome: SendOutcome::Answered(reply) })
    }
}

impl Decided {
    pub(super) fn of(effects: Effects) -> Self {
        let event = events(&effects).into_iter().find(|event| event["kind"] == "decision");
        Self { event: event.unwrap_or_else(|| panic!("no decision in {effects:?}")), effects }
    }

    pub(super) fn verdict(&self) -> &str {
        self.event["verdict"].as_str().unwrap()
    }

    pub(super) fn code(&self) -> &str {
        self.event["code"].as_str().unwrap()
    }

    pub(super) fn text(&self) -> &str {
        self.event["text"].as_str().unwrap()
    }

    pub(super) fn seq(&self) -> u64 {
        self.event["seq"].as_u64().unwrap()
    }

    pub(super) fn forward(&self) -> &Value {
        &self.event["forward"]
    }

    /// The order at `place` of what is forwarded.
    pub(super) fn sent_order(&self, place: usize) -> &Value {
        &self.event["forward"]["orders"][place]
    }

    /// Every action in the order that they are sent.
    pub(super) fn actions(&self) -> Vec<Value> {
        let list = |key: &str| self.event[key].as_array().unwrap().clone();
        [list("pre"), vec![self.event["forward"].clone()], list("post")].concat()
    }

    /// The order at `place` of the request as it is sent, in whichever part of it.
    pub(super) fn asked_order(&self, place: usize) -> Value {
        let Some(parts) = self.event["parts"].as_array() else { return self.sent_order(place).clone() };
        for part in parts {
            let held = part["places"].as_array().unwrap().iter().position(|held| *held == json!(place));
            if let Some(slot) = held {
                let action = &self.actions()[usize::try_from(part["index"].as_u64().unwrap()).unwrap()];
                let modified = action["modifies"].get(slot).map(|modify| modify["order"].clone());
                return modified.unwrap_or_else(|| action["orders"][slot].clone());
            }
        }
        panic!("nothing of order {place} in {}", self.event)
    }

    /// The reply, where one was given at once.
    pub(super) fn reply(&self) -> Value {
        answers(&self.effects).pop().unwrap_or_else(|| panic!("no answer in {:?}", self.effects))
    }

    pub(super) fn is(&self, verdict: &str, code: &str) -> &Self {
        assert_eq!((self.verdict(), self.code()), (verdict, code), "{}", self.event);
        self
    }

    pub(super) fn vetoed(&self, code: &str) -> &Self {
        self.is("veto", code)
    }

    pub(super) fn allowed(&self) -> &Self {
        self.is("allow", "allowed")
    }

    pub(super) fn resized(&self) -> &Self {
        self.is("resize", "resized")
    }

    pub(super) fn reduces(&self) -> &Self {
        self.is("allow", "reduces")
    }

    /// The text holds every one of these.
    pub(super) fn says(&self, parts: &[&str]) -> &Self {
        parts.iter().for_each(|part| assert!(self.text().contains(part), "{part:?} is not in {:?}", self.text()));
        self
    }
}

/// The events among the effects.
pub(super) fn events(effects: &Effects) -> Vec<Value> {
    effects.records.iter().map(|record| serde_json::from_str(&record.text).unwrap()).collect()
}

fn deeds(effects: &Effects) -> impl Iterator<Item = &Command> {
    effects.immediate.iter().chain(&effects.after_commit)
}

pub(super) fn answers(effects: &Effects) -> Vec<Value> {
    deeds(effects)
        .filter_map(|deed| match deed {
            Command::Answer(answer) => Some(serde_json::from_str(&answer.body).unwrap()),
            _ => None,
        })
        .collect()
}

pub(super) fn sends(effects: &Effects) -> Vec<&SendAction> {
    deeds(effects).filter_map(|deed| if let Command::Send(send) = deed { Some(send) } else { None }).collect()
}

pub(super) fn reads(effects: &Effects) -> Vec<&Read> {
    deeds(effects).filter_map(|deed| if let Command::Read(read) = deed { Some(read) } else { None }).collect()
}

/// What the guard takes and gives as JSON, as the journal and the API carry it.
impl Guard {
    pub(super) fn status_json(&self, now_ms: u64, weight: (u32, u32)) -> Value {
        json!(self.status(now_ms, weight))
    }

    pub(super) fn restore_json(&mut self, event: &Value) {
        self.restore(Event::of(event).unwrap());
    }

    pub(super) fn restore_risk_json(&mut self, record: &Value) {
        self.restore_risk(RiskRecord::parse(&record.to_string()).unwrap());
    }

    pub(super) fn restore_checkpoint_json(&mut self, record: &Value) {
        let Some(RiskRecord::Checkpoint(checkpoint)) = RiskRecord::parse(&record.to_string()) else {
            panic!("{record}")
        };
        self.restore_checkpoint(*checkpoint);
    }
}
