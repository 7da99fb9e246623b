//! Rows that the venue shows long after the account has moved by them: told, found, and explained.

use super::world::BookWorld;
use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

/// What the guard says that the book lacks.
fn told(world: &BookWorld) -> usize {
    world.guard.book.told(world.venue.now).count()
}

/// Whether the newest sum adds up.
fn adds_up(world: &BookWorld) -> bool {
    world.of_kind("balance").last().unwrap()["difference"] == "0"
}

/// A world that has lived for a while, with a row that is not shown: the row goes to where it belongs after so many seconds.
fn late(has_feed: bool, act: fn(&mut BookWorld) -> Vec<Value>, seconds: u64) -> (BookWorld, Vec<Value>) {
    let mut world = BookWorld::new(1, has_feed);
    world.venue.trade("ETH", dec!(200), dec!(100), None);
    world.live(90);
    let rows = act(&mut world);
    world.live(seconds);
    (world, rows)
}

/// Has the venue show rows from here on.
fn show(world: &mut BookWorld, rows: Vec<Value>) {
    for row in rows {
        match (row.get("delta"), row.get("fundingRate")) {
            (Some(_), _) => world.venue.ledger.push(row),
            (_, Some(_)) => world.venue.fundings.push(row),
            _ => world.venue.fills.push(row),
        }
    }
}

fn sell(world: &mut BookWorld) -> Vec<Value> {
    world.venue.trade("ETH", dec!(-1), dec!(120), None);
    world.venue.fills.pop().into_iter().collect()
}

fn deposit(world: &mut BookWorld) -> Vec<Value> {
    world.venue.deposit(dec!(50));
    world.venue.ledger.pop().into_iter().collect()
}

fn pay(world: &mut BookWorld) -> Vec<Value> {
    world.venue.pay_funding();
    world.venue.fundings.pop().into_iter().collect()
}

#[test]
fn a_row_that_comes_late_is_found_and_explains_what_was_told() {
    for has_feed in [false, true] {
        for act in [sell, deposit, pay] {
            let (mut world, rows) = late(has_feed, act, 200);
            assert_eq!((told(&world), adds_up(&world)), (1, true), "told, and begun anew: {rows:?}");
            let kept = world.journal.len();
            show(&mut world, rows.clone());
            world.live(600);
            world.hold_to_record();
            let new = |kind: &str| world.journal[kept..].iter().filter(|event| event["kind"] == kind).count();
            assert_eq!(new("fill") + new("funding") + new("transfer"), 1, "{rows:?}");
            assert_eq!((told(&world), adds_up(&world)), (0, true), "{:?}", world.of_kind("error"));
        }
    }
}

/// What another row was hidden with stays told.
#[test]
fn a_part_explains_nothing() {
    let (mut world, rows) = late(false, |world| [sell(world), deposit(world)].concat(), 200);
    world.venue.ledger.extend(rows.into_iter().filter(|row| row.get("delta").is_some()));
    world.live(600);
    assert_eq!((told(&world), world.of_kind("transfer").len()), (1, 1));
}

/// Over a restart as well, with and without a checkpoint that knows of it.
#[test]
fn it_is_looked_for_by_the_next_life_too() {
    for has_checkpoint in [true, false] {
        let (mut world, rows) = late(false, sell, 200);
        world.live_on(has_checkpoint);
        world.live(130);
        world.venue.fills.extend(rows);
        world.live(600);
        world.hold_to_record();
        assert_eq!(told(&world), 0, "{has_checkpoint}");
    }
}

