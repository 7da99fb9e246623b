//! `busy`: a disk that is behind and entries.

use crate::guard::Input;
use crate::guard::tests::fixture::*;

fn entry() -> serde_json::Value {
    buy(ETH, "2000", "0.1")
}

#[test]
fn entries_wait_while_the_disk_is_behind_and_exits_do_not() {
    let mut desk = Desk::live();
    desk.hold("ETH", rust_decimal::dec!(1));
    desk.step(Input::Behind(true));
    desk.order(entry()).vetoed("busy").says(&["the disk is behind", "again"]);
    desk.order(close(ETH, false, "2000", "1")).reduces();
    desk.step(Input::Behind(false));
    desk.order(entry()).resized();
}
