//! Cover is kept whatever lags: a line after a close that came to nothing, stops that no read has shown, and positions that
//! are larger than the last read says.

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::covering_line::{client_stop, closes, desk, stops};
use super::fixture::*;
use crate::guard::{Effects, Guard, Input, Mode};
use crate::rules::Rules;
use crate::venue::info::OpenOrder;

const NO_MATCH: &str = "Order could not immediately match against any resting orders.";

fn own(px: &str, size: &str, oid: u64) -> OpenOrder {
    let cloid = format!("0x737663677264010000000000000000{oid:02x}");
    OpenOrder { cloid: Some(cloid.parse().unwrap()), ..open_stop("ETH", "A", px, size, oid) }
}

fn decision(effects: &Effects) -> Option<Value> {
    events(effects).into_iter().find(|event| event["kind"] == "decision")
}

fn cancel(oid: u64) -> Value {
    json!({"type": "cancel", "cancels": [{"a": ETH, "o": oid}]})
}

fn group(entry: Value, child: Value) -> Value {
    json!({"type": "order", "orders": [entry, child], "grouping": "normalTpsl"})
}

/// Answers each send of these effects.
fn answer_all(desk: &mut Desk, effects: &Effects, mut reply: impl FnMut(&Value) -> Value) {
    for send in sends(effects) {
        let status = reply(&json_of(&send.action));
        desk.answer(send.intent, send.index, statuses(json!([status])));
    }
}

fn lines(desk: &Desk) -> Vec<(Decimal, Decimal)> {
    desk.guard.lines.get(ETH).unwrap().covered_parts().iter().map(|part| (part.px, part.size)).collect()
}

#[test]
fn a_refused_close_keeps_the_line_and_a_stop_waits_beside_the_next_one() {
    let (mut desk, _) = desk(Rules::default(), dec!(1), vec![client_stop("1980", "1")]);
    desk.orders.clear();
    desk.mids.insert("ETH".into(), dec!(1970));
    desk.wait(1_000);
    desk.now += 500;
    let mut effects = desk.read_account(desk.now);
    assert_eq!((closes(&effects), stops(&effects).len()), (vec![json!("1")], 0));
    let mut limits = Vec::new();
    for (round, waits) in [(0, 1), (1, 0)] {
        desk.now += 10;
        answer_all(&mut desk, &effects, |action| match &action["orders"][0]["t"]["limit"] {
            Value::Null => json!({"resting": {"oid": 9}}),
            _ => {
                limits.push(action["orders"][0]["p"].clone());
                json!({"error": NO_MATCH})
            }
        });
        desk.now += 1_100;
        desk.read_mids(desk.now);
        desk.read_account(desk.now);
        effects = desk.read_orders(desk.now);
        assert_eq!(closes(&effects), [json!("1")], "round {round}");
        assert_eq!(stops(&effects).len(), waits, "one stop waits: round {round}");
        assert_eq!(lines(&desk), [(dec!(1980), dec!(1))], "round {round}");
        if round == 0 {
            assert_eq!(stops(&effects), [("1930.6".to_owned(), "1".to_owned())]);
            desk.orders = vec![own("1930.6", "1", 9)];
        }
    }
    assert_ne!(limits[0], limits[1], "each close goes further");
    // What is closed is gone from the line.
    answer_all(&mut desk, &effects, |_| json!({"filled": {"totalSz": "0.4", "avgPx": "1970", "oid": 10}}));
    assert_eq!(lines(&desk), [(dec!(1980), dec!(0.6))]);
    // The stop that waits covers nothing of what is closed and not read yet: what is held keeps its line.
    desk.now += 10;
    desk.read_orders(desk.now);
    assert_eq!(lines(&desk), [(dec!(1980), dec!(0.6))]);
    desk.now += 10;
    desk.hold("ETH", dec!(0.6));
    desk.read_account(desk.now);
    assert_eq!(lines(&desk), [(dec!(1980), dec!(0.6))]);
    desk.now += 1_100;
    let told = [desk.read_account(desk.now), desk.read_orders(desk.now)];
    assert_eq!(told.iter().flat_map(closes).collect::<Vec<_>>(), [json!("0.6")], "it is closed as long as it takes");
}

