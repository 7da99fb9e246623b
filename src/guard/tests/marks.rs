//! Where the mid stands apart from the mark, an entry is judged by the worse of both; and a mark must be known for it.

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::covering_line::{closes, stops};
use super::fixture::*;
use crate::guard::{Effects, Input, Read};

/// A guard that knows this mark of ETH, whose mid is 2000.
fn desk(mark: Decimal) -> Desk {
    let mut desk = Desk::live();
    tell(&mut desk, mark);
    desk
}

fn tell(desk: &mut Desk, mark: Decimal) -> Effects {
    let marks = [("ETH".to_owned(), mark)].into_iter().collect();
    desk.step(Input::Marks { marks, begun_ms: desk.now })
}

fn at_once(order: Value) -> Value {
    with(order, "/t/limit/tif", json!("Ioc"))
}

fn entry() -> Value {
    at_once(buy(ETH, "2000", "5"))
}

/// Size of the entry that goes out, and the trigger of its stop.
fn sent(decided: &Decided) -> (Value, Value) {
    let orders = &decided.event["forward"]["orders"];
    (orders[0]["s"].clone(), orders[1]["t"]["trigger"]["triggerPx"].clone())
}

#[test]
fn an_entry_away_from_the_mark_loses_what_the_rules_let_at_its_stop() {
    // 200 may be lost: 5 to a stop two percent under the price, while the mark has not passed it.
    for (mark, size, trigger) in [
        (dec!(2000), "5", "1960"),
        (dec!(1960.1), "5", "1960"),
        // Two percent under the mark from here on.
        (dec!(1960), "2.5252", "1920.8"),
        (dec!(1700), "0.5988", "1666"),
    ] {
        let mut desk = desk(mark);
        assert_eq!(sent(&desk.order(entry())), (json!(size), json!(trigger)), "mark {mark}");
    }
    for (mark, size, trigger) in [(dec!(2039.9), "4.9", "2040"), (dec!(2040), "2.4752", "2080.8")] {
        let mut desk = desk(mark);
        assert_eq!(sent(&desk.order(at_once(sell(ETH, "2000", "4.9")))), (json!(size), json!(trigger)), "mark {mark}");
    }
}

#[test]
fn several_entries_of_one_request_lose_no_more_than_open_risk_together() {
    let mut desk = desk(dec!(1700));
    let entries = ["1.1", "1.2", "1.3", "1.4"].map(|size| at_once(buy(ETH, "2000", size)));
    let decided = desk.orders(entries.to_vec());
    let market = desk.guard.exposure().figures(ETH);
    assert!(market.loss <= dec!(200), "{market:?}: {}", decided.event);
}

#[test]
fn a_stop_that_the_mark_has_passed_is_on_the_wrong_side() {
    let group = |trigger: &str| {
        let orders = vec![at_once(buy(ETH, "2000", "0.1")), stop(ETH, false, trigger, "0.1")];
        with(place(orders), "/grouping", json!("normalTpsl"))
    };
    let mut desk = desk(dec!(1980));
    desk.ask(group("1980")).vetoed("stop_wrong_side").says(&["the mark 1980"]);
    desk.ask(group("1979.9")).allowed();
}

#[test]
fn what_is_bought_under_the_mark_counts_at_the_mark() {
    // 100 % of 10000: 5 at 2000, and 4 at 2500.
    for (mark, size) in [(dec!(2004), "5"), (dec!(2500), "4")] {
        let mut desk = desk(mark);
        assert_eq!(sent(&desk.order(entry())).0, json!(size), "mark {mark}");
    }
}

#[test]
fn quotes_away_from_the_mark_free_no_risk_of_what_is_held() {
    let mut desk = Desk::live();
    desk.hold("ETH", dec!(4));
    desk.show(vec![open_stop("ETH", "A", "1960", "4", 7)]);
    let before = desk.guard.exposure().figures(ETH);
    for mid in [dec!(1700), dec!(2300)] {
        desk.mids.insert("ETH".into(), mid);
        let mids = desk.mids.clone();
        desk.step(Input::Mids { mids, begun_ms: desk.now });
        let now = desk.guard.exposure().figures(ETH);
        assert!(now.loss >= before.loss && now.notional >= before.notional, "{mid}: {now:?}");
    }
}

#[test]
fn an_entry_waits_for_an_unknown_mark() {
    let mut desk = Desk::live();
    desk.guard.view.marks.clear();
    let effects = desk.post(place(vec![entry()]));
    assert!(effects.records.is_empty());
    assert_eq!(reads(&effects), [&Read::Universe]);
    sent_at(&tell(&mut desk, dec!(2000)), "1960");
    desk.guard.view.marks.clear();
    desk.post(place(vec![at_once(buy(ETH, "2000", "1"))]));
    desk.now += 1_999;
    assert!(desk.step(Input::Tick).records.is_empty());
    desk.now += 1;
    Decided::of(desk.step(Input::Tick)).vetoed("price_stale").says(&["ETH's mark"]);
}

