//! Deposits, withdrawals and transfers: no profit, no loss, no halt and no cover for one.

use rust_decimal::{Decimal, dec};
use serde_json::json;

use super::fixture::*;
use super::halting::{deposit, desk, equity, explain, kinds, lose, risk, state, withdrawal, woken};
use crate::guard::{Input, Read};
use crate::venue::info::{Leverage, MarginMode};

#[test]
fn a_withdrawal_fires_nothing_and_hides_nothing() {
    let mut desk = desk();
    let at = desk.now + 500;
    equity(&mut desk, dec!(4000));
    explain(&mut desk, json!([withdrawal(at, "6000.0")]));
    equity(&mut desk, dec!(4000));
    assert_eq!(state(&desk), "active");
    let shown = risk(&desk);
    assert_eq!(
        (&shown["day_start_equity"], &shown["peak_equity"], &shown["day_pnl"]),
        (&json!("4000"), &json!("4000"), &json!("0"))
    );
    // The same entry again moves nothing.
    explain(&mut desk, json!([withdrawal(at, "6000.0")]));
    assert_eq!(risk(&desk)["day_start_equity"], "4000");
    lose(&mut desk, dec!(3800.01));
    assert_eq!(state(&desk), "active");
    lose(&mut desk, dec!(3800));
    assert_eq!(state(&desk), "halted_for_day");
}

#[test]
fn a_withdrawal_fires_nothing_however_small_its_share_or_young_the_life() {
    // The last of a loss is a withdrawal that is not in the ledger yet.
    let mut desk = desk();
    equity(&mut desk, dec!(9550));
    let at = desk.now + 900;
    equity(&mut desk, dec!(9490));
    explain(&mut desk, json!([]));
    equity(&mut desk, dec!(9490));
    assert_eq!(state(&desk), "active");
    desk.now += 1_000;
    explain(&mut desk, json!([withdrawal(at, "60.0")]));
    equity(&mut desk, dec!(9490));
    assert_eq!(state(&desk), "active");
    // It left just before the guard was started again.
    let mark =
        json!({"kind": "day", "at_ms": NOW, "day": "2027-01-15", "venue_ms": NOW, "equity": "10000", "ledger_ms": NOW});
    let mut desk = woken(&[mark.to_string()]);
    equity(&mut desk, dec!(4000));
    explain(&mut desk, json!([]));
    equity(&mut desk, dec!(4000));
    assert_eq!(state(&desk), "active");
}

#[test]
fn a_withdrawal_that_the_ledger_shows_late_fires_nothing() {
    for (shown_after, halts) in [(9, false), (11, true)] {
        let mut desk = desk();
        desk.hold("ETH", dec!(1));
        equity(&mut desk, dec!(10000));
        let at = desk.now + 500;
        equity(&mut desk, dec!(8000));
        for second in 1..=11 {
            let asked = equity(&mut desk, dec!(8000));
            let shown = if second >= shown_after { json!([withdrawal(at, "2000.0")]) } else { json!([]) };
            if reads(&asked).iter().any(|read| matches!(read, Read::Ledger { .. })) || second == shown_after {
                explain(&mut desk, shown);
            }
        }
        let expected = if halts { "stopped" } else { "active" };
        assert_eq!(state(&desk), expected, "shown after {shown_after} s");
    }
}

/// What is left carries the share of the loss that all of it had: 450 of 10000 are 4.5% of whatever stays.
#[test]
fn a_withdrawal_makes_no_loss_greater_and_hides_none() {
    let mut desk = desk();
    desk.hold("ETH", dec!(1));
    equity(&mut desk, dec!(10000));
    desk.unrealized = dec!(-450);
    equity(&mut desk, dec!(9550));
    let at = desk.now + 500;
    for _ in 0..4 {
        equity(&mut desk, dec!(7640));
    }
    explain(&mut desk, json!([]));
    equity(&mut desk, dec!(7640));
    assert_eq!(state(&desk), "active");
    explain(&mut desk, json!([withdrawal(at, "1910.0")]));
    equity(&mut desk, dec!(7640));
    assert_eq!((state(&desk).as_str(), &risk(&desk)["day_start_equity"]), ("active", &json!("8000")));
    assert_eq!(risk(&desk)["day_pnl"], "-360", "4.5% of what is left");
    for (lost, halts) in [(dec!(399.99), false), (dec!(400), true)] {
        desk.unrealized = -lost;
        for _ in 0..12 {
            equity(&mut desk, dec!(8000) - lost);
        }
        assert_eq!(state(&desk) == "halted_for_day", halts, "{lost}");
    }
}

