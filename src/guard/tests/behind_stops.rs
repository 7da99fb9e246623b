//! Positions and resting entries lose as much as their stops let them lose: also where those are not among the open orders that
//! were read.

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::state::cover_line::{CoverLine, FirstStop};
use crate::guard::state::held_now::{Enlarged, HeldNow};
use crate::guard::{Effects, Guard, Input, Mode};
use crate::rules::Rules;
use crate::venue::side::PositionSide;

/// Rules that let a market lose 200.
fn desk() -> Desk {
    Desk::new(Mode::Testnet, Rules { loss_per_trade: dec!(2), ..wide() })
}

fn group(entry: Value, stop: Value, grouping: &str) -> Value {
    json!({"type": "order", "orders": [entry, stop], "grouping": grouping})
}

fn ioc(order: Value) -> Value {
    with(order, "/t/limit/tif", json!("Ioc"))
}

/// How much of two bought at 2000 with a stop at 1960 may go: each loses 40.
fn room(desk: &mut Desk) -> Decimal {
    let decided = desk.ask(group(ioc(buy(ETH, "2000", "2")), stop(ETH, false, "1960", "2"), "normalTpsl"));
    decided.sent_order(0)["s"].as_str().unwrap_or("0").parse().unwrap()
}

/// The guard's own stop goes where the client's stood, and no read has shown it.
#[test]
fn what_a_cancel_leaves_loses_as_much_as_before() {
    for (px, left) in [("1900", dec!(1)), ("1910", dec!(1.4)), ("1990", dec!(2))] {
        for answers in 0..3 {
            let mut desk = desk();
            desk.now += 10;
            desk.hold("ETH", dec!(1.6));
            desk.show(vec![open_stop("ETH", "A", px, "1.6", 7)]);
            let cancel = desk.ask(json!({"type": "cancel", "cancels": [{"a": ETH, "o": 7}]}));
            for (index, status) in
                [json!({"resting": {"oid": 9}}), json!("success")].into_iter().enumerate().take(answers)
            {
                desk.answer(cancel.seq(), index, statuses(json!([status])));
            }
            assert_eq!(room(&mut desk), left, "{px} after {answers} answers");
        }
    }
}

/// A fill that the account shows before the open orders do.
#[test]
fn what_was_just_opened_loses_as_much_as_it_was_judged_with() {
    for (px, left) in [("1900", dec!(1)), ("1910", dec!(1.4))] {
        let mut desk = desk();
        desk.now += 10;
        let entry = desk.ask(group(ioc(buy(ETH, "2000", "1.6")), stop(ETH, false, px, "1.6"), "normalTpsl"));
        let filled = json!({"filled": {"totalSz": "1.6", "avgPx": "2000", "oid": 7}});
        desk.answer(entry.seq(), 0, statuses(json!([filled, "waitingForTrigger"])));
        desk.now += 10;
        desk.hold("ETH", dec!(1.6));
        assert_eq!(room(&mut desk), left, "{px}");
    }
}

/// An entry that rests with a stop beside it, which is not its child.
#[test]
fn what_rests_loses_as_much_as_it_was_judged_with() {
    for (px, left) in [("1895", dec!(1.2)), ("1900", dec!(1.4))] {
        for reads in 0..3 {
            let mut desk = desk();
            desk.now += 10;
            let entry = desk.ask(group(buy(ETH, "1990", "1.6"), stop(ETH, false, px, "1.6"), "na"));
            desk.answer(entry.seq(), 0, statuses(json!([{"resting": {"oid": 7}}, {"resting": {"oid": 8}}])));
            for _ in 0..reads {
                desk.now += 10;
                desk.read_account(desk.now);
                desk.show(vec![open("ETH", "B", "1990", "1.6", 7), open_stop("ETH", "A", px, "1.6", 8)]);
            }
            assert_eq!(room(&mut desk), left, "{px} after {reads} reads");
        }
    }
}

