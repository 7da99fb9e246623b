//! Books that ended without being compared, and a guard that runs and compares nothing.

use serde_json::{Value, json};

use super::written::{HOUR, balance, fill};
use super::{DAY, day, line, report, reported, whole};
use crate::report::{By, Question};

const MOMENTS: &str = "the balance and what is held were read at two moments";

/// A sum of the book that was opened at `opened_ms`; null where there is a `why`.
fn sum(ms: u64, opened_ms: u64, why: &str) -> Value {
    let mut sum = balance(ms, "10");
    sum["opened_ms"] = json!(opened_ms);
    if !why.is_empty() {
        (sum["difference"], sum["why"]) = (Value::Null, json!(why));
    }
    sum
}

/// Whether the difference is known, and that it says why where it is not.
fn is_known(figures: &Value, why: &str) -> bool {
    let is_known = !figures["difference"].is_null();
    assert_eq!(figures["difference_why"].as_str().is_some_and(|told| told.contains(why)), !is_known, "{figures}");
    is_known
}

#[test]
fn a_book_that_was_given_up_keeps_the_difference_unknown() {
    let at = DAY + 2 * HOUR;
    let before = [sum(DAY + HOUR, DAY + 9, "")];
    let later = [sum(at + 9, at, ""), sum(at + HOUR, at, "")];
    let hidden = |ms| {
        let mut sum = sum(ms, ms, "the account's mode hides its equity");
        sum["equity"] = Value::Null;
        sum
    };
    let ended = sum(at, DAY + 9, "the end came before the last rows were read");
    let mut off = sum(at, DAY + 9, "");
    off["difference"] = json!("-12");
    let started = json!({"kind": "started", "at_ms": at});
    let cases = [
        (vec![sum(at, at, MOMENTS)], false, MOMENTS),
        (vec![sum(at, at, MOMENTS), started.clone()], false, MOMENTS),
        (vec![hidden(at - 9), hidden(at - 8)], false, "hides its equity"),
        (vec![ended.clone()], false, "was not compared to its end"),
        // It went on, and was compared then.
        (vec![ended, started, sum(at + 5, DAY + 9, "")], true, ""),
        // What did not add up was told, and the new book was not compared at once.
        (vec![off, sum(at + 5, at, "the end came before the last rows were read")], true, ""),
    ];
    for (events, expected, why) in cases {
        let events = [&before[..], &events, &later].concat();
        for by in [By::Day, By::Market] {
            for from in [None, Some(day(1))] {
                let told = reported(Question { by, from, ..whole() }, &events);
                assert_eq!(is_known(&told["total"], why), expected, "{events:?}");
                if by == By::Day {
                    assert_eq!(is_known(&told["rows"][0], why), expected, "{events:?}");
                }
            }
        }
    }
    // No book was there before.
    for first in [sum(at, at, MOMENTS), hidden(at - 9)] {
        let told = reported(whole(), &[&[first][..], &later].concat());
        assert!(is_known(&told["total"], ""), "{told}");
    }
}

#[test]
fn a_book_is_unknown_on_the_days_since_it_was_compared() {
    let opened = 4 * DAY + HOUR;
    let events = [
        sum(DAY + HOUR, DAY, ""),
        sum(2 * DAY + HOUR, DAY, ""),
        fill(3 * DAY + HOUR, json!({})),
        sum(opened, opened, MOMENTS),
        sum(5 * DAY + HOUR, opened, ""),
    ];
    let told = reported(whole(), &events);
    let known: Vec<bool> = told["rows"].as_array().unwrap().iter().map(|row| !row["difference"].is_null()).collect();
    assert_eq!(known, [true, false, false, false, true], "{told}");
    for (number, expected) in [(1, true), (2, false), (4, false), (5, true)] {
        let told = reported(Question { from: Some(day(number)), to: Some(day(number)), ..whole() }, &events);
        assert_eq!(is_known(&told["total"], MOMENTS), expected, "day {number}: {told}");
    }
}

#[test]
fn a_guard_that_runs_has_compared_old_rows_or_compares_nothing() {
    let lines = [
        json!({"kind": "started", "at_ms": DAY}),
        sum(DAY + HOUR, DAY, ""),
        fill(DAY + 2 * HOUR, json!({})),
        fill(DAY + 2 * HOUR + 115_000, json!({})),
    ];
    let why = "were recorded after account and book were compared last";
    let told = |more: &[Value], ms: u64| {
        let mut taken = report(whole());
        for (seq, event) in (1..).zip(lines.iter().chain(more)) {
            taken.take(&line(seq, event), true);
        }
        taken.runs_at(ms);
        Value::Object(taken.finish().to_json())
    };
    let since = DAY + 2 * HOUR;
    for (more, ms, expected) in [
        (vec![], since + 119_000, true),
        (vec![], since + 121_000, false),
        // A sum that has the first of them: the second is as young as that.
        (vec![sum(since + 60_000, DAY, "")], since + 140_000, true),
        (vec![sum(since + 116_000, DAY, "")], since + 9 * HOUR, true),
        (vec![sum(since + 116_000, DAY, "the reads fail")], since + 9 * HOUR, false),
    ] {
        let told = told(&more, ms);
        let known = if more.last().is_some_and(|sum| sum["difference"].is_null()) {
            !told["total"]["difference"].is_null()
        } else {
            is_known(&told["rows"][0], why);
            is_known(&told["total"], why)
        };
        assert_eq!(known, expected, "{more:?} {ms}: {told}");
    }
}

/// What the account was worth before its first rows nobody measured: they are compared with nothing.
#[test]
fn rows_of_before_the_first_measurement_are_not_vouched_for() {
    let first = DAY + 2 * HOUR;
    for (row_ms, expected) in [(first - 1, false), (first, false), (first + 1, true)] {
        let events = [fill(row_ms, json!({})), sum(first, first, ""), sum(first + HOUR, first, "")];
        for by in [By::Day, By::Market] {
            let told = reported(Question { by, ..whole() }, &events);
            assert_eq!(is_known(&told["total"], "compared with nothing"), expected, "{events:?}");
        }
    }
}
