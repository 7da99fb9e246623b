//! A fill that is missing before all that is read: it is asked for once, and named where the venue does not show it.

use super::world::BookWorld;
use crate::guard::Read;
use crate::guard::state::book::unexplained::Unexplained;
use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

/// What was told to be missing.
fn missing(world: &BookWorld) -> Vec<&str> {
    let texts = world.of_kind("error").into_iter().map(|error| error["text"].as_str().unwrap());
    texts.filter(|text| text.contains("are missing")).collect()
}

/// The hour after its beginning is over, in which all rows since then are kept in mind.
pub(super) fn long_begun(world: &mut BookWorld) {
    world.guard.book.unexplained = Unexplained::default();
}

/// A world with a fill, and two after it that were neither told nor shown until everything of their time was read.
fn behind() -> (BookWorld, [Value; 2]) {
    let mut world = BookWorld::new(1, true);
    world.live(1);
    long_begun(&mut world);
    let first = world.venue.trade("ETH", dec!(1), dec!(100), None);
    world.tell("userFills", "fills", json!([first]));
    world.live(200);
    let lost = [dec!(2), dec!(-1)].map(|size| {
        world.venue.now += 7;
        let fill = world.venue.trade("ETH", size, dec!(100), None);
        world.venue.hide_last();
        fill
    });
    // The balance does not tell of them either.
    let fee = |fill: &Value| fill["fee"].as_str().unwrap().parse::<Decimal>().unwrap();
    world.off = [lost.iter().map(fee).sum()].into();
    // Nor is everything that another market fills meanwhile in its place.
    world.venue.now += 7;
    let other = world.venue.trade("SOL", dec!(1), dec!(100), None);
    world.tell("userFills", "fills", json!([other]));
    world.live(900);
    assert!(
        world.guard.book.fills.before_ms() > world.venue.now - 700_000,
        "the test needs what was read to end later"
    );
    (world, lost)
}

/// Another fill tells that some are missing, and all that is asked for then, without an answer.
fn tells_of_it(world: &mut BookWorld) -> Vec<u64> {
    let next = world.venue.trade("ETH", dec!(1), dec!(100), None);
    world.tell("userFills", "fills", json!([next]));
    let mut asked = Vec::new();
    for _ in 0..90 {
        world.venue.now += 1_000;
        world.step(crate::guard::Input::Tick);
        world.read_account();
        asked.extend(world.reads.iter().filter_map(|read| match read {
            Read::BookFills { since_ms, .. } => Some(*since_ms),
            _ => None,
        }));
        while !world.reads.is_empty() {
            world.answer();
        }
    }
    asked
}

#[test]
fn a_fill_that_is_missing_behind_what_is_read_is_asked_for_and_recorded() {
    for dies in [false, true] {
        let (mut world, lost) = behind();
        let at = world.venue.fills.iter().position(|fill| fill["coin"] == "SOL").unwrap();
        world.venue.fills.splice(at..at, lost);
        world.venue.hidden.clear();
        tells_of_it(&mut world);
        if dies {
            world.die(0);
            world.rise();
            world.live(90);
        }
        world.hold_to_record();
        assert_eq!(missing(&world), [""; 0]);
        assert!(world.guard.book.chains.gaps.is_empty());
    }
}

#[test]
fn what_the_venue_does_not_show_is_asked_for_once_and_named() {
    let (mut world, _) = behind();
    let (first_ms, read_ms) = (world.venue.fills[0]["time"].as_u64().unwrap(), world.guard.book.fills.before_ms());
    let asked = tells_of_it(&mut world);
    assert_eq!(asked.iter().filter(|since_ms| **since_ms < read_ms).collect::<Vec<_>>(), [&first_ms], "{asked:?}");
    let named = missing(&world);
    assert!(named.len() == 1 && named[0].contains("went from 1 to 2 and the venue shows none"), "{named:?}");
    world.hold_to_record();
}

/// The venue shows one of two: that one is on record once, over a restart as well, and the other one is named.
#[test]
fn a_part_of_what_is_missing_is_recorded_once() {
    for has_checkpoint in [false, true] {
        let (mut world, [one, _]) = behind();
        let at = world.venue.fills.iter().position(|fill| fill["coin"] == "SOL").unwrap();
        world.venue.fills.insert(at, one);
        let next = world.venue.trade("ETH", dec!(1), dec!(100), None);
        world.tell("userFills", "fills", json!([next]));
        world.step(crate::guard::Input::Tick);
        world.venue.now += 10_000;
        world.step(crate::guard::Input::Tick);
        world.answer();
        if has_checkpoint {
            world.take_checkpoint();
        }
        world.die(0);
        world.rise();
        world.live(200);
        world.hold_to_record();
        assert_eq!(missing(&world).len(), 1, "{:?}", missing(&world));
    }
}
