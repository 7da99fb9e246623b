//! The poller: the guard's own reads of the venue, each on its interval, within the request budget.

use std::collections::BTreeSet;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};

use super::intervals::Intervals;
use super::schedule::{Schedule, Task};
use super::venue_reads::{Answer, ReadFor, VenueReader};
use crate::base::clock::steady_ms;
use crate::base::sync::lock;
use crate::faults::Step;
use crate::guard::{Input, Read};
use crate::service::message::Message;
use crate::service::reporting::level::Level;
use crate::service::reporting::log;
use crate::service::thread::ThreadEnd;
use crate::venue::info::{self, AccountMode, LEDGER_OVERLAP_MS};
use crate::venue::weight::Priority;

/// Reads asked for that wait at most; more are dropped, for the intervals bring them anyway.
pub(in crate::service) const QUEUE: usize = 64;
const UNIVERSE_MS: u64 = 60_000;
const LIMITS_MS: u64 = 60_000;
const APPROVAL_MS: u64 = 3_600_000;
/// Between two tries to check the API wallet's role.
const WALLET_MS: u64 = 10_000;
const LEDGER_MS: u64 = 60_000;
/// The account's mode is read once in so many reads of the open orders: every minute where the budget is whole.
const MODE_IN_ORDERS: u64 = 12;

/// The poller's surroundings.
pub(in crate::service) struct Poller {
    /// Asks the venue.
    pub(in crate::service) reader: VenueReader,
    /// Whether the venue has not said yet that it knows the API wallet.
    pub(in crate::service) wallet_unchecked: bool,
    /// How often things are read.
    pub(in crate::service) intervals: Intervals,
    /// Reads that are wanted soon.
    pub(in crate::service) wanted: Receiver<Read>,
    /// The decision loop.
    pub(in crate::service) inbox: Sender<Message>,
}

/// The poller's memory between reads.
struct State {
    schedule: Schedule,
    mode: Option<AccountMode>,
    /// From when on the ledger is read, on the venue's clock; none until the core has said so.
    ledger_since_ms: Option<u64>,
    failing: BTreeSet<&'static str>,
}

