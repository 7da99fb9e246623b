//! Money that goes without a row, beside something that could explain some of it: told, and not taken for that.

use super::world::BookWorld;
use crate::guard::Input;
use crate::venue::info::AccountMode;
use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

/// What the book was told to lack.
fn told(world: &BookWorld) -> Vec<&str> {
    let texts = world.of_kind("error").into_iter().map(|error| error["text"].as_str().unwrap());
    texts.filter(|text| text.starts_with("the book does not add up")).collect()
}

fn whys(world: &BookWorld) -> Vec<&str> {
    world.of_kind("balance").into_iter().filter_map(|sum| sum["why"].as_str()).collect()
}

fn unified() -> BookWorld {
    let mut world = BookWorld::new(1, true);
    world.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: world.venue.now });
    world
}

/// One that holds 10 ETH, worth 1,020, and whose book has added up.
fn holding() -> BookWorld {
    let mut world = BookWorld::new(1, false);
    world.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: world.venue.now });
    world.venue.trade("ETH", dec!(10), dec!(100), None);
    world.venue.now += 1_000;
    world.live(90);
    world
}

/// 100 and the fee were paid for the token, at most.
#[test]
fn a_fill_of_another_purse_explains_what_it_may_have_moved_and_once() {
    for (seconds, off, is_told) in
        [(0, dec!(-100.0035), false), (0, dec!(-100.01), true), (0, dec!(100.01), true), (10, dec!(-100), true)]
    {
        let mut world = unified();
        world.live(30);
        let fill = json!({"coin": "@107", "px": "10", "sz": "10", "side": "B", "time": world.venue.now, "startPosition": "0.0",
            "closedPnl": "0.0", "oid": 9, "crossed": true, "fee": "0.0035", "tid": 9, "feeToken": "HYPE"});
        world.tell("userFills", "fills", json!([fill]));
        // Reads that add up show that it has moved nothing.
        world.live(seconds);
        world.off = [off].into();
        world.live(200);
        assert_eq!(told(&world).len(), usize::from(is_told), "{seconds} {off}: {:?}", told(&world));
        assert_eq!(whys(&world).contains(&"a fill of another purse moved the balance"), !is_told, "{seconds} {off}");
    }
}

/// More is gone at each look: never the same, and more than a price could be.
#[test]
fn losses_that_go_on_are_told() {
    for (each, is_told) in [(dec!(-0.3), true), (dec!(-0.001), false)] {
        let mut world = holding();
        world.off = (1..=250).map(|second| Decimal::from(second) * each).collect();
        world.live(250);
        assert_eq!(!told(&world).is_empty(), is_told, "{each}: {:?}", told(&world));
    }
}

/// Each is less than prices may be apart by, and all of them are not.
#[test]
fn small_losses_are_told_once_they_are_more_than_a_price() {
    let mut world = holding();
    let mut rounds = 0;
    while told(&world).is_empty() && rounds < 40 {
        rounds += 1;
        world.off = [dec!(-0.2) * Decimal::from(rounds)].into();
        world.live(100);
    }
    // 0.5% of 1,020 is 5.1.
    assert_eq!(rounds, 26, "{:?}", told(&world));
    assert!(told(&world)[0].contains("; -5 more before that was taken for prices"), "{:?}", told(&world));
}

/// The mode cannot be read after cash has jumped: a report must not go on to say that account and book agree.
#[test]
fn what_is_not_compared_is_not_vouched_for() {
    for (seconds, is_told) in [(170, false), (190, true)] {
        let mut world = BookWorld::new(1, false);
        world.live(60);
        for _ in 0..seconds {
            world.venue.now += 1_000;
            let (state, equity) = world.venue.account();
            let state = serde_json::from_value(state).unwrap();
            world.step(Input::Account { state, equity: equity - dec!(500), begun_ms: world.venue.now });
            world.step(Input::Tick);
            while !world.reads.is_empty() {
                world.answer();
            }
        }
        let sums = world.of_kind("balance");
        let unknown: Vec<&&Value> = sums.iter().filter(|sum| sum["difference"].is_null()).collect();
        assert_eq!(unknown.len(), usize::from(is_told), "{seconds}: {sums:?}");
        assert!(unknown.iter().all(|sum| sum["why"] == "the account's mode is not known since"), "{unknown:?}");
        // Once it is read what went is told, and the book is the same one.
        world.off = [dec!(-500)].into();
        world.live(200);
        assert_eq!(told(&world).len(), 1, "{:?}", told(&world));
        assert_eq!(world.of_kind("balance").last().unwrap()["difference"], "0");
    }
}

/// Killed after a new opening and before a checkpoint: the opening itself tells of which mode it was.
#[test]
fn an_openings_mode_is_known_without_a_checkpoint() {
    for (mode, is_told) in [(AccountMode::Standard, true), (AccountMode::Unified, false)] {
        let mut world = BookWorld::new(1, false);
        world.live(60);
        world.checkpoints.clear();
        world.die(0);
        world.mode = mode;
        world.off = [dec!(50)].into();
        world.rise();
        world.live(200);
        assert_eq!(told(&world).len(), usize::from(is_told), "{mode:?}: {:?}", told(&world));
        assert_eq!(whys(&world).contains(&"the account's mode changed"), !is_told, "{mode:?}");
    }
}
