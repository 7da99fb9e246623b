//! `nothing_to_reduce`: a reduce-only order where nothing is held, and nothing may be.

use rust_decimal::dec;
use serde_json::json;

use crate::guard::tests::fixture::*;
use crate::guard::{Input, Mode, Read};

fn desk() -> Desk {
    Desk::new(Mode::Testnet, wide())
}

#[test]
fn a_reduce_only_order_needs_a_position() {
    let mut desk = desk();
    for order in [close(ETH, false, "2000", "1"), stop(ETH, false, "1900", "1"), close(OLD, true, "1", "1")] {
        let decided = desk.order(order);
        decided.vetoed("nothing_to_reduce");
        // A position that was made elsewhere shows soon.
        assert!(reads(&decided.effects).contains(&&Read::Account));
    }
    desk.hold("ETH", dec!(0.0001));
    desk.order(close(ETH, false, "2000", "1")).reduces();
    desk.order(close(BTC, false, "60000", "1")).vetoed("nothing_to_reduce");
    // Beside what finds something, or opens something, it is left out and holds nothing up.
    for beside in [close(ETH, false, "2000", "1"), buy(ETH, "1990", "0.1")] {
        let decided = desk.orders(vec![close(BTC, false, "60000", "1"), beside]);
        assert_eq!(decided.resized().sent_order(0)["a"], ETH);
        decided.says(&["order 1 of 2 left out (nothing_to_reduce)"]);
    }
}

#[test]
fn what_may_be_held_is_something() {
    let exit = || close(ETH, false, "2000", "1");
    // At rest: it may have filled since it was read.
    let mut desk = self::desk();
    desk.show(vec![open("ETH", "B", "1900", "1", 1)]);
    desk.order(exit()).reduces();
    // On its way.
    let mut desk = self::desk();
    desk.order(buy(ETH, "2000", "1")).resized();
    desk.order(exit()).reduces();
    // In the same request.
    let mut desk = self::desk();
    desk.orders(vec![buy(ETH, "2000", "1"), stop(ETH, false, "1960", "1")]).allowed();
    // In markets that the guard does not read, or does not know.
    for asset in [110_001, UNLISTED] {
        self::desk().order(close(asset, false, "2000", "1")).reduces();
    }
    // Where nobody has looked for long, or ever.
    let mut desk = self::desk();
    desk.now += 5_000;
    desk.order(exit()).vetoed("nothing_to_reduce");
    desk.now += 1;
    desk.order(exit()).reduces();
    Desk::blank(config(Mode::Testnet, wide())).order(exit()).reduces();
    // Where an entry of an earlier life may have rested until now: the account is read, and the open orders are not.
    let mut desk = Desk::blank(config(Mode::Testnet, wide()));
    desk.read_mids(desk.now);
    desk.now += 2_000;
    desk.read_account(desk.now);
    desk.order(exit()).reduces();
    desk.now += 10;
    desk.read_orders(desk.now);
    desk.read_account(desk.now);
    desk.order(exit()).vetoed("nothing_to_reduce");
    // On paper, where nothing is ever held.
    Desk::new(Mode::Paper, wide()).order(exit()).reduces();
}

#[test]
fn an_entry_that_is_in_doubt_may_have_opened_something() {
    let mut desk = desk();
    let seq = desk.order(buy(ETH, "2000", "1")).resized().seq();
    let outcome = crate::guard::SendOutcome::NoAnswer("cut".to_owned());
    desk.step(Input::Sent { intent: seq, index: 0, outcome });
    desk.wait(1_000);
    desk.order(close(ETH, false, "2000", "1")).reduces();
    assert_eq!(desk.ask(json!({"type": "noop"})).verdict(), "allow");
}
