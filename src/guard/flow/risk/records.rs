//! The records of the risk journal that figures are written into, and when a peak is worth one.

use crate::base::amount::percent_of;
use crate::base::day::Day;
use crate::guard::state::risk::equity_peaks::EquitySample;
use crate::guard::state::risk::transfers::Transfer;
use crate::record::risk_record::{self, DayStart, Peak, RiskRecord};
use rust_decimal::{Decimal, dec};

/// A peak is written when it is higher than the last one written by this share, percent, or a minute younger.
const PEAK_STEP_PCT: Decimal = dec!(0.1);

const PEAK_STEP_MS: u64 = 60_000;

pub(crate) fn is_worth_writing(written: Option<EquitySample>, mark: EquitySample) -> bool {
    written.is_none_or(|written| {
        let step = percent_of(written.equity, PEAK_STEP_PCT);
        mark.equity.saturating_sub(written.equity) >= step || mark.at_ms.saturating_sub(written.at_ms) >= PEAK_STEP_MS
    })
}

pub(crate) fn day(day: Day, mark: EquitySample, ledger_ms: u64, now_ms: u64) -> RiskRecord {
    let (day, venue_ms, equity) = (day.to_string(), Some(mark.at_ms), Some(mark.equity));
    RiskRecord::Day(DayStart { at_ms: now_ms, day, venue_ms, equity, ledger_ms })
}

pub(crate) fn peak(mark: EquitySample, now_ms: u64) -> RiskRecord {
    RiskRecord::Peak(Peak { at_ms: now_ms, venue_ms: Some(mark.at_ms), equity: Some(mark.equity) })
}

pub(crate) fn flow(flow: &Transfer, now_ms: u64) -> RiskRecord {
    let (kind, hash, before) = (flow.kind.clone(), flow.hash.clone(), flow.before);
    let (time_ms, since_ms, usd) = (Some(flow.time_ms), flow.since_ms, Some(flow.usd));
    RiskRecord::Flow(risk_record::Flow { at_ms: now_ms, time_ms, since_ms, kind, usd, hash, before })
}
