//! Answers that lie or cannot be read keep nothing else off the record.

use super::world::BookWorld;
use crate::base::moment::utc;
use crate::guard::Input;
use crate::venue::fill::Fill;
use crate::venue::history::{FILLS_A_PAGE, FUNDINGS_A_PAGE, Page, Unread};
use crate::venue::stream::events::Funding;
use rust_decimal::dec;
use serde_json::{Value, json};

fn errors(world: &BookWorld) -> Vec<String> {
    world.of_kind("error").iter().map(|error| error["text"].as_str().unwrap().to_owned()).collect()
}

fn alerts(world: &BookWorld) -> Vec<String> {
    let alerts = serde_json::to_value(world.guard.status(world.venue.now, (0, 0))).unwrap()["alerts"]
        .as_array()
        .unwrap()
        .clone();
    let of_book = alerts.into_iter().filter(|alert| alert["code"] == "book_differs");
    of_book.map(|alert| alert["text"].as_str().unwrap().to_owned()).collect()
}

fn read(world: &mut BookWorld, page: Page<Fill>) {
    let begun_ms = world.venue.now;
    world.step(Input::BookFills { page, since_ms: 0, begun_ms });
}

#[test]
fn a_row_that_cannot_be_read_is_told_once_and_keeps_no_other_out() {
    let mut world = BookWorld::new(1, false);
    world.live(5);
    world.venue.now += 10;
    let row = world.venue.trade("ETH", dec!(1), dec!(100), None);
    let time = world.venue.now;
    for _ in 0..3 {
        let unread = vec![Unread { time: Some(time), why: "missing field `feeToken`".to_owned() }];
        let rows = serde_json::from_value(json!([row])).unwrap();
        read(&mut world, Page { rows, unread });
    }
    world.hold_to_record();
    let expected = format!(
        "a row of userFillsByTime cannot be read and may be missing in the book; the first, of {}: missing field \
         `feeToken`",
        utc(time)
    );
    assert_eq!(errors(&world), std::slice::from_ref(&expected));
    assert_eq!(alerts(&world), [expected]);
    assert_eq!(world.of_kind("error")[0]["lacks"], json!({"from_ms": time, "to_ms": time}));
    let page = Page::<Funding> { rows: Vec::new(), unread: vec![Unread { time: None, why: "no".to_owned() }; 2] };
    let begun_ms = world.venue.now;
    world.step(Input::Fundings { page, since_ms: 0, begun_ms });
    let last = errors(&world).pop().unwrap();
    assert!(last.starts_with("2 rows of userFunding cannot be read") && last.contains("of an unknown time"), "{last}");
    assert_eq!(world.of_kind("error")[1]["lacks"], json!({"from_ms": null, "to_ms": null}));
}

/// An entry that cannot be read, and more than are read at once.
#[test]
fn what_the_ledger_lacks_is_told_once() {
    let mut world = BookWorld::new(1, false);
    world.live(5);
    let (time, odd) =
        (world.venue.now, Unread { time: Some(world.venue.now), why: "missing field `delta`".to_owned() });
    for cut in [None, None, Some((time, time + 9)), Some((time, time + 9)), None] {
        world.step(Input::LedgerLacks { unread: vec![odd.clone()], cut });
    }
    let told = errors(&world);
    let expected = format!(
        "a row of userNonFundingLedgerUpdates cannot be read and may be missing in the book; the first, of {}: \
         missing field `delta`",
        utc(time)
    );
    assert!(
        told.len() == 2 && told[0] == expected && told[1].contains("has more entries than are read at once"),
        "{told:?}"
    );
    let lacks: Vec<&Value> = world.of_kind("error").iter().map(|error| &error["lacks"]).collect();
    assert_eq!(lacks, [&json!({"from_ms": time, "to_ms": time}), &json!({"from_ms": time, "to_ms": time + 9})]);
}

/// A moment that fills a page: nobody can ask for the rest of it.
#[test]
fn a_moment_of_more_fills_than_a_page_is_told() {
    let mut world = BookWorld::new(1, false);
    world.live(5);
    let time = world.venue.now;
    for _ in 0..FILLS_A_PAGE + 300 {
        world.venue.trade("ETH", dec!(1), dec!(100), None);
    }
    world.live(400);
    let told = errors(&world);
    assert!(told[0].contains(&format!("more than {FILLS_A_PAGE} fills of {},", utc(time))), "{told:?}");
    let lacks: Vec<&Value> = world.of_kind("error").into_iter().map(|error| &error["lacks"]).collect();
    assert_eq!(lacks[0], &json!({"from_ms": time, "to_ms": time}));
    // Once, though the page is read again and again.
    assert_eq!(told.iter().filter(|text| text.contains("more than")).count(), 1, "{told:?}");
}