/// Sends a buy with a stop, which the venue answers so.
fn enter(desk: &mut Desk, entry: Value, px: &str, answers: [Value; 2]) {
    let size = entry["s"].as_str().unwrap().to_owned();
    let decided = desk.ask(group(entry, stop(ETH, false, px, &size), "na"));
    decided.allowed();
    desk.answer(decided.seq(), 0, statuses(json!(answers)));
    desk.now += 10;
}

/// An entry that rested has filled with its stop passed, and another one is on its way, whose stop is farther: the account shows the
/// first alone, or both.
#[test]
fn what_filled_goes_by_its_own_stop_and_by_no_other_s() {
    for (mark, held, closes) in [
        (dec!(1985.1), dec!(1.6), None),
        (dec!(1985), dec!(1.6), Some("1.6")),
        (dec!(1985), dec!(2.1), Some("1.6")),
        (dec!(1985), dec!(0.5), None),
    ] {
        let mut desk = desk();
        let rests = [json!({"resting": {"oid": 7}}), json!({"resting": {"oid": 8}})];
        enter(&mut desk, buy(ETH, "1990", "1.6"), "1985", rests);
        desk.show(vec![open("ETH", "B", "1990", "1.6", 7), open_stop("ETH", "A", "1985", "1.6", 8)]);
        desk.now += 10;
        desk.mids.insert("ETH".into(), dec!(1989));
        desk.read_mids(desk.now);
        desk.show(vec![]);
        let filled = json!({"filled": {"totalSz": "0.5", "avgPx": "1989", "oid": 9}});
        let begun_ms = desk.now;
        desk.now += 1;
        enter(&mut desk, ioc(buy(ETH, "1989", "0.5")), "1900", [filled, json!({"resting": {"oid": 10}})]);
        desk.mids.insert("ETH".into(), mark);
        desk.read_mids(desk.now);
        // It began before the answer came.
        desk.positions.insert("ETH", held);
        desk.read_account(begun_ms);
        let mut sent = Vec::new();
        // By the next one all that the venue told of is there.
        desk.positions.insert("ETH", if held == dec!(1.6) { dec!(2.1) } else { held });
        desk.orders = vec![open_stop("ETH", "A", "1900", "0.5", 10)];
        for _ in 0..3 {
            desk.now += 600;
            for effects in [desk.read_orders(desk.now), desk.read_account(desk.now)] {
                sent.extend(super::covering_line::closes(&effects));
            }
        }
        assert_eq!(sent.first(), closes.map(|size| json!(size)).as_ref(), "{mark} {held} {sent:?}");
    }
}

/// Where a stop was sent for a part says nothing of where the whole may have its own.
#[test]
fn a_stop_that_was_sent_for_less_is_no_measure_for_more() {
    let now =
        |held| HeldNow { held, entry_px: Some(dec!(2000)), mark: Some(dec!(2000)), mid: None, by: Enlarged::default() };
    for (held, counts) in [(dec!(1), true), (dec!(1.01), false)] {
        let mut line = CoverLine::new(PositionSide::Long, dec!(1), Some(dec!(2000)));
        line.sent_px = Some(dec!(1950));
        line.resize(&now(held), 0);
        line.first_stop = Some(FirstStop { widest_px: dec!(1951), own_px: Some(dec!(1951)) });
        assert_eq!(line.counts(dec!(1950)), counts, "{held}");
    }
}

