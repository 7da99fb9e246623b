//! Client order ids that are good for one trade.

use serde_json::{Value, json};

use rust_decimal::dec;

use super::fixture::*;
use crate::guard::Mode;

fn once(number: u8) -> Value {
    json!(format!("0x7376636f6e63{}", format!("{number:02x}").repeat(10)))
}

fn entry(number: u8) -> Value {
    with(with(buy(ETH, "1990", "0.1"), "/t/limit/tif", json!("Ioc")), "/c", once(number))
}

/// Every desk of the tests begins with the same nonce, and what is restored has used the first two.
fn uses_up_the_nonces_of(desk: &mut Desk) {
    desk.order(entry(8));
    desk.order(entry(9));
}

#[test]
fn a_used_id_trades_no_second_time_also_when_its_order_is_long_gone() {
    for mode in [Mode::Paper, Mode::Testnet] {
        let mut desk = Desk::new(mode, wide());
        let first = desk.order(entry(1));
        first.resized();
        if mode == Mode::Testnet {
            desk.answer(first.seq(), 1, statuses(json!([{"error": "no"}, {"error": "no"}])));
        }
        desk.wait(60_000);
        desk.show(vec![]);
        desk.order(entry(1)).vetoed("duplicate_order").says(&["good for one trade", "/guard/decision?cloid="]);
        desk.order(entry(2)).resized();
    }
}

#[test]
fn a_close_under_a_used_id_is_the_first_one_again() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.hold("ETH", dec!(1));
    let exit = |number| with(close(ETH, false, "2000", "1"), "/c", once(number));
    desk.order(exit(1)).reduces();
    desk.order(exit(1)).vetoed("duplicate_order");
    desk.order(exit(2)).reduces();
    // Any other id may come again with an exit, as ever.
    let exit = with(close(ETH, false, "2000", "1"), "/c", cloid(1));
    desk.order(exit.clone()).reduces();
    desk.order(exit).reduces();
}

#[test]
fn a_veto_leaves_the_id_unused_over_a_restart_too() {
    let mut before = Desk::new(Mode::Testnet, wide());
    let refused = before.order(with(entry(1), "/p", json!("1990.99")));
    refused.vetoed("price_invalid");
    before.order(entry(1)).resized();
    let mut after = Desk::new(Mode::Testnet, wide());
    after.guard.restore_json(&refused.event);
    uses_up_the_nonces_of(&mut after);
    after.order(entry(1)).resized();
}

#[test]
fn a_restart_knows_the_used_ids() {
    let mut before = Desk::new(Mode::Testnet, wide());
    let used = before.order(entry(1));
    let checkpoint: Value = serde_json::from_str(&before.guard.checkpoint(before.now)).unwrap();
    let (mut by_event, mut by_checkpoint) = (Desk::new(Mode::Testnet, wide()), Desk::new(Mode::Testnet, wide()));
    by_event.guard.restore_json(&used.resized().event);
    by_checkpoint.guard.restore_checkpoint_json(&checkpoint);
    for after in [&mut by_event, &mut by_checkpoint] {
        uses_up_the_nonces_of(after);
        after.order(entry(1)).vetoed("duplicate_order").says(&["good for one trade"]);
    }
}

#[test]
fn a_modify_keeps_the_id_of_the_order_it_replaces() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    let resting = with(with(buy(ETH, "1900", "0.1"), "/t/limit/tif", json!("Gtc")), "/c", once(1));
    let first = desk.order(resting.clone());
    desk.answer(first.seq(), 0, statuses(json!([{"resting": {"oid": 7}}, "waitingForFill"])));
    let mut shown = open("ETH", "B", "1900", "0.1", 7);
    shown.cloid = serde_json::from_value(once(1)).unwrap();
    desk.wait(10);
    desk.show(vec![shown]);
    let modify = json!({"type": "batchModify", "modifies": [{"oid": 7, "order": with(resting, "/p", json!("1901"))}]});
    assert_eq!(desk.ask(modify).verdict(), "resize");
}

#[test]
fn a_modify_takes_no_used_id_of_another_order() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.order(entry(1)).resized();
    desk.wait(10);
    desk.show(vec![open("ETH", "B", "1900", "0.1", 7)]);
    let order = with(buy(ETH, "1901", "0.1"), "/c", once(1));
    desk.ask(json!({"type": "batchModify", "modifies": [{"oid": 7, "order": order}]})).vetoed("duplicate_order");
}
