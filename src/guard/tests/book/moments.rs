//! A unified account with something held: the balance and what is held are two answers, at prices of two moments or of one.

use super::world::BookWorld;
use crate::base::amount::to_wire;
use crate::guard::Input;
use crate::venue::info::AccountMode;
use rust_decimal::{Decimal, dec};
use serde_json::Value;

const MOMENTS: &str = "the balance and what is held were read at two moments";

/// A unified account that holds something, whose book was opened with a balance `off` beside what is held; how many sums it has.
fn unified(off: Decimal) -> (BookWorld, usize) {
    let mut world = BookWorld::new(1, false);
    world.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: world.venue.now });
    world.venue.trade("ETH", dec!(10), dec!(100), None);
    world.venue.now += 1_000;
    world.off = [off].into();
    // By one read alone.
    while world.of_kind("balance").is_empty() {
        world.live(1);
    }
    world.off.clear();
    (world, 1)
}

/// Of the sums after those: what they are apart by, or why that is not known.
fn told(world: &BookWorld, from: usize) -> Vec<String> {
    let text = |sum: &&Value| sum["difference"].as_str().or(sum["why"].as_str()).unwrap().to_owned();
    world.of_kind("balance").iter().skip(from).map(text).collect()
}

fn errors(world: &BookWorld) -> Vec<&str> {
    let texts = world.of_kind("error").into_iter().map(|error| error["text"].as_str().unwrap());
    texts.filter(|text| text.starts_with("the book does not add up")).collect()
}

/// Every hour one sum is written down.
fn hours(world: &mut BookWorld, count: u64) {
    for _ in 0..count {
        world.live(120);
        world.venue.now += 3_600_000;
    }
    world.live(5);
}

#[test]
fn prices_that_move_between_the_answers_leave_the_book_compared() {
    let (mut world, from) = unified(Decimal::ZERO);
    world.off = [dec!(0), dec!(3), dec!(-2.5), dec!(0), dec!(7)].into();
    hours(&mut world, 4);
    let told = told(&world, from);
    assert!(told.len() >= 4 && told.iter().all(|told| told == "0"), "{told:?}");
    assert_eq!(errors(&world), [""; 0]);
}

/// None of the reads adds up, and each is off by something else: nobody can say what is missing.
#[test]
fn prices_that_always_move_are_no_discrepancy() {
    let (mut world, from) = unified(Decimal::ZERO);
    world.off = (1..40).map(|step| Decimal::from(step * 7 % 41) / dec!(10)).collect();
    hours(&mut world, 2);
    let told = told(&world, from);
    assert!(told.iter().any(|told| told == MOMENTS), "{told:?}");
    assert_eq!(errors(&world), [""; 0]);
}

/// The opening itself may be of two moments: then every later read is off by the same.
#[test]
fn an_opening_of_two_moments_is_no_discrepancy() {
    let (mut world, from) = unified(dec!(3));
    hours(&mut world, 3);
    let told = told(&world, from);
    assert_eq!(told.iter().filter(|told| *told == MOMENTS).count(), 1, "{told:?}");
    assert!(told.iter().filter(|told| *told == "0").count() >= 2, "{told:?}");
    assert_eq!(errors(&world), [""; 0]);
}

#[test]
fn a_row_that_is_missing_is_told_with_its_amount() {
    for off in [&[][..], &[dec!(0), dec!(0), dec!(4)]] {
        let (mut world, from) = unified(Decimal::ZERO);
        world.live(90);
        let hidden = world.venue.trade("ETH", dec!(20), dec!(100), None);
        world.venue.hide_last();
        world.off = off.iter().copied().collect();
        world.live(300);
        let fee: Decimal = hidden["fee"].as_str().unwrap().parse().unwrap();
        let is_told = errors(&world).iter().any(|text| text.contains(&format!(" is {} USDC off", to_wire(-fee))));
        assert!(is_told || !off.is_empty(), "{:?}", errors(&world));
        assert!(is_told || told(&world, from).iter().any(|told| told == MOMENTS), "{:?}", told(&world, from));
        world.off.clear();
        world.live(300);
        let errors = errors(&world).len();
        assert_eq!(errors, usize::from(is_told), "told once");
    }
}

/// The price trends, and each balance is read so long after what is held: that is off by the same each time.
#[test]
fn prices_that_trend_are_no_discrepancy_and_more_than_they_move_is_one() {
    // 10 at 102 are held.
    for (off, is_told) in [("0.204", false), ("-0.204", false), ("0.205", true), ("-0.205", true)] {
        let (mut world, from) = unified(Decimal::ZERO);
        world.live(90);
        world.off = [off.parse().unwrap()].into();
        world.live(300);
        assert_eq!(errors(&world).len(), usize::from(is_told), "{off}: {:?}", errors(&world));
        assert_eq!(told(&world, from).iter().any(|told| told == MOMENTS), !is_told, "{off}: {:?}", told(&world, from));
    }
}
