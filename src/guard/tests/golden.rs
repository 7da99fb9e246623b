//! Golden lines: every event kind, every risk record, the status, the checkpoint and the answers, byte for byte.
//!
//! The files in `tests/data` are what journals and clients have seen so far. A line that changes here is a change of the
//! journal's format or of the API: then the files are changed by hand, on purpose.

use std::collections::BTreeSet;

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::fixture::*;
use super::halting::{DAY_MS, deposit, equity, explain, lose, of, settle};
use crate::base::address::Address;
use crate::guard::state::risk::equity_peaks::EquitySample;
use crate::guard::{Command, Effects, Guard, Input, Mode, RequestBody, SendOutcome};
use crate::record::event::KINDS;
use crate::rules::Rules;
use crate::venue::fill::Fill;
use crate::venue::history::Page;
use crate::venue::info::{AccountMode, OpenOrder};
use crate::venue::stream::events::Funding;

const EVENTS: &str = include_str!("../../../tests/data/golden_events.jsonl");
const RISK_RECORDS: &str = include_str!("../../../tests/data/golden_risk.jsonl");
const STATUS: &str = include_str!("../../../tests/data/golden_status.jsonl");
const ANSWERS: &str = include_str!("../../../tests/data/golden_answers.jsonl");

/// What the scenarios gave, line by line.
#[derive(Default)]
struct Lines {
    events: Vec<String>,
    risk: Vec<String>,
    status: Vec<String>,
    answers: Vec<String>,
}

impl Lines {
    fn take(&mut self, effects: &Effects) -> Vec<Value> {
        self.events.extend(effects.records.iter().map(|record| record.text.clone()));
        self.risk.extend(effects.risk.iter().map(|record| record.text.clone()));
        for deed in effects.immediate.iter().chain(&effects.after_commit) {
            if let Command::Answer(answer) = deed {
                self.answers.push(answer.body.clone());
            }
        }
        events(effects)
    }

    fn step(&mut self, desk: &mut Desk, input: Input) -> Vec<Value> {
        let effects = desk.step(input);
        self.take(&effects)
    }

    fn ask(&mut self, desk: &mut Desk, action: Value) -> u64 {
        let effects = desk.post(action);
        self.take(&effects).iter().find(|event| event["kind"] == "decision").map_or(0, seq)
    }

    fn answer(&mut self, desk: &mut Desk, intent: u64, index: usize, reply: Value) -> Vec<Value> {
        self.step(desk, Input::Sent { intent, index, outcome: SendOutcome::Answered(reply) })
    }

    fn status(&mut self, desk: &Desk) {
        self.status.push(desk.guard.status_json(desk.now, (1200, 37)).to_string());
    }
}

fn seq(event: &Value) -> u64 {
    event["seq"].as_u64().unwrap()
}

fn of_kind<'a>(events: &'a [Value], kind: &str) -> &'a Value {
    events.iter().find(|event| event["kind"] == kind).unwrap_or_else(|| panic!("no {kind} in {events:?}"))
}

/// A request that passes with changes, one as it is, vetoes of every sort, and what the venue says to them.
fn decisions(lines: &mut Lines) {
    let mut guard = Guard::new(config(Mode::Paper, Rules::default()), 41);
    lines.take(&guard.start(NOW));
    let mut desk = Desk::live();
    lines.status(&desk);
    let resized = lines.ask(&mut desk, place(vec![with(buy(ETH, "2000.0", "0.10"), "/c", cloid(5))]));
    lines.answer(&mut desk, resized, 0, statuses(json!([{"resting": {"oid": 7}}, "waitingForTrigger"])));
    lines.status(&desk);
    let noop = lines.ask(&mut desk, json!({"type": "noop"}));
    lines.answer(&mut desk, noop, 0, done());
    let leverage =
        lines.ask(&mut desk, json!({"type": "updateLeverage", "asset": ETH, "isCross": true, "leverage": 4}));
    let not_sent = SendOutcome::NotSent("the queue is full".to_owned());
    lines.step(&mut desk, Input::Sent { intent: leverage, index: 0, outcome: not_sent });
    lines.ask(&mut desk, json!({"type": "updateLeverage", "asset": ETH, "isCross": true, "leverage": 24}));
    lines.ask(&mut desk, place(vec![buy(OLD, "1", "100")]));
    let unsigned =
        RequestBody::Unsigned { received: json!({"type": "noop", "b": 1, "a": "\u{e9}\n"}), text: "no key".into() };
    lines.take(&desk.post_as(unsigned));
    let malformed = |received: Option<Value>, http_status| RequestBody::Malformed {
        received,
        unparsed: "{\"a".into(),
        text: "request: not JSON".into(),
        http_status,
    };
    lines.take(&desk.post_as(malformed(None, 422)));
    lines.take(&desk.post_as(malformed(Some(json!({"type": 7})), 413)));
    let effects = desk.step(Input::Trouble("the venue is away: \"HTTP 500\"".into()));
    lines.take(&effects);
    lines.step(&mut desk, Input::Shutdown { reason: "SIGTERM".into() });
    lines.step(&mut desk, Input::SendsEnded);
}

