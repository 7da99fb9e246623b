//! Rows that a feed tells once, one for each thing that happened. No feed numbers them, so what is missed shows nowhere.

use rust_decimal::Decimal;
use serde::Deserialize;

use crate::base::address::Cloid;
use crate::venue::fill::Fill;
use crate::venue::info::{Side, decimal};

/// What became of an order. A stop order cannot be told from others here.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderUpdate {
    /// The order.
    pub order: UpdatedOrder,
    /// `open`, `filled`, `canceled` and so on; the list has no end.
    pub status: String,
    /// UTC ms; no page says of which moment.
    pub status_timestamp: u64,
}

/// The order of an [`OrderUpdate`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdatedOrder {
    /// Coin.
    pub coin: String,
    /// Side.
    pub side: Side,
    /// Limit price.
    #[serde(deserialize_with = "decimal")]
    pub limit_px: Decimal,
    /// Remaining size.
    #[serde(deserialize_with = "decimal")]
    pub sz: Decimal,
    /// Size when it was placed.
    #[serde(deserialize_with = "decimal")]
    pub orig_sz: Decimal,
    /// Order id.
    pub oid: u64,
    /// When it was placed, UTC ms.
    pub timestamp: u64,
    /// Client order id.
    #[serde(default)]
    pub cloid: Option<Cloid>,
}

/// A payment of funding.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Funding {
    /// When, UTC ms.
    pub time: u64,
    /// Coin.
    pub coin: String,
    /// Received; negative is paid.
    #[serde(deserialize_with = "decimal")]
    pub usdc: Decimal,
    /// The signed position that it is for.
    #[serde(deserialize_with = "decimal")]
    pub szi: Decimal,
    /// Of the position's value.
    #[serde(deserialize_with = "decimal")]
    pub funding_rate: Decimal,
}

/// An order that the venue cancelled of its own accord.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct VenueCancel {
    /// Coin.
    pub coin: String,
    /// Order id.
    pub oid: u64,
}

/// A frame of the feed `userEvents`. The venue tells one kind at a time; others than these are left alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "EventText")]
pub struct UserEvent {
    /// Fills, those of TWAP orders too.
    pub fills: Vec<Fill>,
    /// A payment of funding.
    pub funding: Option<Funding>,
    /// Orders cancelled by the venue.
    pub cancels: Vec<VenueCancel>,
    /// Somebody was liquidated: the account, or one that it liquidated.
    pub liquidation: Option<Liquidated>,
}

/// The liquidation of an account. Its names are in snake case.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Liquidated {
    /// Who was liquidated.
    #[serde(default)]
    pub liquidated_user: Option<String>,
}

/// The event as it is written.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct EventText {
    fills: Vec<Fill>,
    funding: Option<Funding>,
    non_user_cancel: Vec<VenueCancel>,
    twap_slice_fills: Vec<Slice>,
    liquidation: Option<Liquidated>,
}

/// A part of a TWAP order.
#[derive(Deserialize)]
struct Slice {
    fill: Fill,
}

impl From<EventText> for UserEvent {
    fn from(mut text: EventText) -> Self {
        text.fills.extend(text.twap_slice_fills.into_iter().map(|slice| slice.fill));
        let EventText { fills, funding, non_user_cancel: cancels, liquidation, .. } = text;
        Self { fills, funding, cancels, liquidation }
    }
}

impl UserEvent {
    /// Whether it tells none of these.
    #[must_use]
    pub fn is_other(&self) -> bool {
        *self == Self::default()
    }
}
