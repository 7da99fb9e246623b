//! The core's whole state, and nothing that decides: flows, judge and report stand above it.

use crate::base::address::{Address, Cloid};
use crate::guard::alert_code::AlertCode;
use crate::guard::config::Config;
use crate::guard::input::Request;
use crate::guard::state::allowance::Allowance;
use crate::guard::state::book::Book;
use crate::guard::state::client_cloids::ClientCloids;
use crate::guard::state::cover_lines::CoverLines;
use crate::guard::state::earlier_stops::EarlierStops;
use crate::guard::state::entry_leg::EntryLeg;
use crate::guard::state::exposure::{Exposure, Stop};
use crate::guard::state::feed::FeedState;
use crate::guard::state::filled_away::FilledAway;
use crate::guard::state::in_doubt::InDoubtAction;
use crate::guard::state::intent::Intent;
use crate::guard::state::nonces::{OwnNonces, Window};
use crate::guard::state::open_intents::OpenIntents;
use crate::guard::state::paper_orders::Paper;
use crate::guard::state::pending_reply::PendingReply;
use crate::guard::state::risk::risk_state::{Risk, RiskState};
use crate::guard::state::sent::key::Moment;
use crate::guard::state::sent::ledger::SentOrders;
use crate::guard::state::siblings::Siblings;
use crate::guard::state::signer::UnknownSigner;
use crate::guard::state::throttle::Throttle;
use crate::guard::state::unsettled::Unsettled;
use crate::guard::state::untold::Untold;
use crate::guard::state::venue_clock::VenueClock;
use crate::guard::state::view::{AccountView, Resting, View};
use crate::guard::state::watch::Watch;
use crate::venue::info::AccountMode;
use rust_decimal::Decimal;
use std::collections::{BTreeMap, BTreeSet};

/// After so long in a life an account of a time before it is taken for new: then it is the machine's clock that is ahead.
const OLDER_FOR_MS: u64 = 10_000;

/// By so much at most lagging reads hold up what the guard takes for the venue's time.
const LAGS_MS: u64 = 5_000;

/// The guard's whole state.
pub struct Guard {
    pub(in crate::guard) config: Config,
    /// The number of the last event.
    pub(in crate::guard) seq: u64,
    pub(in crate::guard) view: View,
    /// What the live feed tells beside it.
    pub(in crate::guard) feed: FeedState,
    /// The exposure that `view` shows.
    pub(in crate::guard) read_exposure: Exposure,
    /// How far from the price each position may have its stops.
    pub(in crate::guard) lines: CoverLines,
    /// What was sent and is not shown yet.
    pub(in crate::guard) sent: SentOrders,
    pub(in crate::guard) paper: Paper,
    /// Intents with actions still to send or to be answered, by the number of their event.
    pub(in crate::guard) intents: BTreeMap<u64, Intent>,
    /// Answers that clients wait for, by request.
    pub(in crate::guard) replies: BTreeMap<u64, PendingReply>,
    /// Actions without an answer, by intent and place.
    pub(in crate::guard) doubts: BTreeMap<(u64, usize), InDoubtAction>,
    /// Actions whose outcome could not be settled in time.
    pub(in crate::guard) unsettled: Unsettled,
    /// What the journal says earlier lives left open; empty once started.
    pub(in crate::guard) open_intents: OpenIntents,
    pub(in crate::guard) windows: BTreeMap<Address, Window>,
    pub(in crate::guard) own_nonces: OwnNonces,
    pub(in crate::guard) clock: VenueClock,
    pub(in crate::guard) throttle: Throttle,
    /// What the guard does of its own accord.
    pub(in crate::guard) watch: Watch,
    pub(in crate::guard) risk: Risk,
    /// Entries that wait for leverage settings to be read.
    pub(in crate::guard) parked: Vec<Parked>,
    pub(in crate::guard) client_cloids: ClientCloids,
    pub(in crate::guard) siblings: Siblings,
    /// The vault or sub-account that actions name; `None` until it is known whether there is one.
    pub(in crate::guard) acts_for: Option<Option<Address>>,
    /// The venue refuses whatever is signed for the account.
    pub(in crate::guard) unknown_signer: Option<UnknownSigner>,
    pub(in crate::guard) killed: Option<String>,
    pub(in crate::guard) journal_error: Option<String>,
    /// The disk is full: what is left of it is for what is sent, and refusals are only counted.
    pub(in crate::guard) is_disk_full: bool,
    /// Refusals that no event tells of yet.
    pub(in crate::guard) untold: Untold,
    /// States outside the core that a person should know of, by their alert's code: text, and since when.
    pub(in crate::guard) concerns: BTreeMap<AlertCode, (String, u64)>,
    /// Why reads bring nothing, by what is read, and since when.
    pub(in crate::guard) failing_reads: BTreeMap<&'static str, (String, u64)>,
    /// The journal's queue is full: the room that is left is for exits.
    pub(in crate::guard) is_behind: bool,
    pub(in crate::guard) allowance: Allowance,
    pub(in crate::guard) book: Book,
    /// Who placed each order that rests, by its client order id.
    pub(in crate::guard) order_owners: BTreeMap<Cloid, Address>,
    /// Where what rests since an earlier life was judged to be stopped out.
    pub(in crate::guard) earlier_stops: EarlierStops,
    pub(in crate::guard) filled_away: FilledAway,
    pub(in crate::guard) api_wallet_valid_until_ms: Option<u64>,
    /// When this life began.
    pub(in crate::guard) started_ms: Option<u64>,
    pub(in crate::guard) shutdown_reason: Option<String>,
    pub(in crate::guard) is_shut_down: bool,
    /// The last `risk` event's content, so that only changes are told.
    pub(in crate::guard) last_risk: Option<String>,
    /// The text of the last event, for the status.
    pub(in crate::guard) last_event: Option<String>,
}

