//! Rows beside the one of all that come on top.

use serde_json::{Value, json};

use super::{reported, whole};
use crate::report::{By, Question};

fn fill(coin: &str, fee_token: &str) -> Value {
    json!({
        "kind": "fill", "at_ms": 3, "time": 3, "coin": coin, "side": "buy", "px": "1", "size": "1", "fee": "1",
        "fee_token": fee_token, "closed_pnl": "0", "position_before": "0", "position_after": "1", "oid": 1, "tid": 1,
        "cloid": null, "crossed": true, "intent": null, "client": null,
    })
}

/// One is called as all that come on top are.
#[test]
fn a_market_that_is_called_like_all_others_is_a_row_of_its_own() {
    let mut events = vec![fill("(others)", "USDC"), fill("(others)", "USDC")];
    events.extend((0..10_002).map(|number| fill(&format!("M{number}"), "USDC")));
    let report = reported(Question { by: By::Market, ..whole() }, &events);
    let rows = report["rows"].as_array().unwrap();
    let told: Vec<_> = rows.iter().filter(|row| row["key"] == "(others)").map(|row| &row["fills"]).collect();
    assert_eq!(told, [2, 3]);
    let last = rows.last().unwrap();
    assert_eq!((&last["key"], &last["is_others"]), (&json!("(others)"), &json!(true)));
    assert_eq!(rows.iter().filter(|row| row.get("is_others").is_some()).count(), 1);
}

#[test]
fn a_token_that_is_called_like_all_others_is_one_of_its_own() {
    let mut events = vec![fill("ETH", "(others)")];
    events.extend((0..257).map(|number| fill("ETH", &format!("T{number:03}"))));
    let report = reported(whole(), &events);
    let fees = &report["total"]["fees_in"];
    assert_eq!((&fees["\"(others)\""], &fees["(others)"]), (&json!("1"), &json!("2")), "{fees}");
}
