//! `action_not_allowed`: action types that are never forwarded.

use serde_json::json;

use crate::guard::tests::fixture::*;

#[test]
fn actions_that_can_move_money_or_authority_are_refused() {
    for name in [
        "twapOrder",
        "scheduleCancel",
        "vaultTransfer",
        "withdraw3",
        "usdSend",
        "approveAgent",
        "approveBuilderFee",
        "subAccountTransfer",
        "agentSendAsset",
        "multiSig",
        "reserveRequestWeight",
        "setReferrer",
        "evmUserModify",
        "topUpIsolatedOnlyMargin",
        "nothingKnown",
        "",
    ] {
        let decided = Desk::live().ask(json!({"type": name, "more": {"of": ["it"]}}));
        assert_eq!(decided.vetoed("action_not_allowed").event["action"], name);
    }
    // Why, and what to do instead.
    for (name, parts) in [
        (
            "scheduleCancel",
            ["the stops of the positions too", "cancel entries one by one", "kill switch close everything"],
        ),
        ("twapOrder", ["slices", "without a judgement of each", "send orders"]),
        ("approveAgent", ["authority over the account", "do it at", "the venue's own page"]),
        ("usdSend", ["moves money", "do it at", "the venue's own page"]),
        ("nothingKnown", ["no type that this guard knows", "do it at", "the venue's own page"]),
    ] {
        Desk::live().ask(json!({"type": name})).vetoed("action_not_allowed").says(&parts);
    }
    Desk::live().ask(json!({"type": "guardKill", "reason": "no"})).vetoed("action_not_allowed").says(&["/guard/kill"]);
    let bid = json!({"type": "order", "orders": [close(ETH, true, "1", "1")], "grouping": {"p": 1}});
    Desk::live().ask(bid).vetoed("action_not_allowed").says(&["priority"]);
}
