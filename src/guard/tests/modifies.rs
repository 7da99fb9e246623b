//! Modifies: the new order on top of the old one, and cover that is never loosened.

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::fixture::*;
use crate::guard::{Mode, SendOutcome};
use crate::rules::Rules;
use crate::venue::info::OpenOrder;

fn held(szi: Decimal, orders: Vec<OpenOrder>) -> Desk {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.hold("ETH", szi);
    desk.show(orders);
    desk
}

#[test]
fn the_new_order_is_judged_on_top_of_the_old() {
    let mut desk = Desk::new(Mode::Testnet, Rules { position: dec!(50), ..wide() });
    desk.show(vec![open("ETH", "B", "2000", "1", 1)]);
    let decided = desk.ask(modify(1, buy(ETH, "2000", "2")));
    assert_eq!(decided.resized().forward()["order"]["s"], "1.5");
    assert_eq!(decided.forward()["oid"], 1);
}

/// The venue may take the second of them first, and the first then finds nothing to replace.
#[test]
fn an_entry_that_is_being_replaced_makes_no_room_again() {
    for (limit, passes) in [(3, true), (2, false)] {
        let mut desk = Desk::new(Mode::Testnet, Rules { open_orders: limit, ..wide() });
        desk.show(vec![open("ETH", "B", "1900", "1", 1)]);
        desk.ask(modify(1, buy(ETH, "1901", "1"))).is("resize", "resized");
        let decided = desk.ask(modify(1, buy(ETH, "1902", "1")));
        assert_eq!(decided.code() != "open_orders_limit", passes, "{limit}: {}", decided.event);
    }
}

#[test]
fn every_rule_for_entries_holds() {
    let mut desk = held(dec!(0), vec![open("ETH", "B", "1900", "1", 1), open("ETH", "B", "1900", "1", 2)]);
    assert_eq!(desk.ask(modify(1, buy(ETH, "2200", "1"))).resized().forward()["order"]["p"], "2010");
    desk.ask(modify(1, buy(OLD, "1", "100"))).vetoed("market_delisted");
    desk.ask(modify(1, buy(ETH, "1999.99", "1"))).vetoed("price_invalid");
    desk.ask(batch(vec![(1, buy(ETH, "1900", "1")), (2, buy(ETH, "1900", "0.00001"))])).vetoed("size_invalid");
    desk.now += 6_000;
    desk.ask(modify(1, buy(ETH, "1900", "1"))).vetoed("account_stale");
    desk.ask(modify(1, close(ETH, false, "1900", "1"))).reduces();
}

#[test]
fn what_fills_at_once_gets_its_stop_after_and_what_rests_does_not() {
    let mut desk = held(dec!(0), vec![open("ETH", "B", "1900", "1", 1), open("ETH", "B", "1900", "1", 2)]);
    let decided = desk.ask(batch(vec![(1, buy(ETH, "2000", "1")), (2, buy(ETH, "1950", "1"))]));
    let post = decided.resized().event["post"].as_array().unwrap();
    assert_eq!(post.len(), 1);
    assert_eq!(post[0]["orders"][0]["t"]["trigger"]["triggerPx"], "1960");
}

#[test]
fn an_order_keeps_its_own_id() {
    let mut resting = open("ETH", "B", "1900", "1", 1);
    resting.cloid = serde_json::from_value(cloid(1)).unwrap();
    let mut other = open("ETH", "B", "1900", "1", 2);
    other.cloid = serde_json::from_value(cloid(2)).unwrap();
    let mut desk = held(dec!(0), vec![resting, other]);
    desk.ask(modify(1, with(buy(ETH, "1910", "1"), "/c", cloid(2)))).vetoed("duplicate_order");
    desk.ask(modify(1, with(buy(ETH, "1910", "1"), "/c", cloid(1)))).resized();
}

#[test]
fn a_paper_order_keeps_its_own_id() {
    let mut desk = Desk::new(Mode::Paper, wide());
    let placed = desk.order(with(buy(ETH, "1900", "1"), "/c", cloid(1)));
    let oid = placed.reply()["response"]["data"]["statuses"][0]["resting"]["oid"].as_u64().unwrap();
    desk.ask(modify(oid, with(buy(ETH, "1910", "1"), "/c", cloid(1)))).resized();
    desk.ask(json!({"type": "modify", "oid": cloid(1), "order": with(buy(ETH, "1911", "1"), "/c", cloid(1))}))
        .resized();
    desk.order(with(buy(ETH, "1912", "1"), "/c", cloid(1))).vetoed("duplicate_order");
}

