//! A position that was opened elsewhere and closed by an order of the client's between two reads leaves nothing, whoever told of the opening.

use super::doubted_fills::holding;
use super::*;
use crate::guard::tests::covering_line::closes;
use crate::venue::side::PositionSide;

/// A guard whose feed told of 0.4 ETH bought elsewhere, and whose client's sale of `size` the venue told to have filled.
fn closed(size: &str) -> Desk {
    let mut desk = desk();
    let told = fill(&desk, 1, "0", "0.4");
    fills(&mut desk, vec![told]);
    desk.now += 10;
    let seq = desk.order(with(close(ETH, false, "1990", size), "/t/limit/tif", json!("Ioc"))).seq();
    desk.now += 10;
    desk.answer(seq, 0, statuses(json!([{"filled": {"totalSz": size, "avgPx": "2000.0", "oid": 90}}])));
    desk
}

/// Whether the next buy of so much goes as an entry.
fn enters(desk: &mut Desk, size: &str) -> bool {
    desk.order(buy(ETH, "2000", size)).sent_order(0)["r"] == json!(false)
}

/// Whether a discrepancy is told of, once every fill must have been shown.
fn differs(desk: &mut Desk) -> bool {
    desk.now += 6_000;
    for _ in 0..2 {
        desk.now += 100;
        desk.read_account(desk.now);
        desk.now += 100;
        desk.read_orders(desk.now);
    }
    desk.guard.status_json(desk.now, (0, 0))["alerts"].to_string().contains("discrepancy")
}

#[test]
fn nothing_is_held_of_it() {
    let mut desk = closed("0.4");
    desk.now += 100;
    desk.read_account(desk.now);
    assert!(!PositionSide::BOTH.into_iter().any(|side| desk.guard.may_be_held(ETH, side)));
    assert!(enters(&mut desk, "0.4"));
    assert!(!differs(&mut desk));
}

/// What is left of it is a position, which the read shows.
#[test]
fn the_rest_of_it_is_held_whole() {
    let mut desk = closed("0.1");
    desk.now += 100;
    desk.hold("ETH", dec!(0.3));
    let decided = desk.order(with(sell(ETH, "1900", "0.3"), "/t/limit/tif", json!("Ioc")));
    assert_eq!(decided.sent_order(0)["r"], json!(true), "{}", decided.event);
}

/// What the client's own entry may have opened, told or not, is no other's.
#[test]
fn what_an_own_entry_may_have_opened_is_not_taken_for_others() {
    for is_told in [false, true] {
        let mut desk = desk();
        let seq = desk.order(with(buy(ETH, "2000", "0.4"), "/t/limit/tif", json!("Ioc"))).seq();
        desk.now += 10;
        if is_told {
            let filled = json!([{"filled": {"totalSz": "0.4", "avgPx": "2000.0", "oid": 1}}, "waitingForTrigger"]);
            desk.answer(seq, 0, statuses(filled));
        }
        let seq = desk.order(with(close(ETH, false, "1990", "0.4"), "/t/limit/tif", json!("Ioc"))).seq();
        desk.now += 10;
        desk.answer(seq, 0, statuses(json!([{"filled": {"totalSz": "0.4", "avgPx": "2000.0", "oid": 2}}])));
        assert_eq!(desk.guard.sent.told(&desk.guard.view, ETH, dec!(0)), if is_told { dec!(0) } else { dec!(-0.4) });
        desk.now += 100;
        desk.read_account(desk.now);
        assert!(!desk.guard.sent.orders.iter().any(|order| !order.unshown().is_zero()), "{is_told}");
    }
}

