//! An entry at no price at all is refused, and told a price that there is.

use crate::signing::{BTC, ETH, limit, place};
use crate::stand::{Mode, Stand};
use crate::watched::WIDE;

#[test]
fn an_entry_at_zero_is_told_the_lowest_price() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    for asset in [BTC, ETH] {
        for is_buy in [true, false] {
            let reply = stand.send(&place(&limit(asset, is_buy, "0", "0.1")));
            assert_eq!(reply["guard"]["code"], "price_invalid", "{reply}");
            let text = reply["guard"]["text"].as_str().unwrap();
            let (_, lowest) = text.split_once("the lowest one is ").unwrap_or_else(|| panic!("{text}"));
            assert!(lowest.parse::<rust_decimal::Decimal>().unwrap() > rust_decimal::Decimal::ZERO, "{text}");
        }
    }
    let is_order = |request: &&serde_json::Value| request["action"]["type"] == "order";
    assert_eq!(stand.venue_saw().iter().filter(is_order).count(), 0);
}
