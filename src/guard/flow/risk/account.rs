//! Account, ledger and mode reads, and what follows from them for the risk state.
//!
//! The balance moves before the ledger says why: what looks like a loss is believed only on the next account read, after
//! the ledger and the account's mode were read as well. No order and no send may enter here.

use crate::base::amount::percent_of;
use crate::base::day::day_of;
use crate::guard::effects::{Command, Read};
use crate::guard::flow::risk::{halt, records};
use crate::guard::flow::step_context::Step;
use crate::guard::state::guard::Guard;
use crate::guard::state::risk::cash_balance::Cash;
use crate::guard::state::risk::equity_peaks::EquitySample;
use crate::guard::state::risk::transfers::{BalanceScope, Transfer};
use crate::record::events::Trouble;
use crate::venue::info::{AccountMode, LedgerUpdate};
use rust_decimal::Decimal;

/// An equity that moves by more than this share between two reads, percent, has the ledger read at once.
const JUMP_PCT: Decimal = Decimal::ONE;

/// Reads of the ledger asked for by jumps are this far apart, and so many: it may show a flow late.
const JUMP_PAUSE_MS: u64 = 10_000;

const JUMP_READS: u8 = 3;

/// Takes in what moved the equity without trading.
pub(crate) fn on_ledger(step: &mut Step<'_>, updates: &[LedgerUpdate], begun_ms: u64) {
    let Some(mode) = step.guard.risk.mode else { return };
    let purse = BalanceScope { account: step.guard.config.account, mode };
    step.guard.risk.ledger_ms = step.guard.risk.ledger_ms.max(begun_ms);
    let new = step.guard.risk.taken.new_ones(updates, purse);
    step.guard.risk.taken.forget_before(begun_ms);
    for flow in new {
        take_transfer(step, &flow);
    }
}

fn take_transfer(step: &mut Step<'_>, flow: &Transfer) {
    if !flow.is_known {
        let text = format!(
            "the ledger entry {} of {} USDC is of no known type; it counts as a deposit or withdrawal",
            flow.kind,
            flow.usd.normalize()
        );
        note_oddity(step, text);
    }
    step.guard.risk.shift(flow);
    step.effects.risk.push(records::flow(flow, step.now_ms).into());
}

/// Tells of something odd about the account's money, and keeps it as an alert.
fn note_oddity(step: &mut Step<'_>, text: String) {
    const KEPT: usize = 8;
    step.record(Trouble { text: (&text).into() });
    step.guard.risk.oddities.push((text, step.now_ms));
    let over = step.guard.risk.oddities.len().saturating_sub(KEPT);
    step.guard.risk.oddities.drain(..over);
}

/// Takes in where the account keeps its equity.
pub(crate) fn on_account_mode(guard: &mut Guard, mode: AccountMode, begun_ms: u64) {
    guard.risk.mode_ms = guard.risk.mode_ms.max(begun_ms);
    let before = guard.risk.mode.replace(mode);
    guard.risk.mode_changed = guard.risk.mode_changed || before.is_some_and(|before| before != mode);
}

/// Takes in the newest account read, then sees whether a halt fires or ends.
pub(crate) fn check(step: &mut Step<'_>) {
    let Some(account) = &step.guard.view.account else { return };
    let (begun_ms, cash) = (account.begun_ms, Cash::of(account));
    let mark = step.guard.risk.with_later_flows(EquitySample { at_ms: account.venue_ms, equity: account.equity });
    let before_ms = step.guard.risk.last.map(|(_, last_ms)| last_ms);
    if before_ms.is_none_or(|last_ms| begun_ms > last_ms) {
        if before_ms.is_some_and(|last_ms| begun_ms.saturating_sub(last_ms) > step.guard.config.account_max_age_ms) {
            halt::on_gap(step);
        }
        step.guard.risk.cash_before = std::mem::replace(&mut step.guard.risk.cash, cash);
        measure(step, mark, begun_ms);
        halt::check_limits(step, mark.equity, true);
    } else if step.now_ms.saturating_sub(begun_ms) <= step.guard.config.account_max_age_ms {
        halt::check_limits(step, mark.equity, false);
    }
}

/// Puts a new equity in its place: the day's start, the peak.
fn measure(step: &mut Step<'_>, mark: EquitySample, begun_ms: u64) {
    let last = step.guard.risk.last.replace((mark.equity, begun_ms));
    if std::mem::take(&mut step.guard.risk.mode_changed)
        && let Some((before, _)) = last
    {
        let usd = mark.equity.saturating_sub(before);
        let text =
            format!("the account's mode changed, and its equity by {} USDC, which counts as a flow", usd.normalize());
        note_oddity(step, text);
        let kind = "modeChange".to_owned();
        let flow = Transfer { time_ms: mark.at_ms, usd, kind, hash: String::new(), is_known: true };
        step.guard.risk.shift(&flow);
        step.effects.risk.push(records::flow(&flow, step.now_ms).into());
    }
    let today = day_of(begun_ms);
    if step.guard.risk.day.is_none_or(|day| today > day) || step.guard.risk.day_start.is_none() {
        (step.guard.risk.day, step.guard.risk.day_start) = (Some(today), Some(mark));
        step.guard.risk.ledger_ms = if step.guard.risk.ledger_ms == 0 { mark.at_ms } else { step.guard.risk.ledger_ms };
        step.effects.risk.push(records::day(today, mark, step.guard.risk.ledger_ms, step.now_ms).into());
    }
    if step.guard.risk.peaks.add(mark) && records::is_worth_writing(step.guard.risk.peak_written, mark) {
        step.guard.risk.peak_written = Some(mark);
        step.effects.risk.push(records::peak(mark, step.now_ms).into());
    }
    ask_for_ledger(step, last.map(|(before, _)| before), mark.equity);
}

/// Has the ledger read from the start on, and at once when the equity jumps.
fn ask_for_ledger(step: &mut Step<'_>, before: Option<Decimal>, equity: Decimal) {
    let jumped = before.is_some_and(|before| equity.saturating_sub(before).abs() > percent_of(before.abs(), JUMP_PCT));
    step.guard.risk.jumped = jumped;
    if jumped {
        step.guard.risk.ledger_wanted = JUMP_READS;
    }
    let is_due = step.guard.risk.ledger_asked_ms.is_none_or(|asked_ms| {
        step.guard.risk.ledger_wanted > 0 && step.now_ms.saturating_sub(asked_ms) >= JUMP_PAUSE_MS
    });
    if is_due {
        step.guard.risk.ledger_wanted = step.guard.risk.ledger_wanted.saturating_sub(1);
        step.guard.risk.ledger_asked_ms = Some(step.now_ms);
        step.effects.immediate.push(Command::Read(Read::Ledger { since_ms: step.guard.risk.ledger_since_ms() }));
    }
}
