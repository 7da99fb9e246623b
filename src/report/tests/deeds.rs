//! The guard's own deeds: its stops, and the entries that it cut.

use serde_json::{Value, json};

use super::{report, reported, whole};
use crate::report::{By, Question};

const CLIENT: &str = "0xc1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1";
const ENTRY: &str = "0x05050505050505050505050505050505";
const OWN: &str = "0x73766367726401000100000000000001";

fn stop(cloid: &str, size: &str) -> Value {
    let trigger = json!({"trigger": {"isMarket": true, "triggerPx": "90", "tpsl": "sl"}});
    json!({"a": 1, "b": false, "p": "81", "s": size, "r": true, "t": trigger, "c": cloid})
}

fn entry(size: &str, reduces: bool) -> Value {
    json!({"a": 1, "b": true, "p": "100", "s": size, "r": reduces, "t": {"limit": {"tif": "Gtc"}}, "c": ENTRY})
}

fn order(orders: &[Value]) -> Value {
    json!({"type": "order", "orders": orders, "grouping": "na"})
}

/// An entry of 3 of which 1 is let through, with a stop of the guard's.
fn cut() -> Value {
    json!({
        "kind": "decision", "at_ms": 1, "client": CLIENT, "verdict": "resize", "code": "resized",
        "request": order(&[entry("3", false)]), "pre": [], "post": [], "nonces": [1],
        "forward": order(&[entry("1", false), stop(OWN, "1")]),
    })
}

fn sent(decision: u64, ok: bool, reply: &Value) -> Value {
    json!({"kind": "sent", "at_ms": 2, "decision": decision, "index": 0, "nonce": 1, "ok": ok, "reply": reply})
}

fn fill(side: &str, px: &str, size: &str, positions: (&str, &str), cloid: &str) -> Value {
    json!({
        "kind": "fill", "at_ms": 3, "time": 3, "coin": "ETH", "side": side, "px": px, "size": size, "fee": "0",
        "fee_token": "USDC", "closed_pnl": "0", "position_before": positions.0, "position_after": positions.1, "oid": 9,
        "tid": 1, "cloid": cloid, "intent": 1, "client": CLIENT,
    })
}

fn entered() -> [Value; 2] {
    [fill("buy", "100", "0.4", ("0", "0.4"), ENTRY), fill("buy", "101", "0.6", ("0.4", "1"), ENTRY)]
}

fn stopped() -> [Value; 2] {
    [fill("sell", "91", "0.5", ("1", "0.5"), OWN), fill("sell", "89", "0.5", ("0.5", "0"), OWN)]
}

fn total(events: &[Value]) -> Value {
    reported(whole(), events)["total"].clone()
}

/// Cuts, those followed, and their result.
fn cuts(events: &[Value]) -> [Value; 3] {
    let told = total(events);
    ["cuts", "cuts_followed", "cut_result"].map(|name| told[name].clone())
}

#[test]
fn a_stop_is_placed_when_the_venue_took_it() {
    let answered = json!({"status": "ok"});
    assert_eq!(total(&[cut()])["stops_placed"], 0);
    assert_eq!(total(&[cut(), sent(1, true, &answered)])["stops_placed"], 1);
    assert_eq!(total(&[cut(), sent(1, false, &answered)])["stops_placed"], 0);
    let unanswered = sent(1, false, &json!({"error": "cut"}));
    let found = |outcome: &str| json!({"kind": "recovered", "at_ms": 4, "intent": 1, "index": 0, "outcome": outcome});
    assert_eq!(total(&[cut(), unanswered.clone(), found("happened")])["stops_placed"], 1);
    assert_eq!(total(&[cut(), unanswered, found("did_not_happen")])["stops_placed"], 0);
    let protect = |sent: bool| json!({"kind": "protect", "at_ms": 1, "coins": ["ETH"], "actions": [order(&[stop(OWN, "1")])], "sent": sent});
    assert_eq!(total(&[protect(true), sent(1, true, &answered)])["stops_placed"], 1);
    assert_eq!(total(&[protect(false)])["stops_placed"], 1, "in paper mode nothing is sent");
    let intent = json!({"kind": "intent", "at_ms": 1, "of": 1, "action": order(&[stop(OWN, "1")]), "nonces": [1]});
    assert_eq!(total(&[intent, sent(1, true, &answered)])["stops_placed"], 1);
}

