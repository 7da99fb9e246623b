//! `account_mode`: a mode whose equity cannot be read.

use crate::guard::Input;
use crate::guard::tests::fixture::*;
use crate::venue::info::AccountMode;

#[test]
fn entries_wait_for_a_mode_whose_equity_can_be_read() {
    let mut desk = Desk::live();
    desk.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: NOW });
    desk.order(buy(ETH, "2000", "0.1")).resized();
    desk.step(Input::UnvaluedMode { mode: "portfolioMargin".into(), begun_ms: NOW });
    desk.read();
    desk.order(buy(ETH, "2000", "0.1")).vetoed("account_mode").says(&["portfolioMargin"]);
    desk.hold("ETH", rust_decimal::dec!(1));
    desk.order(close(ETH, false, "2000", "1")).reduces();
    desk.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: NOW });
    desk.wait(1_000);
    desk.order(buy(ETH, "2000", "0.1")).resized();
}