/// The feed told what was opened elsewhere in several fills: an entry of the client's right behind the close is none of that, and neither
/// of both is missing once a read shows the entry alone.
#[test]
fn an_entry_right_behind_the_close_is_not_what_was_closed() {
    for feed_tells_own in [false, true] {
        let mut desk = desk();
        let told = vec![fill(&desk, 1, "0", "0.3"), with(fill(&desk, 2, "0.3", "0.1"), "/oid", json!(78))];
        fills(&mut desk, told);
        desk.now += 10;
        let seq = desk.order(with(close(ETH, false, "1990", "0.4"), "/t/limit/tif", json!("Ioc"))).seq();
        desk.now += 10;
        if feed_tells_own {
            let sold = with(with(fill(&desk, 0, "0.4", "0.4"), "/side", json!("A")), "/oid", json!(90));
            fills(&mut desk, vec![sold]);
        }
        desk.answer(seq, 0, statuses(json!([{"filled": {"totalSz": "0.4", "avgPx": "2000.0", "oid": 90}}])));
        let seq = desk.order(with(buy(ETH, "2000", "0.1"), "/t/limit/tif", json!("Ioc"))).seq();
        desk.now += 10;
        let filled = json!([{"filled": {"totalSz": "0.1", "avgPx": "2000.0", "oid": 91}}, "waitingForTrigger"]);
        desk.answer(seq, 0, statuses(filled));
        desk.now += 100;
        desk.hold("ETH", dec!(0.1));
        assert!(!differs(&mut desk), "{feed_tells_own}");
    }
}

/// The feed tells of a fill before the answer names its order: it is the client's own, and a read that shows it shows the order.
#[test]
fn a_fill_that_is_told_before_its_answer_is_not_of_others() {
    let mut desk = desk();
    let seq = desk.order(with(buy(ETH, "2000", "0.4"), "/t/limit/tif", json!("Ioc"))).seq();
    let told = fill(&desk, 1, "0", "0.4");
    desk.now += 10;
    fills(&mut desk, vec![told]);
    desk.now += 10;
    desk.hold("ETH", dec!(0.4));
    desk.now += 10;
    let filled = json!([{"filled": {"totalSz": "0.4", "avgPx": "2000.0", "oid": 77}}, "waitingForTrigger"]);
    desk.answer(seq, 0, statuses(filled));
    assert_eq!(desk.guard.sent.told(&desk.guard.view, ETH, dec!(0.4)), dec!(0));
    desk.now += 100;
    desk.read_account(desk.now);
    assert!(!differs(&mut desk));
}

/// A bid fills, and the stop of what was held is hit, in one moment: what the stop closed is no part of what is left, which has the stop
/// that the bid brought.
#[test]
fn what_a_stop_closed_beside_an_entry_is_closed_once() {
    let entered = |desk: &mut Desk, px: Decimal| {
        let (mut state, equity, begun_ms) = (desk.state(desk.now), desk.equity, desk.now);
        state.asset_positions.iter_mut().for_each(|element| element.position.entry_px = Some(px));
        desk.step(Input::Account { state, equity, begun_ms })
    };
    let mut desk = holding();
    let mut bid = open("ETH", "B", "1990", "3", 77);
    bid.children.push(open_stop("ETH", "A", "1950", "3", 78));
    desk.orders.push(bid);
    for _ in 0..2 {
        desk.now += 500;
        entered(&mut desk, dec!(2000));
        desk.read_orders(desk.now);
    }
    desk.mids.insert("ETH".to_owned(), dec!(1955));
    let bought = with(fill(&desk, 5, "2", "3"), "/px", json!("1990"));
    let sold = with(with(with(fill(&desk, 6, "5", "2"), "/side", json!("A")), "/oid", json!(9)), "/px", json!("1958"));
    let mut effects = vec![fills(&mut desk, vec![bought, sold])];
    // The bid brings its stop, and what closes enlarges nothing, at its price or any other.
    assert!(stops(&effects[0]).is_empty() && !desk.guard.view.is_by_fill(ETH));
    desk.positions.insert("ETH", dec!(3));
    desk.orders = vec![open_stop("ETH", "A", "1950", "3", 78)];
    for _ in 0..8 {
        desk.now += 400;
        effects.push(entered(&mut desk, dec!(1994)));
        effects.extend([desk.read_mids(desk.now), desk.read_orders(desk.now), desk.step(Input::Tick)]);
    }
    assert!(effects.iter().flat_map(closes).next().is_none());
    let line = desk.guard.lines.get(ETH).unwrap();
    assert_eq!(
        line.covered_parts().iter().map(|part| (part.px, part.size)).collect::<Vec<_>>(),
        [(dec!(1950), dec!(3))]
    );
}
