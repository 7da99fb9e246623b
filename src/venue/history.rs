//! The past as the venue shows it, a page at a time: the oldest rows since a time, and no more than it still has.
//!
//! Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/info-endpoint>: the next page begins at the time of the
//! last row.

use rust_decimal::Decimal;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::fill::Fill;
use super::info::{Answer, LedgerUpdate, decimal};
use super::stream::events::Funding;
use crate::base::amount::to_wire;

/// Fills in one answer, and of all that the venue still shows.
pub const FILLS_A_PAGE: usize = 2_000;
/// See [`FILLS_A_PAGE`].
pub const FILLS_DEPTH: usize = 10_000;
/// Payments of funding in one answer.
pub const FUNDINGS_A_PAGE: usize = 500;
/// Entries of the ledger in one answer.
pub const LEDGER_A_PAGE: usize = 500;

/// The reason why a row cannot be read is cut to so many characters.
const WHY_LENGTH: usize = 160;

/// One answer's rows. One that cannot be read takes none of the others with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// Those that can be read, as they came.
    pub rows: Vec<T>,
    /// The others.
    pub unread: Vec<Unread>,
}

/// A row that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// Its time, UTC ms, where that much can be read.
    pub time: Option<u64>,
    /// Why it cannot.
    pub why: String,
}

impl<T> From<Vec<T>> for Page<T> {
    fn from(rows: Vec<T>) -> Self {
        Self { rows, unread: Vec::new() }
    }
}

impl<T> Page<T> {
    /// All rows, readable or not: what the venue counts.
    #[must_use]
    pub fn count(&self) -> usize {
        self.rows.len().saturating_add(self.unread.len())
    }
}

/// Reads a `userFillsByTime` answer. A row that nothing can have been traded by is none that can be read.
///
/// # Errors
/// When it is no list.
pub fn fills(answer: &Answer) -> Result<Page<Fill>, String> {
    let Page { rows, mut unread } = page::<Fill>(answer, "userFillsByTime")?;
    let (rows, odd) = rows.into_iter().partition(Fill::is_possible);
    let why = |fill: &Fill| format!("{} at {}", to_wire(fill.sz), to_wire(fill.px));
    unread.extend(Vec::<Fill>::into_iter(odd).map(|fill| Unread { time: Some(fill.time), why: why(&fill) }));
    Ok(Page { rows, unread })
}

/// Reads a `userNonFundingLedgerUpdates` answer.
///
/// # Errors
/// When it is no list.
pub fn ledger(answer: &Answer) -> Result<Page<LedgerUpdate>, String> {
    page(answer, "userNonFundingLedgerUpdates")
}

fn page<T: DeserializeOwned>(answer: &Answer, kind: &str) -> Result<Page<T>, String> {
    let all = answer.as_array().ok_or_else(|| format!("{kind}: not a list"))?;
    let mut page = Page { rows: Vec::with_capacity(all.len()), unread: Vec::new() };
    for row in all {
        match T::deserialize(row) {
            Ok(row) => page.rows.push(row),
            Err(error) => {
                let time = row.get("time").and_then(Answer::as_u64);
                page.unread.push(Unread { time, why: error.to_string().chars().take(WHY_LENGTH).collect() });
            }
        }
    }
    Ok(page)
}

/// Reads a `userFunding` answer.
///
/// # Errors
/// When it is no list.
pub fn fundings(answer: &Answer) -> Result<Page<Funding>, String> {
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
    let of =
        |Row { time, delta: Delta { coin, usdc, szi, funding_rate } }| Funding { time, coin, usdc, szi, funding_rate };
    let Page { rows, unread } = page::<Row>(answer, "userFunding")?;
    Ok(Page { rows: rows.into_iter().map(of).collect(), unread })
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
        assert_eq!(fundings(&json!([row])), Ok(vec![expected.clone()].into()));
        let page = fundings(&json!([{"time": 6, "delta": {}}, row, 7])).unwrap();
        assert_eq!((&page.rows, page.count()), (&vec![expected], 3));
        assert_eq!(page.unread.iter().map(|row| row.time).collect::<Vec<_>>(), [Some(6), None]);
        assert_eq!(page.unread[0].why, "missing field `coin`");
        assert!(fundings(&json!({})).is_err());
    }

    #[test]
    fn an_entry_of_the_ledger_that_cannot_be_read_takes_no_other_with_it() {
        let row = json!({"time": 5, "hash": "0x", "delta": {"type": "deposit", "usdc": "1.0"}});
        let page = ledger(&json!([{"time": 4, "hash": "0x"}, row, {"time": 6, "hash": 7, "delta": {}}])).unwrap();
        assert_eq!((page.rows.iter().map(|row| row.time).collect::<Vec<_>>(), page.count()), (vec![5], 3));
        assert_eq!(page.unread.iter().map(|row| row.time).collect::<Vec<_>>(), [Some(4), Some(6)]);
        assert!(ledger(&json!({})).is_err());
    }

    #[test]
    fn a_fill_that_cannot_be_read_takes_no_other_with_it() {
        let row = |fee_token: &str| {
            let mut row = json!({"coin": "ETH", "px": "1", "sz": "1", "side": "A", "time": 5, "startPosition": "0.0",
                "closedPnl": "0.0", "oid": 7, "crossed": true, "fee": "0", "tid": 9, "feeToken": "USDC"});
            row["feeToken"] = json!(fee_token);
            row
        };
        let mut bare = row("USDC");
        bare.as_object_mut().unwrap().remove("feeToken");
        let page = fills(&json!([row("USDC"), bare, row("HYPE")])).unwrap();
        assert_eq!(page.rows.iter().map(|fill| &*fill.fee_token).collect::<Vec<_>>(), ["USDC", "HYPE"]);
        assert_eq!(page.unread, [Unread { time: Some(5), why: "missing field `feeToken`".to_owned() }]);
        let long = "x".repeat(9_000);
        let page = fills(&json!([{"coin": "ETH", "px": long}])).unwrap();
        assert!(page.unread[0].why.chars().count() <= WHY_LENGTH && fills(&json!(null)).is_err());
    }

    /// One step past what can be, and at it.
    #[test]
    fn a_fill_by_which_nothing_can_have_been_traded_is_none() {
        let row = |coin: &str, px: &str, sz: &str| {
            json!({"coin": coin, "px": px, "sz": sz, "side": "A", "time": 5, "startPosition": "0.0", "closedPnl": "0.0",
                "oid": 7, "crossed": true, "fee": "7", "tid": 9, "feeToken": "USDC"})
        };
        for (coin, px, sz, is_one) in [
            ("ETH", "0.1", "0.1", true),
            ("ETH", "0.0", "0.1", false),
            ("ETH", "-0.1", "0.1", false),
            ("ETH", "0.1", "0.0", false),
            ("ETH", "0.1", "-0.1", false),
            ("#5", "0.0", "0.1", true),
            ("#5", "-0.1", "0.1", false),
        ] {
            let page = fills(&json!([row(coin, px, sz)])).unwrap();
            assert_eq!((page.rows.len(), page.unread.len()), (usize::from(is_one), usize::from(!is_one)), "{px} {sz}");
        }
    }
}
