//! An account answer that is dated ahead: nothing that comes after it is old by that.

use rust_decimal::dec;
use serde_json::json;

use super::fixture::*;
use super::halting::{DAY_MS, desk, explain, position_loses, settle, state};
use crate::guard::Input;

/// One answer of this far ahead.
fn early(desk: &mut Desk, ahead_ms: u64) {
    desk.now += 1_000;
    let (state, equity, begun_ms) = (desk.state(desk.now + ahead_ms), desk.equity, desk.now);
    desk.step(Input::Account { state, equity, begun_ms });
}

#[test]
fn what_is_held_after_it_is_shown_and_may_be_closed() {
    for ahead_ms in [0, 1_000, 1_001, 5_000, 9_500, 10_000, 60_000] {
        let mut desk = desk();
        early(&mut desk, ahead_ms);
        desk.now += 1_100;
        desk.hold("ETH", dec!(0.4));
        assert_eq!(desk.guard.status(desk.now, (0, 0)).positions.len(), 1, "{ahead_ms}");
        desk.order(close(ETH, false, "1990", "0.4")).reduces();
    }
}

/// Reads of a loss until it halts.
fn reads_until_halted(ahead_ms: Option<u64>) -> usize {
    let mut desk = desk();
    desk.hold("ETH", dec!(4));
    settle(&mut desk, dec!(10000));
    ahead_ms.into_iter().for_each(|ahead_ms| early(&mut desk, ahead_ms));
    for read in 1..30 {
        position_loses(&mut desk, dec!(700));
        if state(&desk) == "halted_for_day" {
            return read;
        }
        explain(&mut desk, json!([]));
    }
    panic!("it never halts")
}

#[test]
fn a_loss_after_it_halts_as_soon() {
    let soon = reads_until_halted(None);
    for ahead_ms in [0, 1_001, 5_000, 9_500] {
        assert_eq!(reads_until_halted(Some(ahead_ms)), soon, "{ahead_ms}");
    }
}

/// Two in a row are believed, and may still both be wrong: what follows agrees with the machine's clock and is taken in on its second
/// answer, by a day as by six minutes, and orders have nonces that the venue takes.
#[test]
fn two_that_ran_ahead_blind_for_no_longer_than_one_more_answer() {
    const TAKEN_MS: u64 = DAY_MS - 120_000;
    for ahead_ms in [360_000, DAY_MS, DAY_MS + 5_000, 3 * DAY_MS] {
        let mut desk = desk();
        early(&mut desk, ahead_ms);
        early(&mut desk, ahead_ms);
        // Its nonce is of the wrong day, and what comes after it must not go on from there.
        desk.ask(json!({"type": "cancel", "cancels": [{"a": ETH, "o": 77}]}));
        desk.now += 1_000;
        desk.hold("ETH", dec!(0.4));
        desk.now += 1_000;
        desk.hold("ETH", dec!(0.4));
        assert_eq!(desk.guard.status(desk.now, (0, 0)).positions.len(), 1, "{ahead_ms}");
        let decided = desk.order(close(ETH, false, "1990", "0.4"));
        decided.reduces();
        let nonce = decided.event["nonces"][0].as_u64().unwrap();
        assert!(nonce <= desk.now + TAKEN_MS, "{ahead_ms}: {}", nonce.saturating_sub(desk.now));
    }
}
