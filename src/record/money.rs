//! The book of money: what each fill, each payment of funding and each transfer did, and whether it all adds up.
//!
//! Amounts are exact, in USDC where no token is named, and signed as they change the account: what was paid is negative
//! but for fees, which are as the venue tells them: positive is paid, negative is a rebate.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use super::amounts::{known, or_null};
use super::text::Text;
use crate::base::address::Cloid;

/// A trade of the account. Each is recorded once.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Fill {
    /// The market, or a spot pair as the venue names it.
    pub coin: String,
    /// `buy` or `sell`, of the account's order.
    pub side: Text,
    /// The price.
    #[serde(with = "known")]
    pub px: Decimal,
    /// The size, never negative.
    #[serde(with = "known")]
    pub size: Decimal,
    /// The whole fee in `fee_token`, the builder's part in it; negative is a rebate.
    #[serde(with = "known")]
    pub fee: Decimal,
    /// The token of the fee.
    pub fee_token: String,
    /// The part of the fee that the builder of the order gets.
    #[serde(with = "or_null", skip_serializing_if = "Option::is_none")]
    pub builder_fee: Option<Decimal>,
    /// What closing won or lost before fees, as the venue says.
    #[serde(with = "known")]
    pub closed_pnl: Decimal,
    /// The signed position before it.
    #[serde(with = "known")]
    pub position_before: Decimal,
    /// The signed position after it; `None` where no amount can hold it.
    #[serde(with = "or_null")]
    pub position_after: Option<Decimal>,
    /// Order id.
    pub oid: u64,
    /// Client order id of the order as it stood at the venue.
    pub cloid: Option<Cloid>,
    /// Trade id.
    pub tid: u64,
    /// When it was at the venue, UTC ms.
    pub time: u64,
    /// Whether it took liquidity.
    pub crossed: bool,
    /// Set where the trade liquidated somebody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub liquidation: Option<Liquidation>,
    /// The event that sent the order; `None` where none is known.
    pub intent: Option<u64>,
    /// The client whose decision it was; `guard` for the guard's own stops and closes, `None` for a stranger's.
    pub client: Option<String>,
    /// Whether it was fetched after the fact: the guard was away, or had not been told of it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
}

/// A trade's part in a liquidation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Liquidation {
    /// Who was liquidated.
    pub user: Option<String>,
    /// The mark then.
    #[serde(with = "known")]
    pub mark_px: Decimal,
    /// `market` or `backstop`.
    pub method: String,
}

/// A payment of funding. Each is recorded once.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Funding {
    /// The market.
    pub coin: String,
    /// Received; negative is paid.
    #[serde(with = "known")]
    pub usdc: Decimal,
    /// The signed position that it is for.
    #[serde(with = "known")]
    pub size: Decimal,
    /// The rate, of the position's value.
    #[serde(with = "known")]
    pub rate: Decimal,
    /// When it was at the venue, UTC ms.
    pub time: u64,
    /// Whether it was fetched after the fact.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
}

/// A row of the venue's ledger: money that came into the guarded equity or left it but by trading, or none of it did. Each is
/// recorded once.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Transfer {
    /// The venue's name of it.
    #[serde(rename = "type")]
    pub what: String,
    /// What it changed the guarded equity by; `None` where that cannot be told.
    #[serde(with = "or_null")]
    pub usdc: Option<Decimal>,
    /// Why that is nothing, empty where it is something: it is recorded all the same, so that nobody judges it anew.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub why: Text,
    /// The venue's hash of it.
    pub hash: String,
    /// A digest of what the venue's row says: it tells those of one moment, name and hash apart.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub digest: String,
    /// When it was at the venue, UTC ms.
    pub time: u64,
    /// Whether it was fetched after the fact.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
}

/// The sum of the book, as it stood when the account was audited: at a start, once an hour, at the end of a UTC day, where
/// it stops adding up or does again, and at the end of the service.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Balance {
    /// The venue's time of the account read, UTC ms.
    pub venue_ms: u64,
    /// The venue's time from which on the sums count: that of `opening_equity`.
    pub opened_ms: u64,
    /// The equity with which the book was opened.
    #[serde(with = "or_null")]
    pub opening_equity: Option<Decimal>,
    /// What the positions had won or lost when it was opened.
    #[serde(with = "or_null")]
    pub opening_unrealised: Option<Decimal>,
    /// The equity by the account read.
    #[serde(with = "or_null")]
    pub equity: Option<Decimal>,
    /// What the positions have won or lost since they were opened.
    #[serde(with = "or_null")]
    pub unrealised: Option<Decimal>,
    /// Sum of `closed_pnl` of all fills since the opening.
    #[serde(with = "known")]
    pub gross: Decimal,
    /// Sum of fees in USDC since the opening.
    #[serde(with = "known")]
    pub fees: Decimal,
    /// Sum of funding since the opening.
    #[serde(with = "known")]
    pub funding: Decimal,
    /// Sum of transfers since the opening.
    #[serde(with = "known")]
    pub transfers: Decimal,
    /// Equity less what the book says that it is; `None` where it could not be compared, and `why` says why.
    #[serde(with = "or_null")]
    pub difference: Option<Decimal>,
    /// Why it could not be compared, empty where it was.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub why: Text,
    /// Whether all of the account was one purse, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unified: Option<bool>,
    /// The highest equity less transfers since the last of these records, this one included.
    #[serde(with = "or_null")]
    pub highest: Option<Decimal>,
    /// The lowest one.
    #[serde(with = "or_null")]
    pub lowest: Option<Decimal>,
    /// The worst fall from a high to a later low since the last of these records, USDC.
    #[serde(with = "or_null")]
    pub worst_fall: Option<Decimal>,
}
