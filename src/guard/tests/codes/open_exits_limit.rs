//! `open_exits_limit`: reduce-only orders that rest, of a client and of all.

use rust_decimal::dec;
use serde_json::{Value, json};

use crate::guard::tests::fixture::*;
use crate::guard::{Guard, Input, Mode};

fn take_profit(number: usize) -> Value {
    with(close(ETH, false, &(2100 + number).to_string(), "0.01"), "/t/limit/tif", json!("Gtc"))
}

fn desk() -> Desk {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.hold("ETH", dec!(10));
    desk
}

#[test]
fn a_client_has_a_hundred() {
    let mut desk = desk();
    desk.orders((0..99).map(take_profit).collect()).reduces();
    desk.orders(vec![take_profit(100), stop(ETH, false, "1900", "1")])
        .vetoed("open_exits_limit")
        .says(&["99", "2 more", "100"]);
    desk.order(stop(ETH, false, "1900", "1")).reduces();
    desk.order(take_profit(100)).vetoed("open_exits_limit");
    // What fills at once or not at all never rests, and passes.
    desk.orders((0..200).map(|_| close(ETH, false, "2000", "0.01")).collect()).reduces();
}

/// What one request has too much of is left out before anything of it is looked at.
#[test]
fn what_one_request_has_too_much_of_is_left_out() {
    desk().orders((0..101).map(take_profit).collect()).vetoed("open_exits_limit").says(&["101 more", "100"]);
    // Beside them an exit that fills at once goes, and an entry whose stop is left out brings the guard's own along.
    let mut orders: Vec<Value> = (0..100).map(take_profit).collect();
    orders.push(close(ETH, false, "1999", "0.01"));
    orders.extend([with(buy(ETH, "2000", "0.1"), "/t/limit/tif", json!("Ioc")), stop(ETH, false, "1970", "0.1")]);
    let decided = desk().orders(orders);
    let told = decided.resized().text().to_owned();
    assert!(told.contains("market stop"), "{told}");
    let own = decided.actions().into_iter().flat_map(|action| action["orders"].as_array().cloned().unwrap_or_default());
    let own: Vec<Value> = own.collect();
    assert_eq!(own.iter().filter(|order| order["t"]["trigger"]["triggerPx"] == "1960").count(), 1);
    assert!(own.len() == 3 && own.iter().any(|order| order["p"] == "1999"), "{own:?}");
}

/// The room that is made for the guard's own stop is kept from what only reduces, and from entries, for ten seconds at most.
#[test]
fn while_a_stop_waits_for_room_nothing_of_a_client_takes_it() {
    for is_full in [true, false] {
        let mut desk = Desk::live();
        desk.now += 1;
        desk.hold("ETH", dec!(1));
        let told = events(&desk.read_orders(desk.now)).into_iter().find(|event| event["kind"] == "protect").unwrap();
        desk.now += 10;
        let answer = if is_full { json!({"error": "Too many open orders."}) } else { json!({"resting": {"oid": 500}}) };
        desk.answer(told["seq"].as_u64().unwrap(), 0, statuses(json!([answer])));
        let resting = |tif: &str| with(close(ETH, false, "1999", "0.1"), "/t/limit/tif", json!(tif));
        for later_ms in [0, 9_999] {
            desk.now += later_ms;
            let decided = desk.order(resting("Gtc"));
            if is_full {
                decided.vetoed("open_exits_limit").says(&["own stop waits for room", "1 more", "Ioc"]);
            } else {
                decided.reduces();
            }
            desk.order(resting("Ioc")).reduces();
            let decided = desk.order(buy(SOL, "100", "1"));
            if is_full {
                decided.vetoed("open_orders_limit").says(&["own stop waits for room", "cancel"]);
            } else if later_ms == 0 {
                assert_ne!(decided.event["verdict"], "veto", "{}", decided.text());
            }
        }
        desk.now += 1;
        desk.order(resting("Gtc")).reduces();
    }
}

#[test]
fn the_account_has_two_hundred_whoevers_they_are() {
    let mut desk = desk();
    let resting = |count: u64| {
        let orders = (1..=count).map(|oid| {
            let mut order = open("ETH", "A", "2100", "0.01", oid);
            order.reduce_only = true;
            order
        });
        orders.chain([open_stop("ETH", "A", "1900", "10", 900)]).collect()
    };
    desk.show(resting(198));
    desk.order(take_profit(1)).reduces();
    desk.order(take_profit(2)).vetoed("open_exits_limit").says(&["of all clients", "200"]);
    // One that is replaced is none more.
    desk.ask(json!({"type": "modify", "oid": 5, "order": take_profit(3)})).reduces();
}

