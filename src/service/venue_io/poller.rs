//! The poller: the guard's own reads of the venue, each on its interval, within the request budget. Prices, account and
//! open orders have threads of their own each, and so has what those are understood by, so that another try begins where one is
//! late; all else is read beside them. So no answer that is late holds up another.

use std::sync::Arc;

use crossbeam_channel::Sender;

use super::carried::Carried;
use super::intervals::Intervals;
use super::ledger_pages::LedgerPages;
use super::read_board::{Question, ReadBoard, Work};
use super::read_error::{News, ReadError};
use super::read_task::{Lane, STEADY_MS, TURN_MS, Task};
use super::schedule::Schedule;
use super::venue_reads::{Answer, Listed, ReadFor, VenueReader};
use crate::base::clock::{now_ms, steady_ms};
use crate::base::sync::lock;
use crate::faults::Step;
use crate::guard::{AlertCode, Input, Read};
use crate::service::message::Message;
use crate::service::reporting::level::Level;
use crate::service::reporting::log;
use crate::service::thread::ThreadEnd;
use crate::venue::client::{Client, Timeouts};
use crate::venue::info;
use crate::venue::info::AccountMode;
use crate::venue::market::Universe;
use crate::venue::weight::Priority;

/// How long a try of a steady read may take. What it shows is as old as its question.
pub(in crate::service) const STEADY: Timeouts = Timeouts { connect_ms: 2_000, call_ms: STEADY_MS };

/// How long what stands beside it is waited for: the rest of it is told without, in time.
pub(in crate::service) const SPOT_BALANCES: Timeouts = Timeouts { connect_ms: 2_000, call_ms: TURN_MS };

/// The clients that ask the venue for what must be fresh.
pub(in crate::service) struct SteadyClients {
    pub(in crate::service) reads: Client,
    pub(in crate::service) spot_balances: Client,
}

const UNIVERSE_MS: u64 = 60_000;
const LIMITS_MS: u64 = 60_000;
const APPROVAL_MS: u64 = 3_600_000;
/// Between two looks whether somebody has the account by now.
const ROLE_MS: u64 = 300_000;
/// Between two tries to check the API wallet's role.
const WALLET_MS: u64 = 10_000;
/// The account's mode and its ledger are read once in so many reads of the open orders: every minute where the budget is
/// whole. The ledger is read at once where cash moves.
const IN_ORDERS: u64 = 12;
/// The mode that no life has known is read again so soon.
const FIRST_MODE_MS: u64 = 3_000;
/// A mode and a life's first list of markets that are other than was known are asked for so often again, until two answers agree.
const LOOKS: usize = 3;

/// What a unified account's equity is read from.
const SPOT: &str = "spot balances";

/// What all lanes share.
pub(in crate::service) struct Poller {
    /// What is to be read.
    pub(in crate::service) board: Arc<ReadBoard>,
    /// Asks the venue, and waits for its answer for seconds only.
    pub(in crate::service) steady: VenueReader,
    /// The same for what stands beside an account's state.
    pub(in crate::service) spot_balances: VenueReader,
    /// Asks the venue what can wait.
    pub(in crate::service) beside: VenueReader,
    /// What the next life can go by.
    pub(in crate::service) carried: Arc<Carried>,
    /// How often things are read.
    pub(in crate::service) intervals: Intervals,
    /// The decision loop.
    pub(in crate::service) inbox: Sender<Message>,
}

/// What is read at a start, for a share with this budget; `wallet_unchecked` is whether the venue has not said yet that it
/// knows the API wallet, where there is one.
pub(in crate::service) fn first_reads(
    wallet_unchecked: Option<bool>,
    intervals: Intervals,
    budget: u32,
) -> Arc<ReadBoard> {
    let mut at_once = vec![Task::Mode, Task::Universe, Task::Mids, Task::Account, Task::Orders];
    match wallet_unchecked {
        None => at_once.push(Task::Role),
        Some(true) => at_once.extend([Task::Wallet, Task::Limits, Task::Approval]),
        Some(false) => at_once.extend([Task::Limits, Task::Approval]),
    }
    // The core says when these are wanted first.
    let on_demand = [Task::Ledger, Task::Fills, Task::Twaps, Task::BookFills, Task::Fundings];
    Arc::new(ReadBoard::new(Schedule::new(&at_once, &on_demand, intervals, budget)))
}