/// A request that waits for what must be read first.
pub(crate) struct Parked {
    pub(crate) request: Request,
    /// Asset ids of the settings not answered yet.
    pub(crate) wanted: BTreeSet<u32>,
    /// Asset ids of the marks not known yet.
    pub(crate) marks: BTreeSet<u32>,
    /// Whether it waits for the open orders.
    pub(crate) for_orders: bool,
    /// When it came.
    pub(crate) at_ms: u64,
}

impl Parked {
    /// Whether an entry that waits has all that it waits for.
    pub(crate) fn has_all(&self) -> bool {
        self.wanted.is_empty() && self.marks.is_empty() && !self.for_orders
    }
}

impl Guard {
    /// The account's equity; `None` while it is not known, or not where the account keeps it.
    pub(crate) fn known_equity(&self) -> Option<Decimal> {
        self.view.equity().filter(|_| !self.risk.is_mode_unread)
    }

    /// The account's equity at the newest marks; `None` where it is not known.
    pub(crate) fn equity_now(&self) -> Option<Decimal> {
        self.view.equity_now().filter(|_| !self.risk.is_mode_unread)
    }

    /// The account's mode as a life wrote it down last.
    #[must_use]
    pub fn recorded_mode(&self) -> Option<AccountMode> {
        self.risk.mode_recorded
    }

    /// The equity that limits go by: what came from nowhere is not counted on before the ledger tells of it,
    /// and of reads that contradict one another the lower one is.
    pub(crate) fn judged_equity(&self) -> Option<Decimal> {
        let shown = self.known_equity()?;
        let least = self.risk.first.as_ref().map_or(shown, |first| first.judged(shown));
        Some(self.risk.settled.before_windfall().map_or(least, |before| before.min(least)))
    }

    /// A guard that has read nothing yet. `last_seq` is the number of the last event in its journal.
    #[must_use]
    pub fn new(config: Config, last_seq: u64) -> Self {
        Self {
            config,
            seq: last_seq,
            view: View::default(),
            feed: FeedState::default(),
            read_exposure: Exposure::default(),
            lines: CoverLines::default(),
            sent: SentOrders::default(),
            paper: Paper::default(),
            intents: BTreeMap::new(),
            replies: BTreeMap::new(),
            doubts: BTreeMap::new(),
            unsettled: Unsettled::default(),
            open_intents: OpenIntents::default(),
            windows: BTreeMap::new(),
            own_nonces: OwnNonces::default(),
            clock: VenueClock::default(),
            throttle: Throttle::default(),
            watch: Watch::default(),
            risk: Risk::default(),
            parked: Vec::new(),
            client_cloids: ClientCloids::default(),
            siblings: Siblings::default(),
            acts_for: None,
            unknown_signer: None,
            killed: None,
            journal_error: None,
            is_disk_full: false,
            untold: Untold::default(),
            concerns: BTreeMap::new(),
            failing_reads: BTreeMap::new(),
            is_behind: false,
            allowance: Allowance::default(),
            book: Book::default(),
            order_owners: BTreeMap::new(),
            earlier_stops: EarlierStops::default(),
            filled_away: FilledAway::default(),
            api_wallet_valid_until_ms: None,
            started_ms: None,
            shutdown_reason: None,
            is_shut_down: false,
            last_risk: None,
            last_event: None,
        }
    }

    /// The next nonce of the guard's own.
    pub(in crate::guard) fn next_nonce(&mut self, now_ms: u64) -> u64 {
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

    /// Whether the disk was last said to be full.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        self.is_disk_full
    }

