//! Flows that the feed told while the ledger could not be read: no halt fires on what they explain, and each on what they do not.

use super::super::halting::{deposit, equity, withdrawal};
use super::*;

/// The ledger finds no weight for so long, in seconds, longer than a loss is doubted.
const UNREAD_S: u32 = 40;

/// A desk that has been up for a while and holds a position.
fn up() -> Desk {
    let mut desk = desk();
    desk.hold("ETH", dec!(1));
    for _ in 0..12 {
        equity(&mut desk, dec!(10000));
    }
    explain(&mut desk, json!([]));
    desk
}

fn told(desk: &mut Desk, rows: Value, is_snapshot: bool) {
    let data = json!({"isSnapshot": is_snapshot, "user": ACCOUNT, "nonFundingLedgerUpdates": rows});
    push(desk, "userNonFundingLedgerUpdates", data);
}

/// The account is read each second and its mode once, the ledger never.
fn unread(desk: &mut Desk, left: Decimal, seconds: u32) {
    for _ in 0..seconds {
        equity(desk, left);
        desk.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: desk.now });
    }
}

#[test]
fn a_withdrawal_that_was_told_is_no_loss_and_what_it_does_not_explain_is() {
    for (left, halts) in [(dec!(8500.01), false), (dec!(8500), true)] {
        for is_snapshot in [false, true] {
            let mut desk = up();
            let at = desk.now + 500;
            told(&mut desk, json!([withdrawal(at, "1000.0")]), is_snapshot);
            unread(&mut desk, left, UNREAD_S);
            assert_eq!(state(&desk) == "halted_for_day", halts, "{left}");
        }
    }
    let mut desk = up();
    let at = desk.now + 500;
    told(&mut desk, json!([withdrawal(at, "1000.0")]), false);
    unread(&mut desk, dec!(9000), UNREAD_S);
    // No entry passes meanwhile, and the answer that comes at last moves the marks.
    desk.wait(100);
    desk.order(buy(ETH, "2000", "0.1")).vetoed("account_stale");
    explain(&mut desk, json!([withdrawal(at, "1000.0")]));
    desk.wait(100);
    assert_eq!(desk.guard.status_json(desk.now, (0, 0))["risk"]["day_pnl"], "0");
    desk.order(buy(ETH, "2000", "0.1")).resized();
    let mut untold = up();
    unread(&mut untold, dec!(9000), UNREAD_S);
    assert_eq!(state(&untold), "halted_for_day", "a loss that nothing explains is believed after ten seconds");
}

/// What the ledger showed before, what an answer since did not show, what came in beside it, and what was told too long ago.
#[test]
fn only_what_the_ledger_cannot_have_shown_yet_explains() {
    let halts = |prepare: &dyn Fn(&mut Desk, u64), seconds: u32| {
        let mut desk = up();
        let at = desk.now + 500;
        prepare(&mut desk, at);
        unread(&mut desk, dec!(9000), seconds);
        state(&desk) == "halted_for_day"
    };
    let row = |at: u64| json!([withdrawal(at, "600.0")]);
    assert!(!halts(&|desk, at| told(desk, row(at), false), UNREAD_S), "the baseline");
    assert!(!halts(&|desk, at| [true, false].iter().for_each(|is_first| told(desk, row(at), *is_first)), UNREAD_S));
    let mut desk = up();
    let at = desk.now + 500;
    told(&mut desk, row(at), false);
    desk.now += 1_000;
    explain(&mut desk, row(at));
    equity(&mut desk, dec!(9400));
    told(&mut desk, row(at), true);
    unread(&mut desk, dec!(8800), UNREAD_S);
    assert_eq!(state(&desk), "halted_for_day", "what was taken in explains nothing more");
    let refuted = |desk: &mut Desk, at: u64| {
        told(desk, row(at), false);
        desk.now += 10_000;
        explain(desk, json!([]));
    };
    assert!(halts(&refuted, UNREAD_S), "an answer of ten seconds later has it, or it never was");
    let beside = |desk: &mut Desk, at: u64| told(desk, json!([withdrawal(at, "600.0"), deposit(at, "200.0")]), false);
    assert!(halts(&beside, UNREAD_S), "400 of 1000 are explained");
    let old = |desk: &mut Desk, at: u64| told(desk, row(at - 3_600_000), false);
    assert!(halts(&old, UNREAD_S), "the ledger was read since");
    assert!(halts(&|desk, at| told(desk, row(at), false), 80), "a minute's weight is back after a minute");
}