#[test]
fn closes_by_modify_count_for_what_follows() {
    let mut desk = held(dec!(1), vec![open("ETH", "B", "1900", "1", 1), open("ETH", "B", "1900", "1", 2)]);
    let decided = desk.ask(batch(vec![(1, sell(ETH, "2000", "1")), (2, sell(ETH, "2001", "1"))]));
    let (first, second) = (decided.resized().asked_order(0), decided.asked_order(1));
    assert_eq!((&first["r"], &second["r"]), (&json!(true), &json!(false)));
}

#[test]
fn stop_loosened_is_any_change_that_weakens_a_covering_stop() {
    for (szi, side, near, same, far) in
        [(dec!(1), "A", "1960", "1950", "1949.9"), (dec!(-1), "B", "2040", "2050", "2050.1")]
    {
        let is_buy = side == "B";
        let ask = |new: Value| held(szi, vec![open_stop("ETH", side, same, "1", 2)]).ask(modify(2, new));
        ask(stop(ETH, is_buy, same, "1")).reduces();
        ask(stop(ETH, is_buy, near, "1")).reduces();
        ask(stop(ETH, is_buy, near, "2")).reduces();
        ask(stop(ETH, is_buy, far, "1")).vetoed("stop_loosened").says(&[far, same]);
        ask(stop(ETH, is_buy, same, "0.9999")).vetoed("stop_loosened").says(&["0.9999", "1"]);
        ask(stop(BTC, is_buy, same, "1")).vetoed("stop_loosened");
        ask(stop(ETH, !is_buy, same, "1")).vetoed("stop_loosened");
        ask(with(stop(ETH, is_buy, same, "1"), "/t/trigger/isMarket", json!(false))).vetoed("stop_loosened");
        ask(with(stop(ETH, is_buy, same, "1"), "/t/trigger/tpsl", json!("tp"))).vetoed("stop_loosened");
        ask(with(stop(ETH, is_buy, same, "1"), "/r", json!(false))).vetoed("stop_loosened");
        ask(close(ETH, is_buy, same, "1")).vetoed("stop_loosened");
    }
}

/// Whoever guesses the next order id could have the new stop cancelled, while the old one is gone.
#[test]
fn a_covering_stop_is_not_replaced_while_a_cancel_of_the_next_order_id_is_on_its_way() {
    for (oid, passes) in [(2, true), (3, false), (u64::MAX, false)] {
        let mut desk = held(dec!(0), vec![open_stop("ETH", "A", "1950", "1", 2), open("ETH", "B", "1900", "1", 1)]);
        desk.hold("ETH", dec!(1));
        let guess = json!({"type": "cancel", "cancels": [{"a": BTC, "o": oid}]});
        let guess = if oid == 2 { json!({"type": "cancel", "cancels": [{"a": ETH, "o": 1}]}) } else { guess };
        let sent = desk.ask(guess);
        let tighter = || modify(2, stop(ETH, false, "1960", "1"));
        let asked = desk.ask(tighter());
        if passes {
            asked.reduces();
            continue;
        }
        asked.vetoed("stop_loosened").says(&["no order has yet", "ask again"]);
        let gone = json!([{"error": "Order was never placed, already canceled, or filled."}]);
        desk.answer(sent.seq(), 0, statuses(gone));
        desk.ask(tighter()).reduces();
    }
}

/// What only reduces goes first. By the time of its answer the position may be on the other side, where an idle stop covers it.
#[test]
fn a_stop_that_covers_by_now_is_not_replaced_by_what_waited_for_an_answer() {
    for (turned, goes) in [(dec!(1), true), (dec!(-1), false)] {
        let idle = open_stop("ETH", "B", "2030", "1", 5);
        let orders = vec![open("ETH", "B", "1900", "1", 1), open_stop("ETH", "A", "1970", "1", 2), idle];
        let mut desk = held(dec!(1), orders);
        let decided = desk.ask(batch(vec![(1, close(ETH, false, "2000", "1")), (5, buy(ETH, "1950", "1"))]));
        assert_eq!(decided.forward()["modifies"][0]["oid"], 1);
        desk.now += 1;
        desk.hold("ETH", turned);
        let effects = desk.answer(decided.seq(), 0, statuses(json!([{"resting": {"oid": 9}}])));
        let sent: Vec<Value> = sends(&effects).iter().map(|send| json!(send.action)).collect();
        assert_eq!(sent.len(), usize::from(goes), "{sent:?}");
        let told = answers(&effects);
        assert_eq!(told.iter().any(|told| told.to_string().contains("covers a position by now")), !goes, "{told:?}");
    }
}

