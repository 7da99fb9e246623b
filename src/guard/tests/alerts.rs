//! Alerts that no other test raises and clears: each comes with its cause and goes with it.

use rust_decimal::dec;
use serde_json::json;

use super::fixture::*;
use super::halting::{self, desk, explain};
use super::settling;
use crate::base::moment::utc;
use crate::guard::{AlertCode, Effects, Guard, Input, Mode};
use crate::rules::Rules;
use crate::venue::info::AccountMode;

fn stands(desk: &Desk, code: &str) -> bool {
    let status = desk.guard.status_json(desk.now, (0, 0));
    let stands = status["alerts"].as_array().unwrap().iter().any(|alert| alert["code"] == code);
    assert!(
        AlertCode::ALL.iter().any(|known| known.as_str() == code)
            && desk.guard.gauges(desk.now).alerts.iter().any(|told| told == code) == stands
    );
    stands
}

/// Ill health or not, it comes and it goes.
fn comes_and_goes(code: &str, is_ill: bool, mut desk: Desk, raise: impl Fn(&mut Desk), clear: impl Fn(&mut Desk)) {
    assert!(!stands(&desk, code), "{code}: at first");
    raise(&mut desk);
    assert!(stands(&desk, code), "{code}: raised");
    assert_eq!(!desk.guard.problems(desk.now).is_empty(), is_ill, "{code}: {:?}", desk.guard.problems(desk.now));
    clear(&mut desk);
    assert!(!stands(&desk, code), "{code}: cleared");
}

/// Reads in which the account's block is so far from the machine's clock.
fn blocks(desk: &mut Desk, off_ms: i64) {
    for _ in 0..6 {
        desk.now += 1_000;
        let (state, equity, begun_ms) = (desk.state(desk.now.saturating_add_signed(off_ms)), desk.equity, desk.now);
        desk.step(Input::Account { state, equity, begun_ms });
        desk.read_mids(desk.now);
        desk.read_orders(desk.now);
    }
}

fn equity(desk: &mut Desk, equity: rust_decimal::Decimal) {
    (desk.equity, desk.unrealized) = (equity, equity - dec!(10000));
    for _ in 0..3 {
        desk.wait(1_000);
    }
}

#[test]
fn what_is_not_read_is_told_of_until_it_is() {
    for code in ["account_stale", "orders_stale", "price_stale"] {
        comes_and_goes(
            code,
            true,
            Desk::live(),
            |desk| desk.now += if code == "orders_stale" { 15_001 } else { 5_001 },
            |desk| desk.wait(100),
        );
    }
}

fn text(desk: &Desk, code: &str) -> String {
    let status = desk.guard.status_json(desk.now, (0, 0));
    let found = status["alerts"].as_array().unwrap().iter().find(|alert| alert["code"] == code).cloned();
    found.unwrap_or_else(|| panic!("no {code}"))["text"].as_str().unwrap().to_owned()
}

/// Times stand there as a person reads them.
#[test]
fn what_is_too_old_is_told_in_seconds() {
    let mut desk = Desk::live();
    desk.now += 15_001;
    assert_eq!(text(&desk, "account_stale"), "the account: last read over 5 s ago");
    assert_eq!(text(&desk, "orders_stale"), "the open orders: last read over 15 s ago");
    blocks(&mut desk, 1_500);
    let told = text(&desk, "clock_off");
    assert!(
        told.starts_with("this machine's clock is 1.5 s behind the venue's") && told.contains("timedatectl"),
        "{told}"
    );
}

#[test]
fn what_is_too_old_is_told_with_why_it_is_not_read() {
    let mut desk = Desk::live();
    let told = |desk: &Desk| (text(desk, "account_stale"), text(desk, "price_stale"));
    let why = |desk: &mut Desk, text: Option<&str>| {
        desk.step(Input::ReadFails { name: "account", text: text.map(str::to_owned) })
    };
    let of = |effects: &Effects| effects.records.iter().filter(|record| record.kind == "error").count();
    assert_eq!(of(&why(&mut desk, Some("reading the account fails: connection refused"))), 1);
    desk.now += 15_001;
    let [account, prices] =
        ["the account: last read over 5 s ago", "prices: last read over 5 s ago"].map(str::to_owned);
    let with_why = format!("{account}; reading the account fails: connection refused");
    assert_eq!(told(&desk), (with_why, prices.clone()), "of its own read alone");
    assert_eq!(of(&why(&mut desk, None)), 0);
    assert_eq!(told(&desk), (account, prices));
}