/// A stop closes all, and an entry that rested opens it anew, between two reads: as large as before, or not.
#[test]
fn what_was_opened_anew_goes_by_the_stop_that_it_was_judged_with() {
    for size in ["1", "1.6"] {
        let mut desk = desk();
        desk.now += 10;
        desk.positions.insert("ETH", dec!(1));
        entered(&mut desk, dec!(2000));
        let (own, rests) = (open_stop("ETH", "A", "1985", "1", 5), open("ETH", "B", "1975", size, 7));
        desk.show(vec![own.clone()]);
        desk.now += 10;
        enter(
            &mut desk,
            buy(ETH, "1975", size),
            "1965",
            [json!({"resting": {"oid": 7}}), json!({"resting": {"oid": 8}})],
        );
        desk.now += 1_000;
        entered(&mut desk, dec!(2000));
        desk.show(vec![own, rests, open_stop("ETH", "A", "1965", size, 8)]);
        desk.now += 1_000;
        desk.mids.insert("ETH".into(), dec!(1973));
        desk.read_mids(desk.now);
        desk.positions.insert("ETH", size.parse().unwrap());
        let mut effects = vec![entered(&mut desk, dec!(1975))];
        desk.orders.clear();
        for _ in 0..3 {
            desk.now += 600;
            effects.extend([desk.read_orders(desk.now), entered(&mut desk, dec!(1975))]);
        }
        assert_eq!(first_trigger(&effects), Some("1965".to_owned()), "{size}");
    }
}

/// Two entries rest with stops of their own.
const RESTING: [(&str, &str, &str, u64); 2] = [("1990", "0.8", "1980", 7), ("1960", "0.6", "1900", 17)];

/// Both are among the open orders, and then a client cancels their children; `is_sent` by this life.
fn rest_without_children(desk: &mut Desk, is_sent: bool, reads_between: u64) -> Vec<Value> {
    let (mut events, mut cloids) = (Vec::new(), Vec::new());
    for (px, size, stop_px, oid) in RESTING.into_iter().filter(|_| is_sent) {
        let decided = desk.ask(group(buy(ETH, px, size), stop(ETH, false, stop_px, size), "normalTpsl"));
        desk.answer(decided.seq(), 0, statuses(json!([{"resting": {"oid": oid}}, "waitingForFill"])));
        desk.now += 10;
        cloids.push((oid, serde_json::from_value(decided.sent_order(0)["c"].clone()).unwrap()));
        events.push(decided.event);
    }
    let show = |desk: &mut Desk, has_child: bool| {
        desk.now += 3_000;
        desk.read_account(desk.now);
        desk.read_mids(desk.now);
        let rests = RESTING.map(|(px, size, stop_px, oid)| {
            let mut entry = open("ETH", "B", px, size, oid);
            entry.children.extend(has_child.then(|| open_stop("ETH", "A", stop_px, size, oid + 1)));
            entry.cloid = cloids.iter().find(|(of, _)| *of == oid).map(|(_, cloid)| *cloid);
            entry
        });
        desk.show(rests.to_vec());
    };
    (0..3).for_each(|_| show(desk, true));
    desk.ask(json!({"type": "cancel", "cancels": [{"a": ETH, "o": 8}, {"a": ETH, "o": 18}]})).reduces();
    (0..reads_between).for_each(|_| show(desk, false));
    events
}

/// A client cancels the child of an entry that rests, of this life or of an earlier one: its stop comes where that stood all the same,
/// and not where another's is.
#[test]
fn an_entry_whose_child_is_cancelled_keeps_the_stop_that_it_was_judged_with() {
    for (is_sent, reads_between) in [(true, 1), (true, 4), (false, 1), (false, 4)] {
        let mut desk = desk();
        rest_without_children(&mut desk, is_sent, reads_between);
        // The price that is known has not come there.
        desk.now += 600;
        desk.positions.insert("ETH", dec!(0.8));
        desk.orders.retain(|order| order.oid != 7);
        let effects = filled_at(&mut desk, dec!(1990));
        assert_eq!(first_trigger(&effects), Some("1980".to_owned()), "{is_sent} {reads_between}");
    }
}

