//! `trigger_entry_not_allowed`: triggers only close.

use crate::guard::tests::fixture::*;

#[test]
fn a_trigger_opens_nothing() {
    let entry = |is_market: bool, tpsl: &str| {
        let order = with(stop(ETH, true, "2100", "0.1"), "/r", false.into());
        let order = with(order, "/t/trigger/isMarket", is_market.into());
        with(order, "/t/trigger/tpsl", tpsl.into())
    };
    for order in [entry(true, "sl"), entry(false, "sl"), entry(true, "tp"), entry(false, "tp")] {
        Desk::paper().order(order).vetoed("trigger_entry_not_allowed").says(&["reduce-only"]);
    }
}

#[test]
fn a_trigger_that_only_closes_is_marked_reduce_only() {
    let mut desk = Desk::paper();
    desk.hold("ETH", rust_decimal::dec!(-0.1));
    let decided = desk.order(with(stop(ETH, true, "2100", "0.1"), "/r", false.into()));
    assert_eq!(decided.resized().sent_order(0)["r"], true);
    let mut desk = Desk::paper();
    desk.hold("ETH", rust_decimal::dec!(-0.1));
    desk.order(with(stop(ETH, true, "2100", "0.2"), "/r", false.into())).vetoed("trigger_entry_not_allowed");
}