/// What was paid in or out, and into which purse, is not known for a minute.
#[test]
fn a_ledger_that_is_not_read_for_a_minute_is_told() {
    for (name, told) in [("ledger", "the ledger: "), ("mode", "the account's mode: ")] {
        let mut desk = Desk::live();
        let why = "reading it fails: HTTP 502";
        let fails = |desk: &mut Desk, text: Option<&str>| {
            desk.step(Input::ReadFails { name, text: text.map(str::to_owned) });
        };
        let is_told = |desk: &Desk| {
            let status = desk.guard.status_json(desk.now, (0, 0));
            status["alerts"].as_array().unwrap().iter().any(|alert| alert["code"] == "ledger_unread")
        };
        fails(&mut desk, Some(why));
        desk.now += 60_000;
        assert!(!is_told(&desk), "{name}");
        desk.now += 1;
        let text = text(&desk, "ledger_unread");
        assert!(text.starts_with(told) && text.contains("over 60 s; reading it fails: HTTP 502; "), "{text}");
        assert!(text.contains("lost after 10 s"), "{text}");
        fails(&mut desk, None);
        assert!(!is_told(&desk), "{name}");
    }
}

/// While nobody can say which stops rest, it is not said that there is none.
#[test]
fn a_position_whose_stops_cannot_be_read_is_not_said_to_have_none() {
    let mut desk = Desk::live();
    let read_ms = desk.now;
    let held_for = |desk: &mut Desk, ms: u64| {
        for _ in 0..ms / 1_000 {
            desk.now += 1_000;
            desk.read_mids(desk.now);
            desk.hold("ETH", dec!(1));
        }
    };
    held_for(&mut desk, 7_000);
    assert_eq!(text(&desk, "uncovered"), "1 of the position in ETH has no stop");
    held_for(&mut desk, 10_000);
    let unread = format!("the open orders were last read at {}", utc(read_ms));
    assert_eq!(text(&desk, "uncovered"), format!("whether 1 of the position in ETH has a stop is not known: {unread}"));
    desk.wait(100);
    assert_eq!(text(&desk, "uncovered"), "1 of the position in ETH has no stop");
    // Nor where they were not read at all.
    let mut desk = Desk::live();
    desk.guard = Guard::new(config(Mode::Testnet, Rules::default()), 0);
    desk.step(Input::Universe(universe()));
    desk.step(Input::ActsFor(None));
    held_for(&mut desk, 7_000);
    assert!(text(&desk, "uncovered").ends_with("is not known: the open orders were not read since the start"));
}

/// Nor is it said while one stands there that does not count: whoever looks at the venue sees it.
#[test]
fn a_stop_that_stands_beyond_the_line_is_named_beside_the_position_without_one() {
    let mut desk = Desk::live();
    desk.show(vec![open_stop("ETH", "A", "1800", "1", 7)]);
    for _ in 0..7 {
        desk.now += 1_000;
        desk.read_mids(desk.now);
        desk.hold("ETH", dec!(1));
    }
    let wanted = "1 of the position in ETH has no stop that counts (the one at 1800 stands too far off)";
    assert_eq!(text(&desk, "uncovered"), wanted);
}

/// Nor without the venue's words on it, where it has said any.
#[test]
fn a_position_whose_stop_the_venue_refuses_is_told_of_with_its_words() {
    let mut desk = Desk::live();
    let effects = desk.step(Input::Tick);
    assert!(sends(&effects).is_empty());
    desk.positions.insert("ETH", dec!(1));
    let mut intent = None;
    for _ in 0..7 {
        desk.now += 1_000;
        for effects in [desk.read_mids(desk.now), desk.read_account(desk.now), desk.read_orders(desk.now)] {
            intent = sends(&effects).first().map(|send| send.intent).or(intent);
        }
        let refusal = json!({"status": "err", "response": "Too many cumulative requests sent."});
        intent.take().into_iter().for_each(|intent| drop(desk.answer(intent, 0, refusal.clone())));
    }
    let told = text(&desk, "uncovered");
    assert!(told.starts_with("1 of the position in ETH has no stop: the venue says"), "{told}");
    assert!(
        told.contains("Too many cumulative requests sent.") && told.contains("close it at the venue's own page"),
        "{told}"
    );
}

