//! Cancels pass, but a position never loses its cover by them.

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::fixture::*;
use crate::base::address::Cloid;
use crate::guard::Mode;
use crate::venue::info::OpenOrder;

fn held(szi: Decimal, orders: Vec<OpenOrder>) -> Desk {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.hold("ETH", szi);
    desk.show(orders);
    desk
}

pub(super) fn cancel(oids: &[u64]) -> Value {
    let cancels: Vec<_> = oids.iter().map(|oid| json!({"a": ETH, "o": oid})).collect();
    json!({"type": "cancel", "cancels": cancels})
}

fn cancel_by(id: &Value) -> Value {
    json!({"type": "cancelByCloid", "cancels": [{"asset": ETH, "cloid": id}]})
}

fn guards(mut order: OpenOrder) -> OpenOrder {
    order.cloid = Some("0x73766367726401000000000000000001".parse::<Cloid>().unwrap());
    order
}

/// Trigger and size of the stops that go first.
pub(super) fn first(decided: &Decided) -> Vec<(Value, Value, Value)> {
    let pre = decided.event["pre"].as_array().unwrap().iter();
    pre.map(|action| &action["orders"][0])
        .map(|order| (order["b"].clone(), order["t"]["trigger"]["triggerPx"].clone(), order["s"].clone()))
        .collect()
}

#[test]
fn entries_and_what_covers_nothing_are_cancelled_as_asked() {
    let mut take_profit = open_stop("ETH", "A", "2100", "1", 3);
    take_profit.order_type = "Take Profit Market".into();
    let other_side = open_stop("ETH", "B", "2100", "1", 4);
    let orders = vec![open("ETH", "B", "1900", "1", 1), open_stop("ETH", "A", "1950", "1", 2), take_profit, other_side];
    held(dec!(1), orders.clone()).ask(cancel(&[1, 3, 4])).reduces();
    held(dec!(0), orders).ask(cancel(&[1, 2, 3, 4, 999])).reduces();
}

#[test]
fn the_last_cover_is_replaced_before_it_goes() {
    for (szi, side, trigger_px) in [(dec!(1), "A", "1950"), (dec!(-1), "B", "2050")] {
        let mut desk = held(szi, vec![open_stop("ETH", side, trigger_px, "1", 2)]);
        let decided = desk.ask(cancel(&[2]));
        assert_eq!(first(decided.resized()), [(json!(side == "B"), json!(trigger_px), json!("1"))]);
        assert_eq!(decided.forward(), &cancel(&[2]));
        decided.says(&["1 of ETH", trigger_px]);
        let stop = &decided.event["pre"][0]["orders"][0];
        assert!(stop["c"].as_str().unwrap().starts_with("0x73766367726401"));
    }
}

#[test]
fn so_it_is_when_named_by_client_order_id() {
    let mut stop = open_stop("ETH", "A", "1950", "1", 2);
    stop.cloid = serde_json::from_value(cloid(1)).unwrap();
    assert_eq!(first(held(dec!(1), vec![stop.clone()]).ask(cancel_by(&cloid(1))).resized()).len(), 1);
    // The entry and its stop may carry the same id: the older one is meant, and by its order id nothing else can go.
    for (entry_oid, gone, stops) in [(3, 2, 1), (1, 1, 0)] {
        let mut entry = open("ETH", "B", "1900", "1", entry_oid);
        entry.cloid = stop.cloid;
        let decided = held(dec!(1), vec![entry, stop.clone()]).ask(cancel_by(&cloid(1)));
        assert_eq!(first(decided.resized()).len(), stops);
        assert_eq!(decided.forward()["cancels"], json!([{"a": ETH, "o": gone}]));
    }
}

#[test]
fn only_what_would_be_missing_is_replaced() {
    let orders = vec![open_stop("ETH", "A", "1950", "1", 2), open_stop("ETH", "A", "1940", "0.7", 3)];
    assert_eq!(first(held(dec!(1), orders.clone()).ask(cancel(&[3])).reduces()), []);
    // Only one at least as tight stands in for it.
    for (left, missing) in [("1950", "0.3"), ("1949.9", "1"), ("1960", "0.3")] {
        let orders = vec![open_stop("ETH", "A", "1950", "1", 2), open_stop("ETH", "A", left, "0.7", 3)];
        let decided = held(dec!(1), orders).ask(cancel(&[2]));
        assert_eq!(first(&decided), [(json!(false), json!("1950"), json!(missing))], "{left}");
    }
    // Both go: the nearer of them covers first.
    let decided = held(dec!(1.5), orders).ask(cancel(&[3, 2]));
    let wanted = [(json!(false), json!("1950"), json!("1")), (json!(false), json!("1940"), json!("0.5"))];
    assert_eq!(first(&decided), wanted);
}

