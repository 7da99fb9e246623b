//! Exits that the venue refuses for the builder they carry.

use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::{Mode, Urgency};

const BUILDER: &str = "0x8c967e73e7b15087c42a10d344cff4c96d877f1d";
const REFUSED: &str = "Builder fee has not been approved";

fn posted(desk: &mut Desk, orders: Value) -> Decided {
    desk.ask(json!({
        "type": "order", "orders": orders, "grouping": "na", "builder": {"b": BUILDER, "f": 10}
    }))
}

fn held() -> Desk {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.hold("ETH", rust_decimal::dec!(2));
    desk
}

#[test]
fn a_builder_is_kept() {
    let decided = posted(&mut held(), json!([close(ETH, true, "2000", "1")]));
    assert_eq!(decided.forward()["builder"], json!({"b": BUILDER, "f": 10}));
}

#[test]
fn a_refused_exit_goes_again_without_it_and_the_client_hears_of_that_one() {
    let mut desk = held();
    let decided = posted(&mut desk, json!([close(ETH, true, "2000", "1"), close(ETH, true, "2001", "1")]));
    let first = json!([{"resting": {"oid": 1}}, {"error": format!("{REFUSED} asset=1")}]);
    let effects = desk.answer(decided.seq(), 0, statuses(first));
    assert!(answers(&effects).is_empty(), "the client waits for the second answer");
    let told = events(&effects);
    let intent = told.iter().find(|event| event["kind"] == "intent").unwrap();
    assert_eq!(intent["of"], decided.seq());
    assert!(intent["action"].get("builder").is_none());
    assert_eq!(intent["action"]["orders"].as_array().unwrap().len(), 1);
    assert_eq!(intent["action"]["orders"][0]["p"], "2001");

    let [send] = &sends(&effects)[..] else { panic!("{effects:?}") };
    assert_eq!((json!(send.terms.nonce), send.urgency), (intent["nonces"][0].clone(), Urgency::Exit));
    let effects = desk.answer(intent["seq"].as_u64().unwrap(), 0, statuses(json!([{"resting": {"oid": 2}}])));
    let [reply] = &answers(&effects)[..] else { panic!("{effects:?}") };
    let merged = json!([{"resting": {"oid": 1}}, {"resting": {"oid": 2}}]);
    assert_eq!(reply["response"]["data"]["statuses"], merged);
    assert_eq!(reply["guard"]["seq"], decided.seq());
}

#[test]
fn a_wholly_refused_exit_goes_again() {
    let mut desk = held();
    let decided = posted(&mut desk, json!([close(ETH, true, "2000", "1")]));
    let effects = desk.answer(decided.seq(), 0, json!({"status": "err", "response": REFUSED}));
    let intent = events(&effects).into_iter().find(|event| event["kind"] == "intent").unwrap();
    let effects = desk.answer(intent["seq"].as_u64().unwrap(), 0, statuses(json!([{"resting": {"oid": 2}}])));
    assert_eq!(answers(&effects)[0]["response"]["data"]["statuses"], json!([{"resting": {"oid": 2}}]));
}

#[test]
fn an_entry_and_an_exit_refused_for_another_reason_do_not_go_again() {
    let mut desk = held();
    let entry = posted(&mut desk, json!([buy(BTC, "50000", "0.01")]));
    let effects = desk.answer(entry.seq(), 0, statuses(json!([{"error": REFUSED}, {"error": REFUSED}])));
    assert!(sends(&effects).is_empty() && answers(&effects).len() == 1);

    let exit = posted(&mut desk, json!([close(ETH, true, "2000", "1")]));
    let other = json!([{"error": "Reduce only order would increase position. asset=1"}]);
    let effects = desk.answer(exit.seq(), 0, statuses(other));
    assert!(sends(&effects).is_empty() && answers(&effects).len() == 1);
}
