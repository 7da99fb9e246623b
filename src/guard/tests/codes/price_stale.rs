//! `price_stale`: the age of the prices, and markets without one.

use crate::guard::tests::fixture::*;

fn entry() -> serde_json::Value {
    buy(ETH, "2000", "0.1")
}

#[test]
fn prices_serve_for_their_age_and_not_longer() {
    for (age_ms, code) in [(5_000, "resized"), (5_001, "price_stale")] {
        let mut desk = Desk::live();
        desk.now += age_ms;
        desk.read_account(desk.now);
        let decided = desk.order(entry());
        assert_eq!(decided.code(), code);
        assert!(code == "resized" || decided.text().contains("5.1 s ago, over 5 s"), "{}", decided.text());
    }
}

#[test]
fn a_market_without_a_mid_cannot_be_judged() {
    Desk::paper().order(buy(BARE, "1", "100")).vetoed("price_stale").says(&["BARE"]);
}
