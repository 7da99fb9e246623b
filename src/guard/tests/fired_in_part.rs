//! A stop that fires in a thin book closes a part; what it leaves has it for its line, also where no read of the open orders has shown
//! it beside the position that it stood for.

use rust_decimal::{Decimal, dec};
use serde_json::json;

use super::covering_line::{client_stop, closes};
use super::fixture::*;
use crate::guard::Effects;
use crate::venue::info::OpenOrder;

/// One ETH that was opened since the open orders were read, beside a stop at 1990 that they showed.
fn opened(stop_size: &str) -> Desk {
    let mut desk = Desk::live();
    desk.show(vec![client_stop("1990", stop_size)]);
    desk.now += 100;
    desk.hold("ETH", dec!(1));
    desk.read_account(desk.now);
    desk
}

/// The mark is there, and the account shows so much left.
fn read(desk: &mut Desk, mark: Decimal, held: Decimal) {
    desk.now += 100;
    desk.mids.insert("ETH".into(), mark);
    desk.read_mids(desk.now);
    desk.hold("ETH", held);
    desk.read_account(desk.now);
}

fn line(desk: &Desk) -> Vec<(Decimal, Decimal)> {
    desk.guard.lines.get(ETH).unwrap().covered_parts().iter().map(|part| (part.px, part.size)).collect()
}

#[test]
fn what_a_stop_leaves_has_it_for_its_line() {
    for (stop_size, mark, held, kept) in [
        ("2", dec!(1990), dec!(0.6), dec!(0.6)),
        ("1", dec!(1990), dec!(0.6), dec!(0.6)),
        // It has half of itself left.
        ("0.8", dec!(1990), dec!(0.6), dec!(0.4)),
        ("0.4", dec!(1990), dec!(0.6), dec!(0)),
        ("0.3", dec!(1990), dec!(0.6), dec!(0)),
        // The price has not come to it.
        ("1", dec!(1990.1), dec!(0.6), dec!(0)),
        // It closes, and opens nothing.
        ("1", dec!(1990), dec!(1.4), dec!(0)),
    ] {
        let mut desk = opened(stop_size);
        assert!(line(&desk).is_empty());
        read(&mut desk, mark, held);
        let held: Vec<_> = (!kept.is_zero()).then_some((dec!(1990), kept)).into_iter().collect();
        assert_eq!(line(&desk), held, "{stop_size} {mark} {kept}");
    }
}

/// A position's stop without a size of its own leaves all that is left.
#[test]
fn a_stop_for_the_whole_position_leaves_all_of_the_rest() {
    let mut desk = Desk::live();
    desk.show(vec![OpenOrder { is_position_tpsl: true, ..client_stop("1990", "0") }]);
    desk.now += 100;
    desk.hold("ETH", dec!(1));
    desk.read_account(desk.now);
    read(&mut desk, dec!(1990), dec!(0.6));
    assert_eq!(line(&desk), [(dec!(1990), dec!(0.6))]);
}

#[test]
fn what_it_leaves_is_closed() {
    let mut desk = opened("1");
    read(&mut desk, dec!(1989), dec!(0.6));
    desk.orders.clear();
    let mut told: Vec<Effects> = Vec::new();
    for _ in 0..3 {
        desk.now += 400;
        told.extend([desk.read_account(desk.now), desk.read_orders(desk.now)]);
    }
    assert_eq!(told.iter().flat_map(closes).collect::<Vec<_>>(), [json!("0.6")]);
}

/// What the client closed itself tells of no stop.
#[test]
fn a_close_that_was_told_leaves_no_line() {
    let mut desk = opened("1");
    desk.mids.insert("ETH".into(), dec!(1990));
    desk.read_mids(desk.now);
    let decided = desk.order(close(ETH, false, "1985", "0.4"));
    desk.answer(decided.seq(), 0, statuses(json!([{"filled": {"totalSz": "0.4", "avgPx": "1990", "oid": 10}}])));
    read(&mut desk, dec!(1990), dec!(0.6));
    assert!(line(&desk).is_empty(), "{:?}", line(&desk));
}
