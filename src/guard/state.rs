//! The core's state and the plain parts of changing it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::book::Book;
use super::clock::VenueClock;
use super::config::Config;
use super::doubt::Doubt;
use super::effect::{Effects, Keys, Record};
use super::event;
use super::input::Request;
use super::intent::Intent;
use super::judge::Throttle;
use super::nonce::{OwnNonces, Window};
use super::paper::Paper;
use super::pending::Pending;
use super::reopen::OpenIntents;
use super::risk::Risk;
use super::signer::UnknownSigner;
use super::view::View;
use super::watch::Watch;
use crate::base::address::Address;
use crate::base::address::Cloid;

/// Client order ids remembered as the clients' own; the oldest is forgotten first.
const MAX_CLIENT_CLOIDS: usize = 10_000;

/// The guard's whole state.
pub struct Guard {
    pub(super) config: Config,
    /// The number of the last event.
    pub(super) seq: u64,
    pub(super) view: View,
    /// The exposure that `view` shows.
    pub(super) read_book: Book,
    pub(super) pending: Pending,
    pub(super) paper: Paper,
    /// Intents with actions still to send or to be answered, by the number of their event.
    pub(super) intents: BTreeMap<u64, Intent>,
    /// Actions without an answer, by intent and place.
    pub(super) doubts: BTreeMap<(u64, usize), Doubt>,
    /// Actions whose outcome could not be settled in this life.
    pub(super) unsettled: u32,
    /// What the journal says earlier lives left open; empty once started.
    pub(super) open_intents: OpenIntents,
    pub(super) windows: BTreeMap<Address, Window>,
    pub(super) own_nonces: OwnNonces,
    pub(super) clock: VenueClock,
    pub(super) throttle: Throttle,
    /// What the guard does of its own accord.
    pub(super) watch: Watch,
    pub(super) risk: Risk,
    /// Entries that wait for leverage settings to be read.
    pub(super) parked: Vec<Parked>,
    pub(super) client_cloids: ClientCloids,
    /// The vault or sub-account that actions name; `None` until it is known whether there is one.
    pub(super) acts_for: Option<Option<Address>>,
    /// The venue refuses whatever is signed for the account.
    pub(super) unknown_signer: Option<UnknownSigner>,
    pub(super) killed: Option<String>,
    pub(super) journal_error: Option<String>,
    /// The journal's queue is full: the room that is left is for exits.
    pub(super) is_behind: bool,
    pub(super) requests_left: Option<u64>,
    pub(super) api_wallet_valid_until_ms: Option<u64>,
    pub(super) stopping: Option<String>,
    pub(super) stopped: bool,
    /// The last `risk` event's content, so that only changes are told.
    pub(super) told_risk: Option<String>,
    /// The text of the last event, for the status.
    pub(super) last_event: Option<String>,
}

/// A request that waits for leverage settings.
pub(super) struct Parked {
    pub(super) request: Request,
    /// Asset ids of the settings not answered yet.
    pub(super) wanted: BTreeSet<u32>,
    /// When it came.
    pub(super) at_ms: u64,
}

/// The client order ids that clients chose, oldest forgotten first.
#[derive(Debug, Default)]
pub(super) struct ClientCloids {
    order: VecDeque<Cloid>,
    known: BTreeSet<Cloid>,
}

impl ClientCloids {
    pub(super) fn insert(&mut self, cloid: Cloid) {
        if !self.known.insert(cloid) {
            return;
        }
        self.order.push_back(cloid);
        if self.order.len() > MAX_CLIENT_CLOIDS
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    /// The last `count` of them.
    pub(super) fn last(&self, count: usize) -> Vec<Cloid> {
        self.order.iter().skip(self.order.len().saturating_sub(count)).copied().collect()
    }

    pub(super) fn contains(&self, cloid: &Cloid) -> bool {
        self.known.contains(cloid)
    }
}

impl Guard {
    /// A guard that has read nothing yet. `last_seq` is the number of the last event in its journal.
    #[must_use]
    pub fn new(config: Config, last_seq: u64) -> Self {
        Self {
            config,
            seq: last_seq,
            view: View::default(),
            read_book: Book::default(),
            pending: Pending::default(),
            paper: Paper::default(),
            intents: BTreeMap::new(),
            doubts: BTreeMap::new(),
            unsettled: 0,
            open_intents: OpenIntents::default(),
            windows: BTreeMap::new(),
            own_nonces: OwnNonces::default(),
            clock: VenueClock::default(),
            throttle: Throttle::default(),
            watch: Watch::default(),
            risk: Risk::default(),
            parked: Vec::new(),
            client_cloids: ClientCloids::default(),
            acts_for: None,
            unknown_signer: None,
            killed: None,
            journal_error: None,
            is_behind: false,
            requests_left: None,
            api_wallet_valid_until_ms: None,
            stopping: None,
            stopped: false,
            told_risk: None,
            last_event: None,
        }
    }

    /// Numbers an event and puts it among the records.
    pub(super) fn record(
        &mut self,
        effects: &mut Effects,
        now_ms: u64,
        kind: &'static str,
        body: &impl serde::Serialize,
        keys: Keys,
    ) -> u64 {
        self.seq = self.seq.saturating_add(1);
        let text = event::line(self.seq, now_ms, kind, body);
        self.last_event = Some(text.clone());
        effects.records.push(Record { text, kind, keys: Keys { seq: self.seq, ..keys }, decided: None });
        self.seq
    }

    /// The next nonce of the guard's own.
    pub(super) fn next_nonce(&mut self, now_ms: u64) -> u64 {
        self.own_nonces.next(self.clock.venue_ms(), now_ms)
    }

    /// The number of the last event.
    #[must_use]
    pub fn last_seq(&self) -> u64 {
        self.seq
    }

    /// What keeps decisions from being written, as last told.
    #[must_use]
    pub fn journal_problem(&self) -> Option<&str> {
        self.journal_error.as_deref()
    }

    /// Whether the disk was last said to be behind.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        self.is_behind
    }

    /// Whether anything sent is still unanswered.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.intents.is_empty()
    }
}
