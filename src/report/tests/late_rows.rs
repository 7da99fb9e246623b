//! Rows that came after account and book had come apart.

use serde_json::{Value, json};

use super::written::{HOUR, balance, fill};
use super::{DAY, reported, whole};
use crate::report::{By, Question};

const OPENED: u64 = DAY + HOUR;
const ENDED: u64 = DAY + 3 * HOUR;

/// A book that was opened then, with what it came apart by when it ended, and the one after it.
fn apart(by: &str) -> Vec<Value> {
    let sum = |ms: u64, opened_ms: u64, difference: &str| {
        let mut sum = balance(ms, "10");
        (sum["opened_ms"], sum["difference"]) = (json!(opened_ms), json!(difference));
        sum
    };
    vec![sum(OPENED, OPENED, "0"), sum(ENDED, OPENED, by), sum(ENDED + HOUR, ENDED, "0")]
}

fn difference(by: By, rows: &[Value]) -> Value {
    let after = balance(ENDED + 9 * HOUR, "10");
    let after = Value::Object(
        after.as_object().unwrap().clone().into_iter().chain([("opened_ms".to_owned(), json!(ENDED))]).collect(),
    );
    let told = reported(Question { by, ..whole() }, &[&apart("50")[..], rows, &[after]].concat());
    if by == By::Day {
        assert_eq!(told["rows"][0]["difference"], told["total"]["difference"], "{told}");
    }
    told["total"]["difference"].clone()
}

#[test]
fn they_explain_what_it_came_apart_by() {
    let late = |time: u64, usdc: Value| json!({"kind": "transfer", "at_ms": ENDED + HOUR, "time": time, "what": "deposit", "usdc": usdc});
    let funding = |coin: &str| json!({"kind": "funding", "at_ms": ENDED + HOUR, "time": OPENED + 9, "coin": coin, "usdc": "7", "size": "1", "rate": "1"});
    let filled = |more: Value| fill(OPENED + 9, more);
    let cases = [
        (vec![], "50"),
        (vec![late(OPENED, json!("50"))], "0"),
        (vec![late(ENDED - 1, json!("50.5"))], "-0.5"),
        // Of the book after.
        (vec![late(ENDED, json!("50"))], "50"),
        (vec![late(OPENED, Value::Null)], "50"),
        (vec![funding("ETH"), filled(json!({"closed_pnl": "43.1"}))], "0"),
        (vec![filled(json!({"closed_pnl": "50", "fee_token": "HYPE"}))], "0"),
        // Of other purses.
        (vec![funding("xyz:ETH"), filled(json!({"coin": "@107", "closed_pnl": "50"}))], "50"),
    ];
    for (rows, expected) in cases {
        for by in [By::Day, By::Market] {
            assert_eq!(difference(by, &rows), json!(expected), "{rows:?}");
        }
    }
}

/// Of before the account was first measured: nobody knows whether that had it.
#[test]
fn of_before_the_first_sum_they_leave_the_difference_unknown() {
    for (time, is_known) in [(OPENED - 1, false), (OPENED, true)] {
        let late = fill(time, json!({"at_ms": ENDED + HOUR}));
        let events = [&apart("0")[..], &[late, apart("0")[2].clone()]].concat();
        let told = reported(whole(), &events);
        for figures in [&told["total"], &told["rows"][0]] {
            assert_eq!(!figures["difference"].is_null(), is_known, "{figures}");
            let why = figures["difference_why"].as_str();
            assert_eq!(why.is_some_and(|why| why.contains("first measured")), !is_known, "{why:?}");
        }
    }
}
