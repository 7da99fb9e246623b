//! The status: the body of `GET /guard/status`.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use super::alert::Alert;
use super::risk_record::HaltDetails;
use super::text::Text;
use super::{alert, amounts, lenient};
use crate::base::address::{Address, Cloid};
use crate::venue::info::MarginMode;

/// The version of this schema.
pub const SCHEMA: u32 = 1;

/// What the guard knows, for people and programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The version of this schema.
    pub schema: u32,
    /// The program's version.
    #[serde(default)]
    pub version: Text,
    /// `paper`, `testnet` or `mainnet`.
    pub mode: Text,
    /// The account that is guarded.
    pub account: Address,
    /// The network that the account is on.
    #[serde(default)]
    pub account_network: Text,
    /// The API wallet.
    #[serde(default)]
    pub api_wallet: Option<Address>,
    /// Until when the venue takes its signature, UTC ms.
    #[serde(default)]
    pub api_wallet_valid_until: Option<u64>,
    /// Why the kill switch is pulled, if it is.
    #[serde(default)]
    pub killed: Option<String>,
    /// The kill file.
    #[serde(default)]
    pub kill_file: String,
    /// A number of this life of the service's, which the home's `journals/listening` holds too.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub life: String,
    /// The rules as a code.
    #[serde(default)]
    pub rules: String,
    /// Who may ask.
    #[serde(default)]
    pub clients: Vec<Address>,
    /// When this is, UTC ms.
    #[serde(default)]
    pub at_ms: u64,
    /// The risk state and its figures.
    #[serde(default)]
    pub risk: RiskStatus,
    /// What of each rule is used.
    #[serde(default, deserialize_with = "lenient::readable")]
    pub headroom: Vec<Headroom>,
    /// The account's equity, USDC.
    #[serde(default, with = "amounts::or_null")]
    pub equity: Option<Decimal>,
    /// What is held.
    #[serde(default, deserialize_with = "lenient::readable")]
    pub positions: Vec<Position>,
    /// What rests.
    #[serde(default, deserialize_with = "lenient::readable")]
    pub open_orders: Vec<OpenOrder>,
    /// How many open entries have no stop of their own with them: theirs comes when they fill.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unattended: usize,
    /// What the venue is left with if the guard goes away now; absent where nothing is held and nothing rests, and before
    /// that was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_away: Option<IfAway>,
    /// How far closing everything has come; absent where nothing has to be closed, and in paper mode, which closes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closing: Option<Closing>,
    /// What a person should look at.
    #[serde(default, deserialize_with = "alert::each")]
    pub alerts: Vec<Alert>,
    /// The way to the venue.
    #[serde(default)]
    pub venue: VenueStatus,
    /// What clients subscribe to through the guard; absent in a status of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscriptions: Option<SubscriptionStatus>,
    /// The last event, as it was written.
    #[serde(default)]
    pub last_event: Option<Value>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The risk state and its figures, USDC.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RiskStatus {
    /// `active`, `halted_for_day` or `stopped`.
    pub state: Text,
    /// Since when, UTC ms.
    pub since_ms: u64,
    /// The figures of a halt.
    pub details: Option<HaltDetails>,
    /// The UTC day.
    pub day: Option<String>,
    /// Equity at its start.
    #[serde(with = "amounts::or_null")]
    pub day_start_equity: Option<Decimal>,
    /// Profit since, a loss with a minus.
    #[serde(with = "amounts::or_null")]
    pub day_pnl: Option<Decimal>,
    /// The loss of a day that stops it.
    #[serde(with = "amounts::or_null")]
    pub daily_loss_limit: Option<Decimal>,
    /// The highest equity.
    #[serde(with = "amounts::or_null")]
    pub peak_equity: Option<Decimal>,
    /// What is lost since.
    #[serde(with = "amounts::or_null")]
    pub drawdown: Option<Decimal>,
    /// The drawdown that halts.
    #[serde(with = "amounts::or_null")]
    pub drawdown_limit: Option<Decimal>,
    /// What is lost if every stop is hit.
    #[serde(with = "amounts::or_null")]
    pub open_risk: Option<Decimal>,
    /// The most of it.
    #[serde(with = "amounts::or_null")]
    pub open_risk_limit: Option<Decimal>,
    /// Gross exposure.
    #[serde(with = "amounts::or_null")]
    pub exposure: Option<Decimal>,
    /// The most of it.
    #[serde(with = "amounts::or_null")]
    pub exposure_limit: Option<Decimal>,
}

/// What of one rule is used now.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Headroom {
    /// The rule's key.
    pub rule: Text,
    /// `usdc`, `times` or `orders`.
    pub unit: Text,
    /// The market that is nearest to the limit, where it is one of a market.
    pub coin: Option<String>,
    /// What is used.
    #[serde(with = "amounts::or_null")]
    pub used: Option<Decimal>,
    /// The limit.
    #[serde(with = "amounts::or_null")]
    pub limit: Option<Decimal>,
}