/// Of what has fired nobody is warned; of the other limit as before.
#[test]
fn a_halt_ends_the_warning_of_its_limit() {
    let codes = |desk: &Desk| -> Vec<String> {
        let status = desk.guard.status_json(desk.now, (0, 0));
        let alerts = status["alerts"].as_array().unwrap().clone();
        alerts.iter().map(|alert| alert["code"].as_str().unwrap().to_owned()).collect()
    };
    let near = |desk: &Desk| ["daily_loss_near", "drawdown_near"].map(|code| codes(desk).contains(&code.to_owned()));
    for (left, fired, nears) in [
        (dec!(9600), "active", [true, false]),
        (dec!(9000), "halted_for_day", [false, true]),
        (dec!(8400), "stopped", [false, false]),
    ] {
        let mut desk = halting::desk();
        halting::lose(&mut desk, left);
        assert_eq!((halting::state(&desk).as_str(), near(&desk)), (fired, nears), "{left}");
    }
}

/// Nothing can be sent before it is known for whom.
#[test]
fn whose_wallet_signs() {
    let mut desk = Desk::live();
    desk.guard = Guard::new(config(Mode::Testnet, Rules::default()), 0);
    desk.step(Input::Universe(universe()));
    desk.read();
    assert!(stands(&desk, "role_unread"));
    let told = "whose API wallet signs";
    let command = "`svc-guard --home /home/owner key check --key-stdin < FILE`";
    let problems = desk.guard.problems(desk.now);
    assert!(problems.iter().any(|problem| problem.contains(told) && problem.contains(command)), "{problems:?}");
    desk.step(Input::ActsFor(None));
    assert!(!stands(&desk, "role_unread"));
    assert!(!stands(&Desk::paper(), "role_unread"), "nothing is sent there");
}

#[test]
fn the_account_and_the_clock() {
    let mode = |mode: &str| Input::UnvaluedMode { mode: mode.to_owned(), begun_ms: NOW };
    let set_back = |desk: &mut Desk| {
        desk.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: NOW + 1 });
    };
    comes_and_goes("account_mode", true, Desk::live(), |desk| _ = desk.step(mode("portfolioMargin")), set_back);
    comes_and_goes("clock_off", true, Desk::live(), |desk| blocks(desk, 1_500), |desk| blocks(desk, 0));
    comes_and_goes("clock_off", true, Desk::live(), |desk| blocks(desk, -1_500), |desk| blocks(desk, 0));
    let wallet =
        |days: u64| move |desk: &mut Desk| _ = desk.step(Input::ApiWalletValidUntil(Some(NOW + days * 86_400_000)));
    comes_and_goes("api_wallet_expiring", false, Desk::live(), wallet(7), wallet(8));
    // Approved anew without a name: the venue tells of no end.
    let unnamed = |desk: &mut Desk| _ = desk.step(Input::ApiWalletValidUntil(None));
    comes_and_goes("api_wallet_expiring", false, Desk::live(), wallet(7), unnamed);
}

#[test]
fn limits_that_come_near() {
    let rules = |daily_loss, drawdown| Desk::new(Mode::Testnet, Rules { daily_loss, drawdown, ..wide() });
    let held = |mut desk: Desk| {
        desk.orders = vec![open_stop("ETH", "A", "1960", "1", 9)];
        desk.positions.insert("ETH", dec!(1));
        desk.wait(1_000);
        desk
    };
    let lose = |desk: &mut Desk| equity(desk, dec!(9_300));
    let win = |desk: &mut Desk| equity(desk, dec!(9_900));
    comes_and_goes("daily_loss_near", false, held(rules(dec!(10), dec!(90))), lose, win);
    comes_and_goes("drawdown_near", false, held(rules(dec!(90), dec!(10))), lose, win);
}

