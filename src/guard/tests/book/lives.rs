//! The audit's knowledge outlives a life, and a row may be as late as the venue is.

use super::world::BookWorld;
use crate::base::amount::to_wire;
use crate::guard::Input;
use crate::venue::info::AccountMode;
use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

/// What the book was told to lack.
fn told(world: &BookWorld) -> Vec<&str> {
    let texts = world.of_kind("error").into_iter().map(|error| error["text"].as_str().unwrap());
    texts.filter(|text| text.starts_with("the book does not add up")).collect()
}

fn unified(has_feed: bool) -> BookWorld {
    let mut world = BookWorld::new(1, has_feed);
    world.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: world.venue.now });
    world
}

/// A life ends in order and the next one begins.
fn another_life(world: &mut BookWorld) {
    world.step(Input::Shutdown { reason: "terminated".to_owned() });
    world.step(Input::SendsEnded);
    world.take_checkpoint();
    world.die(0);
    world.rise();
}

/// What was traded and paid while nobody watched is not in the first answers, and no later fill of the market shows that it lacks.
#[test]
fn an_empty_answer_after_an_absence_loses_nothing() {
    for (has_feed, ends) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut world = BookWorld::new(1, has_feed);
        world.venue.trade("ETH", dec!(1), dec!(100), None);
        world.live(900);
        world.step(Input::Shutdown { reason: "terminated".to_owned() });
        world.step(Input::SendsEnded);
        world.take_checkpoint();
        world.die(0);
        world.venue.now += 7_200_000;
        world.venue.pay_funding();
        world.venue.trade("ETH", dec!(-1), dec!(120), None);
        world.venue.now += 600_000;
        world.empty = [1, 1];
        world.rise();
        if ends {
            world.live(20);
            assert_eq!(world.empty, [0, 0], "the test needs both answers in the shorter life");
            another_life(&mut world);
        }
        world.live(300);
        world.hold_to_record();
        assert_eq!(told(&world), [""; 0], "{has_feed} {ends}");
    }
}

/// The account was read before the rows were: it is what the sum begins with, and no other read is waited for.
#[test]
fn the_first_sum_waits_for_the_rows_alone() {
    for has_feed in [false, true] {
        let mut world = BookWorld::new(1, has_feed);
        world.venue.now += 1_000;
        world.read_account();
        for _ in 0..30 {
            world.venue.now += 1_000;
            world.step(Input::Tick);
            while !world.reads.is_empty() {
                world.answer();
            }
        }
        assert_eq!(world.of_kind("balance").len(), 1, "{has_feed}");
    }
}

/// A life ends before any row was read: the account as it was then is where the sum begins, and the next life has what came since.
#[test]
fn a_life_without_a_sum_has_its_last_word() {
    for has_feed in [false, true] {
        let mut world = BookWorld::new(1, has_feed);
        for life in 1..=3_usize {
            world.venue.now += 1_000;
            world.read_account();
            world.step(Input::Shutdown { reason: "terminated".to_owned() });
            world.step(Input::SendsEnded);
            assert_eq!(world.of_kind("balance").len(), life, "{has_feed}");
            world.take_checkpoint();
            world.die(0);
            world.venue.now += 600_000;
            world.rise();
        }
        world.venue.now += 600_000;
        world.venue.trade("ETH", dec!(1), dec!(100), None);
        world.venue.now += 600_000;
        world.live(300);
        world.hold_to_record();
        let (first, last) = (world.of_kind("balance")[0], *world.of_kind("balance").last().unwrap());
        assert_eq!((&last["opened_ms"], last["difference"].as_str()), (&first["venue_ms"], Some("0")), "{last}");
        assert!(last["fees"] != "0" && told(&world).is_empty(), "{last} {:?}", told(&world));
    }
}

/// Nothing is held but a token, which a fill has just paid with the balance.
#[test]
fn a_fill_of_another_purse_is_known_to_the_next_life() {
    for ends in [false, true] {
        let mut world = unified(true);
        world.live(30);
        let fill = json!({"coin": "@107", "px": "10", "sz": "10", "side": "B", "time": world.venue.now, "startPosition": "0.0",
            "closedPnl": "0.0", "oid": 9, "crossed": true, "fee": "0.0035", "tid": 9, "feeToken": "HYPE"});
        world.tell("userFills", "fills", json!([fill]));
        if ends {
            another_life(&mut world);
        }
        world.off = [dec!(-100)].into();
        world.live(200);
        assert_eq!(told(&world), [""; 0]);
        let sums = world.of_kind("balance");
        assert!(sums.iter().any(|sum| sum["why"] == "a fill of another purse moved the balance"), "{sums:?}");
    }
}

