//! Rows of days, near midnight and over days on which nobody watched.

use rust_decimal::Decimal;
use serde_json::{Value, json};

use super::written::{HOUR, balance, fill};
use super::{DAY, day, reported, whole};
use crate::report::Question;

fn started(at_ms: u64) -> Value {
    json!({"kind": "started", "at_ms": at_ms})
}

/// A sum of the book that was opened at `opened_ms`, and what it is apart by; null where it could not be compared.
fn sum(ms: u64, opened_ms: u64, difference: &str) -> Value {
    let mut sum = balance(ms, "10");
    (sum["opened_ms"], sum["difference"]) = (json!(opened_ms), json!(difference));
    if difference.is_empty() {
        (sum["difference"], sum["why"]) = (Value::Null, json!("the end came before the last rows were read"));
    }
    sum
}

fn figure(told: &Value, name: &str) -> Vec<(String, Option<String>)> {
    let of = |row: &Value| (row["key"].as_str().unwrap()[8..].to_owned(), row[name].as_str().map(str::to_owned));
    told["rows"].as_array().unwrap().iter().map(of).collect()
}

/// The row of each day is the report about that day alone.
fn hold_alone(told: &Value, events: &[Value]) {
    for row in told["rows"].as_array().unwrap() {
        let day = Some(row["key"].as_str().unwrap().parse().unwrap());
        let alone = reported(Question { from: day, to: day, ..whole() }, events);
        for name in ["difference", "difference_why", "worst_drawdown"] {
            assert_eq!(alone["total"][name], row[name], "{name} of {row}");
        }
    }
}

/// The guard ran over midnight for seconds, was away for a day, and came back right after another midnight.
#[test]
fn a_day_has_what_was_measured_on_it() {
    let opened = DAY + 23 * HOUR;
    let events = [
        started(opened),
        sum(opened, opened, "0"),
        sum(2 * DAY + 90, opened, "0"),
        fill(2 * DAY + 5_000, json!({})),
        sum(2 * DAY + 10_000, opened, "0"),
        json!({"kind": "stopped", "at_ms": 2 * DAY + 10_000}),
        started(4 * DAY + 50_000),
        sum(4 * DAY + 56_000, opened, "0"),
        fill(4 * DAY + HOUR, json!({})),
        sum(4 * DAY + HOUR + 9, opened, "0"),
    ];
    let told = reported(whole(), &events);
    let zero = Some("0".to_owned());
    let expected = ["02", "03", "05"].map(|day| (day.to_owned(), zero.clone()));
    for name in ["difference", "worst_drawdown"] {
        assert_eq!(figure(&told, name), expected, "{name}");
    }
    hold_alone(&told, &events);
    let away = reported(Question { from: Some(day(3)), to: Some(day(3)), ..whole() }, &events);
    let total = &away["total"];
    assert_eq!(
        [&total["fills"], &total["worst_drawdown"], &total["difference"]],
        [&json!(0), &Value::Null, &Value::Null]
    );
    assert!(total["difference_why"].as_str().unwrap().starts_with("account and book were not compared in this time"));
}

/// Where the first line is of a guard that ran on, the sum at midnight closes the day before as well.
#[test]
fn the_sum_at_the_end_of_a_day_is_that_days_where_nothing_before_it_is_read() {
    let events = [sum(2 * DAY + 90, DAY + HOUR, "0"), sum(2 * DAY + 2 * HOUR, DAY + HOUR, "0")];
    let days: Vec<String> = figure(&reported(whole(), &events), "difference").into_iter().map(|(day, _)| day).collect();
    assert_eq!(days, ["02", "03"]);
}

#[test]
fn rows_of_a_day_without_a_sum_say_that_they_were_not_compared_on_it() {
    let events = [
        started(DAY),
        sum(DAY + HOUR, DAY, "0"),
        fill(2 * DAY + HOUR, json!({})),
        // Killed, and back two days later.
        started(4 * DAY),
        sum(4 * DAY + HOUR, DAY, "0"),
    ];
    let told = reported(whole(), &events);
    let row = &told["rows"][1];
    assert_eq!([&row["fills"], &row["difference"], &row["worst_drawdown"]], [&json!(1), &Value::Null, &Value::Null]);
    assert!(row["difference_why"].as_str().unwrap().contains("stands on the day of the next comparison"), "{row}");
    assert_eq!([&told["total"]["difference"], &told["total"]["difference_why"]], [&json!("0"), &Value::Null]);
    hold_alone(&told, &events);
    // Nobody has compared them yet.
    let told = reported(whole(), &events[..4]);
    for figures in [&told["rows"][0], &told["rows"][1], &told["total"]] {
        assert!(figures["difference"].is_null() && figures["difference_why"].is_string(), "{told}");
    }
    hold_alone(&told, &events[..4]);
}

#[test]
fn differences_of_days_add_up() {
    let (first, second) = (DAY + HOUR, 4 * DAY + HOUR);
    let events = [
        sum(first, first, "0"),
        sum(2 * DAY + 90, first, "0.006"),
        sum(2 * DAY + HOUR, first, "0.009"),
        // What could not be told at the end of a day is told on the next one.
        sum(2 * DAY + 2 * HOUR, first, ""),
        sum(3 * DAY + HOUR, first, "0.005"),
        // A discrepancy, and the book that began anew for it.
        sum(second, first, "-12.5"),
        sum(5 * DAY + HOUR, second, "0.004"),
        sum(5 * DAY + 2 * HOUR, second, "0.004"),
    ];
    let told = reported(whole(), &events);
    let expected = [("02", "0.006"), ("03", "0.003"), ("04", "-0.004"), ("05", "-12.505"), ("06", "0.004")];
    let expected = expected.map(|(day, apart)| (day.to_owned(), Some(apart.to_owned())));
    assert_eq!(figure(&told, "difference"), expected);
    let rows = figure(&told, "difference").into_iter().map(|(_, apart)| apart.unwrap().parse::<Decimal>().unwrap());
    assert_eq!(told["total"]["difference"], rows.sum::<Decimal>().normalize().to_string());
    hold_alone(&told, &events);
}
