//! `killed`: the kill switch and entries.

use crate::guard::Input;
use crate::guard::tests::fixture::*;

#[test]
fn entries_are_refused_once_the_kill_switch_is_pulled() {
    let mut desk = Desk::live();
    desk.order(buy(ETH, "1999", "0.1")).resized();
    desk.step(Input::Kill { reason: "enough".into(), by: None, write_file: true, request: None });
    desk.order(buy(ETH, "2000", "0.1")).vetoed("killed").says(&["enough", "/home/owner/kill", "restarts"]);
}

#[test]
fn the_kill_switch_comes_before_staleness_and_markets() {
    let mut desk = Desk::live();
    desk.now += 60_000;
    for order in
        [buy(ETH, "2000", "0.1"), buy(10_001, "1", "100"), with(stop(ETH, false, "1900", "1"), "/r", false.into())]
    {
        desk.order(order.clone()).vetoed("account_stale");
    }
    desk.step(Input::Kill { reason: "enough".into(), by: None, write_file: true, request: None });
    for order in
        [buy(ETH, "2000", "0.1"), buy(10_001, "1", "100"), with(stop(ETH, false, "1900", "1"), "/r", false.into())]
    {
        desk.order(order.clone()).vetoed("killed");
    }
}
