//! The poller: the guard's own reads of the venue, each on its interval, within the request budget.

use crate::base::sync::lock;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use serde_json::{Value, json};

use super::agent::{self, NotTheAgent};
use super::log::{self, Level};
use super::message::Message;
use super::metrics::Metrics;
use super::questions::Questions;
use super::schedule::{Schedule, Task};
use crate::base::address::Address;
use crate::base::clock::{now_ms, steady_ms};
use crate::faults::{Faults, Step};
use crate::guard::{Input, Read};
use crate::venue::client::Client;
use crate::venue::info::{self, AccountMode, ClearinghouseState, OpenOrder, Role};
use crate::venue::market::Universe;
use crate::venue::weight::{Ledger, Priority, info_extra, info_weight};
use serde::Deserialize;

/// Reads asked for that wait at most; more are dropped, for the intervals bring them anyway.
pub(super) const QUEUE: usize = 64;
const UNIVERSE_MS: u64 = 60_000;
const LIMITS_MS: u64 = 60_000;
const AGENTS_MS: u64 = 3_600_000;
/// Between two tries to learn whose the API wallet is.
const WALLET_MS: u64 = 10_000;
const LEDGER_MS: u64 = 60_000;

/// How often things are read, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Intervals {
    /// Mids.
    pub(super) prices_ms: u64,
    /// The account.
    pub(super) account_ms: u64,
    /// Open orders.
    pub(super) orders_ms: u64,
}

impl Intervals {
    /// The intervals that a budget of `budget` weight a minute affords: one second and five at 1200, stretched in
    /// proportion to at most ten and thirty.
    #[must_use]
    pub(super) fn for_budget(budget: u32) -> Self {
        let stretch = |ms: u64, most: u64| {
            let whole = u64::from(crate::base::ip_share::IP_BUDGET);
            ms.saturating_mul(whole).checked_div(u64::from(budget)).unwrap_or(most).clamp(ms, most)
        };
        Self {
            prices_ms: stretch(1_000, 10_000),
            account_ms: stretch(1_000, 10_000),
            orders_ms: stretch(5_000, 30_000),
        }
    }
}

/// The poller's surroundings.
pub(super) struct Poller {
    /// The venue.
    pub(super) client: Arc<Client>,
    /// The request budget.
    pub(super) ledger: Arc<Mutex<Ledger>>,
    /// Answers kept for clients who ask the same.
    pub(super) questions: Arc<Questions>,
    /// The account.
    pub(super) account: Address,
    /// The API wallet; none in paper mode.
    pub(super) api_wallet: Option<Address>,
    /// Whether the venue has not said yet that it knows the API wallet.
    pub(super) wallet_unchecked: bool,
    /// How often things are read.
    pub(super) intervals: Intervals,
    /// What should be read soon.
    pub(super) wanted: Receiver<Read>,
    /// The decision loop.
    pub(super) inbox: Sender<Message>,
    /// Counts and times reads.
    pub(super) metrics: Arc<Metrics>,
    /// Makes turns fail, in builds that can.
    pub(super) faults: Faults,
}

/// Where the poller stands.
struct State {
    schedule: Schedule,
    mode: Option<AccountMode>,
    /// From when on the ledger is read; none until the core has said so.
    ledger_since_ms: Option<u64>,
    failing: BTreeSet<&'static str>,
}