#[test]
fn what_the_nearest_stops_leave_of_the_loss_is_the_next_ones() {
    // 4.95 * 40 and 0.01 * 95 are within 200, and 4.96 at 1905 would not be.
    for (far, is_cover) in [("1905", true), ("1899", false)] {
        let orders = vec![open_stop("ETH", "A", "1960", "4.95", 7), open_stop("ETH", "A", far, "0.01", 8)];
        let (_, effects) = desk(Rules::default(), dec!(4.96), orders);
        assert_eq!(stops(&effects).is_empty(), is_cover, "{far}");
    }
}

#[test]
fn a_stop_on_the_wrong_side_frees_none_of_the_guards() {
    let (mut desk, _) = desk(Rules::default(), dec!(1), vec![own("1960", "1", 1)]);
    for (px, is_freed) in [("1999.9", true), ("2000", false), ("2010", false)] {
        let decided = desk.order(stop(ETH, false, px, "1"));
        assert_eq!(!decided.event["post"].as_array().unwrap().is_empty(), is_freed, "{px}");
        desk.answer(decided.seq(), 0, statuses(json!([{"error": "Invalid TP/SL price."}])));
    }
}

#[test]
fn a_stop_for_a_fill_that_is_not_read_yet_becomes_nothing_else() {
    let (mut desk, _) = desk(wide(), dec!(1), vec![own("1990", "1", 1)]);
    let entry = with(buy(ETH, "2000", "1"), "/t/limit/tif", json!("Ioc"));
    let decided = desk.orders(vec![entry, stop(ETH, false, "1960", "1")]);
    let filled = json!([{"filled": {"totalSz": "1", "avgPx": "2000", "oid": 8}}, {"resting": {"oid": 9}}]);
    desk.answer(decided.seq(), 0, statuses(filled));
    desk.ask(modify(9, close(ETH, false, "2010", "1"))).vetoed("stop_loosened");
}

#[test]
fn while_a_position_is_bare_what_is_too_far_stands_in() {
    let (mut desk, _) = desk(Rules::default(), dec!(1), vec![open_stop("ETH", "A", "1880", "1", 7)]);
    // The guard's own is on its way, and comes to nothing.
    let told = events(&desk.read_orders(desk.now + 1));
    assert!(told.is_empty(), "{told:?}");
    let seq = desk.guard.seq;
    desk.answer(seq, 0, statuses(json!([{"error": "Invalid TP/SL price."}])));
    desk.ask(modify(7, close(ETH, false, "2010", "1"))).vetoed("stop_loosened");
    let decided = desk.ask(cancel(7));
    let pre = &decided.event["pre"][0]["orders"][0];
    assert_eq!((&pre["s"], &pre["t"]["trigger"]["triggerPx"]), (&json!("1"), &json!("1960")), "{}", decided.event);
}

#[test]
fn a_cancel_by_client_order_id_waits_for_the_child_that_it_names() {
    let by_cloid = |number: u8| json!({"type": "cancelByCloid", "cancels": [{"asset": SOL, "cloid": cloid(number)}]});
    let mut desk = Desk::new(Mode::Testnet, wide());
    let child = with(stop(ETH, false, "1970", "1"), "/c", cloid(5));
    let decided = desk.ask(group(with(buy(ETH, "2000", "1"), "/t/limit/tif", json!("Ioc")), child));
    let filled = json!([{"filled": {"totalSz": "1", "avgPx": "2000", "oid": 8}}, "waitingForTrigger"]);
    desk.answer(decided.seq(), 0, statuses(filled));
    desk.ask(by_cloid(6)).reduces();
    assert!(decision(&desk.post(by_cloid(5))).is_none());
    let stop = OpenOrder { cloid: Some(cloid(5).as_str().unwrap().parse().unwrap()), ..client_stop("1970", "1") };
    desk.now += 10;
    desk.orders = vec![stop];
    let decided = decision(&desk.read_orders(desk.now)).unwrap();
    assert_eq!(decided["pre"][0]["orders"][0]["t"]["trigger"]["triggerPx"], "1970", "{decided}");
}

