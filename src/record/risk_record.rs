//! The records of the risk journal: what the risk state is made from at a start.
//!
//! What a halt and a checkpoint say is needed by a start whatever form the rest has, so their fields are read as far as
//! they can be.

use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use super::book_record::BookRecord;
use super::minute_record::MinuteRecord;
use super::text::Text;
use super::{amounts, lenient};
use crate::base::address::{Address, Cloid};
use crate::venue::json::Node;

/// A record: one line of the risk journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RiskRecord {
    /// A journal starts.
    Init(Init),
    /// A day starts.
    Day(DayStart),
    /// The equity was higher than ever.
    Peak(Peak),
    /// The first read of a life set marks, or what later reads say of it.
    FirstRead(FirstRead),
    /// Money came in or went out.
    Flow(Flow),
    /// A limit was reached.
    Halt(Halt),
    /// The day of a daily loss stop is over.
    HaltEnded(HaltEnded),
    /// Whom actions are for was found out.
    Role(Role),
    /// Where the account keeps its equity was read.
    Mode(ModeSeen),
    /// Everything is closed for the sake of a halt.
    Flatten(HaltFlatten),
    /// A person cleared the drawdown halt.
    Resume(Resume),
    /// A position's line moved.
    Line(LineMoved),
    /// What a restart must know of all events so far.
    Checkpoint(Box<Checkpoint>),
    /// A kind that this version does not know.
    #[serde(other)]
    Other,
}

impl RiskRecord {
    /// The record as one line of JSON.
    #[must_use]
    pub fn to_line(&self) -> String {
        // Records hold strings, numbers and string-keyed maps only, for which the writer has no error.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads a line; `None` where it has no form that is known here.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok()
    }
}

/// A journal starts, at an equity where one is known.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Init {
    /// When it was written, UTC ms.
    pub at_ms: u64,
    /// The journal's mode.
    pub mode: Text,
    /// The account.
    pub account: String,
    /// The network that the account is on.
    pub account_network: Text,
    /// The venue's time of the equity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub venue_ms: Option<u64>,
    /// The equity.
    #[serde(with = "amounts::or_null", skip_serializing_if = "Option::is_none")]
    pub equity: Option<Decimal>,
    /// A person's words, or what wrote it.
    pub note: String,
}

/// A day starts at this equity.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DayStart {
    /// When it was written, UTC ms.
    pub at_ms: u64,
    /// The day.
    pub day: String,
    /// The venue's time of the equity.
    pub venue_ms: Option<u64>,
    /// The equity.
    #[serde(with = "amounts::or_null")]
    pub equity: Option<Decimal>,
    /// By when the ledger was read.
    pub ledger_ms: u64,
}

/// A new highest equity.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Peak {
    /// When it was written, UTC ms.
    pub at_ms: u64,
    /// The venue's time of the equity.
    pub venue_ms: Option<u64>,
    /// The equity.
    #[serde(with = "amounts::or_null")]
    pub equity: Option<Decimal>,
}

/// The first read of a life. The day and the peak that follow one are as good as that, until a later record says what it was.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FirstRead {
    /// When it was written, UTC ms.
    pub at_ms: u64,
    /// The venue's time of the equity.
    pub venue_ms: Option<u64>,
    /// The equity.
    #[serde(with = "amounts::or_null")]
    pub equity: Option<Decimal>,
    /// How sure it is.
    pub said: Said,
}

/// How sure a first read is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// No other has been read yet.
    #[default]
    Alone,
    /// Another one agreed with it.
    BornOut,
    /// Two others agreed with one another and not with it: the marks that it set are taken back.
    Misread,
    /// Something that this version does not know.
    #[serde(other)]
    Other,
}

/// Money that moved without profit or loss.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Flow {
    /// When it was written, UTC ms.
    pub at_ms: u64,
    /// When it moved.
    pub time_ms: Option<u64>,
    /// Of a change of the account's mode: from when on what flowed is in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<u64>,
    /// The ledger's name for it.
    #[serde(rename = "type")]
    pub kind: String,
    /// USDC, negative for what left.
    #[serde(with = "amounts::or_null")]
    pub usd: Option<Decimal>,
    /// The transaction.
    pub hash: String,
    /// What the account was worth just before it; none where that was not known.
    #[serde(with = "amounts::or_null", skip_serializing_if = "Option::is_none")]
    pub before: Option<Decimal>,
}

/// A limit was reached and everything is closed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Halt {
    /// When, UTC ms.
    #[serde(deserialize_with = "lenient::or_default")]
    pub at_ms: u64,
    /// The risk state from then on.
    #[serde(deserialize_with = "lenient::or_default")]
    pub state: Text,
    /// The figures.
    #[serde(deserialize_with = "lenient::or_default")]
    pub details: Option<HaltDetails>,
}

/// The figures of a halt: amounts in USDC, as texts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HaltDetails {
    /// `daily_loss` or `drawdown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Text>,
    /// The equity that was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equity: Option<String>,
    /// The highest equity before, of a drawdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_equity: Option<String>,
    /// What was lost since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drawdown: Option<String>,
    /// The day, of a daily loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day: Option<String>,
    /// The equity at its start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day_start_equity: Option<String>,
    /// What was lost since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<String>,
    /// The limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// The limit, percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_pct: Option<String>,
}

