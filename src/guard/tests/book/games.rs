//! Seeded histories with faults: whatever the feed loses and answers lack, however long nobody watches and whenever the guard dies,
//! the book is the venue's own record.

use super::world::BookWorld;
use crate::base::amount::to_wire;
use rust_decimal::{Decimal, dec};
use serde_json::json;

const GAMES: u64 = 200;

fn games() -> u64 {
    std::env::var("BOOK_GAMES").ok().and_then(|text| text.parse().ok()).unwrap_or(GAMES)
}

fn some_trades(world: &mut BookWorld) {
    let coin = world.dice.pick(&["ETH", "BTC", "SOL"]);
    let mut told = Vec::new();
    for _ in 0..=world.dice.roll(4) {
        let size = Decimal::from(world.dice.roll(40) + 1) / dec!(10);
        let signed = if world.dice.one_in(2) { size } else { -size };
        let px = dec!(100) * world.dice.factor(300);
        told.push(world.venue.trade(coin, signed, px.round_dp(2), None));
        if world.dice.one_in(2) {
            world.venue.now += world.dice.roll(50);
        }
    }
    if world.dice.one_in(3) {
        told.reverse();
    }
    if world.has_feed && !world.dice.one_in(5) {
        for fill in told {
            if !world.dice.one_in(8) {
                world.tell("userFills", "fills", json!([fill]));
            }
        }
    }
}

fn a_moment(world: &mut BookWorld) {
    world.venue.now += 50 + world.dice.roll(3_000);
    match world.dice.roll(12) {
        0..=4 => some_trades(world),
        5 => {
            let paid = world.venue.pay_funding();
            if world.has_feed && world.dice.one_in(2) {
                world.tell("userFundings", "fundings", json!(paid));
            }
        }
        6 => {
            let amount = Decimal::from(world.dice.roll(50) + 1);
            world.venue.deposit(if world.dice.one_in(3) { -amount } else { amount });
        }
        7 if world.has_feed => {
            // A short snapshot.
            let last: Vec<_> = world.venue.fills.iter().rev().take(5).rev().cloned().collect();
            let data = json!({"user": super::super::fixture::ACCOUNT, "isSnapshot": true, "fills": last});
            let told = super::venue::frame("userFills", data);
            world.step(crate::guard::Input::Feed(crate::guard::feed_news::FeedNews::Told(told)));
        }
        8 => world.take_checkpoint(),
        9 => {
            // Dies with the last step written, half written, or not at all.
            let written = match world.dice.roll(4) {
                0 => world.answer(),
                1 => world.read_account(),
                _ => 0,
            };
            let lost = world.dice.roll(written + 1);
            world.overlap = usize::try_from(world.dice.roll(12)).unwrap();
            world.die(lost);
            if world.dice.one_in(3) {
                world.venue.now += world.dice.roll(3 * 86_400_000);
                (0..world.dice.roll(6)).for_each(|_| some_trades(world));
            }
            world.rise();
        }
        // Nobody hears what became of a question.
        10 if world.dice.one_in(2) => _ = world.reads.pop_front(),
        _ => _ = world.answer(),
    }
    world.step(crate::guard::Input::Tick);
    if world.dice.one_in(3) {
        world.read_account();
    }
}

#[test]
fn the_book_is_the_venues_own_record() {
    let (mut held, mut known) = (0, 0);
    for seed in 0..games() {
        let mut world = BookWorld::new(seed, seed % 2 == 0);
        world.lags = seed % 3 == 0;
        world.live(3);
        for _ in 0..120 {
            a_moment(&mut world);
        }
        // What is too small to show in the sum shows with the next hour's reads.
        world.live(90);
        world.venue.now += 3_700_000;
        world.live(90);
        world.hold_to_record();
        (held, known) = (held + world.positions().len(), known + world.hold_openings());
        let told: Vec<_> = world
            .of_kind("error")
            .into_iter()
            .filter(|error| error["text"].as_str().unwrap().contains("book"))
            .collect();
        assert!(told.is_empty(), "{seed}: {told:?}");
        let last = world.of_kind("balance").into_iter().next_back().unwrap();
        assert!(
            last["why"].is_null()
                && last["difference"].as_str().unwrap().parse::<Decimal>().unwrap().abs() < dec!(0.01),
            "{seed}: {last}"
        );
    }
    // Where a fill was missed nobody knows it, though it came later.
    assert!(known * 2 > held, "since when is known of {known} of {held} positions");
}

