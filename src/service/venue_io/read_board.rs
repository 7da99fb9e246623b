//! The read board: it holds reads that the core wants until a thread does them. Whoever puts something
//! here waits for nobody, and nothing is dropped: the same thing wanted twice is one thing.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::ledger_pages::LedgerPages;
use super::read_error::{Failing, News, ReadError};
use super::read_task::{Lane, Task};
use super::schedule::Schedule;
use super::venue_reads::ReadFor;
use crate::base::address::Cloid;
use crate::base::clock::steady_ms;
use crate::base::sync::lock;
use crate::guard::{Pace, Read};
use crate::venue::info::{AccountMode, LEDGER_OVERLAP_MS};
use crate::venue::weight::Priority;

/// What a start can do without is asked for so long after it: the minute's weight is free again then.
const LATER_MS: u64 = 60_000;

/// Where starts follow one another so long has to pass before one asks for what only entries need.
const ENTRIES_MS: u64 = 15_000;

/// Questions that may wait: more than there are markets, and than the core ever asks about orders at once.
pub(in crate::service) const MOST_QUESTIONS: usize = 1_024;

/// A lane looks at the board this often at least.
const LONGEST_WAIT_MS: u64 = 1_000;

/// So many answers refuse a start: one may be wrong, and what is held would stay without a guard.
const REFUSALS: u32 = 3;

/// The board.
pub(in crate::service) struct ReadBoard {
    board: Mutex<Board>,
    changed: Condvar,
}

struct Board {
    schedule: Schedule,
    /// Answers since the start that speak against it.
    refusals: u32,
    /// What is asked once, oldest first.
    questions: VecDeque<Question>,
    mode: Option<AccountMode>,
    /// The one that an earlier life wrote down last.
    recorded_mode: Option<AccountMode>,
    /// From when on the ledger is read, on the venue's clock; none until the core has said so.
    ledger_since_ms: Option<u64>,
    /// By how much the machine's clock is ahead of the venue's, at least.
    ahead_ms: u64,
    /// What a try without an end has read of it.
    ledger_pages: Option<LedgerPages>,
    /// From when on fills are read, on the venue's clock.
    fills_since_ms: u64,
    /// The same of fills and payments of funding for the record.
    book_fills_since_ms: u64,
    fundings_since_ms: u64,
    failing: Failing,
}

/// A question that no interval brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Question {
    OrderStatus { intent: u64, index: usize, cloid: Cloid },
    Leverage { asset: u32, coin: String },
}

/// What a thread does next.
#[derive(Debug)]
pub(super) enum Work {
    /// With when it began.
    Read(Task, ReadFor, u64),
    Ask(Question),
    /// Nothing was due.
    Nothing,
}

impl ReadBoard {
    pub(super) fn new(schedule: Schedule) -> Self {
        let board = Board {
            schedule,
            refusals: 0,
            questions: VecDeque::new(),
            mode: None,
            recorded_mode: None,
            ledger_since_ms: None,
            ahead_ms: 0,
            ledger_pages: None,
            fills_since_ms: 0,
            book_fills_since_ms: 0,
            fundings_since_ms: 0,
            failing: Failing::default(),
        };
        Self { board: Mutex::new(board), changed: Condvar::new() }
    }

    /// Leaves the questions about the API wallet for the next minute: whose it is, and until when.
    pub(in crate::service) fn ask_about_the_wallet_later(&self) {
        let later_ms = steady_ms().saturating_add(LATER_MS);
        let schedule = &mut lock(&self.board).schedule;
        schedule.put_off(Task::Wallet, later_ms);
        schedule.put_off(Task::Approval, later_ms);
    }

    /// Goes by the markets and by this mode, which an earlier life has read: they are read again in a minute, and what nothing
    /// is opened without a while after this life has begun.
    pub(in crate::service) fn go_by(&self, mode: AccountMode) {
        let mut board = lock(&self.board);
        board.set_mode(mode);
        let (schedule, steady_ms) = (&mut board.schedule, steady_ms());
        for task in [Task::Mode, Task::Universe] {
            schedule.done(task, steady_ms, LATER_MS, true);
        }
        schedule.put_off(Task::Limits, steady_ms.saturating_add(ENTRIES_MS));
    }

