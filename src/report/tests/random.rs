//! Journals drawn at random: the total is the sum of the rows, to the last digit, and every format says the same.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rust_decimal::Decimal;
use serde_json::{Value, json};

use super::{DAY, line, report, whole};
use crate::base::text::visible;
use crate::report::{By, Finished, Question};

fn amount() -> impl Strategy<Value = String> {
    (-1_000_000_000_000_i64..1_000_000_000_000, 0_u32..12)
        .prop_map(|(mantissa, scale)| Decimal::new(mantissa, scale).to_string())
}

fn event() -> impl Strategy<Value = Value> {
    let coin = prop::sample::select(vec!["BTC", "ETH", "@107", "=1+1", "a\"b,c"]);
    let client = prop::sample::select(vec![None, Some("guard"), Some("0xC1"), Some("0xc1"), Some("0xd2")]);
    let token = prop::sample::select(vec!["USDC", "USDC", "HYPE", "+X"]);
    let verdict = prop::sample::select(vec!["allow", "resize", "veto"]);
    let amounts = prop::collection::vec(amount(), 4);
    let choice = (0_u8..10, 0..6 * DAY, 0..DAY, coin, client, token, verdict, amounts, any::<bool>());
    choice.prop_map(|(kind, time, later, coin, client, token, verdict, amounts, late)| {
        let at_ms = time + if late { later } else { 0 };
        let [a, b, c, d] = [&amounts[0], &amounts[1], &amounts[2], &amounts[3]];
        let positive = |text: &str| text.trim_start_matches('-').to_owned();
        match kind {
            0..=4 => json!({
                "kind": "fill", "at_ms": at_ms, "time": time, "coin": coin, "client": client, "side": "buy", "px": positive(a),
                "size": positive(b), "fee": c, "fee_token": token, "closed_pnl": d, "builder_fee": c, "late": late,
            }),
            5 => json!({"kind": "funding", "at_ms": at_ms, "time": time, "coin": coin, "usdc": a, "size": b, "rate": c}),
            6 => json!({"kind": "transfer", "at_ms": at_ms, "time": time, "type": "deposit", "usdc": a}),
            7 => json!({"kind": "balance", "at_ms": at_ms, "venue_ms": at_ms, "opened_ms": 1 + later % 2, "equity": a, "highest": a,
                "lowest": a, "difference": Some(b).filter(|_| later % 5 > 0)}),
            _ => json!({"kind": "decision", "at_ms": at_ms, "client": client, "verdict": verdict, "code": coin, "count": later % 9}),
        }
    })
}

fn finished(question: Question, events: &[Value]) -> Finished {
    let mut taken = report(question);
    for (seq, event) in (1..).zip(events) {
        taken.take(&line(seq, event), true);
    }
    taken.finish()
}

/// An amount of any length: whole ones, and parts of one that are never negative. A `Decimal` rounds what has over 28 digits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Exact(i128, i128);

impl Exact {
    const UNIT: i128 = 10_i128.pow(28);

    fn of(text: &str) -> Option<Exact> {
        text.parse::<Decimal>().ok()?;
        let (whole, parts) = text.trim_start_matches('-').split_once('.').unwrap_or((text.trim_start_matches('-'), ""));
        let sign = if text.starts_with('-') { -1 } else { 1 };
        let (whole, parts): (i128, i128) = (whole.parse().ok()?, format!("{parts:0<28}").parse().ok()?);
        Some(Exact::default().plus(Exact(sign * whole, sign * parts)))
    }

    fn plus(self, other: Exact) -> Exact {
        let parts = self.1 + other.1;
        Exact(self.0 + other.0 + parts.div_euclid(Exact::UNIT), parts.rem_euclid(Exact::UNIT))
    }
}

/// The sums of all rows, by member.
fn sums(rows: &[Value]) -> BTreeMap<String, Exact> {
    let mut sums: BTreeMap<String, Exact> = BTreeMap::new();
    for row in rows {
        for (name, value) in flat(row) {
            if let Some(amount) = Exact::of(&value) {
                let sum = sums.entry(name).or_default();
                *sum = sum.plus(amount);
            }
        }
    }
    sums
}

/// The members of a row by the heads that they have in csv.
fn flat(row: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (name, value) in row.as_object().unwrap() {
        match value {
            Value::Object(group) => {
                found.extend(group.iter().map(|(inner, value)| (format!("{name} {inner}"), shown(value))));
            }
            other => found.push((name.clone(), shown(other))),
        }
    }
    found
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The fields of each line of csv.
fn fields(csv: &str) -> Vec<Vec<String>> {
    let line = |line: &str| line.trim_matches('"').split("\",\"").map(|field| field.replace("\"\"", "\"")).collect();
    csv.lines().map(line).collect()
}

/// What is measured, and is no sum.
const MEASURED: [&str; 5] = ["key", "equity_start", "equity_end", "worst_drawdown", "cut_result"];

proptest! {
    #[test]
    fn totals_are_the_sums_of_rows(events in prop::collection::vec(event(), 0..60), from in 0_u32..7, span in 0_u32..7) {
        for by in [By::Day, By::Market, By::Client] {
            let days = (Some(super::day(from)), Some(super::day(from + span)));
            for (from, to) in [(None, None), days, (None, days.1)] {
                let json = Value::Object(finished(Question { from, to, by, ..whole() }, &events).to_json());
                let rows = json["rows"].as_array().unwrap();
                let sums = sums(rows);
                let total: BTreeMap<String, String> = flat(&json["total"]).into_iter().collect();
                for (name, sum) in &sums {
                    let is_unknown = name == "difference" && total[name] == "null";
                    if !MEASURED.contains(&name.as_str()) && !is_unknown {
                        prop_assert_eq!(Exact::of(&total[name]).unwrap(), *sum, "{} by {:?} in {}", name, by, json);
                    }
                }
                let has_rows = rows.iter().any(|row| row["fills"] != json!(0) && !row["fills"].is_null());
                prop_assert_eq!(total["fills"] != "0" && total["fills"] != "null", has_rows);
            }
        }
    }

    #[test]
    fn every_format_says_the_same(events in prop::collection::vec(event(), 0..40)) {
        for by in [By::Day, By::Market, By::Client] {
            let report = finished(Question { by, ..whole() }, &events);
            let json = Value::Object(report.to_json());
            let csv = fields(&report.to_csv());
            let rows = json["rows"].as_array().unwrap();
            prop_assert_eq!(csv.len(), rows.len() + 2);
            let unsafe_start = |field: &str| field.starts_with(['=', '@']) || (field.starts_with(['+', '-']) && field.parse::<Decimal>().is_err());
            prop_assert!(!csv.iter().flatten().any(|field| unsafe_start(field)), "{:?}", csv);
            for (row, line) in rows.iter().chain([&json["total"]]).zip(&csv[1..]) {
                for (name, value) in flat(row).iter().filter(|(name, _)| name != "key") {
                    let at = csv[0].iter().position(|head| head == name).unwrap();
                    let text = line[at].as_str();
                    let is_same = text == value || (value == "null" && ["", "not recorded"].contains(&text));
                    prop_assert!(is_same, "{name}: {text} in csv, {value} in JSON");
                }
            }
            let table = report.to_table();
            for (name, value) in flat(&json["total"]).iter().filter(|(_, value)| value != "null") {
                let shown = visible(value, 48);
                let is_there = table.lines().any(|line| line.starts_with(&name.replace('_', " ")) && line.ends_with(&shown));
                prop_assert!(is_there, "{name} {value} in {table}");
            }
        }
    }
}