#[test]
fn a_stop_larger_than_its_position_may_shrink_to_it() {
    let ask = |size: &str| {
        held(dec!(1), vec![open_stop("ETH", "A", "1950", "3", 2)]).ask(modify(2, stop(ETH, false, "1950", size)))
    };
    ask("1").reduces();
    ask("0.9999").vetoed("stop_loosened");
}

#[test]
fn what_covers_no_position_is_the_clients_to_change() {
    for szi in [dec!(0), dec!(-1)] {
        held(szi, vec![open_stop("ETH", "A", "1950", "1", 2)]).ask(modify(2, stop(ETH, false, "1", "0.1"))).reduces();
    }
}

#[test]
fn before_the_account_is_read_every_stop_may_cover() {
    let mut desk = Desk::blank(config(Mode::Testnet, Rules::default()));
    desk.show(vec![open_stop("ETH", "A", "1950", "1", 2)]);
    desk.ask(modify(2, stop(ETH, false, "1940", "1"))).vetoed("stop_loosened");
    desk.ask(modify(2, stop(ETH, false, "1960", "1"))).reduces();
}

#[test]
fn guard_order_is_not_modified_by_clients() {
    let mut own = open_stop("ETH", "A", "1950", "1", 2);
    own.cloid = Some("0x73766367726401000000000000000001".parse().unwrap());
    held(dec!(1), vec![own]).ask(modify(2, stop(ETH, false, "1960", "1"))).vetoed("guard_order");
}

#[test]
fn a_modify_in_doubt_counts_twice() {
    let mut desk = held(dec!(0), vec![open("ETH", "B", "2000", "1", 1)]);
    let decided = desk.ask(modify(1, buy(ETH, "2000", "1")));
    let exposure = |desk: &Desk| desk.guard.status_json(desk.now, (0, 0))["risk"]["exposure"].clone();
    assert_eq!(exposure(&desk), "4000");
    desk.step(crate::guard::Input::Sent {
        intent: decided.seq(),
        index: 0,
        outcome: SendOutcome::NoAnswer("time-out".into()),
    });
    desk.wait(100);
    assert_eq!(exposure(&desk), "4000");
}

#[test]
fn an_id_on_two_orders_that_no_read_has_shown_names_the_older() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.hold("ETH", rust_decimal::dec!(2));
    let named = |order: Value| with(order, "/c", cloid(5));
    let placed = desk.orders(vec![named(stop(ETH, false, "1970", "2")), named(close(ETH, false, "2100", "1"))]);
    desk.answer(placed.seq(), 0, statuses(json!([{"resting": {"oid": 7}}, {"resting": {"oid": 8}}])));
    let looser = named(stop(ETH, false, "1900", "1"));
    desk.ask(json!({"type": "modify", "oid": cloid(5), "order": looser})).vetoed("stop_loosened");
}

/// The guard does not know which of two the venue takes.
#[test]
fn a_modify_by_an_id_that_two_orders_carry_is_judged_against_each() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.hold("ETH", dec!(2));
    let mut shown = [open("ETH", "A", "2600", "0.01", 7), open_stop("ETH", "A", "1960", "2", 8)];
    for order in &mut shown {
        (order.cloid, order.reduce_only) = (serde_json::from_value(cloid(5)).unwrap(), true);
    }
    desk.show(shown.into());
    let order = with(with(close(ETH, false, "2700", "0.01"), "/t/limit/tif", json!("Gtc")), "/c", cloid(5));
    desk.ask(json!({"type": "modify", "oid": cloid(5), "order": order})).vetoed("stop_loosened");
    desk.ask(json!({"type": "modify", "oid": 7, "order": order})).reduces();
}

