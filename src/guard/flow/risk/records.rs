//! The records of the risk journal.

use crate::base::amount::{percent_of, to_wire};
use crate::base::day::Day;
use crate::guard::effects::RiskRecord;
use crate::guard::state::risk::equity_peaks::Mark;
use crate::guard::state::risk::risk_state::RiskState;
use crate::guard::state::risk::transfers::Flow;
use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

/// A peak is written when it is higher than the last one written by this share, percent, or a minute younger.
const PEAK_STEP_PCT: Decimal = dec!(0.1);

const PEAK_STEP_MS: u64 = 60_000;

pub(crate) fn is_worth_writing(written: Option<Mark>, mark: Mark) -> bool {
    written.is_none_or(|written| {
        let step = percent_of(written.equity, PEAK_STEP_PCT);
        mark.equity.saturating_sub(written.equity) >= step || mark.at_ms.saturating_sub(written.at_ms) >= PEAK_STEP_MS
    })
}

pub(crate) fn day(day: Day, mark: Mark, ledger_ms: u64, now_ms: u64) -> RiskRecord {
    line(&json!({
        "kind": "day", "at_ms": now_ms, "day": day.to_string(), "venue_ms": mark.at_ms, "equity": to_wire(mark.equity),
        "ledger_ms": ledger_ms,
    }))
}

pub(crate) fn peak(mark: Mark, now_ms: u64) -> RiskRecord {
    line(&json!({"kind": "peak", "at_ms": now_ms, "venue_ms": mark.at_ms, "equity": to_wire(mark.equity)}))
}

pub(crate) fn flow(flow: &Flow, now_ms: u64) -> RiskRecord {
    line(&json!({
        "kind": "flow", "at_ms": now_ms, "time_ms": flow.time_ms, "type": flow.kind, "usd": to_wire(flow.usd),
        "hash": flow.hash,
    }))
}

pub(crate) fn halt(state: RiskState, details: &Value, now_ms: u64) -> RiskRecord {
    line(&json!({"kind": "halt", "at_ms": now_ms, "state": state.name(), "details": details}))
}

pub(crate) fn halt_ended(now_ms: u64) -> RiskRecord {
    line(&json!({"kind": "halt_ended", "at_ms": now_ms}))
}

/// Whether actions must name the account as the vault or sub-account that they are for.
pub(crate) fn role(is_named: bool, now_ms: u64) -> RiskRecord {
    line(&json!({"kind": "role", "at_ms": now_ms, "acts_for_account": is_named}))
}

/// The flatten event that serves a halt: later rounds, also of a later life, are of it.
pub(crate) fn flatten_record(seq: u64, now_ms: u64) -> RiskRecord {
    line(&json!({"kind": "flatten", "at_ms": now_ms, "seq": seq}))
}

/// A record's text.
fn line(record: &Value) -> RiskRecord {
    RiskRecord { text: record.to_string() }
}