impl Poller {
    /// Reads until the service ends.
    ///
    /// # Errors
    /// When the decision loop is gone; a refusal, when the account's equity cannot be valued surely at the start.
    pub(in crate::service) fn run(&self) -> Result<(), ThreadEnd> {
        let mut state = self.begin();
        loop {
            self.reader.venue.faults.pass(Step::Poll).map_err(|error| error.to_string())?;
            self.run_due(&mut state)?;
            let wait = Duration::from_millis(state.schedule.next_steady_ms().saturating_sub(steady_ms()).min(1_000));
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

    fn begin(&self) -> State {
        // The reads that a small budget may put off by a minute come last.
        let mut at_once = vec![Task::Mode, Task::Universe, Task::Mids, Task::Account, Task::Orders];
        match self.reader.api_wallet {
            None => at_once.push(Task::Role),
            Some(_) if self.wallet_unchecked => at_once.extend([Task::Wallet, Task::Limits, Task::Approval]),
            Some(_) => at_once.extend([Task::Limits, Task::Approval]),
        }
        // The core says when these are wanted first.
        let on_demand = [Task::Ledger, Task::Twaps];
        let budget = lock(&self.reader.venue.budget).budget();
        let schedule = Schedule::new(&at_once, &on_demand, self.intervals, budget);
        State { schedule, mode: None, ledger_since_ms: None, failing: BTreeSet::new() }
    }

    fn want(&self, state: &mut State, read: &Read) -> Result<(), String> {
        match read {
            Read::OrderStatus { intent, index, cloid } => {
                let answer = self.reader.order_status(*cloid);
                self.note(state, "order status", answer.as_ref().err())?;
                let (intent, index, cloid) = (*intent, *index, *cloid);
                self.tell(Input::OrderStatus { intent, index, cloid, answer: answer.ok() })
            }
            Read::Leverage { asset, coin } => {
                let leverage = self.reader.leverage(coin);
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

    fn run_due(&self, state: &mut State) -> Result<(), ThreadEnd> {
        for task in state.schedule.due(steady_ms()) {
            let begun_steady_ms = steady_ms();
            let Some(purpose) = self.purpose(state, task, begun_steady_ms) else { continue };
            let (name, every_ms, answer) = match task {
                Task::Wallet => ("API wallet's role", WALLET_MS, self.reader.wallet()?),
                Task::Role => ("role", u64::MAX, self.reader.role()),
                Task::Mode => {
                    let every_ms = self.intervals.orders_ms.saturating_mul(MODE_IN_ORDERS);
                    ("mode", every_ms, self.read_mode(state)?)
                }
                Task::Universe => ("markets", UNIVERSE_MS, self.reader.universe()),
                Task::Mids => ("prices", self.intervals.prices_ms, self.reader.mids()),
                Task::Account => ("account", self.intervals.account_ms, self.read_account(state, purpose)),
                Task::Orders => ("open orders", self.intervals.orders_ms, self.reader.orders(purpose)),
                Task::Ledger => ("ledger", LEDGER_MS, self.read_ledger(state)),
                Task::Twaps => ("TWAP orders", u64::MAX, self.reader.twaps()),
                Task::Limits => ("limits", LIMITS_MS, self.reader.limits()),
                Task::Approval => ("API wallet", APPROVAL_MS, self.reader.approval()),
            };
            self.note(state, name, answer.as_ref().err())?;
            match task {
                // Once is enough, and one that failed is not tried every second.
                Task::Wallet if answer.is_ok() => state.schedule.done(task, begun_steady_ms, u64::MAX, true),
                Task::Wallet => state.schedule.done(task, begun_steady_ms, every_ms, true),
                _ => state.schedule.done(task, begun_steady_ms, every_ms, answer.is_ok()),
            }
            if let Ok(Some(input)) = answer {
                self.tell(input)?;
            }
        }
        Ok(())
    }

    /// The outer error refuses the start: limits from the wrong equity are worse than none. Once there were right ones,
    /// the core goes on with what it knows.
    fn read_mode(&self, state: &mut State) -> Result<Answer, ThreadEnd> {
        let (mode, begun_ms) = match self.reader.mode() {
            Ok(read) => read,
            Err(text) => return Ok(Err(text)),
        };
        Ok(Ok(Some(match mode {
            Ok(mode) => {
                state.mode = Some(mode);
                // A unified account's equity is in a second answer.
                state.schedule.account_weight = if mode == AccountMode::Unified { 4 } else { 2 };
                Input::AccountMode { mode, begun_ms }
            }
            Err(mode) if state.mode.is_none() => return Err(ThreadEnd::Refused(info::unvalued(&mode))),
            Err(mode) => Input::UnvaluedMode { mode, begun_ms },
        })))
    }

    /// What a read that is due is for; `None` where it can wait for its interval, and there is no weight to spare for it.
    fn purpose(&self, state: &mut State, task: Task, steady_ms: u64) -> Option<ReadFor> {
        let is_early = state.schedule.is_early(task, steady_ms);
        let is_hastened = is_early && matches!(task, Task::Account | Task::Orders);
        let is_urgent = state.schedule.is_urgent(task);
        let weight = state.schedule.weight_of(task);
        if is_hastened
            && !is_urgent
            && !lock(&self.reader.venue.budget).has_room(Priority::EarlyRead, weight, steady_ms)
        {
            state.schedule.put_off(task);
            return None;
        }
        if matches!(task, Task::Account | Task::Orders) {
            state.schedule.take_urgency(task);
        }
        Some(ReadFor { is_early: is_hastened, is_urgent })
    }

    fn read_account(&self, state: &State, purpose: ReadFor) -> Answer {
        let mode = state.mode.ok_or("the account's mode is not known yet")?;
        self.reader.account(mode, purpose)
    }

    fn read_ledger(&self, state: &mut State) -> Answer {
        let Some(since_ms) = state.ledger_since_ms else { return Ok(None) };
        let (input, begun_ms) = self.reader.ledger(since_ms)?;
        state.ledger_since_ms = Some(since_ms.max(begun_ms.saturating_sub(LEDGER_OVERLAP_MS)));
        Ok(Some(input))
    }

    /// Reports a read that fails once, not at every try, and that it works again.
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
