//! Journals written by hand: what each event adds, and what it does not.

use serde_json::{Value, json};

use super::{DAY, day, line, report, reported, whole};
use crate::report::{By, Question};

pub(super) const HOUR: u64 = 3_600_000;

pub(super) fn fill(time: u64, more: Value) -> Value {
    let mut fill = json!({
        "kind": "fill", "at_ms": time, "time": time, "coin": "ETH", "side": "buy", "px": "100", "size": "1", "fee": "0.1",
        "fee_token": "USDC", "closed_pnl": "0", "position_before": "0", "position_after": "1", "oid": 1, "tid": time,
    });
    let Value::Object(more) = more else { panic!("no members: {more}") };
    fill.as_object_mut().unwrap().extend(more);
    fill
}

pub(super) fn balance(ms: u64, equity: &str) -> Value {
    json!({
        "kind": "balance", "at_ms": ms, "venue_ms": ms, "opened_ms": 1, "equity": equity, "highest": equity,
        "lowest": equity, "worst_fall": "0", "difference": "0",
    })
}

fn total(events: &[Value]) -> Value {
    reported(whole(), events)["total"].clone()
}

#[test]
fn a_liquidation_counts_where_the_account_was_the_one() {
    let of = |user: &str| fill(HOUR, json!({"liquidation": {"user": user, "mark_px": "1", "method": "market"}}));
    let told = total(&[of("0xAA"), of("0xbb"), fill(HOUR, json!({}))]);
    assert_eq!(
        [&told["fills"], &told["liquidations"], &told["liquidations_unknown"]],
        [&json!(3), &json!(1), &json!(0)]
    );
    // Where the venue does not say whom, what the fill did to the account may say that it was another one.
    for (method, before, after, more, unknown) in [
        ("market", "5", "0", json!({"crossed": true}), 1),
        ("backstop", "-5", "-2", json!({"crossed": false}), 1),
        ("market", "5", "0", json!({"crossed": false}), 0),
        ("market", "5", "0", json!({"crossed": true, "intent": 7}), 0),
        ("market", "5", "-5", json!({"crossed": true}), 0),
        ("market", "0", "5", json!({"crossed": true}), 0),
    ] {
        let mut of = fill(HOUR, more);
        of["liquidation"] = json!({"user": null, "mark_px": "1", "method": method});
        (of["position_before"], of["position_after"]) = (json!(before), json!(after));
        let told = total(&[of]);
        assert_eq!(
            [&told["liquidations"], &told["liquidations_unknown"]],
            [&json!(0), &json!(unknown)],
            "{before} {after}"
        );
    }
}

#[test]
fn names_over_the_bound_are_the_same_ones_in_all_rows() {
    let fee = |n: u64, coin: &str| fill(HOUR, json!({"coin": coin, "fee": "1", "fee_token": format!("T{n}")}));
    let decided = |n: u64, client: &str| json!({"kind": "decision", "at_ms": HOUR, "verdict": "veto", "code": format!("c{n}"), "client": client});
    let fees = (0..300).map(|n| fee(n, "ETH")).chain((0..300).rev().map(|n| fee(n, "BTC")));
    let codes = (0..300).map(|n| decided(n, "0xc1")).chain((0..300).rev().map(|n| decided(n, "0xc2")));
    let events: Vec<Value> = fees.chain(codes).collect();
    for (by, group) in [(By::Market, "fees_in"), (By::Client, "codes")] {
        let told = reported(Question { by, ..whole() }, &events);
        let total = told["total"][group].as_object().unwrap();
        assert_eq!(total.len(), 257);
        for (name, sum) in total {
            let number =
                |value: &Value| value.as_str().map_or_else(|| value.as_u64(), |text| text.parse().ok()).unwrap();
            let rows: u64 = told["rows"].as_array().unwrap().iter().map(|row| number(&row[group][name])).sum();
            assert_eq!(rows, number(sum), "{name}");
        }
    }
}

#[test]
fn a_fee_in_another_token_is_in_no_sum_of_usdc() {
    let told = total(&[
        fill(HOUR, json!({"fee": "5", "fee_token": "HYPE", "builder_fee": "1"})),
        fill(HOUR, json!({"fee": "-0.25", "builder_fee": "0.05", "closed_pnl": "2"})),
    ]);
    assert_eq!(told["fees_in"], json!({"HYPE": "5"}));
    assert_eq!([&told["fees"], &told["builder_fees"], &told["net"]], [&json!("-0.25"), &json!("0.05"), &json!("2.25")]);
}

#[test]
fn transfers_are_no_result_and_one_without_an_amount_is_counted() {
    let moved = |usdc: Value| json!({"kind": "transfer", "at_ms": HOUR, "time": HOUR, "type": "deposit", "usdc": usdc});
    let told = total(&[moved(json!("100")), moved(json!("-30.5")), moved(Value::Null)]);
    assert_eq!(
        [&told["transfers"], &told["transfers_unknown"], &told["net"]],
        [&json!("69.5"), &json!(1), &json!("0")]
    );
}

