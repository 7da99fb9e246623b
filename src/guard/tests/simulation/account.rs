//! A read of the account, as the model venue's books show it.

use rust_decimal::Decimal;
use serde_json::{Value, json};

use super::books::{Books, COINS};
use crate::guard::Input;

/// A read of the account that shows these books.
pub(in crate::guard::tests) fn account(books: &Books, begun_ms: u64) -> Input {
    let positions: Vec<Value> = COINS
        .into_iter()
        .filter(|coin| books.positions.contains_key(coin))
        .map(|coin| {
            let (size, value) = (books.held(coin), (books.mid(coin) * books.held(coin).abs()).to_string());
            let liquidation_px = books.liquidation_px(coin).map(|px| px.to_string());
            json!({"position": {"coin": coin, "szi": size, "leverage": {"type": "cross", "value": 5},
                "entryPx": books.entry_px(coin),
                "positionValue": value, "unrealizedPnl": books.unrealized(coin), "liquidationPx": liquidation_px, "marginUsed": "0"}})
        })
        .collect();
    let equity: Decimal = books.equity();
    let state = serde_json::from_value(json!({"marginSummary": {"accountValue": equity},
        "crossMaintenanceMarginUsed": "0", "assetPositions": positions, "time": books.at_ms}))
    .unwrap();
    Input::Account { state, equity, begun_ms }
}
