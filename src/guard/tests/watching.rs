//! A seeded simulation: the core against a small venue that answers late, refuses, falls silent and is traded by hand.
//!
//! Whatever the schedule: no position stays bare for longer than the reads and sends take, a fired halt ends flat,
//! nothing is opened in a halted state, and flows neither fire nor hide a halt.

use std::collections::BTreeMap;

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::effect::SendAction;
use crate::guard::{Deed, Effects, Guard, Input, Mode, Read, SendOutcome};
use crate::rules::Rules;
use crate::venue::action::Action;
use crate::venue::info::{AccountMode, OpenOrder, Side, ledger_updates};
use crate::venue::order::Order;

const STEP_MS: u64 = 50;
/// What a stop may take while the venue answers: the account's interval, two reads and two sends, each late.
const BARE_MS: u64 = 4_000;
/// What a flatten may take once the venue answers again: its longest pause so far, and one round.
const FLAT_MS: u64 = 70_000;

/// Numbers from a seed (xorshift).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }

    fn one_in(&mut self, sides: u64) -> bool {
        self.roll(sides) == 0
    }
}

/// The venue's truth.
struct Venue {
    cash: Decimal,
    /// Size and what it cost.
    positions: BTreeMap<&'static str, (Decimal, Decimal)>,
    mids: BTreeMap<String, Decimal>,
    orders: BTreeMap<u64, OpenOrder>,
    ledger: Vec<(u64, Value)>,
    next_oid: u64,
    /// Until then requests may be lost or refused.
    faulty_until: u64,
    /// When somebody else last took an order away: only the next read of the orders can tell.
    cancelled_at: u64,
}

struct World {
    guard: Guard,
    venue: Venue,
    dice: Dice,
    now: u64,
    /// What reaches the guard, and when.
    mail: Vec<(u64, Input)>,
    /// Sends on their way to the venue.
    posts: Vec<(u64, SendAction)>,
    due: BTreeMap<&'static str, u64>,
    bare_since: BTreeMap<&'static str, u64>,
    must_be_flat_since: Option<u64>,
    /// Since when there was a position all the time although there must be none.
    held_since: Option<u64>,
    trace: Vec<String>,
    nonce: u64,
    request: u64,
    protects: usize,
}

fn coin_of(asset: u32) -> &'static str {
    if asset == ETH { "ETH" } else { "SOL" }
}

impl Venue {
    fn mid(&self, coin: &str) -> Decimal {
        self.mids[coin]
    }

    fn equity(&self) -> Decimal {
        let open = self.positions.iter().map(|(coin, (size, cost))| size * self.mid(coin) - cost);
        self.cash + open.sum::<Decimal>()
    }

    fn trade(&mut self, coin: &'static str, size: Decimal, px: Decimal) {
        let (held, cost) = self.positions.remove(coin).unwrap_or_default();
        let (held, cost) = (held + size, cost + size * px);
        if held.is_zero() {
            self.cash -= cost;
        } else {
            self.positions.insert(coin, (held, cost));
        }
    }

    fn held(&self, coin: &str) -> Decimal {
        self.positions.get(coin).map_or(Decimal::ZERO, |(size, _)| *size)
    }

    /// Whether a position lacks cover, judged from the truth.
    fn is_bare(&self, coin: &str) -> bool {
        let held = self.held(coin);
        let stops = self.orders.values().filter(|order| order.coin == coin && order.market_stop_px().is_some());
        let covers = stops.filter(|order| (order.side == Side::Sell) == (held > Decimal::ZERO));
        covers.map(|order| order.sz).sum::<Decimal>() < held.abs()
    }

