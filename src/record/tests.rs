//! Every golden line reads back as what it says and writes itself again, byte for byte.

use serde_json::{Value, json};

use super::decision_view::{DecisionRecord, DecisionView};
use super::error_body::{ErrorBody, Health};
use super::event::{Event, KINDS, Kind};
use super::risk_record::RiskRecord;
use super::status::Status;

const EVENTS: &str = include_str!("../../tests/data/golden_events.jsonl");
const RISK_RECORDS: &str = include_str!("../../tests/data/golden_risk.jsonl");
const STATUS: &str = include_str!("../../tests/data/golden_status.jsonl");
/// A decision that sends something first, which the scenarios of the golden lines do not come to.
const WITH_PRE: &str = r#"{"seq":297,"at_ms":1800000268750,"kind":"decision","via":"http","client":"0xc1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1","signed_as":"testnet","nonce":1800000268750,"action":"cancel","verdict":"resize","code":"resized","text":"the guard's own stop for 1 of SOL goes to 96 first, so that the position keeps its cover","changes":["the guard's own stop for 1 of SOL goes to 96 first, so that the position keeps its cover"],"request":{"type":"cancel","cancels":[{"a":2,"o":1087}]},"pre":[{"type":"order","orders":[{"a":2,"b":true,"p":"105.6","s":"1","r":true,"t":{"trigger":{"isMarket":true,"triggerPx":"96","tpsl":"sl"}},"c":"0x73766367726401000000000000000129"}],"grouping":"na"}],"forward":{"type":"cancel","cancels":[{"a":2,"o":1087}]},"post":[],"nonces":[1800000268750,1800000268751]}"#;

#[test]
fn every_event_writes_itself_again() {
    for line in EVENTS.lines().chain([WITH_PRE]) {
        let event = Event::parse(line).unwrap();
        assert!(!matches!(event.kind, Kind::Other(_)), "{line}");
        assert_eq!(event.to_line(), line);
        let value: Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["kind"], event.kind.name());
        assert_eq!(Event::of(&value).unwrap(), event, "{line}");
        assert_eq!(serde_json::from_str::<Event<'_>>(line).unwrap(), event);
    }
}

#[test]
fn every_risk_record_writes_itself_again() {
    let init =
        r#"{"kind":"init","at_ms":1,"mode":"paper","account":"0xac","account_network":"mainnet","note":"set up"}"#;
    let measured = r#"{"kind":"init","at_ms":1,"mode":"paper","account":"0xac","account_network":"mainnet","venue_ms":2,"equity":"10.5","note":"x"}"#;
    let resume = r#"{"kind":"resume","at_ms":3,"venue_ms":2,"equity":"10.5","note":"seen"}"#;
    let placed = r#"{"kind":"checkpoint","at_ms":1,"seq":2,"own_nonce":3,"client_nonces":{},"open":[],"client_cloids":[],"ledger_ms":4,"events_file":"f","events_offset":5,"events_chain":"c"}"#;
    let misread = r#"{"kind":"first_read","at_ms":3,"venue_ms":2,"equity":"10.5","said":"misread"}"#;
    for line in RISK_RECORDS.lines().chain([init, measured, resume, placed, misread]) {
        let record = RiskRecord::parse(line).unwrap();
        assert_ne!(record, RiskRecord::Other, "{line}");
        assert_eq!(record.to_line(), line);
    }
}

#[test]
fn every_status_and_checkpoint_writes_itself_again() {
    for line in STATUS.lines() {
        if line.starts_with("{\"kind\":\"checkpoint\"") {
            assert_eq!(RiskRecord::parse(line).unwrap().to_line(), line);
        } else {
            let status: Status = serde_json::from_str(line).unwrap();
            assert_eq!(serde_json::to_string(&status).unwrap(), line);
        }
    }
}

