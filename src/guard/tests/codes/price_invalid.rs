//! `price_invalid`: prices on the tick.

use crate::guard::tests::fixture::*;

#[test]
fn prices_stand_on_the_tick() {
    for (asset, px, size, valid) in [
        (ETH, "1999.9", "0.1", true),
        (ETH, "1999.99", "0.1", false),
        (BTC, "59999", "0.001", true),
        (BTC, "59999.5", "0.001", false),
        (BTC, "9999.9", "0.01", true),
        (BTC, "9999.95", "0.01", false),
        (ISO, "0.49999", "100", true),
        (ISO, "0.499999", "100", false),
        (ETH, "0", "0.1", false),
    ] {
        let decided = Desk::paper().order(buy(asset, px, size));
        assert_eq!(decided.code(), if valid { "resized" } else { "price_invalid" }, "{px}: {}", decided.text());
    }
    Desk::paper().order(buy(ETH, "1999.99", "0.1")).says(&["1999.99", "1999.9", "2000"]);
    Desk::paper().order(buy(ETH, "0", "0.1")).says(&["price 0 is not on ETH's tick; the lowest one is 0.01"]);
}

#[test]
fn price_comes_before_size_and_market_before_both() {
    Desk::paper().order(buy(ETH, "1999.99", "0.10001")).vetoed("price_invalid");
    Desk::paper().order(buy(OLD, "1999.999999", "0.00000001")).vetoed("market_delisted");
}
