//! `order_unknown`: modifies of orders that the guard does not know.

use serde_json::json;

use crate::guard::Mode;
use crate::guard::tests::fixture::*;

#[test]
fn an_order_that_is_not_known_is_not_modified() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.show(vec![open("ETH", "B", "1900", "1", 1)]);
    desk.ask(modify(2, buy(ETH, "1910", "1"))).vetoed("order_unknown");
    desk.ask(json!({"type": "modify", "oid": cloid(1), "order": buy(ETH, "1910", "1")})).vetoed("order_unknown");
    desk.ask(batch(vec![(1, buy(ETH, "1910", "1")), (2, buy(ETH, "1911", "1"))])).vetoed("order_unknown");
    desk.ask(modify(1, buy(ETH, "1910", "1"))).resized();
}

#[test]
fn an_order_is_known_from_its_answer_on() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    let placed = desk.order(with(buy(ETH, "1900", "1"), "/c", cloid(1)));
    desk.answer(placed.seq(), 0, statuses(json!([{"resting": {"oid": 55}}, "waitingForFill"])));
    desk.ask(modify(55, buy(ETH, "1910", "1"))).resized();
    let by_cloid = json!({"type": "modify", "oid": cloid(1), "order": with(buy(ETH, "1911", "1"), "/c", cloid(1))});
    desk.ask(by_cloid).resized();
}
