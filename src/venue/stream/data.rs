//! The data of each feed.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde::Deserialize;

use super::events::{Funding, OrderUpdate, UserEvent};
use super::topic::{AccountFeed, MarketFeed, Topic};
use crate::base::address::Address;
use crate::venue::fill::Fill;
use crate::venue::info::{ClearinghouseState, LedgerUpdate, OpenOrder, SpotState, decimal, optional_decimal};

/// A frame of a feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Data {
    /// Fills.
    Fills(Rows<Fill>),
    /// What became of orders.
    OrderUpdates(Vec<OrderUpdate>),
    /// Something that happened to the account.
    Event(UserEvent),
    /// What moved the account without trading.
    Ledger(Rows<LedgerUpdate>),
    /// Payments of funding.
    Fundings(Rows<Funding>),
    /// The core perps' state.
    Account(Address, Box<ClearinghouseState>),
    /// The core perps' open orders.
    OpenOrders(Address, Vec<OpenOrder>),
    /// Balances of spot tokens.
    Spot(Address, SpotState),
    /// The account's settings.
    WebData(WebData),
    /// Mid by coin: perps, spot pairs and sides of outcome markets.
    Mids(BTreeMap<String, Decimal>),
    /// Best bid and ask.
    Bbo(Bbo),
    /// Prices of a market.
    AssetCtx(AssetCtx),
}

/// Rows of a feed whose first frame shows the last ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows<T> {
    /// The account.
    pub user: Address,
    /// Whether these are the last ones before the subscription: some may be known, and older ones are not there.
    pub is_snapshot: bool,
    /// The rows, oldest first in a snapshot (observed).
    pub rows: Vec<T>,
}

/// The account's settings and the venue's clock.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebData {
    /// The account.
    #[serde(deserialize_with = "address")]
    pub user: Address,
    /// The venue's time, UTC ms.
    pub server_time: u64,
    /// The account's mode by name, as `userAbstraction` has it; none for a vault (observed).
    #[serde(default)]
    pub abstraction: Option<String>,
    /// The API wallet without a name.
    #[serde(default)]
    pub agent_address: Option<String>,
    /// The end of its validity, UTC ms.
    #[serde(default)]
    pub agent_valid_until: Option<u64>,
}

/// Best bid and ask of a market.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bbo {
    /// Coin.
    pub coin: String,
    /// When, UTC ms.
    pub time: u64,
    /// Best bid, if there is one.
    pub bid: Option<Decimal>,
    /// Best ask, if there is one.
    pub ask: Option<Decimal>,
}

impl Bbo {
    /// Halfway between both, where both are there and apart.
    #[must_use]
    pub fn mid(&self) -> Option<Decimal> {
        let (bid, ask) = self.bid.zip(self.ask).filter(|(bid, ask)| bid < ask)?;
        bid.checked_add(ask)?.checked_div(Decimal::TWO)
    }
}

/// Prices of a market. They have no time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssetCtx {
    /// Coin.
    pub coin: String,
    /// Prices.
    pub prices: Prices,
}

/// Mark, oracle price and mid.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Prices {
    /// By which positions are valued.
    #[serde(deserialize_with = "decimal")]
    pub mark_px: Decimal,
    /// Of other venues.
    #[serde(deserialize_with = "decimal")]
    pub oracle_px: Decimal,
    /// Between bid and ask; none where one is missing.
    #[serde(default, deserialize_with = "optional_decimal")]
    pub mid_px: Option<Decimal>,
}

impl Data {
    /// The topic that it belongs to.
    #[must_use]
    pub fn topic(&self) -> Topic {
        match self {
            Data::Fills(_) => Topic::Account(AccountFeed::Fills),
            Data::OrderUpdates(_) => Topic::Account(AccountFeed::OrderUpdates),
            Data::Event(_) => Topic::Account(AccountFeed::Events),
            Data::Ledger(_) => Topic::Account(AccountFeed::Ledger),
            Data::Fundings(_) => Topic::Account(AccountFeed::Fundings),
            Data::Account(..) => Topic::Account(AccountFeed::Account),
            Data::OpenOrders(..) => Topic::Account(AccountFeed::OpenOrders),
            Data::Spot(..) => Topic::Account(AccountFeed::Spot),
            Data::WebData(_) => Topic::Account(AccountFeed::WebData),
            Data::Mids(_) => Topic::Mids,
            Data::Bbo(bbo) => Topic::Market(MarketFeed::Bbo, bbo.coin.clone()),
            Data::AssetCtx(ctx) => Topic::Market(MarketFeed::AssetCtx, ctx.coin.clone()),
        }
    }

    /// The account that it names, where it names one.
    #[must_use]
    pub fn user(&self) -> Option<&Address> {
        match self {
            Data::Fills(rows) => Some(&rows.user),
            Data::Ledger(rows) => Some(&rows.user),
            Data::Fundings(rows) => Some(&rows.user),
            Data::Account(user, _) | Data::OpenOrders(user, _) | Data::Spot(user, _) => Some(user),
            Data::WebData(data) => Some(&data.user),
            Data::OrderUpdates(_) | Data::Event(_) | Data::Mids(_) | Data::Bbo(_) | Data::AssetCtx(_) => None,
        }
    }

    /// The venue's time of a state, where it has one. The times of rows are those of what happened, however long ago.
    #[must_use]
    pub fn state_ms(&self) -> Option<u64> {
        match self {
            Data::Account(_, state) => Some(state.time),
            Data::WebData(data) => Some(data.server_time),
            Data::Bbo(bbo) => Some(bbo.time),
            _ => None,
        }
    }
}

/// An address in any of the venue's forms.
pub(super) fn address<'de, D: serde::de::Deserializer<'de>>(deserializer: D) -> Result<Address, D::Error> {
    let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
    Address::parse_lenient(&text).map_err(serde::de::Error::custom)
}
