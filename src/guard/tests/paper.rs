//! Paper mode: nothing is sent; replies have the venue's shapes, and paper orders count as exposure.

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::{Command, Mode};

const FIRST_OID: u64 = 1 << 52;

fn desk() -> Desk {
    Desk::new(Mode::Paper, wide())
}

fn exposure(desk: &Desk) -> Decimal {
    desk.guard.status_json(desk.now, (0, 0))["risk"]["exposure"].as_str().unwrap().parse().unwrap()
}

fn status(decided: &Decided, place: usize) -> Value {
    decided.reply()["response"]["data"]["statuses"][place].clone()
}

fn oid(decided: &Decided) -> u64 {
    status(decided, 0)["resting"]["oid"].as_u64().unwrap()
}

#[test]
fn nothing_is_sent_and_no_nonce_used() {
    let decided = desk().order(buy(ETH, "1990", "1"));
    assert!(sends(&decided.effects).is_empty());
    assert!(matches!(&decided.effects.after_commit[..], [Command::Answer(answer)] if answer.http_status == 200));
    assert!(decided.event.get("nonces").is_none());
    assert!(events(&decided.effects).iter().all(|event| event["kind"] == "decision"));
    let guard = decided.reply()["guard"].clone();
    assert_eq!(
        (&guard["paper"], &guard["verdict"], &guard["code"]),
        (&json!(true), &json!("resize"), &json!("resized"))
    );
    assert_eq!(guard["seq"], decided.event["seq"]);
    assert_eq!(guard["changes"], decided.event["changes"]);
    assert_eq!(guard["text"], decided.event["text"]);
    assert_eq!(desk().order(buy(OLD, "1", "10")).reply()["guard"]["paper"], true);
}

#[test]
fn an_order_rests_or_fills_at_the_mid() {
    let mut desk = desk();
    let reply = desk.order(with(buy(ETH, "1990", "1"), "/c", cloid(1))).reply();
    assert_eq!((&reply["status"], &reply["response"]["type"]), (&json!("ok"), &json!("order")));
    // One status: that of the attached stop is the guard's own affair.
    assert_eq!(reply["response"]["data"]["statuses"].as_array().unwrap().len(), 1);
    let resting = &reply["response"]["data"]["statuses"][0]["resting"];
    assert!(resting["oid"].as_u64().unwrap() >= FIRST_OID);
    assert_eq!(resting["cloid"], cloid(1));
    let decided = desk.order(buy(ETH, "2000", "1.5"));
    let filled = &status(&decided, 0)["filled"];
    assert_eq!((&filled["totalSz"], &filled["avgPx"]), (&json!("1.5"), &json!("2000.0")));
    assert!(filled.get("cloid").is_none());
    let decided = desk.order(with(sell(ETH, "1995", "1"), "/t/limit/tif", json!("Ioc")));
    assert_eq!(status(&decided, 0)["filled"]["avgPx"], "2000.0");
    // Post-only orders never take.
    let decided = desk.order(with(buy(ETH, "2001", "1"), "/t/limit/tif", json!("Alo")));
    assert!(status(&decided, 0)["resting"]["oid"].is_u64());
}

#[test]
fn an_immediate_order_that_does_not_cross_is_not_placed() {
    let mut desk = desk();
    for tif in ["Ioc", "FrontendMarket"] {
        let decided = desk.order(with(buy(ETH, "1999", "1"), "/t/limit/tif", json!(tif)));
        let error = status(&decided, 0)["error"].clone();
        assert_eq!(error, "Order could not immediately match against any resting orders. asset=1");
    }
    // Nor one in a market without a mid.
    let decided = desk.order(close(BARE, true, "1", "1"));
    assert!(status(&decided, 0)["error"].is_string());
    assert_eq!(exposure(&desk), dec!(0));
}

#[test]
fn a_paper_order_counts_until_it_is_cancelled() {
    let mut desk = desk();
    let placed = desk.order(with(buy(ETH, "1990", "1"), "/c", cloid(1)));
    assert_eq!(exposure(&desk), dec!(1990));
    let cancel = json!({"type": "cancel", "cancels": [{"a": ETH, "o": oid(&placed)}, {"a": ETH, "o": 5}]});
    let reply = desk.ask(cancel.clone()).reply();
    assert_eq!(reply["response"]["type"], "cancel");
    let error = json!({"error": "Order was never placed, already canceled, or filled."});
    assert_eq!(reply["response"]["data"]["statuses"], json!(["success", error]));
    assert_eq!(exposure(&desk), dec!(0));
    assert!(desk.ask(cancel).reply()["response"]["data"]["statuses"][0]["error"].is_string());
    desk.order(with(buy(ETH, "1989", "1"), "/c", cloid(1)));
    let reply = desk.ask(json!({"type": "cancelByCloid", "cancels": [{"asset": ETH, "cloid": cloid(1)}]})).reply();
    assert_eq!(reply["response"], json!({"type": "cancel", "data": {"statuses": ["success"]}}));
    assert_eq!(exposure(&desk), dec!(0));
}

#[test]
fn a_paper_order_counts_until_the_mid_crosses_it() {
    let mut desk = desk();
    desk.order(buy(ETH, "1990", "1"));
    desk.order(sell(ETH, "2010", "2"));
    assert_eq!(exposure(&desk), dec!(4020));
    desk.mids.insert("ETH".into(), dec!(1990.1));
    desk.wait(1_000);
    assert_eq!(exposure(&desk), dec!(4020));
    desk.mids.insert("ETH".into(), dec!(2010));
    desk.wait(1_000);
    assert_eq!(exposure(&desk), dec!(1990));
    desk.mids.insert("ETH".into(), dec!(1990));
    desk.wait(1_000);
    assert_eq!(exposure(&desk), dec!(0));
}

