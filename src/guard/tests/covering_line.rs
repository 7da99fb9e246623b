//! The line of a position: how far a stop may stand to count as its cover, and that it never moves away.

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::{Effects, Input, Mode};
use crate::rules::Rules;
use crate::venue::info::OpenOrder;

pub(super) fn desk(rules: Rules, szi: Decimal, orders: Vec<OpenOrder>) -> (Desk, Effects) {
    let mut desk = Desk::new(Mode::Testnet, rules);
    desk.now += 1;
    desk.positions.insert("ETH", szi);
    desk.read_account(desk.now);
    desk.orders = orders;
    let effects = desk.read_orders(desk.now);
    (desk, effects)
}

/// Trigger and size of each stop that goes out.
pub(super) fn stops(effects: &Effects) -> Vec<(String, String)> {
    let orders = sends(effects).into_iter().map(|send| json_of(&send.action)["orders"][0].clone());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let stop = |order: Value| Some((text(order.pointer("/t/trigger/triggerPx")?), text(&order["s"])));
    orders.filter_map(stop).collect()
}

/// Sizes of the closes that go out.
pub(super) fn closes(effects: &Effects) -> Vec<Value> {
    let orders = sends(effects).into_iter().map(|send| json_of(&send.action)["orders"][0].clone());
    orders.filter(|order| order["r"] == true && order["t"]["limit"]["tif"] == "Ioc").map(|o| o["s"].clone()).collect()
}

pub(super) fn client_stop(px: &str, size: &str) -> OpenOrder {
    open_stop("ETH", "A", px, size, 7)
}

#[test]
fn a_first_stop_counts_up_to_max_stop_and_to_the_loss_that_the_rules_leave() {
    // Five percent under 2000; and 200 lost on 4, with a twentieth more.
    for (szi, px, is_cover) in [
        (dec!(1), "1900", true),
        (dec!(1), "1899.9", false),
        (dec!(4), "1947.5", true),
        (dec!(4), "1947.4", false),
        (dec!(-1), "2100", true),
        (dec!(-1), "2100.1", false),
    ] {
        let side = if szi.is_sign_negative() { "B" } else { "A" };
        let (desk, effects) = desk(Rules::default(), szi, vec![open_stop("ETH", side, px, &szi.abs().to_string(), 7)]);
        assert_eq!(stops(&effects).is_empty(), is_cover, "{szi} at {px}: {:?}", stops(&effects));
        let covered = desk.guard.status_json(desk.now, (0, 0))["positions"][0]["covered_size"].clone();
        assert_eq!(covered, if is_cover { json!(szi.abs()) } else { json!("0") }, "{szi} at {px}");
    }
}

#[test]
fn the_guards_first_stop_stands_where_the_loss_is_that_the_rules_leave() {
    let tight = Rules { loss_per_trade: dec!(0.5), open_risk: dec!(1), ..Rules::default() };
    for (rules, szi, px) in [
        (Rules::default(), "5", "1960"),
        (Rules::default(), "8", "1975"),
        (tight.clone(), "1", "1960"),
        (tight, "4", "1987.5"),
    ] {
        let (_, effects) = desk(rules, szi.parse().unwrap(), vec![]);
        assert_eq!(stops(&effects), [(px.to_owned(), szi.to_owned())]);
    }
}

/// Two percent of 10,000 are lost on 5 at 40 below the entry; where the price is there already the loss counts from it.
#[test]
fn what_was_lost_since_the_entry_counts_in_the_first_stop() {
    for (mid, px) in [("2010", "1970"), ("2000", "1960"), ("1980", "1960"), ("1960.1", "1960"), ("1960", "1920.8")] {
        let mut desk = Desk::new(Mode::Testnet, Rules::default());
        desk.mids.insert("ETH".into(), mid.parse().unwrap());
        desk.now += 1;
        desk.positions.insert("ETH", dec!(5));
        let (mut state, equity, begun_ms) = (desk.state(desk.now), desk.equity, desk.now);
        state.asset_positions[0].position.entry_px = Some(dec!(2000));
        desk.step(Input::Account { state, equity, begun_ms });
        assert_eq!(stops(&desk.read_orders(desk.now)), [(px.to_owned(), "5".to_owned())], "{mid}");
    }
}

