//! The risk state made from the risk journal's records at a start.

use crate::base::day::day_of;
use crate::guard::state::guard::Guard;
use crate::guard::state::risk::equity_peaks::EquitySample;
use crate::guard::state::risk::first_reading::FirstReading;
use crate::guard::state::risk::modes::mode_of;
use crate::guard::state::risk::risk_state::{Risk, RiskState};
use crate::record::risk_record::{FirstRead, Halt, RiskRecord, Said};
use rust_decimal::Decimal;

impl Guard {
    /// Takes in a record of the risk journal, oldest first, before [`Guard::start`].
    pub fn restore_risk(&mut self, record: RiskRecord) {
        match record {
            RiskRecord::Init(init) => {
                let ledger_read_ms = init.venue_ms.unwrap_or(init.at_ms).min(init.at_ms);
                self.risk = Risk { ledger_read_ms, since_ms: init.at_ms, ..Risk::default() };
                let mark = mark(init.venue_ms, init.at_ms, init.equity);
                mark.into_iter().for_each(|mark| self.risk.marks.begin_day(None, mark));
            }
            RiskRecord::Day(day) => {
                let mark = mark(day.venue_ms, day.at_ms, day.equity);
                mark.into_iter().for_each(|mark| self.risk.marks.begin_day(day.day.parse().ok(), mark));
                self.risk.restore_ledger_read(day.ledger_ms, day.at_ms);
            }
            RiskRecord::Peak(peak) => {
                let mark = mark(peak.venue_ms, peak.at_ms, peak.equity);
                mark.into_iter().for_each(|mark| self.risk.marks.restore_peak(mark));
            }
            RiskRecord::FirstRead(first) => self.restore_first(&first),
            RiskRecord::Flow(flow) => self.risk.restore_flow(flow),
            RiskRecord::Halt(halt) => self.restore_halt(halt),
            RiskRecord::Flatten(flatten) => {
                flatten.seq.into_iter().for_each(|seq| self.watch.flatten.resume(seq));
            }
            RiskRecord::HaltEnded(ended) => self.reactivate(ended.at_ms),
            RiskRecord::Resume(resume) => {
                self.reactivate(resume.at_ms);
                // The peak begins anew; the day's loss is what it is.
                let mark = mark(resume.venue_ms, resume.at_ms, resume.equity);
                let before = self.risk.first.as_mut().map(FirstReading::before_mut);
                if let Some(mark) = mark {
                    before.into_iter().chain([&mut self.risk.marks]).for_each(|marks| marks.reset_peak(mark));
                }
            }
            RiskRecord::Role(role) => {
                let is_named = role.acts_for_account;
                self.acts_for = is_named.map(|is_named| is_named.then_some(self.config.account));
            }
            RiskRecord::Mode(seen) => {
                self.risk.modes.restore(seen.unified, (seen.from_ms, seen.to_ms));
                self.risk.mode_recorded = Some(mode_of(seen.unified));
            }
            RiskRecord::Line(moved) => self.lines.restore(moved.line, moved.at_ms),
            RiskRecord::Checkpoint(checkpoint) => {
                self.risk.restore_ledger_read(checkpoint.ledger_ms, checkpoint.at_ms);
            }
            RiskRecord::Other => {}
        }
    }

    /// Takes in a first read that set marks, or the later reads' word on it, which may take those marks back.
    fn restore_first(&mut self, record: &FirstRead) {
        match record.said {
            Said::Alone => {
                let mark = mark(record.venue_ms, record.at_ms, record.equity);
                self.risk.first = mark.map(|mark| FirstReading::recorded(mark, self.risk.marks.clone()));
            }
            Said::BornOut => self.risk.first = None,
            Said::Misread => {
                let first = self.risk.first.take();
                first.into_iter().for_each(|first| self.risk.marks = first.before().clone());
            }
            Said::Other => {}
        }
    }

    /// A halt of a state that is not known here is taken for the graver one.
    fn restore_halt(&mut self, halt: Halt) {
        self.risk.state = RiskState::parse(&halt.state).unwrap_or(RiskState::DrawdownHalt);
        // The venue's day, as everywhere: the time of the record is the machine's.
        let recorded = halt.details.as_ref().and_then(|details| details.day.as_ref()?.parse().ok());
        self.risk.halted_on = Some(recorded.or(self.risk.day()).unwrap_or_else(|| day_of(halt.at_ms)));
        self.risk.since_ms = halt.at_ms;
        self.risk.details = halt.details;
        self.watch.flatten.want(format!("{} since an earlier start", self.risk.state.name()), halt.at_ms);
    }
}

/// A measured equity; one without the venue's time is of the record's own.
fn mark(venue_ms: Option<u64>, at_ms: u64, equity: Option<Decimal>) -> Option<EquitySample> {
    equity.map(|equity| EquitySample { at_ms: venue_ms.unwrap_or(at_ms), equity })
}
