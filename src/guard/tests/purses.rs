//! Reads of before a change of the purse, and of a purse that the account may have no more: what they had lost is lost, and no flow is
//! measured by what they show.

use rust_decimal::dec;
use serde_json::json;

use super::fixture::*;
use super::halting::{deposit, equity, risk, state, steady, withdrawal};
use crate::guard::Input;
use crate::venue::history::ledger;
use crate::venue::info::AccountMode;

/// One read alone showed what was lost, also where the next ones looked into the purse that the account has no more: the first
/// read of the new purse agrees with it, so it is no flow.
#[test]
fn a_loss_that_one_read_showed_before_the_mode_changed_stays_one() {
    for wrong in [&[][..], &[dec!(950), dec!(950)]] {
        for (lost, more, halts) in [
            (dec!(499.99), dec!(0), false),
            (dec!(500), dec!(0), true),
            // Of 9500 a hundredth is 95.
            (dec!(500), dec!(95), true),
            (dec!(500), dec!(95.01), false),
        ] {
            let mut desk = steady();
            let left = dec!(10000) - lost;
            equity(&mut desk, left);
            wrong.iter().for_each(|wrong| _ = equity(&mut desk, *wrong));
            desk.now += 500;
            desk.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: desk.now });
            for _ in 0..14 {
                equity(&mut desk, left + more);
            }
            assert_eq!(state(&desk) == "halted_for_day", halts, "{lost} {more} {wrong:?}");
        }
    }
}

/// A change of the mode puts a halt off by no second ten: neither the ledger nor the mode answers after it.
#[test]
fn a_loss_that_is_made_sure_of_is_not_begun_anew_by_a_change_of_the_mode() {
    for (seconds, halts) in [(9, false), (10, true)] {
        let mut desk = steady();
        equity(&mut desk, dec!(9500));
        for second in 1..=seconds {
            if second == 5 {
                desk.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: desk.now });
            }
            equity(&mut desk, dec!(9500));
        }
        assert_eq!(state(&desk) == "halted_for_day", halts, "{seconds}");
    }
}

/// What had come in by then came with the change: it is no profit that could be lost again.
#[test]
fn a_gain_that_one_read_showed_before_the_mode_changed_is_a_flow() {
    let mut desk = steady();
    equity(&mut desk, dec!(12000));
    desk.now += 500;
    desk.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: desk.now });
    equity(&mut desk, dec!(12000));
    let shown = risk(&desk);
    assert_eq!((&shown["day_start_equity"], &shown["day_pnl"]), (&json!("12000"), &json!("0")));
}

/// The mode cannot be read, and what looks like a loss waits no longer for it: a flow that no read explains is measured by the
/// last read that was sure.
#[test]
fn a_flow_beside_a_doubted_purse_is_measured_by_what_was_sure() {
    let mut desk = steady();
    let at = desk.now + 500;
    equity(&mut desk, dec!(1100));
    for _ in 0..5 {
        equity(&mut desk, dec!(1100));
    }
    let updates = ledger(&json!([deposit(at, "1000.0")])).unwrap().rows;
    desk.step(Input::Ledger { updates, begun_ms: desk.now });
    assert_eq!(risk(&desk)["day_start_equity"], "11000");
    desk.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: desk.now });
    for _ in 0..12 {
        equity(&mut desk, dec!(11000));
    }
    let shown = risk(&desk);
    assert_eq!((&shown["day_pnl"], &shown["drawdown"], state(&desk).as_str()), (&json!("0"), &json!("0"), "active"));
}

/// The mode is read, and the account not yet: what was read since the last sure read was of the other purse.
#[test]
fn a_flow_told_before_the_new_purse_is_read_is_measured_by_what_was_sure() {
    let mut desk = steady();
    equity(&mut desk, dec!(1000));
    let at = desk.now + 500;
    for _ in 0..4 {
        equity(&mut desk, dec!(1000));
    }
    desk.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: desk.now });
    let updates = ledger(&json!([deposit(at, "1000.0")])).unwrap().rows;
    desk.step(Input::Ledger { updates, begun_ms: desk.now });
    assert_eq!(risk(&desk)["day_start_equity"], "11000");
    for _ in 0..12 {
        equity(&mut desk, dec!(11000));
    }
    let shown = risk(&desk);
    assert_eq!((&shown["day_pnl"], state(&desk).as_str()), (&json!("0"), "active"));
}