#[test]
fn a_day_begins_and_ends_with_what_was_measured_nearest_to_midnight() {
    let events = [
        balance(5 * HOUR, "10"),
        balance(DAY - 1, "20"),
        balance(DAY + 9, "21"),
        balance(DAY + 3 * HOUR, "25"),
        balance(5 * DAY + HOUR, "40"),
        balance(6 * DAY + 2 * HOUR, "50"),
    ];
    let told = reported(whole(), &events);
    let ends = |row: &Value| [row["key"].clone(), row["equity_start"].clone(), row["equity_end"].clone()];
    let rows: Vec<_> = told["rows"].as_array().unwrap().iter().map(ends).collect();
    let row = |key: u32, start: &str, end: &str| [json!(day(key).to_string()), json!(start), json!(end)];
    assert_eq!(rows, [row(0, "10", "20"), row(1, "20", "25"), row(5, "40", "50"), row(6, "50", "50")]);
    let one = reported(Question { from: Some(day(1)), to: Some(day(1)), ..whole() }, &events);
    assert_eq!([&one["total"]["equity_start"], &one["total"]["equity_end"]], [&json!("20"), &json!("25")]);
    let away = reported(Question { from: Some(day(3)), to: Some(day(3)), ..whole() }, &events);
    assert_eq!(away["total"]["equity_start"], Value::Null, "what was measured days away stands for nothing");
}

#[test]
fn the_sum_at_the_end_of_a_day_belongs_to_that_day() {
    let mut closing = balance(DAY + 700, "90");
    closing["highest"] = json!("100");
    closing["worst_fall"] = json!("10");
    let told = reported(whole(), &[balance(HOUR, "100"), closing, balance(DAY + HOUR, "90")]);
    let falls: Vec<&Value> = told["rows"].as_array().unwrap().iter().map(|row| &row["worst_drawdown"]).collect();
    assert_eq!(falls, [&json!("10"), &json!("0")]);
}

#[test]
fn days_before_the_book_are_not_recorded() {
    let decided = |at: u64| json!({"kind": "decision", "at_ms": at, "verdict": "allow", "code": "allowed"});
    let mut opened = balance(2 * DAY + HOUR, "5");
    opened["opened_ms"] = json!(2 * DAY);
    let told = reported(whole(), &[decided(HOUR), opened, decided(3 * DAY)]);
    let nets: Vec<&Value> = told["rows"].as_array().unwrap().iter().map(|row| &row["net"]).collect();
    assert_eq!(nets, [&Value::Null, &json!("0"), &json!("0")]);
    assert_eq!(told["recorded_from"], json!("1970-01-03T00:00:00.000Z"));
    let by_client = reported(Question { by: By::Client, to: Some(day(1)), ..whole() }, &[decided(HOUR)]);
    assert_eq!((&by_client["rows"][0]["net"], &by_client["rows"][0]["allowed"]), (&Value::Null, &json!(1)));
}

#[test]
fn requests_told_of_together_count_each() {
    let decided = |verdict: &str, code: &str, count: Value| json!({"kind": "decision", "at_ms": HOUR, "verdict": verdict, "code": code, "count": count});
    let told = total(&[
        decided("allow", "allowed", Value::Null),
        decided("veto", "busy", json!(40)),
        decided("veto", "busy", Value::Null),
        decided("veto", "killed", Value::Null),
    ]);
    assert_eq!([&told["allowed"], &told["resized"], &told["vetoed"]], [&json!(1), &json!(0), &json!(42)]);
    assert_eq!(told["codes"], json!({"allow allowed": 1, "veto busy": 41, "veto killed": 1}));
}

#[test]
fn a_halt_is_counted_when_it_begins() {
    let risk = |day: u64, state: &str| json!({"kind": "risk", "at_ms": day * DAY, "state": state});
    let events = [
        risk(1, "active"),
        risk(1, "halted_for_day"),
        risk(1, "halted_for_day"),
        risk(2, "active"),
        risk(3, "stopped"),
        json!({"kind": "started", "at_ms": 4 * DAY}),
        risk(4, "stopped"),
        json!({"kind": "kill", "at_ms": 4 * DAY, "reason": "x"}),
        json!({"kind": "flatten", "at_ms": 4 * DAY, "reason": "x", "actions": []}),
    ];
    let told = total(&events);
    assert_eq!([&told["halts"], &told["kills"], &told["flattens"]], [&json!(2), &json!(1), &json!(1)]);
    // Read from a start on: the halt is an old one.
    assert_eq!(total(&events[5..7])["halts"], 0);
    assert_eq!(total(&events[4..5])["halts"], 1);
}

#[test]
fn lines_that_are_missing_or_no_events_are_counted() {
    let mut taken = report(whole());
    for text in
        ["{\"seq\":1,\"at_ms\":5,\"kind\":\"kill\"}", "nonsense", "{\"seq\":4,\"at_ms\":5,\"kind\":\"fill\",\"px\":7}"]
    {
        assert_eq!(taken.take(text, true), None);
    }
    let told = Value::Object(taken.finish().to_json());
    assert_eq!((&told["missing_events"], &told["unreadable_lines"]), (&json!(2), &json!(2)));
    assert_eq!((&told["total"]["kills"], &told["total"]["net"]), (&json!(1), &Value::Null));
    // A reading that begins with the day before misses nothing; one whose first file is later does.
    for (at, missing) in [(2 * DAY, 0), (3 * DAY + 1, 6)] {
        let mut taken = report(Question { from: Some(day(3)), ..whole() });
        taken.take(&line(7, &json!({"kind": "kill", "at_ms": at})), true);
        assert_eq!(taken.finish().to_json()["missing_events"], missing, "{at}");
    }
}

