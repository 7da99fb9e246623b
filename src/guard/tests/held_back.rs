//! Reducing orders do not fall with the cancels that had to go first for the rest of their request.

use rust_decimal::dec;
use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::{Effects, Input, Mode, SendOutcome, Urgency};
use crate::rules::Rules;
use crate::venue::info::{Leverage, MarginMode};

/// Two ETH held, under a leverage setting above the rule.
fn held(rules: Rules) -> Desk {
    let mut desk = Desk::new(Mode::Testnet, rules);
    desk.hold("ETH", dec!(2));
    for asset in [ETH, SOL] {
        desk.leverage(asset, Some(Leverage { mode: MarginMode::Cross, value: 20 }));
    }
    desk
}

fn refusal() -> SendOutcome {
    SendOutcome::Answered(json!({"status": "err", "response": "Cannot switch leverage type with open position."}))
}

/// Every way in which what goes first can fail.
fn failures() -> [SendOutcome; 3] {
    [refusal(), SendOutcome::NotSent("no connection".into()), SendOutcome::NoAnswer("time-out".into())]
}

fn fails(desk: &mut Desk, intent: u64, index: usize, outcome: SendOutcome) -> Effects {
    desk.step(Input::Sent { intent, index, outcome })
}

/// The intent that the rest goes under.
fn rest(effects: &Effects) -> Value {
    let mut intents = events(effects).into_iter().filter(|event| event["kind"] == "intent");
    intents.next().unwrap_or_else(|| panic!("nothing goes on: {effects:?}"))
}

#[test]
fn a_flip_that_is_cut_to_what_closes_needs_no_leverage_and_waits_for_nothing() {
    let mut desk = held(Rules { position: dec!(20), ..wide() });
    let decided = desk.order(sell(ETH, "2000", "3"));
    decided.resized().says(&["cut from 3 to the 2 that closes"]);
    assert_eq!((&decided.event["pre"], &decided.sent_order(0)["r"]), (&json!([]), &json!(true)));
    assert!(!decided.text().contains("leverage"), "{}", decided.text());
    let [send] = &sends(&decided.effects)[..] else { panic!("{:?}", decided.effects) };
    assert_eq!((json_of(&send.action), send.urgency), (decided.forward().clone(), Urgency::Exit));
    // One that still opens something does need it.
    let decided = held(wide()).order(sell(ETH, "2000", "3"));
    assert_eq!(decided.event["pre"].as_array().unwrap().len(), 1);
}

#[test]
fn a_flip_that_is_cut_to_what_closes_is_held_up_by_no_throttle() {
    let mut desk = held(Rules { position: dec!(20), orders_per_minute: 1, ..wide() });
    desk.order(buy(SOL, "100", "1")).resized();
    desk.order(buy(SOL, "99", "1")).vetoed("order_rate_limit");
    desk.step(Input::RequestsLeft(10));
    let flip = with(sell(ETH, "2000", "3"), "/t/limit/tif", json!("Ioc"));
    desk.order(flip).resized().says(&["the 2 that closes"]);
}

#[test]
fn a_modify_that_is_cut_to_what_closes_needs_no_leverage() {
    let mut desk = held(Rules { position: dec!(20), ..wide() });
    // The old order may fill until it is known to be gone: the rest is left to close.
    desk.show(vec![open("ETH", "A", "2100", "0.5", 1)]);
    let modify = json!({"type": "modify", "oid": 1, "order": sell(ETH, "2000", "3")});
    let decided = desk.ask(modify);
    decided.resized().says(&["that closes"]);
    assert_eq!((&decided.event["pre"], &decided.forward()["order"]["r"]), (&json!([]), &json!(true)));
    assert_eq!(sends(&decided.effects)[0].urgency, Urgency::Exit);
}

