//! `leverage_too_high`: a client's own setting.

use serde_json::json;

use crate::guard::tests::fixture::*;

#[test]
fn a_client_sets_leverage_up_to_the_rule() {
    let update = |leverage| json!({"type": "updateLeverage", "asset": ETH, "isCross": true, "leverage": leverage});
    Desk::live().ask(update(5)).allowed();
    Desk::live().ask(update(6)).vetoed("leverage_too_high").says(&["leverage 6 for ETH is over 5; ask for at most 5"]);
}