/// What a life had measured is on record once its last word is; of one that broke off a worse fall may be gone.
#[test]
fn a_fall_that_a_broken_off_life_may_have_measured_is_not_known() {
    let fallen = |ms: u64| {
        let mut sum = balance(ms, "100");
        sum["worst_fall"] = json!("7");
        sum
    };
    let at = DAY + 2 * HOUR;
    let (started, stopped) =
        (|ms: u64| json!({"kind": "started", "at_ms": ms}), json!({"kind": "stopped", "at_ms": at + HOUR / 2}));
    let events = |end: &[Value], next_ms: u64| {
        [&[started(DAY), fallen(at)], end, &[started(next_ms), balance(next_ms + 9, "90")]].concat()
    };
    let later = at + HOUR / 2 + 5_000;
    for (events, is_known) in [
        (events(&[], later), false),
        (events(&[balance(later - 9_000, "95")], later), true),
        (events(&[balance(later - 9_000, "95"), stopped], later), true),
        (events(&[], at + 30_000), true),
    ] {
        let told = reported(whole(), &events);
        for figures in [&told["total"], &told["rows"][0]] {
            assert_eq!(figures["worst_drawdown"] == "7" || figures["worst_drawdown"] == "10", is_known, "{figures}");
            let why = figures["worst_drawdown_why"].as_str();
            assert_eq!(
                why.is_some_and(|why| why.contains("what it had measured since 1970-01-02T02:00")),
                !is_known,
                "{why:?}"
            );
        }
    }
    // Other days know theirs: what was lost is of an hour at most.
    let mut events = vec![started(DAY), fallen(at), started(4 * DAY + HOUR), fallen(4 * DAY + HOUR + 9)];
    events.push(balance(4 * DAY + 2 * HOUR, "90"));
    let told = reported(whole(), &events);
    let known: Vec<bool> =
        told["rows"].as_array().unwrap().iter().map(|row| !row["worst_drawdown"].is_null()).collect();
    assert_eq!(known, [false, true], "{told}");
    assert!(told["total"]["worst_drawdown"].is_null(), "{told}");
}

/// A dex of others may settle in a token of its own: what was won and paid there is no sum in USDC.
#[test]
fn amounts_in_another_token_are_no_sum_in_usdc() {
    let of = |coin: &str, token: &str| {
        fill(DAY + HOUR, json!({"coin": coin, "fee_token": token, "closed_pnl": "50", "tid": coin.len() + token.len()}))
    };
    let paid = |ms: u64, coin: &str| json!({"kind": "funding", "at_ms": ms, "time": ms, "coin": coin, "usdc": "-3", "size": "1", "rate": "0"});
    let events = [
        of("ETH", "USDC"),
        of("xyz:GOLD", "USDC"),
        of("@107", "HYPE"),
        of("flx:OIL", "USDH"),
        paid(2 * DAY + HOUR, "flx:OIL"),
        paid(3 * DAY + HOUR, "xyz:GOLD"),
    ];
    let told = reported(whole(), &events);
    let rows: Vec<_> = told["rows"].as_array().unwrap().iter().collect();
    for (figures, known) in [(rows[0], false), (rows[1], false), (rows[2], true), (&told["total"], false)] {
        for name in ["volume", "gross", "funding", "net"] {
            assert_eq!(figures[name].is_string(), known, "{name} of {figures}");
        }
        assert_eq!(
            figures["net_why"].as_str().is_some_and(|why| why.contains("another token than USDC")),
            !known,
            "{figures}"
        );
        assert!(figures["fees"].is_string(), "{figures}");
    }
    assert_eq!((&rows[2]["net"], &told["total"]["fees_in"]["USDH"]), (&json!("-3"), &json!("0.1")));
    // What its fills tell later counts for what was paid before, and what none has told is not known.
    for (told, known) in [(Some("USDC"), true), (Some("USDH"), false), (None, false)] {
        let fills = told.map(|token| of("abc:GOLD", token));
        let events: Vec<Value> = [paid(DAY, "abc:GOLD")].into_iter().chain(fills).collect();
        assert_eq!(reported(whole(), &events)["total"]["funding"].is_string(), known, "{events:?}");
    }
    let by_market = reported(Question { by: By::Market, ..whole() }, &events);
    let net: Vec<(&Value, &Value)> =
        by_market["rows"].as_array().unwrap().iter().map(|row| (&row["key"], &row["net"])).collect();
    assert!(
        net.contains(&(&json!("ETH"), &json!("49.9"))) && net.contains(&(&json!("flx:OIL"), &Value::Null)),
        "{net:?}"
    );
}
