//! Fills: covered at once, counted once, and missed by nobody.

use super::*;
use crate::venue::market::{Market, Universe};

#[test]
fn a_fill_is_covered_before_any_read() {
    let mut desk = desk();
    let told = fill(&desk, 1, "0", "0.4");
    let effects = fills(&mut desk, vec![told.clone()]);
    assert_eq!(stops(&effects), ["0.4"]);
    assert!(reads(&effects).contains(&&Read::AccountNow), "{effects:?}");
    assert!(fills(&mut desk, vec![told]).records.is_empty(), "twice is once");
    // Fills of one moment, each from where the last one ended.
    let mut desk = self::desk();
    let told = vec![fill(&desk, 1, "0", "0.1"), fill(&desk, 2, "0.1", "0.2")];
    assert_eq!(stops(&fills(&mut desk, told)), ["0.3"]);
}

#[test]
fn a_fill_that_was_read_counts_no_more() {
    for (after_ms, is_new) in [(0, true), (1, true)] {
        let mut desk = desk();
        let told = fill(&desk, after_ms, "0", "0.4");
        assert_eq!(!stops(&fills(&mut desk, vec![told])).is_empty(), is_new, "{after_ms}");
    }
    let mut desk = desk();
    let (older, same) = (fill(&desk, 0, "0", "0.3"), fill(&desk, 1, "0.3", "0.1"));
    desk.now += 1;
    desk.hold("ETH", dec!(0.4));
    for told in [older, same] {
        let effects = fills(&mut desk, vec![told]);
        let is_only_on_record = events(&effects).iter().all(|event| event["kind"] == "fill");
        assert!(is_only_on_record && reads(&effects).is_empty(), "{effects:?}");
    }
}

#[test]
fn an_answer_that_is_older_than_a_fill_takes_nothing_back() {
    let mut desk = desk();
    let told = fill(&desk, 50, "0", "0.4");
    let filled_ms = desk.now + 50;
    desk.now += 60;
    fills(&mut desk, vec![told]);
    let shown = |desk: &Desk| desk.guard.status(desk.now, (0, 0)).positions.len();
    desk.now += 100;
    let (state, equity, begun_ms) = (desk.state(filled_ms - 1), desk.equity, desk.now);
    let effects = desk.step(Input::Account { state, equity, begun_ms });
    assert_eq!(shown(&desk), 1);
    assert!(reads(&effects).contains(&&Read::AccountNow), "it is asked for again");
    desk.now += 100;
    let (state, begun_ms) = (desk.state(filled_ms), desk.now);
    desk.step(Input::Account { state, equity, begun_ms });
    assert_eq!(shown(&desk), 0, "one of its time does");
}

/// No read shows what filled, and its own stop came with it: who has everything closed has that closed as well, and no more than
/// that where the feed tells of less.
#[test]
fn a_kill_closes_what_a_fill_has_told_of() {
    for (held, size, closed) in [("0.1", "0.3", "0.4"), ("0.1", "0", "0.1")] {
        let mut desk = desk();
        desk.hold("ETH", held.parse().unwrap());
        let mut entry = open("ETH", "B", "2000", "0.3", 77);
        entry.children.push(open_stop("ETH", "A", "1960", "0.3", 78));
        desk.show(vec![open_stop("ETH", "A", "1960", held, 5), entry]);
        desk.wait(100);
        let told = fill(&desk, 1, held, size);
        desk.now += 10;
        fills(&mut desk, vec![told]);
        let effects = desk.step(Input::Kill { reason: "enough".into(), by: None, write_file: false, request: None });
        assert_eq!(crate::guard::tests::covering_line::closes(&effects), [closed], "{size}");
    }
}

#[test]
fn what_must_go_presses_at_once() {
    let mut desk = desk();
    desk.step(Input::Tick);
    assert!(!desk.guard.feed.pace.pressing);
    desk.hold("ETH", dec!(0.4));
    desk.step(Input::Kill { reason: "enough".into(), by: None, write_file: false, request: None });
    assert!(desk.guard.feed.pace.pressing);
}

/// What never was is forgotten by the first read of after it, and by nothing else: where nothing can be read it may be held.
#[test]
fn a_fill_that_no_read_shows_is_forgotten() {
    let mut desk = desk();
    let told = fill(&desk, 1, "0", "0.4");
    fills(&mut desk, vec![told]);
    let shown = |desk: &Desk| desk.guard.status(desk.now, (0, 0)).positions.len();
    desk.now += 60_000;
    desk.step(Input::Tick);
    assert_eq!(shown(&desk), 1);
    desk.read_account(desk.now);
    assert_eq!(shown(&desk), 0);
}