#[test]
fn a_fill_of_the_guards_is_a_stop_where_its_order_was_one() {
    assert_eq!(total(&[cut(), stopped()[0].clone()])["stops_fired"], 1);
    assert_eq!(total(&[fill("sell", "91", "1", ("1", "0"), OWN)])["stops_fired"], 0, "a close of event 1");
    assert_eq!(total(&[fill("sell", "91", "1", ("1", "0"), ENTRY)])["stops_fired"], 0, "a client's");
    // An order of the guard's own that is older than what was read rested, and its closes never do.
    let mut taken = report(whole());
    taken.take(&super::line(5, &fill("sell", "91", "1", ("1", "0"), OWN)), true);
    assert_eq!(taken.finish().to_json()["total"]["stops_fired"], 1);
}

#[test]
fn a_cut_that_was_filled_and_stopped_whole_has_a_result() {
    let events = [&[cut()][..], &entered(), &stopped()].concat();
    // Two more at 100.6 on average, stopped at 90.
    assert_eq!(cuts(&events), [json!(1), json!(1), json!("-21.2")]);
    for (by, key) in [(By::Client, CLIENT), (By::Market, "ETH")] {
        let told = reported(Question { by, ..whole() }, &events);
        let row = told["rows"].as_array().unwrap().iter().find(|row| row["key"] == key).unwrap();
        assert_eq!(row["cut_result"], "-21.2");
    }
    let short = |events: &mut [Value]| {
        for event in events {
            let text = event.to_string().replace("\"b\":true", "\"b\":0").replace("\"b\":false", "\"b\":true");
            let text =
                text.replace("\"b\":0", "\"b\":false").replace("\"buy\"", "\"x\"").replace("\"sell\"", "\"buy\"");
            *event = serde_json::from_str(&text.replace("\"x\"", "\"sell\"")).unwrap();
        }
    };
    let mut turned = events;
    short(&mut turned);
    assert_eq!(cuts(&turned)[2], json!("21.2"), "a short that is stopped below its price won");
}

#[test]
fn a_cut_that_went_another_way_has_none() {
    let with = |at: usize, change: &dyn Fn(&mut Value)| {
        let mut events = [&[cut()][..], &entered(), &stopped()].concat();
        change(&mut events[at]);
        cuts(&events)
    };
    let none = [json!(1), json!(0), Value::Null];
    assert_eq!(with(1, &|fill| fill["position_before"] = json!("2")), none, "a position was there before");
    assert_eq!(with(1, &|fill| fill["size"] = json!("0.3")), none, "it did not fill wholly");
    assert_eq!(with(2, &|fill| fill["late"] = json!(true)), none, "heard of late");
    assert_eq!(with(3, &|fill| fill["cloid"] = json!(ENTRY)), none, "the client closed it");
    assert_eq!(with(3, &|fill| fill["side"] = json!("buy")), none, "it grew");
    assert_eq!(with(4, &|fill| fill["position_after"] = json!("0.1")), none, "it was not closed wholly");
    assert_eq!(with(4, &|fill| fill["position_after"] = Value::Null), none, "nobody knows whether it was");
    let mut other = [&[cut()][..], &entered()[..1], &stopped()].concat();
    other.insert(2, fill("buy", "100", "0.6", ("0.4", "1"), OWN));
    assert_eq!(cuts(&other), none, "another order came between");
    // Fills of other markets are no matter.
    let mut elsewhere = [&[cut()][..], &entered(), &stopped()].concat();
    let mut fill = fill("buy", "1", "1", ("0", "1"), OWN);
    fill["coin"] = json!("BTC");
    elsewhere.insert(2, fill);
    assert_eq!(cuts(&elsewhere)[1], json!(1));
}

#[test]
fn only_a_smaller_entry_is_a_cut() {
    let mut whole = cut();
    whole["request"] = order(&[entry("1.0", false)]);
    assert_eq!(cuts(&[whole])[0], 0, "a stop was attached, no size cut");
    let mut flip = cut();
    flip["post"] = json!([order(&[entry("2", true)])]);
    assert_eq!(cuts(&[flip])[0], 0, "a flip that went out as two orders");
    let mut exit = cut();
    exit["request"] = order(&[entry("3", true)]);
    assert_eq!(cuts(&[exit])[0], 0, "what closes is cut to the position");
    let mut two = cut();
    two["request"] = order(&[entry("2", false), entry("2", false)]);
    assert_eq!(cuts(&[&[two][..], &entered(), &stopped()].concat()), [json!(1), json!(0), Value::Null]);
}
