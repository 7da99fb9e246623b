//! Fills of one moment, told in any order: what each has opened is known before a read, whatever was closed beside it.

use super::*;
use crate::guard::state::held_now::Told;
use crate::guard::tests::cancels::{cancel, first};
use crate::venue::side::PositionSide;

fn sold(told: Value, oid: u64) -> Value {
    with(with(told, "/side", json!("A")), "/oid", json!(oid))
}

/// A buy that follows on one of the same moment.
fn of_same_moment(desk: &Desk, start: &str, size: &str, tid: u64) -> Value {
    with(fill(desk, 5, start, size), "/tid", json!(tid))
}

/// Told backwards: each is covered once it follows on what is known, and nothing is missing then.
#[test]
fn fills_of_one_moment_are_linked_in_whatever_order_they_are_told() {
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]] {
        let mut desk = desk();
        let parts = [("0", "0.1"), ("0.1", "0.2"), ("0.3", "0.1")];
        let told = order.map(|place| of_same_moment(&desk, parts[place].0, parts[place].1, 900 + place as u64));
        assert_eq!(stops(&fills(&mut desk, told.to_vec())), ["0.4"], "{order:?}");
        assert!(!desk.guard.feed.told.is_missing(ETH), "{order:?}");
    }
    let mut desk = desk();
    let told =
        [("0.3", "0.1", 902), ("0", "0.1", 900)].map(|(start, size, tid)| of_same_moment(&desk, start, size, tid));
    assert_eq!(stops(&fills(&mut desk, told.to_vec())), ["0.1"], "one between them is missing");
    assert!(desk.guard.feed.told.is_missing(ETH));
}

/// A stop fired and an entry filled in one moment. No read shows either: what is cancelled now leaves cover for what the entry opened
/// beside all that the read showed, until a later read.
#[test]
fn a_cancel_leaves_cover_for_what_filled_while_a_stop_fired() {
    for (is_told, is_backwards, is_read, kept) in [
        (false, false, false, dec!(1.2)),
        (true, false, false, dec!(1.4)),
        (true, true, false, dec!(1.4)),
        (true, true, true, dec!(1.4)),
    ] {
        let mut desk = desk();
        desk.hold("ETH", dec!(3.6));
        let entry = open("ETH", "B", "1990", "0.2", 77);
        let far = open_stop("ETH", "A", "1950", "3.6", 5);
        desk.show(vec![open_stop("ETH", "A", "1980", "2.4", 4), far.clone(), entry]);
        desk.wait(100);
        desk.now += 100;
        let fired = with(sold(fill(&desk, 5, "3.6", "2.4"), 4), "/tid", json!(901));
        let filled = of_same_moment(&desk, "1.2", "0.2", 902);
        let mut told = vec![fired, filled];
        if is_backwards {
            told.reverse();
        }
        for told in told.into_iter().filter(|_| is_told) {
            fills(&mut desk, vec![told]);
        }
        if is_read {
            desk.orders = vec![far];
            desk.positions.insert("ETH", dec!(1.4));
            desk.now += 600;
            desk.read_account(desk.now);
            desk.read_orders(desk.now);
        }
        let decided = desk.ask(cancel(&[5]));
        let sizes = first(&decided).into_iter().map(|(_, _, size)| size.as_str().unwrap().parse::<Decimal>().unwrap());
        assert_eq!(sizes.sum::<Decimal>(), kept, "{is_told} {is_backwards} {is_read}: {}", decided.event);
    }
}

/// One that waits for another is in the read that is of after it: where what is held comes to be as before it, it opens nothing again.
#[test]
fn a_fill_that_a_read_shows_waits_no_longer() {
    let mut desk = desk();
    let told = ["0.5", "2"].map(|start| fill(&desk, if start == "2" { 9_000 } else { 5 }, start, "0.1"));
    fills(&mut desk, told[..1].to_vec());
    desk.now += 5_000;
    fills(&mut desk, told[1..].to_vec());
    desk.hold("ETH", dec!(0.5));
    desk.now += 100;
    let next = fill(&desk, 5, "3", "0.1");
    fills(&mut desk, vec![next]);
    assert_eq!(desk.guard.view.position(ETH), dec!(0.5));
    assert!(desk.guard.feed.told.is_missing(ETH));
}

