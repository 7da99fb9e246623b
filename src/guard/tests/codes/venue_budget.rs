//! `venue_budget`: the last requests of the account are kept for exits.

use serde_json::Value;

use crate::guard::tests::fixture::*;
use crate::guard::{Input, Mode};

fn entry(number: u32) -> Value {
    buy(ETH, &(1990 + number).to_string(), "0.1")
}

#[test]
fn requests_are_kept_for_exits() {
    let mut desk = Desk::new(Mode::Testnet, wide());
    desk.step(Input::RequestsLeft(500));
    desk.order(entry(1)).resized();
    desk.step(Input::RequestsLeft(499));
    desk.order(entry(2)).vetoed("venue_budget").says(&["499", "500"]);
    desk.order(close(ETH, false, "2000", "1")).reduces();
}