impl Poller {
    /// Reads what stands in this lane until the service ends.
    ///
    /// # Errors
    /// When the decision loop is gone; a refusal, when the account's equity cannot be valued surely at the start.
    pub(in crate::service) fn run(&self, lane: Lane) -> Result<(), ThreadEnd> {
        let budget = &self.beside.venue.budget;
        let wait_ms = |priority: Priority, weight: u32| lock(budget).wait_ms(priority, weight, steady_ms());
        loop {
            self.beside.venue.faults.pass(Step::Poll).map_err(|error| error.to_string())?;
            match self.board.next(lane, || self.beside.venue.left_of_address(), wait_ms) {
                Work::Read(task, read_for, begun_steady_ms) => self.read(task, read_for, begun_steady_ms)?,
                Work::Ask(question) => self.ask(question)?,
                Work::Nothing => {}
            }
        }
    }

    fn ask(&self, question: Question) -> Result<(), String> {
        match question {
            Question::OrderStatus { intent, index, cloid } => {
                let answer = self.beside.order_status(cloid);
                self.note("order status", answer.as_ref().err())?;
                self.tell(Input::OrderStatus { intent, index, cloid, answer: answer.ok() })
            }
            Question::Leverage { asset, coin } => {
                let leverage = self.beside.leverage(&coin);
                self.note("leverage", leverage.as_ref().err())?;
                let (leverage, marks) = leverage.ok().unzip();
                marks.into_iter().try_for_each(|marks| self.tell(marks))?;
                self.tell(Input::Leverage { asset, leverage })
            }
        }
    }

    fn read(&self, task: Task, read_for: ReadFor, begun_steady_ms: u64) -> Result<(), ThreadEnd> {
        let seldom_ms = self.intervals.orders_ms.saturating_mul(IN_ORDERS);
        let is_first_mode = task == Task::Mode && self.board.is_first_mode();
        let (name, every_ms, answer) = match task {
            Task::Wallet => ("API wallet's role", WALLET_MS, self.beside.wallet()?),
            Task::Role => self.read_role()?,
            Task::Mode => ("mode", seldom_ms, self.read_mode(read_for, begun_steady_ms)?),
            Task::Universe => ("markets", UNIVERSE_MS, self.read_universe(read_for, begun_steady_ms)?),
            Task::Mids => ("prices", self.intervals.prices_ms, self.steady.mids(read_for)),
            Task::Account => ("account", self.intervals.account_ms, self.read_account(read_for)?),
            Task::Orders => ("open orders", self.intervals.orders_ms, self.steady.orders(read_for)),
            Task::Ledger => ("ledger", seldom_ms, self.read_ledger(read_for, begun_steady_ms)?),
            Task::Fills => ("fills", u64::MAX, self.beside.fills(self.board.fills_since_ms(), read_for)),
            Task::Twaps => ("TWAP orders", u64::MAX, self.beside.twaps(read_for)),
            Task::Limits => ("limits", LIMITS_MS, self.beside.limits(read_for)),
            Task::BookFills => {
                ("fills for the record", u64::MAX, self.beside.book_fills(self.board.book_fills_since_ms(), read_for))
            }
            Task::Fundings => ("funding", u64::MAX, self.beside.fundings(self.board.fundings_since_ms())),
            Task::Approval => ("API wallet", APPROVAL_MS, self.beside.approval()),
        };
        if self.board.ends_overtaken(task, begun_steady_ms) {
            return Ok(());
        }
        self.note(name, answer.as_ref().err())?;
        let is_ok = answer.is_ok();
        // The core hears of it before the next read of the same begins, but for one that is late.
        if let Ok(Some(input)) = answer {
            self.tell(input)?;
        }
        match task {
            // Once is enough, and one that failed is not tried every second.
            Task::Wallet if is_ok => self.board.done(task, begun_steady_ms, u64::MAX, true),
            Task::Wallet => self.board.done(task, begun_steady_ms, every_ms, true),
            _ => self.board.done(task, begun_steady_ms, every_ms, is_ok),
        }
        if is_first_mode && is_ok {
            // Nothing bears the very first one out but the next.
            self.board.read_again_in(task, FIRST_MODE_MS);
        }
        Ok(())
    }

