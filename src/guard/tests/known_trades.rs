//! What known trades lost is a loss, and what is gone beside them may have been withdrawn.

use rust_decimal::{Decimal, dec};
use serde_json::json;

use super::fixture::*;
use super::halting::{desk, equity, explain, risk, state, withdrawal};
use crate::venue::info::{Leverage, MarginMode};

/// A round trip of which the venue's answers tell everything.
fn told_trip(desk: &mut Desk, (size, bought, sold): (&str, &str, &str)) {
    desk.now += 100;
    desk.leverage(ETH, Some(Leverage { mode: MarginMode::Cross, value: 5 }));
    let filled =
        |px: &str| statuses(json!([{"filled": {"totalSz": size, "avgPx": px, "oid": 1}}, "waitingForTrigger"]));
    let entry = desk.order(with(buy(ETH, "2000", size), "/t/limit/tif", json!("Ioc"))).seq();
    desk.answer(entry, 0, filled(bought));
    let exit = desk.order(close(ETH, false, "1000", size)).seq();
    desk.answer(exit, 0, filled(sold));
}

/// The loss is read twice, and ledger and mode say nothing of it after their time.
fn is_believed(desk: &mut Desk, left: Decimal) -> bool {
    equity(desk, left);
    equity(desk, left);
    for _ in 0..3 {
        explain(desk, json!([]));
        equity(desk, left);
    }
    state(desk) != "active"
}

#[test]
fn cash_that_known_trades_did_not_lose_may_have_been_withdrawn() {
    for (trip, left, is_lost) in [
        // A tenth of a dollar is lost, and 2000 are gone.
        (("0.1", "2000", "1999"), dec!(7999.9), false),
        // All that is gone was lost, and more than the limit of 500.
        (("1", "2000", "1400"), dec!(9400), true),
        // 450 were lost. A hundredth of the equity, and the most that fees can come to, are no withdrawal yet.
        (("1", "2000", "1550"), dec!(9446.5), true),
        (("1", "2000", "1550"), dec!(9446.4), false),
    ] {
        let mut desk = desk();
        told_trip(&mut desk, trip);
        assert_eq!(is_believed(&mut desk, left), is_lost, "{trip:?} {left}");
    }
    // Of one more trade nothing is told but that it was answered.
    let mut desk = desk();
    told_trip(&mut desk, ("0.1", "2000", "1999"));
    let entry = desk.order(with(buy(ETH, "2000", "0.1"), "/t/limit/tif", json!("Ioc"))).seq();
    desk.answer(entry, 0, statuses(json!([{"filled": {"totalSz": "0.1", "oid": 2}}, "waitingForTrigger"])));
    assert!(is_believed(&mut desk, dec!(7999.9)));
}

#[test]
fn a_withdrawal_beside_known_trades_is_told_of_late_and_fires_nothing() {
    let mut desk = desk();
    told_trip(&mut desk, ("0.1", "2000", "1999"));
    let moved_ms = desk.now;
    assert!(!is_believed(&mut desk, dec!(7999.9)));
    explain(&mut desk, json!([withdrawal(moved_ms, "2000")]));
    equity(&mut desk, dec!(7999.9));
    assert_eq!(state(&desk), "active");
    assert_eq!(risk(&desk)["day_start_equity"], "8000");
}
