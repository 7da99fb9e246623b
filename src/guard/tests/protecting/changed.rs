//! A position that is another one than the guard's orders were refused for.

use rust_decimal::dec;
use serde_json::{Value, json};

use super::{bare, protect, refusal};
use crate::guard::Input;
use crate::guard::state::order_attempts::{AttemptResult, RetryState};
use crate::guard::state::stop_geometry::stop_order;
use crate::guard::tests::fixture::*;
use crate::venue::order::{Order, OrderKind, Tif};
use crate::venue::reply::Reply;
use crate::venue::side::PositionSide;

const NOTHING_HELD: &str = "Reduce only order would increase position.";

/// The stop or close of the guard's own that still has no answer.
fn flying(desk: &Desk) -> Option<u64> {
    desk.guard.intents.keys().copied().next_back()
}

/// Refuses whatever the guard tries, until so many tries were refused; when the last one was.
fn refuse(desk: &mut Desk, tries: usize, text: &str) -> u64 {
    for _ in 0..tries {
        let seq = (0..200).find_map(|_| {
            desk.wait(100);
            flying(desk)
        });
        desk.answer(seq.expect("a try"), 0, refusal(text));
    }
    desk.now
}

/// Whether something of the guard's own goes out by the time that everything was read.
fn tries_at(desk: &mut Desk, at_ms: u64) -> bool {
    desk.now = at_ms;
    desk.read();
    desk.step(Input::Tick);
    flying(desk).is_some()
}

#[test]
fn the_other_side_of_a_market_is_covered_at_once_whatever_was_refused_on_this_one() {
    let mut desk = Desk::live();
    bare(&mut desk, "ETH", dec!(1));
    let refused_ms = refuse(&mut desk, 7, "Something went wrong.");
    assert!(!tries_at(&mut desk, refused_ms + 3_000), "the pause has grown");
    desk.now += 1;
    desk.positions.insert("ETH", dec!(-0.5));
    let told = protect(&desk.read_account(desk.now));
    let order = &told["actions"][0]["orders"][0];
    assert_eq!((&order["b"], &order["s"]), (&Value::from(true), &Value::from("0.5")));
    assert_eq!(order["t"]["trigger"]["tpsl"], "sl", "a stop, and no close: {order}");
}

#[test]
fn another_size_is_tried_two_seconds_after_the_last_try() {
    for (size, after_ms, is_tried) in [(dec!(1), 2_000, false), (dec!(0.9), 1_999, false), (dec!(0.9), 2_000, true)] {
        let mut desk = Desk::live();
        bare(&mut desk, "ETH", dec!(1));
        let refused_ms = refuse(&mut desk, 7, "Something went wrong.");
        desk.positions.insert("ETH", size);
        assert_eq!(tries_at(&mut desk, refused_ms + after_ms), is_tried, "{size} after {after_ms} ms");
    }
}

/// Refuses two stops because nothing is held; the account was read so long before or after the first refusal. What the guard
/// sends when the account is read once more.
fn after_two_refusals(read_ms: i64) -> Value {
    let mut desk = Desk::live();
    let first = protect(&bare(&mut desk, "ETH", dec!(1)))["seq"].as_u64().unwrap();
    desk.now += 1_000;
    desk.answer(first, 0, refusal(NOTHING_HELD));
    desk.read_account(desk.now.checked_add_signed(read_ms).unwrap());
    desk.now += 2_001;
    desk.read_mids(desk.now);
    desk.read_orders(desk.now);
    let again = flying(&desk).expect("a second try");
    desk.answer(again, 0, refusal(NOTHING_HELD));
    let more = (0..40).find_map(|_| {
        desk.now += 100;
        desk.read();
        flying(&desk).map(|_| desk.guard.status_json(desk.now, (0, 0))["last_event"].clone())
    });
    more.expect("a third try")["action"]["orders"][0]["t"].clone()
}

#[test]
fn that_nothing_is_held_says_nothing_of_a_stop_while_the_account_was_not_read() {
    assert_eq!(after_two_refusals(-1)["trigger"]["tpsl"], "sl", "the position may be over");
    assert_eq!(after_two_refusals(0)["limit"]["tif"], "Ioc", "the account shows it, and no stop can be had");
}

/// A stop that is taken for the third time was found gone twice, and waits; one that was taken for another size each time was not.
#[test]
fn stops_that_were_taken_for_other_sizes_make_no_pause() {
    let markets = universe();
    let stop = stop_order(markets.by_coin("ETH").unwrap(), PositionSide::Long, dec!(1960), dec!(1));
    let waits_until = |times: u64, is_changed: bool| {
        let mut retry = RetryState::default();
        for at_ms in (1..=times).map(|time| time * 100) {
            retry.record_attempt(&stop, &AttemptResult::Accepted, at_ms);
            if is_changed {
                retry.on_other_size();
            }
        }
        retry.not_before_ms
    };
    assert_eq!([2, 3].map(|times| waits_until(times, false)), [0, 800]);
    assert!(waits_until(3, true) <= 300 && waits_until(9, true) <= 900);
}