#[test]
fn a_position_that_loses_is_no_withdrawal() {
    // Also with a withdrawal beside it: what is lost without that is enough.
    for withdrawn in [Decimal::ZERO, dec!(200)] {
        for (lost, halts) in [(dec!(499), false), (dec!(500), true)] {
            let mut desk = desk();
            desk.hold("ETH", dec!(1));
            equity(&mut desk, dec!(10000));
            desk.unrealized = -lost;
            for _ in 0..4 {
                equity(&mut desk, dec!(10000) - lost - withdrawn);
            }
            explain(&mut desk, json!([]));
            assert_eq!(state(&desk) == "halted_for_day", halts, "{lost} and {withdrawn}");
        }
    }
}

#[test]
fn who_trades_can_lose_cash_between_two_reads_that_look_alike() {
    for trades in [false, true] {
        let mut desk = desk();
        desk.leverage(ETH, Some(Leverage { mode: MarginMode::Cross, value: 5 }));
        equity(&mut desk, dec!(10000));
        if trades {
            // Bought, and sold again before the account is read.
            let filled = json!({"filled": {"totalSz": "0.1", "avgPx": "2000", "oid": 1}});
            let bought = desk.order(buy(ETH, "2000", "0.1"));
            desk.answer(bought.seq(), 0, statuses(json!([filled, "waitingForTrigger"])));
        }
        for _ in 0..4 {
            equity(&mut desk, dec!(9000));
        }
        explain(&mut desk, json!([]));
        assert_eq!(state(&desk) == "halted_for_day", trades);
    }
}

#[test]
fn cash_that_goes_while_a_position_is_traded_is_lost() {
    let mut desk = desk();
    desk.hold("ETH", dec!(1));
    equity(&mut desk, dec!(10000));
    desk.positions.insert("ETH", dec!(0.5));
    for _ in 0..4 {
        equity(&mut desk, dec!(9000));
    }
    explain(&mut desk, json!([]));
    assert_eq!(state(&desk), "halted_for_day");
}

#[test]
fn a_second_withdrawal_has_its_own_time_to_show_up() {
    let mut desk = desk();
    let first = desk.now + 500;
    equity(&mut desk, dec!(8000));
    let second = desk.now + 500;
    equity(&mut desk, dec!(4000));
    desk.now += 1_000;
    explain(&mut desk, json!([withdrawal(first, "2000.0")]));
    equity(&mut desk, dec!(4000));
    assert_eq!(state(&desk), "active");
    explain(&mut desk, json!([withdrawal(first, "2000.0"), withdrawal(second, "4000.0")]));
    equity(&mut desk, dec!(4000));
    assert_eq!((state(&desk).as_str(), &risk(&desk)["day_pnl"]), ("active", &json!("0")));
}

/// What the account was worth between two flows of one second is known when the ledger shows both.
#[test]
fn a_flow_whose_company_the_ledger_may_lack_waits_for_it() {
    for (after_ms, is_taken) in [(1_999, false), (2_000, true)] {
        let mut desk = desk();
        equity(&mut desk, dec!(10000));
        let (out, back) = (desk.now + 300, desk.now + 600);
        equity(&mut desk, dec!(11000));
        desk.now += after_ms;
        explain(&mut desk, json!([withdrawal(out, "4000.0")]));
        assert_eq!(risk(&desk)["day_start_equity"] != "10000", is_taken, "{after_ms}");
        if is_taken {
            continue;
        }
        let asked: Vec<bool> = (0..4)
            .map(|_| {
                let effects = equity(&mut desk, dec!(11000));
                reads(&effects).iter().any(|read| matches!(read, Read::Ledger { .. }))
            })
            .collect();
        assert_eq!(asked, [false, true, false, false], "once more, two seconds later");
        explain(&mut desk, json!([withdrawal(out, "4000.0"), deposit(back, "5000.0")]));
        let shown = risk(&desk);
        assert_eq!((&shown["day_start_equity"], &shown["day_pnl"]), (&json!("11000"), &json!("0")));
        assert_eq!((&shown["peak_equity"], &shown["drawdown"]), (&json!("11000"), &json!("0")));
    }
}

/// Prices that leap every second put off no question about what was withdrawn.
#[test]
fn a_withdrawal_among_leaping_prices_fires_nothing() {
    let mut desk = desk();
    desk.hold("ETH", dec!(10));
    equity(&mut desk, dec!(10000));
    let at = desk.now + 500;
    for second in 0..14 {
        desk.unrealized = if second % 2 == 0 { dec!(150) } else { dec!(-150) };
        let left = dec!(6000) + desk.unrealized;
        let asked = equity(&mut desk, left);
        if reads(&asked).iter().any(|read| matches!(read, Read::Ledger { .. })) {
            explain(&mut desk, json!([withdrawal(at, "4000.0")]));
        }
    }
    assert_eq!(state(&desk), "active");
}

