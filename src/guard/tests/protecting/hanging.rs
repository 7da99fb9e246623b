//! Actions of the guard's own that hang hold up nothing but themselves; and a position that looks as before may be another.

use rust_decimal::dec;
use serde_json::json;

use super::super::fixture::*;
use super::{bare, event, protect, protected};
use crate::guard::{Input, Read, SendOutcome};
use crate::venue::info::AccountMode;

/// What the cancel takes counts as gone already: what is bare beside that is covered while it hangs, and the cancel is not
/// sent again.
#[test]
fn a_cancel_that_hangs_holds_up_no_stop() {
    let mut desk = protected("ETH", dec!(1));
    desk.orders.push(open_stop("ETH", "A", "1970", "1", 600));
    desk.now += 1_000;
    desk.read_account(desk.now);
    let intent = event(&desk.read_orders(desk.now), "intent").unwrap();
    assert_eq!(intent["action"], json!({"type": "cancel", "cancels": [{"a": ETH, "o": 500}]}));
    desk.now += 1_000;
    let told = protect(&bare(&mut desk, "ETH", dec!(1.5)));
    assert_eq!(told["actions"][0]["orders"][0]["s"], "0.5");
    desk.now += 1_000;
    desk.read_account(desk.now);
    let again = desk.read_orders(desk.now);
    assert!(sends(&again).is_empty(), "{again:?}");
}

/// Two positions are bare: the stop of the one does not wait for the answer to the other's.
#[test]
fn a_stop_that_hangs_holds_up_no_other_markets() {
    let mut desk = Desk::live();
    desk.positions.insert("ETH", dec!(1));
    desk.now += 1;
    desk.hold("SOL", dec!(-10));
    let effects = desk.read_orders(desk.now);
    let seq = protect(&effects)["seq"].as_u64().unwrap();
    let sent: Vec<_> = sends(&effects).iter().map(|send| (send.intent, send.index)).collect();
    assert_eq!(sent, [(seq, 0), (seq, 1)]);
    // Each is told of by itself, whichever is answered first.
    let effects = desk.step(Input::Sent { intent: seq, index: 1, outcome: SendOutcome::NoAnswer("cut".into()) });
    assert!(event(&effects, "done").is_none(), "{effects:?}");
    let effects = desk.answer(seq, 0, statuses(json!([{"resting": {"oid": 700}}])));
    assert!(event(&effects, "done").is_some(), "{effects:?}");
}

/// It was closed and opened anew between two reads, at one price: only the fees tell, and its stop may be gone.
#[test]
fn a_position_that_paid_fees_has_its_orders_read() {
    for (paid, is_read) in [(dec!(0.009), false), (dec!(0.01), true)] {
        let mut desk = protected("ETH", dec!(1));
        desk.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: desk.now });
        desk.now += 1_000;
        desk.read_account(desk.now);
        desk.equity -= paid;
        desk.now += 1_000;
        let effects = desk.read_account(desk.now);
        assert_eq!(reads(&effects).contains(&&Read::OrdersNow), is_read, "{paid} USDC");
    }
}