/// The same of payments of funding, and what comes after that moment is read.
#[test]
fn a_moment_of_more_payments_than_a_page_is_told() {
    let mut world = BookWorld::new(1, false);
    world.venue.trade("ETH", dec!(1), dec!(100), None);
    world.live(70);
    let time = world.venue.now;
    (0..FUNDINGS_A_PAGE + 9).for_each(|_| _ = world.venue.pay_funding());
    world.venue.now += 3_600_000;
    world.venue.pay_funding();
    world.live(400);
    let told = errors(&world);
    let text = format!("more than {FUNDINGS_A_PAGE} payments of funding of {},", utc(time));
    assert_eq!(told.iter().filter(|told| told.contains(&text)).count(), 1, "{told:?}");
    assert_eq!(world.of_kind("funding").len(), FUNDINGS_A_PAGE + 1);
}

/// Pages of nothing but rows of before what was asked for are read once, and not on and on.
#[test]
fn a_page_of_older_rows_is_not_paged_further() {
    let mut world = BookWorld::new(1, false);
    world.live(70);
    let (since_ms, begun_ms) = (world.venue.now, world.venue.now);
    let row = world.venue.trade("ETH", dec!(1), dec!(100), None);
    let older = |n: u64| -> Value {
        let mut row = row.clone();
        (row["time"], row["tid"]) = (json!(since_ms - 9), json!(n));
        row
    };
    let rows: Vec<Value> = (0..u64::try_from(FILLS_A_PAGE).unwrap()).map(older).collect();
    let fills: Vec<Fill> = serde_json::from_value(json!(rows)).unwrap();
    world.step(Input::BookFills { page: Page::from(fills), since_ms, begun_ms });
    assert!(world.guard.book.fills.read_ms() > since_ms, "the next page would be the same");
}

/// A full page of a day ahead, and then the truth again, in this life and the next.
#[test]
fn times_to_come_are_no_rows_and_move_nothing() {
    let mut world = BookWorld::new(1, false);
    world.live(5);
    let template = world.venue.trade("ETH", dec!(1), dec!(100), None);
    world.live(70);
    let tomorrow = world.venue.now + 86_400_000;
    let ahead = |n: u64| -> Value {
        let mut row = template.clone();
        (row["time"], row["tid"]) = (json!(tomorrow + n), json!(n));
        row
    };
    let rows: Vec<Value> = (0..u64::try_from(FILLS_A_PAGE).unwrap()).map(ahead).collect();
    let fills: Vec<Fill> = serde_json::from_value(json!(rows)).unwrap();
    read(&mut world, Page::from(fills));
    let payment = |n: u64| json!({"time": tomorrow + n, "coin": "ETH", "usdc": "1", "szi": "1", "fundingRate": "0"});
    let rows: Vec<Value> = (0..u64::try_from(FUNDINGS_A_PAGE).unwrap()).map(payment).collect();
    let rows: Vec<Funding> = serde_json::from_value(json!(rows)).unwrap();
    let begun_ms = world.venue.now;
    world.step(Input::Fundings { page: Page::from(rows), since_ms: 0, begun_ms });
    let told = errors(&world);
    assert!(told.len() == 2 && told.iter().all(|text| text.contains("a time to come")), "{told:?}");
    world.venue.now += 10;
    world.venue.trade("ETH", dec!(2), dec!(100), None);
    world.venue.pay_funding();
    world.live(200);
    world.hold_to_record();
    world.take_checkpoint();
    world.die(0);
    world.venue.trade("ETH", dec!(-1), dec!(100), None);
    world.rise();
    world.live(200);
    world.hold_to_record();
    assert_eq!(errors(&world).len(), 2, "{:?}", errors(&world));
    assert!(world.of_kind("error").iter().all(|error| error["lacks"].is_null()), "a time to come lacks nothing");
}

/// A page of which nothing can be read but that its time is to come is no page of many.
#[test]
fn what_cannot_be_read_is_of_no_time_to_come_either() {
    let mut world = BookWorld::new(1, false);
    world.live(5);
    let row = Unread { time: Some(world.venue.now + 86_400_000), why: "no".to_owned() };
    let asked = world.reads.len();
    read(&mut world, Page { rows: Vec::new(), unread: vec![row; FILLS_A_PAGE] });
    assert!(errors(&world).concat().contains("a time to come"), "{:?}", errors(&world));
    for _ in 0..50 {
        world.venue.now += 1_000;
        world.step(Input::Tick);
    }
    assert_eq!(world.reads.len(), asked, "{:?}", world.reads);
}

/// What the venue does not answer for a quarter of an hour is told of, until it does.
#[test]
fn a_book_that_is_behind_says_so() {
    let mut world = BookWorld::new(1, false);
    let pass = |world: &mut BookWorld, seconds: u64| {
        for _ in 0..seconds {
            world.venue.now += 1_000;
            world.step(Input::Tick);
            world.read_account();
        }
    };
    pass(&mut world, 890);
    assert!(alerts(&world).is_empty(), "{:?}", alerts(&world));
    pass(&mut world, 20);
    let told = alerts(&world);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told[0].starts_with("fills could not all be read since") && told[1].starts_with("payments of funding could")
    );
    world.live(400);
    assert!(alerts(&world).is_empty() && errors(&world).is_empty());
}
