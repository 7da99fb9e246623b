//! The book of money in a checkpoint: what a restart must know of the rows on record, so that each is recorded once.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use super::lack::Lack;
use super::lenient;
use crate::base::address::{Address, Cloid};

/// What a restart must know of the book.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BookRecord {
    /// From when on it is kept, UTC ms.
    pub begin_ms: u64,
    /// All fills of before are on record.
    pub fills_ms: u64,
    /// Those on record since then: time, trade id, order id.
    #[serde(deserialize_with = "lenient::readable")]
    pub fills: Vec<(u64, u64, u64)>,
    /// All payments of funding of before are on record.
    pub fundings_ms: u64,
    /// Those on record since then: time, market; two of one time and market stand there twice.
    #[serde(deserialize_with = "lenient::readable")]
    pub fundings: Vec<(u64, String)>,
    /// All transfers of before are on record.
    pub transfers_ms: u64,
    /// Those on record since then.
    #[serde(deserialize_with = "lenient::readable")]
    pub transfers: Vec<TransferRecord>,
    /// The last orders that were sent.
    #[serde(deserialize_with = "lenient::readable")]
    pub orders: Vec<OrderRecord>,
    /// The sum, where there is one.
    #[serde(deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub sum: Option<SumRecord>,
    /// Each market's position after its newest fill, and when that was.
    #[serde(deserialize_with = "lenient::readable")]
    pub positions: Vec<(String, Decimal, u64)>,
    /// When the position of each market was opened, where that is known.
    #[serde(deserialize_with = "lenient::readable", skip_serializing_if = "Vec::is_empty")]
    pub opened: Vec<(String, u64)>,
    /// Where fills are missing, and not told of yet.
    #[serde(deserialize_with = "lenient::readable", skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<GapRecord>,
    /// The fills of each market's newest moment, where others of it may still come.
    #[serde(deserialize_with = "lenient::readable", skip_serializing_if = "Vec::is_empty")]
    pub moments: Vec<MomentRecord>,
    /// What it was told to lack.
    #[serde(deserialize_with = "lenient::readable", skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<ToldRecord>,
}

/// Something that the book was told to lack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToldRecord {
    /// As it was told.
    pub text: String,
    /// When, UTC ms.
    pub at_ms: u64,
    /// Of when, and what of it has not come since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacks: Option<Lack>,
}

/// The fills of a market's newest moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MomentRecord {
    /// The market.
    pub coin: String,
    /// The moment, UTC ms.
    pub time_ms: u64,
    /// The position before it, when that was reached and when it was opened, as far as all of that is known.
    pub before: Option<(Decimal, u64, Option<u64>)>,
    /// What fills of before it, that came after its first one, have changed of that.
    pub late: Decimal,
    /// Trade id, order id, and the positions before and after each.
    pub links: Vec<(u64, u64, Decimal, Decimal)>,
}

/// A place where fills are missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GapRecord {
    /// The market.
    pub coin: String,
    /// When the fills before and after it were, UTC ms.
    pub from_ms: u64,
    /// See `from_ms`.
    pub to_ms: u64,
    /// The position after the one before it.
    pub from: Decimal,
    /// The position that the one after it began at.
    pub to: Decimal,
    /// What of the way between both no fill has shown yet; nothing where its sum was filled, which may be by chance.
    pub left: Decimal,
    /// Answers have shown what there is of it up to this time, UTC ms. Earlier versions do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looked_ms: Option<u64>,
}

/// A transfer on record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TransferRecord {
    /// When it was at the venue, UTC ms.
    pub time: u64,
    /// The venue's hash of it.
    pub hash: String,
    /// The venue's name of it.
    pub kind: String,
    /// A digest of what it says; empty where it was recorded without one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
    /// How many of the same in all of that go before it.
    #[serde(default)]
    pub nth: u64,
}

/// The sum of the book. Amounts of rows are gross, fees, funding and transfers, USDC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SumRecord {
    /// When it was opened, by the venue's time, UTC ms.
    pub opened_ms: u64,
    /// The equity then.
    pub equity: Decimal,
    /// What was held had won or lost then.
    pub unrealised: Decimal,
    /// What has come since.
    pub sums: [Decimal; 4],
    /// All of this moment and before is in it.
    pub up_to_ms: u64,
    /// Rows of later.
    pub later: Vec<(u64, [Decimal; 4])>,
    /// Whether a read has added up with the opening.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_proved: bool,
    /// The newest time of fills of other purses that no sum vouches for, and what they can have moved at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign: Option<(u64, Decimal)>,
    /// What openings have taken in as prices of two moments.
    #[serde(default, skip_serializing_if = "Decimal::is_zero")]
    pub swallowed: Decimal,
    /// Whether all of the account was one purse, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_unified: Option<bool>,
    /// Times of which rows may still come: between which times of the venue's (UTC ms), what they explain (USDC, where that is known),
    /// and when it was told.
    #[serde(default, deserialize_with = "lenient::readable", skip_serializing_if = "Vec::is_empty")]
    pub unexplained: Vec<(u64, u64, Option<Decimal>, u64)>,
}

/// Who sent an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderRecord {
    /// The order.
    pub cloid: Cloid,
    /// The event that sent it.
    pub seq: u64,
    /// The client that decided on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<Address>,
}