#[test]
fn a_whole_position_stop_is_replaced_by_the_positions_size() {
    let mut whole = open_stop("ETH", "A", "1950", "0", 2);
    whole.is_position_tpsl = true;
    let decided = held(dec!(1.2), vec![whole]).ask(cancel(&[2]));
    assert_eq!(first(&decided), [(json!(false), json!("1950"), json!("1.2"))]);
}

#[test]
fn two_cancels_in_a_row_leave_no_position_bare() {
    // The second comes before any read shows that the first took its stop away.
    let orders = vec![open_stop("ETH", "A", "1950", "1", 2), open_stop("ETH", "A", "1940", "1", 3)];
    let mut desk = held(dec!(1), orders);
    let one = desk.ask(cancel(&[3]));
    one.reduces();
    assert_eq!(first(&desk.ask(cancel(&[2]))).len(), 1);
    // A refused cancel took nothing away, and neither did one that a later read disproves.
    desk.answer(one.seq(), 0, statuses(json!([{"error": "never placed"}])));
    desk.now += 1;
    desk.read();
    let orders = vec![open_stop("ETH", "A", "1950", "1", 4), open_stop("ETH", "A", "1950", "1", 3)];
    desk.show(orders);
    desk.ask(cancel(&[4])).reduces();
}

#[test]
fn guard_order_is_not_cancelled_by_clients() {
    let own = guards(open_stop("ETH", "A", "1950", "1", 2));
    let id = json!(own.cloid.unwrap());
    let mut desk = held(dec!(1), vec![own, open("ETH", "B", "1900", "1", 1)]);
    desk.ask(cancel(&[2])).vetoed("guard_order");
    desk.ask(cancel_by(&id)).vetoed("guard_order");
    desk.ask(cancel(&[1])).reduces();
    // Also before any read shows it.
    Desk::live().ask(cancel_by(&id)).vetoed("guard_order");
}

#[test]
fn who_cancels_everything_is_not_held_up_by_the_guards_own_stop() {
    let own = guards(open_stop("ETH", "A", "1950", "1", 2));
    let orders = || vec![open("ETH", "B", "1900", "1", 1), own.clone(), open("ETH", "B", "1890", "1", 3)];
    let left_out = |status: &Value| status["error"].as_str().is_some_and(|text| text.contains("the guard's own"));
    let mut desk = held(dec!(1), orders());
    let decided = desk.ask(cancel(&[1, 2, 3]));
    decided.resized().says(&["1 of 3 cancels left out"]);
    assert_eq!(decided.event["forward"]["cancels"], json!([{"a": ETH, "o": 1}, {"a": ETH, "o": 3}]));
    let gone = "Order was never placed, already canceled, or filled.";
    let effects = desk.answer(decided.seq(), 0, statuses(json!([{"error": gone}, "success"])));
    let told = answers(&effects)[0]["response"]["data"]["statuses"].clone();
    assert_eq!((&told[0], &told[2]), (&json!({"error": gone}), &json!("success")));
    assert!(left_out(&told[1]), "{told}");
    // Paper answers alike.
    let mut desk = Desk::paper();
    desk.show(orders());
    let effects = desk.post(cancel(&[1, 2, 3]));
    let told = answers(&effects)[0]["response"]["data"]["statuses"].clone();
    assert_eq!((&told[0], &told[2]), (&json!("success"), &json!("success")));
    assert!(left_out(&told[1]), "{told}");
}

#[test]
fn what_is_left_out_keeps_its_place_when_a_stop_that_goes_first_is_refused() {
    let own = guards(open_stop("ETH", "A", "1950", "0.5", 2));
    let orders = vec![own, open_stop("ETH", "A", "1960", "0.5", 1), open("ETH", "B", "1900", "1", 3)];
    let mut desk = held(dec!(1), orders);
    let decided = desk.ask(cancel(&[2, 1, 3]));
    assert_eq!(first(&decided).len(), 1);
    let effects = desk.answer(decided.seq(), 0, json!({"status": "err", "response": "no"}));
    let again = sends(&effects)[0].intent;
    let effects = desk.answer(again, 0, statuses(json!(["success"])));
    let told = answers(&effects)[0]["response"]["data"]["statuses"].clone();
    assert!(told[0]["error"].as_str().unwrap().contains("the guard's own"), "{told}");
    assert!(told[1]["error"].as_str().unwrap().contains("had to go first"), "{told}");
    assert_eq!(told[2], "success");
}

