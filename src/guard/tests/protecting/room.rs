//! Orders that go to make room for a stop of the guard's, or for a close.

use rust_decimal::dec;
use serde_json::{Value, json};

use super::{bare, event, protect, refusal};
use crate::guard::tests::fixture::*;
use crate::venue::info::OpenOrder;

/// Reads until the guard acts of its own accord again.
fn next(desk: &mut Desk) -> Value {
    let acts = |desk: &mut Desk| {
        desk.now += 600;
        let by_account = event(&desk.read_account(desk.now), "intent");
        by_account.or_else(|| event(&desk.read_orders(desk.now), "intent"))
    };
    (0..20).find_map(|_| acts(desk)).expect("another try")
}

fn answer(desk: &mut Desk, event: &Value, reply: Value) {
    desk.now += 10;
    desk.answer(event["seq"].as_u64().unwrap(), 0, reply);
}

fn full() -> Value {
    refusal("Too many open orders.")
}

/// A desk that holds SOL with these stops, and ETH without any, for which the book is full.
fn crowded(stops: Vec<OpenOrder>) -> Desk {
    let mut desk = Desk::live();
    desk.hold("SOL", dec!(1));
    desk.show(stops);
    let told = protect(&bare(&mut desk, "ETH", dec!(1)));
    answer(&mut desk, &told, full());
    desk
}

#[test]
fn a_stop_behind_others_that_cover_all_goes_and_these_stay() {
    for (sizes, goes) in [(["1", "1"], vec![4]), (["0.5", "1"], vec![])] {
        let stops = [3, 4].into_iter().zip(sizes).map(|(oid, size)| open_stop("SOL", "A", "98", size, oid));
        let mut desk = crowded(stops.collect());
        let room = next(&mut desk);
        let gone =
            room["action"]["cancels"].as_array().into_iter().flatten().map(|cancel| cancel["o"].as_u64().unwrap());
        assert_eq!(gone.collect::<Vec<u64>>(), goes, "{sizes:?}");
        // What has none behind it keeps its cover, and what is bare is closed.
        assert_eq!(room["action"]["orders"][0]["t"]["limit"]["tif"].is_null(), !goes.is_empty());
    }
}

/// A close needs one place, and the venue takes none that only reduces without it.
#[test]
fn where_all_is_cover_the_farthest_stop_makes_room_for_a_close() {
    let mut desk = crowded(vec![open_stop("SOL", "A", "98", "0.5", 3), open_stop("SOL", "A", "99", "0.5", 4)]);
    let close = next(&mut desk);
    assert_eq!(close["action"]["orders"][0]["t"]["limit"]["tif"], "Ioc");
    answer(&mut desk, &close, full());
    let room = next(&mut desk);
    assert_eq!(room["action"]["cancels"], json!([{"a": SOL, "o": 3}]));
    answer(&mut desk, &room, statuses(json!(["success"])));
    desk.orders.retain(|order| order.oid != 3);
    let again = next(&mut desk);
    assert_eq!(again["action"]["orders"][0]["t"]["limit"]["tif"], "Ioc");
    assert_eq!(again["of"], close["of"]);
}

/// Nobody knows by how many orders the account is over: each time twice as many go.
#[test]
fn each_time_that_room_was_too_little_twice_as_many_go() {
    let mut desk = Desk::live();
    desk.show((1..=100).map(|oid| open("SOL", "B", "50", "1", oid)).collect());
    let mut told = protect(&bare(&mut desk, "ETH", dec!(1)));
    for count in [10, 20, 40] {
        answer(&mut desk, &told, full());
        let room = next(&mut desk);
        let gone: Vec<u64> =
            room["action"]["cancels"].as_array().unwrap().iter().map(|cancel| cancel["o"].as_u64().unwrap()).collect();
        assert_eq!(gone.len(), count);
        answer(&mut desk, &room, statuses(Value::from(vec!["success"; count])));
        desk.orders.retain(|order| !gone.contains(&order.oid));
        told = next(&mut desk);
    }
}