/// Two triggers of one size may be of one group, of which the venue takes one away when the other fills.
#[test]
fn no_child_is_made_unequal_to_a_stop_beside_it() {
    let profit = |size: &str| with(stop(ETH, false, "2100", size), "/t/trigger/tpsl", json!("tp"));
    let beside = |size: &str| {
        let mut order = open_stop("ETH", "A", "2100", size, 2);
        order.order_type = "Take Profit Market".to_owned();
        order
    };
    for (held_size, new, other, refused) in [
        ("2", "1.9999", "2", true),
        ("2", "2", "2", false),
        ("2", "2.5", "2", false),
        // What the small one closes is all that is held.
        ("1.9", "1.9", "2", false),
        ("1.9", "1.8999", "2", true),
        // One that was made a little larger before is no other's.
        ("2", "1", "1.9", true),
        ("2", "1.9", "1.9", false),
    ] {
        let mut desk = held(held_size.parse().unwrap(), vec![open_stop("ETH", "A", "1970", other, 1), beside("2")]);
        let decided = desk.ask(modify(2, profit(new)));
        assert_eq!(decided.code() == "stop_loosened", refused, "{held_size} {new} {other}: {}", decided.event);
    }
    // A stop that grows beyond what stands beside it; what it must not outgrow may grow in front of it.
    let mut desk =
        held(dec!(2), vec![open_stop("ETH", "A", "1970", "1", 1), beside("1"), open_stop("ETH", "A", "1960", "2", 3)]);
    desk.ask(modify(1, stop(ETH, false, "1970", "2"))).vetoed("stop_loosened");
    assert_eq!(
        desk.ask(batch(vec![(1, stop(ETH, false, "1970", "2")), (2, profit("2"))])).forward()["modifies"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    desk.ask(batch(vec![(2, profit("2")), (1, stop(ETH, false, "1970", "2"))])).is("allow", "reduces");
}

/// What this life has sent tells which belong together: a stop by itself, or of another group, hinders nothing.
#[test]
fn only_what_went_together_goes_together() {
    let named = |order: Value, number: u8| with(order, "/c", cloid(number));
    let profit = |size: &str| with(stop(ETH, false, "2100", size), "/t/trigger/tpsl", json!("tp"));
    let mut desk = held(dec!(1), vec![open_stop("ETH", "A", "1950", "1", 9)]);
    let orders = json!([buy(ETH, "2000", "1"), named(profit("1"), 1), named(stop(ETH, false, "1970", "1"), 2)]);
    assert_ne!(desk.ask(json!({"type": "order", "orders": orders, "grouping": "normalTpsl"})).event["verdict"], "veto");
    desk.order(named(stop(ETH, false, "1960", "0.5"), 3)).reduces();
    let open = |mut order: OpenOrder, number: u8| {
        order.cloid = serde_json::from_value(cloid(number)).unwrap();
        order
    };
    let mut target = open_stop("ETH", "A", "2100", "1", 11);
    target.order_type = "Take Profit Market".to_owned();
    let orders = [
        open(target, 1),
        open(open_stop("ETH", "A", "1970", "1", 12), 2),
        open(open_stop("ETH", "A", "1960", "0.5", 13), 3),
    ];
    desk.positions.insert("ETH", dec!(2));
    desk.now += 1_000;
    desk.read_account(desk.now);
    desk.show([vec![open_stop("ETH", "A", "1950", "1", 9)], orders.to_vec()].concat());
    desk.ask(modify(12, named(stop(ETH, false, "1970", "2"), 4))).vetoed("stop_loosened");
    desk.ask(modify(11, named(profit("2"), 5))).reduces();
    let grown = OpenOrder { sz: dec!(2), ..desk.orders[1].clone() };
    desk.orders[1] = open(grown, 5);
    desk.now += 1_000;
    desk.read_orders(desk.now);
    desk.ask(modify(12, named(stop(ETH, false, "1970", "2"), 6))).is("allow", "reduces");
}

#[test]
fn a_stop_of_a_group_is_no_larger_than_its_siblings() {
    let profit = with(stop(ETH, false, "2100", "0.1"), "/t/trigger/tpsl", json!("tp"));
    let group = |size: &str, children: &[Value]| {
        let orders: Vec<Value> = [buy(ETH, "2000", size)].into_iter().chain(children.iter().cloned()).collect();
        json!({"type": "order", "orders": orders, "grouping": "normalTpsl"})
    };
    let mut desk = held(dec!(1), vec![open_stop("ETH", "A", "1970", "1", 1)]);
    desk.ask(group("0.1", &[profit.clone(), stop(ETH, false, "1970", "1.1")])).vetoed("stop_loosened");
    assert_ne!(desk.ask(group("0.1", &[profit, stop(ETH, false, "1970", "0.1")])).event["verdict"], "veto");
    assert_ne!(desk.ask(group("0.1", &[stop(ETH, false, "1970", "1.1")])).event["verdict"], "veto");
}