/// The account is unified and holds something: its book had added up before.
#[test]
fn a_row_that_is_missed_between_two_lives_is_told_with_its_amount() {
    for is_proved in [true, false] {
        let mut world = unified(false);
        world.venue.trade("ETH", dec!(10), dec!(100), None);
        world.venue.now += 1_000;
        while world.of_kind("balance").is_empty() {
            world.live(1);
        }
        if is_proved {
            world.live(30);
        }
        another_life(&mut world);
        let hidden = world.venue.trade("ETH", dec!(20), dec!(100), None);
        world.venue.hide_last();
        world.live(200);
        let fee: Decimal = hidden["fee"].as_str().unwrap().parse().unwrap();
        let is_named = told(&world).iter().any(|text| text.contains(&format!(" is {} USDC off", to_wire(-fee))));
        assert_eq!((told(&world).len(), is_named), (usize::from(is_proved), is_proved), "{:?}", told(&world));
    }
}

/// While nobody watched the account became one purse: what was proved of the other one says nothing of it.
#[test]
fn a_purse_that_changed_between_two_lives_is_no_discrepancy() {
    let mut world = BookWorld::new(1, false);
    world.venue.trade("ETH", dec!(10), dec!(100), None);
    world.live(60);
    world.step(Input::Shutdown { reason: "terminated".to_owned() });
    world.step(Input::SendsEnded);
    world.take_checkpoint();
    world.die(0);
    world.mode = AccountMode::Unified;
    world.off = [dec!(50)].into();
    world.rise();
    world.live(200);
    assert_eq!(told(&world), [""; 0]);
    let sums = world.of_kind("balance");
    assert!(sums.iter().any(|sum| sum["why"] == "the account's mode changed"), "{sums:?}");
}

/// A checkpoint of before these were kept.
#[test]
fn an_older_checkpoint_keeps_its_sum() {
    let mut world = BookWorld::new(1, false);
    world.live(60);
    let mut checkpoint: Value = serde_json::from_str(&world.guard.checkpoint(world.venue.now)).unwrap();
    let sum = checkpoint["book"]["sum"].as_object_mut().unwrap();
    for name in ["is_proved", "foreign", "swallowed", "is_unified"] {
        sum.remove(name);
    }
    let opened_ms = sum["opened_ms"].as_u64();
    let mut next = BookWorld::new(1, false).guard;
    next.restore_checkpoint_json(&checkpoint);
    assert_eq!(next.book.account.opening().map(|opening| opening.at_ms), opened_ms);
}

/// A row of the ledger may be a minute late.
#[test]
fn a_deposit_whose_row_is_late_is_no_discrepancy() {
    for mode in [AccountMode::Standard, AccountMode::Unified] {
        for seconds in [45, 58] {
            let mut world = BookWorld::new(1, false);
            world.step(Input::AccountMode { mode, begun_ms: world.venue.now });
            world.venue.trade("ETH", dec!(10), dec!(100), None);
            world.live(90);
            world.venue.deposit(dec!(5));
            let row = world.venue.ledger.pop().unwrap();
            world.live(seconds);
            world.venue.ledger.push(row);
            world.live(200);
            assert_eq!(told(&world), [""; 0], "{mode:?} {seconds}");
            assert_eq!(world.of_kind("balance").last().unwrap()["difference"], "0", "{mode:?} {seconds}");
        }
    }
}

/// The guard dies while it still looks for what is missing: the next life tells of it, and no life after that.
#[test]
fn what_is_missing_is_named_over_a_death() {
    for has_checkpoint in [true, false] {
        let mut world = BookWorld::new(1, false);
        world.live(60);
        for is_hidden in [false, true, false] {
            world.venue.now += 10;
            world.venue.trade("ETH", dec!(1), dec!(100), None);
            if is_hidden {
                world.venue.hide_last();
            }
        }
        while world.of_kind("fill").len() < 2 {
            world.live(1);
        }
        let named = |world: &BookWorld| {
            let errors = world.of_kind("error").into_iter();
            errors.filter(|error| error["text"].as_str().unwrap().starts_with("fills in ETH between")).count()
        };
        assert_eq!(named(&world), 0);
        for expected in [1, 1, 1] {
            world.live_on(has_checkpoint);
            world.live(120);
            assert_eq!(named(&world), expected, "{has_checkpoint}");
        }
    }
}
