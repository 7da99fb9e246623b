//! The past as the venue shows it, a page at a time: the oldest rows since a time, and no more than it still has.
//!
//! Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/info-endpoint>: the next page begins at the time of the
//! last row.

use rust_decimal::Decimal;
use serde::Deserialize;

use super::info::{Answer, decimal};
use super::stream::events::Funding;

/// Fills in one answer, and of all that the venue still shows.
pub const FILLS_A_PAGE: usize = 2_000;
/// See [`FILLS_A_PAGE`].
pub const FILLS_DEPTH: usize = 10_000;
/// Payments of funding in one answer.
pub const FUNDINGS_A_PAGE: usize = 500;

/// Reads a `userFunding` answer.
///
/// # Errors
/// When it is no list of timed payments.
pub fn fundings(answer: &Answer) -> Result<Vec<Funding>, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Delta {
        coin: String,
        #[serde(deserialize_with = "decimal")]
        usdc: Decimal,
        #[serde(deserialize_with = "decimal")]
        szi: Decimal,
        #[serde(deserialize_with = "decimal")]
        funding_rate: Decimal,
    }
    #[derive(Deserialize)]
    struct Row {
        time: u64,
        delta: Delta,
    }
    let rows = Vec::<Row>::deserialize(answer).map_err(|error| format!("userFunding: {error}"))?;
    let of =
        |Row { time, delta: Delta { coin, usdc, szi, funding_rate } }| Funding { time, coin, usdc, szi, funding_rate };
    Ok(rows.into_iter().map(of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rust_decimal::dec;
    use serde_json::json;

    #[test]
    fn payments_of_funding_are_read() {
        let row = json!({"time": 5, "hash": "0x", "delta": {"type": "funding", "coin": "ETH", "usdc": "-3.625312",
            "szi": "49.1477", "fundingRate": "0.0000417", "nSamples": null}});
        let (coin, usdc, szi) = ("ETH".to_owned(), dec!(-3.625312), dec!(49.1477));
        let expected = Funding { time: 5, coin, usdc, szi, funding_rate: dec!(0.0000417) };
        assert_eq!(fundings(&json!([row])), Ok(vec![expected]));
        assert!(fundings(&json!([{"time": 5, "delta": {}}])).is_err() && fundings(&json!({})).is_err());
    }
}
