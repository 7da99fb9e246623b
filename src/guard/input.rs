//! Inputs: everything that can happen to the core.

use crate::guard::alert_code::AlertCode;
use crate::guard::code::Code;
use crate::guard::feed_news::FeedNews;
use crate::guard::kept_request::kept_short;
use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde_json::Value;

use crate::base::address::{Address, Cloid};
use crate::venue::envelope::Envelope;
use crate::venue::fill::Fill;
use crate::venue::history::{Page, Unread};
use crate::venue::info::{AccountMode, ClearinghouseState, LedgerUpdate, Leverage, OpenOrder};
use crate::venue::json::Node;
use crate::venue::market::Universe;
use crate::venue::signing::Source;
use crate::venue::stream::events::Funding;

/// One input of the core.
#[derive(Debug, Clone)]
pub enum Input {
    /// A request to `/exchange`.
    Request(Request),
    /// The venue's markets were read.
    Universe(Universe),
    /// Mids by coin were read.
    Mids {
        /// Mid by coin.
        mids: BTreeMap<String, Decimal>,
        /// When the read began, UTC ms.
        begun_ms: u64,
    },
    /// Marks by coin were read, of all markets or of some.
    Marks {
        /// Mark by coin.
        marks: BTreeMap<String, Decimal>,
        /// When the read began, UTC ms.
        begun_ms: u64,
    },
    /// The account was read.
    Account {
        /// Its perp state.
        state: ClearinghouseState,
        /// Its equity, read where the account's mode keeps it, USDC.
        equity: Decimal,
        /// When the read began, UTC ms.
        begun_ms: u64,
    },
    /// The account was read, but not where its mode keeps the equity.
    AccountUnvalued {
        /// Its perp state.
        state: ClearinghouseState,
        /// When the read began, UTC ms.
        begun_ms: u64,
    },
    /// What the life before this one read of the account last, where that was a moment ago. It tells what is withdrawn from what is lost,
    /// and nothing else goes by it.
    LastAccount {
        /// Its perp state.
        state: ClearinghouseState,
        /// Its equity, USDC.
        equity: Decimal,
        /// The account's mode then.
        mode: AccountMode,
        /// When the read began, UTC ms.
        begun_ms: u64,
    },
    /// The open orders were read.
    Orders {
        /// All of them.
        orders: Vec<OpenOrder>,
        /// When the read began, UTC ms.
        begun_ms: u64,
    },
    /// The ledger of what moved the equity without trading was read.
    Ledger {
        /// Its updates since the time asked for.
        updates: Vec<LedgerUpdate>,
        /// When the read began, UTC ms.
        begun_ms: u64,
    },
    /// Something of the ledger is not among what was read.
    LedgerLacks {
        /// Entries that cannot be read.
        unread: Vec<Unread>,
        /// The first and the last time, UTC ms, of which the venue shows more entries than are read.
        cut: Option<(u64, u64)>,
    },
    /// The fills of a while when no live feed told of any were read.
    Fills {
        /// All since the time asked for.
        page: Page<Fill>,
        /// When the read began, UTC ms.
        begun_ms: u64,
    },
    /// Fills were read for the record.
    BookFills {
        /// Those since the time asked for: the oldest, where they are too many for one answer.
        page: Page<Fill>,
        /// The time asked for, UTC ms.
        since_ms: u64,
        /// When the read began, UTC ms.
        begun_ms: u64,
    },
    /// Payments of funding were read for the record.
    Fundings {
        /// Those since the time asked for: the oldest, where they are too many for one answer.
        page: Page<Funding>,
        /// The time asked for, UTC ms.
        since_ms: u64,
        /// When the read began, UTC ms.
        begun_ms: u64,
    },
    /// Where the account keeps its equity was read. Account reads that follow are read there.
    AccountMode {
        /// The mode.
        mode: AccountMode,
        /// When the read began, UTC ms.
        begun_ms: u64,
    },
    /// Nothing has been heard of the account's mode since the start, although it was asked for. Account reads that follow show
    /// what is held; what the account is worth is not known.
    ModeUnread,
    /// The account keeps its equity where it cannot be read. Account reads that follow show the rest of it all the same.
    UnvaluedMode {
        /// The mode's name.
        mode: String,
        /// When the read began, UTC ms.
        begun_ms: u64,
    },
    /// The TWAP orders that run were read: coin and id of each, or why they could not be.
    Twaps(Result<Vec<(String, u64)>, String>),
    /// A market's leverage setting was read; `None` when it could not be.
    Leverage {
        /// Asset id.
        asset: u32,
        /// The setting.
        leverage: Option<Leverage>,
    },
    /// The status of an order in doubt was read; `None` when it could not be.
    OrderStatus {
        /// The intent that it belongs to.
        intent: u64,
        /// The action's place in it.
        index: usize,
        /// The client order id asked for.
        cloid: Cloid,
        /// The venue's answer.
        answer: Option<Value>,
    },
    /// The venue's live feed tells something.
    Feed(FeedNews),
    /// The requests that the venue still takes from the account.
    RequestsLeft(u64),
    /// Whether actions must name the account as the vault or sub-account that they are for.
    ActsFor(Option<Address>),
    /// The end of the API wallet's validity was read, UTC ms; `None` where the venue names none.
    ApiWalletValidUntil(Option<u64>),
    /// An action sent for an intent came to an end.
    Sent {
        /// The intent's event.
        intent: u64,
        /// The action's place in it.
        index: usize,
        /// How it ended.
        outcome: SendOutcome,
    },
    /// The kill file was there when the service started.
    KilledBefore {
        /// Why.
        reason: String,
    },
    /// The kill switch was pulled.
    Kill {
        /// Why.
        reason: String,
        /// The client that pulled it, if one did.
        by: Option<Address>,
        /// Whether the kill file must still be written.
        write_file: bool,
        /// The HTTP request to answer, if one pulled it.
        request: Option<u64>,
    },
    /// The journal failed, or works again (`None`).
    Journal(Option<String>),
    /// The disk is full, and what is left of it is for what is sent; or it has room again.
    DiskFull(bool),
    /// Requests whose refusal did not get to the disk: how many, and the last one's code.
    Untold {
        /// How many.
        count: u64,
        /// The last one's code.
        code: &'static str,
    },
    /// A state outside the core that is ill health, or its end (`None`).
    Concern {
        /// The alert's code.
        code: AlertCode,
        /// What a person should do about it.
        text: Option<String>,
    },
    /// The disk fell behind and the journal's queue is full, or has room again.
    Behind(bool),
    /// Something went wrong outside a request. Never contains a key.
    Trouble(String),
    /// Reads of one kind bring nothing, or do again (`None`).
    ReadFails {
        /// What is read, as it is told of.
        name: &'static str,
        /// Why they bring nothing. Never contains a key.
        text: Option<String>,
    },
    /// The service stops: no new request is taken.
    Shutdown {
        /// The signal.
        reason: String,
    },
    /// All sends have ended: the last input.
    SendsEnded,
    /// Time passed.
    Tick,
}

