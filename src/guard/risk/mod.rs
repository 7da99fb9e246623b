//! The risk state: the day's start, the peak, and the halts that follow from them.
//!
//! Flows move the day's start and the peak with them, so that only profit and loss is measured. The balance moves
//! before the ledger says why: what looks like a loss is believed only on the next account read, after the ledger and
//! the account's mode were read as well. No order and no send may enter here.

mod cash;
mod flows;
mod halt;
mod marks;
mod record;

use crate::base::day::{Day, day_of};
use rust_decimal::Decimal;
use serde_json::Value;

use cash::Cash;
pub(super) use flows::Flow;
use flows::Taken;
use halt::Doubt;
use marks::{Mark, Peaks};
pub(super) use record::flatten_record;

use super::book::percent_of;
use super::effect::{Deed, Effects, Keys, Read, RiskRecord};
use super::event;
use super::state::Guard;
use crate::rules::Rules;
use crate::venue::info::{AccountMode, LEDGER_OVERLAP_MS, LedgerUpdate};

/// An equity that moves by more than this share between two reads, percent, has the ledger read at once.
const JUMP_PCT: Decimal = Decimal::ONE;
/// Reads of the ledger asked for by jumps are this far apart, and so many: it may show a flow late.
const JUMP_PAUSE_MS: u64 = 10_000;
const JUMP_READS: u8 = 3;

/// Whether positions may be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum State {
    #[default]
    Active,
    /// The daily loss stop fired: until the next UTC day.
    HaltedForDay,
    /// The drawdown halt fired: until a person resumes.
    Stopped,
}

impl State {
    pub(super) const fn name(self) -> &'static str {
        match self {
            State::Active => "active",
            State::HaltedForDay => "halted_for_day",
            State::Stopped => "stopped",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        [State::Active, State::HaltedForDay, State::Stopped].into_iter().find(|state| state.name() == name)
    }
}

/// The risk state and what it is made from.
#[derive(Debug, Default)]
pub(super) struct Risk {
    pub(super) state: State,
    pub(super) since_ms: u64,
    pub(super) details: Option<Value>,
    day: Option<Day>,
    halted_on: Option<Day>,
    day_start: Option<Mark>,
    peaks: Peaks,
    /// The peak last written, so that not every new one is.
    peak_written: Option<Mark>,
    taken: Taken,
    /// The newest read of the ledger, also of an earlier life.
    ledger_ms: u64,
    ledger_asked_ms: Option<u64>,
    /// Reads of the ledger still to ask for because of a jump.
    ledger_wanted: u8,
    /// The equities of the last two reads are far apart.
    jumped: bool,
    mode: Option<AccountMode>,
    /// The account's mode changed: the next equity is of another kind.
    mode_changed: bool,
    mode_ms: u64,
    /// The equity of the last account read taken in, and when that began.
    last: Option<(Decimal, u64)>,
    /// The cash of the last account read taken in, and of the one before.
    cash: Option<Cash>,
    cash_before: Option<Cash>,
    /// When it was last heard that something was traded, or may have been.
    traded_ms: Option<u64>,
    doubt: Option<Doubt>,
    /// Since when the loss of the day and the drawdown are near their limits.
    pub(super) near_ms: [Option<u64>; 2],
    /// What was odd in the ledger, with the time.
    pub(super) oddities: Vec<(String, u64)>,
}

/// The figures that the halts go by, USDC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) day_start: Decimal,
    pub(super) day_pnl: Decimal,
    pub(super) daily_loss_limit: Decimal,
    pub(super) peak: Decimal,
    pub(super) drawdown: Decimal,
    pub(super) drawdown_limit: Decimal,
}

impl Risk {
    pub(super) fn is_halted(&self) -> bool {
        self.state != State::Active
    }

    pub(super) fn day(&self) -> Option<Day> {
        self.day
    }

