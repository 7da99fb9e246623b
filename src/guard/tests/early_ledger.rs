//! When the ledger is asked: again where its answer came too soon after the first read of a life, and not a minute later; and two
//! seconds after what the account shows.

use rust_decimal::dec;
use serde_json::json;

use super::fixture::*;
use super::halting::{desk, equity, explain, risk, state, withdrawal, woken};
use crate::guard::{Effects, Input, Read};

fn asks_for_ledger(effects: &Effects) -> bool {
    reads(effects).iter().any(|read| matches!(read, Read::Ledger { .. }))
}

#[test]
fn it_is_asked_for_again_two_seconds_later() {
    let day =
        json!({"kind": "day", "at_ms": NOW, "day": "2027-01-15", "venue_ms": NOW, "equity": "10000", "ledger_ms": NOW});
    let mut desk = woken(&[day.to_string()]);
    desk.now += 10_000;
    assert!(asks_for_ledger(&equity(&mut desk, dec!(4000))), "the first read of a life");
    let left_ms = desk.now - 500;
    // Another flow of the same time may be missing in it.
    explain(&mut desk, json!([withdrawal(left_ms, "6000.0")]));
    assert_eq!(risk(&desk)["day_start_equity"], "10000");
    let asked: Vec<bool> = (0..3).map(|_| asks_for_ledger(&equity(&mut desk, dec!(4000)))).collect();
    assert_eq!(asked, [false, true, false]);
    explain(&mut desk, json!([withdrawal(left_ms, "6000.0")]));
    equity(&mut desk, dec!(4000));
    assert_eq!((&risk(&desk)["day_start_equity"], state(&desk).as_str()), (&json!("4000"), "active"));
}

/// The ledger shows a withdrawal two seconds after it at the latest, and no later for an account read that was slow: what that
/// shows had happened by the time that it names.
#[test]
fn the_ledger_is_asked_two_seconds_after_what_the_account_shows() {
    // When the answer says to be of, after the question, and when the ledger is asked, after the answer came.
    for (of_ms, asked_ms) in [(0, 1_700), (100, 1_800), (300, 2_000), (900, 2_000)] {
        let mut desk = desk();
        for _ in 0..5 {
            equity(&mut desk, dec!(10000));
        }
        let begun_ms = desk.now + 1_000;
        desk.now = begun_ms + 300;
        desk.equity = dec!(9000);
        let state = desk.state(begun_ms + of_ms);
        desk.step(Input::Account { state, equity: desk.equity, begun_ms });
        let asks = |desk: &mut Desk, after_ms: u64| {
            desk.now = begun_ms + 300 + after_ms;
            let effects = desk.step(Input::Tick);
            reads(&effects).iter().any(|read| matches!(read, Read::Ledger { .. }))
        };
        assert_eq!([asked_ms - 1, asked_ms].map(|after_ms| asks(&mut desk, after_ms)), [false, true], "{of_ms}");
    }
}
