//! Halts: what looks like one, when it is believed, and when it ends.

use crate::base::amount::{cents, percent_of, to_wire};
use crate::guard::config::Mode;
use crate::guard::effects::{Command, Read};
use crate::guard::flow::risk::ledger::{self, LEDGER_GRACE_MS};
use crate::guard::flow::step_context::Step;
use crate::guard::flow::{flatten, risk_event};
use crate::guard::state::guard::Guard;
use crate::guard::state::risk::hidden_loss::HiddenLoss;
use crate::guard::state::risk::risk_state::{Risk, RiskFigures, RiskState};
use crate::guard::state::risk::unconfirmed_loss::UnconfirmedLoss;
use crate::record::risk_record::{Halt, HaltDetails, HaltEnded, RiskRecord};
use rust_decimal::{Decimal, dec};

/// A warning comes at this share of a limit, percent.
const NEAR_PCT: Decimal = dec!(60);

/// A limit that is reached.
struct Breach {
    state: RiskState,
    details: HaltDetails,
    reason: String,
}

/// By what an equity is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// By a read of a moment that none has shown before.
    Anew,
    /// By a read that was taken in before.
    Before,
    /// By the marks that were pushed since the last read: they may be wrong, and no halt fires by them alone.
    ByMarks,
}

/// Fires a halt that is believed, ends one that is over, and warns of one that is near.
pub(crate) fn check_limits(step: &mut Step<'_>, equity: Decimal, seen: Seen) {
    let Some(figures) = step.guard.risk.figures(equity, &step.guard.config) else { return };
    warn(step, &figures);
    end_day_halt(step);
    let Some(breach) = breach(step.guard, &figures, equity) else {
        step.guard.risk.unconfirmed = None;
        return look_behind_flows(step, equity);
    };
    step.guard.risk.hidden = None;
    // What looks like a loss may be a withdrawal, also one of which only the last part shows.
    let ledger_from_ms = match seen {
        Seen::ByMarks => step.now_ms.saturating_add(LEDGER_GRACE_MS),
        Seen::Before | Seen::Anew => ledger::shows_ms(step.guard, step.now_ms),
    };
    // Cash that goes while the equity stays was lost before, on a position that was closed.
    let has_cash_jumped = step.guard.risk.has_cash_jumped() && step.guard.risk.jumped;
    match &mut step.guard.risk.unconfirmed {
        None | Some(UnconfirmedLoss { reads: 0, .. }) => {
            step.guard.risk.unconfirmed = Some(begin_doubt(step, ledger_from_ms, seen));
            step.effects.immediate.push(Command::Read(Read::AccountNow));
        }
        Some(doubt) if seen == Seen::Anew => {
            doubt.reads = doubt.reads.saturating_add(1);
            if has_cash_jumped {
                // Another withdrawal, perhaps: the ledger must have had time to show this one as well. Or another purse.
                // Prices that leap each second put off nothing.
                (doubt.ledger_from_ms, doubt.is_ledger_asked) = (ledger_from_ms, false);
                (doubt.mode_from_ms, doubt.is_mode_asked) = (step.now_ms, false);
            }
        }
        Some(_) => {}
    }
    if seen == Seen::ByMarks {
        return;
    }
    let doubt = step.guard.risk.unconfirmed.as_mut();
    if doubt.is_some_and(|doubt| !std::mem::replace(&mut doubt.is_mode_asked, true)) {
        ask_for_mode(step);
    }
    if let Some(breach) = loss_on_positions(step.guard, equity) {
        fire(step, breach);
        return;
    }
    // What the feed told to have been withdrawn is no loss, however long the ledger has to wait for weight.
    let told = -ledger::told_to_come(step.guard, step.now_ms);
    let told = Some(told).filter(|gone| *gone > Decimal::ZERO);
    let sure = match perhaps_withdrawn(step.guard, step.now_ms).max(told) {
        Some(usd) => loss_without(step.guard, usd, equity),
        None => Some(breach),
    };
    if sure.is_none() {
        extend_doubt(step);
    }
    ask_for_explanation(step);
    if let Some(breach) = sure.filter(|_| is_believed(step.guard, step.now_ms)) {
        fire(step, breach);
    }
}

/// What is known of a loss as it is first seen, or seen first in another purse.
fn begin_doubt(step: &Step<'_>, ledger_from_ms: u64, seen: Seen) -> UnconfirmedLoss {
    let Risk { cash, cash_before, unconfirmed, .. } = &step.guard.risk;
    UnconfirmedLoss {
        seen_ms: unconfirmed.as_ref().map_or(step.now_ms, |doubt| doubt.seen_ms),
        mode_from_ms: step.now_ms,
        is_mode_asked: false,
        ledger_from_ms,
        is_ledger_asked: false,
        reads: 1,
        had_gap: false,
        // The last read did not show what marks show now.
        cash_before: if seen == Seen::ByMarks { cash } else { cash_before }.clone(),
    }
}