    /// The figures at this equity; `None` before the account was read.
    pub(super) fn figures(&self, equity: Decimal, rules: &Rules) -> Option<Figures> {
        let (day_start, peak) = (self.day_start?.equity, self.peaks.highest()?.equity);
        Some(Figures {
            day_start,
            day_pnl: equity.saturating_sub(day_start),
            daily_loss_limit: percent_of(day_start, rules.daily_loss),
            peak,
            drawdown: peak.saturating_sub(equity).max(Decimal::ZERO),
            drawdown_limit: percent_of(peak, rules.drawdown),
        })
    }

    /// Something was traded, or may have been: cash that is gone may be lost.
    pub(super) fn traded(&mut self, now_ms: u64) {
        self.traded_ms = Some(now_ms);
    }

    /// From when on the ledger must be read so that no flow is missed.
    fn ledger_since_ms(&self) -> u64 {
        self.ledger_ms.saturating_sub(LEDGER_OVERLAP_MS)
    }

    /// The ledger may be ahead of the account: what it shows to have moved after the account was read counts as moved.
    fn with_later_flows(&self, mark: Mark) -> Mark {
        match self.taken.after(mark.at_ms) {
            Some((usd, at_ms)) => Mark { at_ms, equity: mark.equity.saturating_add(usd) },
            None => mark,
        }
    }

    /// Moves the day's start and the peak with a flow. What was measured after it contains it already.
    fn shift(&mut self, flow: &Flow) {
        if let Some(start) = self.day_start.as_mut().filter(|start| flow.time_ms > start.at_ms) {
            start.equity = start.equity.saturating_add(flow.usd);
        }
        if let Some(written) = self.peak_written.as_mut().filter(|written| flow.time_ms > written.at_ms) {
            written.equity = written.equity.saturating_add(flow.usd);
        }
        self.peaks.shift(flow.time_ms, flow.usd);
        let doubted = self.doubt.iter_mut().filter_map(Doubt::cash_before);
        let seen = [&mut self.cash, &mut self.cash_before].into_iter().flatten();
        doubted.chain(seen).for_each(|cash| cash.shift(flow));
    }
}

impl Guard {
    /// Takes in what moved the equity without trading.
    pub(super) fn ledger_read(&mut self, effects: &mut Effects, updates: &[LedgerUpdate], begun_ms: u64, now_ms: u64) {
        let Some(mode) = self.risk.mode else { return };
        let purse = flows::Purse { account: self.config.account, mode };
        self.risk.ledger_ms = self.risk.ledger_ms.max(begun_ms);
        let new = self.risk.taken.new_ones(updates, purse);
        self.risk.taken.forget_before(begun_ms);
        for flow in new {
            self.flow(effects, &flow, now_ms);
        }
    }

    fn flow(&mut self, effects: &mut Effects, flow: &Flow, now_ms: u64) {
        if !flow.is_known {
            let text = format!(
                "the ledger entry {} of {} USDC is of no known type; it counts as a deposit or withdrawal",
                flow.kind,
                flow.usd.normalize()
            );
            self.odd(effects, text, now_ms);
        }
        self.risk.shift(flow);
        effects.risk.push(record::flow(flow, now_ms));
    }

    /// Tells of something odd about the account's money, and keeps it as an alert.
    fn odd(&mut self, effects: &mut Effects, text: String, now_ms: u64) {
        const KEPT: usize = 8;
        self.record(effects, now_ms, "error", &event::Trouble { text: &text }, Keys::default());
        self.risk.oddities.push((text, now_ms));
        let over = self.risk.oddities.len().saturating_sub(KEPT);
        self.risk.oddities.drain(..over);
    }

    /// Takes in where the account keeps its equity.
    pub(super) fn mode_read(&mut self, mode: AccountMode, begun_ms: u64) {
        self.risk.mode_ms = self.risk.mode_ms.max(begun_ms);
        let before = self.risk.mode.replace(mode);
        self.risk.mode_changed = self.risk.mode_changed || before.is_some_and(|before| before != mode);
    }