#[test]
fn a_client_stop_at_least_as_tight_lets_the_guards_own_go() {
    let own = || vec![guards(open_stop("ETH", "A", "1950", "1", 2))];
    for (trigger_px, size, goes) in
        [("1950", "1", true), ("1949.9", "1", false), ("1960", "1", true), ("1960", "0.9", false)]
    {
        let decided = held(dec!(1), own()).order(stop(ETH, false, trigger_px, size));
        let post = if goes { json!([cancel(&[2])]) } else { json!([]) };
        assert_eq!(decided.reduces().event["post"], post, "{trigger_px} for {size}");
    }
    let whole = json!({"type": "order", "orders": [stop(ETH, false, "1950", "0")], "grouping": "positionTpsl"});
    assert_eq!(held(dec!(1), own()).ask(whole).event["post"], json!([cancel(&[2])]));
    let stop_limit = with(stop(ETH, false, "1960", "1"), "/t/trigger/isMarket", json!(false));
    assert_eq!(held(dec!(1), own()).order(stop_limit).event["post"], json!([]));
}

/// A cancel by client order id takes what carries the id when it arrives: also what a modify is just putting there.
#[test]
fn the_guards_stop_stays_while_a_cancel_may_take_the_clients() {
    let clients = |oid: u64| {
        let mut order = open_stop("ETH", "A", "1965", "1", oid);
        order.cloid = serde_json::from_value(cloid(1)).unwrap();
        order
    };
    let mut desk = held(dec!(1), vec![guards(open_stop("ETH", "A", "1960", "1", 2)), clients(3)]);
    let move_it = json!({"type": "modify", "oid": 3, "order": with(stop(ETH, false, "1970", "1"), "/c", cloid(1))});
    desk.ask(move_it).reduces();
    // The guard's is farther than the one that may go, so another goes first.
    assert_eq!(first(desk.ask(cancel_by(&cloid(1))).resized()), [(json!(false), json!("1965"), json!("1"))]);
    desk.now += 1_000;
    desk.orders = vec![guards(open_stop("ETH", "A", "1960", "1", 2)), clients(4)];
    for _ in 0..3 {
        desk.now += 1_000;
        let effects = [desk.read_account(desk.now), desk.read_orders(desk.now)];
        assert!(effects.iter().all(|effects| sends(effects).is_empty()), "{effects:?}");
    }
}

fn tighter() -> Value {
    place(vec![with(stop(ETH, false, "1970", "1"), "/c", cloid(1))])
}

#[test]
fn the_guards_stop_is_not_released_for_one_that_is_being_cancelled() {
    let mut desk = held(dec!(1), vec![guards(open_stop("ETH", "A", "1960", "1", 2))]);
    assert_eq!(desk.ask(tighter()).reduces().event["post"][0]["type"], "cancel");
    let mut desk = held(dec!(1), vec![guards(open_stop("ETH", "A", "1960", "1", 2))]);
    desk.ask(cancel_by(&cloid(1))).reduces();
    assert_eq!(desk.ask(tighter()).reduces().event["post"], json!([]));
}

/// An answer that comes late tells of what was: by a read that began meanwhile the client's stop has fired.
#[test]
fn a_release_does_not_follow_where_a_read_has_missed_the_clients_stop() {
    for (begun_later, goes) in [(None, true), (Some(false), true), (Some(true), false)] {
        let mut desk = held(dec!(1), vec![guards(open_stop("ETH", "A", "1960", "1", 2))]);
        desk.now += 10;
        let (asked_ms, seq) = (desk.now, desk.ask(tighter()).seq());
        desk.now += 1_000;
        begun_later
            .into_iter()
            .for_each(|is_later| _ = desk.read_orders(if is_later { asked_ms } else { asked_ms - 1 }));
        let effects = desk.answer(seq, 0, statuses(json!([{"resting": {"oid": 9}}])));
        assert_eq!(sends(&effects).len(), usize::from(goes), "{begun_later:?}");
    }
}