    /// What was last told of a concern.
    #[must_use]
    pub fn concern(&self, code: AlertCode) -> Option<&str> {
        self.concerns.get(&code).map(|(text, _)| text.as_str())
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

    /// The exposure with everything that may have changed since the last reads, at the newest prices.
    pub(in crate::guard) fn exposure(&self) -> Exposure {
        let mut exposure = self.read_exposure.clone();
        exposure.reprice(&self.view);
        for order in self.sent.being_cancelled(&self.view) {
            if let Some(stop) = Stop::of(order) {
                exposure.remove_stop(order.asset, order.is_buy, stop);
            }
        }
        for order in &self.sent.orders {
            exposure.add(&self.view, order.asset, order.is_buy, order.reduce_only, order.leg());
            exposure.add_fills(order.asset, order.is_buy, [order.told(), order.unshown()], order.arriving());
        }
        for asset in self.sent.closing() {
            let market = exposure.market_mut(&self.view, asset);
            market.forget_told(self.sent.closed_of_others(&self.view, asset, market.position));
        }
        for (asset, szi) in self.by_fills() {
            exposure.market_mut(&self.view, asset).by_fills = Some(szi);
        }
        for (asset, market) in exposure.told_otherwise() {
            if self.is_read_since_answers(asset) {
                market.by_fills.get_or_insert(market.position);
            }
        }
        for order in self.paper.resting() {
            let leg = EntryLeg { size: order.size, px: order.px, stop: order.stop, may_rest: true };
            exposure.add(&self.view, order.asset, order.is_buy, order.reduce_only, leg);
        }
        exposure
    }

    /// Whether the account was read since the venue has answered all that was sent in a market. Whatever of that the read seems not to
    /// show, since moves to and fro look alike, was undone or is shown.
    fn is_read_since_answers(&self, asset: u32) -> bool {
        let read = Moment::of_account(&self.view);
        let mut sent = self.sent.orders.iter().filter(|order| order.asset == asset);
        read.is_some_and(|read| sent.all(|order| order.is_over_by(read)))
    }

    /// This moment by both clocks. Reads that lag hold the venue's time back: where the machine's is a little ahead of it,
    /// that may be the right one.
    pub(in crate::guard) fn moment(&self, now_ms: u64) -> Moment {
        let best_ms = self.clock.best_ms();
        Moment { now_ms, venue_ms: best_ms.max(now_ms.min(best_ms.saturating_add(LAGS_MS))) }
    }

    /// The open order with this id, as read or as just accepted.
    pub(in crate::guard) fn order(&self, oid: u64) -> Option<&Resting> {
        self.view.orders.get(&oid).or_else(|| self.sent.resting_order(oid))
    }

    /// The open orders with this client order id: an entry and its stop may share one.
    pub(in crate::guard) fn orders_by_cloid(&self, cloid: Cloid) -> impl Iterator<Item = &Resting> {
        self.view.orders.values().chain(self.sent.resting()).filter(move |order| order.cloid == Some(cloid))
    }

    /// Whether the last read of the account is still recent enough to go by.
    pub(in crate::guard) fn is_account_held(&self, now_ms: u64) -> bool {
        let age_ms = |account: &AccountView| now_ms.saturating_sub(account.known_ms());
        self.view.account.as_ref().is_some_and(|account| age_ms(account) <= self.account_max_age_ms())
    }

    /// Whether the account as read is of a time before this life, when more may have filled: nobody remembers what the
    /// venue answered then. Or of a time before the first read of the open orders: what rested as the account was read and
    /// filled before they were is in neither.
    pub(in crate::guard) fn is_account_older(&self) -> bool {
        let (Some(account), Some(started_ms)) = (&self.view.account, self.started_ms) else { return false };
        let orders_ms = self.view.orders_since_ms.unwrap_or_default();
        let is_young = account.begun_ms < started_ms.saturating_add(OLDER_FOR_MS);
        account.begun_ms < orders_ms || is_young && account.venue_ms < started_ms.max(orders_ms)
    }

    /// Whether the account was read in this life: before, anything may be held.
    pub(in crate::guard) fn is_account_known(&self) -> bool {
        self.view.account.is_some() && !self.is_account_older()
    }

    /// Whether the account must hold no position: killed, halted for the day or by drawdown.
    pub(in crate::guard) fn must_be_flat(&self) -> bool {
        self.killed.is_some() || self.risk.is_halted()
    }

    /// Ends a halt.
    pub(in crate::guard) fn reactivate(&mut self, at_ms: u64) {
        (self.risk.state, self.risk.details, self.risk.halted_on) = (RiskState::Active, None, None);
        self.risk.since_ms = at_ms;
        if self.killed.is_none() {
            self.watch.flatten.end();
        }
    }
}
