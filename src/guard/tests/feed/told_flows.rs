//! Flows that the feed told while the ledger could not be read: no halt fires on what they explain, and each on what they do not.

use super::super::halting::{deposit, equity, kept_up, withdrawal, woken};
use super::*;

/// The ledger finds no weight for so long, in seconds, longer than a loss is doubted.
const UNREAD_S: u32 = 40;

/// A desk that has been up for a while and holds a position.
fn up() -> Desk {
    kept_up(desk())
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
    let many = |desk: &mut Desk, at: u64| {
        (0..200).for_each(|nth| told(desk, json!([withdrawal(at + nth, "3.0")]), false));
    };
    assert!(!halts(&many, UNREAD_S), "however many they are");
}

/// An answer that comes too soon after the first read of a life is not taken in, and what it shows is known all the same.
#[test]
fn an_answer_that_was_not_taken_in_explains_until_the_next_one() {
    for (shown, halts) in [(json!([]), true), (json!([withdrawal(NOW + 9_500, "6000.0")]), false)] {
        let day = json!({"kind": "day", "at_ms": NOW, "day": "2027-01-15", "venue_ms": NOW, "equity": "10000", "ledger_ms": NOW});
        let mut desk = woken(&[day.to_string()]);
        desk.now += 10_000;
        equity(&mut desk, dec!(4000));
        explain(&mut desk, shown);
        unread(&mut desk, dec!(4000), UNREAD_S);
        assert_eq!(state(&desk) != "active", halts);
    }
}

/// The ledger is asked for a deposit, with what is kept for halts, while that alone keeps a loss within the limits.
#[test]
fn a_deposit_hides_no_loss_until_the_ledger_has_room() {
    // Heard by the feed, or seen by the cash alone.
    for is_told in [true, false] {
        // What came in scales the limit too.
        for (lost, is_asked, halts) in [(dec!(499.99), false, false), (dec!(500), true, false), (dec!(600), true, true)]
        {
            let mut desk = up();
            let at = desk.now + 500;
            if is_told {
                told(&mut desk, json!([deposit(at, "700.0")]), false);
            }
            desk.unrealized = -lost;
            let mut asked = 0;
            for _ in 0..10 {
                let effects = equity(&mut desk, dec!(10700) - lost);
                desk.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: desk.now });
                let is_it = |read: &&&Read| matches!(read, Read::Ledger { is_for_halt: true, .. });
                asked += reads(&effects).iter().filter(is_it).count();
            }
            assert_eq!((asked, state(&desk).as_str()), (usize::from(is_asked), "active"), "{is_told} {lost}");
            desk.read_orders(desk.now);
            let order = desk.order(buy(ETH, "2000", "0.1"));
            if is_asked {
                order.vetoed("account_stale").says(&["hide"]);
            }
            explain(&mut desk, json!([deposit(at, "700.0")]));
            (0..3).for_each(|_| _ = equity(&mut desk, dec!(10700) - lost));
            assert_eq!(state(&desk) == "halted_for_day", halts, "{is_told} {lost}");
        }
    }
}

/// A deposit that is told and never was fires nothing.
#[test]
fn nothing_fires_by_a_deposit_that_is_told_alone() {
    let mut desk = up();
    let at = desk.now + 500;
    told(&mut desk, json!([deposit(at, "5000.0")]), false);
    unread(&mut desk, dec!(10000), UNREAD_S);
    explain(&mut desk, json!([]));
    unread(&mut desk, dec!(10000), UNREAD_S);
    assert_eq!(state(&desk), "active");
    desk.wait(100);
    desk.order(buy(ETH, "2000", "0.1")).resized();
}
