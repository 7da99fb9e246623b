//! The guard's stop follows its position: grown, shrunk, flipped.

use super::*;

#[test]
fn a_grown_position_gets_a_larger_stop_before_the_old_one_goes() {
    let mut desk = protected("ETH", dec!(1));
    // The price fell: the stop of the whole stays where the old one stood.
    desk.mids.insert("ETH".into(), dec!(1990));
    desk.positions.insert("ETH", dec!(1.5));
    desk.now += 1_000;
    desk.read_account(desk.now);
    let effects = desk.read_orders(desk.now);
    let told = protect(&effects);
    let order = &told["actions"][0]["orders"][0];
    assert_eq!((&order["s"], &order["t"]["trigger"]["triggerPx"]), (&json!("1.5"), &json!("1960")));
    assert_eq!(sends(&effects).len(), 1, "new before old");
    desk.now += 10;
    desk.answer(told["seq"].as_u64().unwrap(), 0, statuses(json!([{"resting": {"oid": 501}}])));
    desk.orders.push(shown(&told["actions"][0], "ETH", 501));
    desk.now += 10;
    desk.read_account(desk.now);
    let effects = desk.read_orders(desk.now);
    let intent = event(&effects, "intent").expect("the old stop goes");
    assert_eq!(intent["action"], json!({"type": "cancel", "cancels": [{"a": ETH, "o": 500}]}));
}

#[test]
fn a_shrunk_position_gets_a_smaller_stop() {
    let mut desk = protected("ETH", dec!(1));
    desk.positions.insert("ETH", dec!(0.4));
    desk.now += 1_000;
    desk.read_account(desk.now);
    let effects = desk.read_orders(desk.now);
    assert!(event(&effects, "protect").is_none());
    let intent = event(&effects, "intent").expect("a smaller stop");
    let order = &intent["action"]["orders"][0];
    assert_eq!((&order["s"], &order["t"]["trigger"]["triggerPx"]), (&json!("0.4"), &json!("1960")));
    desk.now += 10;
    desk.answer(intent["seq"].as_u64().unwrap(), 0, statuses(json!([{"resting": {"oid": 501}}])));
    desk.orders.push(shown(&intent["action"], "ETH", 501));
    desk.now += 10;
    desk.read_account(desk.now);
    let intent = event(&desk.read_orders(desk.now), "intent").expect("the larger one goes");
    assert_eq!(intent["action"]["cancels"], json!([{"a": ETH, "o": 500}]));
}

#[test]
fn a_position_that_flipped_is_covered_before_its_old_stop_goes() {
    let mut desk = protected("ETH", dec!(1));
    desk.now += 1_000;
    let told = protect(&bare(&mut desk, "ETH", dec!(-1)));
    assert_eq!(told["actions"][0]["orders"][0]["t"]["trigger"]["triggerPx"], "2040");
    desk.now += 10;
    desk.answer(told["seq"].as_u64().unwrap(), 0, statuses(json!([{"resting": {"oid": 501}}])));
    desk.orders.push(shown(&told["actions"][0], "ETH", 501));
    desk.now += 10;
    desk.read_account(desk.now);
    let intent = event(&desk.read_orders(desk.now), "intent").expect("the old stop goes");
    assert_eq!(intent["action"]["cancels"], json!([{"a": ETH, "o": 500}]));
}

#[test]
fn the_old_stop_of_a_position_that_flipped_takes_nothing_along() {
    let mut desk = protected("ETH", dec!(1));
    desk.now += 1_000;
    desk.hold("ETH", dec!(-1));
    // The venue has let it go with the long; the account need not be read again to see that the short is bare.
    desk.orders.clear();
    desk.now += 10;
    assert!(event(&desk.read_orders(desk.now), "protect").is_some());
}
