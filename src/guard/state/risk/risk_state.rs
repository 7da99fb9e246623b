//! The risk state: the marks, what reads have shown, and the figures that halts are measured by. No order and no send may
//! enter here.

use crate::base::amount::percent_of;
use crate::base::day::Day;
use crate::guard::config::Config;
use crate::guard::state::risk::cash_balance::Cash;
use crate::guard::state::risk::cash_history::CashHistory;
use crate::guard::state::risk::emptied::is_empty;
use crate::guard::state::risk::equity_history::EquityHistory;
use crate::guard::state::risk::equity_peaks::EquitySample;
use crate::guard::state::risk::first_reading::FirstReading;
use crate::guard::state::risk::hidden_loss::HiddenLoss;
use crate::guard::state::risk::marks::Marks;
use crate::guard::state::risk::modes::Modes;
use crate::guard::state::risk::settled_reading::Settled;
use crate::guard::state::risk::told_flows::ToldFlows;
use crate::guard::state::risk::transfers::{SeenTransfers, Transfer};
use crate::guard::state::risk::unconfirmed_loss::UnconfirmedLoss;
use crate::guard::state::risk::unproven_flows::UnprovenFlows;
use crate::guard::state::venue_clock::VenueClock;
use crate::record::risk_record::{self, HaltDetails};
use crate::venue::fill::Fill;
use crate::venue::info::{AccountMode, LEDGER_OVERLAP_MS};
use rust_decimal::Decimal;

/// Changes of the purse that are kept in mind.
const MOST_CHANGES: usize = 8;

/// Whether positions may be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum RiskState {
    #[default]
    Active,
    /// The daily loss stop fired: until the next UTC day.
    HaltedForDay,
    /// The drawdown halt fired: until a person resumes.
    DrawdownHalt,
}

impl RiskState {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            RiskState::Active => "active",
            RiskState::HaltedForDay => "halted_for_day",
            RiskState::DrawdownHalt => "stopped",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        [RiskState::Active, RiskState::HaltedForDay, RiskState::DrawdownHalt]
            .into_iter()
            .find(|state| state.name() == name)
    }
}

/// The risk state and what it is made from.
#[derive(Debug, Default)]
pub(crate) struct Risk {
    pub(crate) state: RiskState,
    pub(crate) since_ms: u64,
    pub(crate) details: Option<HaltDetails>,
    pub(crate) halted_on: Option<Day>,
    pub(crate) marks: Marks,
    /// The first read of this life, or of an earlier one that ended too soon, until another bears it out.
    pub(crate) first: Option<FirstReading>,
    pub(crate) taken: SeenTransfers,
    /// What the live feed told beside them.
    pub(crate) told: ToldFlows,
    /// When the newest answer of the ledger that was taken in was asked for, by the machine's time; none in this life is nought.
    pub(crate) ledger_ms: u64,
    /// By when the ledger was read, by the venue's time, also by an earlier life, whose clock may have been another.
    pub(crate) ledger_read_ms: u64,
    pub(crate) ledger_asked_ms: Option<u64>,
    /// Reads of the ledger still to ask for because of a jump.
    pub(crate) ledger_wanted: u8,
    /// When an answer of the ledger that may lack something is asked for again.
    pub(crate) ledger_again_ms: Option<u64>,
    /// The equities of the last two reads are far apart.
    pub(crate) jumped: bool,
    pub(crate) mode: Option<AccountMode>,
    pub(crate) modes: Modes,
    /// The mode that was written down last, by whichever life: starts that find nothing new write nothing, for a full disk has no
    /// room for that.
    pub(crate) mode_recorded: Option<AccountMode>,
    /// The venue's times between which the account changed its purse: what flowed then is in the difference that counted
    /// as a flow.
    pub(crate) purse_changes: Vec<(u64, u64)>,
    /// Nothing has been heard of the mode since the start: the equity that is read may be of another purse.
    pub(crate) is_mode_unread: bool,
    /// The account's mode changed: the next equity is of another kind.
    pub(crate) mode_changed: bool,
    pub(crate) mode_ms: u64,
    /// Whether the mode is to be asked for because cash moved, and when it last was.
    pub(crate) mode_wanted: bool,
    pub(crate) mode_asked_ms: Option<u64>,
    /// Account reads that began before this may be of a purse that the account has no more.
    pub(crate) purse_ms: u64,
    /// The mode's name and since when, while it is one in which the equity cannot be read.
    pub(crate) unvalued: Option<(String, u64)>,
    /// The equity of the last account read taken in, and when that began.
    pub(crate) last: Option<(Decimal, u64)>,
    /// The newest time of the venue in an account read taken in.
    pub(crate) seen_ms: u64,
    /// The last read that sets marks.
    pub(crate) settled: Settled,
    /// The equities of the last reads.
    pub(crate) equities: EquityHistory,
    /// The cash of the last account read taken in, and of the one before.
    pub(crate) cash: Option<Cash>,
    pub(crate) cash_before: Option<Cash>,
    /// The cash of the last read of the life before this one, and the mode in which the account was then, until this one has read.
    pub(crate) last_life: Option<(AccountMode, Cash)>,
    /// The venue's time of that.
    pub(crate) last_life_ms: Option<u64>,
    pub(crate) cash_history: CashHistory,
    pub(crate) unproven: UnprovenFlows,
    /// When it was last heard that something was traded, or may have been.
    pub(crate) traded_ms: Option<u64>,
    /// When cash that moved had the open orders read at once.
    pub(crate) pressed_ms: Option<u64>,
    pub(crate) unconfirmed: Option<UnconfirmedLoss>,
    /// One that cash which came in may hide.
    pub(crate) hidden: Option<HiddenLoss>,
    /// Since when the loss of the day and the drawdown are near their limits.
    pub(crate) near_ms: [Option<u64>; 2],
    /// What was odd in the ledger, with the time.
    pub(crate) oddities: Vec<(String, u64)>,
}

