//! The records of the risk journal, and the risk state made from them at a start.

use crate::base::day::{Day, day_of};
use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::marks::Mark;
use super::{Flow, Risk, State, line};
use crate::base::address::Address;
use crate::base::amount::{parse_info, to_wire};
use crate::guard::Mode;
use crate::guard::book::percent_of;
use crate::guard::effect::{Effects, RiskRecord};
use crate::guard::state::Guard;

/// A peak is written when it is higher than the last one written by this share, percent, or a minute younger.
const PEAK_STEP_PCT: Decimal = dec!(0.1);
const PEAK_STEP_MS: u64 = 60_000;

pub(super) fn is_worth_writing(written: Option<Mark>, mark: Mark) -> bool {
    written.is_none_or(|written| {
        let step = percent_of(written.equity, PEAK_STEP_PCT);
        mark.equity.saturating_sub(written.equity) >= step || mark.at_ms.saturating_sub(written.at_ms) >= PEAK_STEP_MS
    })
}

pub(super) fn day(day: Day, mark: Mark, ledger_ms: u64, now_ms: u64) -> RiskRecord {
    line(&json!({
        "kind": "day", "at_ms": now_ms, "day": day.to_string(), "venue_ms": mark.at_ms, "equity": to_wire(mark.equity),
        "ledger_ms": ledger_ms,
    }))
}

pub(super) fn peak(mark: Mark, now_ms: u64) -> RiskRecord {
    line(&json!({"kind": "peak", "at_ms": now_ms, "venue_ms": mark.at_ms, "equity": to_wire(mark.equity)}))
}

pub(super) fn flow(flow: &Flow, now_ms: u64) -> RiskRecord {
    line(&json!({
        "kind": "flow", "at_ms": now_ms, "time_ms": flow.time_ms, "type": flow.kind, "usd": to_wire(flow.usd),
        "hash": flow.hash,
    }))
}

pub(super) fn halt(state: State, details: &Value, now_ms: u64) -> RiskRecord {
    line(&json!({"kind": "halt", "at_ms": now_ms, "state": state.name(), "details": details}))
}

pub(super) fn halt_ended(now_ms: u64) -> RiskRecord {
    line(&json!({"kind": "halt_ended", "at_ms": now_ms}))
}

/// Whether actions must name the account as the vault or sub-account that they are for.
fn role(is_named: bool, now_ms: u64) -> RiskRecord {
    line(&json!({"kind": "role", "at_ms": now_ms, "acts_for_account": is_named}))
}

/// The flatten event that serves a halt: later rounds, also of a later life, are of it.
pub(in crate::guard) fn flatten_record(seq: u64, now_ms: u64) -> String {
    line(&json!({"kind": "flatten", "at_ms": now_ms, "seq": seq})).text
}

impl Guard {
    /// Takes in a record of the risk journal, oldest first, before [`Guard::start`].
    pub fn restore_risk(&mut self, record: &Value) {
        let number = |key: &str| record.get(key).and_then(Value::as_u64);
        let at_ms = number("at_ms").unwrap_or_default();
        let equity = record.get("equity").and_then(Value::as_str).and_then(|text| parse_info(text).ok());
        let mark = equity.map(|equity| Mark { at_ms: number("venue_ms").unwrap_or(at_ms), equity });
        match record.get("kind").and_then(Value::as_str) {
            Some("init") => {
                self.risk = Risk { ledger_ms: at_ms, since_ms: at_ms, ..Risk::default() };
                mark.into_iter().for_each(|mark| self.risk.begin_day(mark));
            }
            Some("day") => {
                mark.into_iter().for_each(|mark| self.risk.begin_day(mark));
                self.risk.ledger_ms = self.risk.ledger_ms.max(number("ledger_ms").unwrap_or_default());
            }
            Some("peak") => {
                if let Some(mark) = mark {
                    self.risk.peaks.add(mark);
                    self.risk.peak_written = Some(mark);
                }
            }
            Some("flow") => self.risk.restore_flow(record, number("time_ms").unwrap_or(at_ms)),
            Some("halt") => {
                let state = record.get("state").and_then(Value::as_str).and_then(State::parse);
                self.risk.state = state.unwrap_or(State::Stopped);
                (self.risk.since_ms, self.risk.halted_on) = (at_ms, Some(day_of(at_ms)));
                self.risk.details = record.get("details").cloned();
                self.watch.flatten.want(format!("{} since an earlier start", self.risk.state.name()), at_ms);
            }
            Some("flatten") => number("seq").into_iter().for_each(|seq| self.watch.flatten.resume(seq)),
            Some("halt_ended") => self.reactivate(at_ms),
            Some("resume") => {
                self.reactivate(at_ms);
                // The peak begins anew; the day's loss is what it is.
                mark.into_iter().for_each(|mark| self.risk.peaks.reset(mark));
            }
            Some("role") => {
                let is_named = record.get("acts_for_account").and_then(Value::as_bool);
                self.acts_for = is_named.map(|is_named| is_named.then_some(self.config.account));
            }
            Some("checkpoint") => {
                self.risk.ledger_ms = self.risk.ledger_ms.max(number("ledger_ms").unwrap_or_default());
            }
            _ => {}
        }
    }

    /// Takes in whom actions are for. It is written down, so that the next start need not wait for the venue with exits.
    pub(in crate::guard) fn role_read(&mut self, effects: &mut Effects, vault: Option<Address>, now_ms: u64) {
        if self.acts_for.replace(vault) != Some(vault) && self.config.mode != Mode::Paper {
            effects.risk.push(role(vault.is_some(), now_ms));
        }
    }

    /// Ends a halt.
    pub(super) fn reactivate(&mut self, at_ms: u64) {
        (self.risk.state, self.risk.details, self.risk.halted_on) = (State::Active, None, None);
        self.risk.since_ms = at_ms;
        if self.killed.is_none() {
            self.watch.flatten.end();
        }
    }

    /// The newest read of the ledger, for a checkpoint.
    pub(in crate::guard) fn ledger_ms(&self) -> u64 {
        self.risk.ledger_ms
    }
}

impl Risk {
    fn begin_day(&mut self, mark: Mark) {
        (self.day, self.day_start) = (Some(day_of(mark.at_ms)), Some(mark));
        self.peaks.add(mark);
    }

    fn restore_flow(&mut self, record: &Value, time_ms: u64) {
        let text = |key: &str| record.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let Ok(usd) = parse_info(&text("usd")) else { return };
        let flow = Flow { time_ms, usd, kind: text("type"), hash: text("hash"), is_known: true };
        self.taken.remember(&flow);
        self.shift(&flow);
    }
}