/// What is on its way counts as held already, with its stop: its fill is not another one.
#[test]
fn a_fill_of_an_entry_that_is_on_its_way_counts_once() {
    for is_sent in [false, true] {
        let mut desk = desk();
        if is_sent {
            let decided = desk.order(with(buy(ETH, "2000", "0.4"), "/t", json!({"limit": {"tif": "Ioc"}})));
            assert!(!sends(&decided.effects).is_empty(), "{decided:?}");
        }
        let told = fill(&desk, 1, "0", "0.4");
        let effects = fills(&mut desk, vec![told]);
        assert!(reads(&effects).contains(&&Read::AccountNow));
        assert_eq!(desk.guard.status(desk.now, (0, 0)).positions.len(), usize::from(!is_sent));
    }
}

/// Another order rests by the last read, and its child is gone: what fills of it is bare, whatever else is on its way.
#[test]
fn a_fill_of_what_rests_is_covered_beside_an_entry_that_is_on_its_way() {
    for (is_answered, oid, is_covered) in [(false, 77, true), (false, 78, false), (true, 77, true), (true, 79, false)] {
        let mut desk = desk();
        desk.show(vec![open("ETH", "B", "2000", "0.4", 77)]);
        let decided = desk.order(with(buy(ETH, "2000", "0.3"), "/t", json!({"limit": {"tif": "Alo"}})));
        if is_answered {
            desk.answer(decided.seq(), 0, statuses(json!([{"resting": {"oid": 79}}, "waitingForFill"])));
        }
        let told = with(fill(&desk, 1, "0", "0.4"), "/oid", json!(oid));
        let effects = fills(&mut desk, vec![told]);
        assert_eq!(!stops(&effects).is_empty(), is_covered, "{is_answered} {oid}");
    }
}

/// An entry of the other side closes a part of a position, and one of its own side enlarges it, in one moment: the stop that the first was
/// judged with is none of the position's.
#[test]
fn a_fill_that_closes_a_part_brings_no_stop() {
    let mut desk = desk();
    desk.hold("ETH", dec!(0.5));
    for has_child in [true, false] {
        let mut other = open("ETH", "A", "2010", "0.1", 76);
        other.children.extend(has_child.then(|| open_stop("ETH", "B", "2050", "0.1", 79)));
        desk.show(vec![open_stop("ETH", "A", "1960", "0.5", 5), other, open("ETH", "B", "1990", "0.2", 77)]);
        desk.wait(100);
    }
    let sold = with(with(fill(&desk, 1, "0.5", "0.1"), "/side", json!("A")), "/oid", json!(76));
    let bought = fill(&desk, 2, "0.4", "0.2");
    let mut effects = vec![fills(&mut desk, vec![sold, bought])];
    let line = desk.guard.lines.get(ETH).unwrap();
    let of_the_other = line.record(ETH).parts.into_iter().map(|(px, _)| px).chain(line.judged.nearest(line.side));
    let of_the_other: Vec<Decimal> = of_the_other.filter(|px| *px > dec!(2010)).collect();
    assert!(of_the_other.is_empty(), "{of_the_other:?}");
    desk.orders.truncate(1);
    desk.positions.insert("ETH", dec!(0.6));
    for _ in 0..3 {
        desk.now += 600;
        effects.extend([desk.read_account(desk.now), desk.read_orders(desk.now)]);
    }
    let closed: Vec<Value> = effects.iter().flat_map(crate::guard::tests::covering_line::closes).collect();
    assert!(closed.is_empty(), "{closed:?}");
}

/// Its stop may have fired in the same moment, so that no read of the account shows that it filled: the room that it takes is not kept
/// until reads that lag would have shown it.
#[test]
fn an_entry_that_fills_is_asked_for_once_the_open_orders_miss_it() {
    for is_told in [true, false] {
        let mut desk = desk();
        let decided = desk.order(with(buy(ETH, "1990", "0.3"), "/t", json!({"limit": {"tif": "Gtc"}})));
        desk.answer(decided.seq(), 0, statuses(json!([{"resting": {"oid": 79}}, "waitingForFill"])));
        desk.now += 10;
        let told = with(fill(&desk, 1, "0", "0.3"), "/oid", json!(79));
        if is_told {
            fills(&mut desk, vec![told]);
        }
        desk.now += 10;
        let effects = desk.read_orders(desk.now);
        let is_asked = reads(&effects).iter().any(|read| matches!(read, Read::OrderStatus { .. }));
        assert_eq!(is_asked, is_told);
    }
}

