//! Actions that are never forwarded, in the order of keys that their signers hashed.
//!
//! Nothing is done with them but to refuse them, and a refusal must name the client. Of an action that is judged the
//! typed form gives the signed order; of these only what was received is known, and some clients post their keys in
//! alphabetical order.

use super::json::Node;

/// The keys of these actions, each before those that follow it in the actions that hold both. Source: the venue's
/// exchange endpoint page and the structs of the official SDKs.
const ORDER: [&str; 45] = [
    "type",
    "time",
    "twap",
    "details",
    "a",
    "b",
    "s",
    "r",
    "m",
    "t",
    "asset",
    "leverage",
    "vaultAddress",
    "subAccountUser",
    "allowDeposits",
    "alwaysCloseOnWithdraw",
    "isDeposit",
    "usd",
    "name",
    "description",
    "initialUsd",
    "weight",
    "destination",
    "sourceDex",
    "destinationDex",
    "operation",
    "token",
    "amount",
    "fromSubAccount",
    "maxFeeRate",
    "builder",
    "classTransfer",
    "usdc",
    "toPerp",
    "toggleSpotDusting",
    "optOut",
    "code",
    "displayName",
    "usingBigBlocks",
    "slotId",
    "ip",
    "maxGas",
    "nonce",
    "signatureChainId",
    "hyperliquidChain",
];

/// The action with every object's keys in the order signed, as far as it is known: keys that are not stay behind the
/// others, in the order received.
pub(super) fn in_signing_order(node: &Node) -> Node {
    match node {
        Node::Obj(members) => {
            let mut members: Vec<_> =
                members.iter().map(|(key, value)| (key.clone(), in_signing_order(value))).collect();
            members.sort_by_key(|(key, _)| ORDER.iter().position(|known| known == key).unwrap_or(ORDER.len()));
            Node::Obj(members)
        }
        Node::Arr(items) => Node::Arr(items.iter().map(in_signing_order).collect()),
        other => other.clone(),
    }
}