    fn move_price(&mut self, coin: &'static str, factor: Decimal) {
        let mid = (self.mid(coin) * factor).round_dp(2);
        self.mids.insert(coin.to_owned(), mid);
        let fired: Vec<u64> = self
            .orders
            .values()
            .filter(|order| order.coin == coin && is_met(order, mid))
            .map(|order| order.oid)
            .collect();
        for oid in fired {
            let order = self.orders.remove(&oid).unwrap();
            self.reduce(coin, order.side == Side::Buy, order.sz, mid);
        }
        let entries: Vec<u64> = self
            .orders
            .values()
            .filter(|order| order.coin == coin && crosses(order, mid))
            .map(|order| order.oid)
            .collect();
        for oid in entries {
            let order = self.orders.remove(&oid).unwrap();
            let size = if order.side == Side::Buy { order.sz } else { -order.sz };
            self.trade(coin, size, order.limit_px);
            self.orders.extend(order.children.into_iter().map(|child| (child.oid, child)));
        }
    }

    /// Fills a reduce-only order; how much of it.
    fn reduce(&mut self, coin: &'static str, is_buy: bool, size: Decimal, px: Decimal) -> Decimal {
        let held = self.held(coin);
        let room = if is_buy { -held } else { held }.max(Decimal::ZERO);
        let size = size.min(room);
        if !size.is_zero() {
            self.trade(coin, if is_buy { size } else { -size }, px);
        }
        size
    }

    fn open(&mut self, order: &Order) -> OpenOrder {
        self.next_oid += 1;
        let side = if order.is_buy { "B" } else { "A" };
        let px = order.market_stop_px().unwrap_or(order.limit_px).to_string();
        let make = if order.is_trigger() { open_stop } else { open };
        let made = make(coin_of(order.asset), side, &px, &order.size.to_string(), self.next_oid);
        OpenOrder { cloid: order.cloid, reduce_only: order.reduce_only, ..made }
    }

    fn place(&mut self, order: &Order, luck: u64) -> Value {
        let coin = coin_of(order.asset);
        let mid = self.mid(coin);
        if order.is_trigger() {
            let trigger = order.market_stop_px().unwrap();
            let is_met = if order.is_buy { mid >= trigger } else { mid <= trigger };
            if is_met {
                return json!({"error": "Invalid TP/SL price."});
            }
            let open = self.open(order);
            let oid = open.oid;
            self.orders.insert(oid, open);
            return json!({"resting": {"oid": oid}});
        }
        let crossing = if order.is_buy { order.limit_px >= mid } else { order.limit_px <= mid };
        if order.reduce_only {
            if !crossing || luck == 0 {
                return json!({"error": "Order could not immediately match against any resting orders."});
            }
            // Sometimes the book is thin.
            let wanted = if luck == 1 { (order.size / dec!(2)).round_dp(2) } else { order.size };
            let filled = self.reduce(coin, order.is_buy, wanted, mid);
            if filled.is_zero() {
                return json!({"error": "Reduce only order would increase position."});
            }
            self.next_oid += 1;
            return json!({"filled": {"totalSz": filled.to_string(), "avgPx": mid.to_string(), "oid": self.next_oid}});
        }
        if crossing {
            self.trade(coin, if order.is_buy { order.size } else { -order.size }, mid);
            self.next_oid += 1;
            return json!({"filled": {"totalSz": order.size.to_string(), "avgPx": mid.to_string(), "oid": self.next_oid}});
        }
        let open = self.open(order);
        let oid = open.oid;
        self.orders.insert(oid, open);
        json!({"resting": {"oid": oid}})
    }

    fn act(&mut self, action: &Action, luck: u64) -> Value {
        match action {
            Action::Order(orders) if orders.grouping == crate::venue::action::Grouping::NormalTpsl => {
                let (parent, child) = (&orders.orders[0], &orders.orders[1]);
                let status = self.place(parent, luck);
                let child = self.open(child);
                if let Some(oid) = status.pointer("/resting/oid").and_then(Value::as_u64) {
                    self.orders.get_mut(&oid).unwrap().children.push(child);
                    return statuses(json!([status, "waitingForFill"]));
                }
                if status.get("filled").is_some() {
                    self.orders.insert(child.oid, child);
                }
                statuses(json!([status, "waitingForTrigger"]))
            }
            Action::Order(orders) => statuses(orders.orders.iter().map(|order| self.place(order, luck)).collect()),
            Action::Cancel { cancels, .. } => {
                let mut cancel = |oid: u64| match self.orders.remove(&oid) {
                    Some(_) => json!("success"),
                    None => json!({"error": "Order was never placed, already canceled, or filled."}),
                };
                statuses(cancels.iter().map(|one| cancel(one.oid)).collect())
            }
            Action::CancelByCloid { cancels, .. } => {
                for one in cancels {
                    self.orders.retain(|_, order| order.cloid != Some(one.cloid));
                }
                statuses(cancels.iter().map(|_| json!("success")).collect())
            }
            _ => done(),
        }
    }
}

