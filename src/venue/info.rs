//! Answers to `/info` questions, as far as the guard relies on them.
//!
//! Sources: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/info-endpoint> and its pages
//! <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/info-endpoint/perpetuals> and
//! <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/info-endpoint/spot>. `twapHistory` has the entries of the
//! subscription `userTwapHistory` on <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/websocket/subscriptions>.
//! `extraAgents` is on no page (observed, and in the schema of the SDK `@nktkas/hyperliquid`).
//!
//! Unknown keys are ignored: the venue adds some at any time. A key that is relied on and missing is an error, never
//! a default.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};

use crate::base::address::{Address, Cloid};
use crate::base::amount::parse_info;

pub use super::side::Side;

/// A JSON answer.
pub type Answer = serde_json::Value;

/// `clearinghouseState`: the perp account.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClearinghouseState {
    /// Totals over cross and isolated margin.
    pub margin_summary: MarginSummary,
    /// Maintenance margin of all cross positions, USDC.
    #[serde(deserialize_with = "decimal")]
    pub cross_maintenance_margin_used: Decimal,
    /// One element a coin with a position.
    pub asset_positions: Vec<AssetPosition>,
    /// The venue's time of the answer, UTC ms.
    pub time: u64,
}

/// Totals of an account.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MarginSummary {
    /// USDC with unrealised profit and loss. Not the equity in a unified account.
    #[serde(deserialize_with = "decimal")]
    pub account_value: Decimal,
}

/// A position's wrapper.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct AssetPosition {
    /// The position.
    pub position: Position,
}

/// A position.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Position {
    /// Coin.
    pub coin: String,
    /// Signed size: negative is short.
    #[serde(deserialize_with = "decimal")]
    pub szi: Decimal,
    /// The leverage setting.
    pub leverage: Leverage,
    /// Entry price, rounded for display.
    #[serde(default, deserialize_with = "optional_decimal")]
    pub entry_px: Option<Decimal>,
    /// Notional at the mark, USDC.
    #[serde(deserialize_with = "decimal")]
    pub position_value: Decimal,
    /// USDC.
    #[serde(deserialize_with = "decimal")]
    pub unrealized_pnl: Decimal,
    /// `None` when no price liquidates it.
    #[serde(default, deserialize_with = "optional_decimal")]
    pub liquidation_px: Option<Decimal>,
    /// USDC.
    #[serde(deserialize_with = "decimal")]
    pub margin_used: Decimal,
    /// Funding paid since it was opened, USDC, received with a minus (observed: negative on shorts while longs pay). Nothing is
    /// decided by it, so an answer without it is one.
    #[serde(default, rename = "cumFunding", deserialize_with = "since_open")]
    pub paid_funding: Option<Decimal>,
}

/// A leverage setting.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct Leverage {
    /// `cross` or `isolated`.
    #[serde(rename = "type")]
    pub mode: MarginMode,
    /// The setting.
    pub value: u32,
}

/// How a position is margined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MarginMode {
    /// Shares the account's margin.
    Cross,
    /// Has margin of its own.
    Isolated,
}

/// One element of `frontendOpenOrders`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenOrder {
    /// Coin.
    pub coin: String,
    /// Side.
    pub side: Side,
    /// Limit price.
    #[serde(deserialize_with = "decimal")]
    pub limit_px: Decimal,
    /// Remaining size; 0 for a stop that covers whatever the position is (observed).
    #[serde(deserialize_with = "decimal")]
    pub sz: Decimal,
    /// Order id.
    pub oid: u64,
    /// Still waits for its trigger.
    pub is_trigger: bool,
    /// Trigger price; 0 without one.
    #[serde(deserialize_with = "decimal")]
    pub trigger_px: Decimal,
    /// Covers whatever the position is.
    pub is_position_tpsl: bool,
    /// May only reduce.
    pub reduce_only: bool,
    /// `Limit`, `Stop Market`, `Take Profit Limit` and so on.
    pub order_type: String,
    /// Time in force, in the venue's words; none for a trigger order that waits.
    #[serde(default)]
    pub tif: Option<String>,
    /// Client order id.
    pub cloid: Option<Cloid>,
    /// Orders that wait for this one to fill.
    #[serde(default)]
    pub children: Vec<OpenOrder>,
}

impl OpenOrder {
    /// The trigger price, if this is a reduce-only stop loss that executes at market.
    /// The name of its type: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/nodes/l1-data-schemas>.
    #[must_use]
    pub fn market_stop_px(&self) -> Option<Decimal> {
        (self.is_trigger && self.reduce_only && self.order_type == "Stop Market").then_some(self.trigger_px)
    }

