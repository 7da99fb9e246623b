//! Requests that reach the venue after their client's `expiresAfter`: the account pays five for each.

use rust_decimal::dec;
use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::{Input, Mode};

const LATE: &str = "Action already expired";

/// A desk that holds something and has two orders open, with so many requests left.
fn desk(left: u64) -> Desk {
    let mut desk = Desk::new(Mode::Testnet, wide());
    let orders = [7, 8].map(|oid| open("ETH", "B", &format!("19{oid}0"), "0.1", oid));
    desk.show([orders.to_vec(), vec![open_stop("ETH", "A", "1900", "10", 9)]].concat());
    desk.hold("ETH", dec!(10));
    desk.step(Input::RequestsLeft(left));
    desk
}

fn until(desk: &mut Desk, action: Value, life_ms: u64) -> Decided {
    let nonce = desk.now;
    let expires_ms = desk.now + life_ms;
    Decided::of(desk.post_body(with(body(&action, nonce), "/expiresAfter", json!(expires_ms))))
}

fn exit() -> Value {
    close(ETH, false, "2000", "1")
}

fn entry() -> Value {
    buy(ETH, "1990", "0.1")
}

fn refused(desk: &mut Desk, decided: &Decided, text: &str) -> Option<u64> {
    desk.answer(decided.seq(), 0, json!({"status": "err", "response": text}));
    desk.guard.allowance.left()
}

fn life_ms(desk: &Desk, decided: &Decided) -> u64 {
    sends(&decided.effects)[0].terms.expires_after_ms.unwrap() - desk.now
}

#[test]
fn it_counts_as_late_until_its_answer_says_otherwise() {
    for (text, left) in [(LATE, 9_995), ("no", 9_999)] {
        let mut desk = desk(10_000);
        let decided = until(&mut desk, place(vec![exit()]), 5_000);
        assert_eq!(desk.guard.allowance.left(), Some(9_995));
        // What has no answer yet may not be in a read.
        desk.step(Input::RequestsLeft(10_000));
        assert_eq!(desk.guard.allowance.left(), Some(9_995));
        assert_eq!(refused(&mut desk, &decided, text), Some(left));
    }
    let mut unsent = desk(10_000);
    let decided = until(&mut unsent, place(vec![exit()]), 5_000);
    let outcome = crate::guard::SendOutcome::NotSent("no room".to_owned());
    unsent.step(Input::Sent { intent: decided.seq(), index: 0, outcome });
    assert_eq!(unsent.guard.allowance.left(), Some(10_000));
}

/// What ends by the guard's own expiry counts once, and as late only where it was.
#[test]
fn the_guards_own_expiry_counts_once() {
    let mut desk = desk(10_000);
    let decided = until(&mut desk, place(vec![exit()]), 15_000);
    assert_eq!(desk.guard.allowance.left(), Some(9_999));
    assert_eq!(refused(&mut desk, &decided, LATE), Some(9_995));
}

#[test]
fn an_exit_keeps_its_clients_expiry_where_there_is_time() {
    for (asked_ms, sent_ms) in [(1_000, 1_000), (999, 15_000), (0, 15_000)] {
        let mut desk = desk(10_000);
        let decided = until(&mut desk, place(vec![exit()]), asked_ms);
        assert_eq!(life_ms(&desk, decided.reduces()), sent_ms);
        let cancel = json!({"type": "cancel", "cancels": [{"a": ETH, "o": 7}, {"a": ETH, "o": 8}]});
        desk.now += 1;
        let decided = until(&mut desk, cancel, asked_ms);
        assert_eq!(life_ms(&desk, decided.reduces()), sent_ms);
    }
}

/// It goes out in any case, and what it may cost is not more than it would without an expiry.
#[test]
fn an_exit_keeps_its_clients_expiry_where_that_leaves_what_is_kept() {
    for (left, sent_ms, counted) in [(505, 5_000, 500), (504, 15_000, 503), (499, 15_000, 498), (150, 15_000, 149)] {
        let mut desk = desk(left);
        let decided = until(&mut desk, place(vec![exit()]), 5_000);
        assert_eq!(life_ms(&desk, decided.reduces()), sent_ms, "{left}");
        assert_eq!(desk.guard.allowance.left(), Some(counted));
    }
    let twap = json!({"type": "twapCancel", "a": ETH, "t": 1});
    let mut desk = desk(499);
    let decided = until(&mut desk, twap, 5_000);
    assert_eq!(life_ms(&desk, decided.reduces()), 15_000);
}

#[test]
fn what_may_not_come_late_leaves_what_is_kept() {
    for action in [place(vec![entry()]), noop()] {
        let decided = until(&mut desk(509), action.clone(), 5_000);
        decided.vetoed("venue_budget").says(&["509", "expiresAfter", "500"]);
        assert_ne!(until(&mut desk(510), action.clone(), 5_000).verdict(), "veto");
        assert_ne!(until(&mut desk(509), action, 15_000).verdict(), "veto");
    }
    // The exit beside it goes.
    until(&mut desk(509), place(vec![exit(), entry()]), 5_000).resized().says(&["venue_budget"]);
}

#[test]
fn an_entry_needs_the_time_that_a_send_takes() {
    let mut desk = desk(10_000);
    until(&mut desk, place(vec![entry()]), 999).vetoed("expired").says(&["999 ms"]);
    desk.now += 1;
    let modify = json!({"type": "modify", "oid": 7, "order": buy(ETH, "1971", "0.1")});
    until(&mut desk, modify.clone(), 999).vetoed("expired");
    desk.now += 1;
    let decided = until(&mut desk, place(vec![exit(), entry()]), 999);
    assert_eq!(decided.resized().forward()["orders"].as_array().unwrap().len(), 1);
    assert_eq!(life_ms(&desk, &decided), 15_000);
    desk.now += 1;
    until(&mut desk, modify, 1_000).resized();
    desk.now += 1;
    until(&mut desk, place(vec![entry()]), 1_000).resized();
}

/// A client's part of what is left is what its requests did cost.
#[test]
fn a_late_request_spends_its_clients_part() {
    for (text, spent) in [(LATE, 5), ("no", 1)] {
        let mut desk = desk(2_000);
        let decided = until(&mut desk, place(vec![exit()]), 5_000);
        refused(&mut desk, &decided, text);
        assert_eq!(desk.guard.allowance.part_of(CLIENT, 2).unwrap().1, spent);
    }
}