/// Paper mode: decisions without nonces, and orders that rest nowhere.
fn paper(lines: &mut Lines) {
    let mut desk = Desk::new(Mode::Paper, wide());
    lines.ask(&mut desk, place(vec![with(buy(ETH, "1990", "1"), "/c", cloid(6))]));
    lines.ask(&mut desk, place(vec![buy(ETH, "2100", "1")]));
    lines.ask(&mut desk, json!({"type": "updateLeverage", "asset": ETH, "isCross": false, "leverage": 3}));
    desk.read();
    lines.status(&desk);
    lines.step(&mut desk, Input::Kill { reason: "paper".into(), by: None, write_file: false, request: None });
}

/// An entry without an answer, whose nonce is burnt; a second one that happened.
fn doubts(lines: &mut Lines) {
    let mut desk = Desk::new(Mode::Testnet, wide());
    for reply in [done(), json!({"status": "err", "response": "Invalid nonce: duplicate nonce 7"})] {
        let entry = lines.ask(&mut desk, place(vec![buy(ETH, "2000", "1")]));
        let outcome = SendOutcome::NoAnswer("the connection broke".to_owned());
        let cloid = {
            let events = lines.step(&mut desk, Input::Sent { intent: entry, index: 0, outcome });
            assert_eq!(events[0]["ok"], false);
            desk.guard.doubts.values().next().unwrap().node["orders"][0]["c"].as_str().unwrap().parse().unwrap()
        };
        lines.status.push(desk.guard.checkpoint(desk.now));
        let burn = seq(of_kind(&lines.step(&mut desk, Input::Tick), "intent"));
        lines.answer(&mut desk, burn, 0, reply);
        desk.now += 1_000;
        lines.step(&mut desk, Input::Tick);
        let answer = Some(json!({"status": "order", "order": {"status": "open"}}));
        lines.step(&mut desk, Input::OrderStatus { intent: entry, index: 0, cloid, answer });
        desk.now += 1_000;
        desk.read();
    }
    lines.status.push(desk.guard.checkpoint(desk.now));
}

/// Bare positions get stops, one is refused; then the switch is pulled.
fn cover(lines: &mut Lines) {
    let mut desk = Desk::live();
    desk.positions.extend([("ETH", dec!(1)), ("SOL", dec!(-10)), ("BARE", dec!(3))]);
    desk.now += 10;
    let effects = desk.read_account(desk.now);
    lines.take(&effects);
    desk.now += 10;
    let effects = desk.read_orders(desk.now);
    let protect = seq(of_kind(&lines.take(&effects), "protect"));
    lines.status.push(desk.guard.checkpoint(desk.now));
    lines.answer(&mut desk, protect, 0, statuses(json!([{"resting": {"oid": 500}}])));
    let refused = statuses(json!([{"error": "Invalid TP/SL price. asset=2"}]));
    lines.answer(&mut desk, protect, 1, refused);
    lines.status(&desk);
    desk.orders.push(OpenOrder { reduce_only: false, ..open("ETH", "B", "1900", "0.5", 77) });
    desk.orders.push(open("@107", "A", "19.5", "2", 78));
    desk.orders.push(open_stop("ETH", "A", "1960", "1", 500));
    desk.now += 1_000;
    desk.read();
    lines.status(&desk);
    let kill = Input::Kill { reason: "enough".into(), by: Some(CLIENT), write_file: true, request: Some(7) };
    let events = lines.step(&mut desk, kill);
    let flatten = seq(of_kind(&events, "flatten"));
    for index in 0..of_kind(&events, "flatten")["actions"].as_array().unwrap().len() {
        lines.answer(&mut desk, flatten, index, statuses(json!([{"error": "there is no liquidity"}])));
    }
    lines.status(&desk);
}

/// The day's loss and the drawdown halt; deposits, odd ledger entries, a mode change; what is written for a restart.
fn risk(lines: &mut Lines) {
    for (rises, daily_loss) in [(false, dec!(5)), (true, dec!(90))] {
        let rules = Rules { daily_loss, ..Rules::default() };
        let calm = crate::guard::Config { orders_max_age_ms: 60_000, ..config(Mode::Testnet, rules.clone()) };
        let mut desk = of(calm);
        let mut fresh = Desk::blank(config(Mode::Testnet, rules));
        lines.step(&mut fresh, Input::ActsFor(Some(Address([0xab; 20]))));
        let effects = fresh.read_account(NOW);
        lines.take(&effects);
        desk.now += 500;
        let updates = json!([
            deposit(desk.now, "250.5"),
            {"time": desk.now, "hash": "0x1", "delta": {"type": "neverHeardOf", "usdc": "1.25"}},
        ]);
        // One that shows the flow: nothing is missing beside it.
        desk.guard.risk.equities.add(EquitySample { at_ms: desk.now, equity: dec!(10250.5) }, false);
        lines.take(&explain(&mut desk, updates));
        desk.guard.risk.equities.drop_unsettled();
        if rises {
            lines.take(&settle(&mut desk, dec!(12000)));
        }
        lines.status(&desk);
        lines.take(&lose(&mut desk, dec!(9700)));
        lines.take(&lose(&mut desk, dec!(9000)));
        lines.status(&desk);
        lines.step(&mut desk, Input::Journal(Some("No space left on device (os error 28)".into())));
        lines.status(&desk);
        lines.step(&mut desk, Input::Journal(None));
        desk.read_orders(desk.now);
        lines.step(&mut desk, Input::Twaps(Ok(Vec::new())));
        lines.step(&mut desk, Input::Twaps(Ok(Vec::new())));
        for _ in 0..3 {
            desk.now += DAY_MS / 2;
            lines.take(&equity(&mut desk, Decimal::from(9000)));
            lines.take(&desk.step(Input::Mids { mids: desk.mids.clone(), begun_ms: desk.now }));
            let effects = desk.read_orders(desk.now);
            lines.take(&effects);
        }
        lines.status.push(desk.guard.checkpoint(desk.now));
    }
}