fn is_met(order: &OpenOrder, mid: Decimal) -> bool {
    let met = if order.side == Side::Buy { mid >= order.trigger_px } else { mid <= order.trigger_px };
    order.is_trigger && met
}

fn crosses(order: &OpenOrder, mid: Decimal) -> bool {
    !order.is_trigger && if order.side == Side::Buy { order.limit_px >= mid } else { order.limit_px <= mid }
}

impl World {
    fn new(seed: u64, rules: Rules) -> Self {
        let desk = Desk::blank(config(Mode::Testnet, rules));
        let mids = [("ETH", dec!(2000)), ("SOL", dec!(100))].into_iter().map(|(coin, mid)| (coin.to_owned(), mid));
        let venue = Venue {
            cash: dec!(10000),
            positions: BTreeMap::new(),
            mids: mids.collect(),
            orders: BTreeMap::new(),
            ledger: Vec::new(),
            next_oid: 1000,
            faulty_until: 0,
            cancelled_at: 0,
        };
        let mut guard = desk.guard;
        guard.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: NOW }, NOW);
        let due = ["mids", "account", "orders"].into_iter().map(|what| (what, NOW)).collect();
        Self {
            guard,
            venue,
            dice: Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            now: NOW,
            mail: Vec::new(),
            posts: Vec::new(),
            due,
            bare_since: BTreeMap::new(),
            must_be_flat_since: None,
            held_since: None,
            trace: Vec::new(),
            nonce: NOW,
            request: 0,
            protects: 0,
        }
    }

    fn fail(&self, what: &str) -> ! {
        let from = self.trace.len().saturating_sub(60);
        panic!("{what} at +{} ms\n{}", self.now - NOW, self.trace[from..].join("\n"));
    }

    fn note(&mut self, text: String) {
        self.trace.push(format!("+{}: {text}", self.now - NOW));
    }

    fn give(&mut self, input: Input) {
        let effects = self.guard.step(input, self.now);
        self.take(effects);
    }

    fn take(&mut self, effects: Effects) {
        for event in events(&effects) {
            self.protects += usize::from(event["kind"] == "protect");
            self.note(event.to_string());
        }
        for deed in effects.at_once.into_iter().chain(effects.after_disk) {
            match deed {
                Deed::Send(send) => {
                    let late = self.dice.roll(200);
                    self.posts.push((self.now + late, send));
                }
                Deed::Read(Read::Account) => self.want("account", 0),
                Deed::Read(Read::OrdersNow) => self.want("orders", 250),
                Deed::Read(Read::Orders) => self.want("orders", 1_600),
                Deed::Read(Read::Ledger { .. }) => self.want("ledger", 0),
                Deed::Read(Read::Mode) => self.want("mode", 0),
                Deed::Read(Read::Leverage { asset, .. }) => {
                    let leverage =
                        crate::venue::info::Leverage { mode: crate::venue::info::MarginMode::Cross, value: 5 };
                    self.mail.push((self.now + 20, Input::Leverage { asset, leverage: Some(leverage) }));
                }
                Deed::Read(Read::OrderStatus { intent, index, cloid }) => {
                    let known = self.venue.orders.values().any(|order| order.cloid == Some(cloid));
                    let status = if known { "order" } else { "unknownOid" };
                    self.mail.push((
                        self.now + 20,
                        Input::OrderStatus { intent, index, cloid, answer: Some(json!({"status": status})) },
                    ));
                }
                _ => {}
            }
        }
    }

    fn want(&mut self, what: &'static str, pause: u64) {
        let at = self.now + self.dice.roll(pause.max(1));
        let due = self.due.entry(what).or_insert(u64::MAX);
        *due = (*due).min(at);
    }

    /// Reads begin, see the truth of some moment, and arrive.
    fn read(&mut self) {
        let due: Vec<&'static str> =
            self.due.iter().filter(|(_, at)| **at <= self.now).map(|(what, _)| *what).collect();
        for what in due {
            let every = match what {
                "orders" => 5_000,
                "ledger" => 60_000,
                "mode" => u64::MAX / 2,
                _ => 1_000,
            };
            self.due.insert(what, self.now + every);
            if self.is_faulty() && self.dice.one_in(3) {
                self.due.insert(what, self.now + 1_000);
                continue;
            }
            let begun_ms = self.now;
            let input = match what {
                "mids" => Input::Mids { mids: self.venue.mids.clone(), begun_ms },
                "account" => self.account(),
                "orders" => Input::Orders { orders: self.venue.orders.values().cloned().collect(), begun_ms },
                "mode" => Input::AccountMode { mode: AccountMode::Standard, begun_ms },
                _ => {
                    let shown =
                        self.venue.ledger.iter().filter(|(at, _)| *at <= self.now).map(|(_, entry)| entry.clone());
                    Input::Ledger { updates: ledger_updates(&shown.collect()).unwrap(), begun_ms }
                }
            };
            let arrives = self.now + self.dice.roll(150);
            self.mail.push((arrives, input));
        }
    }

    fn account(&self) -> Input {
        let positions: Vec<Value> = self
            .venue
            .positions
            .iter()
            .map(|(coin, (size, _))| {
                let value = (self.venue.mid(coin) * size.abs()).to_string();
                json!({"position": {"coin": coin, "szi": size, "leverage": {"type": "cross", "value": 5}, "entryPx": null,
                    "positionValue": value, "unrealizedPnl": "0", "liquidationPx": null, "marginUsed": "0"}})
            })
            .collect();
        let equity = self.venue.equity();
        let state = serde_json::from_value(json!({"marginSummary": {"accountValue": equity},
            "crossMaintenanceMarginUsed": "0", "assetPositions": positions, "time": self.now}))
        .unwrap();
        Input::Account { state, equity, begun_ms: self.now }
    }

    fn is_faulty(&self) -> bool {
        self.now < self.venue.faulty_until
    }

    /// The venue takes what has reached it.
    fn serve(&mut self) {
        let now = self.now;
        let (ready, posts) = std::mem::take(&mut self.posts).into_iter().partition(|(at, _)| *at <= now);
        self.posts = posts;
        let ready: Vec<(u64, SendAction)> = ready;
        for (_, send) in ready {
            let action = Action::parse(&send.action).unwrap();
            if self.must_be_flat_since.is_some_and(|since| since + 500 < now) {
                let opens = action.orders().any(|order| !order.reduce_only);
                if opens {
                    self.fail("an entry went out in a halted state");
                }
            }
            let fault = if self.is_faulty() { self.dice.roll(6) } else { 9 };
            let outcome = match fault {
                0 => SendOutcome::NotSent("429".into()),
                1 => SendOutcome::NoAnswer("lost on the way".into()),
                2 => {
                    self.venue.act(&action, 5);
                    SendOutcome::NoAnswer("lost on the way back".into())
                }
                3 => SendOutcome::Answered(json!({"status": "err", "response": "Too many cumulative requests sent"})),
                _ => {
                    let luck = self.dice.roll(8);
                    SendOutcome::Answered(self.venue.act(&action, luck))
                }
            };
            self.note(format!("{} -> {outcome:?}", send.action.to_json()));
            let late = self.dice.roll(150);
            self.mail.push((now + late, Input::Sent { intent: send.intent, index: send.index, outcome }));
        }
    }

    fn deliver(&mut self) {
        let now = self.now;
        let (mut ready, mail): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.mail).into_iter().partition(|(at, _)| *at <= now);
        self.mail = mail;
        ready.sort_by_key(|(at, _)| *at);
        ready.into_iter().for_each(|(_, input)| self.give(input));
        self.give(Input::Tick);
    }

    /// Somebody else does something: the market, the owner at the venue's page, a client.
    fn happen(&mut self) {
        let coin = if self.dice.one_in(2) { "ETH" } else { "SOL" };
        let factor = Decimal::new(i64::try_from(9_990 + self.dice.roll(21)).unwrap(), 4);
        if self.dice.one_in(4) {
            self.venue.move_price(coin, factor);
        }
        match self.dice.roll(400) {
            0 => {
                let size = Decimal::from(1 + self.dice.roll(3)) * if coin == "ETH" { dec!(0.1) } else { dec!(2) };
                let size = if self.dice.one_in(2) { size } else { -size };
                let mid = self.venue.mid(coin);
                self.venue.trade(coin, size, mid);
                self.note(format!("by hand: {size} {coin}"));
            }
            1 => {
                let oid = self.venue.orders.keys().next().copied();
                oid.map(|oid| self.venue.orders.remove(&oid));
                self.venue.cancelled_at = self.now;
                self.note(format!("by hand: cancels {oid:?}"));
            }
            2 => self.stop_by_hand(coin),
            3 | 4 => self.ask(coin),
            5 if self.dice.one_in(6) => {
                self.venue.faulty_until = self.now + 500 + self.dice.roll(4_000);
                self.note("the venue stumbles".into());
            }
            6 => {
                let usd = Decimal::from(self.dice.roll(8_000));
                let usd = if self.venue.cash > dec!(12_000) { -usd } else { usd };
                self.flow(usd);
            }
            _ => {}
        }
    }

    fn flow(&mut self, usd: Decimal) {
        self.venue.cash += usd;
        let delta = if usd < Decimal::ZERO {
            json!({"type": "withdraw", "usdc": (-usd).to_string(), "fee": "0.0", "nonce": 1})
        } else {
            json!({"type": "deposit", "usdc": usd.to_string()})
        };
        let shown = self.now + self.dice.roll(1_500);
        let hash = format!("0x{shown:x}");
        self.venue.ledger.push((shown, json!({"time": self.now, "hash": hash, "delta": delta})));
        self.note(format!("flow {usd}"));
    }

    fn stop_by_hand(&mut self, coin: &'static str) {
        let held = self.venue.held(coin);
        if held.is_zero() {
            return;
        }
        let (side, px) = if held > Decimal::ZERO { ("A", dec!(0.985)) } else { ("B", dec!(1.015)) };
        let px = (self.venue.mid(coin) * px).round_dp(1).to_string();
        self.venue.next_oid += 1;
        let oid = self.venue.next_oid;
        self.venue.orders.insert(oid, open_stop(coin, side, &px, &held.abs().to_string(), oid));
        self.note(format!("by hand: stop {coin} {px}"));
    }

    fn ask(&mut self, coin: &'static str) {
        let asset = if coin == "ETH" { ETH } else { SOL };
        let near = Decimal::new(i64::try_from(9_990 + self.dice.roll(20)).unwrap(), 4);
        let px = (self.venue.mid(coin) * near).round_dp(1).to_string();
        let size = if coin == "ETH" { "0.1" } else { "2" };
        let order = if self.dice.one_in(2) { buy(asset, &px, size) } else { sell(asset, &px, size) };
        self.nonce = self.now.max(self.nonce + 1);
        self.request += 1;
        let body =
            json!({"action": place(vec![order]), "nonce": self.nonce, "signature": {"r": "0x1", "s": "0x1", "v": 27}});
        let envelope = Box::new(crate::venue::envelope::Envelope::parse(body.to_string().as_bytes()).unwrap());
        let body = crate::guard::RequestBody::Signed {
            envelope,
            client: CLIENT,
            signed_as: crate::venue::signing::Source::Testnet,
        };
        let request = crate::guard::Request { id: self.request, via: crate::guard::Via::Http, body };
        self.give(Input::Request(request));
    }

    fn check(&mut self) {
        let is_halted = self.guard.must_be_flat();
        self.must_be_flat_since = is_halted.then(|| self.must_be_flat_since.unwrap_or(self.now));
        let excused_until = self.venue.faulty_until;
        for coin in ["ETH", "SOL"] {
            if !self.venue.is_bare(coin) || is_halted {
                self.bare_since.remove(coin);
                continue;
            }
            let since = *self.bare_since.entry(coin).or_insert(self.now);
            // The orders are read every five seconds; after a stumble a pause may still run.
            let unseen_until = self.venue.cancelled_at + 5_000;
            let mut limit = since.max(unseen_until.min(since + 5_000)) + BARE_MS;
            if since <= excused_until {
                limit = limit.max(excused_until + BARE_MS + 8_000);
            }
            if self.now > limit {
                self.fail(&format!("{coin} is bare since +{}", since - NOW));
            }
        }
        let is_held = is_halted && !self.venue.positions.is_empty();
        self.held_since = is_held.then(|| self.held_since.unwrap_or(self.now));
        if self.held_since.is_some_and(|since| self.now > since.max(excused_until) + FLAT_MS) {
            self.fail("not flat");
        }
    }

    fn run(&mut self, steps: u64, is_lively: bool) {
        for _ in 0..steps {
            self.now += STEP_MS;
            if is_lively {
                self.happen();
            }
            self.read();
            self.serve();
            self.deliver();
            self.check();
        }
    }
}

