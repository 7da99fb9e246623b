//! Account reads that tell what is held and not the equity: cover, closes and halts go on by them, and nothing is opened once the
//! last equity is old.

use rust_decimal::{Decimal, dec};
use serde_json::json;

use super::fixture::*;
use super::halting::{steady, woken};
use crate::guard::Input;
use crate::guard::effects::Effects;
use crate::venue::info::AccountMode;

/// A read of what is held alone, with this much won on it.
fn unvalued(desk: &mut Desk, won: Decimal) -> Effects {
    desk.now += 1_000;
    let mut state = desk.state(desk.now);
    for element in &mut state.asset_positions {
        element.position.unrealized_pnl = won;
    }
    desk.step(Input::AccountUnvalued { state, begun_ms: desk.now })
}

#[test]
fn what_the_positions_lose_fires_the_daily_loss_stop() {
    for (lost, fires) in [(dec!(499.99), false), (dec!(500), true)] {
        let mut desk = steady();
        unvalued(&mut desk, -lost);
        assert!(!desk.guard.risk.is_halted(), "one read alone");
        unvalued(&mut desk, -lost);
        assert_eq!(desk.guard.risk.is_halted(), fires, "{lost}");
    }
}

#[test]
fn a_new_position_gets_its_cover() {
    let mut desk = Desk::live();
    desk.positions.insert("ETH", dec!(1));
    unvalued(&mut desk, dec!(0));
    let effects = desk.read_orders(desk.now);
    assert_eq!(sends(&effects).len(), 1);
}

#[test]
fn entries_wait_for_the_equity_once_it_is_old() {
    let mut desk = steady();
    desk.read();
    let limit_ms = desk.guard.config.account_max_age_ms;
    let valued_ms = desk.now;
    while desk.now < valued_ms + limit_ms {
        unvalued(&mut desk, dec!(0));
        desk.read_orders(desk.now);
        desk.read_mids(desk.now);
    }
    assert_eq!(desk.now, valued_ms + limit_ms);
    let alerted = |desk: &Desk| desk.guard.problems(desk.now).iter().any(|text| text.contains("the account's equity"));
    assert!(!alerted(&desk));
    desk.order(buy(ETH, "2000", "0.01")).resized();
    desk.now += 1;
    assert!(alerted(&desk));
    desk.order(buy(ETH, "2000", "0.01")).vetoed("account_stale");
    desk.order(close(ETH, false, "1990", "0.5")).reduces();
    desk.read();
    assert!(!alerted(&desk));
}

/// What was lost before the start is not known then; what is lost from its first read on is.
#[test]
fn a_life_that_has_read_no_equity_counts_from_its_first_read_and_the_day_s_start() {
    let day =
        json!({"kind": "day", "at_ms": NOW, "day": "2027-01-15", "venue_ms": NOW, "equity": "10000", "ledger_ms": NOW});
    for (lost, fires) in [(dec!(499.99), false), (dec!(500), true)] {
        let mut desk = woken(&[day.to_string()]);
        desk.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: NOW });
        desk.positions.insert("ETH", dec!(1));
        for won in [dec!(-700), dec!(-700), dec!(-700) - lost, dec!(-700) - lost] {
            assert!(!desk.guard.risk.is_halted());
            unvalued(&mut desk, won);
        }
        assert_eq!(desk.guard.risk.is_halted(), fires, "{lost}");
    }
}
