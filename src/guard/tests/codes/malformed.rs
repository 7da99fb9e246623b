//! `malformed`: bodies that are no request, and client order ids that are the guard's.

use serde_json::{Value, json};

use crate::guard::tests::fixture::*;
use crate::guard::{Command, RequestBody};
use crate::venue::json::parse;

#[test]
fn a_body_that_is_no_request_is_malformed() {
    let mut desk = Desk::paper();
    for http_status in [413, 415, 422] {
        let effects = desk.post_as(RequestBody::Malformed {
            received: None,
            unparsed: "{nonsense".into(),
            text: "not JSON".into(),
            http_status,
        });
        assert!(matches!(&effects.after_commit[..], [Command::Answer(answer)] if answer.http_status == http_status));
        let decided = Decided::of(effects);
        decided.vetoed("malformed").says(&["not JSON"]);
        assert_eq!(decided.event["action"], "unknown");
        assert_eq!(decided.event["request"], json!({"unparsed": "{nonsense"}));
        let reply = decided.reply();
        let response = "svc-guard veto (malformed): not JSON";
        assert_eq!((&reply["code"], &reply["msg"]), (&json!("malformed"), &json!(response)));
        assert_eq!((&reply["data"], &reply["status"]), (&Value::Null, &json!("err")));
        assert_eq!(reply["response"], response);
        assert_eq!(reply["guard"]["verdict"], "veto");
        assert!(reply.get("error").is_none());
    }
}

#[test]
fn a_malformed_action_is_recorded_as_received() {
    let received = parse(br#"{"type":"order","orders":[],"grouping":"na","extra":1}"#).unwrap();
    let decided = Decided::of(Desk::paper().post_as(RequestBody::Malformed {
        received: Some(received.clone()),
        unparsed: String::new(),
        text: "action: unknown key `extra`".into(),
        http_status: 422,
    }));
    assert_eq!((&decided.event["action"], &decided.event["request"]), (&json!("order"), &json_of(&received)));
}

#[test]
fn a_derived_client_order_id_is_malformed() {
    let prefix = |byte: u8| json!(format!("0x737663677264{byte:02x}{}", "0".repeat(18)));
    for (id, code) in [(prefix(0), "malformed"), (prefix(1), "malformed"), (cloid(0x73), "resized")] {
        let decided = Desk::paper().order(with(buy(ETH, "2000", "0.1"), "/c", id.clone()));
        assert_eq!(decided.code(), code);
        let modify = json!({"type": "modify", "oid": 1, "order": with(buy(ETH, "2000", "0.1"), "/c", id)});
        let mut desk = Desk::paper();
        desk.show(vec![open("ETH", "B", "1990", "0.1", 1)]);
        assert_eq!(desk.ask(modify).code(), code);
    }
}
