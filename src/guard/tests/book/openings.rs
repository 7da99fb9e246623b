//! A row of the very millisecond at which the sum was opened: whether the opening holds it shows, and nothing else is lost over it.

use super::world::BookWorld;
use crate::base::amount::to_wire;
use crate::guard::Input;
use crate::venue::info::AccountMode;
use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

/// How the guard goes on after the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    Lives,
    DiesWithTheEvents,
    DiesBehindACheckpoint,
}

/// A world whose sum was opened at the millisecond of a trade, which was before the account was read or after it, and is told
/// before that or after it.
fn opened_with_a_row(is_before: bool, is_told_before: bool) -> (BookWorld, u64, Value) {
    let mut world = BookWorld::new(1, true);
    world.step(Input::Tick);
    while !world.reads.is_empty() {
        world.answer();
    }
    world.venue.now += 10;
    let opened_ms = world.venue.now;
    let mut told = None;
    if is_before {
        told = Some(world.venue.trade("ETH", dec!(100), dec!(100), None));
    }
    let early = told.clone().filter(|_| is_told_before);
    if let Some(fill) = &early {
        world.tell("userFills", "fills", json!([fill]));
    }
    world.read_account();
    let fill = told.unwrap_or_else(|| world.venue.trade("ETH", dec!(100), dec!(100), None));
    if early.is_none() {
        world.tell("userFills", "fills", json!([fill]));
    }
    (world, opened_ms, fill)
}

fn number(value: &Value) -> Decimal {
    value.as_str().unwrap().parse().unwrap()
}

/// What the book was told to lack.
fn told(world: &BookWorld) -> Vec<String> {
    let texts = world.of_kind("error").into_iter().map(|error| error["text"].as_str().unwrap().to_owned());
    texts.filter(|text| text.contains("the book does not add up") || text.contains("are missing")).collect()
}

#[test]
fn the_sum_goes_on_and_what_is_hidden_is_found() {
    for (is_before, is_told_before) in [(true, true), (true, false), (false, false)] {
        for then in [Then::Lives, Then::DiesWithTheEvents, Then::DiesBehindACheckpoint] {
            let case = format!("{is_before} {is_told_before} {then:?}");
            let (mut world, opened_ms, fill) = opened_with_a_row(is_before, is_told_before);
            if then == Then::DiesBehindACheckpoint {
                world.take_checkpoint();
            }
            if then != Then::Lives {
                world.die(0);
                world.rise();
            }
            world.live(30);
            // The next hour's sum tells of it as the venue does.
            world.venue.now += 3_700_000;
            world.live(30);
            let last = world.of_kind("balance").into_iter().next_back().unwrap();
            let fee = if is_before { Decimal::ZERO } else { number(&fill["fee"]) };
            assert!(number(&fill["fee"]) > dec!(4) && told(&world).is_empty(), "{case}: {:?}", told(&world));
            let says = (last["opened_ms"].as_u64().unwrap(), number(&last["fees"]), number(&last["difference"]));
            assert_eq!(says, (opened_ms, fee, Decimal::ZERO), "{case}: {last}");
            world.hold_to_record();

            let hidden = world.venue.trade("ETH", dec!(-100), dec!(99), None);
            world.venue.hide_last();
            world.live(150);
            let off = number(&hidden["closedPnl"]) - number(&hidden["fee"]);
            let texts = told(&world);
            assert!(
                texts.len() == 1 && texts[0].contains(&format!(" is {} USDC off", to_wire(off))),
                "{case}: {off}: {texts:?}"
            );
        }
    }
}

/// What was hidden before the first account that tells is found as well.
#[test]
fn a_row_of_the_openings_moment_hides_no_other() {
    for is_before in [true, false] {
        let (mut world, _, fill) = opened_with_a_row(is_before, false);
        let hidden = world.venue.trade("SOL", dec!(60), dec!(100), None);
        world.venue.hide_last();
        world.live(150);
        let off = -number(&hidden["fee"]) - if is_before { Decimal::ZERO } else { number(&fill["fee"]) };
        let texts = told(&world);
        assert!(texts.len() == 1 && texts[0].contains(&format!(" is {} USDC off", to_wire(off))), "{off}: {texts:?}");
    }
}

/// What a report says of a day that goes on is as old as the newest sum: what moves it has one follow, at once where the last of
/// those was a minute before.
#[test]
fn a_sum_that_rows_moved_is_written_down_within_the_hour() {
    let mut world = BookWorld::new(1, false);
    world.live(5);
    assert_eq!(world.of_kind("balance").len(), 1);
    world.venue.trade("ETH", dec!(1), dec!(100), None);
    world.live(20);
    assert_eq!(world.of_kind("balance").len(), 2, "the first one at once");
    world.live(70);
    let before = world.of_kind("balance").len();
    world.live(300);
    assert_eq!(world.of_kind("balance").len(), before, "nothing moved it");
    for _ in 0..30 {
        world.venue.trade("ETH", dec!(1), dec!(100), None);
        world.live(10);
    }
    world.live(70);
    let sums = world.of_kind("balance");
    assert!((4..=7).contains(&(sums.len() - before)), "{sums:?}");
    let fees = world
        .of_kind("fill")
        .iter()
        .map(|fill| fill["fee"].as_str().unwrap().parse::<Decimal>().unwrap())
        .sum::<Decimal>();
    assert_eq!(sums.last().unwrap()["fees"], to_wire(fees), "{sums:?}");
}

/// Rows that leave the sums as they are have one follow as well: a report counts what it is behind.
#[test]
fn a_row_that_comes_to_nothing_has_its_sum() {
    for coin in ["SOL", "@107"] {
        let mut world = BookWorld::new(1, true);
        world.live(5);
        let before = world.of_kind("balance").len();
        let fill = json!({"coin": coin, "px": "10", "sz": "1", "side": "B", "time": world.venue.now, "startPosition": "0.0",
            "closedPnl": "0.0", "oid": 9, "crossed": false, "fee": "0.0", "tid": 9, "feeToken": "USDC"});
        world.tell("userFills", "fills", json!([fill]));
        assert_eq!(world.of_kind("fill").len(), 1);
        world.live(100);
        assert_eq!(world.of_kind("balance").len(), before + 1, "{coin}: {:?}", world.of_kind("balance"));
    }
}

/// A fall is on record also where the sum begins anew before it was next written down.
#[test]
fn a_fall_before_a_new_opening_is_on_record() {
    let mut world = BookWorld::new(1, false);
    world.live(5);
    world.venue.trade("ETH", dec!(10), dec!(100), None);
    world.live(90);
    let before = world.of_kind("balance").len();
    for mark in [dec!(0.9), dec!(1.02)] {
        world.venue.mark = mark;
        world.live(5);
    }
    assert_eq!(world.of_kind("balance").len(), before, "prices alone are written down within the hour");
    let opened_ms = world.of_kind("balance").last().unwrap()["opened_ms"].clone();
    world.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: world.venue.now });
    world.live(30);
    let sums = &world.of_kind("balance")[before..];
    assert!(sums.len() >= 2 && sums.last().unwrap()["opened_ms"] != opened_ms, "{sums:?}");
    let (of, fall) = (&sums[0]["opened_ms"], number(&sums[0]["worst_fall"]));
    assert_eq!((of, fall), (&opened_ms, dec!(120)), "{sums:?}");
    assert_eq!(sums[0]["difference"], "0", "{sums:?}");
}