/// A halt ended by itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HaltEnded {
    /// When, UTC ms.
    pub at_ms: u64,
}

/// Whether actions must name the account as the vault or sub-account that they are for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Role {
    /// When it was found out, UTC ms.
    pub at_ms: u64,
    /// Whether they must.
    pub acts_for_account: Option<bool>,
}

/// The account's mode as it was read first, and as it changed, over lives.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ModeSeen {
    /// When it was read, UTC ms.
    pub at_ms: u64,
    /// Whether all of the account is one purse.
    pub unified: bool,
    /// It was so at some moment between these of the venue's, UTC ms.
    pub from_ms: u64,
    /// See `from_ms`.
    pub to_ms: u64,
}

/// The flatten event that serves a halt: later rounds, also of a later life, are of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HaltFlatten {
    /// When, UTC ms.
    pub at_ms: u64,
    /// The event.
    pub seq: Option<u64>,
}

/// A person cleared the drawdown halt: the peak begins anew at this equity.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Resume {
    /// When, UTC ms.
    pub at_ms: u64,
    /// The venue's time of the equity.
    pub venue_ms: Option<u64>,
    /// The equity.
    #[serde(with = "amounts::or_null")]
    pub equity: Option<Decimal>,
    /// The person's words.
    pub note: String,
}

/// What a restart must know of all events so far, so that it need not read them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Checkpoint {
    /// When it was written, UTC ms.
    #[serde(deserialize_with = "lenient::or_default")]
    pub at_ms: u64,
    /// The last event that it covers.
    #[serde(deserialize_with = "lenient::or_default")]
    pub seq: u64,
    /// The guard's own highest nonce.
    #[serde(deserialize_with = "lenient::or_default")]
    pub own_nonce: Option<u64>,
    /// The highest nonces of each client.
    #[serde(deserialize_with = "lenient::or_default")]
    pub client_nonces: BTreeMap<Address, BTreeSet<u64>>,
    /// The intents that are not settled.
    #[serde(deserialize_with = "lenient::readable")]
    pub open: Vec<OpenIntent>,
    /// The client order ids whose orders are likely still open.
    #[serde(deserialize_with = "lenient::readable")]
    pub client_cloids: Vec<Cloid>,
    /// The same by the client that chose them, where that is known.
    #[serde(deserialize_with = "lenient::or_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub cloids_of: BTreeMap<Address, Vec<Cloid>>,
    /// The orders that rest, by the client that placed them; once of reduce-only ones alone.
    #[serde(alias = "exits_of", deserialize_with = "lenient::or_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub orders_of: BTreeMap<Address, Vec<Cloid>>,
    /// Where the entries that rest are stopped out, as they were judged.
    #[serde(deserialize_with = "lenient::readable", skip_serializing_if = "Vec::is_empty")]
    pub judged: Vec<(Cloid, Decimal)>,
    /// By when the ledger was read.
    #[serde(deserialize_with = "lenient::or_default")]
    pub ledger_ms: u64,
    /// How far from the price each position may have its stops.
    #[serde(deserialize_with = "lenient::readable", skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<PositionLine>,
    /// The book of money.
    #[serde(deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub book: Option<BookRecord>,
    /// What counts against the rules on how much is asked for, if anything does.
    #[serde(deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub minute: Option<MinuteRecord>,
    /// The place in the journal after the events that it covers, which the journal adds: the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events_file: Option<String>,
    /// The byte in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events_offset: Option<u64>,
    /// The chain value there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events_chain: Option<String>,
}

/// The line of one market's position: its stops stand no farther than there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PositionLine {
    /// The market.
    pub asset: u32,
    /// Whether the position is long.
    pub is_long: bool,
    /// The size held.
    pub held: Decimal,
    /// Trigger and size of what was ever covered, the nearest in front.
    pub parts: Vec<(Decimal, Decimal)>,
    /// The position's entry price, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_px: Option<Decimal>,
}

/// The line of a market's position as it is from now on: without parts where nothing is covered any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineMoved {
    /// When, UTC ms.
    #[serde(default)]
    pub at_ms: u64,
    /// The line.
    #[serde(flatten)]
    pub line: PositionLine,
}

/// An intent of which something is still to be sent, or in doubt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenIntent {
    /// Its event.
    pub seq: u64,
    /// Whether a `done` event tells of it already.
    #[serde(default)]
    pub done: bool,
    /// Its actions of which nothing final is told.
    pub actions: Vec<OpenAction>,
}

/// One action of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenAction {
    /// Its place.
    pub index: usize,
    /// The action.
    pub action: Node,
    /// Its nonce.
    pub nonce: u64,
    /// After this it can no longer take effect; none for the guard's own.
    pub expires_ms: Option<u64>,
    /// It went out, and no answer came.
    pub doubtful: bool,
    /// By then a noop had shown that its nonce was used up.
    pub used_ms: Option<u64>,
}