/// One that the reads explain is measured by them, although the mode was not read since they jumped: half of what was left went.
#[test]
fn a_flow_that_unsettled_reads_explain_is_measured_by_them() {
    for (lost, halts) in [(dec!(499.98), false), (dec!(500), true)] {
        let mut desk = steady();
        let left = dec!(10000) - lost;
        equity(&mut desk, left);
        let at = desk.now + 500;
        let half = left / dec!(2);
        for _ in 0..6 {
            equity(&mut desk, half);
        }
        let updates = ledger(&json!([withdrawal(at, &half.to_string())])).unwrap().rows;
        desk.step(Input::Ledger { updates, begun_ms: desk.now });
        assert_eq!(risk(&desk)["day_start_equity"], "5000", "{lost}");
        for _ in 0..14 {
            equity(&mut desk, half);
        }
        assert_eq!(state(&desk) == "halted_for_day", halts, "{lost}");
    }
}

/// The ledger shows a row again for an hour: what moved no part of the equity when it happened moves none of it in a later mode.
#[test]
fn a_row_of_before_the_mode_changed_moved_the_purse_of_then() {
    let spot = |time: u64| {
        json!({"time": time, "hash": "0x5", "delta": {"type": "spotTransfer", "user": ACCOUNT, "token": "USDC",
            "destination": "0x00000000000000000000000000000000000000ff", "amount": "500.0", "fee": "0.0"}})
    };
    let class = |time: u64| {
        let delta = json!({"type": "accountClassTransfer", "usdc": "500.0", "toPerp": false});
        json!({"time": time, "hash": "0x6", "delta": delta})
    };
    for (before, after, row) in [
        (AccountMode::Standard, AccountMode::Unified, spot(NOW + 500)),
        (AccountMode::Unified, AccountMode::Standard, class(NOW + 500)),
    ] {
        for is_told_before in [true, false] {
            let mut desk = steady();
            desk.step(Input::AccountMode { mode: before, begun_ms: desk.now });
            let begun_ms = desk.now;
            let mut row = row.clone();
            row["time"] = json!(begun_ms + 500);
            let told = |desk: &mut Desk| {
                let updates = ledger(&json!([row])).unwrap().rows;
                desk.step(Input::Ledger { updates, begun_ms: desk.now });
            };
            for _ in 0..40 {
                equity(&mut desk, dec!(10000));
            }
            if is_told_before {
                told(&mut desk);
            }
            desk.step(Input::AccountMode { mode: after, begun_ms: desk.now });
            for _ in 0..3 {
                equity(&mut desk, dec!(10000));
                told(&mut desk);
            }
            let shown = risk(&desk);
            let shown = (&shown["day_start_equity"], &shown["day_pnl"], state(&desk));
            assert_eq!(shown, (&json!("10000"), &json!("0"), "active".to_owned()), "{before:?} {is_told_before}");
        }
    }
}

/// The mode is asked for seldom: what two reads agreed on before it was read is a peak once it says that the purse is the same.
#[test]
fn a_peak_that_waited_for_the_mode_counts_once_that_is_read() {
    let (standard, unified) = (AccountMode::Standard, AccountMode::Unified);
    for (case, reads, mode, peak) in [
        ("agreed on", &[dec!(12000), dec!(12000)][..], standard, dec!(12000)),
        ("the lower of two", &[dec!(12000), dec!(11950)], standard, dec!(11950)),
        ("one alone", &[dec!(10500), dec!(12000)], standard, dec!(10250)),
        ("of another purse", &[dec!(12000), dec!(12000)], unified, dec!(10250)),
        ("from nowhere", &[dec!(20000.01), dec!(20000.01)], standard, dec!(10250)),
    ] {
        let mut desk = steady();
        for read in reads {
            equity(&mut desk, *read);
        }
        equity(&mut desk, dec!(10250));
        desk.step(Input::AccountMode { mode, begun_ms: desk.now });
        for _ in 0..3 {
            equity(&mut desk, dec!(10250));
        }
        assert_eq!(risk(&desk)["peak_equity"], json!(peak.normalize().to_string()), "{case}");
    }
}

/// Reads that showed more and then what had been there before, with nothing traded, were wrong.
#[test]
fn what_is_gone_again_as_it_came_was_no_peak() {
    let mut desk = steady();
    for read in [dec!(12000), dec!(12000), dec!(10050)] {
        equity(&mut desk, read);
    }
    desk.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: desk.now });
    for _ in 0..3 {
        equity(&mut desk, dec!(10050));
    }
    assert_eq!((risk(&desk)["peak_equity"].as_str(), state(&desk).as_str()), (Some("10050"), "active"));
}