/// The guard dies, or stops and leaves a checkpoint behind, when the children are gone.
#[test]
fn a_restart_forgets_no_stop_that_an_entry_was_judged_with() {
    for has_checkpoint in [false, true] {
        let mut desk = desk();
        let sent = rest_without_children(&mut desk, true, 2);
        let checkpoint: Option<Value> =
            has_checkpoint.then(|| serde_json::from_str(&desk.guard.checkpoint(desk.now)).unwrap());
        let last = sent.last().unwrap()["seq"].as_u64().unwrap() + 20;
        let mut guard = Guard::new(desk.guard.config.clone(), last);
        checkpoint.iter().for_each(|record| guard.restore_checkpoint_json(record));
        sent.iter().filter(|_| !has_checkpoint).for_each(|event| guard.restore_json(event));
        (desk.guard, desk.now) = (guard, desk.now + 1_000);
        desk.guard.start(desk.now);
        desk.step(Input::Universe(universe()));
        desk.step(Input::ActsFor(None));
        desk.read();
        desk.now += 600;
        desk.positions.insert("ETH", dec!(0.8));
        desk.orders.retain(|order| order.oid != 7);
        let effects = filled_at(&mut desk, dec!(1990));
        assert_eq!(first_trigger(&effects), Some("1980".to_owned()), "{has_checkpoint}");
    }
}

/// The price falls through both before anything is read: neither has the stop of the other.
#[test]
fn what_filled_together_goes_part_by_part_by_its_own_stops() {
    for (mark, closes, trigger_px) in [(dec!(1985), None, "1980"), (dec!(1958), Some("0.8"), "1918.9")] {
        for is_sent in [true, false] {
            let mut desk = desk();
            rest_without_children(&mut desk, is_sent, 2);
            desk.now += 600;
            desk.mids.insert("ETH".into(), mark);
            desk.read_mids(desk.now);
            desk.positions.insert("ETH", dec!(1.4));
            desk.orders.clear();
            let effects = filled_at(&mut desk, dec!(1977.1));
            let closed = effects.iter().flat_map(super::covering_line::closes).next();
            assert_eq!(closed, closes.map(|size| json!(size)), "{mark} {is_sent}");
            assert_eq!(first_trigger(&effects).as_deref(), Some(trigger_px), "{mark} {is_sent}");
        }
    }
}

/// A stop that a client has left there, within the rules but farther away, is no cover of what was judged with a nearer one.
#[test]
fn no_stop_that_is_farther_than_the_one_that_was_judged_covers_what_filled() {
    for (left_px, sends) in [("1979.9", true), ("1980", false)] {
        let mut desk = desk();
        rest_without_children(&mut desk, true, 2);
        desk.now += 600;
        desk.positions.insert("ETH", dec!(0.8));
        desk.orders.retain(|order| order.oid != 7);
        desk.orders.push(open_stop("ETH", "A", left_px, "0.8", 30));
        let effects = filled_at(&mut desk, dec!(1990));
        assert_eq!(first_trigger(&effects), sends.then(|| "1980".to_owned()), "{left_px}");
    }
}

/// What comes of reads that show a position entered at this price.
fn filled_at(desk: &mut Desk, px: Decimal) -> Vec<Effects> {
    let mut effects = vec![entered(desk, px)];
    for _ in 0..3 {
        desk.now += 600;
        effects.extend([desk.read_orders(desk.now), entered(desk, px)]);
    }
    effects
}

/// Reads the account with its position entered at this price.
fn entered(desk: &mut Desk, px: Decimal) -> Effects {
    let (mut state, equity, begun_ms) = (desk.state(desk.now), desk.equity, desk.now);
    state.asset_positions.iter_mut().for_each(|element| element.position.entry_px = Some(px));
    desk.step(Input::Account { state, equity, begun_ms })
}

/// Where the guard's first stop among these goes.
fn first_trigger(effects: &[Effects]) -> Option<String> {
    let sent =
        effects.iter().flat_map(sends).flat_map(|send| send.action["orders"].as_array().cloned().unwrap_or_default());
    let mut triggers = sent.filter_map(|order| Some(order["t"]["trigger"]["triggerPx"].as_str()?.to_owned()));
    triggers.next()
}
