//! A life that begins right after another: what that one read last tells what was withdrawn in between from what was lost.

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::fixture::*;
use super::halting::{equity, explain, risk, state, withdrawal, woken};
use crate::guard::{Input, Mode};
use crate::rules::Rules;
use crate::venue::history::Page;
use crate::venue::info::AccountMode;

/// A life whose marks are at 10000.
fn begun() -> Desk {
    let day =
        json!({"kind": "day", "at_ms": NOW, "day": "2027-01-15", "venue_ms": NOW, "equity": "10000", "ledger_ms": NOW});
    let mut desk = woken(&[day.to_string()]);
    desk.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: desk.now });
    desk.now += 10_000;
    desk
}

/// The life before this one has read what is held a moment ago, in this mode.
fn knows(desk: &mut Desk, mode: AccountMode) {
    let (state, equity, begun_ms) = (desk.state(desk.now - 2_000), dec!(10000), desk.now - 2_000);
    desk.step(Input::LastAccount { state, equity, mode, begun_ms });
}

/// For so many seconds the account is worth this, and the ledger tells of these.
fn reads(desk: &mut Desk, seconds: usize, usd: Decimal, rows: &Value) {
    for _ in 0..seconds {
        equity(desk, usd);
        desk.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: desk.now });
        explain(desk, rows.clone());
    }
}

/// The ledger may show it ten seconds late: a life that reads on waits for that, and so does one that has just begun.
#[test]
fn what_was_withdrawn_while_no_life_read_is_waited_for() {
    for (is_known, held) in [(true, dec!(0)), (true, dec!(0.4)), (false, dec!(0.4))] {
        let mut desk = begun();
        if !held.is_zero() {
            desk.positions.insert("ETH", held);
        }
        if is_known {
            knows(&mut desk, AccountMode::Standard);
        }
        let left_ms = desk.now - 1_000;
        reads(&mut desk, 8, dec!(7000), &json!([]));
        assert_eq!(state(&desk) == "active", is_known);
        if is_known {
            reads(&mut desk, 2, dec!(7000), &json!([withdrawal(left_ms, "3000.0")]));
            assert_eq!((&risk(&desk)["day_start_equity"], state(&desk).as_str()), (&json!("7000"), "active"));
        }
    }
}

#[test]
fn what_was_lost_on_what_is_held_halts_at_once() {
    for lost in [dec!(499), dec!(700)] {
        let mut desk = begun();
        desk.positions.insert("ETH", dec!(4));
        knows(&mut desk, AccountMode::Standard);
        desk.unrealized = -lost;
        reads(&mut desk, 4, dec!(10000) - lost, &json!([]));
        assert_eq!(state(&desk) == "halted_for_day", lost == dec!(700), "{lost}");
    }
}

/// The ledger is asked in vain since the start: no withdrawal explains what is lost on a position that is still held, where it is known
/// what cash there was when the marks were set or when the life before ended.
#[test]
fn what_is_lost_on_what_is_held_waits_for_no_ledger() {
    for (lost, reads, of_life, halts) in [
        (dec!(499.99), 2, "first", false),
        (dec!(500), 1, "first", false),
        (dec!(500), 2, "first", true),
        (dec!(500), 2, "known", true),
        (dec!(500), 2, "unknown", false),
    ] {
        let mut desk = if of_life == "first" {
            let mut desk = Desk::blank(config(Mode::Testnet, Rules::default()));
            desk.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: desk.now });
            desk
        } else {
            begun()
        };
        desk.positions.insert("ETH", dec!(4));
        if of_life == "known" {
            knows(&mut desk, AccountMode::Standard);
        }
        equity(&mut desk, dec!(10000));
        desk.unrealized = -lost;
        for _ in 0..reads {
            equity(&mut desk, dec!(10000) - lost);
        }
        assert_eq!(state(&desk) == "halted_for_day", halts, "{lost} {reads} {of_life}");
    }
}

/// Nor is it waited for where the account was in another mode, whose equity is kept elsewhere.
#[test]
fn another_purse_says_nothing() {
    let mut desk = begun();
    knows(&mut desk, AccountMode::Unified);
    reads(&mut desk, 8, dec!(7000), &json!([]));
    assert_ne!(state(&desk), "active");
}

/// A fill of this time is read.
fn fill(desk: &mut Desk, time: u64) {
    let fill = json!({"coin": "ETH", "px": "1900", "sz": "1", "side": "A", "time": time, "startPosition": "1.0", "dir": "",
        "closedPnl": "-600.0", "hash": "0x", "oid": 77, "crossed": true, "fee": "0.0", "tid": 9, "feeToken": "USDC"});
    let (rows, begun_ms) = (vec![serde_json::from_value(fill).unwrap()], desk.now);
    desk.step(Input::Fills { page: Page { rows, unread: Vec::new() }, begun_ms });
}

/// What was traded meanwhile may have lost it: a fill that is read tells so, however it is read.
#[test]
fn what_was_traded_between_both_lives_is_waited_for_no_longer() {
    // Of before the last read of the last life, between the lives, and of after the first read of this one.
    for (ago_ms, is_full, halts) in
        [(2_001, false, false), (2_000, false, true), (1, false, true), (1, true, true), (0, false, false)]
    {
        let mut desk = begun();
        desk.step(Input::DiskFull(is_full));
        knows(&mut desk, AccountMode::Standard);
        let time = desk.now - ago_ms + if ago_ms == 0 { 2_000 } else { 0 };
        reads(&mut desk, 4, dec!(9300), &json!([]));
        assert_eq!(state(&desk), "active");
        fill(&mut desk, time);
        reads(&mut desk, 1, dec!(9300), &json!([]));
        assert_eq!(state(&desk) == "halted_for_day", halts, "{ago_ms}");
    }
}

/// Nor where a life in between has put it on record, and died before it told what it had read.
#[test]
fn what_a_life_in_between_has_recorded_counts_as_traded() {
    for (ago_ms, halts) in [(2_001, false), (2_000, true)] {
        let mut desk = begun();
        let time = desk.now - ago_ms;
        fill(&mut desk, time);
        knows(&mut desk, AccountMode::Standard);
        reads(&mut desk, 4, dec!(9300), &json!([]));
        assert_eq!(state(&desk) == "halted_for_day", halts, "{ago_ms}");
    }
}