/// What fills at once goes without what has no room beside it: other orders of the request, or its own children.
#[test]
fn what_fills_at_once_waits_for_no_room() {
    let exit = || close(ETH, false, "1999", "1");
    let unmarked = || with(exit(), "/r", json!(false));
    for (resting, sent) in [(98, 2), (99, 2), (100, 1)] {
        for (orders, grouping) in [
            (vec![exit(), take_profit(200)], "na"),
            (vec![take_profit(200), exit()], "na"),
            (vec![exit(), stop(ETH, false, "1900", "1")], "normalTpsl"),
            (vec![unmarked(), stop(ETH, false, "1900", "1")], "normalTpsl"),
        ] {
            let mut desk = desk();
            desk.orders((0..resting).map(take_profit).collect()).reduces();
            let decided = desk.ask(json!({"type": "order", "orders": orders, "grouping": grouping}));
            let orders = decided.forward()["orders"].as_array().unwrap().clone();
            assert_eq!(orders.len(), sent, "{resting} {grouping}: {}", decided.event);
            let is_exit = |order: &Value| order["p"] == "1999" && order["r"] == true && order["s"] == "1";
            assert!(orders.iter().any(is_exit), "{}", decided.event);
            assert_eq!(decided.text().contains("open_exits_limit"), sent == 1, "{}", decided.text());
        }
    }
}

/// The next life of a guard, which has heard of these events and read nothing of its account.
fn next_life(desk: &Desk, events: &[Value]) -> Desk {
    let mut guard = Guard::new(desk.guard.config.clone(), desk.guard.last_seq());
    events.iter().for_each(|event| guard.restore_json(event));
    Desk::begin(guard, desk.now + 1_000)
}

/// What rests after a start is not known before it has been read: until then what the journal knows to have been placed counts.
#[test]
fn a_start_counts_what_was_placed_before_it() {
    for known in [99_u64, 100] {
        let mut desk = desk();
        let decided = desk.orders((0..usize::try_from(known).unwrap()).map(take_profit).collect());
        let resting: Vec<Value> = (0..known).map(|at| json!({"resting": {"oid": 100 + at}})).collect();
        let told = desk.answer(decided.reduces().seq(), 0, statuses(json!(resting)));
        let mut next = next_life(&desk, &[vec![decided.event.clone()], events(&told)].concat());
        next.order(close(ETH, false, "1999", "0.01")).reduces();
        match known {
            99 => next.order(take_profit(200)).reduces(),
            _ => next
                .order(take_profit(200))
                .vetoed("open_exits_limit")
                .says(&["100 reduce-only orders of this client", "once the open orders have been read"]),
        };
        // Once they are read it is known what is gone.
        next.hold("ETH", dec!(10));
        next.read_orders(next.now + 1);
        next.order(take_profit(201)).reduces();
    }
}

/// Triggers on their way when the guard died may come to rest after the next life's first read of the orders.
#[test]
fn what_an_earlier_life_left_on_its_way_counts() {
    let profit =
        |number: usize| with(stop(ETH, false, &(2100 + number).to_string(), "0.01"), "/t/trigger/tpsl", json!("tp"));
    for known in [99_usize, 100] {
        let mut desk = desk();
        let decided = desk.orders((0..known).map(profit).collect());
        decided.reduces();
        let mut next = next_life(&desk, std::slice::from_ref(&decided.event));
        next.hold("ETH", dec!(10));
        next.read_orders(next.now + 1);
        let asked = next.order(take_profit(200));
        if known == 99 {
            asked.reduces()
        } else {
            asked.vetoed("open_exits_limit")
        };
        // That it never reached the venue is told by its nonce.
        let noop = events(&next.step(Input::Tick)).into_iter().find(|event| event["kind"] == "intent").unwrap();
        next.answer(noop["seq"].as_u64().unwrap(), 0, json!({"status": "ok", "response": {"type": "default"}}));
        next.order(take_profit(201)).reduces();
    }
}

/// What only closes goes as reduce-only although it was not marked so, and rests as any other exit.
#[test]
fn what_only_closes_counts_marked_or_not() {
    let unmarked = |number: usize| with(take_profit(number), "/r", json!(false));
    let mut desk = desk();
    desk.orders((0..99).map(unmarked).collect()).resized();
    desk.order(unmarked(99)).resized();
    desk.order(unmarked(100)).vetoed("open_exits_limit").says(&["100", "1 more"]);
    // In one request, beside what fills at once.
    let mut desk = self::desk();
    let at_once = with(unmarked(500), "/t/limit/tif", json!("Ioc"));
    let decided = desk.orders((0..101).map(unmarked).chain([at_once]).collect());
    let sent: Vec<Value> =
        decided.actions().iter().flat_map(|action| action["orders"].as_array().cloned().unwrap()).collect();
    assert!(sent.len() == 1 && sent[0]["t"]["limit"]["tif"] == "Ioc" && sent[0]["r"] == true, "{sent:?}");
    // The part that closes of an entry that is refused.
    let mut desk = self::desk();
    desk.orders((0..100).map(unmarked).collect()).resized();
    desk.step(Input::Kill { reason: "test".into(), by: None, write_file: true, request: None });
    let flip = with(unmarked(101), "/s", json!("20"));
    assert!(desk.order(flip).forward().is_null());
}