#[test]
fn the_line_never_moves_away_while_the_position_lasts() {
    let (mut desk, effects) = desk(Rules::default(), dec!(1), vec![client_stop("1980", "1")]);
    assert!(stops(&effects).is_empty());
    // Another far one counts for nothing, and neither does one a tick farther.
    desk.wait(1_000);
    for far in ["1300", "1979.9"] {
        desk.orders = vec![client_stop(far, "1")];
        desk.now += 1_000;
        let effects = desk.read_orders(desk.now);
        desk.now += 10;
        let all = [stops(&effects), stops(&desk.read_account(desk.now))].concat();
        if far == "1300" {
            assert_eq!(all, [("1980".to_owned(), "1".to_owned())]);
        }
        assert_eq!(desk.guard.status_json(desk.now, (0, 0))["positions"][0]["covered_size"], "0", "{far}");
    }
    // Flat, the line is gone.
    desk.positions.clear();
    desk.orders.clear();
    desk.wait(1_000);
    assert!(desk.guard.lines.get(ETH).is_none());
}

#[test]
fn a_position_beyond_its_line_is_closed_and_what_is_left_covered_anew() {
    for (mid, closed) in [(dec!(1980.1), false), (dec!(1980), true), (dec!(1970), true)] {
        let (mut desk, _) = desk(Rules::default(), dec!(1), vec![client_stop("1980", "1")]);
        desk.orders.clear();
        desk.mids.insert("ETH".into(), mid);
        desk.now += 1_000;
        desk.read_orders(desk.now);
        desk.now += 10;
        let first = desk.read_account(desk.now);
        assert!(closes(&first).is_empty(), "a read of the account may lag a moment");
        desk.now += 500;
        let effects = if closed { desk.step(Input::Tick) } else { first };
        assert_eq!(closes(&effects) == [json!("1")], closed, "{mid}: {:?}", events(&effects));
        assert_eq!(stops(&effects).is_empty(), closed, "{mid}");
        if !closed {
            continue;
        }
        let protect = events(&effects).into_iter().find(|event| event["kind"] == "protect").unwrap();
        let part = statuses(json!([{"filled": {"totalSz": "0.4", "avgPx": "1970", "oid": 9}}]));
        desk.answer(protect["seq"].as_u64().unwrap(), 0, part);
        desk.positions.insert("ETH", dec!(0.6));
        desk.now += 600;
        desk.read_account(desk.now);
        let sent = stops(&desk.read_orders(desk.now));
        assert_eq!(sent.first().map(|(_, size)| size.as_str()), Some("0.6"), "{mid}");
    }
}

/// What was added to a position that lost its stop does not wait for the close of that part.
#[test]
fn what_is_not_beyond_its_line_gets_its_stop_beside_the_close() {
    let (mut desk, _) = desk(wide(), dec!(1), vec![client_stop("1980", "1")]);
    desk.orders.clear();
    desk.mids.insert("ETH".into(), dec!(1970));
    desk.positions.insert("ETH", dec!(3));
    desk.wait(1_000);
    desk.now += 500;
    let effects = desk.read_account(desk.now);
    let protect = events(&effects).into_iter().find(|event| event["kind"] == "protect").unwrap();
    let orders: Vec<Value> =
        protect["actions"].as_array().unwrap().iter().map(|action| action["orders"][0].clone()).collect();
    assert_eq!(orders.len(), 2, "{protect}");
    assert_eq!((&orders[0]["t"]["limit"]["tif"], &orders[0]["s"]), (&json!("Ioc"), &json!("1")));
    assert_eq!((&orders[1]["t"]["trigger"]["triggerPx"], &orders[1]["s"]), (&json!("1930.6"), &json!("2")));
}

/// A position of two lines whose nearer stop fired keeps the farther one.
#[test]
fn what_a_stop_closed_takes_its_line_along() {
    let orders = vec![open_stop("ETH", "A", "1990", "1", 7), open_stop("ETH", "A", "1960", "2", 8)];
    let (mut desk, effects) = desk(Rules::default(), dec!(3), orders);
    assert!(stops(&effects).is_empty());
    desk.mids.insert("ETH".into(), dec!(1985));
    desk.positions.insert("ETH", dec!(2));
    desk.orders.remove(0);
    desk.wait(1_000);
    desk.wait(1_000);
    let line = desk.guard.lines.get(ETH).unwrap();
    assert_eq!(
        line.covered_parts().iter().map(|part| (part.px, part.size)).collect::<Vec<_>>(),
        [(dec!(1960), dec!(2))]
    );
    assert_eq!(desk.guard.status_json(desk.now, (0, 0))["positions"][0]["covered_size"], "2");
}

