//! The order of keys in which official SDKs sign the actions that the guard never forwards.
//!
//! Such an action is only refused, but the refusal must name the client, so its signature has to be recovered. An
//! action that the guard judges has a typed form, which gives the signed order. Of these actions only the received
//! JSON is known, and some clients post their keys in alphabetical order: the official Rust SDK does (observed).

use serde_json::Value;

/// The keys of these actions, each before those that follow it in the actions that hold both.
///
/// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/exchange-endpoint>, and for actions that
/// the page leaves out the field order in `hyperliquid-python-sdk` (`exchange.py`).
#[rustfmt::skip]
const ORDER: [&str; 45] = [
    "type", "time", "twap", "details", "a", "b", "s", "r", "m", "t", "asset", "leverage", "vaultAddress",
    "subAccountUser", "allowDeposits", "alwaysCloseOnWithdraw", "isDeposit", "usd", "name", "description",
    "initialUsd", "weight", "destination", "sourceDex", "destinationDex", "operation", "token", "amount",
    "fromSubAccount", "maxFeeRate", "builder", "classTransfer", "usdc", "toPerp", "toggleSpotDusting", "optOut",
    "code", "displayName", "usingBigBlocks", "slotId", "ip", "maxGas", "nonce", "signatureChainId",
    "hyperliquidChain",
];

/// The action with the keys of every object in the order signed, as far as it is known: other keys stay behind these,
/// in the order received.
pub(super) fn in_signing_order(node: &Value) -> Value {
    match node {
        Value::Object(members) => {
            let rank = |key: &str| ORDER.iter().position(|known| *known == key).unwrap_or(ORDER.len());
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(key, _)| rank(key));
            members.into_iter().map(|(key, value)| (key.clone(), in_signing_order(value))).collect()
        }
        Value::Array(items) => items.iter().map(in_signing_order).collect(),
        other => other.clone(),
    }
}