    /// An account of nobody's may become one by a deposit, and is asked about again; one that is there stays.
    fn read_role(&self) -> Result<(&'static str, u64, Answer), String> {
        let (every_ms, answer) = match self.beside.role() {
            Err(error) => (u64::MAX, Err(error)),
            Ok((acts_for, text)) => {
                self.tell(acts_for)?;
                let every_ms = if text.is_some() { ROLE_MS } else { u64::MAX };
                (every_ms, Ok(Some(Input::Concern { code: AlertCode::AccountUnknown, text })))
            }
        };
        Ok(("role", every_ms, answer))
    }

    /// The outer error refuses the start, once a few answers agree: limits from the wrong equity are worse than none. Once there were
    /// right ones, the core goes on with what it knows.
    fn read_mode(&self, read_for: ReadFor, begun_steady_ms: u64) -> Result<Answer, ThreadEnd> {
        if self.board.is_tried_in_vain(Task::Mode) {
            self.go_without_mode()?;
        }
        let read = self.mode_surely(read_for);
        if self.board.is_overtaken(Task::Mode, begun_steady_ms) {
            return Ok(Ok(None));
        }
        let (mode, begun_ms) = match read {
            Ok(read) => read,
            Err(error) => {
                // Where there was no room for the question the venue was not asked.
                if matches!(error, ReadError::Failed(_)) {
                    self.go_without_mode()?;
                }
                return Ok(Err(error));
            }
        };
        Ok(Ok(Some(match mode {
            Ok(mode) => {
                if !self.board.take_mode(mode, begun_steady_ms) {
                    return Ok(Ok(None));
                }
                self.carried.keep_mode(mode, begun_ms);
                Input::AccountMode { mode, begun_ms }
            }
            Err(mode) if self.board.mode().is_none() => {
                let why = info::unvalued(&mode);
                if self.board.note_refusal() {
                    return Err(ThreadEnd::Refused(why));
                }
                self.go_without_mode()?;
                return Ok(Err(ReadError::Failed(why)));
            }
            Err(mode) => Input::UnvaluedMode { mode, begun_ms },
        })))
    }

    /// The mode, once two answers in a row agree where it is another than was known: by one that is wrong all would be measured in a
    /// purse that is not the account's.
    fn mode_surely(&self, read_for: ReadFor) -> Result<(Result<AccountMode, String>, u64), ReadError> {
        let (mut mode, mut begun_ms) = self.beside.mode(read_for)?;
        for _ in 0..LOOKS {
            if !mode.as_ref().is_ok_and(|mode| self.board.is_news(*mode)) {
                return Ok((mode, begun_ms));
            }
            let before = mode;
            // What has no room for another look goes on without the mode: what is held does not wait.
            let again = self.beside.mode(read_for);
            (mode, begun_ms) = again.map_err(|error| ReadError::Failed(format!("it is another now; {error}")))?;
            if mode == before {
                return Ok((mode, begun_ms));
            }
        }
        Err(ReadError::Failed("the answers differ from one another".to_owned()))
    }

    /// What is held is read, covered and closed although nobody knows the mode yet.
    fn go_without_mode(&self) -> Result<(), String> {
        if self.board.mode().is_none() {
            self.tell(Input::ModeUnread)?;
            self.board.do_without_mode();
        }
        Ok(())
    }

    /// The marks can be told of markets that are known.
    fn read_universe(&self, read_for: ReadFor, begun_steady_ms: u64) -> Result<Answer, String> {
        let is_overtaken = || self.board.is_overtaken(Task::Universe, begun_steady_ms);
        let is_late = self.board.is_tried_in_vain(Task::Universe);
        match self.markets_surely(read_for, is_late, is_overtaken) {
            Ok(_) if !self.board.overtakes(Task::Universe, begun_steady_ms) => Ok(Ok(None)),
            Ok((universe, Listed { meta, marks, begun_ms })) => {
                self.carried.keep_markets(meta, begun_ms);
                self.tell(Input::Universe(universe))?;
                Ok(Ok(Some(marks)))
            }
            Err(text) => Ok(Err(text)),
        }
    }