#[test]
fn a_release_does_not_follow_once_the_clients_stop_is_being_cancelled() {
    for cancels in [false, true] {
        let mut desk = held(dec!(1), vec![guards(open_stop("ETH", "A", "1960", "1", 2))]);
        let seq = desk.ask(tighter()).seq();
        if cancels {
            desk.ask(cancel_by(&cloid(1))).reduces();
        }
        let effects = desk.answer(seq, 0, statuses(json!([{"resting": {"oid": 3}}])));
        let released = sends(&effects).iter().any(|send| send.intent == seq);
        assert_eq!(released, !cancels, "{effects:?}");
    }
}

#[test]
fn an_order_whose_cancel_is_confirmed_is_open_no_more() {
    for order in [buy(ETH, "1990", "1"), stop(ETH, false, "1970", "1")] {
        let mut desk = held(dec!(1), vec![open_stop("ETH", "A", "1960", "2", 2)]);
        let placed = desk.order(order);
        desk.answer(placed.seq(), 0, statuses(json!([{"resting": {"oid": 7}}])));
        let is_open = |desk: &Desk| {
            let status = serde_json::to_value(desk.guard.status(desk.now, (0, 0))).unwrap();
            status["open_orders"].as_array().unwrap().iter().any(|order| order["oid"] == 7)
        };
        assert!(is_open(&desk), "accepted, and no read has shown it");
        let cancelled = desk.ask(cancel(&[7]));
        assert!(is_open(&desk), "the cancel is on its way");
        desk.answer(cancelled.seq(), cancelled.event["pre"].as_array().unwrap().len(), statuses(json!(["success"])));
        assert!(!is_open(&desk), "gone, though no read has said so");
        let modify = json!({"type": "modify", "oid": 7, "order": buy(ETH, "1980", "1")});
        desk.ask(modify).vetoed("order_unknown");
    }
}

/// What the venue says to have cancelled by a client order id is the one order that carries it, once that was said to rest.
#[test]
fn an_order_whose_cancel_by_its_own_id_is_confirmed_is_open_no_more() {
    let mut desk = held(dec!(1), Vec::new());
    let placed = desk.order(with(buy(ETH, "1990", "1"), "/c", json!(cloid(1))));
    desk.answer(placed.seq(), 0, statuses(json!([{"resting": {"oid": 7}}])));
    let cancelled = desk.ask(cancel_by(&cloid(1)));
    let is_open = |desk: &Desk| desk.guard.sent.open().any(|order| order.oid == Some(7));
    assert!(is_open(&desk), "the cancel is on its way");
    desk.answer(cancelled.seq(), cancelled.event["pre"].as_array().unwrap().len(), statuses(json!(["success"])));
    assert!(!is_open(&desk), "gone, though no read has said so");
}

/// The venue's word that it holds an order no more counts where the cancel can only have come to it after the order: one that was
/// decided on in the moment in which the order was told to rest may be a guess that came first.
#[test]
fn an_entry_that_the_venue_does_not_hold_any_more_is_over() {
    for (later_ms, is_over) in [(1, true), (0, false)] {
        let mut desk = held(dec!(1), vec![open_stop("ETH", "A", "1960", "2", 2)]);
        let placed = desk.order(buy(ETH, "1990", "1")).seq();
        desk.answer(placed, 0, statuses(json!([{"resting": {"oid": 7}}])));
        desk.now += later_ms;
        let cancelled = desk.ask(cancel(&[7])).seq();
        desk.answer(cancelled, 0, statuses(json!([{"error": "Order was never placed, already canceled, or filled."}])));
        let is_open = desk.guard.sent.open().any(|order| order.oid == Some(7));
        assert_eq!(!is_open, is_over, "{later_ms}");
    }
}

/// Each stop that goes first is a request of its own: a client's many small stops must not cost the guard as many.
#[test]
fn cover_in_many_parts_is_replaced_in_few() {
    for (count, expected) in [(4, vec!["1953", "1952", "1951", "1950"]), (5, vec!["1954"])] {
        let stops = (0..count).map(|at| open_stop("ETH", "A", &(1950 + at).to_string(), "1", 2 + at));
        let mut desk = held(Decimal::from(count), stops.collect());
        let decided = desk.ask(cancel(&(2..2 + count).collect::<Vec<u64>>()));
        let first = first(decided.resized());
        let triggers: Vec<&str> = first.iter().map(|(_, px, _)| px.as_str().unwrap()).collect();
        assert_eq!(triggers, expected);
        let size: Decimal = first.iter().map(|(_, _, size)| size.as_str().unwrap().parse::<Decimal>().unwrap()).sum();
        assert_eq!(size, Decimal::from(count));
    }
}

