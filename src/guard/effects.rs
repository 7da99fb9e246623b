//! Effects: the events to write and the commands to carry out after a step.

use super::code::Code;
use super::feed_news::FeedCommand;
use super::reply::Verdict;
use crate::base::address::{Address, Cloid};
use crate::record::event::Keys;
use crate::record::risk_record::RiskRecord;
use crate::venue::json::Node;
use crate::venue::signing::Terms;

/// The effects of one step, in order: records go to disk first, then what waits for them is released.
#[derive(Debug, Default)]
pub struct Effects {
    /// Events to write.
    pub records: Vec<Record>,
    /// Risk records to write, after the events.
    pub risk: Vec<RiskLine>,
    /// Done only once the records of this step are on disk.
    pub after_commit: Vec<Command>,
    /// Done at once: what an earlier step's records already cover.
    pub immediate: Vec<Command>,
}

/// An event to write, with the keys it is found by.
#[derive(Debug, Clone)]
pub struct Record {
    /// The event as one line of JSON.
    pub text: String,
    /// Its number.
    pub seq: u64,
    /// Its kind, one of [`KINDS`](crate::record::event::KINDS).
    pub kind: &'static str,
    /// What it is found by.
    pub keys: Keys,
    /// How a request was decided, where it tells of that.
    pub decided: Option<Decided>,
}

/// How a request was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decided {
    /// The request's number.
    pub request: u64,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason.
    pub code: Code,
    /// Whether it passed and opens nothing.
    pub is_exit: bool,
    /// The client that signed it, where one did.
    pub client: Option<Address>,
}

/// A [`RiskRecord`] to write: what the risk state is made from at the next start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RiskLine {
    /// The record as one line of JSON.
    pub text: String,
}

impl From<RiskRecord> for RiskLine {
    fn from(record: RiskRecord) -> Self {
        Self { text: record.to_line() }
    }
}

/// One thing to do.
#[derive(Debug)]
pub enum Command {
    /// Answer a waiting client.
    Answer(Answer),
    /// Sign an action and send it.
    Send(SendAction),
    /// Read something from the venue soon.
    Read(Read),
    /// Have the live feed do something.
    Feed(FeedCommand),
    /// Write the kill file with this reason.
    WriteKillFile(String),
    /// Every intent has ended after a stop: the `stopped` event is on its way to disk.
    FinishShutdown,
}

/// An answer to a waiting client.
#[derive(Debug)]
pub struct Answer {
    /// The request's number.
    pub request: u64,
    /// HTTP status.
    pub http_status: u16,
    /// JSON.
    pub body: String,
}

/// An action to sign and send.
#[derive(Debug)]
pub struct SendAction {
    /// The intent's event.
    pub intent: u64,
    /// The action's place in it.
    pub index: usize,
    /// The action in the venue's form.
    pub action: Node,
    /// Nonce, vault and expiry.
    pub terms: Terms,
    /// Orders in the batch, for the weight it costs.
    pub batch_len: usize,
    /// Who waits when the budget or the senders are short.
    pub urgency: Urgency,
    /// The client that it is sent for: it spends of that client's share.
    pub client: Option<Address>,
}

/// How urgent a send is, most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// The guard's own: cover for bare positions, and closing everything.
    Own,
    /// A client's exit or cancel.
    Exit,
    /// Opens nothing and reduces nothing: settings, the end of a TWAP order, a nonce used up.
    Neutral,
    /// Can open or enlarge a position.
    Entry,
}

/// Something to read from the venue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Read {
    /// The account, as soon as its weight allows.
    Account,
    /// The account at once: a position may be bare, or must go.
    AccountNow,
    /// The open orders, as soon as their weight allows.
    Orders,
    /// The open orders at once: a position may be bare, or must go.
    OrdersNow,
    /// The open orders soon: a client's request waits for them. Of what covers and closes nothing is spent on that.
    OrdersSoon,
    /// The ledger of deposits, withdrawals and transfers since this time, UTC ms: cash moved.
    Ledger {
        /// From when on.
        since_ms: u64,
        /// A loss that would fire a halt is made sure of by it.
        is_for_halt: bool,
    },
    /// The same ledger when there is room: no halt waits for it.
    LedgerSoon {
        /// From when on.
        since_ms: u64,
    },
    /// The account's fills since this time of the venue's, UTC ms.
    Fills {
        /// From when on.
        since_ms: u64,
    },
    /// The account's fills since this time of the venue's, UTC ms, for the record: after everything else.
    BookFills {
        /// From when on.
        since_ms: u64,
        /// They tell where what is held is to be stopped out: at once.
        is_for_cover: bool,
    },
    /// The payments of funding since this time of the venue's, UTC ms, for the record.
    Fundings {
        /// From when on.
        since_ms: u64,
    },
    /// The account's mode: where its equity is kept.
    Mode {
        /// A loss that would fire a halt is made sure of by it.
        is_for_halt: bool,
    },
    /// The TWAP orders that run.
    Twaps,
    /// A market's leverage setting.
    Leverage {
        /// Asset id.
        asset: u32,
        /// Coin.
        coin: String,
    },
    /// What became of an order in doubt.
    OrderStatus {
        /// The intent that it belongs to.
        intent: u64,
        /// The action's place in it.
        index: usize,
        /// The order's client order id.
        cloid: Cloid,
    },
    /// The markets and their marks: a request named one that is not known, or whose mark is not.
    Universe,
}

impl Effects {
    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty() && self.risk.is_empty() && self.after_commit.is_empty() && self.immediate.is_empty()
    }
}