    /// Takes in the newest account read, then sees whether a halt fires or ends.
    pub(super) fn watch_risk(&mut self, effects: &mut Effects, now_ms: u64) {
        let Some(account) = &self.view.account else { return };
        let (begun_ms, cash) = (account.begun_ms, Cash::of(account));
        let mark = self.risk.with_later_flows(Mark { at_ms: account.venue_ms, equity: account.equity });
        let before_ms = self.risk.last.map(|(_, last_ms)| last_ms);
        if before_ms.is_none_or(|last_ms| begun_ms > last_ms) {
            if before_ms.is_some_and(|last_ms| begun_ms.saturating_sub(last_ms) > self.config.account_max_age_ms) {
                // The venue was away: whatever looked like a loss before is looked at anew.
                self.risk.doubt = None;
            }
            self.risk.cash_before = std::mem::replace(&mut self.risk.cash, cash);
            self.measure(effects, mark, begun_ms, now_ms);
            self.see_to_halts(effects, mark.equity, true, now_ms);
        } else if now_ms.saturating_sub(begun_ms) <= self.config.account_max_age_ms {
            self.see_to_halts(effects, mark.equity, false, now_ms);
        }
    }

    /// Puts a new equity in its place: the day's start, the peak.
    fn measure(&mut self, effects: &mut Effects, mark: Mark, begun_ms: u64, now_ms: u64) {
        let last = self.risk.last.replace((mark.equity, begun_ms));
        if std::mem::take(&mut self.risk.mode_changed)
            && let Some((before, _)) = last
        {
            let usd = mark.equity.saturating_sub(before);
            let text = format!(
                "the account's mode changed, and its equity by {} USDC, which counts as a flow",
                usd.normalize()
            );
            self.odd(effects, text, now_ms);
            let kind = "modeChange".to_owned();
            let flow = Flow { time_ms: mark.at_ms, usd, kind, hash: String::new(), is_known: true };
            self.risk.shift(&flow);
            effects.risk.push(record::flow(&flow, now_ms));
        }
        let today = day_of(begun_ms);
        if self.risk.day.is_none_or(|day| today > day) || self.risk.day_start.is_none() {
            (self.risk.day, self.risk.day_start) = (Some(today), Some(mark));
            self.risk.ledger_ms = if self.risk.ledger_ms == 0 { mark.at_ms } else { self.risk.ledger_ms };
            effects.risk.push(record::day(today, mark, self.risk.ledger_ms, now_ms));
        }
        if self.risk.peaks.add(mark) && record::is_worth_writing(self.risk.peak_written, mark) {
            self.risk.peak_written = Some(mark);
            effects.risk.push(record::peak(mark, now_ms));
        }
        self.ask_for_ledger(effects, last.map(|(before, _)| before), mark.equity, now_ms);
    }

    /// Has the ledger read from the start on, and at once when the equity jumps.
    fn ask_for_ledger(&mut self, effects: &mut Effects, before: Option<Decimal>, equity: Decimal, now_ms: u64) {
        let jumped =
            before.is_some_and(|before| equity.saturating_sub(before).abs() > percent_of(before.abs(), JUMP_PCT));
        self.risk.jumped = jumped;
        if jumped {
            self.risk.ledger_wanted = JUMP_READS;
        }
        let is_due = self
            .risk
            .ledger_asked_ms
            .is_none_or(|asked_ms| self.risk.ledger_wanted > 0 && now_ms.saturating_sub(asked_ms) >= JUMP_PAUSE_MS);
        if is_due {
            self.risk.ledger_wanted = self.risk.ledger_wanted.saturating_sub(1);
            self.risk.ledger_asked_ms = Some(now_ms);
            effects.at_once.push(Deed::Read(Read::Ledger { since_ms: self.risk.ledger_since_ms() }));
        }
    }
}

/// A record's text.
fn line(record: &Value) -> RiskRecord {
    RiskRecord { text: record.to_string() }
}