    /// Has something read soon.
    pub(in crate::service) fn want(&self, read: Read) {
        let mut board = lock(&self.board);
        match read {
            Read::OrderStatus { intent, index, cloid } => {
                board.ask(Question::OrderStatus { intent, index, cloid });
            }
            Read::Leverage { asset, coin } => board.ask(Question::Leverage { asset, coin }),
            read => {
                match &read {
                    Read::Ledger { since_ms, .. } | Read::LedgerSoon { since_ms } => {
                        board.ledger_since_ms = Some(*since_ms);
                    }
                    Read::Fills { since_ms } => board.fills_since_ms = *since_ms,
                    Read::BookFills { since_ms, .. } => board.book_fills_since_ms = *since_ms,
                    Read::Fundings { since_ms } => board.fundings_since_ms = *since_ms,
                    _ => {}
                }
                board.schedule.want(&read, steady_ms());
            }
        }
        drop(board);
        self.changed.notify_all();
    }

    /// Reads as often as the live feed leaves it to be.
    pub(in crate::service) fn set_pace(&self, pace: Pace) {
        lock(&self.board).schedule.set_pace(pace);
        self.changed.notify_all();
    }

    /// How many questions wait.
    pub(in crate::service) fn len(&self) -> usize {
        lock(&self.board).questions.len()
    }

    /// Waits a moment for something to do in this lane. `left` says what the address has left of the minute's weight, and
    /// `wait_ms` after how long there is room for so much.
    pub(super) fn next(&self, lane: Lane, left: impl Fn() -> u32, wait_ms: impl Fn(Priority, u32) -> u64) -> Work {
        let mut board = lock(&self.board);
        board.schedule.left = left();
        if let Some(work) = board.take(lane, &wait_ms) {
            return work;
        }
        let idle_ms = board.schedule.next_steady_ms(lane).saturating_sub(steady_ms()).clamp(1, LONGEST_WAIT_MS);
        board =
            self.changed.wait_timeout(board, Duration::from_millis(idle_ms)).unwrap_or_else(PoisonError::into_inner).0;
        board.schedule.left = left();
        board.take(lane, &wait_ms).unwrap_or(Work::Nothing)
    }

    /// Takes note of how a read went that began at `begun_steady_ms`.
    pub(super) fn done(&self, task: Task, begun_steady_ms: u64, every_ms: u64, is_ok: bool) {
        lock(&self.board).schedule.done(task, begun_steady_ms, every_ms, is_ok);
        self.changed.notify_all();
    }

    /// Whether another try was answered that leaves this one nothing to tell.
    pub(super) fn is_overtaken(&self, task: Task, begun_steady_ms: u64) -> bool {
        lock(&self.board).schedule.is_overtaken(task, begun_steady_ms)
    }

    /// The same, and where it is so this try is over.
    pub(super) fn ends_overtaken(&self, task: Task, begun_steady_ms: u64) -> bool {
        let is_over = lock(&self.board).schedule.ends_overtaken(task, begun_steady_ms);
        if is_over {
            self.changed.notify_all();
        }
        is_over
    }

    /// Whether this try, which is answered, counts: none that began earlier does from here on.
    pub(super) fn overtakes(&self, task: Task, begun_steady_ms: u64) -> bool {
        lock(&self.board).schedule.overtakes(task, begun_steady_ms)
    }

    /// Takes note of whether a read brought something: what a person should hear of it.
    pub(super) fn note(&self, name: &'static str, problem: Option<&ReadError>) -> Option<News> {
        lock(&self.board).failing.note(name, problem, steady_ms())
    }

    /// Whether the last read of this was asked in vain.
    pub(super) fn is_failing(&self, name: &'static str) -> bool {
        lock(&self.board).failing.is_failing(name)
    }

    /// Takes note that the venue was asked for the account's mode in vain: nothing waits for it any longer.
    pub(super) fn do_without_mode(&self) {
        lock(&self.board).schedule.is_mode_unread = true;
        self.changed.notify_all();
    }

    /// Whether a read was answered in this life, or need not be.
    pub(super) fn is_known(&self, task: Task) -> bool {
        lock(&self.board).schedule.is_known(task)
    }

    /// Whether a read has never been answered, and another try was begun beside one that is late.
    pub(super) fn is_tried_in_vain(&self, task: Task) -> bool {
        lock(&self.board).schedule.is_tried_in_vain(task)
    }

    /// Takes note of an answer that speaks against the start; whether it is one of so many that it is believed.
    pub(super) fn note_refusal(&self) -> bool {
        let mut board = lock(&self.board);
        board.refusals = board.refusals.saturating_add(1);
        board.refusals >= REFUSALS
    }

    /// The account's mode, as last read.
    pub(super) fn mode(&self) -> Option<AccountMode> {
        lock(&self.board).mode
    }