/// The figures that the halts go by, USDC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RiskFigures {
    pub(crate) day_start: Decimal,
    pub(crate) day_pnl: Decimal,
    pub(crate) daily_loss_limit: Decimal,
    pub(crate) peak: Decimal,
    pub(crate) drawdown: Decimal,
    pub(crate) drawdown_limit: Decimal,
}

impl Risk {
    pub(crate) fn is_halted(&self) -> bool {
        self.state != RiskState::Active
    }

    /// Whether a loss that would fire a halt is made sure of.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.unconfirmed.is_some() || self.hidden.is_some()
    }

    pub(crate) fn day(&self) -> Option<Day> {
        self.marks.day
    }

    /// The figures at this equity; `None` before the account was read. Limits are of no more than the owner's equity cap.
    pub(crate) fn figures(&self, equity: Decimal, config: &Config) -> Option<RiskFigures> {
        let (day_start, peak) = (self.marks.day_start?.equity, self.marks.peaks.highest()?.equity);
        let rules = &config.rules;
        Some(RiskFigures {
            day_start,
            day_pnl: equity.saturating_sub(day_start),
            daily_loss_limit: percent_of(config.base_equity(day_start), rules.daily_loss),
            peak,
            drawdown: peak.saturating_sub(equity).max(Decimal::ZERO),
            drawdown_limit: percent_of(config.base_equity(peak), rules.drawdown),
        })
    }

    /// Something was traded, or may have been: cash that is gone may be lost.
    pub(crate) fn traded(&mut self, now_ms: u64) {
        self.traded_ms = Some(now_ms);
    }

    /// Whether the cash of the last two reads is far apart; the equity, where the cash is not known.
    pub(crate) fn has_cash_jumped(&self) -> bool {
        match (&self.cash_before, &self.cash) {
            (Some(before), Some(now)) => !now.is_like(before),
            _ => self.jumped,
        }
    }

    /// The account's mode, where the newest read of the account is of the purse that it names: not where cash jumped and the mode
    /// was not read since, for the account may keep its equity somewhere else by now.
    pub(crate) fn sure_mode(&self) -> Option<AccountMode> {
        self.mode.filter(|_| self.is_mode_sure() && !self.mode_changed)
    }

    /// Whether the mode was read since anything showed that it may have changed.
    pub(crate) fn is_mode_sure(&self) -> bool {
        let is_read = self.mode.is_some() && self.unvalued.is_none() && !self.is_mode_unread;
        is_read && !self.settled.is_purse_unsure(self.mode_ms)
    }

    /// Whether one of these fills is of after the last read of the life before this one, and of before the first of this.
    pub(crate) fn has_traded_between_lives(&self, fills: &[Fill]) -> bool {
        let first_ms = self.equities.first_ms().unwrap_or(u64::MAX);
        self.last_life_ms.is_some_and(|last_ms| fills.iter().any(|fill| (last_ms..=first_ms).contains(&fill.time)))
    }

    /// From when on, by the venue's time, the ledger must be read so that no flow is missed.
    pub(crate) fn ledger_since_ms(&self, clock: &VenueClock) -> u64 {
        self.ledger_read_ms.min(clock.earliest_ms()).saturating_sub(LEDGER_OVERLAP_MS)
    }

    /// Takes in that an answer of the ledger, asked for at `begun_ms` of the machine's time, tells of all until then.
    pub(crate) fn note_ledger_read(&mut self, begun_ms: u64, clock: &VenueClock, now_ms: u64) {
        // A clock that was set back left a time that is yet to come.
        self.ledger_ms = self.ledger_ms.min(now_ms).max(begun_ms);
        if clock.venue_ms().is_some() {
            self.ledger_read_ms = clock.venue_at(begun_ms);
        }
    }

    /// Forgets the flows that no answer after the one asked for at `begun_ms` holds: that is asked for from the earlier of both clocks.
    pub(crate) fn forget_flows(&mut self, begun_ms: u64) {
        self.taken.forget_before(self.ledger_read_ms.min(begun_ms));
    }

    /// Takes in by when an earlier life had read the ledger, as it wrote at `at_ms`: one whose clock had stood ahead before may have
    /// named a later time than its own. The newest word counts.
    pub(crate) fn restore_ledger_read(&mut self, read_ms: u64, at_ms: u64) {
        self.ledger_read_ms = read_ms.min(at_ms);
    }

    /// Takes note that the purse was changed between these times of the venue's.
    pub(crate) fn note_purse_change(&mut self, from_ms: u64, to_ms: u64) {
        self.purse_changes.push((from_ms, to_ms));
        let over = self.purse_changes.len().saturating_sub(MOST_CHANGES);
        self.purse_changes.drain(..over);
    }

    /// Whether a read of that time or later showed the purse that the account has no more.
    pub(crate) fn is_before_change(&self, time_ms: u64) -> bool {
        let pending_ms = self.settled.last().filter(|_| self.mode_changed).map(|last| last.at_ms);
        self.purse_changes.iter().map(|(from_ms, _)| *from_ms).chain(pending_ms).any(|from_ms| time_ms <= from_ms)
    }

    /// Whether what flowed then is in the difference of a change of the purse.
    pub(crate) fn is_in_change(&self, time_ms: u64) -> bool {
        let mut changes = self.purse_changes.iter();
        changes.any(|(from_ms, to_ms)| (from_ms.saturating_add(1)..=*to_ms).contains(&time_ms))
    }

    /// What the account was worth just before a flow.
    pub(crate) fn equity_before(&self, flow: &Transfer) -> Option<Decimal> {
        if self.settled.is_purse_doubted(self.mode_ms)
            && self.equities.unexplained_at(flow.time_ms, &self.taken).is_some()
            && let Some(before) = self.equities.before_by_settled(flow.time_ms, &self.taken)
        {
            return Some(before);
        }
        let unsure = if flow.is_sure { Decimal::ZERO } else { flow.usd };
        self.equities.before(flow.time_ms, unsure, &self.taken)
    }

    /// The ledger may be ahead of the account: what it shows to have moved after the account was read counts as moved.
    pub(crate) fn with_later_flows(&self, mark: EquitySample) -> EquitySample {
        match self.taken.after(mark.at_ms) {
            Some((usd, at_ms)) => EquitySample { at_ms, equity: mark.equity.saturating_add(usd) },
            None => mark,
        }
    }

    /// Moves the day's start and the peak with a flow. What was measured after it contains it already.
    pub(crate) fn shift(&mut self, flow: &Transfer) {
        self.marks.shift(flow);
        self.first.iter_mut().for_each(|first| first.shift(flow));
        self.settled.shift(flow);
        self.cash_history.shift(flow);
        let doubted = self.unconfirmed.iter_mut().filter_map(UnconfirmedLoss::cash_before);
        let seen = [&mut self.cash, &mut self.cash_before].into_iter().flatten();
        doubted.chain(seen).for_each(|cash| cash.shift(flow));
    }

    /// Whether somebody took everything out, and so little is left of it that no loss can be measured by it.
    pub(crate) fn is_emptied(&self, equity: Decimal) -> bool {
        self.marks.emptied.is_some() && is_empty(equity)
    }

    /// The equity is read somewhere else from now on: nothing read before compares with it, but by what the change moved.
    pub(crate) fn change_purse(&mut self) {
        self.unconfirmed.iter_mut().for_each(UnconfirmedLoss::on_change);
        (self.cash, self.cash_before) = (None, None);
        self.equities.drop_unsettled();
        self.cash_history.clear();
        self.unproven.clear();
        self.uphold_first();
    }

    /// Goes by the first read again: what contradicted it was of another purse.
    fn uphold_first(&mut self) {
        let set_aside = self.first.as_mut().and_then(FirstReading::uphold);
        set_aside.into_iter().for_each(|marks| self.marks = marks);
    }

    pub(crate) fn restore_flow(&mut self, record: risk_record::Flow) {
        let risk_record::Flow { at_ms, time_ms, since_ms, kind, usd, hash, before } = record;
        let Some(usd) = usd else { return };
        let time_ms = time_ms.unwrap_or(at_ms);
        since_ms.into_iter().for_each(|since_ms| self.note_purse_change(since_ms, time_ms));
        let flow = Transfer { time_ms, usd, since_ms, before, kind, hash, is_known: true, is_sure: true };
        self.taken.remember(&flow);
        self.shift(&flow);
    }
}