    /// The trigger price of a take profit, whichever way it executes.
    #[must_use]
    pub fn take_profit_px(&self) -> Option<Decimal> {
        (self.is_trigger && self.order_type.starts_with("Take Profit")).then_some(self.trigger_px)
    }
}

/// Where an account keeps its value (`userAbstraction`).
/// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/trading/account-abstraction-modes>.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountMode {
    /// Spot and perps apart: the perp account value is the equity.
    Standard,
    /// One balance: the spot USDC total is the equity and contains unrealised profit and loss.
    Unified,
}

impl AccountMode {
    /// Reads a `userAbstraction` answer; the mode's name where it is one in which the equity cannot be read with
    /// certainty.
    ///
    /// # Errors
    /// When the answer names no mode.
    pub fn from_answer(answer: &Answer) -> Result<Result<Self, String>, String> {
        answer.as_str().map(Self::named).ok_or_else(|| "userAbstraction: not a string".to_owned())
    }

    /// The mode of this name; the name again where it is one in which the equity cannot be read with certainty.
    ///
    /// # Errors
    /// See above.
    pub fn named(name: &str) -> Result<Self, String> {
        match name {
            "default" | "disabled" => Ok(AccountMode::Standard),
            "unifiedAccount" => Ok(AccountMode::Unified),
            other => Err(other.to_owned()),
        }
    }
}

/// Why no guard starts on an account in this mode.
#[must_use]
pub fn unvalued(mode: &str) -> String {
    format!("the account's mode is {mode}, whose equity cannot be valued surely")
}

/// Reads an `allMids` answer: mid by coin. Spot pairs and others of no interest stay in it.
///
/// # Errors
/// When it is no map of decimals.
pub fn mids(answer: &Answer) -> Result<BTreeMap<String, Decimal>, String> {
    let map = answer.as_object().ok_or("allMids: not an object")?;
    map.iter()
        .map(|(coin, mid)| {
            let mid = mid.as_str().and_then(|text| parse_info(text).ok());
            mid.map(|mid| (coin.clone(), mid)).ok_or_else(|| format!("allMids: {coin} is no decimal"))
        })
        .collect()
}

/// Balances of spot tokens (`spotClearinghouseState`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SpotState {
    /// One element a token.
    pub balances: Vec<SpotBalance>,
}

/// The balance of one token.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SpotBalance {
    /// The token's number; sides of outcome markets have none (observed).
    pub token: Option<u64>,
    /// With what is on hold.
    #[serde(deserialize_with = "decimal")]
    pub total: Decimal,
}

impl SpotState {
    /// The USDC total: the equity of a unified account.
    ///
    /// # Errors
    /// When there is no such balance and others besides.
    pub fn usdc(&self) -> Result<Decimal, String> {
        match self.balances.iter().find(|balance| balance.token == Some(0)) {
            Some(usdc) => Ok(usdc.total),
            None if self.balances.is_empty() => Ok(Decimal::ZERO),
            None => Err("spotClearinghouseState: no USDC balance".to_owned()),
        }
    }
}

/// Reads the USDC total of a `spotClearinghouseState`: the equity of a unified account.
///
/// # Errors
/// When the answer has no such balance and others besides, or the total is no decimal.
pub fn unified_equity(answer: &Answer) -> Result<Decimal, String> {
    SpotState::deserialize(answer).map_err(|error| format!("spotClearinghouseState: {error}"))?.usdc()
}

/// What an address is at the venue (`userRole`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// An account with a key of its own.
    User,
    /// An API wallet of `0`.
    Agent(Address),
    /// A sub-account of `0`.
    SubAccount(Address),
    /// A vault.
    Vault,
    /// Unknown to the venue.
    Missing,
}

impl Role {
    /// Reads a `userRole` answer.
    ///
    /// # Errors
    /// When the answer is of another shape or the role is not one of the five.
    pub fn from_answer(answer: &Answer) -> Result<Self, String> {
        let address = |key: &str| {
            let text = answer.get("data").and_then(|data| data.get(key)).and_then(Answer::as_str);
            text.and_then(|text| Address::parse_lenient(text).ok()).ok_or_else(|| format!("userRole: no {key}"))
        };
        match answer.get("role").and_then(Answer::as_str) {
            Some("user") => Ok(Role::User),
            Some("agent") => address("user").map(Role::Agent),
            Some("subAccount") => address("master").map(Role::SubAccount),
            Some("vault") => Ok(Role::Vault),
            Some("missing") => Ok(Role::Missing),
            other => Err(format!("userRole: {}", other.unwrap_or("no role"))),
        }
    }
}

/// An entry may show up in the ledger this long after its time, milliseconds. No page says how late: a margin that the
/// guard keeps.
pub const LEDGER_OVERLAP_MS: u64 = 3_600_000;

