//! Reading and writing of actions, text for text.

use super::*;
use crate::venue::json;
use crate::venue::signing::{Terms, connection_id};

fn read(text: &str) -> Result<Action, String> {
    Action::parse(&json::parse(text.as_bytes()).unwrap()).map_err(|error| error.to_string())
}

const ORDER: &str = r#"{"a":0,"b":true,"p":"1.5","s":"2","r":false,"t":{"limit":{"tif":"Gtc"}}}"#;

#[test]
fn every_action_is_written_in_the_venues_order() {
    let terms = Terms { nonce: 1, vault: None, expires_after_ms: None };
    let stop = r#"{"a":4294967295,"b":false,"p":"0.00000001","s":"0","r":true,"t":{"trigger":{"isMarket":true,"triggerPx":"59000","tpsl":"sl"}},"c":"0x0000000000000000000000000000000a"}"#;
    for canonical in [
        format!(r#"{{"type":"order","orders":[{ORDER},{stop}],"grouping":"normalTpsl"}}"#),
        format!(
            r#"{{"type":"order","orders":[{ORDER}],"grouping":{{"p":7}},"builder":{{"b":"0x6530512a6c89c7cfcebc3ba7fcd9ada5f30827a6","f":10}}}}"#
        ),
        r#"{"type":"cancel","cancels":[{"a":0,"o":18446744073709551615}],"f":true}"#.to_owned(),
        r#"{"type":"cancel","cancels":[{"a":0,"o":1}]}"#.to_owned(),
        r#"{"type":"cancelByCloid","cancels":[{"asset":0,"cloid":"0x0000000000000000000000000000000a"}],"f":true}"#
            .to_owned(),
        format!(r#"{{"type":"modify","oid":5,"order":{ORDER},"a":true}}"#),
        format!(r#"{{"type":"modify","oid":"0x0000000000000000000000000000000a","order":{ORDER}}}"#),
        format!(r#"{{"type":"batchModify","modifies":[{{"oid":5,"order":{ORDER}}}],"a":true}}"#),
        r#"{"type":"updateLeverage","asset":0,"isCross":true,"leverage":5}"#.to_owned(),
        r#"{"type":"updateIsolatedMargin","asset":0,"isBuy":true,"ntli":-9223372036854775808}"#.to_owned(),
        r#"{"type":"twapCancel","a":0,"t":2297432}"#.to_owned(),
        r#"{"type":"noop"}"#.to_owned(),
        r#"{"type":"guardKill","reason":"why"}"#.to_owned(),
    ] {
        let action = read(&canonical).unwrap();
        let node = action.to_node().unwrap();
        assert_eq!(node.to_string(), canonical);
        assert_eq!(node.get("type").and_then(Value::as_str), Some(action.type_name()));
        assert_eq!(connection_id(&action, &terms), connection_id(&node, &terms), "{canonical}");
    }
    assert_eq!(read(r#"{"type":"scheduleCancel","time":1}"#).unwrap().to_node(), None);
}

#[test]
fn what_says_nothing_is_left_out_and_amounts_are_shortened() {
    let read = read(
        r#"{"grouping":null,"orders":[{"t":{"trigger":null,"limit":{"tif":"Ioc"}},"s":"02.0","p":"1800.10","c":null,"b":true,"a":0}],"type":"order"}"#,
    );
    let written = r#"{"type":"order","orders":[{"a":0,"b":true,"p":"1800.1","s":"2","r":false,"t":{"limit":{"tif":"Ioc"}}}],"grouping":"na"}"#;
    assert_eq!(read.unwrap().to_node().unwrap().to_string(), written);
}

/// Clients see these texts: each of them, and which of several faults is named.
#[test]
fn faults_are_named_word_for_word() {
    let order = |from: &str, to: &str| {
        let order = ORDER.replace(from, to);
        assert_ne!(order, ORDER, "{from}");
        format!(r#"{{"type":"order","orders":[{ORDER},{order}],"grouping":"na"}}"#)
    };
    for (action, text) in [
        (r#"{"orders":[]}"#.to_owned(), "action: missing key `type`"),
        (r#"{"type":"order"}"#.to_owned(), "action: missing key `orders`"),
        (r#"{"type":"order","orders":{}}"#.to_owned(), "action.orders: expected an array, found an object"),
        (
            r#"{"type":"order","x":1,"orders":[5]}"#.to_owned(),
            "action: unknown key `x`; known: type, orders, grouping, builder",
        ),
        (r#"{"type":"order","orders":[5]}"#.to_owned(), "action.orders[0]: expected an object, found an integer"),
        (
            order(r#""a":0"#, r#""a":-1"#),
            "action.orders[1].a: expected an integer that is not negative, found an integer",
        ),
        (order(r#""a":0"#, r#""a":4294967296"#), "action.orders[1].a: 4294967296 is over 4294967295"),
        (order(r#""b":true"#, r#""b":"true""#), "action.orders[1].b: expected true or false, found \"true\""),
        (order(r#""p":"1.5""#, r#""p":1"#), "action.orders[1].p: expected a string, found an integer"),
        (
            order(r#""p":"1.5""#, r#""p":"1e5""#),
            "action.orders[1].p: \"1e5\" is no amount: expected digits with at most one point, such as \"0.5\"",
        ),
        (order(r#""s":"2","#, ""), "action.orders[1]: missing key `s`"),
        (order(r#""s":"2""#, r#""x":5,"s":5"#), "action.orders[1]: unknown key `x`; known: a, b, p, s, r, t, c"),
        (order(r#""r":false"#, r#""r":0"#), "action.orders[1].r: expected true or false, found an integer"),
        (
            order(r#""Gtc""#, r#""gtc""#),
            "action.orders[1].t.limit.tif: \"gtc\" is none of Alo, Ioc, Gtc, FrontendMarket",
        ),
        (
            order(r#"{"limit":{"tif":"Gtc"}}"#, "{}"),
            "action.orders[1].t: exactly one of `limit` and `trigger` is needed",
        ),
        (order(r#"}}"#, r#"}},"c":"0x12""#), "action.orders[1].c: expected 0x and 32 hex digits, found \"0x12\""),
        (
            format!(r#"{{"type":"order","orders":[{ORDER}],"grouping":"x"}}"#),
            "action.grouping: \"x\" is none of na, normalTpsl, positionTpsl",
        ),
        (
            format!(r#"{{"type":"order","orders":[{ORDER}],"grouping":5}}"#),
            "action.grouping: expected an object, found an integer",
        ),
        (format!(r#"{{"type":"modify","oid":-1,"order":{ORDER}}}"#), "action.oid: expected an order id or a cloid"),
        (
            r#"{"type":"updateIsolatedMargin","asset":0,"isBuy":true,"ntli":9223372036854775808}"#.to_owned(),
            "action.ntli: expected an integer of 64 bits, found an integer",
        ),
        (
            format!(r#"{{"type":"cancel","cancels":[{}]}}"#, vec!["0"; MAX_BATCH + 1].join(",")),
            "action.cancels: 1001 items; at most 1000 in one action",
        ),
        (r#"{"type":"cancel","cancels":[]}"#.to_owned(), "action.cancels: empty; nothing is asked for"),
        (r#"{"type":"guardKill","reason":""}"#.to_owned(), "action.reason: 0 characters; 1 to 200 are allowed"),
    ] {
        assert_eq!(read(&action).unwrap_err(), text, "{action}");
    }
}