/// A request to `/exchange` with what its transport and signature say.
#[derive(Debug, Clone)]
pub struct Request {
    /// The service's number for the waiting client.
    pub id: u64,
    /// Transport.
    pub via: Via,
    /// What came.
    pub body: RequestBody,
}

/// Transport of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Via {
    /// `POST /exchange`.
    Http,
    /// A frame on a WebSocket.
    WebSocket,
}

impl Via {
    /// The transport's name in events.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Via::Http => "http",
            Via::WebSocket => "websocket",
        }
    }
}

/// What came with a request.
#[derive(Debug, Clone)]
pub enum RequestBody {
    /// Signed by a client of this guard.
    Signed {
        /// The request.
        envelope: Box<Envelope>,
        /// The client.
        client: Address,
        /// The network it was signed for.
        signed_as: Source,
    },
    /// A request whose signature names no client.
    Unsigned {
        /// The action as received.
        received: Node,
        /// Why it names none.
        text: String,
    },
    /// No request at all.
    Malformed {
        /// The action as received, where there is one.
        received: Option<Node>,
        /// The first bytes of the body.
        unparsed: String,
        /// What is wrong.
        text: String,
        /// The status to answer with: 413, 415 or 422.
        http_status: u16,
    },
}

impl RequestBody {
    /// A request that no client signed. Many may wait to be refused: no more is held of one than its event keeps.
    #[must_use]
    pub fn unsigned(received: &Node, text: String) -> Self {
        Self::Unsigned { received: kept_short(received), text }
    }

    /// What is no request, in the same way.
    #[must_use]
    pub fn malformed(received: Option<&Node>, unparsed: String, text: String, http_status: u16) -> Self {
        Self::Malformed { received: received.map(kept_short), unparsed, text, http_status }
    }
}

/// How a send ended.
#[derive(Debug, Clone)]
pub enum SendOutcome {
    /// The venue answered.
    Answered(Value),
    /// It surely never reached the venue.
    NotSent(String),
    /// The same for want of room, by the code that says of what.
    NoRoom(Code, String),
    /// The event that names it could not be written, for this reason, so neither it nor what follows it may go out.
    Unrecorded(String),
    /// Nothing says whether it reached the venue.
    NoAnswer(String),
}
