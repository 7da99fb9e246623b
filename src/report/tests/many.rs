//! A year of a million fills: what is held does not grow with them. Run by hand, as it takes a while.

use serde_json::json;

use super::{DAY, line, report, whole};

#[test]
#[ignore = "a million lines"]
fn a_year_of_a_million_fills_is_summed_up() {
    let mut taken = report(whole());
    for number in 0..1_000_000_u64 {
        let time = number * 365 * DAY / 1_000_000;
        let fill = json!({
            "kind": "fill", "at_ms": time, "time": time, "coin": "ETH", "side": "buy", "px": "2500.5", "size": "0.01",
            "fee": "0.011252", "fee_token": "USDC", "closed_pnl": "-0.01", "position_before": "0", "position_after": "0.01",
            "oid": number, "tid": number, "cloid": null, "crossed": true, "intent": null, "client": "guard",
        });
        taken.take(&line(number + 1, &fill), true);
    }
    let told = taken.finish().to_json();
    assert_eq!(told["rows"].as_array().map(Vec::len), Some(365));
    let total = &told["total"];
    assert_eq!(
        [&total["fills"], &total["volume"], &total["net"]],
        [&json!(1_000_000), &json!("25005000"), &json!("-21252")]
    );
}
