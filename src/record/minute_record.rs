//! The last minute in a checkpoint, as the rules on how much is asked for count it: a restart gives nobody a new one.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use super::{amounts, lenient};
use crate::base::address::Address;
use crate::venue::order::Order;

/// What was asked for lately, each with when that was, UTC ms.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MinuteRecord {
    /// Entries that passed.
    #[serde(deserialize_with = "lenient::readable", skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<(u64, EntryNote)>,
    /// Actions that open and reduce nothing, and whose they were.
    #[serde(deserialize_with = "lenient::readable", skip_serializing_if = "Vec::is_empty")]
    pub neutral: Vec<(u64, Address)>,
    /// Cancels of ids that no known order had: whose, and how many in a request.
    #[serde(deserialize_with = "lenient::readable", skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<(u64, Address, usize)>,
    /// Entries of batches that went as requests of their own.
    #[serde(deserialize_with = "lenient::readable", skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<u64>,
}

/// An entry as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryNote {
    /// Who asked.
    pub client: Address,
    /// The market.
    pub asset: u32,
    /// Whether it buys.
    pub is_buy: bool,
    /// Its price.
    #[serde(with = "amounts::known")]
    pub px: Decimal,
    /// Its size.
    #[serde(with = "amounts::known")]
    pub size: Decimal,
}

impl EntryNote {
    /// The note of a client's order.
    #[must_use]
    pub fn of(client: Address, order: &Order) -> Self {
        Self { client, asset: order.asset, is_buy: order.is_buy, px: order.limit_px, size: order.size }
    }
}