/// The account may lag behind the open orders: an entry that they do not show any more may have filled.
#[test]
fn an_entry_that_the_open_orders_miss_counts_when_its_stop_is_cancelled() {
    for is_missed in [false, true] {
        let mut desk = Desk::new(Mode::Testnet, wide());
        let decided = desk.ask(group(buy(ETH, "1990", "1"), stop(ETH, false, "1960", "1")));
        let resting = json!([{"resting": {"oid": 6}}, "waitingForFill"]);
        desk.now += 10;
        desk.answer(decided.seq(), 0, statuses(resting));
        desk.now += 10;
        let mut orders = vec![client_stop("1960", "1")];
        orders.extend((!is_missed).then(|| open("ETH", "B", "1990", "1", 6)));
        desk.show(orders);
        let pre = desk.ask(cancel(7)).event["pre"].clone();
        assert_eq!(pre.pointer("/0/orders/0/s"), is_missed.then(|| json!("1")).as_ref());
    }
}

/// The venue said that it is gone, whatever an older picture of the open orders shows.
#[test]
fn a_stop_that_was_cancelled_frees_no_own_one_by_a_read_that_lags() {
    let (mut desk, _) = desk(Rules::default(), dec!(1), vec![client_stop("1980", "1")]);
    let seq = desk.ask(cancel(7)).seq();
    desk.answer(seq, 0, statuses(json!([{"resting": {"oid": 8}}])));
    desk.answer(seq, 1, json!({"status": "ok", "response": {"type": "cancel", "data": {"statuses": ["success"]}}}));
    desk.orders = vec![client_stop("1980", "1"), own("1980", "1", 8)];
    for _ in 0..3 {
        desk.now += 1_000;
        desk.read_mids(desk.now);
        desk.read_account(desk.now);
        assert!(sends(&desk.read_orders(desk.now)).is_empty());
    }
}

#[test]
fn an_exit_that_the_open_orders_miss_takes_no_close_from_the_position() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.hold("ETH", dec!(1));
    let rests = with(close(ETH, false, "2100", "1"), "/t/limit/tif", json!("Gtc"));
    let seq = desk.order(rests).seq();
    desk.answer(seq, 0, statuses(json!([{"resting": {"oid": 6}}])));
    desk.now += 10;
    desk.read_orders(desk.now);
    desk.read_account(desk.now);
    assert_eq!(desk.order(sell(ETH, "2000", "1")).sent_order(0)["r"], true);
}

/// Sold 25 that rested and bought 1: the account shows 24, and nothing is on its way any more.
#[test]
fn fills_in_both_directions_are_told_apart_by_what_rested() {
    for (held, unshown) in [(dec!(-0.96), dec!(0)), (dec!(-0.95), dec!(0.04))] {
        let mut desk = Desk::new(Mode::Testnet, wide());
        desk.show(vec![open("ETH", "A", "2010", "1", 6)]);
        let seq = desk.order(with(buy(ETH, "2000", "0.04"), "/t/limit/tif", json!("Ioc"))).seq();
        let filled = json!([{"filled": {"totalSz": "0.04", "avgPx": "2000", "oid": 8}}, "waitingForTrigger"]);
        desk.answer(seq, 0, statuses(filled));
        desk.now += 100;
        desk.orders.clear();
        desk.mids.insert("ETH".into(), dec!(2010));
        desk.read_mids(desk.now);
        desk.hold("ETH", held);
        desk.read_orders(desk.now);
        desk.now += 10;
        desk.read_account(desk.now);
        let Guard { sent, view, .. } = &desk.guard;
        assert_eq!(sent.told(view, ETH, held), unshown, "{held}");
        // It was read since all was answered: what closes as much as it shows is a close, whatever seems to be missing.
        let size = (-held).to_string();
        let decided = desk.order(buy(ETH, "2010", &size));
        assert!(decided.sent_order(0)["r"] == true && decided.sent_order(0)["s"] == size, "{held}");
    }
}