#[test]
fn a_ledger_ahead_of_the_account_fires_nothing_and_leaves_no_peak() {
    let mut desk = desk();
    let (out, back) = (desk.now + 500, desk.now + 3_500);
    equity(&mut desk, dec!(4000));
    equity(&mut desk, dec!(4000));
    desk.now += 3_600;
    // Part of it has come back by the time the ledger is read, and no account read shows that yet.
    explain(&mut desk, json!([withdrawal(out, "6000.0"), deposit(back, "3000.0")]));
    assert_eq!(state(&desk), "active");
    equity(&mut desk, dec!(7000));
    // An answer of the venue that lags: the money is out again in the ledger, and still in the account.
    let again = desk.now + 600;
    desk.now += 2_700;
    explain(&mut desk, json!([withdrawal(again, "5000.0")]));
    let mut late = desk.state(again - 100);
    late.time = again - 100;
    desk.now += 10;
    desk.step(Input::Account { state: late, equity: dec!(7000), begun_ms: desk.now });
    equity(&mut desk, dec!(2000));
    let shown = risk(&desk);
    assert_eq!((state(&desk).as_str(), &shown["day_pnl"], &shown["drawdown"]), ("active", &json!("0"), &json!("0")));
}

#[test]
fn a_peak_after_a_withdrawal_is_written_as_any_other() {
    let mut desk = desk();
    let at = desk.now + 500;
    equity(&mut desk, dec!(9000));
    explain(&mut desk, json!([withdrawal(at, "1000.0")]));
    equity(&mut desk, dec!(9000));
    let written = equity(&mut desk, dec!(9080)).risk;
    assert!(written.iter().any(|record| record.text.contains("\"peak\"")), "{written:?}");
}

#[test]
fn a_deposit_is_no_profit_and_no_peak() {
    let mut desk = desk();
    equity(&mut desk, dec!(9700));
    let at = desk.now + 500;
    // The balance moves first: for a moment it looks like a peak.
    equity(&mut desk, dec!(14700));
    explain(&mut desk, json!([]));
    equity(&mut desk, dec!(14700));
    assert_eq!(risk(&desk)["peak_equity"], "14700");
    explain(&mut desk, json!([deposit(at, "5000.0")]));
    // 3% of what was there were lost, and are now 3% of all of it.
    let shown = risk(&desk);
    assert_eq!((&shown["day_start_equity"], &shown["day_pnl"]), (&json!("15154.63917526"), &json!("-454.63917526")));
    assert_eq!((&shown["peak_equity"], &shown["drawdown"]), (&json!("15154.63917526"), &json!("454.63917526")));
}

#[test]
fn two_flows_alike_in_everything_both_count() {
    let mut desk = desk();
    let at = desk.now + 500;
    equity(&mut desk, dec!(12000));
    explain(&mut desk, json!([deposit(at, "1000.0"), deposit(at, "1000.0")]));
    explain(&mut desk, json!([deposit(at, "1000.0"), deposit(at, "1000.0")]));
    assert_eq!(risk(&desk)["day_start_equity"], "12000");
}

#[test]
fn transfers_count_by_their_direction() {
    let other = "0x0000000000000000000000000000000000000001";
    for (delta, moved) in [
        (
            json!({"type": "internalTransfer", "usdc": "100.0", "user": ACCOUNT, "destination": other, "fee": "1.0"}),
            dec!(-101),
        ),
        (
            json!({"type": "internalTransfer", "usdc": "100.0", "user": other, "destination": ACCOUNT, "fee": "1.0"}),
            dec!(100),
        ),
        (json!({"type": "accountClassTransfer", "usdc": "100.0", "toPerp": false}), dec!(-100)),
        (json!({"type": "accountClassTransfer", "usdc": "100.0", "toPerp": true}), dec!(100)),
        (
            json!({"type": "spotTransfer", "token": "USDC", "amount": "9.0", "user": ACCOUNT, "destination": other, "fee": "1.0"}),
            dec!(0),
        ),
        (
            json!({"type": "send", "token": "USDC", "amount": "9.0", "user": ACCOUNT, "destination": ACCOUNT,
            "sourceDex": "spot", "destinationDex": "", "fee": "0.0"}),
            dec!(9),
        ),
        (json!({"type": "vaultDeposit", "vault": other, "usdc": "50.0"}), dec!(-50)),
        (json!({"type": "vaultWithdraw", "vault": other, "netWithdrawnUsd": "40.0"}), dec!(40)),
        (json!({"type": "liquidation", "accountValue": "500.0"}), dec!(0)),
        (json!({"type": "somethingNew", "usdc": "7.0"}), dec!(0)),
        (json!({"type": "borrowLend", "token": "HYPE", "operation": "supply", "amount": "900.0"}), dec!(0)),
        (json!({"type": "borrowLend", "token": "USDC", "operation": "supply", "amount": "900.0"}), dec!(0)),
        (json!({"type": "deployGasAuction", "token": "HYPE", "amount": "900.0"}), dec!(0)),
        (json!({"type": "activateDexAbstraction", "dex": "abc", "token": "USDC", "amount": "9.0"}), dec!(0)),
    ] {
        let mut desk = desk();
        equity(&mut desk, dec!(10000));
        let entry = json!({"time": desk.now + 1, "hash": "0x0", "delta": delta});
        // So long after it the ledger holds all that could have moved the account beside it.
        desk.now += 2_001;
        let effects = explain(&mut desk, json!([entry]));
        let start: Decimal = risk(&desk)["day_start_equity"].as_str().unwrap().parse().unwrap();
        assert_eq!(start - dec!(10000), moved, "{delta}");
        let is_odd = kinds(&effects).contains(&"error".to_owned());
        assert_eq!(is_odd, delta["type"] == "somethingNew", "{delta}");
    }
}

