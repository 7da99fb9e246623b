//! The marks: the day's start and the peak, which the halts measure from.
//!
//! Flows scale them by what the account was worth after and before, so that only profit and loss is measured, and a loss stays
//! the share that it was.

use crate::base::amount::percent_of;
use crate::base::day::{Day, day_of};
use crate::guard::state::risk::emptied::Emptied;
use crate::guard::state::risk::equity_peaks::{EquitySample, Peaks};
use crate::guard::state::risk::transfers::Transfer;
use rust_decimal::{Decimal, dec};

/// A day that has not begun by the machine's clock, give or take this, begins once reads have shown it for so long: answers
/// with a wrong time must not grant the day's loss anew.
const DAY_SLACK_MS: u64 = 2 * 3_600_000;
const DAY_SHOWN_MS: u64 = 60_000;

/// A peak is written when it is higher than the last one written by this share, percent, or a minute younger.
const PEAK_STEP_PCT: Decimal = dec!(0.1);
const PEAK_STEP_MS: u64 = 60_000;

/// The marks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Marks {
    pub(crate) day: Option<Day>,
    /// Since when reads show a day that has not begun by the machine's clock.
    pub(crate) early_day_ms: Option<u64>,
    pub(crate) day_start: Option<EquitySample>,
    pub(crate) peaks: Peaks,
    /// The figures before the account was emptied, until something comes in.
    pub(crate) emptied: Option<Emptied>,
    /// The peak last written, so that not every new one is.
    pub(crate) peak_written: Option<EquitySample>,
}

/// Marks that an equity set and that are to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Set {
    pub(crate) day: bool,
    pub(crate) peak: bool,
}

impl Marks {
    /// Takes in an equity of this day.
    pub(crate) fn take(&mut self, mark: EquitySample, today: Day, now_ms: u64) -> Set {
        let day = self.begins_day(today, now_ms) || self.day_start.is_none();
        if day {
            (self.day, self.day_start) = (Some(today), Some(mark));
        }
        let peak = self.peaks.add(mark) && self.is_worth_writing(mark);
        if peak {
            self.peak_written = Some(mark);
        }
        Set { day, peak }
    }

    /// Whether a read of this day begins it.
    fn begins_day(&mut self, today: Day, now_ms: u64) -> bool {
        let is_later = self.day.is_none_or(|day| today > day);
        let is_early = is_later && self.day.is_some() && today > day_of(now_ms.saturating_add(DAY_SLACK_MS));
        let since_ms = self.early_day_ms.filter(|_| is_early).unwrap_or(now_ms);
        self.early_day_ms = is_early.then_some(since_ms);
        is_later && (!is_early || now_ms.saturating_sub(since_ms) >= DAY_SHOWN_MS)
    }

    fn is_worth_writing(&self, mark: EquitySample) -> bool {
        self.peak_written.is_none_or(|written| {
            let step = percent_of(written.equity, PEAK_STEP_PCT);
            mark.equity.saturating_sub(written.equity) >= step
                || mark.at_ms.saturating_sub(written.at_ms) >= PEAK_STEP_MS
        })
    }

    /// Begins a day as it was recorded; a record without one is of its mark's.
    pub(crate) fn begin_day(&mut self, day: Option<Day>, mark: EquitySample) {
        (self.day, self.day_start) = (Some(day.unwrap_or_else(|| day_of(mark.at_ms))), Some(mark));
        self.peaks.add(mark);
    }

    /// Takes in a peak as it was recorded.
    pub(crate) fn restore_peak(&mut self, mark: EquitySample) {
        self.peaks.add(mark);
        self.peak_written = Some(mark);
    }

    /// The peak begins anew at this equity.
    pub(crate) fn reset_peak(&mut self, mark: EquitySample) {
        self.peaks.reset(mark);
        self.emptied = None;
    }

    /// Moves them with a flow. One that empties the account and one that comes in later move them as one would.
    pub(crate) fn shift(&mut self, flow: &Transfer) {
        self.peak_written.iter_mut().for_each(|mark| mark.move_with(flow));
        let emptied = self.emptied.take_if(|_| flow.usd > Decimal::ZERO);
        let both = emptied.and_then(|emptied| Some((emptied.with(flow)?, emptied)));
        let mut of_day = flow.clone();
        let mut of_peaks = flow.clone();
        if let Some((both, emptied)) = both {
            // A day that began since has begun with what was left.
            if emptied.day_start.map(|mark| mark.at_ms) == self.day_start.map(|mark| mark.at_ms) {
                (self.day_start, of_day) = (emptied.day_start, both.clone());
            }
            self.peaks.put_back(emptied.peaks, flow.time_ms);
            of_peaks = both;
        } else if self.emptied.is_none() {
            self.emptied = Emptied::by(flow, self.day_start, &self.peaks);
        }
        self.day_start.iter_mut().for_each(|mark| mark.move_with(&of_day));
        self.peaks.move_with(&of_peaks);
    }
}
