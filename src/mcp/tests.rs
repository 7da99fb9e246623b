//! The pure parts: lines, eras, arguments, orders, names, records.

use rust_decimal::{Decimal, dec};
use serde_json::{Map, Value, json};

use super::args::Args;
use super::context::GuardRequirements;
use super::guard_client::{GuardUrl, UrlError};
use super::order::{OrderRequest, OrderType, limit_through};
use super::outcome::{Kind, OrderInfo, Outcome, Retry, Rule};
use super::protocol_version::ProtocolVersion;
use super::settlement_view::{Record, Settlement, SettlementView};
use super::status::Status;
use super::wire::{Incoming, read};
use super::{client_id, sanitize, texts, tools};
use crate::base::address::Address;
use crate::base::text::visible;
use crate::guard::Code;
use crate::venue::action::Grouping;
use crate::venue::market::Market;
use crate::venue::order::Tif;

fn market() -> Market {
    Market {
        asset: 1,
        coin: "ETH".into(),
        size_decimals: 4,
        max_leverage: 25,
        is_delisted: false,
        only_isolated: false,
    }
}

fn code(line: &str) -> i64 {
    match read(line.as_bytes()) {
        Incoming::Bad(reply) => serde_json::from_str::<Value>(&reply).unwrap()["error"]["code"].as_i64().unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_line_is_a_request_or_is_refused_or_passed_over() {
    let line = r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x","arguments":{"size":0.10}}}"#;
    let Incoming::Request(request) = read(line.as_bytes()) else { panic!() };
    assert_eq!((request.id, request.method.as_str()), (json!("a"), "tools/call"));
    assert_eq!(request.arguments.as_deref(), Some(r#"{"size":0.10}"#), "as it was written");
    assert_eq!(read(br#"{"jsonrpc":"2.0","method":"ping"}"#), Incoming::Ignored);
    assert_eq!(read(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#), Incoming::Ignored);
    assert_eq!(code("{"), -32_700);
    assert_eq!(code("[]"), -32_600);
    assert_eq!(code(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#), -32_600);
    assert_eq!(code(r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":1}"#), -32_602);
    // An id that cannot be given back is null; one that can is given back also with a request that cannot stand.
    for (line, id) in [("[", json!(null)), (r#"{"id":[1]}"#, json!(null)), (r#"{"id":"a"}"#, json!("a"))] {
        let Incoming::Bad(reply) = read(line.as_bytes()) else { panic!() };
        assert_eq!(serde_json::from_str::<Value>(&reply).unwrap().get("id"), Some(&id), "{reply}");
    }
}

#[test]
fn the_era_is_chosen_by_what_the_request_names() {
    let params = |meta: Value| Map::from_iter([("_meta".to_owned(), meta)]);
    let (version, capabilities) =
        ("io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities");
    let of = |meta: Value| ProtocolVersion::of("tools/list", &params(meta)).map_err(|error| error.code);
    assert_eq!(of(json!({"progressToken": 1})), Ok(ProtocolVersion::Handshake));
    assert_eq!(of(json!({version: "2026-07-28", capabilities: {}})), Ok(ProtocolVersion::Stateless));
    assert_eq!(of(json!({version: "2026-07-28"})), Err(-32_602));
    assert_eq!(of(json!({capabilities: {}})), Err(-32_602));
    assert_eq!(of(json!({version: "2025-11-25", capabilities: {}})), Err(-32_022));
    assert_eq!(
        ProtocolVersion::of("initialize", &params(json!({version: "2026-07-28", capabilities: {}}))),
        Ok(ProtocolVersion::Handshake)
    );
    assert_eq!(ProtocolVersion::of("server/discover", &Map::new()).map_err(|error| error.code), Err(-32_602));
}

fn amount(json: &str) -> Result<Option<Decimal>, String> {
    let args = Args::parse(Some(&format!("{{\"size\":{json}}}")), &["size"]).unwrap();
    args.amount("size").map_err(|fault| fault.to_string())
}

#[test]
fn an_amount_is_read_from_its_own_digits() {
    assert_eq!(amount(r#""0.50""#), Ok(Some(dec!(0.5))));
    assert_eq!(amount("0.1"), Ok(Some(dec!(0.1))));
    assert_eq!(
        amount("123456789012.12345678"),
        Ok(Some(dec!(123456789012.12345678))),
        "more digits than a double holds"
    );
    assert_eq!(amount("null"), Ok(None));
    for bad in
        ["0", "-1", "1e5", r#""1e5""#, r#""""#, r#"" 1""#, "true", "[]", "{}", "0.1000000000000000001", r#""NaN""#]
    {
        let fault = amount(bad).unwrap_err();
        assert!(fault.starts_with("argument `size`: expected a decimal above 0"), "{fault}");
    }
}

#[test]
fn arguments_are_known_and_given_once() {
    let fault = |text: &str| Args::parse(Some(text), &["coin"]).unwrap_err().to_string();
    assert!(fault(r#"{"coin":"A","coin":"B"}"#).contains("found it twice"));
    assert!(fault(r#"{"other":1}"#).contains("expected one of coin"));
    assert!(Args::parse(None, &[]).is_ok() && Args::parse(Some("null"), &[]).is_ok());
    let args = |text: &str| Args::parse(Some(text), &["coin", "client_id", "order_id", "limit", "reason"]).unwrap();
    assert_eq!(args(r#"{"order_id":"77"}"#).required_whole("order_id", 0..=99).unwrap(), 77);
    assert!(args(r#"{"order_id":100}"#).required_whole("order_id", 0..=99).is_err());
    assert!(args(r#"{"order_id":1.0}"#).required_whole("order_id", 0..=99).is_err());
    assert_eq!(args("{}").limit(20, 100).unwrap(), 20);
    for bad in ["", "a b", "é", &"x".repeat(65)] {
        assert!(args(&json!({ "client_id": bad }).to_string()).client_id().is_err(), "{bad}");
    }
    assert_eq!(args(r#"{"reason":" a\nb\u0007 "}"#).required_reason().unwrap(), "a b");
    assert!(args(r#"{"reason":"\u200b"}"#).required_reason().is_err());
}

fn wish(more: &Value) -> Result<OrderRequest, String> {
    let mut args =
        json!({"coin": "ETH", "side": "buy", "type": "limit", "size": "0.1", "limit_price": "2400", "client_id": "x"});
    let changed = more.as_object().unwrap().clone();
    args.as_object_mut().unwrap().extend(changed);
    let args = Args::parse(Some(&args.to_string()), &OrderRequest::NAMES).map_err(|fault| fault.name)?;
    OrderRequest::read(&args).map_err(|fault| fault.name)
}

#[test]
fn arguments_that_belong_together_are_held_together() {
    assert_eq!(wish(&json!({})).unwrap().kind, OrderType::Limit(dec!(2400), Tif::Gtc));
    assert_eq!(wish(&json!({"type": "market", "limit_price": null})).unwrap().kind, OrderType::Market);
    for (more, fault) in [
        (json!({"type": "market"}), "limit_price"),
        (json!({"type": "market", "limit_price": null, "tif": "ioc"}), "tif"),
        (json!({"limit_price": null}), "limit_price"),
        (json!({"reduce_only": true, "stop_loss_price": "1"}), "stop_loss_price"),
        (json!({"reduce_only": true, "take_profit_price": "1"}), "take_profit_price"),
    ] {
        assert_eq!(wish(&more).unwrap_err(), fault);
    }
}

#[test]
fn nothing_is_rounded_and_protection_hangs_under_the_order() {
    let cloid = client_id::cloid(Address([1; 20]), "x");
    let build = |more: Value| {
        let wish = wish(&more).unwrap();
        let OrderType::Limit(px, tif) = wish.kind else { panic!() };
        wish.orders(&market(), super::order::LimitTerms { px, tif }, cloid).map_err(|outcome| outcome.rule.unwrap().id)
    };
    let action = build(json!({"stop_loss_price": "2350", "take_profit_price": "2500"})).unwrap();
    assert_eq!((action.grouping, action.orders.len()), (Grouping::NormalTpsl, 3));
    assert_eq!(action.orders[2].market_stop_px(), Some(dec!(2350)));
    assert_eq!((action.orders[2].limit_px, action.orders[2].is_buy), (dec!(2115), false));
    assert_eq!((action.orders[0].cloid, action.orders[1].cloid), (Some(cloid), None));
    assert_eq!(build(json!({})).unwrap().grouping, Grouping::Na);
    for (more, rule) in [
        (json!({"size": "0.00001"}), "size_invalid"),
        (json!({"limit_price": "2400.55"}), "price_invalid"),
        (json!({"stop_loss_price": "2400"}), "argument_stop_loss_price"),
        (json!({"take_profit_price": "2399"}), "argument_take_profit_price"),
    ] {
        assert_eq!(build(more).unwrap_err(), rule);
    }
    assert_eq!(limit_through(&market(), true, dec!(2500), dec!(0.5)).px, dec!(2512.5));
    assert_eq!(limit_through(&market(), false, dec!(2500.03), dec!(0.5)).px, dec!(2487.6), "toward the mid");
}

#[test]
fn a_name_is_one_id_in_every_process_and_for_one_key() {
    let cloid = |client: u8, name: &str| client_id::cloid(Address([client; 20]), name).to_string();
    assert!(cloid(1, "a").starts_with("0x7376636f6e63"));
    assert_eq!(cloid(1, "a"), cloid(1, "a"));
    assert_ne!(cloid(1, "a"), cloid(1, "b"));
    assert_ne!(cloid(1, "a"), cloid(2, "a"));
}

#[test]
fn what_others_wrote_is_bounded_and_shows_all_that_it_holds() {
    assert_eq!(visible("a\u{1b}[31m\r\n\u{202e}b\u{200b}c\u{e0041}", 20), "a[31m  bc");
    assert_eq!(visible("a\u{3164}\u{2800}\u{34f}\u{ffa0}b", 20), "ab", "letters that show nothing");
    assert_eq!(visible(&"x".repeat(30), 5), "xxxxx…");
    let deep = (0..40).fold(json!("x"), |inner, _| json!([inner]));
    assert!(sanitize::value(&deep).to_string().len() < 60);
    assert_eq!(sanitize::value(&json!(vec![0; 1000])).as_array().unwrap().len(), 64);
}

#[test]
fn what_became_of_a_request_is_read_from_its_record() {
    let record = |sent: Value, recovered: Value, done: bool| {
        let done = if done { json!({"kind": "done", "intent": 3}) } else { Value::Null };
        let pre = json!([{}]);
        json!({"decision": {"seq": 3, "kind": "decision", "verdict": "resize", "nonces": [1, 2], "pre": pre, "forward": {}},
               "intents": [], "sent": sent, "recovered": recovered, "done": done})
    };
    let sent = |index: u64, reply: Value, ok: bool| json!({"kind": "sent", "decision": 3, "index": index, "reply": reply, "ok": ok});
    let (good, lost) = (json!({"status": "ok"}), json!({"error": "no answer"}));
    let refused = json!({"status": "err", "response": "no"});
    for (record, settlement) in [
        (record(json!([]), json!([]), false), Settlement::InProgress),
        (record(json!([sent(0, good.clone(), true)]), json!([]), true), Settlement::NotDone),
        (
            record(json!([sent(0, good.clone(), true), sent(1, good.clone(), true)]), json!([]), true),
            Settlement::Replied(good),
        ),
        (record(json!([sent(1, lost.clone(), false)]), json!([]), true), Settlement::InDoubt),
        (record(json!([sent(0, lost, false)]), json!([]), true), Settlement::NotDone),
        (record(json!([sent(0, refused.clone(), false)]), json!([]), true), Settlement::BlockedByRefusal(refused)),
        (
            record(json!([]), json!([{"kind": "recovered", "intent": 3, "index": 1, "outcome": "happened"}]), true),
            Settlement::Done,
        ),
        (
            record(
                json!([]),
                json!([{"kind": "recovered", "intent": 3, "index": 1, "outcome": "did_not_happen"}]),
                true,
            ),
            Settlement::NotDone,
        ),
        (
            record(json!([]), json!([{"kind": "recovered", "intent": 3, "index": 1, "outcome": "moot"}]), true),
            Settlement::Done,
        ),
        (
            record(json!([]), json!([{"kind": "recovered", "intent": 3, "index": 1, "outcome": "unknown"}]), true),
            Settlement::GaveUp,
        ),
        (
            record(json!([]), json!([{"kind": "recovered", "intent": 9, "index": 1, "outcome": "happened"}]), false),
            Settlement::InProgress,
        ),
        (json!({"decision": {"seq": 3, "kind": "decision", "verdict": "allow"}}), Settlement::Paper),
    ] {
        let read: Record = serde_json::from_value(record.clone()).unwrap();
        assert_eq!(SettlementView::of(&read).unwrap().settlement(), settlement, "{record}");
    }
}

#[test]
fn only_loopback_is_called() {
    for (text, kept) in [
        ("http://127.0.0.1:8547", "http://127.0.0.1:8547"),
        ("http://localhost:1/", "http://127.0.0.1:1"),
        ("http://[::1]:8547", "http://[::1]:8547"),
        ("http://127.9.9.9", "http://127.9.9.9:80"),
    ] {
        assert_eq!(GuardUrl::parse(text).unwrap().to_string(), kept);
    }
    for text in [
        "http://10.0.0.1:1",
        "http://0.0.0.0:1",
        "http://x.test:1",
        "http://localhost.x.test",
        "http://[::2]:1",
        "http://2130706433:1",
    ] {
        assert_eq!(GuardUrl::parse(text), Err(UrlError::NotLoopback), "{text}");
    }
    for text in [
        "",
        "https://127.0.0.1:1",
        "http://",
        "http://:1",
        "http://127.0.0.1:0",
        "http://127.0.0.1:1/x",
        "http://u@127.0.0.1:1",
    ] {
        assert_eq!(GuardUrl::parse(text), Err(UrlError::Form), "{text}");
    }
}

#[test]
fn a_server_that_only_reads_has_no_tool_that_writes() {
    assert!(tools::served(true).all(|tool| tool.hints.read_only) && tools::served(true).count() == 9);
    assert_eq!(tools::served(false).count(), 15);
    for tool in &tools::TOOLS {
        let listed = tool.listed();
        assert!(tool.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') && tool.name.len() <= 64);
        assert!(["oneOf", "anyOf", "allOf"].iter().all(|union| listed["inputSchema"].get(union).is_none()));
        assert_eq!(listed.get("outputSchema").is_some(), !tool.hints.read_only);
    }
}

#[test]
fn every_code_has_advice_and_only_what_is_taken_is_no_error() {
    for code in Code::ALL {
        assert_ne!(texts::advice(code.as_str()), texts::UNKNOWN_CODE, "{code}");
    }
    assert_eq!(texts::advice("another_code"), texts::UNKNOWN_CODE);
    for kind in Kind::ALL {
        let outcome = Outcome::new(kind, Retry::Never, "x");
        assert_eq!(outcome.is_error(), kind != Kind::Accepted);
    }
}

#[test]
fn an_outcome_is_written_in_one_order_and_leaves_out_what_is_not_known() {
    let bare = Outcome::new(Kind::VenueRejected, Retry::AfterChange, "m");
    assert_eq!(
        bare.to_json().to_string(),
        r#"{"outcome":"venue_rejected","message":"m","retry":"after_change","kill":{"pulled":null,"reason":null}}"#
    );
    let full = Outcome {
        rule: Some(Rule { id: "killed".to_owned(), limit: None, observed: Some("1".to_owned()) }),
        order: Some(OrderInfo { id: Some(7), filled: Some("0.1".to_owned()), ..OrderInfo::default() }),
        decision_id: Some(3),
        changes: vec!["c".to_owned()],
        kill: Some(Some("why".to_owned())),
        unprotected: Some(false),
        paper: true,
        guard_says: Some("g".to_owned()),
        venue_says: Some("v".to_owned()),
        ..Outcome::new(Kind::Accepted, Retry::CheckFirst, "m")
    };
    assert_eq!(
        full.to_json().to_string(),
        concat!(
            r#"{"outcome":"accepted","message":"m","retry":"check_first","#,
            r#""rule":{"id":"killed","limit":null,"observed":"1"},"#,
            r#""order":{"id":7,"client_id":null,"status":null,"filled":"0.1","avg_price":null},"#,
            r#""decision_id":3,"changes":["c"],"unprotected":false,"paper":true,"guard_says":"g","venue_says":"v","#,
            r#""kill":{"pulled":true,"reason":"why"}}"#
        )
    );
    let released = Outcome { kill: Some(None), ..bare };
    assert!(released.to_json().to_string().ends_with(r#""kill":{"pulled":false,"reason":null}}"#));
}

/// The key of the guard's own wallet would trade past it.
#[test]
fn a_guard_is_not_served_with_its_own_wallets_key() {
    let address = |last: u8| Address([last; 20]);
    let status = json!({"schema": 1, "mode": "testnet", "account": address(1), "api_wallet": address(2)});
    let status = Status::read(status).unwrap();
    let check = |signer| GuardRequirements { network: None, account: None, signer }.check(&status);
    assert_eq!(check(Some(address(3))), Ok(()));
    assert_eq!(check(None), Ok(()));
    for own in [1, 2] {
        assert!(check(Some(address(own))).unwrap_err().contains("no agent must have it"));
    }
}