#[test]
fn the_exits_of_a_batch_wait_for_nothing_that_its_entries_need_first() {
    for outcome in failures() {
        let mut desk = held(wide());
        let decided = desk.orders(vec![buy(SOL, "100", "1"), close(ETH, false, "1990", "2"), sell(ETH, "2100", "1")]);
        assert_eq!((&decided.event["pre"], &decided.sent_order(0)["s"]), (&json!([]), &json!("2")));
        let [send] = &sends(&decided.effects)[..] else { panic!("{:?}", decided.effects) };
        assert_eq!((json_of(&send.action), send.urgency), (decided.forward().clone(), Urgency::Exit));
        assert!(send.terms.expires_after_ms.is_some(), "it lands no later than it would have");
        let filled = json!({"filled": {"totalSz": "2", "avgPx": "1995", "oid": 7}});
        let effects = desk.answer(decided.seq(), 0, statuses(json!([filled])));
        assert!(answers(&effects).is_empty(), "the client waits for what becomes of its entries");
        assert_eq!(json_of(&sends(&effects)[0].action)["type"], "updateLeverage");
        let effects = fails(&mut desk, decided.seq(), 1, outcome);
        let [reply] = &answers(&effects)[..] else { panic!("{effects:?}") };
        let told = reply["response"]["data"]["statuses"].as_array().unwrap();
        assert_eq!((told.len(), &told[1]), (3, &filled));
        for place in [0, 2] {
            assert!(told[place].get("error").is_some(), "{reply}");
        }
        assert_eq!(reply["guard"]["seq"], decided.seq());
        assert!(events(&effects).iter().any(|event| event["kind"] == "done"));
    }
}

#[test]
fn a_flip_closes_when_what_its_opening_part_needs_first_fails() {
    for outcome in failures() {
        let mut desk = held(wide());
        let decided = desk.order(sell(ETH, "1990", "3"));
        assert_eq!(decided.forward()["orders"].as_array().unwrap().len(), 2, "its stop hangs on it");
        let intent = rest(&fails(&mut desk, decided.seq(), 0, outcome));
        let action = &intent["action"];
        assert_eq!((&action["grouping"], action["orders"].as_array().unwrap().len()), (&json!("na"), 1));
        let closing = &action["orders"][0];
        assert_eq!((&closing["s"], &closing["r"], &closing["p"]), (&json!("2"), &json!(true), &json!("1990")));
        assert_eq!(closing["c"], decided.sent_order(0)["c"]);
    }
}

#[test]
fn what_closes_is_shared_out_once() {
    let mut desk = held(wide());
    let orders = vec![sell(ETH, "1990", "3"), sell(ETH, "1991", "3"), close(ETH, false, "1989", "1")];
    let decided = desk.orders(orders);
    desk.answer(decided.seq(), 0, statuses(json!([{"filled": {"totalSz": "1", "avgPx": "1995", "oid": 7}}])));
    let effects = fails(&mut desk, decided.seq(), 1, refusal());
    let again: Vec<_> = events(&effects).into_iter().filter(|event| event["kind"] == "intent").collect();
    let sizes: Vec<_> = again.iter().map(|intent| &intent["action"]["orders"][0]["s"]).collect();
    assert_eq!(sizes, ["1"], "the first closes what the exit leaves, the second opens only");
}

#[test]
fn a_builder_that_is_refused_does_not_hold_the_exits_of_a_batch() {
    let mut desk = held(wide());
    let orders = vec![buy(SOL, "100", "1"), close(ETH, false, "1990", "1"), close(ETH, false, "1989", "1")];
    let builder = json!({"b": "0x8c967e73e7b15087c42a10d344cff4c96d877f1d", "f": 10});
    for whole in [true, false] {
        let order = json!({"type": "order", "orders": orders, "grouping": "na", "builder": builder});
        let decided = desk.ask(order);
        let refused = json!({"error": "Builder fee has not been approved."});
        let (answer, again) = if whole {
            let answers = json!([{"resting": {"oid": 1}}, {"resting": {"oid": 2}}]);
            (json!({"status": "err", "response": refused["error"]}), answers)
        } else {
            (statuses(json!([{"resting": {"oid": 1}}, refused])), json!([{"resting": {"oid": 2}}]))
        };
        let intent = rest(&desk.answer(decided.seq(), 0, answer));
        // What its entry needs first fails before the exits are answered.
        assert!(answers(&fails(&mut desk, decided.seq(), 1, refusal())).is_empty());
        let effects = desk.answer(intent["seq"].as_u64().unwrap(), 0, statuses(again));
        let reply = answers(&effects).remove(0);
        let told = reply["response"]["data"]["statuses"].as_array().unwrap();
        assert_eq!((told.len(), &told[1]["resting"]["oid"], &told[2]["resting"]["oid"]), (3, &json!(1), &json!(2)));
        assert!(told[0].get("error").is_some(), "{reply}");
    }
}

