//! `market_delisted`: a market that the venue no longer trades.

use crate::guard::tests::fixture::*;

#[test]
fn a_delisted_market_takes_exits_only() {
    let mut desk = Desk::paper();
    desk.order(buy(OLD, "1", "100")).vetoed("market_delisted").says(&["OLD"]);
    desk.order(close(OLD, false, "1", "100")).reduces();
}