/// Has the ledger read for what came in where that alone keeps the equity within the limits: it may hide a loss. By what is told and
/// no more nothing fires.
fn look_behind_flows(step: &mut Step<'_>, equity: Decimal) {
    let come = perhaps_come(step.guard, step.now_ms);
    if come.is_zero() || loss_without(step.guard, -come, equity).is_none() {
        step.guard.risk.hidden = None;
        return;
    }
    let ledger_from_ms = ledger::shows_ms(step.guard, step.now_ms);
    let again_ms = step.now_ms.saturating_add(LEDGER_GRACE_MS).saturating_add(LEDGER_GRACE_MS);
    let ledger_ms = step.guard.risk.ledger_ms;
    if step.guard.risk.hidden.is_none() {
        ask_for_mode(step);
    }
    let hidden = step.guard.risk.hidden.get_or_insert(HiddenLoss { ledger_from_ms, is_ledger_asked: false });
    hidden.ask_again(ledger_ms, again_ms);
    if hidden.is_due(step.now_ms) {
        let since_ms = step.guard.risk.ledger_since_ms(&step.guard.clock);
        step.effects.immediate.push(Command::Read(Read::Ledger { since_ms, is_for_halt: true }));
    }
}

/// What may have come in without the ledger having told of it, USDC: as told, or as the cash shows.
fn perhaps_come(guard: &Guard, now_ms: u64) -> Decimal {
    let risk = &guard.risk;
    // While nothing has jumped there is nothing to look for among all the reads that are kept.
    let is_awaited = risk.ledger_wanted > 0 || risk.ledger_again_ms.is_some() || risk.hidden.is_some();
    let cash = risk.cash.as_ref().filter(|_| is_awaited);
    let by_cash = cash.map_or(Decimal::ZERO, |cash| risk.cash_history.come(cash));
    by_cash.max(ledger::told_to_come(guard, now_ms))
}

/// The account was not read for long: a loss that looked like one before is kept in mind, and asked about once more.
pub(crate) fn on_gap(step: &mut Step<'_>) {
    if let Some(doubt) = &mut step.guard.risk.unconfirmed {
        doubt.on_gap(step.now_ms.saturating_add(LEDGER_GRACE_MS), step.now_ms);
    }
}

/// Has the mode read, once: what moved the cash may have asked for it in this very step.
fn ask_for_mode(step: &mut Step<'_>) {
    step.effects.immediate.retain(|command| !matches!(command, Command::Read(Read::Mode { .. })));
    step.effects.immediate.push(Command::Read(Read::Mode { is_for_halt: true }));
}

/// The limit that two reads in a row show to be reached by what is lost on positions: whatever the ledger and the mode may
/// still tell, the cash that is gone explains none of it.
fn loss_on_positions(guard: &Guard, equity: Decimal) -> Option<Breach> {
    guard.risk.unconfirmed.as_ref().filter(|doubt| doubt.reads >= 2)?;
    let gone = match &guard.risk.cash {
        Some(cash) => guard.risk.cash_history.gone(cash)?,
        // No read has told it, in this life or since the account's mode changed: only what positions win and lose is
        // counted.
        None => Decimal::ZERO,
    };
    loss_without(guard, gone, equity)
}

/// The cash that went with the loss, USDC, while the ledger may still show that it was withdrawn.
fn perhaps_withdrawn(guard: &Guard, now_ms: u64) -> Option<Decimal> {
    let doubt = guard.risk.unconfirmed.as_ref().filter(|doubt| doubt.may_go_on(now_ms))?;
    guard.risk.cash.as_ref()?.gone_since(doubt.cash_before.as_ref()?, guard.risk.traded_ms)
}

/// The limit that is reached also if `usd` was withdrawn.
fn loss_without(guard: &Guard, usd: Decimal, equity: Decimal) -> Option<Breach> {
    let equity = equity.saturating_add(usd);
    breach(guard, &guard.risk.figures(equity, &guard.config)?, equity)
}

/// The ledger did not show what went: it is read once more, a while later.
fn extend_doubt(step: &mut Step<'_>) {
    let ledger_ms = step.guard.risk.ledger_ms;
    if let Some(doubt) = step.guard.risk.unconfirmed.as_mut().filter(|doubt| ledger_ms >= doubt.ledger_from_ms) {
        (doubt.ledger_from_ms, doubt.is_ledger_asked) = (step.now_ms.saturating_add(LEDGER_GRACE_MS), false);
    }
}

/// Has the ledger read as soon as it must have shown what moved the balance.
fn ask_for_explanation(step: &mut Step<'_>) {
    let since_ms = step.guard.risk.ledger_since_ms(&step.guard.clock);
    if let Some(doubt) = &mut step.guard.risk.unconfirmed
        && !doubt.is_ledger_asked
        && step.now_ms >= doubt.ledger_from_ms
    {
        doubt.is_ledger_asked = true;
        step.effects.immediate.push(Command::Read(Read::Ledger { since_ms, is_for_halt: true }));
    }
}

