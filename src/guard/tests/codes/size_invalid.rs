//! `size_invalid`: sizes on the lot.

use crate::guard::tests::fixture::*;

#[test]
fn sizes_stand_on_the_lot() {
    for (asset, px, size, valid) in [
        (ETH, "2000", "0.1001", true),
        (ETH, "2000", "0.10001", false),
        (ISO, "0.5", "100", true),
        (ISO, "0.5", "100.5", false),
        (ETH, "2000", "0", false),
    ] {
        let decided = Desk::paper().order(buy(asset, px, size));
        assert_eq!(decided.code(), if valid { "resized" } else { "size_invalid" }, "{size}: {}", decided.text());
    }
    Desk::paper().order(buy(ETH, "2000", "0.10001")).says(&["0.10001", "ETH", "0.0001"]);
}