/// A client's word that a stop is on its way holds the guard's own back for three seconds at most.
#[test]
fn stops_that_are_never_taken_keep_no_position_bare() {
    let mut desk = Desk::live();
    desk.show(vec![open("ETH", "B", "1900", "1", 1)]);
    for (at_ms, is_covered) in [(0, true), (3_000, true), (3_001, false)] {
        let effects = if at_ms == 0 {
            desk.post(place(vec![stop(ETH, false, "1970", "1")]));
            desk.now += 1;
            desk.hold("ETH", dec!(1));
            desk.read_orders(desk.now)
        } else {
            let mut late = Desk::live();
            late.show(vec![open("ETH", "B", "1900", "1", 1)]);
            late.post(place(vec![stop(ETH, false, "1970", "1")]));
            late.now += 1;
            late.hold("ETH", dec!(1));
            late.read_orders(late.now);
            late.now += at_ms;
            late.step(Input::Tick)
        };
        assert_eq!(stops(&effects).is_empty(), is_covered, "{at_ms}");
    }
    // On the wrong side, or beyond what the rules allow, not even that.
    for px in ["2000", "2700", "1899.9"] {
        let mut desk = Desk::live();
        desk.show(vec![open("ETH", "B", "1900", "1", 1)]);
        desk.post(place(vec![stop(ETH, false, px, "1")]));
        desk.now += 1;
        desk.hold("ETH", dec!(1));
        assert_eq!(stops(&desk.read_orders(desk.now)).len(), 1, "{px}");
    }
}

#[test]
fn a_bare_position_is_told_of_after_five_seconds() {
    let (mut desk, effects) = desk(Rules::default(), dec!(1), vec![]);
    let protect = events(&effects).into_iter().find(|event| event["kind"] == "protect").unwrap();
    let begun = desk.now;
    for (after_ms, is_told) in [(5_000, false), (5_001, true)] {
        let status = desk.guard.status_json(begun + after_ms, (0, 0));
        let told = status["alerts"].as_array().unwrap().iter().any(|alert| alert["code"] == "uncovered");
        assert_eq!(told, is_told, "{after_ms}: {}", status["alerts"]);
    }
    let order = &protect["actions"][0]["orders"][0];
    desk.answer(protect["seq"].as_u64().unwrap(), 0, statuses(json!([{"resting": {"oid": 500}}])));
    let own = OpenOrder { cloid: Some(order["c"].as_str().unwrap().parse().unwrap()), ..client_stop("1960", "1") };
    desk.orders = vec![own];
    desk.wait(10_000);
    assert!(desk.guard.problems(desk.now).is_empty(), "{:?}", desk.guard.problems(desk.now));
}

#[test]
fn a_restart_remembers_the_line() {
    let (desk, _) = desk(Rules::default(), dec!(1), vec![client_stop("1980", "1")]);
    let checkpoint: Value = serde_json::from_str(&desk.guard.checkpoint(desk.now)).unwrap();
    let mut next = Desk::blank(config(Mode::Testnet, Rules::default()));
    next.guard.restore_checkpoint_json(&checkpoint);
    next.positions.insert("ETH", dec!(1));
    next.read();
    next.now += 4_000;
    next.read();
    let sent = desk_stops(&mut next);
    assert_eq!(sent, Some(dec!(1980)));
}

/// The lines that this step put on disk.
fn lines_in(effects: &Effects) -> Vec<Value> {
    let records = effects.risk.iter().map(|record| serde_json::from_str::<Value>(&record.text).unwrap());
    records.filter(|record| record["kind"] == "line").collect()
}