/// A limit that is passed is not said to be nearly so.
#[test]
fn a_loss_says_whether_it_is_near_its_limit_or_has_reached_it() {
    for (lost, how) in [(dec!(9_300), "is over 60% of"), (dec!(8_900), "has reached")] {
        let rules = Rules { daily_loss: dec!(10), drawdown: dec!(90), ..wide() };
        let mut desk = Desk::new(Mode::Testnet, rules);
        desk.orders = vec![open_stop("ETH", "A", "1960", "1", 9)];
        desk.positions.insert("ETH", dec!(1));
        desk.wait(1_000);
        // Cash that is gone may have been withdrawn: no halt fires before the ledger has told.
        desk.equity = lost;
        (0..3).for_each(|_| desk.wait(1_000));
        let status = desk.guard.status_json(desk.now, (0, 0));
        let alerts = status["alerts"].as_array().unwrap();
        let near: Vec<&str> = alerts
            .iter()
            .filter(|alert| alert["code"] == "daily_loss_near")
            .map(|alert| alert["text"].as_str().unwrap())
            .collect();
        assert_eq!(near, [format!("the day's loss {} {how} its limit 1000.00", dec!(10_000.00) - lost)]);
    }
}

#[test]
fn what_the_disk_the_home_and_the_reads_tell() {
    for code in [AlertCode::DiskLow, AlertCode::JournalDamaged, AlertCode::HomeGone, AlertCode::AccountUnknown] {
        let told = |text: Option<&str>| Input::Concern { code, text: text.map(str::to_owned) };
        comes_and_goes(
            code.as_str(),
            true,
            Desk::live(),
            |desk| _ = desk.step(told(Some("so and so"))),
            |desk| _ = desk.step(told(None)),
        );
    }
    let told = |text: Option<&str>| Input::Journal(text.map(str::to_owned));
    comes_and_goes(
        "journal_error",
        true,
        Desk::live(),
        |desk| _ = desk.step(told(Some("no space"))),
        |desk| _ = desk.step(told(None)),
    );
}

#[test]
fn a_position_in_no_known_market() {
    // On paper nothing is covered, here or elsewhere.
    for (mode, is_ill) in [(Mode::Testnet, true), (Mode::Paper, false)] {
        comes_and_goes(
            "position_unknown",
            is_ill,
            Desk::new(mode, wide()),
            |desk| desk.hold("NEW", dec!(1)),
            |desk| {
                desk.positions.clear();
                desk.wait(100);
            },
        );
    }
    let mut desk = Desk::live();
    desk.hold("NEW", dec!(1));
    let said = desk.guard.problems(desk.now).join("; ");
    assert!(said.contains("no stop of the guard's and counts in no limit") && said.contains("own page"), "{said}");
}

/// Long enough to be seen; what never goes is looked at no more.
#[test]
fn money_that_moved_oddly_is_told_of_for_a_day() {
    let odd = |desk: &mut Desk| {
        desk.now += 500;
        let delta = json!({"type": "neverHeardOf", "usdc": "1.25"});
        explain(desk, json!([{"time": desk.now, "hash": "0x1", "delta": delta}]));
    };
    let day_later = |by_ms: u64| {
        move |desk: &mut Desk| {
            desk.wait(86_400_000 - by_ms);
            desk.step(Input::Tick);
        }
    };
    comes_and_goes("ledger_odd", false, desk(), odd, day_later(0));
    let mut desk = desk();
    odd(&mut desk);
    day_later(1)(&mut desk);
    assert!(stands(&desk, "ledger_odd"));
}

/// An entry whose answer never came may rest or have filled: a person is told before it is given up, and no longer than it lasts.
#[test]
fn an_action_without_an_answer() {
    let (mut desk, _, burn) = settling::in_doubt();
    for _ in 0..10 {
        assert!(!stands(&desk, "in_doubt"), "most are settled by then");
        desk.wait(1_000);
    }
    let burn = settling::seq(&burn);
    comes_and_goes("in_doubt", false, desk, |desk| desk.wait(1_000), |desk| _ = desk.answer(burn, 0, done()));
}
