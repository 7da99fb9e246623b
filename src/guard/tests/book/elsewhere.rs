//! A unified account that holds something in another dex: its price moves the balance, and its funding does, and no row says by how
//! much. Nobody can say then that a row is missing, and once it is closed a missing row is told again.

use super::world::BookWorld;
use crate::guard::Input;
use crate::venue::info::AccountMode;
use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

fn told(world: &BookWorld) -> Vec<&str> {
    let texts = world.of_kind("error").into_iter().map(|error| error["text"].as_str().unwrap());
    texts.filter(|text| text.starts_with("the book does not add up")).collect()
}

/// One whose book has added up; flat in the core perps, or with something held there.
fn unified(holds: bool) -> BookWorld {
    let mut world = BookWorld::new(1, true);
    world.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: world.venue.now });
    if holds {
        let fill = world.venue.trade("ETH", dec!(10), dec!(100), None);
        world.tell("userFills", "fills", json!([fill]));
        world.venue.now += 1_000;
    }
    world.live(60);
    world
}

/// A trade of 10 of the other dex's market.
fn trade(world: &mut BookWorld, side: &str, start: &str, closed: &str) {
    let fill = json!({"coin": "xyz:TSLA", "px": "100", "sz": "10", "side": side, "time": world.venue.now, "startPosition": start,
        "closedPnl": closed, "oid": 9, "crossed": true, "fee": "0", "tid": world.venue.now, "feeToken": "USDC"});
    world.venue.fills.push(fill.clone());
    world.tell("userFills", "fills", json!([fill]));
}

fn moves(world: &mut BookWorld, off: &[Decimal]) {
    world.off = off.iter().copied().collect();
    world.live(200);
}

#[test]
fn the_price_of_what_is_held_in_another_dex_is_no_discrepancy() {
    for holds in [false, true] {
        for is_restarted in [false, true] {
            let mut world = unified(holds);
            trade(&mut world, "B", "0.0", "0.0");
            // It adds up as yet.
            world.live(60);
            if is_restarted {
                world.take_checkpoint();
                world.die(0);
                world.rise();
                world.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: world.venue.now });
            }
            for price in [dec!(30), dec!(-45), dec!(60)] {
                moves(&mut world, &[price]);
            }
            assert_eq!(told(&world), [""; 0], "{holds} {is_restarted}");
            let sums = world.of_kind("balance");
            let is_said = |sum: &&Value| sum["why"].as_str().is_some_and(|why| why.contains("another dex"));
            assert!(sums.iter().any(is_said), "{sums:?}");
            // And it is not written down at each price.
            assert!(sums.len() < 12, "{}", sums.len());
            trade(&mut world, "A", "10", "60");
            moves(&mut world, &[dec!(60)]);
            assert_eq!(told(&world), [""; 0], "{holds} {is_restarted}");
            moves(&mut world, &[dec!(10)]);
            assert_eq!(told(&world).len(), 1, "{holds} {is_restarted}: {:?}", told(&world));
        }
    }
}

/// What is held since before there was a book shows by its funding.
#[test]
fn funding_of_another_dex_is_no_discrepancy() {
    let mut world = unified(false);
    let row =
        json!({"time": world.venue.now, "coin": "xyz:TSLA", "usdc": "-3", "szi": "10", "fundingRate": "0.0000125"});
    world.tell("userFundings", "fundings", json!([row]));
    moves(&mut world, &[dec!(-3)]);
    moves(&mut world, &[dec!(40)]);
    assert_eq!(told(&world), [""; 0]);
    assert_eq!(world.of_kind("funding").len(), 1);
}

/// It is held since before there was a book: what was paid for it in the hour before shows that, or what was traded since.
#[test]
fn what_is_held_elsewhere_since_before_the_book_is_no_discrepancy() {
    let minutes_ago = |world: &BookWorld, minutes: u64| world.venue.now - minutes * 60_000;
    for (has_payment, has_fill, is_closed) in
        [(true, false, false), (false, true, false), (true, true, false), (true, false, true), (false, false, true)]
    {
        for is_restarted in [false, true] {
            let mut world = BookWorld::new(1, false);
            let fill = |time: u64, side: &str, start: &str| {
                json!({"coin": "xyz:TSLA", "px": "100", "sz": "10", "side": side, "time": time, "startPosition": start,
                    "closedPnl": "0", "oid": 9, "crossed": true, "fee": "0", "tid": time, "feeToken": "USDC"})
            };
            if has_payment {
                let time = minutes_ago(&world, 40);
                world.venue.fundings.push(
                    json!({"time": time, "coin": "xyz:TSLA", "usdc": "-3", "szi": "10", "fundingRate": "0.0000125"}),
                );
            }
            if has_fill {
                world.venue.fills.push(fill(minutes_ago(&world, 30), "B", "0"));
            }
            if is_closed {
                world.venue.fills.push(fill(minutes_ago(&world, 20), "A", "10"));
            }
            world.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: world.venue.now });
            world.live(60);
            if is_restarted {
                world.die(0);
                world.rise();
                world.live(60);
            }
            moves(&mut world, &[dec!(30)]);
            moves(&mut world, &[dec!(-45)]);
            let case = (has_payment, has_fill, is_closed, is_restarted);
            assert_eq!(told(&world).is_empty(), !is_closed, "{case:?}: {:?}", told(&world));
            let is_said = |sum: &&Value| sum["why"].as_str().is_some_and(|why| why.contains("another dex"));
            assert_eq!(world.of_kind("balance").iter().any(is_said), !is_closed, "{case:?}");
            // None of it is the book's.
            assert_eq!((world.of_kind("fill").len(), world.of_kind("funding").len()), (0, 0), "{case:?}");
        }
    }
}