#[test]
fn a_crash_remembers_the_line_and_that_it_ended() {
    let (mut desk, effects) = desk(Rules::default(), dec!(1), vec![client_stop("1980", "1")]);
    let checkpoint: Value = serde_json::from_str(&desk.guard.checkpoint(desk.now)).unwrap();
    let mut written = lines_in(&effects);
    assert_eq!(written.len(), 1, "{written:?}");
    assert!(lines_in(&desk.read_orders(desk.now)).is_empty(), "only what moved");
    // The stop stands a tick nearer, in two reads: the line moves, and the checkpoint is older than that.
    for (px, size) in [("1980", "1"), ("1980.1", "1"), ("1980.1", "1")] {
        desk.orders = vec![client_stop(px, size)];
        desk.now += 1_000;
        written.extend(lines_in(&desk.read_orders(desk.now)));
    }
    let after_crash = |written: &[Value]| {
        let mut next = Desk::blank(config(Mode::Testnet, Rules::default()));
        written.iter().for_each(|record| next.guard.restore_risk_json(record));
        next.guard.restore_checkpoint_json(&checkpoint);
        next.positions.insert("ETH", dec!(1));
        next.read();
        desk_stops(&mut next)
    };
    assert_eq!(written.len(), 2, "{written:?}");
    assert_eq!(after_crash(&[]), Some(dec!(1980)));
    assert_eq!(after_crash(&written), Some(dec!(1980.1)));
    desk.positions.clear();
    desk.orders.clear();
    for lines in [2, 3] {
        // One read alone may be wrong.
        desk.now += 1_000;
        written.extend(lines_in(&desk.read_account(desk.now)));
        assert_eq!(written.len(), lines, "{written:?}");
    }
    assert_eq!(after_crash(&written), None, "a new position has a line of its own");
}

/// Where the line of ETH stands.
fn desk_stops(desk: &mut Desk) -> Option<Decimal> {
    desk.guard.lines.get(ETH)?.covered_parts().first().map(|part| part.px)
}

#[test]
fn a_far_stop_frees_no_own_one_and_is_cancelled_freely() {
    let mut own = client_stop("1960", "1");
    own.cloid = Some("0x73766367726401000000000000000001".parse().unwrap());
    let far = open_stop("ETH", "A", "1300", "1", 8);
    let (mut desk, _) = desk(Rules::default(), dec!(1), vec![own, far]);
    desk.ask(json!({"type": "cancel", "cancels": [{"a": ETH, "o": 8}]})).reduces();
    for (px, is_freed) in [("1300", false), ("1959.9", false), ("1960", true)] {
        let decided = desk.order(stop(ETH, false, px, "1"));
        assert_eq!(!decided.event["post"].as_array().unwrap().is_empty(), is_freed, "{px}");
    }
}

#[test]
fn a_cancel_counts_what_has_filled_and_is_not_read() {
    let (mut desk, _) = desk(wide(), dec!(0.1), vec![client_stop("1980", "5")]);
    let entry = desk.order(buy(ETH, "2000", "3.8"));
    desk.answer(entry.seq(), 0, statuses(json!([{"filled": {"totalSz": "3.8", "avgPx": "2000", "oid": 9}}])));
    let decided = desk.ask(json!({"type": "cancel", "cancels": [{"a": ETH, "o": 7}]}));
    assert_eq!(decided.event["pre"][0]["orders"][0]["s"], "3.9", "{}", decided.event);
    assert_eq!(decided.event["pre"][0]["orders"][0]["t"]["trigger"]["triggerPx"], "1980");
}

/// A client's stop lets the guard's own go only if it covers that too.
#[test]
fn a_release_counts_what_has_filled_and_is_not_read() {
    let own = "0x73766367726401000000000000000001".parse().unwrap();
    for (size, is_released) in [("1.9999", false), ("2", true)] {
        let stops = vec![OpenOrder { cloid: Some(own), ..open_stop("ETH", "A", "1960", "2", 7) }];
        let (mut desk, _) = desk(wide(), dec!(1), stops);
        let entry = desk.order(with(buy(ETH, "2000", "1"), "/t/limit/tif", json!("Ioc")));
        assert_eq!(entry.event["forward"]["orders"].as_array().unwrap().len(), 1, "the stop that rests covers it");
        desk.answer(entry.seq(), 0, statuses(json!([{"filled": {"totalSz": "1", "avgPx": "2000", "oid": 9}}])));
        let decided = desk.order(stop(ETH, false, "1980", size));
        assert_eq!(!decided.event["post"].as_array().unwrap().is_empty(), is_released, "{size}: {}", decided.event);
    }
}