/// A client's stop for all that is held lets the guard's own go. What an entry that rested has added by the time of its answer it
/// does not cover.
#[test]
fn the_guards_stop_stays_where_the_position_has_grown_meanwhile() {
    for (held, goes) in [(dec!(1), true), (dec!(1.0001), false)] {
        let rests = open("ETH", "B", "1990", "1", 6);
        let (mut desk, _) = desk(wide(), dec!(1), vec![own("1960", "2", 5), rests]);
        let decided = desk.order(stop(ETH, false, "1970", "1"));
        assert!(decided.actions().iter().any(|action| action["type"] == "cancel"), "{}", decided.event);
        desk.now += 100;
        desk.hold("ETH", held);
        let effects = desk.answer(decided.seq(), 0, statuses(json!([{"resting": {"oid": 7}}])));
        let is_cancelled = sends(&effects).iter().any(|send| json_of(&send.action)["type"] == "cancel");
        assert_eq!(is_cancelled, goes, "{held}");
    }
}

/// Nobody remembers what filled before the start: an account of a time before it may lack that.
#[test]
fn an_account_of_before_the_start_opens_nothing_and_takes_no_cover_away() {
    for (venue_ms, begun_ms, is_old) in
        [(NOW - 1, NOW, true), (NOW, NOW, false), (NOW - 1, NOW + 9_999, true), (NOW - 1, NOW + 10_000, false)]
    {
        let mut desk = Desk::blank(config(Mode::Testnet, wide()));
        desk.now = begun_ms;
        desk.show(vec![own("1960", "1", 1)]);
        desk.read_mids(begun_ms);
        let (state, equity) = (desk.state(venue_ms), desk.equity);
        let effects = desk.step(Input::Account { state, equity, begun_ms });
        let is_cancelled = sends(&effects).iter().any(|send| json_of(&send.action)["type"] == "cancel");
        let told = desk.post(place(vec![buy(ETH, "2000", "0.1")]));
        let is_starting = decision(&told).is_some_and(|event| event["code"] == "starting");
        assert_eq!((is_starting, is_cancelled), (is_old, !is_old && venue_ms >= NOW), "{venue_ms} {begun_ms}");
        // What reduces passes: it may well find something.
        assert_eq!(
            decision(&desk.post(place(vec![close(SOL, true, "100", "1")]))).unwrap()["verdict"] == "allow",
            is_old
        );
    }
}

/// Its cancel was in doubt while more was bought: once it surely stays, it covers that more tightly than the others.
#[test]
fn a_stop_that_was_not_cancelled_after_all_is_spare_only_where_nothing_gets_looser() {
    for (far, is_spare) in [("1970", true), ("1969.9", false)] {
        let (mut desk, effects) = desk(wide(), dec!(1), vec![own("1970", "1", 5), client_stop("1970", "1")]);
        let cancel = sends(&effects).into_iter().map(|send| (send.intent, send.index)).next();
        let (intent, index) = cancel.unwrap_or_else(|| {
            desk.now += 10;
            let effects = desk.step(Input::Tick);
            sends(&effects).into_iter().map(|send| (send.intent, send.index)).next().unwrap()
        });
        let outcome = crate::guard::SendOutcome::NoAnswer("lost".to_owned());
        desk.step(Input::Sent { intent, index, outcome });
        let burn = desk.step(Input::Tick);
        let burn = sends(&burn).first().map(|send| send.intent).unwrap();
        desk.positions.insert("ETH", dec!(1.5));
        desk.orders.push(open_stop("ETH", "A", far, "0.5", 8));
        desk.wait(10);
        let effects = desk.answer(burn, 0, json!({"status": "ok", "response": {"type": "default"}}));
        desk.now += 1_000;
        let later = desk.step(Input::Tick);
        let goes =
            sends(&effects).into_iter().chain(sends(&later)).any(|send| json_of(&send.action)["type"] == "cancel");
        assert_eq!(goes, is_spare, "{far}");
    }
}