/// A stop of another size, or far from the first, was made from another read: one of both may have been wrong, and no position is closed
/// for a stop that only a wrong one asked for.
#[test]
fn only_refusals_of_much_the_same_stop_close() {
    let markets = universe();
    let stop = |px, size| stop_order(markets.by_coin("ETH").unwrap(), PositionSide::Long, px, size);
    for (px, size, closes) in [
        (dec!(1960), dec!(1), true),
        (dec!(1470), dec!(1), true),
        (dec!(1469), dec!(1), false),
        (dec!(1960), dec!(0.75), true),
        (dec!(1960), dec!(0.7499), false),
        (dec!(2), dec!(1), false),
        (dec!(1960), dec!(0.0001), false),
    ] {
        let mut retry = RetryState::default();
        let refused = AttemptResult::Refused("Invalid TP/SL price.".into());
        retry.record_attempt(&stop(dec!(1960), dec!(1)), &refused, 1_000);
        retry.record_attempt(&stop(px, size), &refused, 3_000);
        assert_eq!(retry.closing, closes, "{size} at {px}");
        retry.record_attempt(&stop(px, size), &refused, 5_000);
        assert!(retry.closing);
    }
}

/// From an account without requests the venue takes one in ten seconds: who then waits for longer than a few misses its turn.
#[test]
fn an_account_without_requests_is_tried_again_within_seconds() {
    let markets = universe();
    let stop = stop_order(markets.by_coin("ETH").unwrap(), PositionSide::Long, dec!(1960), dec!(1));
    let pauses = |text: &str| -> Vec<u64> {
        let reply = Reply::read(&json!({"status": "err", "response": text})).unwrap();
        let outcome = AttemptResult::of(&reply, 0, 1);
        let mut retry = RetryState::default();
        let tries = (1..=6).map(|_| {
            retry.record_attempt(&stop, &outcome, 1_000);
            retry.not_before_ms - 1_000
        });
        tries.collect()
    };
    let spent = "Too many cumulative requests sent (10001 > 10000) for cumulative volume traded $1.0.";
    assert_eq!(pauses(spent), [500, 1_000, 2_000, 4_000, 4_000, 4_000]);
    assert_eq!(pauses("Invalid nonce"), [500, 1_000, 2_000, 4_000, 8_000, 8_000]);
}

/// Room is kept for what was refused for want of it and will be tried again, a stop or the close in its place: ten seconds from then,
/// and not once the venue has taken an order.
#[test]
fn room_is_kept_for_ten_seconds_after_it_was_wanted_last() {
    let markets = universe();
    let stop = stop_order(markets.by_coin("ETH").unwrap(), PositionSide::Long, dec!(1960), dec!(1));
    let close = Order { kind: OrderKind::Limit(Tif::Ioc), ..stop };
    let both = |stops: &[AttemptResult], closes: &[AttemptResult]| {
        let mut retry = RetryState::default();
        stops.iter().for_each(|outcome| retry.record_attempt(&stop, outcome, 1_000));
        closes.iter().for_each(|outcome| retry.record_attempt(&close, outcome, 2_000));
        [10_999, 11_000, 11_999, 12_000].map(|now_ms| retry.waits_for_room(now_ms))
    };
    let waits = |outcomes: &[AttemptResult]| {
        let [before, at, ..] = both(outcomes, &[]);
        [before, at]
    };
    let no_room = || AttemptResult::NoRoom;
    assert_eq!(waits(&[no_room()]), [true, false]);
    assert_eq!(waits(&[no_room(), AttemptResult::Unheard]), [true, false]);
    assert_eq!(waits(&[no_room(), AttemptResult::Accepted]), [false; 2]);
    assert_eq!(waits(&[no_room(), no_room(), no_room()]), [true, false]);
    assert_eq!(waits(&[no_room(), no_room(), no_room(), no_room()]), [true, false], "it is closed");
    let refused = || AttemptResult::Refused("Invalid TP/SL price.".into());
    assert_eq!(waits(&[no_room(), refused(), refused()]), [true, false], "it is closed");
    assert_eq!(waits(&[AttemptResult::Accepted]), [false; 2]);
    assert_eq!(both(&[no_room()], &[no_room()]), [true, true, true, false]);
    // One that found nobody says nothing of room.
    assert_eq!(both(&[no_room()], &[refused()]), [true, false, false, false]);
    assert_eq!(both(&[no_room()], &[AttemptResult::Accepted]), [false; 4]);
    assert_eq!(both(&[], &[refused()]), [false; 4]);
}