#[test]
fn paper_orders_run_the_budgets_down() {
    let mut desk = Desk::new(Mode::Paper, crate::rules::Rules { position: dec!(50), open_orders: 2, ..wide() });
    desk.order(buy(ETH, "1990", "1")).resized();
    assert_eq!(desk.order(buy(ETH, "2000", "3")).resized().sent_order(0)["s"], "1.505");
    desk.order(buy(ETH, "1980", "0.1")).resized();
    desk.order(buy(ETH, "1970", "0.1")).vetoed("open_orders_limit");
}

#[test]
fn modifies_replace_paper_orders() {
    let mut desk = desk();
    let placed = desk.order(buy(ETH, "1990", "1"));
    let reply = desk.ask(json!({"type": "modify", "oid": oid(&placed), "order": buy(ETH, "1980", "1")})).reply();
    assert_eq!(reply["response"], json!({"type": "default"}));
    assert_eq!(exposure(&desk), dec!(1980));
    let second = desk.order(buy(ETH, "1970", "1"));
    let modifies = json!([{"oid": oid(&second), "order": buy(ETH, "1960", "1")}]);
    let reply = desk.ask(json!({"type": "batchModify", "modifies": modifies})).reply();
    assert_eq!(reply["response"]["type"], "order");
    assert!(reply["response"]["data"]["statuses"][0]["resting"]["oid"].is_u64());
    assert_eq!(exposure(&desk), dec!(3940));
}

#[test]
fn settings_are_answered_as_the_venue_does() {
    let mut desk = desk();
    for action in [
        json!({"type": "updateLeverage", "asset": ETH, "isCross": true, "leverage": 3}),
        json!({"type": "updateIsolatedMargin", "asset": ETH, "isBuy": true, "ntli": 5}),
        json!({"type": "noop"}),
    ] {
        assert_eq!(desk.ask(action).reply()["response"], json!({"type": "default"}));
    }
    let reply = desk.ask(json!({"type": "twapCancel", "a": ETH, "t": 1})).reply();
    assert_eq!(reply["response"], json!({"type": "twapCancel", "data": {"status": "success"}}));
}

#[test]
fn a_paper_orders_derived_id_is_not_shown() {
    let decided = desk().order(buy(ETH, "1990", "1"));
    assert!(decided.sent_order(0)["c"].is_string());
    assert!(status(&decided, 0)["resting"].get("cloid").is_none());
}

#[test]
fn the_stop_of_an_entry_goes_with_it() {
    let cancel = |oid: u64| json!({"type": "cancel", "cancels": [{"a": ETH, "o": oid}]});
    let is_gone = |desk: &mut Desk, oid: u64| {
        let reply = desk.ask(cancel(oid)).reply();
        reply["response"]["data"]["statuses"][0] != "success"
    };
    // The guard's own stop, attached to the entry, has the next id.
    let mut desk = desk();
    let placed = desk.order(buy(ETH, "1990", "1"));
    desk.ask(cancel(oid(&placed)));
    assert!(is_gone(&mut desk, oid(&placed) + 1));
    // A modified entry keeps it, and takes it along when it goes.
    let placed = desk.order(buy(ETH, "1990", "1"));
    let modifies = json!([{"oid": oid(&placed), "order": buy(ETH, "1980", "1")}]);
    let reply = desk.ask(json!({"type": "batchModify", "modifies": modifies})).reply();
    let entry = reply["response"]["data"]["statuses"][0]["resting"]["oid"].as_u64().unwrap();
    assert!(desk.guard.paper.get(oid(&placed) + 1).is_some());
    desk.ask(cancel(entry));
    assert!(is_gone(&mut desk, oid(&placed) + 1));
    // One that the mid has crossed has filled: its stop stays.
    let placed = desk.order(buy(ETH, "1990", "1"));
    desk.mids.insert("ETH".into(), dec!(1985));
    desk.wait(1_000);
    assert!(!is_gone(&mut desk, oid(&placed) + 1));
}

#[test]
fn what_rests_on_paper_is_shown_among_the_open_orders() {
    let mut desk = Desk::new(Mode::Paper, wide());
    let oid = desk.order(buy(ETH, "1900", "0.5")).reply()["response"]["data"]["statuses"][0]["resting"]["oid"].clone();
    let shown = |desk: &Desk| desk.guard.status_json(desk.now, (0, 0))["open_orders"].clone();
    let orders = shown(&desk);
    assert_eq!(orders.as_array().unwrap().len(), 1, "{orders}");
    let order = &orders[0];
    assert_eq!((&order["oid"], &order["coin"], &order["side"]), (&oid, &json!("ETH"), &json!("buy")));
    assert_eq!((&order["size"], &order["px"], &order["order_type"]), (&json!("0.5"), &json!("1900"), &json!("limit")));
    desk.ask(json!({"type": "cancel", "cancels": [{"a": ETH, "o": oid}]})).reduces();
    assert_eq!(shown(&desk), json!([]));
}

#[test]
fn a_mixed_batch_is_answered_in_the_order_that_it_was_asked() {
    let mut desk = desk();
    desk.hold("ETH", dec!(1));
    let close = close(ETH, false, "1990", "1");
    let decided = desk.orders(vec![buy(SOL, "99", "1"), close, buy(OLD, "1", "100"), buy(SOL, "100", "1")]);
    assert!(status(&decided, 0).get("resting").is_some() && status(&decided, 1).get("filled").is_some());
    assert!(status(&decided, 2)["error"].as_str().unwrap().contains("market_delisted"));
    assert!(status(&decided, 3).get("filled").is_some(), "{}", decided.reply());
}