#[test]
fn an_event_of_an_earlier_version_has_defaults_and_one_of_a_later_keeps_what_it_sends() {
    for kind in KINDS {
        let line = json!({"seq": 3, "at_ms": 4, "kind": kind, "never heard of": {"a": [1]}}).to_string();
        let event = Event::parse(&line).unwrap();
        assert_eq!((event.seq, event.at_ms, event.kind.name()), (3, 4, kind));
    }
    let node = |name: &str| json!({"type": name});
    let later = json!({
        "seq": 5, "at_ms": 6, "kind": "tomorrow", "action": node("a"), "actions": [node("b")], "pre": [node("c")],
        "forward": node("d"), "post": [node("e")], "nonces": [1, 2, 3, 4, 5],
    });
    // A form that is not known is no more than a kind that is not known.
    let mut odd = later.clone();
    (odd["kind"], odd["via"], odd["action"]) = (json!("decision"), json!(7), json!("order"));
    for (event, names, forward) in [(later, "bacde", 3), (odd, "bcde", 2)] {
        let event = Event::parse(&event.to_string()).unwrap();
        assert_eq!((event.kind.name(), event.kind.nonces()), ("other", &[1, 2, 3, 4, 5][..]));
        let sends = event.kind.into_sends().unwrap();
        let found: String = sends.actions.iter().map(|action| action["type"].as_str().unwrap()).collect();
        assert_eq!((found.as_str(), sends.forward), (names, vec![forward]));
    }
    for text in ["", "[]", "7", "{\"seq\":\"x\"}", "{\"seq\":1", "{} x"] {
        assert_eq!(Event::parse(text), None, "{text}");
    }
}

#[test]
fn what_a_start_needs_is_read_whatever_stands_beside_it() {
    let halt = RiskRecord::parse(r#"{"kind":"halt","at_ms":"x","state":7,"details":"x"}"#).unwrap();
    assert!(matches!(halt, RiskRecord::Halt(halt) if halt.details.is_none() && halt.state.is_empty()));
    let text = r#"{"kind":"checkpoint","own_nonce":3,"open":[{"seq":"x"},{"seq":1,"actions":[]}],"client_cloids":["0x1"],
        "client_nonces":{"x":[1]},"seq":null,"ledger_ms":9}"#;
    let Some(RiskRecord::Checkpoint(checkpoint)) = RiskRecord::parse(text) else { panic!("no checkpoint") };
    assert_eq!((checkpoint.own_nonce, checkpoint.ledger_ms, checkpoint.open.len()), (Some(3), 9, 1));
    assert_eq!(RiskRecord::parse(r#"{"kind":"tomorrow","at_ms":1}"#), Some(RiskRecord::Other));
    assert_eq!(RiskRecord::parse(r#"{"kind":"peak","at_ms":"x"}"#), None);
}

#[test]
fn errors_decisions_and_health_are_as_they_were() {
    assert_eq!(ErrorBody::new("busy", "no \"time\"").to_json(), r#"{"code":"busy","msg":"no \"time\"","data":null}"#);
    let to_request = r#"{"code":"busy","msg":"x","data":null,"status":"err","response":"x"}"#;
    assert_eq!(ErrorBody::to_request("busy", "x").to_json(), to_request);
    assert_eq!(serde_json::from_str::<ErrorBody<'_>>(to_request).unwrap(), ErrorBody::to_request("busy", "x"));
    let well = Health { ok: true, ..Health::default() };
    assert_eq!(json!(well).to_string(), r#"{"ok":true}"#);
    let killed = Health { not_trading: vec!["b".into()], ..well };
    assert_eq!(json!(killed).to_string(), r#"{"ok":true,"not_trading":["b"]}"#);
    let error = Some(ErrorBody::new("unhealthy", "a"));
    let ill = Health { ok: false, problems: vec!["a".into()], error, ..Health::default() };
    let text = r#"{"ok":false,"problems":["a"],"code":"unhealthy","msg":"a","data":null}"#;
    assert_eq!(json!(ill).to_string(), text);
    assert_eq!(serde_json::from_str::<Health<'_>>(text).unwrap(), ill);
    let event = |seq: u64| json!({"seq": seq, "at_ms": 1, "kind": "done", "intent": 1, "more": true});
    let record =
        DecisionRecord { decision: event(1), sent: vec![event(2)], intents: vec![], recovered: vec![], done: None };
    let text = json!(DecisionView { nonce: Some(7), decisions: vec![record] }).to_string();
    let wanted = r#"{"nonce":7,"decisions":[{"decision":{"seq":1,"at_ms":1,"kind":"done","intent":1,"more":true},"sent":[{"seq":2,"at_ms":1,"kind":"done","intent":1,"more":true}],"intents":[],"recovered":[],"done":null}]}"#;
    assert_eq!(text, wanted);
    let read: DecisionView<Event<'_>> = serde_json::from_str(&text).unwrap();
    assert_eq!(read.decisions[0].sent[0].seq, 2);
}
