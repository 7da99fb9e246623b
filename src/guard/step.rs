//! The one way in: an input and the time, out come effects.

use std::collections::BTreeSet;

use serde_json::json;

use super::book::Book;
use super::effect::{Answer, Deed, Effects, Keys, Read};
use super::input::{Input, Request, RequestBody};
use super::state::{Guard, Parked};
use super::{event, judge};

/// Requests that wait for a leverage setting at most.
const MAX_PARKED: usize = 64;
/// A request waits this long for a leverage setting; then the setting counts as unknown.
const MAX_PARKED_MS: u64 = 2_000;

impl Guard {
    /// Tells that the service started. The first effects of a life.
    pub fn start(&mut self, now_ms: u64) -> Effects {
        self.clock.advance(now_ms);
        let mut effects = Effects::default();
        if self.risk.since_ms == 0 {
            self.risk.since_ms = now_ms;
        }
        let clients: Vec<_> = self.config.clients.iter().copied().collect();
        let body = event::Started {
            schema: 1,
            version: env!("CARGO_PKG_VERSION"),
            mode: self.config.mode.name(),
            account: self.config.account,
            rules: self.config.rules.to_code(),
            clients: clients.iter().collect(),
        };
        self.record(&mut effects, now_ms, "started", &body, Keys::default());
        self.reopen(&mut effects, now_ms);
        effects
    }

    /// Takes one input in.
    pub fn step(&mut self, input: Input, now_ms: u64) -> Effects {
        self.clock.advance(now_ms);
        let mut effects = Effects::default();
        let is_request = matches!(input, Input::Request(_));
        let is_read =
            matches!(input, Input::Universe(_) | Input::Mids { .. } | Input::Account { .. } | Input::Orders { .. });
        match input {
            Input::Request(request) => self.request(&mut effects, request, now_ms),
            Input::Universe(universe) => self.view.universe = universe,
            Input::Mids { mids, begun_ms } => {
                self.view.set_mids(&mids, begun_ms);
                self.paper.cross(&self.view);
            }
            Input::Account { state, equity, begun_ms } => {
                let venue_ms = state.time;
                if let Some(changed) = self.view.set_account(state, equity, begun_ms) {
                    self.clock.read(venue_ms, begun_ms);
                    self.pending.account_read(begun_ms);
                    self.positions_changed(&mut effects, changed, now_ms);
                }
            }
            Input::Orders { orders, begun_ms } => {
                if let Some(left) = self.view.set_orders(orders, begun_ms, now_ms) {
                    self.watch.in_flight.orders_read(begun_ms);
                    self.orders_vanished(&mut effects, &left, now_ms);
                    self.pending.orders_read(&self.view, left, begun_ms, now_ms);
                }
            }
            Input::Ledger { updates, begun_ms } => self.ledger_read(&mut effects, &updates, begun_ms, now_ms),
            Input::AccountMode { mode, begun_ms } => self.mode_read(mode, begun_ms),
            Input::Twaps(twaps) => self.stop_twaps(&mut effects, twaps, now_ms),
            Input::Leverage { asset, leverage } => self.leverage(&mut effects, asset, leverage, now_ms),
            Input::OrderStatus { intent, index, cloid, answer } => {
                self.order_status(&mut effects, (intent, index), cloid, answer.as_ref(), now_ms);
            }
            Input::RequestsLeft(left) => self.requests_left = Some(left),
            Input::ActsFor(vault) => self.role_read(&mut effects, vault, now_ms),
            Input::ApiWalletValidUntil(until_ms) => self.api_wallet_valid_until_ms = Some(until_ms),
            Input::Sent { intent, index, outcome } => self.sent(&mut effects, intent, index, outcome, now_ms),
            Input::Kill { reason, by, write_file, request } => {
                let told = by.map_or_else(|| reason.clone(), |client| format!("{reason} (client {client})"));
                self.kill(&mut effects, reason, &told, write_file, now_ms);
                if let Some(request) = request {
                    let body = json!({ "killed": self.killed }).to_string();
                    effects.after_disk.push(Deed::Answer(Answer { request, http_status: 200, body }));
                }
            }
            Input::Journal(problem) => self.journal_error = problem,
            Input::Behind(is_behind) => self.is_behind = is_behind,
            Input::Trouble(text) => {
                self.record(&mut effects, now_ms, "error", &event::Trouble { text: &text }, Keys::default());
            }
            Input::Stop { reason } => {
                self.stopping.get_or_insert(reason);
                self.unpark(&mut effects, now_ms, |_| true);
            }
            Input::Stopped => self.stopped(&mut effects, now_ms),
            Input::Tick => {
                let is_old = |waiting: &Parked| now_ms.saturating_sub(waiting.at_ms) >= MAX_PARKED_MS;
                self.unpark(&mut effects, now_ms, is_old);
                if self.stopping.is_none() {
                    self.settle(&mut effects, now_ms);
                }
            }
        }
        if is_read {
            self.read_book = Book::of_reads(&self.view, self.config.rules.stop);
        }
        // A decision changes nothing that the watch looks at before it is answered.
        if !is_request {
            self.look_after(&mut effects, now_ms);
        }
        self.tell_risk(&mut effects, now_ms);
        effects
    }