fn is_believed(guard: &Guard, now_ms: u64) -> bool {
    guard.risk.unconfirmed.as_ref().is_some_and(|doubt| {
        let is_explained = guard.risk.ledger_ms >= doubt.ledger_from_ms && guard.risk.mode_ms >= doubt.mode_from_ms;
        doubt.reads >= 2 && (is_explained || !doubt.may_go_on(now_ms))
    })
}

/// The gravest limit that is reached and has not fired yet.
fn breach(guard: &Guard, figures: &RiskFigures, equity: Decimal) -> Option<Breach> {
    let holds_any = guard.view.account.as_ref().is_some_and(|account| !account.is_flat());
    if guard.risk.is_emptied(equity) && !holds_any {
        return None;
    }
    let rules = &guard.config.rules;
    let reached = |loss: Decimal, limit: Decimal| limit > Decimal::ZERO && loss >= limit;
    if guard.risk.state != RiskState::DrawdownHalt && reached(figures.drawdown, figures.drawdown_limit) {
        let (down, limit, peak) = (figures.drawdown, figures.drawdown_limit, figures.peak);
        let details = HaltDetails {
            peak_equity: Some(to_wire(peak)),
            drawdown: Some(to_wire(down)),
            ..halt_details("drawdown", equity, limit, rules.drawdown)
        };
        let percent = rules.drawdown;
        let [down, peak, limit] = [down, peak, limit].map(cents);
        let reason = format!("drawdown halt: {down} below the peak {peak}, limit {limit} ({percent}%)");
        return Some(Breach { state: RiskState::DrawdownHalt, details, reason });
    }
    let loss = -figures.day_pnl;
    if guard.risk.state == RiskState::Active && reached(loss, figures.daily_loss_limit) {
        let (limit, start) = (figures.daily_loss_limit, figures.day_start);
        let details = HaltDetails {
            day: guard.risk.day().map(|day| day.to_string()),
            day_start_equity: Some(to_wire(start)),
            loss: Some(to_wire(loss)),
            ..halt_details("daily_loss", equity, limit, rules.daily_loss)
        };
        let percent = rules.daily_loss;
        let [loss, start, limit] = [loss, start, limit].map(cents);
        let reason = format!("daily loss stop: {loss} lost of the day's start {start}, limit {limit} ({percent}%)");
        return Some(Breach { state: RiskState::HaltedForDay, details, reason });
    }
    None
}

/// What the figures of every halt hold.
fn halt_details(cause: &'static str, equity: Decimal, limit: Decimal, percent: Decimal) -> HaltDetails {
    HaltDetails {
        cause: Some(cause.into()),
        equity: Some(to_wire(equity)),
        limit: Some(to_wire(limit)),
        limit_pct: Some(to_wire(percent)),
        ..HaltDetails::default()
    }
}

fn fire(step: &mut Step<'_>, breach: Breach) {
    let halt = Halt { at_ms: step.now_ms, state: breach.state.name().into(), details: Some(breach.details.clone()) };
    step.effects.risk.push(RiskRecord::Halt(halt).into());
    step.guard.risk.unconfirmed = None;
    (step.guard.risk.state, step.guard.risk.since_ms) = (breach.state, step.now_ms);
    step.guard.risk.details = Some(breach.details);
    step.guard.risk.halted_on = step.guard.risk.day();
    // Before the flatten event, as it happened.
    risk_event::record_risk_change(step);
    step.guard.watch.flatten.want(breach.reason, step.now_ms);
}

/// The daily loss stop holds until the next UTC day, and until all is flat; paper mode closes nothing to wait for.
fn end_day_halt(step: &mut Step<'_>) {
    let is_over = step.guard.risk.state == RiskState::HaltedForDay && step.guard.risk.day() > step.guard.risk.halted_on;
    if is_over && (step.guard.config.mode == Mode::Paper || flatten::is_flat(step.guard)) {
        step.guard.reactivate(step.now_ms);
        step.effects.risk.push(RiskRecord::HaltEnded(HaltEnded { at_ms: step.now_ms }).into());
    }
}

fn warn(step: &mut Step<'_>, figures: &RiskFigures) {
    let is_near = |loss: Decimal, limit: Decimal| limit > Decimal::ZERO && loss >= percent_of(limit, NEAR_PCT);
    let near = [is_near(-figures.day_pnl, figures.daily_loss_limit), is_near(figures.drawdown, figures.drawdown_limit)];
    for (since_ms, is_near) in step.guard.risk.near_ms.iter_mut().zip(near) {
        *since_ms = is_near.then(|| since_ms.unwrap_or(step.now_ms));
    }
}