fn seeds() -> std::ops::Range<u64> {
    let more = std::env::var("WATCH_SEEDS").ok().and_then(|text| text.parse().ok());
    0..more.unwrap_or(24_u64)
}

/// Limits that prices and flows of this world never reach.
fn calm() -> Rules {
    Rules { daily_loss: dec!(60), drawdown: dec!(60), ..wide() }
}

#[test]
fn no_position_stays_bare_while_the_venue_answers() {
    let mut protects = 0;
    for seed in seeds() {
        let mut world = World::new(seed, calm());
        world.run(6_000, true);
        assert_eq!(world.guard.status(world.now, (0, 0))["risk"]["state"], "active", "seed {seed}: flows fired a halt");
        protects += world.protects;
    }
    assert!(protects > 20, "the world is too quiet to prove anything: {protects}");
}

#[test]
fn a_kill_ends_flat_whatever_else_happens() {
    for seed in seeds() {
        let mut world = World::new(seed, calm());
        world.run(1_500, true);
        world.give(Input::Kill { reason: "test".into(), by: None, write_file: false, request: None });
        world.run(1_500, true);
        // Once everybody leaves it alone it is flat, and bare of orders.
        world.venue.faulty_until = 0;
        world.run(3_000, false);
        assert!(
            world.venue.positions.is_empty() && world.venue.orders.is_empty(),
            "seed {seed}: {:?} {:?}",
            world.venue.positions,
            world.venue.orders
        );
    }
}

#[test]
fn a_loss_halts_also_when_money_comes_in_at_the_same_time() {
    for seed in seeds() {
        let mut world = World::new(seed, Rules { daily_loss: dec!(5), drawdown: dec!(50), ..wide() });
        world.run(100, false);
        let mid = world.venue.mid("ETH");
        world.venue.trade("ETH", dec!(1), mid);
        world.run(100, false);
        assert_eq!(world.guard.status(world.now, (0, 0))["risk"]["state"], "active");
        // As much or more is paid in while it is lost.
        world.venue.cash -= dec!(1000);
        let usd = Decimal::from(300 + world.dice.roll(5_000));
        world.flow(usd);
        world.run(1_400, false);
        assert_eq!(world.guard.status(world.now, (0, 0))["risk"]["state"], "halted_for_day", "seed {seed}");
        world.run(1_500, false);
        assert!(world.venue.positions.is_empty(), "seed {seed}");
    }
}