    /// Takes note of the mode that an earlier life wrote down last.
    pub(in crate::service) fn note_recorded(&self, mode: Option<AccountMode>) {
        lock(&self.board).recorded_mode = mode;
    }

    /// Whether a mode is another than the one that is gone by, or was. Before any was known none is.
    pub(super) fn is_news(&self, mode: AccountMode) -> bool {
        let board = lock(&self.board);
        board.mode.or(board.recorded_mode).is_some_and(|known| known != mode)
    }

    /// Has something read so much later, whatever its interval is.
    pub(super) fn read_again_in(&self, task: Task, ms: u64) {
        lock(&self.board).schedule.put_off(task, steady_ms().saturating_add(ms));
    }

    /// Whether no life has known the mode.
    pub(super) fn is_first_mode(&self) -> bool {
        let board = lock(&self.board);
        board.mode.or(board.recorded_mode).is_none()
    }

    /// Goes by this mode, which a try has read, unless that is overtaken; whether it is not.
    pub(super) fn take_mode(&self, mode: AccountMode, begun_steady_ms: u64) -> bool {
        let mut board = lock(&self.board);
        let counts = board.schedule.overtakes(Task::Mode, begun_steady_ms);
        if counts {
            board.set_mode(mode);
        }
        counts
    }

    pub(super) fn ledger_since_ms(&self) -> Option<u64> {
        lock(&self.board).ledger_since_ms
    }

    pub(super) fn fills_since_ms(&self) -> u64 {
        lock(&self.board).fills_since_ms
    }

    pub(super) fn book_fills_since_ms(&self) -> u64 {
        lock(&self.board).book_fills_since_ms
    }

    pub(super) fn fundings_since_ms(&self) -> u64 {
        lock(&self.board).fundings_since_ms
    }

    /// What a try without an end has read of the ledger.
    pub(super) fn take_ledger_pages(&self) -> Option<LedgerPages> {
        lock(&self.board).ledger_pages.take()
    }

    /// Keeps what a try has read that found no end, unless another one has read more.
    pub(super) fn keep_ledger_pages(&self, pages: LedgerPages, begun_steady_ms: u64) {
        let mut board = lock(&self.board);
        let is_less = board.ledger_pages.as_ref().is_some_and(|kept| kept.reach_beyond(&pages));
        if !is_less && !board.schedule.is_overtaken(Task::Ledger, begun_steady_ms) {
            board.ledger_pages = Some(pages);
        }
    }

    /// An answer to a question of `begun_ms` was of this time of the venue's.
    pub(super) fn note_venue_time(&self, venue_ms: u64, begun_ms: u64) {
        lock(&self.board).ahead_ms = begun_ms.saturating_sub(venue_ms);
    }

    /// A try has read the ledger as of `begun_ms`; from when on it is read next, unless that try is overtaken. What another
    /// one has left is of before.
    pub(super) fn ledger_read(&self, begun_ms: u64, begun_steady_ms: u64) -> Option<u64> {
        let mut board = lock(&self.board);
        if !board.schedule.overtakes(Task::Ledger, begun_steady_ms) {
            return None;
        }
        board.ledger_pages = None;
        let shown_ms = begun_ms.saturating_sub(board.ahead_ms).saturating_sub(LEDGER_OVERLAP_MS);
        let since_ms = board.ledger_since_ms.unwrap_or_default().max(shown_ms);
        board.ledger_since_ms = Some(since_ms);
        Some(since_ms)
    }
}

impl Board {
    fn set_mode(&mut self, mode: AccountMode) {
        self.mode = Some(mode);
        // A unified account's equity is in a second answer.
        self.schedule.account_weight = if mode == AccountMode::Unified { 4 } else { 2 };
    }

    fn ask(&mut self, question: Question) {
        if !self.questions.contains(&question) && self.questions.len() < MOST_QUESTIONS {
            self.questions.push_back(question);
        }
    }

    fn take(&mut self, lane: Lane, wait_ms: impl Fn(Priority, u32) -> u64) -> Option<Work> {
        let begun_steady_ms = steady_ms();
        if let Some((task, read_for)) = self.schedule.begin(lane, begun_steady_ms, wait_ms) {
            return Some(Work::Read(task, read_for, begun_steady_ms));
        }
        let is_here = |question: &Question| match question {
            Question::OrderStatus { .. } => lane == Lane::Doubts,
            Question::Leverage { .. } => lane == Lane::Beside,
        };
        let index = self.questions.iter().position(is_here)?;
        self.questions.remove(index).map(Work::Ask)
    }
}
