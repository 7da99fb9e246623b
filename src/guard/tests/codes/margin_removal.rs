//! `margin_removal`: margin is added only.

use serde_json::json;

use crate::guard::tests::fixture::*;

#[test]
fn margin_is_added_and_never_removed() {
    let margin = |ntli: i64| json!({"type": "updateIsolatedMargin", "asset": ETH, "isBuy": true, "ntli": ntli});
    Desk::live().ask(margin(0)).allowed();
    Desk::live().ask(margin(-1)).vetoed("margin_removal").says(&["-1"]);
}
