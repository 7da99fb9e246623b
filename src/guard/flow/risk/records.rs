//! The records of the risk journal that figures are written into.

use crate::base::day::Day;
use crate::guard::state::risk::equity_peaks::EquitySample;
use crate::guard::state::risk::transfers::Transfer;
use crate::record::risk_record::{self, DayStart, FirstRead, Peak, RiskRecord, Said};

pub(crate) fn day(day: Day, mark: EquitySample, ledger_ms: u64, now_ms: u64) -> RiskRecord {
    let (day, venue_ms, equity) = (day.to_string(), Some(mark.at_ms), Some(mark.equity));
    RiskRecord::Day(DayStart { at_ms: now_ms, day, venue_ms, equity, ledger_ms })
}

pub(crate) fn peak(mark: EquitySample, now_ms: u64) -> RiskRecord {
    RiskRecord::Peak(Peak { at_ms: now_ms, venue_ms: Some(mark.at_ms), equity: Some(mark.equity) })
}

pub(crate) fn first(mark: EquitySample, said: Said, now_ms: u64) -> RiskRecord {
    let (venue_ms, equity) = (Some(mark.at_ms), Some(mark.equity));
    RiskRecord::FirstRead(FirstRead { at_ms: now_ms, venue_ms, equity, said })
}

pub(crate) fn flow(flow: &Transfer, now_ms: u64) -> RiskRecord {
    let (kind, hash, before) = (flow.kind.clone(), flow.hash.clone(), flow.before);
    let (time_ms, since_ms, usd) = (Some(flow.time_ms), flow.since_ms, Some(flow.usd));
    RiskRecord::Flow(risk_record::Flow { at_ms: now_ms, time_ms, since_ms, kind, usd, hash, before })
}