/// What an entry of an unknown kind says counts for as much as a read showed to have moved, its own way, and no more.
#[test]
fn an_entry_that_is_not_sure_explains_what_a_read_showed() {
    let other = "0x0000000000000000000000000000000000000001";
    let out = |usd: &str| json!({"type": "somethingNew", "usdc": usd, "user": ACCOUNT, "destination": other});
    let lends = |usd: &str| json!({"type": "borrowLend", "token": "USDC", "operation": "supply", "amount": usd});
    for (delta, day_start, halts) in [
        (out("1000.0"), "9000", false),
        (lends("1000.0"), "9000", false),
        // It says more than what moved, less, something else, and the other way.
        (out("1000000.0"), "9000", false),
        (out("400.0"), "9587.62886598", true),
        (json!({"type": "somethingNew", "token": "HYPE", "amount": "1000.0"}), "10000", true),
        (json!({"type": "somethingNew", "usdc": "1000.0"}), "10000", true),
    ] {
        let mut desk = desk();
        equity(&mut desk, dec!(10000));
        let at = desk.now + 500;
        equity(&mut desk, dec!(9000));
        let entry = json!({"time": at, "hash": "0x0", "delta": delta});
        explain(&mut desk, json!([entry]));
        assert_eq!(risk(&desk)["day_start_equity"], day_start, "{delta}");
        lose(&mut desk, dec!(9000));
        assert_eq!(state(&desk) == "halted_for_day", halts, "{delta}");
    }
    // The ledger may be first.
    let mut desk = desk();
    equity(&mut desk, dec!(10000));
    let entry = json!({"time": desk.now + 10, "hash": "0x0", "delta": out("1000.0")});
    desk.now += 20;
    explain(&mut desk, json!([entry]));
    assert_eq!(risk(&desk)["day_start_equity"], "10000");
    equity(&mut desk, dec!(9000));
    assert_eq!((&risk(&desk)["day_start_equity"], &risk(&desk)["day_pnl"]), (&json!("9000"), &json!("0")));
}

/// Neither by a share too small to trade on nor by more than the day began with.
#[test]
fn a_withdrawal_switches_no_limit_off() {
    let mut desk = desk();
    for gained in 1..=60 {
        equity(&mut desk, dec!(10000) + Decimal::from(gained) * dec!(90));
    }
    let at = desk.now + 500;
    equity(&mut desk, dec!(5300));
    explain(&mut desk, json!([withdrawal(at, "10100.0")]));
    equity(&mut desk, dec!(5300));
    assert_eq!(state(&desk), "active");
    let limit: Decimal = risk(&desk)["daily_loss_limit"].as_str().unwrap().parse().unwrap();
    assert!(limit > dec!(170) && limit < dec!(175), "{limit}: 5% of 10000 of 15400, of the 5300 that are left");
}

/// One read of half of what is there, right after a deposit: the day's start moves by what was there before, not by that.
#[test]
fn a_wrong_read_beside_a_flow_measures_it_by_nothing() {
    let mut desk = desk();
    let at = desk.now + 500;
    equity(&mut desk, dec!(6500));
    equity(&mut desk, dec!(13000));
    desk.now += 3_000;
    explain(&mut desk, json!([deposit(at, "3000.0")]));
    equity(&mut desk, dec!(13000));
    let shown = risk(&desk);
    assert_eq!((&shown["day_start_equity"], &shown["day_pnl"]), (&json!("13000"), &json!("0")));
}
