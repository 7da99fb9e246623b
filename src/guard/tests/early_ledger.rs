//! An answer of the ledger that comes too soon after the first read of a life is asked for again, and not a minute later.

use rust_decimal::dec;
use serde_json::json;

use super::fixture::*;
use super::halting::{equity, explain, risk, state, withdrawal, woken};
use crate::guard::{Effects, Read};

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