    fn stopped(&mut self, effects: &mut Effects, now_ms: u64) {
        if !std::mem::replace(&mut self.stopped, true) {
            let reason = self.stopping.clone().unwrap_or_else(|| "unknown".to_owned());
            self.record(effects, now_ms, "stopped", &event::Reason { reason: &reason }, Keys::default());
        }
        effects.after_disk.push(Deed::Stopped);
    }

    fn kill(&mut self, effects: &mut Effects, reason: String, told: &str, write_file: bool, now_ms: u64) {
        if self.killed.is_some() {
            return;
        }
        self.record(effects, now_ms, "kill", &event::Reason { reason: told }, Keys::default());
        if write_file {
            // Not after the disk: a full one must not hold the switch up.
            effects.at_once.push(Deed::WriteKillFile(reason.clone()));
        }
        self.watch.flatten.want(format!("kill switch: {told}"), now_ms);
        self.killed = Some(reason);
    }

    /// A `risk` event whenever what it tells has changed.
    pub(super) fn tell_risk(&mut self, effects: &mut Effects, now_ms: u64) {
        let Some(account) = &self.view.account else { return };
        let (equity, open_positions) = (account.equity, account.positions.len());
        let journal_error = self.journal_error.clone();
        let (state, details) = (self.risk.state.name(), self.risk.details.clone());
        let told = format!("{state} {open_positions} {journal_error:?}");
        if self.told_risk.as_ref() == Some(&told) {
            return;
        }
        self.told_risk = Some(told);
        let body = event::Risk {
            state,
            details,
            equity: Some(equity.normalize().to_string()),
            open_positions,
            discrepancies: Vec::new(),
            journal_error: journal_error.as_deref(),
        };
        self.record(effects, now_ms, "risk", &body, Keys::default());
    }

    fn leverage(
        &mut self,
        effects: &mut Effects,
        asset: u32,
        leverage: Option<crate::venue::info::Leverage>,
        now_ms: u64,
    ) {
        if let Some(leverage) = leverage {
            self.view.leverage.insert(asset, (leverage, now_ms));
        }
        for waiting in &mut self.parked {
            waiting.wanted.remove(&asset);
        }
        self.unpark(effects, now_ms, |waiting| waiting.wanted.is_empty());
    }

    /// Judges the parked requests that are `ready`.
    fn unpark(&mut self, effects: &mut Effects, now_ms: u64, is_ready: impl Fn(&Parked) -> bool) {
        let (ready, parked): (Vec<_>, Vec<_>) = std::mem::take(&mut self.parked).into_iter().partition(is_ready);
        self.parked = parked;
        ready.into_iter().for_each(|waiting| self.judge_and_decide(effects, waiting.request, now_ms));
    }

    /// Judges a request, unless leverage settings must be read first.
    fn request(&mut self, effects: &mut Effects, request: Request, now_ms: u64) {
        if let RequestBody::Signed { envelope, .. } = &request.body
            && self.parked.len() < MAX_PARKED
        {
            let unknown = judge::unknown_for(self, &envelope.action, now_ms);
            let wanted: BTreeSet<u32> = unknown.iter().map(|market| market.asset).collect();
            if !wanted.is_empty() {
                let is_asked = |asset: u32| self.parked.iter().any(|waiting| waiting.wanted.contains(&asset));
                let reads = unknown.into_iter().filter(|market| !is_asked(market.asset));
                let reads = reads.map(|market| Read::Leverage { asset: market.asset, coin: market.coin.clone() });
                effects.at_once.extend(reads.map(Deed::Read));
                self.parked.push(Parked { request, wanted, at_ms: now_ms });
                return;
            }
        }
        self.judge_and_decide(effects, request, now_ms);
    }
}
