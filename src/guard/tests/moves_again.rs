//! Moves of a position whose cause is found out late: by an answer that says who did not, by a price that is read after the orders, or by
//! what an answer says is over. Until then an order that closes what is held would be taken for an entry, or the other way round.

use rust_decimal::dec;
use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::Mode;
use crate::venue::info::OpenOrder;

const NOT_THERE: &str = "Order was never placed, already canceled, or filled.";

fn desk() -> Desk {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.now += 10;
    desk
}

fn ioc(order: Value) -> Value {
    with(order, "/t/limit/tif", json!("Ioc"))
}

/// Whether this order, which is not marked, goes as the close of all that is held.
fn is_close(desk: &mut Desk, order: Value) -> bool {
    let decided = desk.order(ioc(order));
    decided.sent_order(0)["r"] == true && decided.sent_order(0)["s"] == "1"
}

fn answered(desk: &mut Desk, seq: u64, status: Value) {
    desk.now += 10;
    desk.answer(seq, 0, statuses(json!([status])));
}

/// Two sales are on their way as a read shows one: the first is refused, so it was the second. What was sent after that read began
/// was neither.
#[test]
fn a_move_is_put_down_to_another_order_once_the_first_was_refused() {
    for (is_sent_before, is_refused_first) in [(true, true), (true, false), (false, true), (false, false)] {
        let mut desk = desk();
        desk.hold("ETH", dec!(1));
        let first = desk.order(close(ETH, false, "1990", "1")).seq();
        let begun_ms = desk.now + 1;
        desk.now = begun_ms + u64::from(!is_sent_before);
        let second = is_sent_before.then(|| desk.order(ioc(sell(ETH, "1990", "1"))).seq());
        desk.positions.clear();
        desk.read_account(begun_ms);
        let second = second.unwrap_or_else(|| desk.order(ioc(sell(ETH, "1990", "1"))).seq());
        let refused = json!({"error": "Reduce only order would increase position."});
        let filled = json!({"filled": {"totalSz": "1", "avgPx": "2000", "oid": 9}});
        let answers = [(first, refused), (second, filled)];
        let order = if is_refused_first { [0, 1] } else { [1, 0] };
        order.into_iter().for_each(|place| answered(&mut desk, answers[place].0, answers[place].1.clone()));
        let is_short = is_close(&mut desk, buy(ETH, "2000", "1"));
        assert_eq!(is_short, !is_sent_before, "{is_sent_before} {is_refused_first}");
    }
}

/// A sale and a purchase that undo each other between two reads, of which the second answers after that: nothing is left of either.
#[test]
fn a_fill_that_was_told_of_late_explains_one_that_no_read_has_shown() {
    for (size, is_over) in [("1", true), ("2", false)] {
        let mut desk = desk();
        desk.hold("ETH", dec!(1));
        let sale = desk.order(close(ETH, false, "1990", "1")).seq();
        let purchase = desk.order(ioc(buy(ETH, "2000", "3"))).seq();
        answered(&mut desk, sale, json!({"filled": {"totalSz": "1", "avgPx": "2000", "oid": 8}}));
        desk.now += 10;
        desk.read_account(desk.now);
        answered(&mut desk, purchase, json!({"filled": {"totalSz": size, "avgPx": "2000", "oid": 9}}));
        desk.now += 10;
        desk.read_account(desk.now);
        let is_close = desk.order(ioc(sell(ETH, "1990", "2"))).sent_order(0)["r"] == true;
        assert_eq!(is_close, !is_over, "{size}");
    }
}