/// Which of them the venue takes nobody knows.
#[test]
fn an_id_of_several_orders_is_cancelled_by_the_first_ones_order_id() {
    let (id, other) = (cloid(7), cloid(8));
    let under = |mut order: OpenOrder, id: &Value| {
        order.cloid = serde_json::from_value(id.clone()).unwrap();
        order
    };
    let entry = |oid: u64, id: &Value| under(open("ETH", "B", "1900", "1", oid), id);
    let mut profit = under(open("ETH", "A", "2100", "1", 3), &id);
    profit.reduce_only = true;
    let of = |orders: Vec<OpenOrder>, ids: &[&Value]| {
        let cancels: Vec<_> = ids.iter().map(|id| json!({"asset": ETH, "cloid": id})).collect();
        held(dec!(1), orders).ask(json!({"type": "cancelByCloid", "cancels": cancels}))
    };
    let both = vec![profit, entry(2, &id), entry(5, &other)];
    let decided = of(both.clone(), &[&other, &id]);
    decided.resized().says(&["had it first"]);
    assert_eq!(decided.forward()["cancels"], json!([{"a": ETH, "o": 5}, {"a": ETH, "o": 2}]));
    // One that names no open order has no order id to go by.
    of(both.clone(), &[&id, &cloid(9)]).reduces();
    of(vec![both[1].clone(), both[2].clone()], &[&id, &other]).reduces();
}

/// A stop stands for whatever the account holds, and after a start nobody knows what that is before it was read: what filled in
/// the life before shows in no read of a time before this one.
#[test]
fn a_stop_is_not_cancelled_before_the_account_is_read_in_this_life() {
    let named = |mut order: OpenOrder| {
        order.cloid = Some(serde_json::from_value(cloid(1)).unwrap());
        order
    };
    let orders = vec![named(open_stop("ETH", "A", "1950", "1", 7)), open("ETH", "B", "1900", "1", 8)];
    // Never read, of a time before the start, and at the limit.
    for (read_ms, passes) in [(None, false), (Some(NOW - 1), false), (Some(NOW), true)] {
        let mut desk = Desk::blank(config(Mode::Testnet, wide()));
        desk.read_mids(NOW);
        desk.show(orders.clone());
        if let Some(read_ms) = read_ms {
            desk.read_account(read_ms);
        }
        let asked = [desk.ask(cancel(&[7])), desk.ask(cancel_by(&cloid(1)))];
        for decided in asked {
            if passes {
                decided.reduces();
            } else {
                decided.vetoed("starting").says(&["account", "try again"]);
            }
        }
        // What covers nothing goes, and leaves the stop behind.
        let decided = desk.ask(cancel(&[7, 8]));
        let left = if passes { cancel(&[7, 8]) } else { cancel(&[8]) };
        assert_eq!(decided.forward(), &left, "{read_ms:?}");
        let wider = desk.ask(batch(vec![(7, stop(ETH, false, "1949", "1"))]));
        assert_eq!(wider.code() == "stop_loosened", !passes, "{}", wider.event);
    }
}

/// What was covered at a near line is bare, and what has just filled beside it has the stop that goes.
#[test]
fn what_no_read_has_shown_keeps_its_stop_where_it_stood() {
    for px in ["1950", "1900"] {
        let mut desk = held(dec!(1), vec![open_stop("ETH", "A", "1980", "1", 2)]);
        desk.mids.insert("ETH".into(), dec!(1975));
        desk.wait(10);
        let entry = with(buy(ETH, "1975", "0.5"), "/t/limit/tif", json!("Ioc"));
        let group = json!({"type": "order", "orders": [entry, stop(ETH, false, px, "0.5")], "grouping": "normalTpsl"});
        let decided = desk.ask(group);
        let filled = json!({"filled": {"totalSz": "0.5", "avgPx": "1975", "oid": 4}});
        desk.answer(decided.seq(), 0, statuses(json!([filled, "waitingForTrigger"])));
        desk.now += 1;
        desk.show(vec![open_stop("ETH", "A", px, "0.5", 5)]);
        let pre = first(desk.ask(cancel(&[5])).resized());
        assert!(pre.contains(&(json!(false), json!(px), json!("0.5"))), "{px}: {pre:?}");
    }
}