/// A fill that the venue never shows is found by the sum, and by the chain where that breaks, and named once.
#[test]
fn a_fill_taken_out_on_purpose_is_named() {
    for seed in 0..40 {
        let mut world = BookWorld::new(seed, seed % 2 == 0);
        world.live(5);
        some_trades(&mut world);
        world.live(30);
        world.venue.now += 7;
        let coin = world.dice.pick(&["ETH", "BTC", "SOL"]);
        world.venue.trade(coin, dec!(1), dec!(100), None);
        world.live(70);
        let (_, before) = world.venue.account();
        let hidden = world.venue.trade(coin, dec!(3), dec!(100), None);
        world.venue.hide_last();
        world.live(120);
        let told: Vec<String> =
            world.of_kind("error").iter().map(|error| error["text"].as_str().unwrap().to_owned()).collect();
        let amount = |key: &str| hidden[key].as_str().unwrap().parse::<Decimal>().unwrap();
        let off = amount("closedPnl") - amount("fee");
        let says: Vec<&String> = told.iter().filter(|text| text.contains("does not add up")).collect();
        assert_eq!(says.len(), 1, "{seed}: {told:?}, {before}");
        assert!(says[0].contains(&format!(" is {} USDC off", to_wire(off))), "{seed}: {off} {says:?}");
        let off_records =
            world.of_kind("balance").into_iter().filter(|balance| balance["difference"] == to_wire(off)).count();
        assert_eq!(off_records, 1, "{seed}");
        // The next one shows where it was.
        world.venue.trade(coin, dec!(1), dec!(100), None);
        world.live(120);
        let missing = |error: &&serde_json::Value| error["text"].as_str().unwrap().contains("are missing");
        let told: Vec<_> = world.of_kind("error").into_iter().filter(missing).collect();
        assert_eq!(told.len(), 1, "{seed}");
        assert!(told[0]["text"].as_str().unwrap().contains(coin));
        let (from, to) = (told[0]["lacks"]["from_ms"].as_u64(), told[0]["lacks"]["to_ms"].as_u64());
        assert!(from <= hidden["time"].as_u64() && hidden["time"].as_u64() <= to, "{}", told[0]);
        world.hold_to_record();
        world.hold_openings();
    }
}

/// Ten thousand fills while away are all fetched; of more than the venue shows the span is named.
#[test]
fn ten_thousand_fills_while_away() {
    for (count, is_whole) in [(9_999, true), (10_400, false)] {
        let mut world = BookWorld::new(7, true);
        world.live(5);
        world.venue.trade("ETH", dec!(1), dec!(100), None);
        world.live(200);
        world.die(0);
        for n in 0..count {
            // Moments with many fills, some across the end of a page.
            if n % 7 == 0 {
                world.venue.now += 11;
            }
            world.venue.trade("ETH", if n % 2 == 0 { dec!(1) } else { dec!(-1) }, dec!(100), None);
        }
        world.venue.now += 60_000;
        world.rise();
        world.live(120);
        let told = world
            .of_kind("error")
            .into_iter()
            .filter(|error| error["text"].as_str().unwrap().contains("last 10000"))
            .count();
        assert_eq!(told, usize::from(!is_whole), "{count}");
        let late = world.of_kind("fill").into_iter().filter(|fill| fill["late"] == true).count();
        if is_whole {
            world.hold_to_record();
            assert!(late >= count, "{late}");
        } else {
            assert_eq!(world.of_kind("fill").len(), 10_001);
        }
    }
}
