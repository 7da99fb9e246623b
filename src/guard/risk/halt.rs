//! Halts: what looks like one, when it is believed, and when it ends.

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::{Cash, Figures, State, record};
use crate::base::amount::to_wire;
use crate::guard::Mode;
use crate::guard::book::percent_of;
use crate::guard::effect::{Deed, Effects, Read};
use crate::guard::state::Guard;

/// A loss seen on two reads is believed after this long, whatever ledger and mode say or do not say.
const MAX_DOUBT_MS: u64 = 10_000;
/// What looks like a loss may be a withdrawal, also one of which only the last part shows: the ledger is given this long
/// to show it.
const LEDGER_GRACE_MS: u64 = 2_000;
/// A warning comes at this share of a limit, percent.
const NEAR_PCT: Decimal = dec!(60);

/// A loss that is not believed yet.
#[derive(Debug, Clone)]
pub(super) struct Doubt {
    /// When it was first seen: the mode must be read from then on.
    seen_ms: u64,
    /// From when on the ledger must be read, and whether it was asked for then.
    ledger_from_ms: u64,
    is_ledger_asked: bool,
    /// Account reads in a row that show it.
    reads: u32,
    /// The cash of the last read that did not show it.
    cash_before: Option<Cash>,
}

impl Doubt {
    pub(super) fn cash_before(&mut self) -> Option<&mut Cash> {
        self.cash_before.as_mut()
    }

    fn may_go_on(&self, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.seen_ms) < MAX_DOUBT_MS
    }
}

/// A limit that is reached.
struct Breach {
    state: State,
    details: Value,
    reason: String,
}

impl Guard {
    /// Fires a halt that is believed, ends one that is over, and warns of one that is near.
    pub(super) fn see_to_halts(&mut self, effects: &mut Effects, equity: Decimal, is_new: bool, now_ms: u64) {
        let Some(figures) = self.risk.figures(equity, &self.config.rules) else { return };
        self.warn(&figures, now_ms);
        self.end_of_day_halt(effects, now_ms);
        let Some(breach) = self.breach(&figures, equity) else {
            self.risk.doubt = None;
            return;
        };
        let ledger_from_ms = now_ms.saturating_add(LEDGER_GRACE_MS);
        match &mut self.risk.doubt {
            None => {
                let cash_before = self.risk.cash_before.clone();
                let doubt = Doubt { seen_ms: now_ms, ledger_from_ms, is_ledger_asked: false, reads: 1, cash_before };
                self.risk.doubt = Some(doubt);
                effects.at_once.extend([Read::AccountNow, Read::Mode].map(Deed::Read));
            }
            Some(doubt) if is_new => {
                doubt.reads = doubt.reads.saturating_add(1);
                if self.risk.jumped {
                    // Another withdrawal, perhaps: the ledger must have had time to show this one as well.
                    (doubt.ledger_from_ms, doubt.is_ledger_asked) = (ledger_from_ms, false);
                }
            }
            Some(_) => {}
        }
        let sure = match self.perhaps_withdrawn(now_ms) {
            Some(usd) => self.loss_without(usd, equity),
            None => Some(breach),
        };
        if sure.is_none() {
            self.doubt_on(now_ms);
        }
        self.ask_why(effects, now_ms);
        if let Some(breach) = sure.filter(|_| self.is_believed(now_ms)) {
            self.halt(effects, breach, now_ms);
        }
    }

    /// The cash that went with the loss, USDC, while the ledger may still show that it was withdrawn.
    fn perhaps_withdrawn(&self, now_ms: u64) -> Option<Decimal> {
        let doubt = self.risk.doubt.as_ref().filter(|doubt| doubt.may_go_on(now_ms))?;
        self.risk.cash.as_ref()?.gone_since(doubt.cash_before.as_ref()?, self.risk.traded_ms)
    }

    /// The limit that is reached also if `usd` was withdrawn.
    fn loss_without(&self, usd: Decimal, equity: Decimal) -> Option<Breach> {
        let equity = equity.saturating_add(usd);
        self.breach(&self.risk.figures(equity, &self.config.rules)?, equity)
    }

    /// The ledger did not show what went: it is read once more, a while later.
    fn doubt_on(&mut self, now_ms: u64) {
        let ledger_ms = self.risk.ledger_ms;
        if let Some(doubt) = self.risk.doubt.as_mut().filter(|doubt| ledger_ms >= doubt.ledger_from_ms) {
            (doubt.ledger_from_ms, doubt.is_ledger_asked) = (now_ms.saturating_add(LEDGER_GRACE_MS), false);
        }
    }