#[test]
fn the_cancels_of_entries_go_when_the_stop_that_must_go_first_is_refused() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.hold("ETH", dec!(1));
    let named = |mut order: crate::venue::info::OpenOrder, number: u8| {
        order.cloid = Some(cloid(number).as_str().unwrap().parse().unwrap());
        order
    };
    desk.show(vec![named(open_stop("ETH", "A", "1950", "1", 1), 1), named(open("ETH", "B", "1900", "1", 2), 2)]);
    let by_oid = |oids: &[u64]| {
        let cancels: Vec<_> = oids.iter().map(|oid| json!({"a": ETH, "o": oid})).collect();
        json!({"type": "cancel", "cancels": cancels})
    };
    let by_cloid = |numbers: &[u8]| {
        let cancels: Vec<_> = numbers.iter().map(|number| json!({"asset": ETH, "cloid": cloid(*number)})).collect();
        json!({"type": "cancelByCloid", "cancels": cancels})
    };
    for (both, entry) in [(by_oid(&[1, 2]), by_oid(&[2])), (by_cloid(&[1, 2]), by_cloid(&[2]))] {
        let decided = desk.ask(both);
        assert_eq!(decided.event["pre"].as_array().unwrap().len(), 1);
        let refused = statuses(json!([{"error": "Invalid TP/SL price. asset=1"}]));
        let effects = desk.answer(decided.seq(), 0, refused);
        let intent = rest(&effects);
        assert_eq!(intent["action"], entry, "the stop that covers stays");
        let done = json!({"status": "ok", "response": {"type": "cancel", "data": {"statuses": ["success"]}}});
        let reply = answers(&desk.answer(intent["seq"].as_u64().unwrap(), 0, done)).remove(0);
        assert_eq!(reply["response"]["type"], "cancel");
        let told = reply["response"]["data"]["statuses"].as_array().unwrap();
        assert!(told[0]["error"].as_str().unwrap().contains("had to go first"), "{reply}");
        assert_eq!((told.len(), &told[1]), (2, &json!("success")));
    }
}

#[test]
fn the_exits_of_a_batch_of_modifies_wait_for_nothing_that_its_entries_need_first() {
    let mut desk = held(wide());
    let mut exit = open("ETH", "A", "2100", "2", 1);
    exit.reduce_only = true;
    desk.show(vec![exit, open("SOL", "B", "90", "1", 2)]);
    let modifies = json!([
        {"oid": 2, "order": buy(SOL, "91", "1")},
        {"oid": 1, "order": with(sell(ETH, "2050", "2"), "/r", json!(true))},
    ]);
    let decided = desk.ask(json!({"type": "batchModify", "modifies": modifies}));
    let first = decided.forward()["modifies"].as_array().unwrap();
    assert_eq!((first.len(), &first[0]["oid"], &decided.event["pre"]), (1, &json!(1), &json!([])));
    assert_eq!(sends(&decided.effects)[0].urgency, Urgency::Exit);
}

#[test]
fn nothing_goes_on_without_the_disk_nor_where_nothing_reduces() {
    let mut desk = held(wide());
    let decided = desk.orders(vec![buy(SOL, "100", "1"), close(ETH, false, "1990", "2")]);
    let effects = fails(&mut desk, decided.seq(), 0, SendOutcome::Unrecorded("disk full".into()));
    assert!(sends(&effects).is_empty() && answers(&effects).len() == 1);

    let decided = desk.orders(vec![buy(SOL, "100", "1"), stop(SOL, false, "98", "1")]);
    let effects = fails(&mut desk, decided.seq(), 0, refusal());
    assert!(sends(&effects).is_empty(), "a stop for what was not bought has nothing to cover");
    assert_eq!(answers(&effects)[0]["status"], "err");
}

#[test]
fn what_is_left_counts_as_on_its_way() {
    let mut desk = held(wide());
    let decided = desk.orders(vec![buy(SOL, "100", "1"), sell(ETH, "1990", "3")]);
    fails(&mut desk, decided.seq(), 0, refusal());
    // All of the position is being closed: the next sell opens.
    let decided = desk.order(sell(ETH, "2010", "1"));
    assert_eq!(decided.sent_order(0)["r"], false);
}