fn sent_at(effects: &Effects, trigger: &str) {
    let event = events(effects).into_iter().find(|event| event["kind"] == "decision").unwrap();
    assert_eq!(event["forward"]["orders"][1]["t"]["trigger"]["triggerPx"], trigger, "{event}");
}

#[test]
fn a_mark_at_the_mid_serves_for_half_a_minute_and_one_away_from_it_as_long_as_prices_do() {
    // A fifth of a percent is no way.
    for (mark, age_ms, waits) in [
        (dec!(1996), 30_000, false),
        (dec!(1996), 30_001, true),
        (dec!(1995.9), 5_000, false),
        (dec!(1995.9), 5_001, true),
        (dec!(2004), 30_000, false),
        (dec!(2004.1), 5_001, true),
    ] {
        let mut desk = desk(mark);
        desk.now += age_ms;
        let mids = desk.mids.clone();
        desk.step(Input::Mids { mids, begun_ms: desk.now });
        desk.read_account(desk.now);
        desk.read_orders(desk.now);
        let effects = desk.post(place(vec![entry()]));
        assert_eq!(effects.records.is_empty(), waits, "{mark} after {age_ms} ms");
        assert_eq!(reads(&effects).contains(&&Read::Universe), waits, "{mark} after {age_ms} ms");
    }
}

#[test]
fn the_marks_of_traded_markets_are_read_again_before_they_are_too_old() {
    let mut desk = desk(dec!(2000));
    desk.guard.view.marks.retain(|asset, _| *asset == ETH);
    desk.order(entry());
    let is_read = |desk: &mut Desk, later_ms: u64| {
        desk.now += later_ms;
        let effects = desk.step(Input::Tick);
        reads(&effects).contains(&&Read::Universe)
    };
    assert!(!is_read(&mut desk, 19_999) && is_read(&mut desk, 1));
    // Once, whatever becomes of it.
    assert!(!is_read(&mut desk, 1));
    tell(&mut desk, dec!(2000));
    assert!(!is_read(&mut desk, 19_999) && is_read(&mut desk, 1));
    tell(&mut desk, dec!(2000));
    // A minute after the last entry nobody is known to trade.
    assert!(!is_read(&mut desk, 19_998) && !is_read(&mut desk, 1) && !is_read(&mut desk, 60_000));
}

#[test]
fn the_marks_of_markets_that_nobody_enters_are_not_read_ahead() {
    let mut desk = desk(dec!(2000));
    desk.hold("SOL", dec!(10));
    desk.order(close(SOL, false, "99", "10")).reduces();
    desk.now += 30_000;
    assert!(!reads(&desk.step(Input::Tick)).contains(&&Read::Universe));
}

#[test]
fn what_closes_waits_for_no_mark() {
    let mut desk = Desk::live();
    desk.hold("SOL", dec!(10));
    desk.guard.view.marks.clear();
    desk.order(close(SOL, false, "99", "10")).reduces();
    let decided = desk.orders(vec![entry(), close(SOL, false, "99", "5")]);
    decided.resized().says(&["order 1 of 2 left out (price_stale)"]);
}

#[test]
fn a_first_stop_goes_no_farther_than_the_one_that_was_judged() {
    for (mark, is_closed) in [(dec!(1960.1), false), (dec!(1960), true)] {
        let mut desk = Desk::live();
        let decided = desk.order(at_once(buy(ETH, "2000", "1")));
        let (filled, refused) =
            (json!({"filled": {"totalSz": "1.0", "avgPx": "2000", "oid": 9}}), json!({"error": "Invalid TP/SL price"}));
        desk.answer(decided.seq(), 0, statuses(json!([filled, refused])));
        desk.positions.insert("ETH", dec!(1));
        desk.mids.insert("ETH".into(), mark);
        desk.now += 1_000;
        let mut all = vec![desk.read_account(desk.now), desk.read_orders(desk.now)];
        desk.now += 600;
        all.extend([desk.read_account(desk.now), desk.read_orders(desk.now)]);
        let placed: Vec<_> = all.iter().flat_map(stops).collect();
        let closed: Vec<_> = all.iter().flat_map(closes).collect();
        if is_closed {
            assert_eq!((placed, closed), (vec![], vec![json!("1")]), "mark {mark}");
        } else {
            assert_eq!((placed, closed), (vec![("1960".to_owned(), "1".to_owned())], vec![]), "mark {mark}");
        }
    }
}