/// A trade of every sort and a payment on record, and the sum of them.
fn book(lines: &mut Lines) {
    let mut desk = Desk::live();
    lines.step(&mut desk, Input::AccountMode { mode: AccountMode::Standard, begun_ms: NOW });
    let entry = lines.ask(&mut desk, place(vec![with(buy(ETH, "2000", "0.1"), "/c", cloid(5))]));
    lines.answer(&mut desk, entry, 0, statuses(json!([{"resting": {"oid": 7}}, "waitingForTrigger"])));
    desk.now += 5;
    let fill = |more: Value| {
        let mut fill = json!({"coin": "ETH", "px": "2000.0", "sz": "0.1", "side": "B", "time": NOW + 5, "startPosition": "0.0",
            "closedPnl": "0.0", "oid": 7, "crossed": false, "fee": "-0.03", "tid": 11, "cloid": cloid(5), "feeToken": "USDC"});
        fill.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fill
    };
    let rows = json!([
        fill(json!({})),
        fill(json!({"time": NOW + 6, "side": "A", "startPosition": "0.1", "sz": "0.3",
        "closedPnl": "-1.5", "fee": "0.27", "builderFee": "0.01", "cloid": null, "oid": 8, "tid": 12, "crossed": true,
        "liquidation": {"liquidatedUser": "0xab", "markPx": "1985.0", "method": "market"}}))
    ]);
    desk.now += 5;
    let (fills, begun_ms): (Vec<Fill>, _) = (serde_json::from_value(rows).unwrap(), desk.now);
    lines.step(&mut desk, Input::BookFills { page: Page::from(fills), since_ms: NOW, begun_ms });
    let rows = json!([{"time": NOW + 7, "coin": "ETH", "usdc": "0.005", "szi": "-0.2", "fundingRate": "0.0000125"}]);
    let rows: Vec<Funding> = serde_json::from_value(rows).unwrap();
    lines.step(&mut desk, Input::Fundings { page: Page::from(rows), since_ms: NOW, begun_ms });
    let effects = desk.read_account(begun_ms);
    lines.take(&effects);
    lines.status.push(desk.guard.checkpoint(desk.now));
    lines.step(&mut desk, Input::Shutdown { reason: "SIGTERM".into() });
    lines.step(&mut desk, Input::SendsEnded);
}

fn all() -> Lines {
    let mut lines = Lines::default();
    [decisions, paper, doubts, cover, risk, book].into_iter().for_each(|scenario| scenario(&mut lines));
    lines
}

/// The lines as they are kept: the version differs from release to release.
fn same(name: &str, lines: &[String], golden: &str) {
    let version = format!("\"version\":\"{}\"", env!("CARGO_PKG_VERSION"));
    let lines: Vec<String> = lines.iter().map(|line| line.replace(&version, "\"version\":\"0\"")).collect();
    let pairs = lines.iter().zip(golden.lines()).enumerate();
    let changed: Vec<_> = pairs.filter(|(_, (line, golden))| line != golden).collect();
    for (number, (line, golden)) in &changed {
        println!("{name}, line {}, was\n{golden}\nand is\n{line}", number + 1);
    }
    assert!(changed.is_empty(), "{} of the {name} changed", changed.len());
    assert_eq!(lines.len(), golden.lines().count(), "{name}");
}

#[test]
fn every_line_is_as_it_was() {
    let lines = all();
    same("events", &lines.events, EVENTS);
    same("risk records", &lines.risk, RISK_RECORDS);
    same("status", &lines.status, STATUS);
    same("answers", &lines.answers, ANSWERS);
}

#[test]
fn the_golden_lines_hold_every_kind() {
    let kinds = |lines: &str| -> BTreeSet<String> {
        let kind = |line: &str| serde_json::from_str::<Value>(line).unwrap()["kind"].as_str().unwrap().to_owned();
        lines.lines().map(kind).collect()
    };
    assert_eq!(kinds(EVENTS), KINDS.into_iter().map(str::to_owned).collect());
    let of_the_core = ["day", "first_read", "flatten", "flow", "halt", "halt_ended", "mode", "peak", "role"];
    assert_eq!(kinds(RISK_RECORDS), of_the_core.map(str::to_owned).into());
}