/// Beside a bot that trades on: what is read to look for one row books no other twice.
#[test]
fn nothing_is_booked_twice_while_it_is_looked_for() {
    let (mut world, rows) = late(false, sell, 1);
    let usd = |fill: &Value| fill["closedPnl"].as_str().unwrap().parse::<Decimal>().unwrap();
    assert_eq!(rows.iter().map(usd).sum::<Decimal>(), dec!(20));
    for _ in 0..300 {
        world.venue.trade("BTC", dec!(0.001), dec!(50000), None);
        world.venue.trade("BTC", dec!(-0.001), dec!(50010), None);
        world.live(2);
    }
    world.venue.fills.extend(rows);
    world.venue.fills.sort_by_key(|fill| fill["time"].as_u64());
    world.live(1_200);
    world.hold_to_record();
    assert_eq!(told(&world), 0, "{:?}", world.of_kind("error"));
    assert_eq!(json!(world.of_kind("fill").len()), json!(world.venue.fills.len()));
}

/// Rows that are still hidden are found however much of what was told the others explain: their sum, or theirs alone, may be nothing.
#[test]
fn what_adds_up_by_chance_ends_no_look() {
    fn several(world: &mut BookWorld) -> Vec<Value> {
        [dec!(-1), dec!(-2), dec!(2)]
            .into_iter()
            .map(|size| {
                world.venue.now += 7;
                let px = if size == dec!(-2) { dec!(105) } else { dec!(100) };
                world.venue.trade("ETH", size, px, None);
                world.venue.fills.pop().unwrap()
            })
            .collect()
    }
    for dies in [false, true] {
        let (mut world, rows) = late(false, several, 200);
        assert_eq!(told(&world), 1);
        // Each as late as it may come.
        for row in rows {
            world.venue.fills.push(row);
            world.live(3_700);
            if dies {
                world.take_checkpoint();
                world.die(0);
                world.rise();
                world.live(200);
            }
        }
        world.hold_to_record();
        assert_eq!((told(&world), adds_up(&world)), (0, true));
    }
}

/// What is not explained stays told over a restart.
#[test]
fn a_difference_is_told_by_the_next_life() {
    for has_checkpoint in [true, false] {
        let (mut world, _) = late(false, sell, 200);
        world.live_on(has_checkpoint);
        world.live(5);
        let texts: Vec<String> = world.guard.book.told(world.venue.now).map(|(text, _)| text).collect();
        assert!(texts.len() == 1 && texts[0].contains("the book does not add up"), "{has_checkpoint}: {texts:?}");
    }
}

/// Of before the first sum: that moved nothing which was compared, and is on record all the same.
#[test]
fn rows_of_before_the_first_sum_are_found() {
    for act in [sell, deposit, pay] {
        let mut world = BookWorld::new(1, false);
        world.venue.trade("ETH", dec!(200), dec!(100), None);
        world.venue.now += 3;
        let rows = act(&mut world);
        world.live(400);
        assert_eq!(told(&world), 0);
        show(&mut world, rows);
        world.live(900);
        world.hold_to_record();
        assert_eq!((told(&world), adds_up(&world)), (0, true));
    }
}

/// The ledger is asked for as far back as the rest, and what it shows then is no flow of now for the risk.
#[test]
fn a_row_of_the_ledger_that_comes_hours_late_is_found() {
    for hours in [2, 6] {
        let (mut world, rows) = late(false, deposit, 200);
        for _ in 0..hours * 6 {
            world.venue.now += 590_000;
            world.live(10);
        }
        let flows = |world: &BookWorld| world.risk.iter().filter(|record| record["kind"] == "flow").count();
        assert_eq!((told(&world), flows(&world)), (1, 0), "{hours}");
        show(&mut world, rows);
        for _ in 0..12 {
            world.venue.now += 590_000;
            world.live(10);
        }
        world.hold_to_record();
        assert_eq!((told(&world), flows(&world), adds_up(&world)), (0, 0, true), "{hours}");
    }
}

