//! The risk state made from the risk journal's records at a start.

use crate::base::amount::parse_info;
use crate::base::day::day_of;
use crate::guard::state::guard::Guard;
use crate::guard::state::risk::equity_peaks::Mark;
use crate::guard::state::risk::risk_state::{Risk, RiskState};
use serde_json::Value;

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
                let state = record.get("state").and_then(Value::as_str).and_then(RiskState::parse);
                self.risk.state = state.unwrap_or(RiskState::DrawdownHalt);
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
}
