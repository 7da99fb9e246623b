//! The shapes of events: fields, order and when they are told.

use rust_decimal::dec;
use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::{Command, Guard, Input, Mode};
use crate::rules::Rules;

fn keys(event: &Value) -> Vec<&str> {
    event.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn a_decision_has_the_fields_of_its_table() {
    let head = ["seq", "at_ms", "kind", "via", "client", "signed_as", "nonce", "action", "verdict", "code", "text"];
    let tail = ["request", "pre", "forward", "post"];
    let fields = |more: &[&'static str], last: &[&'static str]| [&head[..], more, &tail, last].concat();
    let mut live = Desk::live();
    let resized = live.order(buy(ETH, "2000", "0.1"));
    assert_eq!(keys(&resized.event), fields(&["changes", "coins"], &["nonces"]));
    let allowed = live.ask(json!({"type": "noop"}));
    assert_eq!(keys(&allowed.event), fields(&[], &["nonces"]));
    let vetoed = live.order(buy(OLD, "1", "100"));
    assert_eq!(keys(&vetoed.event), fields(&["coins"], &[]));
    assert_eq!((&vetoed.event["pre"], &vetoed.event["post"]), (&json!([]), &json!([])));
    assert_eq!(vetoed.event["forward"], Value::Null);
    let paper = Desk::paper().order(buy(ETH, "2000", "0.1"));
    assert_eq!(keys(&paper.event), fields(&["changes", "coins"], &[]));
}

#[test]
fn a_decision_tells_who_asked_for_what() {
    let mut desk = Desk::live();
    let request = place(vec![buy(ETH, "2000.0", "0.10")]);
    let decided = desk.ask(request.clone());
    let event = &decided.event;
    assert_eq!(event["request"], request, "as received, zeros and all");
    assert_eq!(event["client"], json!(CLIENT));
    assert_eq!((&event["via"], &event["signed_as"]), (&json!("http"), &json!("testnet")));
    assert_eq!((&event["nonce"], &event["at_ms"]), (&json!(NOW + 1), &json!(NOW)));
    assert_eq!((&event["action"], &event["kind"]), (&json!("order"), &json!("decision")));
    assert_eq!(event["text"].as_str().unwrap(), event["changes"][0].as_str().unwrap());
    assert_eq!(decided.effects.records[0].keys.nonce, Some(NOW + 1));
    assert_eq!(decided.sent_order(0)["p"], "2000");
    assert_eq!(decided.sent_order(0)["s"], "0.1");
}

#[test]
fn a_decision_is_found_by_its_client_order_ids() {
    let decided = Desk::live().order(with(buy(ETH, "2000", "0.1"), "/c", cloid(5)));
    let id = serde_json::from_value(cloid(5)).unwrap();
    assert!(decided.effects.records[0].keys.cloids.contains(&id));
    assert_eq!(decided.effects.records[0].seq, decided.seq());
}

#[test]
fn events_are_numbered_without_a_gap() {
    let mut desk = Desk::live();
    let mut last = desk.guard.last_seq();
    for _ in 0..5 {
        desk.now += 2_000;
        desk.read();
        let effects = desk.post(place(vec![buy(ETH, "1999", "0.01")]));
        for event in events(&effects) {
            last += 1;
            assert_eq!(event["seq"], last);
        }
    }
    assert_eq!(desk.guard.last_seq(), last);
}

#[test]
fn started_tells_the_set_up() {
    let mut guard = Guard::new(config(Mode::Paper, Rules::default()), 41);
    let effects = guard.start(NOW);
    let wanted = json!({
        "seq": 42, "at_ms": NOW, "kind": "started", "schema": 1, "version": env!("CARGO_PKG_VERSION"),
        "mode": "paper", "account": ACCOUNT, "rules": Rules::default().to_code(), "clients": [CLIENT],
    });
    assert_eq!(events(&effects), [wanted]);
}

/// Whoever pulls it, and whatever the file says: everybody may read why.
#[test]
fn a_key_in_the_reason_of_a_kill_is_told_to_nobody() {
    let reason = || format!("leaked 0x{} today", "ab".repeat(32));
    for input in [
        Input::Kill { reason: reason(), by: None, write_file: true, request: None },
        Input::KilledBefore { reason: reason() },
    ] {
        let mut desk = Desk::live();
        let effects = desk.step(input);
        let told = format!("{:?} {}", effects, desk.guard.status_json(desk.now, (0, 0)));
        assert!(told.contains("leaked (64 hex digits, as of a key) today") && !told.contains("abababab"), "{told}");
    }
}

#[test]
fn the_kill_switch_latches_once() {
    let mut desk = Desk::live();
    let kill = |reason: &str, by, request| Input::Kill { reason: reason.into(), by, write_file: true, request };
    let effects = desk.step(kill("enough", Some(CLIENT), Some(7)));
    let told = events(&effects);
    let wanted = json!({"seq": desk.guard.last_seq() - 2, "at_ms": NOW, "kind": "kill",
        "reason": format!("enough (client {CLIENT})"), "at_start": false});
    assert_eq!(told[0], wanted);
    assert_eq!(told[1..].iter().map(|event| &event["kind"]).collect::<Vec<_>>(), ["flatten", "done"]);
    // The file is written by whoever writes the journal, before the client hears of it.
    let is_as_wanted = matches!(&effects.after_commit[..],
        [Command::WriteKillFile(reason), Command::Answer(answer)] if reason == "enough" && answer.request == 7);
    assert!(is_as_wanted, "{:?}", effects.after_commit);
    assert_eq!(answers(&effects), [json!({"killed": "enough"})]);
    let effects = desk.step(kill("again", None, Some(8)));
    assert!(events(&effects).is_empty() && effects.immediate.is_empty() && effects.after_commit.len() == 1);
    assert_eq!(answers(&effects), [json!({"killed": "enough"})]);
}

#[test]
fn a_kill_file_that_was_there_at_the_start_is_told_as_such() {
    let mut desk = Desk::live();
    let effects = desk.step(Input::KilledBefore { reason: "before".into() });
    assert_eq!((&events(&effects)[0]["reason"], &events(&effects)[0]["at_start"]), (&json!("before"), &json!(true)));
    assert!(effects.after_commit.is_empty(), "its file is there");
    assert_eq!(desk.guard.killed.as_deref(), Some("before"));
    assert!(events(&desk.step(Input::KilledBefore { reason: "again".into() })).is_empty());
}

#[test]
fn risk_is_told_when_it_changes() {
    let mut desk = Desk::blank(config(Mode::Testnet, Rules::default()));
    let effects = desk.read_account(NOW);
    let wanted = json!({
        "seq": 2, "at_ms": NOW, "kind": "risk", "state": "active", "details": null, "equity": "10000",
        "open_positions": 0, "discrepancies": [], "journal_error": null,
    });
    assert_eq!(events(&effects), [wanted]);
    assert!(desk.read_account(NOW).records.is_empty());
    desk.positions.insert("ETH", dec!(1));
    assert_eq!(events(&desk.read_account(NOW))[0]["open_positions"], 1);
    let effects = desk.step(Input::Journal(Some("full".into())));
    assert_eq!(events(&effects)[0]["journal_error"], "full");
}

#[test]
fn trouble_and_stop_are_told() {
    let mut desk = Desk::live();
    let told = events(&desk.step(Input::Trouble("the venue is away".into())));
    assert_eq!((&told[0]["kind"], &told[0]["text"]), (&json!("error"), &json!("the venue is away")));
    desk.step(Input::Shutdown { reason: "SIGTERM".into() });
    let effects = desk.step(Input::SendsEnded);
    let told = events(&effects);
    assert_eq!((&told[0]["kind"], &told[0]["reason"]), (&json!("stopped"), &json!("SIGTERM")));
    assert!(matches!(&effects.after_commit[..], [Command::FinishShutdown]));
    assert!(desk.step(Input::SendsEnded).records.is_empty());
}

#[test]
fn a_veto_names_its_limit_and_the_actual_value_for_programs() {
    let rules = Rules { leverage: 5, order_value: Some(dec!(10)), orders_per_minute: 1, ..wide() };
    let mut desk = Desk::new(Mode::Testnet, rules);
    let figures = |decided: &Decided| {
        let told = decided.reply()["guard"].clone();
        assert_eq!((&told["limit"], &told["actual"]), (&decided.event["limit"], &decided.event["actual"]));
        (told["limit"].as_str().unwrap_or("-").to_owned(), told["actual"].as_str().unwrap_or("-").to_owned())
    };
    let pair = |limit: &str, actual: &str| (limit.to_owned(), actual.to_owned());
    let leverage = json!({"type": "updateLeverage", "asset": ETH, "isCross": true, "leverage": 6});
    assert_eq!(figures(&desk.ask(leverage)), pair("5", "6"));
    let dear = desk.order(buy(ETH, "1990", "0.1"));
    assert_eq!(figures(dear.vetoed("order_value_limit")), pair("10.00", "199.00"));
    let batch = desk.orders(vec![buy(ETH, "1990", "0.1"), buy(ETH, "1991", "0.1")]);
    assert_eq!(figures(&batch), pair("10.00", "199.00"));
    assert_eq!(figures(desk.order(buy(ETH, "1990.55", "0.1")).vetoed("price_invalid")), pair("-", "-"));
}

/// Who looks for a market finds every decision about it, whatever its text says.
#[test]
fn a_decision_names_its_markets() {
    let leverage = json!({"type": "updateLeverage", "asset": BTC, "isCross": true, "leverage": 3});
    let by_cloid = json!({"type": "cancelByCloid", "cancels": [{"asset": ETH, "cloid": cloid(1)}]});
    let many: Vec<Value> = (0..30).map(|asset| json!({"a": asset, "o": 1})).collect();
    for (action, coins) in [
        (place(vec![buy(ETH, "1990", "0.1")]), json!(["ETH"])),
        (
            json!({"type": "cancel", "cancels": [{"a": ETH, "o": 1}, {"a": BTC, "o": 2}, {"a": ETH, "o": 3}]}),
            json!(["BTC", "ETH"]),
        ),
        (by_cloid, json!(["ETH"])),
        (leverage, json!(["BTC"])),
        (json!({"type": "noop"}), Value::Null),
    ] {
        let told = events(&Desk::live().post(action.clone()));
        let decision = told.iter().find(|event| event["kind"] == "decision").unwrap();
        assert_eq!(decision["coins"], coins, "{action}");
    }
    let told = events(&Desk::live().post(json!({"type": "cancel", "cancels": many})));
    assert_eq!(told[0]["coins"].as_array().unwrap().len(), 20);
}
