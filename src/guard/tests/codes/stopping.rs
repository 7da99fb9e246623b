//! `stopping`: a service that shuts down and entries.

use crate::guard::Input;
use crate::guard::tests::fixture::*;

#[test]
fn entries_are_refused_during_a_shutdown() {
    let mut desk = Desk::live();
    desk.order(buy(ETH, "1999", "0.1")).resized();
    desk.step(Input::Shutdown { reason: "SIGTERM".into() });
    desk.order(buy(ETH, "2000", "0.1")).vetoed("stopping");
}