#[test]
fn what_a_fill_closes_waits_for_the_read() {
    let mut desk = desk();
    desk.hold("ETH", dec!(-0.4));
    desk.wait(1_000);
    desk.now += 1;
    let told = fill(&desk, 1, "-0.4", "0.4");
    let effects = fills(&mut desk, vec![told]);
    assert_eq!(desk.guard.status(desk.now, (0, 0)).positions[0].size, dec!(0.4));
    assert!(sends(&effects).is_empty() && reads(&effects).contains(&&Read::AccountNow), "{effects:?}");
}

#[test]
fn a_fill_that_begins_elsewhere_has_the_account_read() {
    let mut desk = desk();
    let told = fill(&desk, 1, "0.5", "0.4");
    let effects = fills(&mut desk, vec![told]);
    assert!(stops(&effects).is_empty() && reads(&effects).contains(&&Read::AccountNow));
    let told: Vec<Value> = events(&effects).into_iter().filter(|event| event["kind"] == "error").collect();
    assert!(told[0]["text"].as_str().unwrap().contains("began at 0.5 where 0 is known"), "{told:?}");
    assert_eq!(desk.guard.status(desk.now, (0, 0)).venue.feed.unwrap().missed, 1);
}

/// Who hears of such a fill may close what it tells of before any read shows that: in doubt it passes.
#[test]
fn what_a_fill_that_begins_elsewhere_opened_can_be_closed_at_once() {
    let mut desk = desk();
    let exit = close(ETH, false, "1990", "0.9");
    desk.order(exit.clone()).vetoed("nothing_to_reduce");
    let filled_ms = desk.now + 50;
    let told = fill(&desk, 50, "0.5", "0.4");
    fills(&mut desk, vec![told]);
    desk.order(exit.clone()).reduces();
    // A read of before it, or of the same moment, does not say.
    for time in [filled_ms - 1, filled_ms] {
        desk.now += 60;
        let (state, equity, begun_ms) = (desk.state(time), desk.equity, desk.now);
        desk.step(Input::Account { state, equity, begun_ms });
        desk.order(exit.clone()).reduces();
    }
    read_later(&mut desk);
    desk.read();
    desk.order(exit).vetoed("nothing_to_reduce");
}

#[test]
fn a_fill_that_cannot_be_ends_the_socket() {
    let ahead_ms = 5_000;
    for (key, value, is_odd) in [
        ("px", json!("2400"), false),
        ("px", json!("2400.1"), true),
        ("px", json!("1600"), false),
        ("px", json!("1599.9"), true),
        ("px", json!("0"), true),
        ("sz", json!("0"), true),
        ("sz", json!("-1"), true),
        ("time", json!(NOW + 100 + ahead_ms), false),
        ("time", json!(NOW + 100 + ahead_ms + 1), true),
    ] {
        let mut desk = desk();
        let mut told = fill(&desk, 1, "0", "0.4");
        told[key] = value.clone();
        let effects = fills(&mut desk, vec![told]);
        assert_eq!(stops(&effects).is_empty(), is_odd, "{key} {value}");
        let is_price_alone = is_odd && key == "px" && value != json!("0");
        assert_eq!(is_distrusted(&effects), is_odd && !is_price_alone, "{key} {value}");
        if is_price_alone {
            assert!(is_distrusted(&read_later(&mut desk)), "{value}");
        }
        let health = desk.guard.health(desk.now);
        assert_eq!(health.problems.iter().any(|text| text.contains("live feed")), is_odd, "{health:?}");
    }
}

/// A position that changed without its fill.
/// It is told before the list of markets has it, and the account shows it after that.
#[test]
fn a_fill_in_a_market_that_was_just_listed_was_told() {
    for (told, is_told) in [("0.4", true), ("0.3", false)] {
        let mut desk = desk();
        let new = Market { asset: BARE + 1, coin: "NEW".to_owned(), ..universe().get(SOL).unwrap().clone() };
        let row = with(fill(&desk, 0, "0", told), "/coin", json!("NEW"));
        fills(&mut desk, vec![row]);
        desk.step(Input::Universe(Universe::new(universe().iter().cloned().chain([new]).collect())));
        desk.wait(1_000);
        desk.hold("NEW", dec!(0.4));
        desk.now += 5_000;
        assert_eq!(is_distrusted(&desk.step(Input::Tick)), !is_told, "{told}");
    }
}

#[test]
fn a_fill_that_was_never_told_ends_the_socket() {
    let mut desk = desk();
    desk.wait(1_000);
    desk.hold("ETH", dec!(0.4));
    desk.now += 4_999;
    assert!(!is_distrusted(&desk.step(Input::Tick)));
    desk.now += 1;
    assert!(is_distrusted(&desk.step(Input::Tick)));
    // One that comes late is one that was told.
    let mut desk = self::desk();
    desk.wait(1_000);
    let late = fill(&desk, 0, "0", "0.4");
    desk.now += 1;
    desk.hold("ETH", dec!(0.4));
    desk.now += 4_000;
    fills(&mut desk, vec![late]);
    desk.now += 1_000;
    assert!(!is_distrusted(&desk.step(Input::Tick)));
}

