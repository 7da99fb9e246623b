//! A seeded simulation: the core against a model venue that answers late, refuses, falls silent, lags behind itself and is
//! traded by hand, on a clock that nobody waits for.
//!
//! Whatever the schedule: no position stays bare for longer than a poll and a send take, a fired halt ends flat and
//! stays flat, nothing is opened in a halted state, flows neither fire nor hide a halt, and the guard's stop never
//! moves away from the price. A seed that fails says what happened before.

pub(super) mod account;
pub(super) mod books;
mod checks;
pub(super) mod dice;
pub(super) mod exchange;
pub(in crate::guard::tests) mod frames;
mod happenings;
mod limits;
pub(super) mod push;
pub(super) mod venue;
pub(super) mod world;

use rust_decimal::{Decimal, dec};

use super::fixture::*;
use crate::guard::Input;
use crate::rules::Rules;
use world::{Nature, STEP_MS, World};

const DAY_MS: u64 = 86_400_000;
const MINUTE: u64 = 60_000 / STEP_MS;

/// The seeds of one test. `WATCH_TIMES` makes a search longer, `WATCH_SEED` looks at one.
fn seeds(first: u64, count: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    match number("WATCH_SEED") {
        Some(seed) => seed..seed + 1,
        None => first..first + count * number("WATCH_TIMES").unwrap_or(1),
    }
}

/// Limits that prices and flows never reach.
fn calm() -> Nature {
    let rules = Rules { daily_loss: dec!(90), drawdown: dec!(95), ..wide() };
    Nature { rules, begins_ms: NOW, is_rough: false, has_crashes: false }
}

/// Limits that are reached all the time, four minutes before midnight.
fn rough(daily_loss: Decimal, drawdown: Decimal) -> Nature {
    let begins_ms = NOW - NOW % DAY_MS + DAY_MS - 240_000;
    Nature { rules: Rules { daily_loss, drawdown, ..wide() }, begins_ms, is_rough: true, has_crashes: false }
}

/// Once everybody leaves it alone and the venue answers, nothing is held and nothing rests.
fn ends_flat(world: &mut World, seed: u64) {
    (world.away_until, world.stumbles_until, world.lags_until) = (0, 0, 0);
    world.run(3 * MINUTE, false);
    let books = &world.venue.books;
    assert!(world.is_flat(), "seed {seed}: {:?} {:?}", books.positions, books.orders);
}

#[test]
fn no_position_stays_bare_while_the_venue_answers() {
    let mut protects = 0;
    for seed in seeds(0, 60) {
        let mut world = World::new(seed, calm());
        world.run(5 * MINUTE, true);
        assert_eq!(world.state(), "active", "seed {seed}: a flow fired a halt");
        protects += world.checks.count("protect");
    }
    assert!(protects > 200, "the world is too quiet to prove anything: {protects}");
}

#[test]
fn nor_when_the_guard_dies_and_wakes() {
    for seed in seeds(100_000, 40) {
        let mut world = World::new(seed, Nature { has_crashes: true, ..calm() });
        world.run(5 * MINUTE, true);
        assert_eq!(world.state(), "active", "seed {seed}");
    }
}

#[test]
fn a_kill_ends_flat_and_stays_so_over_restarts() {
    for seed in seeds(200_000, 50) {
        let mut world = World::new(seed, Nature { has_crashes: seed % 2 == 0, ..calm() });
        world.run(MINUTE, true);
        world.kill_file = Some("test".into());
        world.give(Input::Kill { reason: "test".into(), by: None, write_file: false, request: None });
        world.run(2 * MINUTE, true);
        ends_flat(&mut world, seed);
        // Only without the file does a start release it.
        world.crash();
        assert!(world.guard.must_be_flat(), "seed {seed}");
        world.kill_file = None;
        world.crash();
        assert!(!world.guard.must_be_flat(), "seed {seed}");
        world.run(MINUTE, true);
    }
}

#[test]
fn a_loss_of_the_day_halts_until_midnight() {
    let mut halts = 0;
    for seed in seeds(300_000, 150) {
        let mut world = World::new(seed, Nature { has_crashes: seed % 3 == 0, ..rough(dec!(4), dec!(90)) });
        world.run(3 * MINUTE, true);
        (world.away_until, world.stumbles_until, world.lags_until) = (0, 0, 0);
        // What was lost last is believed by then.
        world.run(MINUTE / 3, false);
        let is_halted = world.state() == "halted_for_day";
        halts += usize::from(is_halted);
        world.run(2 * MINUTE / 3 - 100, false);
        assert_eq!(world.state() == "halted_for_day", is_halted, "seed {seed}: before midnight");
        world.run(2 * MINUTE, false);
        assert_eq!(world.state(), "active", "seed {seed}: after midnight");
        world.run(3 * MINUTE, true);
    }
    assert!(halts > 10, "only {halts} worlds lost enough");
}

#[test]
fn a_drawdown_stops_until_a_person_resumes() {
    let mut halts = 0;
    for seed in seeds(400_000, 60) {
        let mut world = World::new(seed, Nature { has_crashes: seed % 3 == 0, ..rough(dec!(90), dec!(5)) });
        world.run(4 * MINUTE, true);
        if world.state() == "stopped" {
            halts += 1;
            ends_flat(&mut world, seed);
            world.crash();
            assert_eq!(world.state(), "stopped", "seed {seed}: a restart releases nothing");
            world.resume();
            assert_eq!(world.state(), "active", "seed {seed}");
        }
        world.run(3 * MINUTE, true);
    }
    assert!(halts > 10, "only {halts} worlds lost enough");
}

#[test]
fn both_limits_at_once_over_days() {
    for seed in seeds(500_000, 40) {
        let mut world = World::new(seed, Nature { has_crashes: seed % 2 == 0, ..rough(dec!(4), dec!(8)) });
        for _ in 0..3 {
            world.run(6 * MINUTE, true);
            if world.state() == "stopped" {
                ends_flat(&mut world, seed);
                world.resume();
            }
            // Straight to the last minutes of the next day.
            world.sleep_until(world.now + DAY_MS - 360_000 - world.now % 1_000);
        }
    }
}