    /// Has the ledger read as soon as it must have shown what moved the balance.
    fn ask_why(&mut self, effects: &mut Effects, now_ms: u64) {
        let since_ms = self.risk.ledger_since_ms();
        if let Some(doubt) = &mut self.risk.doubt
            && !doubt.is_ledger_asked
            && now_ms >= doubt.ledger_from_ms
        {
            doubt.is_ledger_asked = true;
            effects.at_once.push(Deed::Read(Read::Ledger { since_ms }));
        }
    }

    fn is_believed(&self, now_ms: u64) -> bool {
        self.risk.doubt.as_ref().is_some_and(|doubt| {
            let is_explained = self.risk.ledger_ms >= doubt.ledger_from_ms && self.risk.mode_ms >= doubt.seen_ms;
            doubt.reads >= 2 && (is_explained || !doubt.may_go_on(now_ms))
        })
    }

    /// The gravest limit that is reached and has not fired yet.
    fn breach(&self, figures: &Figures, equity: Decimal) -> Option<Breach> {
        let rules = &self.config.rules;
        let reached = |loss: Decimal, limit: Decimal| limit > Decimal::ZERO && loss >= limit;
        if self.risk.state != State::Stopped && reached(figures.drawdown, figures.drawdown_limit) {
            let (down, limit, peak) = (figures.drawdown, figures.drawdown_limit, figures.peak);
            let details = json!({
                "cause": "drawdown", "equity": to_wire(equity), "peak_equity": to_wire(peak), "drawdown": to_wire(down),
                "limit": to_wire(limit), "limit_pct": to_wire(rules.drawdown),
            });
            let percent = rules.drawdown;
            let reason = format!("drawdown halt: {down:.2} below the peak {peak:.2}, limit {limit:.2} ({percent}%)");
            return Some(Breach { state: State::Stopped, details, reason });
        }
        let loss = -figures.day_pnl;
        if self.risk.state == State::Active && reached(loss, figures.daily_loss_limit) {
            let (limit, start) = (figures.daily_loss_limit, figures.day_start);
            let details = json!({
                "cause": "daily_loss", "equity": to_wire(equity), "day": self.risk.day().map(|day| day.to_string()),
                "day_start_equity": to_wire(start), "loss": to_wire(loss), "limit": to_wire(limit),
                "limit_pct": to_wire(rules.daily_loss),
            });
            let percent = rules.daily_loss;
            let reason =
                format!("daily loss stop: {loss:.2} lost of the day's start {start:.2}, limit {limit:.2} ({percent}%)");
            return Some(Breach { state: State::HaltedForDay, details, reason });
        }
        None
    }

    fn halt(&mut self, effects: &mut Effects, breach: Breach, now_ms: u64) {
        effects.risk.push(record::halt(breach.state, &breach.details, now_ms));
        self.risk.doubt = None;
        (self.risk.state, self.risk.since_ms) = (breach.state, now_ms);
        self.risk.details = Some(breach.details);
        self.risk.halted_on = self.risk.day();
        // Before the flatten event, as it happened.
        self.tell_risk(effects, now_ms);
        self.watch.flatten.want(breach.reason, now_ms);
    }

    /// The daily loss stop holds until the next UTC day, and until all is flat; paper mode closes nothing to wait for.
    fn end_of_day_halt(&mut self, effects: &mut Effects, now_ms: u64) {
        let is_over = self.risk.state == State::HaltedForDay && self.risk.day() > self.risk.halted_on;
        if is_over && (self.config.mode == Mode::Paper || self.is_flat()) {
            self.reactivate(now_ms);
            effects.risk.push(record::halt_ended(now_ms));
        }
    }

    fn warn(&mut self, figures: &Figures, now_ms: u64) {
        let is_near = |loss: Decimal, limit: Decimal| limit > Decimal::ZERO && loss >= percent_of(limit, NEAR_PCT);
        let near =
            [is_near(-figures.day_pnl, figures.daily_loss_limit), is_near(figures.drawdown, figures.drawdown_limit)];
        for (since_ms, is_near) in self.risk.near_ms.iter_mut().zip(near) {
            *since_ms = is_near.then(|| since_ms.unwrap_or(now_ms));
        }
    }
}