/// What was opened, closed through the guard and opened anew between two reads is as large as the read shows it: the close of it
/// is one, whatever the answers of the first close say of the position that was read.
#[test]
fn a_close_of_what_filled_anew_before_a_read_is_an_exit() {
    for (size, is_exit) in [("0.4", true), ("0.1", true), ("0.41", false)] {
        let mut desk = desk();
        desk.hold("ETH", dec!(0.4));
        desk.wait(100);
        let at_once = |size: &str| with(sell(ETH, "1900", size), "/t/limit/tif", json!("Ioc"));
        let seq = desk.order(at_once("0.4")).seq();
        desk.answer(seq, 0, statuses(json!([{"filled": {"totalSz": "0.4", "avgPx": "2000.0", "oid": 5}}])));
        let mut closed = fill(&desk, 1, "0.4", "0.4");
        (closed["side"], closed["oid"]) = (json!("A"), json!(5));
        let anew = fill(&desk, 2, "0", "0.4");
        desk.now += 10;
        fills(&mut desk, vec![closed]);
        fills(&mut desk, vec![anew]);
        let decided = desk.order(at_once(size));
        let order = &decided.forward()["orders"][0];
        let is_close = (&order["p"], &order["r"], &order["s"]) == (&json!("1900"), &json!(true), &json!(size));
        assert_eq!(is_close, is_exit, "{size}: {}", decided.event);
    }
}

/// Nothing is taken for held twice: what an answer told of and the feed told of too counts once.
#[test]
fn a_fill_that_answer_and_feed_tell_of_counts_once() {
    for (size, is_exit) in [("0.4", true), ("0.41", false)] {
        let mut desk = desk();
        let at_once = |order: Value| with(order, "/t/limit/tif", json!("Ioc"));
        let seq = desk.order(at_once(buy(ETH, "2000", "0.4"))).seq();
        let filled = json!([{"filled": {"totalSz": "0.4", "avgPx": "2000.0", "oid": 77}}, "waitingForTrigger"]);
        desk.answer(seq, 0, statuses(filled));
        let told = fill(&desk, 1, "0", "0.4");
        desk.now += 10;
        fills(&mut desk, vec![told]);
        let decided = desk.order(at_once(sell(ETH, "1900", size)));
        assert_eq!(decided.forward()["orders"][0]["r"] == json!(true), is_exit, "{size}: {}", decided.event);
    }
}

/// The frame itself waits, and what it opened must not.
#[test]
fn a_trade_that_waits_has_the_account_read_now() {
    let mut desk = desk();
    tell(&mut desk, FeedNews::Opened { socket: 3 });
    assert_eq!(reads(&tell(&mut desk, FeedNews::Traded)), [&Read::AccountNow]);
}

/// Others may have moved the position as well, so that no read tells the entry's part of it: its fill, told late, is older than the
/// read, which shows it. One that tells of less leaves the rest in doubt.
#[test]
fn a_late_fill_proves_that_a_read_shows_it() {
    for (told_size, is_exit) in [(None, false), (Some("0.4"), true), (Some("0.3"), false)] {
        let mut desk = desk();
        let at_once = |order: Value| with(order, "/t/limit/tif", json!("Ioc"));
        let seq = desk.order(at_once(buy(ETH, "2000", "0.4"))).seq();
        let told = told_size.map(|size| fill(&desk, 1, "0", size));
        desk.now += 10;
        let filled = json!([{"filled": {"totalSz": "0.4", "avgPx": "2000.0", "oid": 77}}, "waitingForTrigger"]);
        desk.answer(seq, 0, statuses(filled));
        // All that it bought was sold again, and an entry that rested has turned the position.
        let seq = desk.order(with(sell(ETH, "2010", "1"), "/t/limit/tif", json!("Alo"))).seq();
        desk.answer(seq, 0, statuses(json!([{"resting": {"oid": 78}}, "waitingForFill"])));
        desk.now += 100;
        desk.hold("ETH", dec!(-1));
        desk.now += 10;
        desk.read_orders(desk.now);
        fills(&mut desk, told.into_iter().collect());
        let decided = desk.order(at_once(buy(ETH, "2100", "1")));
        let order = &decided.forward()["orders"][0];
        assert_eq!(
            (&order["r"], &order["s"]) == (&json!(true), &json!("1")),
            is_exit,
            "{told_size:?}: {}",
            decided.event
        );
    }
}