/// One entry of `userNonFundingLedgerUpdates`: something other than trading and funding that moved the account.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct LedgerUpdate {
    /// When, UTC ms.
    pub time: u64,
    /// The transaction; several entries may share one.
    #[serde(default)]
    pub hash: String,
    /// What, by its `type`.
    pub delta: Answer,
}

/// Reads the TWAP orders that still run from a `twapHistory` answer: coin and id of each.
///
/// # Errors
/// When it is no list of TWAP orders with their status.
pub fn running_twaps(answer: &Answer) -> Result<Vec<(String, u64)>, String> {
    let mut running = BTreeMap::new();
    let entries = answer.as_array().ok_or("twapHistory: not a list")?;
    // Newest first; an order has an entry for each of its states, and only the newest one counts.
    for entry in entries.iter().rev() {
        let status = entry.pointer("/status/status").and_then(Answer::as_str).ok_or("twapHistory: no status")?;
        let Some(id) = entry.get("twapId").and_then(Answer::as_u64) else { continue };
        let coin = entry.pointer("/state/coin").and_then(Answer::as_str).ok_or("twapHistory: no coin")?;
        if status == "activated" {
            running.insert(id, coin.to_owned());
        } else {
            running.remove(&id);
        }
    }
    Ok(running.into_iter().map(|(id, coin)| (coin, id)).collect())
}

/// Reads the leverage setting of an `activeAssetData` answer.
///
/// # Errors
/// When it has none.
pub fn active_leverage(answer: &Answer) -> Result<Leverage, String> {
    let leverage = answer.get("leverage").ok_or("activeAssetData: no leverage")?;
    Leverage::deserialize(leverage).map_err(|error| format!("activeAssetData: {error}"))
}

/// The mark of an `activeAssetData` answer, where it has one.
#[must_use]
pub fn active_mark(answer: &Answer) -> Option<Decimal> {
    parse_info(answer.get("markPx")?.as_str()?).ok()
}

/// Reads a `metaAndAssetCtxs` answer: the markets' own part of it, and the marks by coin.
///
/// # Errors
/// When it is no pair of markets and as many contexts, or a mark is no number.
pub fn markets_and_marks(answer: &Answer) -> Result<(&Answer, BTreeMap<String, Decimal>), String> {
    let wrong = || "metaAndAssetCtxs: not a list of markets and their contexts".to_owned();
    let (Some(meta), Some(contexts)) = (answer.get(0), answer.get(1).and_then(Answer::as_array)) else {
        return Err(wrong());
    };
    let markets = meta.get("universe").and_then(Answer::as_array).ok_or_else(wrong)?;
    if markets.len() != contexts.len() {
        return Err(wrong());
    }
    let mut marks = BTreeMap::new();
    for (market, context) in markets.iter().zip(contexts) {
        let name = market.get("name").and_then(Answer::as_str).ok_or_else(wrong)?;
        // A market that is no longer traded has none.
        if let Some(text) = context.get("markPx").and_then(Answer::as_str) {
            let mark = parse_info(text).map_err(|error| format!("metaAndAssetCtxs: {name}'s mark: {error}"))?;
            marks.insert(name.to_owned(), mark);
        }
    }
    Ok((meta, marks))
}

/// The requests an account may still send, of a `userRateLimit` answer.
///
/// # Errors
/// When its counts are missing.
pub fn requests_left(answer: &Answer) -> Result<u64, String> {
    let count = |key: &str| answer.get(key).and_then(Answer::as_u64).ok_or_else(|| format!("userRateLimit: no {key}"));
    Ok(count("nRequestsCap")?.saturating_sub(count("nRequestsUsed")?))
}

/// The end of an API wallet's validity in UTC ms, of an `extraAgents` answer; `None` for one that is not named there.
#[must_use]
pub fn valid_until_ms(answer: &Answer, api_wallet: &Address) -> Option<u64> {
    let wallet = answer.as_array()?.iter().find(|agent| {
        let address = agent.get("address").and_then(Answer::as_str);
        address.and_then(|text| Address::parse_lenient(text).ok()).as_ref() == Some(api_wallet)
    })?;
    wallet.get("validUntil")?.as_u64()
}

pub(super) fn decimal<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Decimal, D::Error> {
    let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
    parse_info(&text).map_err(D::Error::custom)
}

fn since_open<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Decimal>, D::Error> {
    let funding = Answer::deserialize(deserializer)?;
    Ok(funding.get("sinceOpen").and_then(Answer::as_str).and_then(|text| parse_info(text).ok()))
}

pub(super) fn optional_decimal<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Decimal>, D::Error> {
    let text = Option::<std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
    text.map(|text| parse_info(&text).map_err(D::Error::custom)).transpose()
}