/// The stop of an entry fires at once, and leaves the open orders before a price tells that it did.
#[test]
fn a_trigger_that_left_the_open_orders_explains_a_fill_that_no_read_shows() {
    for (mid, pause_ms, is_over) in
        [(dec!(1960), 0, true), (dec!(1960.1), 0, false), (dec!(1960), 3_000, true), (dec!(1960), 5_000, false)]
    {
        let mut desk = desk();
        let entry = desk.order(ioc(buy(ETH, "2000", "1")));
        let filled = json!({"filled": {"totalSz": "1", "avgPx": "2000", "oid": 7}});
        desk.now += 10;
        desk.answer(entry.seq(), 0, statuses(json!([filled, "waitingForTrigger"])));
        desk.now += 10;
        desk.read_account(desk.now);
        desk.read_orders(desk.now);
        desk.now += pause_ms;
        desk.read_orders(desk.now);
        desk.mids.insert("ETH".into(), mid);
        desk.read_mids(desk.now);
        let time = desk.now - pause_ms;
        let state = desk.state(time);
        desk.step(crate::guard::Input::Account { state, equity: dec!(10000), begun_ms: desk.now });
        assert_eq!(!is_close(&mut desk, sell(ETH, "1950", "1")), is_over, "{mid} {pause_ms}");
    }
}

/// The only order that is known to have had the id is what a modify by it replaced.
#[test]
fn an_exit_that_was_replaced_by_its_client_order_id_closes_nothing_any_more() {
    let exit = |oid: u64| {
        let id = cloid(5).as_str().unwrap().parse().unwrap();
        OpenOrder { cloid: Some(id), reduce_only: true, ..open("ETH", "A", "2010", "1", oid) }
    };
    for (known, is_over) in [(vec![exit(7)], true), (vec![exit(6), exit(7)], false)] {
        let mut desk = desk();
        desk.hold("ETH", dec!(1));
        desk.show(known);
        let order = with(stop(ETH, false, "1980", "1"), "/c", cloid(5));
        let decided = desk.ask(json!({"type": "modify", "oid": cloid(5), "order": order}));
        answered(&mut desk, decided.seq(), json!({"resting": {"oid": 8}}));
        desk.now += 10;
        desk.read_account(desk.now);
        desk.now += 10;
        desk.show(vec![open_stop("ETH", "A", "1980", "1", 8)]);
        assert_eq!(is_close(&mut desk, sell(ETH, "1990", "1")), is_over);
    }
}

/// Whatever the venue says that it does not hold any more is over by then.
#[test]
fn an_exit_that_the_venue_does_not_hold_any_more_closes_nothing() {
    for (text, is_over) in [(NOT_THERE, true), ("no", false)] {
        let mut desk = desk();
        desk.hold("ETH", dec!(1));
        let exit = with(sell(ETH, "2010", "1"), "/r", json!(true));
        let placed = desk.order(exit).seq();
        answered(&mut desk, placed, json!({"resting": {"oid": 7}}));
        let cancelled = desk.ask(json!({"type": "cancel", "cancels": [{"a": ETH, "o": 7}]})).seq();
        answered(&mut desk, cancelled, json!({"error": text}));
        desk.now += 10;
        desk.read_account(desk.now);
        assert_eq!(is_close(&mut desk, sell(ETH, "1990", "1")), is_over, "{text}");
    }
}

/// Fills to and fro of which a part was undone by a stop of somebody else's: what is left of them in the guard's own sum is not held by
/// a read of after all answers, by both clocks, and what closes just that goes as a close.
#[test]
fn what_is_read_after_all_answers_is_closed_as_it_was_read() {
    for (early_ms, is_after) in [(0, true), (1, false)] {
        let mut desk = desk();
        let filled = |size: &str, oid: u64| json!({"filled": {"totalSz": size, "avgPx": "2000", "oid": oid}});
        let short = desk.order(ioc(sell(ETH, "1990", "0.4"))).seq();
        answered(&mut desk, short, filled("0.4", 8));
        let long = desk.order(ioc(buy(ETH, "2010", "1.4")));
        let count = long.actions().len();
        let long = long.seq();
        for index in 0..count {
            desk.now += 10;
            desk.answer(long, index, statuses(json!([filled("1", 9)])));
        }
        desk.positions.insert("ETH", dec!(0.9));
        desk.read_account(desk.now - early_ms);
        desk.now += 10;
        let decided = desk.order(ioc(sell(ETH, "1990", "0.9")));
        assert_eq!(decided.sent_order(0)["r"] == true, is_after, "{early_ms}");
    }
}