    /// The markets: a first list of a life that contradicts the one which the life before wrote down once a second answer agrees. Orders,
    /// stops and lines go by its asset ids, and by a wrong one they would be another market's.
    fn markets_surely(
        &self,
        read_for: ReadFor,
        is_late: bool,
        is_overtaken: impl Fn() -> bool,
    ) -> Result<(Universe, Listed), ReadError> {
        let (mut universe, mut listed) = self.beside.universe(read_for, is_late, &is_overtaken)?;
        // What a later one contradicts the core has looked at again.
        let mut known =
            if self.board.is_known(Task::Universe) { return Ok((universe, listed)) } else { self.carried.listed() };
        for _ in 0..LOOKS {
            // Where no life has known any there is nothing to doubt it by, and the first minute has no weight for another.
            let is_borne_out = known.is_none_or(|known| known.contradicted_by(&universe).is_none());
            if is_borne_out || is_overtaken() {
                return Ok((universe, listed));
            }
            let again = self.beside.universe(read_for, is_late, &is_overtaken)?;
            known = Some(std::mem::replace(&mut universe, again.0));
            listed = again.1;
        }
        match known.and_then(|known| known.contradicted_by(&universe)) {
            Some(how) => Err(ReadError::Failed(format!("the answers differ from one another: {how}"))),
            None => Ok((universe, listed)),
        }
    }

    /// What is held is told although the equity cannot be read beside it: it is covered and closed all the same.
    fn read_account(&self, read_for: ReadFor) -> Result<Answer, String> {
        let mode = self.board.mode();
        let (state, begun_ms) = match self.steady.account(read_for) {
            Ok(read) => read,
            Err(text) => return Ok(Err(text)),
        };
        self.board.note_venue_time(state.time, begun_ms);
        let unvalued = || Input::AccountUnvalued { state: state.clone(), begun_ms };
        // Where the mode is not known the core takes no equity from the answer.
        let equity = match mode.unwrap_or(AccountMode::Standard) {
            AccountMode::Standard => Ok(state.margin_summary.account_value),
            AccountMode::Unified => {
                if self.board.is_failing(SPOT) {
                    // It may hang again.
                    self.tell(unvalued())?;
                }
                self.spot_balances.unified_equity(read_for)
            }
        };
        self.note(SPOT, equity.as_ref().err())?;
        if self.board.mode() != mode {
            // It may be of the purse that the account has no more.
            self.board.want(Read::AccountNow);
            return Ok(Ok(None));
        }
        Ok(Ok(Some(match equity {
            Ok(equity) => {
                mode.into_iter().for_each(|mode| self.carried.last_account.keep(&state, equity, mode, begun_ms));
                Input::Account { state, equity, begun_ms }
            }
            Err(_) => unvalued(),
        })))
    }

    /// A try that is overtaken reads no further, and keeps none of its pages.
    fn read_ledger(&self, read_for: ReadFor, begun_steady_ms: u64) -> Result<Answer, String> {
        let Some(since_ms) = self.board.ledger_since_ms() else { return Ok(Ok(None)) };
        let now_ms = now_ms();
        let mut pages = LedgerPages::go_on(self.board.take_ledger_pages(), since_ms, now_ms);
        loop {
            match self.beside.ledger(&mut pages, read_for) {
                Ok(is_more) if is_more && !self.board.is_overtaken(Task::Ledger, begun_steady_ms) => {}
                Ok(_) => break,
                Err(error) => {
                    self.board.keep_ledger_pages(pages, begun_steady_ms);
                    return Ok(Err(error));
                }
            }
        }
        let LedgerPages { begun_ms, updates, unread, cut, .. } = pages;
        let Some(since_ms) = self.board.ledger_read(begun_ms, begun_steady_ms) else { return Ok(Ok(None)) };
        if begun_ms < now_ms {
            // What this was wanted for may have come since the first of its pages.
            let ReadFor { is_urgent, is_for_halt, .. } = read_for;
            let at_once = Read::Ledger { since_ms, is_for_halt };
            self.board.want(if is_urgent { at_once } else { Read::LedgerSoon { since_ms } });
        }
        if cut.is_some() || !unread.is_empty() {
            self.tell(Input::LedgerLacks { unread, cut })?;
        }
        Ok(Ok(Some(Input::Ledger { updates, begun_ms })))
    }

    /// Reports a read that brings nothing once, not at every try, and that it works again.
    fn note(&self, name: &'static str, problem: Option<&ReadError>) -> Result<(), String> {
        match self.board.note(name, problem) {
            Some(News::Trouble(text)) => self.tell(Input::ReadFails { name, text: Some(text) }),
            Some(News::Works) => {
                log::line(Level::Info, format_args!("reading the {name} works again"));
                self.tell(Input::ReadFails { name, text: None })
            }
            None => Ok(()),
        }
    }

    fn tell(&self, input: Input) -> Result<(), String> {
        self.inbox.send(Message::Input(input)).map_err(|_| "the decision loop is gone".to_owned())
    }
}