/// A position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The market.
    pub coin: String,
    /// `long` or `short`.
    pub side: Text,
    /// How much.
    #[serde(with = "amounts::known")]
    pub size: Decimal,
    /// The average price that it was opened at.
    #[serde(default, with = "amounts::or_null")]
    pub entry_px: Option<Decimal>,
    /// The price now.
    #[serde(default, with = "amounts::or_null")]
    pub mark_px: Option<Decimal>,
    /// What it is worth, USDC.
    #[serde(default, with = "amounts::known")]
    pub value: Decimal,
    /// What it has won, a loss with a minus.
    #[serde(default, with = "amounts::known")]
    pub unrealized_pnl: Decimal,
    /// The leverage setting.
    #[serde(default)]
    pub leverage: u32,
    /// `cross` or `isolated`.
    #[serde(default)]
    pub margin_mode: Option<MarginMode>,
    /// The price at which the venue closes it.
    #[serde(default, with = "amounts::or_null")]
    pub liquidation_px: Option<Decimal>,
    /// The nearest market stop.
    #[serde(default, with = "amounts::or_null")]
    pub stop_px: Option<Decimal>,
    /// How much market stops cover.
    #[serde(default, with = "amounts::known")]
    pub covered_size: Decimal,
    /// What is lost if every stop is hit.
    #[serde(default, with = "amounts::known")]
    pub risk: Decimal,
    /// Funding received since it was opened, USDC, paid with a minus.
    #[serde(default, with = "amounts::or_null")]
    pub funding: Option<Decimal>,
    /// When it was opened, as the book of money tells, UTC ms.
    #[serde(default)]
    pub opened_ms: Option<u64>,
}

/// What the venue is left with if the guard goes away, USDC.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct IfAway {
    /// Lost at most at the stops: of all that has one.
    #[serde(with = "amounts::known")]
    pub loss: Decimal,
    /// Held now, or once every entry has filled, without a stop that closes it.
    #[serde(with = "amounts::known")]
    pub without_stop: Decimal,
    /// What is held.
    pub positions: Left,
    /// Entries with a stop of their own, which comes alive when they fill.
    pub entries: Left,
    /// Entries without one.
    pub unattended: Left,
}

/// A part of it, USDC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Left {
    /// How many.
    pub count: usize,
    /// What they are worth: positions now, entries when they fill.
    #[serde(with = "amounts::known")]
    pub value: Decimal,
    /// What they lose from there to their stops.
    #[serde(with = "amounts::known")]
    pub loss: Decimal,
    /// What of their value no stop closes.
    #[serde(with = "amounts::known")]
    pub without_stop: Decimal,
}

/// How far closing everything has come.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Closing {
    /// Whether it has ended: no position, no order and no TWAP order is left, by reads since the last close.
    pub flat: bool,
    /// How the account and its open orders stood at this time, UTC ms.
    pub checked_ms: Option<u64>,
    /// TWAP orders that run; `null` where that is not known.
    pub twaps: Option<usize>,
    /// What keeps it from ending, each in words and with a way out: what the venue said of the last close, and what the guard cannot
    /// close at all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hindrances: Vec<String>,
}

/// An open order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenOrder {
    /// The market.
    pub coin: String,
    /// The venue's id.
    pub oid: u64,
    /// The client order id.
    #[serde(default)]
    pub cloid: Option<Cloid>,
    /// `buy` or `sell`.
    pub side: Text,
    /// What is left of it.
    #[serde(with = "amounts::known")]
    pub size: Decimal,
    /// The limit.
    #[serde(with = "amounts::known")]
    pub px: Decimal,
    /// The trigger, of an order that has one.
    #[serde(default, with = "amounts::or_null")]
    pub trigger_px: Option<Decimal>,
    /// Whether it becomes a market order when it triggers.
    pub is_market_trigger: bool,
    /// The venue's name for its type, such as `stop_market`.
    pub order_type: String,
    /// How long it stands, where the venue says.
    #[serde(default)]
    pub tif: Option<String>,
    /// Whether it can only reduce.
    pub reduce_only: bool,
    /// `bot`, `guard` or `other`.
    #[serde(default)]
    pub owner: Text,
}

/// The way to the venue.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct VenueStatus {
    /// Its address.
    pub url: String,
    /// How old the account is that is shown here.
    pub account_age_ms: Option<u64>,
    /// How old the open orders are that are shown here; none where they were not read since the start.
    pub orders_age_ms: Option<u64>,
    /// How old the prices are.
    pub prices_age_ms: Option<u64>,
    /// The request budget of a minute.
    pub weight_per_minute: u32,
    /// What is used of it.
    pub weight_used: u32,
    /// The venue's live feed; absent where it is not listened to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feed: Option<FeedStatus>,
}

/// The venue's live feed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FeedStatus {
    /// How far it is: `waiting`, `connecting`, `subscribing`, `reading` or `live`.
    pub stage: Text,
    /// Whether everything that the guard goes by is proved fresh.
    pub proved: bool,
    /// Whether account, open orders and prices are only audited: nothing is on its way, and the feed tells of the rest.
    pub audited: bool,
    /// Since when not everything is proved, UTC ms.
    pub down_since_ms: Option<u64>,
    /// How late its newest state was.
    pub lag_ms: Option<u64>,
    /// Sockets that opened since the start.
    pub sockets: u64,
    /// Frames that came.
    pub frames: u64,
    /// Frames that could not be used.
    pub unusable: u64,
    /// Fills that were missed.
    pub missed: u64,
    /// Times that reads showed something else than it told.
    pub differences: u64,
    /// Why it is not believed, or why the last socket ended.
    pub ended: Option<String>,
}

/// What clients subscribe to through the guard.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SubscriptionStatus {
    /// Connections that subscribe.
    pub clients: usize,
    /// Their subscriptions.
    pub held: usize,
    /// Subscriptions at the venue: each once, however many clients have it.
    pub at_venue: usize,
    /// Sockets to the venue that are open for them.
    pub sockets: usize,
    /// Frames that came from the venue.
    pub frames: u64,
    /// Frames given to clients.
    pub passed: u64,
    /// States that a newer one took the place of before a client read them.
    pub replaced: u64,
    /// Clients closed because they read too slowly.
    pub slow: u64,
}
