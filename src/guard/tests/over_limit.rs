//! Over a limit: what rests and fits no more is taken back, once reads have proved it.

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::{Input, Mode};
use crate::rules::Rules;
use crate::venue::info::OpenOrder;

/// A market may come to half of the equity: 5000 USDC, and 5250 before anything is done about it.
fn desk() -> Desk {
    Desk::new(Mode::Testnet, Rules { position: dec!(50), ..wide() })
}

/// Lets the time pass with a read of everything each half second; gives the intents of it.
fn watch(desk: &mut Desk, ms: u64) -> Vec<Value> {
    let mut intents = Vec::new();
    for _ in 0..ms / 500 {
        desk.now += 500;
        let mids = Input::Mids { mids: desk.mids.clone(), begun_ms: desk.now };
        let effects = [desk.step(mids), desk.read_account(desk.now), desk.read_orders(desk.now)];
        let events = effects.iter().flat_map(events);
        intents.extend(events.filter(|event| event["kind"] == "intent"));
    }
    intents
}

/// The ids that the cancels name.
fn cancelled(intents: &[Value]) -> Vec<u64> {
    let cancels = intents.iter().flat_map(|intent| intent["action"]["cancels"].as_array().unwrap());
    cancels.map(|cancel| cancel["o"].as_u64().unwrap()).collect()
}

fn bid(size: &str, oid: u64) -> OpenOrder {
    open("ETH", "B", "2000", size, oid)
}

fn alerts(desk: &Desk) -> Vec<Value> {
    let status = desk.guard.status_json(desk.now, (0, 0));
    let is_it = |alert: &&Value| alert["code"] == "over_limit";
    status["alerts"].as_array().unwrap().iter().filter(is_it).cloned().collect()
}

#[test]
fn five_percent_over_is_let_be_and_a_lot_more_is_not() {
    for (size, expected) in [("0.625", vec![]), ("0.6251", vec![3])] {
        let mut desk = desk();
        desk.show(vec![bid("1", 1), bid("1", 2), bid(size, 3)]);
        assert_eq!(cancelled(&watch(&mut desk, 3_000)), expected, "{size}");
        assert_eq!(alerts(&desk).len(), expected.len());
        desk.show(vec![bid("1", 1), bid("1", 2)]);
        watch(&mut desk, 3_000);
        assert!(alerts(&desk).is_empty(), "it is gone, and so is the alert");
    }
}

#[test]
fn the_newest_go_until_it_fits_and_only_what_helps() {
    let mut desk = desk();
    let mut profit = open("ETH", "A", "2100", "1", 7);
    profit.reduce_only = true;
    // The offers could come to less than what is held and bid for: taking them back changes nothing.
    let offer = open("ETH", "A", "2050", "0.5", 6);
    let other = open("BTC", "B", "59000", "0.01", 8);
    desk.show(vec![
        bid("0.5", 1),
        bid("1", 2),
        bid("0.7", 5),
        offer,
        profit,
        other,
        open_stop("ETH", "A", "1960", "1", 9),
    ]);
    desk.hold("ETH", dec!(1));
    let intents = watch(&mut desk, 3_000);
    assert_eq!(cancelled(&intents), [5], "1, 0.5 and 1 at 2000 are 5000");
    let [alert] = &alerts(&desk)[..] else { panic!("one alert") };
    let text = alert["text"].as_str().unwrap();
    assert!(text.starts_with("position: 6400.00 USDC of ETH could be reached and 5000.00 are allowed"), "{text}");
    assert_eq!(alert["since_ms"], json!(NOW));
}

#[test]
fn one_cancel_is_on_its_way_at_a_time_and_pauses_grow() {
    let mut desk = desk();
    desk.show(vec![bid("2", 1), bid("2", 2)]);
    let first = watch(&mut desk, 20_000);
    assert_eq!(cancelled(&first), [2], "it has no answer yet");
    // The venue says that it is gone, and its reads go on to show it: what is being cancelled counts as there.
    let gone = json!({"status": "ok", "response": {"type": "cancel", "data": {"statuses": ["success"]}}});
    let mut seq = first[0]["seq"].as_u64().unwrap();
    let mut rounds = 0;
    for _ in 0..60 {
        desk.answer(seq, 0, gone.clone());
        let again = watch(&mut desk, 1_000);
        assert!(cancelled(&again).iter().all(|oid| *oid == 2), "never another one instead");
        rounds += again.len();
        seq = again.last().map_or(seq, |intent| intent["seq"].as_u64().unwrap());
    }
    assert!((2..=6).contains(&rounds), "{rounds} in a minute");
    desk.orders.pop();
    assert!(watch(&mut desk, 5_000).is_empty());
    assert!(alerts(&desk).is_empty());
}

/// A fill shows in the account before the order leaves the open orders.
#[test]
fn a_fill_that_only_one_read_shows_is_no_reason() {
    let mut desk = desk();
    desk.show(vec![bid("2", 1)]);
    desk.hold("ETH", dec!(2));
    desk.now += 900;
    assert!(events(&desk.read_account(desk.now)).is_empty());
    desk.orders = vec![open_stop("ETH", "A", "1960", "2", 9)];
    assert!(watch(&mut desk, 5_000).is_empty());
}

#[test]
fn nothing_but_entries_is_taken_back_and_no_position_closed() {
    let mut desk = desk();
    desk.show(vec![open_stop("ETH", "A", "1960", "4", 9)]);
    desk.hold("ETH", dec!(4));
    assert!(watch(&mut desk, 10_000).is_empty());
    assert_eq!(alerts(&desk).len(), 1, "a person is told all the same");
}

/// A winner far above its stop could lose more than a rule allows: nothing that rests is to blame for it.
#[test]
fn a_winners_distance_to_its_stop_cancels_nothing() {
    let rules = Rules { loss_per_trade: dec!(2), open_risk: dec!(3), ..wide() };
    for (mid, expected) in [(dec!(2200), vec![]), (dec!(2000), vec![3])] {
        let mut desk = Desk::new(Mode::Testnet, rules.clone());
        desk.show(vec![open_stop("ETH", "A", "1960", "3", 1)]);
        desk.hold("ETH", dec!(3));
        desk.mids.insert("ETH".into(), mid);
        watch(&mut desk, 1_000);
        desk.show(vec![open_stop("ETH", "A", "1960", "3", 1), bid("1", 2), bid("1.3", 3)]);
        assert_eq!(cancelled(&watch(&mut desk, 3_000)), expected, "{mid}");
    }
}

#[test]
fn a_flatten_takes_everything_back_by_itself() {
    let mut desk = desk();
    desk.show(vec![bid("2", 1), bid("2", 2)]);
    desk.step(Input::Kill { reason: "test".into(), by: None, write_file: false, request: None });
    let mut told = Vec::new();
    for _ in 0..20 {
        desk.now += 500;
        told.extend(events(&desk.read_account(desk.now)));
        told.extend(events(&desk.read_orders(desk.now)));
    }
    assert!(told.iter().all(|event| event["kind"] != "error"), "{told:?}");
}

#[test]
fn on_paper_it_is_told_and_not_done() {
    let mut desk = Desk::new(Mode::Paper, Rules { position: dec!(50), ..wide() });
    desk.show(vec![bid("2", 1), bid("2", 2)]);
    assert!(watch(&mut desk, 5_000).is_empty());
    let used: Decimal = desk.guard.exposure().totals().notional;
    assert_eq!((used, alerts(&desk).len()), (dec!(8000), 1));
}
