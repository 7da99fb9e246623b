//! The account's mode: a change of it is no profit and no loss, and one that cannot be valued blinds no halt.

use rust_decimal::dec;
use serde_json::json;

use super::fixture::*;
use super::halting::{desk, equity, risk, state, steady};
use crate::guard::{Input, Read};
use crate::venue::info::AccountMode;

#[test]
fn a_change_of_mode_is_no_profit() {
    let mut desk = desk();
    desk.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: desk.now });
    equity(&mut desk, dec!(25000));
    assert_eq!((&risk(&desk)["day_pnl"], &risk(&desk)["peak_equity"]), (&json!("0"), &json!("25000")));
}

/// Until the mode is read the wrong purse is looked into: nothing it shows is a mark, and no loss.
#[test]
fn a_change_of_mode_that_is_read_late_fires_nothing_and_leaves_no_mark() {
    for wrong in [dec!(500), dec!(30000)] {
        let mut desk = steady();
        for _ in 0..4 {
            let asked = equity(&mut desk, wrong);
            assert!(reads(&asked).contains(&&Read::Mode) || desk.guard.risk.last.is_some());
        }
        desk.step(Input::Ledger { updates: Vec::new(), begun_ms: desk.now });
        desk.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: desk.now });
        assert_eq!(state(&desk), "active");
        equity(&mut desk, dec!(12000));
        let shown = risk(&desk);
        assert_eq!((&shown["state"], &shown["peak_equity"]), (&json!("active"), &json!("12000")), "{wrong}");
        assert_eq!((&shown["day_pnl"], &shown["drawdown"]), (&json!("0"), &json!("0")), "{wrong}");
        desk.unrealized = dec!(-600);
        for _ in 0..12 {
            equity(&mut desk, dec!(11400));
        }
        assert_eq!(state(&desk), "halted_for_day");
    }
}

/// The equity cannot be read any more: what the positions lose from then on still fires, also what was closed at a loss.
#[test]
fn a_mode_that_cannot_be_valued_blinds_no_halt() {
    for (closes, lost, halts) in [
        (None, dec!(499.99), false),
        (None, dec!(500), true),
        (Some(0), dec!(499.99), false),
        (Some(0), dec!(500), true),
        // The account is read again before the prices that it was closed at.
        (Some(3), dec!(500), true),
    ] {
        let mut desk = steady();
        equity(&mut desk, dec!(400));
        desk.step(Input::UnvaluedMode { mode: "portfolioMargin".into(), begun_ms: desk.now });
        let status = desk.guard.status_json(desk.now, (0, 0));
        let alerts = status["alerts"].as_array().unwrap();
        assert!(alerts.iter().any(|alert| alert["code"] == "account_mode"), "{alerts:?}");
        assert_eq!(status["equity"], "10000");
        assert!(desk.guard.problems(desk.now).iter().any(|problem| problem.contains("portfolioMargin")));
        desk.unrealized = -lost;
        equity(&mut desk, dec!(350));
        if let Some(reads_before) = closes {
            // All that it lost came with the close.
            desk.unrealized = dec!(0);
            equity(&mut desk, dec!(350));
            desk.positions.clear();
            for _ in 0..reads_before {
                equity(&mut desk, dec!(0));
            }
            desk.mids.insert("ETH".into(), dec!(2000) - lost);
            desk.read_mids(desk.now);
        }
        for _ in 0..12 {
            equity(&mut desk, dec!(0));
        }
        assert_eq!(state(&desk) == "halted_for_day", halts, "{lost} {closes:?}");
        desk.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: desk.now });
        assert!(desk.guard.problems(desk.now).iter().all(|problem| !problem.contains("portfolioMargin")));
    }
}