impl Poller {
    /// Reads until the service ends.
    ///
    /// # Errors
    /// When the decision loop is gone, or the account's equity cannot be valued surely.
    pub(super) fn run(&self) -> Result<(), String> {
        // What a small budget may put off by a minute comes last.
        let mut at_once = vec![Task::Mode, Task::Universe, Task::Mids, Task::Account, Task::Orders];
        match self.api_wallet {
            None => at_once.push(Task::Role),
            Some(_) if self.wallet_unchecked => at_once.extend([Task::Wallet, Task::Limits, Task::Agents]),
            Some(_) => at_once.extend([Task::Limits, Task::Agents]),
        }
        let budget = lock(&self.ledger).budget();
        // The core says when these are wanted first.
        let on_demand = [Task::Ledger, Task::Twaps];
        let mut state = State {
            schedule: Schedule::new(&at_once, &on_demand, self.intervals, budget),
            mode: None,
            ledger_since_ms: None,
            failing: BTreeSet::new(),
        };
        loop {
            self.faults.pass(Step::Poll).map_err(|error| error.to_string())?;
            self.run_due(&mut state)?;
            let wait = Duration::from_millis(state.schedule.next_ms().saturating_sub(steady_ms()).min(1_000));
            match self.wanted.recv_timeout(wait) {
                Ok(read) => self.want(&mut state, &read)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            while let Ok(read) = self.wanted.try_recv() {
                self.want(&mut state, &read)?;
            }
        }
    }

    fn want(&self, state: &mut State, read: &Read) -> Result<(), String> {
        match read {
            Read::OrderStatus { intent, index, cloid } => {
                let answer = self.ask(&json!({"type": "orderStatus", "user": self.account, "oid": cloid}));
                self.note(state, "order status", answer.as_ref().err())?;
                let (intent, index, cloid) = (*intent, *index, *cloid);
                self.tell(Input::OrderStatus { intent, index, cloid, answer: answer.ok() })
            }
            Read::Leverage { asset, coin } => {
                let question = json!({"type": "activeAssetData", "user": self.account, "coin": coin});
                let leverage = self.ask(&question).and_then(|answer| info::active_leverage(&answer));
                self.note(state, "leverage", leverage.as_ref().err())?;
                self.tell(Input::Leverage { asset: *asset, leverage: leverage.ok() })
            }
            read => {
                if let Read::Ledger { since_ms } = read {
                    state.ledger_since_ms = Some(*since_ms);
                }
                state.schedule.want(read, steady_ms());
                Ok(())
            }
        }
    }

    fn run_due(&self, state: &mut State) -> Result<(), String> {
        for task in state.schedule.due(steady_ms()) {
            let begun_ms = steady_ms();
            let (name, every_ms, result) = match task {
                Task::Wallet => ("API wallet's role", WALLET_MS, self.read_wallet()?),
                Task::Role => ("role", u64::MAX, self.read_role()),
                Task::Mode => ("mode", u64::MAX, self.read_mode(state)?),
                Task::Universe => ("markets", UNIVERSE_MS, self.read_universe()),
                Task::Mids => ("prices", self.intervals.prices_ms, self.read_mids()),
                Task::Account => ("account", self.intervals.account_ms, self.read_account(state)),
                Task::Orders => ("open orders", self.intervals.orders_ms, self.read_orders(state)),
                Task::Ledger => ("ledger", LEDGER_MS, self.read_ledger(state)),
                Task::Twaps => ("TWAP orders", u64::MAX, self.read_twaps()),
                Task::Limits => ("limits", LIMITS_MS, self.read_limits()),
                Task::Agents => ("API wallet", AGENTS_MS, self.read_agents()),
            };
            self.note(state, name, result.as_ref().err())?;
            match task {
                // Once is enough, and one that failed is not tried every second.
                Task::Wallet if result.is_ok() => state.schedule.done(task, begun_ms, u64::MAX, true),
                Task::Wallet => state.schedule.done(task, begun_ms, every_ms, true),
                _ => state.schedule.done(task, begun_ms, every_ms, result.is_ok()),
            }
            if let Ok(Some(input)) = result {
                self.tell(input)?;
            }
        }
        Ok(())
    }

    /// Nothing can be sent before it is known whom the wallet acts for, so this waits for no budget: beside the steady
    /// reads of a small share it would not fit into any minute. What it spent is booked once it is answered.
    ///
    /// The outer error ends the service: a key that is not the account's own API wallet's can act for another account.
    fn read_wallet(&self) -> Result<Result<Option<Input>, String>, String> {
        let Some(api_wallet) = self.api_wallet else { return Ok(Ok(None)) };
        let ask = |question: &Value| {
            self.faults.about("userRole");
            let answer = self.client.info(question).map_err(|error| error.to_string())?;
            let mut ledger = lock(&self.ledger);
            ledger.charge(Priority::Read, info_weight("userRole"), steady_ms());
            Ok(answer)
        };
        match agent::check_role(&ask, self.account, api_wallet) {
            Ok(owner) => {
                if let Some(doubt) = owner.doubt(self.account, api_wallet) {
                    log::line(Level::Warning, doubt);
                }
                Ok(Ok(Some(Input::ActsFor(agent::acts_for(self.account, owner.master)))))
            }
            Err(NotTheAgent::NoAnswer(text)) => Ok(Err(text)),
            Err(refused) => Err(refused.to_string()),
        }
    }

    fn read_role(&self) -> Result<Option<Input>, String> {
        let answer = self.ask(&json!({"type": "userRole", "user": self.account}))?;
        match Role::from_answer(&answer)? {
            Role::User => Ok(Some(Input::ActsFor(None))),
            Role::SubAccount(_) | Role::Vault => Ok(Some(Input::ActsFor(Some(self.account)))),
            Role::Missing => {
                // An account without a deposit; it can hold nothing, and becomes a plain one.
                Ok(Some(Input::ActsFor(None)))
            }
            Role::Agent(master) => Err(format!("the account {} is an API wallet of {master}", self.account)),
        }
    }

    /// The outer error ends the service: limits from the wrong equity are worse than none.
    fn read_mode(&self, state: &mut State) -> Result<Result<Option<Input>, String>, String> {
        let begun_ms = now_ms();
        match self.ask(&json!({"type": "userAbstraction", "user": self.account})) {
            Ok(answer) => {
                let mode = AccountMode::from_answer(&answer)?;
                state.mode = Some(mode);
                state.schedule.account_weight = if mode == AccountMode::Unified { 4 } else { 2 };
                Ok(Ok(Some(Input::AccountMode { mode, begun_ms })))
            }
            Err(text) => Ok(Err(text)),
        }
    }

    fn read_universe(&self) -> Result<Option<Input>, String> {
        let (question, begun_ms) = (json!({"type": "meta", "dex": ""}), now_ms());
        let answer = self.ask(&question)?;
        let universe = Universe::from_meta(&answer)?;
        self.questions.keep(&question, &answer, begun_ms);
        Ok(Some(Input::Universe(universe)))
    }

    fn read_mids(&self) -> Result<Option<Input>, String> {
        let (question, begun_ms) = (json!({"type": "allMids", "dex": ""}), now_ms());
        let answer = self.ask(&question)?;
        let mids = info::mids(&answer)?;
        self.questions.keep(&question, &answer, begun_ms);
        Ok(Some(Input::Mids { mids, begun_ms }))
    }

    fn read_account(&self, state: &mut State) -> Result<Option<Input>, String> {
        let mode = state.mode.ok_or("the account's mode is not known yet")?;
        let (question, begun_ms) = (json!({"type": "clearinghouseState", "user": self.account, "dex": ""}), now_ms());
        let is_urgent = state.schedule.take_urgency(Task::Account);
        let answer = self.ask_now(is_urgent, &question)?;
        let state = ClearinghouseState::deserialize(&answer).map_err(|error| format!("clearinghouseState: {error}"))?;
        let equity = match mode {
            AccountMode::Standard => state.margin_summary.account_value,
            AccountMode::Unified => {
                let spot = json!({"type": "spotClearinghouseState", "user": self.account});
                let answer = self.ask_now(is_urgent, &spot)?;
                info::unified_equity(&answer)?
            }
        };
        self.questions.keep(&question, &answer, begun_ms);
        Ok(Some(Input::Account { state, equity, begun_ms }))
    }

    fn read_orders(&self, state: &mut State) -> Result<Option<Input>, String> {
        let (question, begun_ms) = (json!({"type": "frontendOpenOrders", "user": self.account, "dex": ""}), now_ms());
        let answer = self.ask_now(state.schedule.take_urgency(Task::Orders), &question)?;
        let orders = Vec::<OpenOrder>::deserialize(&answer).map_err(|error| format!("frontendOpenOrders: {error}"))?;
        self.questions.keep(&question, &answer, begun_ms);
        Ok(Some(Input::Orders { orders, begun_ms }))
    }

    fn read_ledger(&self, state: &mut State) -> Result<Option<Input>, String> {
        let Some(since_ms) = state.ledger_since_ms else { return Ok(None) };
        let begun_ms = now_ms();
        let kind = "userNonFundingLedgerUpdates";
        let answer = self.ask(&json!({"type": kind, "user": self.account, "startTime": since_ms}))?;
        let updates = info::ledger_updates(&answer)?;
        let extra = info_extra(kind, updates.len());
        lock(&self.ledger).charge(Priority::Read, extra, steady_ms());
        state.ledger_since_ms = Some(since_ms.max(begun_ms.saturating_sub(info::LEDGER_OVERLAP_MS)));
        Ok(Some(Input::Ledger { updates, begun_ms }))
    }

    /// A failure is told to the core too: what cannot be read cannot be stopped either.
    fn read_twaps(&self) -> Result<Option<Input>, String> {
        let answer = self.ask_as(Priority::Flatten, &json!({"type": "twapHistory", "user": self.account}));
        Ok(Some(Input::Twaps(answer.and_then(|answer| info::running_twaps(&answer)))))
    }

    fn read_limits(&self) -> Result<Option<Input>, String> {
        let answer = self.ask(&json!({"type": "userRateLimit", "user": self.account}))?;
        Ok(Some(Input::RequestsLeft(info::requests_left(&answer)?)))
    }

    fn read_agents(&self) -> Result<Option<Input>, String> {
        let Some(api_wallet) = &self.api_wallet else { return Ok(None) };
        let answer = self.ask(&json!({"type": "extraAgents", "user": self.account}))?;
        Ok(info::valid_until_ms(&answer, api_wallet).map(Input::ApiWalletValidUntil))
    }

    fn ask(&self, question: &Value) -> Result<Value, String> {
        self.ask_as(Priority::Read, question)
    }

    /// A read for cover or a flatten spends their budget where its own is spent.
    fn ask_now(&self, is_urgent: bool, question: &Value) -> Result<Value, String> {
        match self.spend(Priority::Read, question) {
            Err(_) if is_urgent => self.ask_as(Priority::Flatten, question),
            Err(text) => Err(text),
            Ok(()) => self.call(question),
        }
    }

    fn ask_as(&self, priority: Priority, question: &Value) -> Result<Value, String> {
        self.spend(priority, question)?;
        self.call(question)
    }

    fn call(&self, question: &Value) -> Result<Value, String> {
        let asked = self.metrics.read(kind_of(question), || self.client.info(question));
        asked.map_err(|error| error.to_string())
    }

    fn spend(&self, priority: Priority, question: &Value) -> Result<(), String> {
        let kind = kind_of(question);
        self.faults.about(kind);
        let weight = info_weight(kind);
        let mut ledger = lock(&self.ledger);
        ledger.try_spend(priority, weight, steady_ms()).map_err(|denied| denied.to_string())
    }

    /// Tells of a read that fails once, not at every try, and of its end.
    fn note(&self, state: &mut State, name: &'static str, problem: Option<&String>) -> Result<(), String> {
        match problem {
            Some(text) if state.failing.insert(name) => {
                self.tell(Input::Trouble(format!("reading the {name} fails: {text}")))
            }
            None if state.failing.remove(name) => {
                log::line(Level::Info, format_args!("reading the {name} works again"));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn tell(&self, input: Input) -> Result<(), String> {
        self.inbox.send(Message::Input(input)).map_err(|_| "the decision loop is gone".to_owned())
    }
}

fn kind_of(question: &Value) -> &str {
    question.get("type").and_then(Value::as_str).unwrap_or_default()
}