/// What began from nothing is known in size and price, as far as each fill follows on the one before; what is closed of it leaves the
/// price as it was. A read of the moment of the last one may be older.
#[test]
fn what_began_from_nothing_is_known_in_size_and_price() {
    // Where it began, its size, whether it bought, its price.
    type Part = (&'static str, &'static str, bool, &'static str);
    let told = |size, px| Some(Told { size, px });
    let parts: [(&[Part], Option<Told>); 5] = [
        (&[("0", "0.1", true, "2000")], told(dec!(0.1), dec!(2000))),
        (&[("-0.2", "0.3", true, "2000")], told(dec!(0.1), dec!(2000))),
        (&[("0", "0.1", true, "2000"), ("0.1", "0.3", true, "1990")], told(dec!(0.4), dec!(1992.5))),
        (
            &[("0", "0.1", true, "2000"), ("0.1", "0.3", true, "1990"), ("0.4", "0.1", false, "1900")],
            told(dec!(0.3), dec!(1992.5)),
        ),
        (&[("0.1", "0.3", true, "1990")], None),
    ];
    for ((parts, begun), is_held) in parts.into_iter().flat_map(|part| [(part, true), (part, false)]) {
        let mut desk = desk();
        if is_held {
            desk.hold("ETH", dec!(3));
        }
        let told = parts.iter().enumerate().map(|(place, (start, size, is_buy, px))| {
            let fill = with(of_same_moment(&desk, start, size, 900 + place as u64), "/px", json!(px));
            with(fill, "/side", json!(if *is_buy { "B" } else { "A" }))
        });
        let (told, time) = (told.collect(), desk.now + 5);
        fills(&mut desk, told);
        // Where nothing was held the fill makes the line, and there is no other.
        let begun = begun.filter(|_| is_held);
        let at = |desk: &Desk, venue_ms| desk.guard.feed.told.begun(ETH, PositionSide::Long, venue_ms);
        assert_eq!(at(&desk, time + 1), begun, "{parts:?} {is_held}");
        assert_eq!(at(&desk, time), None, "{parts:?}");
        // A read of the moment of the first may have shown it, and has a line for it by then.
        desk.guard.feed.told.forget_before(time);
        assert_eq!(at(&desk, time + 1), None, "{parts:?}");
    }
}

/// Which orders opened what a read shows: since there was last nothing, and where the fills tell of just that change.
#[test]
fn fills_name_the_orders_that_opened_what_is_held() {
    // Where it began, its size, whether it bought, its order.
    type Part = (&'static str, &'static str, bool, u64);
    type Case = (&'static [Part], &'static str, &'static [(u64, &'static str)]);
    let cases: [Case; 6] = [
        (&[("0", "0.1", true, 1), ("0.1", "0.3", true, 2)], "0.4", &[(1, "0.1"), (2, "0.3")]),
        (&[("0", "0.1", true, 1), ("0.1", "0.1", true, 1)], "0.2", &[(1, "0.2")]),
        // A short that the first closes, and the second turns.
        (&[("0", "0.2", false, 1), ("-0.2", "0.2", true, 2), ("0", "0.3", true, 3)], "0.3", &[(3, "0.3")]),
        (&[("0", "0.2", false, 1), ("-0.2", "0.5", true, 2)], "0.3", &[(2, "0.3")]),
        // What closes a part opens nothing; after what closes all of it nobody has.
        (&[("0", "0.4", true, 1), ("0.4", "0.1", false, 2)], "0.3", &[(1, "0.4")]),
        (&[("0", "0.4", true, 1), ("0.4", "0.4", false, 2)], "0", &[]),
    ];
    for (parts, held, opened) in cases {
        let mut desk = desk();
        let told = parts.iter().enumerate().map(|(place, (start, size, is_buy, oid))| {
            let fill = with(of_same_moment(&desk, start, size, 900 + place as u64), "/oid", json!(oid));
            with(fill, "/side", json!(if *is_buy { "B" } else { "A" }))
        });
        let (told, time) = (told.collect(), desk.now + 5);
        fills(&mut desk, told);
        let opened = opened.iter().map(|(oid, size)| (*oid, size.parse().unwrap())).collect();
        let held: Decimal = held.parse().unwrap();
        let by = |desk: &Desk, change| desk.guard.feed.told.opened_by(ETH, change).cloned().unwrap_or_default();
        assert_eq!(by(&desk, (dec!(0), held)), opened, "{parts:?}");
        for other in [(dec!(0), dec!(7)), (dec!(7), held)] {
            assert!(by(&desk, other).is_empty(), "{parts:?}: the fills tell of another change");
        }
        desk.guard.feed.told.forget_before(time + 1);
        assert!(by(&desk, (dec!(0), held)).is_empty(), "{parts:?}");
    }
}

/// A read of the same moment may be from before the fill: the next one, which shows it, tells of nothing that was missed.
#[test]
fn a_read_of_the_moment_of_a_fill_forgets_none() {
    for (is_shown, missed) in [(true, 0), (false, 1)] {
        let mut desk = desk();
        if is_shown {
            let told = fill(&desk, 5, "0", "0.2");
            fills(&mut desk, vec![told]);
        }
        desk.now += 5;
        desk.read_account(desk.now);
        assert_eq!(desk.guard.feed.chains.contains_key(&ETH), is_shown);
        desk.now += 200;
        desk.hold("ETH", dec!(0.2));
        assert!(desk.guard.feed.chains.is_empty());
        desk.now += 5_000;
        desk.step(Input::Tick);
        assert_eq!(desk.guard.feed.missed, missed);
    }
    // One that shows it leaves nothing to be told.
    let mut desk = desk();
    let told = fill(&desk, 5, "0", "0.2");
    fills(&mut desk, vec![told]);
    desk.now += 5;
    desk.hold("ETH", dec!(0.2));
    assert!(desk.guard.feed.chains.is_empty());
}