/// Neither what it shows nor what the next read differs from it by is taken for money, and nothing begins anew with it.
#[test]
fn one_read_that_is_wrong_is_no_difference() {
    for off in [dec!(50), dec!(-0.01)] {
        let (mut world, _) = late(false, |_| Vec::new(), 1);
        world.off = std::iter::once(off).chain(std::iter::repeat_n(Decimal::ZERO, 400)).collect();
        world.live(300);
        let sums = world.of_kind("balance");
        let differ = |sum: &&&Value| sum["difference"] != "0";
        assert_eq!((told(&world), sums.iter().filter(differ).count()), (0, 0), "{off}: {sums:?}");
        assert!(world.of_kind("error").is_empty(), "{:?}", world.of_kind("error"));
    }
}

/// Reads that are wrong now and then, beside something that is missing: that is told with its own amount, and nothing else is.
#[test]
fn what_is_missing_is_told_as_it_is_beside_reads_that_are_wrong() {
    for shift in 0..7 {
        let (mut world, rows) = late(false, deposit, 0);
        world.off = (0..7).map(|second| if second < 2 { dec!(50) } else { Decimal::ZERO }).collect();
        world.off.rotate_left(shift);
        world.live(300);
        assert_eq!((told(&world), told_of(&world, " moved by 50 USDC")), (1, 1), "{:?}", world.of_kind("error"));
        show(&mut world, rows);
        world.live(300);
        world.off.clear();
        world.live(600);
        world.hold_to_record();
        assert_eq!((told(&world), adds_up(&world)), (0, true), "{:?}", world.of_kind("error"));
    }
}

/// What went there and back is looked for all the same, though the account has shown only once that something was missing.
#[test]
fn rows_there_and_back_are_looked_for_after_one_read_that_differs() {
    let (mut world, mut rows) = late(false, deposit, 1);
    world.venue.now += 500;
    world.venue.deposit(dec!(-50));
    rows.extend(world.venue.ledger.pop());
    world.live(200);
    assert_eq!(told(&world), 0, "{:?}", world.of_kind("error"));
    show(&mut world, rows);
    world.live(600);
    world.hold_to_record();
    assert_eq!(world.of_kind("transfer").len(), 2);
}

/// Two fills of a market, the first of which the venue does not show; it moved nothing but its fee.
fn broken(world: &mut BookWorld) -> Vec<Value> {
    world.venue.trade("BTC", dec!(1), dec!(100), None);
    world.live(5);
    world.venue.trade("BTC", dec!(1), dec!(100), None);
    let hidden = world.venue.fills.pop().unwrap();
    world.venue.now += 1_000;
    world.venue.trade("BTC", dec!(1), dec!(100), None);
    vec![hidden]
}

/// Of fills that are missing, and of the amount that they were off by.
fn told_of(world: &BookWorld, text: &str) -> usize {
    world.guard.book.told(world.venue.now).filter(|(told, _)| told.contains(text)).count()
}

/// Told once, for as long as they are missing, whatever restarts lie between.
#[test]
fn fills_that_are_missing_are_told_of_until_they_have_come() {
    const MISSING: &str = "fills in BTC";
    for has_checkpoint in [None, Some(false), Some(true)] {
        let (mut world, rows) = late(false, broken, 200);
        let errors = |world: &BookWorld| {
            let texts = world.of_kind("error").into_iter().map(|error| error["text"].as_str().unwrap());
            texts.filter(|text| text.contains(MISSING)).count()
        };
        for _ in 0..2 {
            has_checkpoint.into_iter().for_each(|has_checkpoint| world.live_on(has_checkpoint));
            world.live(5);
            assert_eq!((told_of(&world, MISSING), errors(&world)), (1, 1), "{has_checkpoint:?}");
        }
        show(&mut world, rows);
        world.venue.fills.sort_by_key(|fill| fill["time"].as_u64());
        world.live(700);
        world.hold_to_record();
        assert_eq!((told(&world), errors(&world)), (0, 1), "{has_checkpoint:?}: {:?}", world.of_kind("error"));
        has_checkpoint.into_iter().for_each(|has_checkpoint| world.live_on(has_checkpoint));
        assert_eq!(told(&world), 0, "{has_checkpoint:?}");
    }
}