#[test]
fn a_cancel_that_may_name_the_stop_of_an_entry_waits_for_the_open_orders() {
    let cancel = || json!({"type": "cancel", "cancels": [{"a": ETH, "o": 10}]});
    let entered = || {
        let mut desk = Desk::live();
        let entry = desk.order(buy(ETH, "2000", "1"));
        desk.now += 10;
        let filled = json!([{"filled": {"totalSz": "1", "avgPx": "2000", "oid": 9}}, "waitingForTrigger"]);
        desk.answer(entry.seq(), 0, statuses(filled));
        let child = entry.event["forward"]["orders"][1]["c"].as_str().unwrap().to_owned();
        (desk, child)
    };
    let decision = |effects: &Effects| events(effects).into_iter().find(|event| event["kind"] == "decision");
    // Whatever market it names: nothing says that the venue looks at that.
    let (mut desk, _) = entered();
    assert!(decision(&desk.post(json!({"type": "cancel", "cancels": [{"a": SOL, "o": 10}]}))).is_none());
    // The read shows whose it is.
    let (mut desk, child) = entered();
    assert!(decision(&desk.post(cancel())).is_none());
    desk.orders = vec![OpenOrder { cloid: Some(child.parse().unwrap()), ..open_stop("ETH", "A", "1960", "1", 10) }];
    desk.now += 10;
    assert!(decision(&desk.read_orders(desk.now - 11)).is_none(), "a read that began before");
    assert_eq!(decision(&desk.read_orders(desk.now)).unwrap()["code"], "guard_order");
    // Without one it waits six seconds, and is refused: it may be the only cover.
    let (mut desk, _) = entered();
    desk.post(cancel());
    desk.now += 5_999;
    assert!(decision(&desk.step(Input::Tick)).is_none());
    desk.now += 1;
    assert_eq!(decision(&desk.step(Input::Tick)).unwrap()["code"], "order_unknown");
    // So is one for which there is no place to wait, without a moment's delay.
    let (mut desk, _) = entered();
    (0..64).for_each(|_| assert!(decision(&desk.post(cancel())).is_none()));
    assert_eq!(decision(&desk.post(cancel())).unwrap()["code"], "order_unknown");
}

#[test]
fn known_orders_of_a_batch_go_without_the_one_that_may_name_an_unseen_stop() {
    let mut desk = Desk::live();
    desk.show(vec![open("ETH", "B", "1900", "0.1", 7)]);
    let entry = desk.order(buy(ETH, "1990", "1"));
    desk.answer(entry.seq(), 0, statuses(json!([{"resting": {"oid": 9}}, "waitingForTrigger"])));
    let batch = |oids: &[u64]| {
        let cancels: Vec<_> = oids.iter().map(|oid| json!({"a": ETH, "o": oid})).collect();
        json!({"type": "cancel", "cancels": cancels})
    };
    let decided = desk.ask(batch(&[5, 7, 10, 9]));
    decided.resized().says(&["2 of 4 cancels left out", "no read has shown the order"]);
    assert_eq!(decided.event["forward"], batch(&[7, 9]));
    let effects = desk.answer(decided.seq(), 0, statuses(json!(["success", "success"])));
    let told = answers(&effects)[0]["response"]["data"]["statuses"].clone();
    assert_eq!((&told[1], &told[3]), (&json!("success"), &json!("success")));
    assert!([0, 2].iter().all(|at| told[at]["error"].as_str().unwrap().contains("no read has shown")), "{told}");
}

#[test]
fn a_stop_that_could_trigger_and_not_fill_gets_a_price_beyond_its_trigger() {
    for (px, sent) in [("1970.1", "1773"), ("1970", "1970"), ("1900", "1900")] {
        let (mut desk, _) = desk(Rules::default(), dec!(1), vec![client_stop("1960", "1")]);
        let decided = desk.order(with(stop(ETH, false, "1970", "1"), "/p", json!(px)));
        assert_eq!(decided.sent_order(0)["p"], sent, "{px}");
    }
}
