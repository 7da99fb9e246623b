//! A start that cannot read the account's mode: what is held is covered and can be closed, nothing is opened, and no loss is
//! measured by an equity that may be of another purse.

use rust_decimal::dec;
use serde_json::json;

use super::fixture::*;
use super::halting::woken;
use crate::guard::{Input, Mode, Read};
use crate::rules::Rules;
use crate::venue::info::{AccountMode, Leverage, MarginMode};

/// A guard that has read all but the mode.
fn unread() -> Desk {
    let mut desk = Desk::blank(config(Mode::Testnet, Rules::default()));
    desk.step(Input::ModeUnread);
    desk.read();
    desk.leverage(ETH, Some(Leverage { mode: MarginMode::Cross, value: 5 }));
    desk
}

#[test]
fn what_is_held_is_covered_and_closed() {
    let mut desk = unread();
    desk.now += 1;
    desk.hold("ETH", dec!(1));
    let effects = desk.read_orders(desk.now);
    let sent: Vec<_> = sends(&effects).into_iter().map(|send| json_of(&send.action)["orders"][0].clone()).collect();
    // By the rule's distance: what a loss may be is not known.
    assert_eq!((sent.len(), &sent[0]["t"]["trigger"]["triggerPx"]), (1, &json!("1960")));
    desk.order(close(ETH, false, "1990", "1")).reduces();
    desk.now += 10;
    let killed = desk.step(Input::Kill { reason: "enough".into(), by: None, write_file: false, request: None });
    let later = desk.step(Input::Tick);
    let closes = |effects| {
        sends(effects).into_iter().any(|send| json_of(&send.action)["orders"][0]["t"]["limit"]["tif"] == "Ioc")
    };
    assert!(closes(&killed) || closes(&later));
}

#[test]
fn nothing_is_opened_and_no_loss_measured_until_the_mode_is_known() {
    let mut desk = unread();
    // What a unified account shows beside its true equity.
    desk.equity = dec!(10);
    desk.read();
    desk.order(buy(ETH, "2000", "0.01")).vetoed("account_mode");
    // What is not known is told as such, and nothing is reckoned from it.
    let status = desk.guard.status_json(desk.now, (0, 1200));
    for figure in ["/equity", "/risk/day_pnl", "/risk/day_start_equity", "/risk/drawdown"] {
        assert!(status.pointer(figure).is_none_or(serde_json::Value::is_null), "{figure}: {status}");
    }
    assert!(desk.guard.problems(desk.now).iter().any(|text| text.contains("could not be read since the start")));
    desk.now += 1_000;
    let known = desk.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: desk.now });
    assert!(reads(&known).contains(&&Read::AccountNow));
    // A read of before shows the other purse.
    desk.read_account(desk.now);
    assert!(desk.guard.risk.marks.day_start.is_none() && desk.guard.risk.is_mode_unread);
    desk.order(buy(ETH, "2000", "0.01")).vetoed("account_stale");
    desk.equity = dec!(10000);
    desk.now += 1;
    desk.read();
    assert_eq!(desk.guard.risk.marks.day_start.map(|start| start.equity), Some(dec!(10000)));
    assert!(!desk.guard.risk.is_halted());
    desk.order(buy(ETH, "2000", "0.01")).resized();
}

/// That all is covered is not said while nobody knows what is held, or what rests.
#[test]
fn what_is_covered_is_not_told_before_it_was_read() {
    let told = |desk: &Desk| desk.guard.problems(desk.now).iter().find(|text| text.contains("mode could not")).cloned();
    let mut desk = Desk::blank(config(Mode::Testnet, Rules::default()));
    desk.step(Input::ModeUnread);
    assert!(told(&desk).unwrap().ends_with("vetoed and no loss is measured"));
    desk.read_account(desk.now);
    assert!(told(&desk).unwrap().ends_with("vetoed and no loss is measured"));
    assert!(told(&unread()).unwrap().ends_with("; positions are covered, exits and the kill switch work"));
}

/// The life before this one read an equity today: what is held has lost that much, wherever the rest is kept.
#[test]
fn what_is_held_halts_by_what_the_last_life_read_though_the_mode_never_comes() {
    for (lost, days, halts) in [(dec!(499), 0, false), (dec!(501), 0, true), (dec!(501), 1, false)] {
        let day = json!({"kind": "day", "at_ms": NOW, "day": "2027-01-15", "venue_ms": NOW, "equity": "10000", "ledger_ms": NOW});
        let mut desk = woken(&[day.to_string()]);
        desk.positions.insert("ETH", dec!(4));
        let (state, begun_ms) = (desk.state(desk.now), desk.now);
        desk.now += 1_000 + days * 86_400_000;
        desk.step(Input::LastAccount { state, equity: dec!(10000), mode: AccountMode::Standard, begun_ms });
        desk.step(Input::ModeUnread);
        // The answer may be of another purse, but for what is held.
        (desk.unrealized, desk.equity) = (-lost, dec!(10));
        for _ in 0..12 {
            desk.now += 1_000;
            desk.read();
            desk.step(Input::Ledger { updates: Vec::new(), begun_ms: desk.now });
        }
        assert_eq!(desk.guard.risk.is_halted(), halts, "{lost} {days}");
    }
}

/// One answer may be wrong: the mode is asked for again at once, and seldom once it lasts.
#[test]
fn a_mode_that_cannot_be_valued_is_asked_for_again() {
    let mut desk = Desk::live();
    desk.now += 1_000;
    desk.step(Input::UnvaluedMode { mode: "maintenance".into(), begun_ms: desk.now });
    let mut asked = Vec::new();
    for second in 1..=180_u64 {
        desk.now += 1_000;
        let effects = desk.read_account(desk.now);
        asked.extend(reads(&effects).iter().any(|read| matches!(read, Read::Mode { .. })).then_some(second));
    }
    let (soon, later): (Vec<u64>, Vec<u64>) = asked.into_iter().partition(|second| *second <= 30);
    assert!((5..=10).contains(&soon.len()) && (2..=3).contains(&later.len()), "{soon:?} {later:?}");
    desk.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: desk.now });
    desk.now += 100_000;
    let effects = desk.read_account(desk.now);
    assert!(!reads(&effects).iter().any(|read| matches!(read, Read::Mode { .. })));
}
