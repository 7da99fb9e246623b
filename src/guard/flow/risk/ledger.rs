//! The ledger: what moved the equity without being profit or loss. No order and no send may enter here.

use crate::guard::effects::Read;
use crate::guard::flow::book;
use crate::guard::flow::risk::records;
use crate::guard::flow::step_context::Step;
use crate::guard::state::guard::Guard;
use crate::guard::state::risk::cash_history::LEDGER_LATE_MS;
use crate::guard::state::risk::transfers::{BalanceScope, SeenTransfers, Transfer};
use crate::record::events::Trouble;
use crate::venue::info::{AccountMode, LedgerUpdate};
use rust_decimal::Decimal;

/// The ledger shows a flow so late, as a rule.
pub(crate) const LEDGER_GRACE_MS: u64 = 2_000;

/// The ledger, to be read because cash moved. What is kept for a halt is spent once it must show what that waits for, and not
/// before.
pub(crate) fn read(guard: &Guard) -> Read {
    Read::Ledger { since_ms: guard.risk.ledger_since_ms(&guard.clock), is_for_halt: false }
}

/// From when on the ledger shows what the account as read does: what that is of had happened when it was made, however late
/// the answer came.
pub(crate) fn shows_ms(guard: &Guard, now_ms: u64) -> u64 {
    let account = guard.view.account.as_ref();
    let made_ms = account.map_or(now_ms, |account| guard.clock.machine_ms(account.venue_ms, account.begun_ms));
    made_ms.saturating_add(LEDGER_GRACE_MS)
}

/// What came more than so many times as long ago has its company in the ledger by then.
const LONG: u64 = 30;

/// Rows are judged from a little before those that are asked for: the clocks may have been taken to be further apart then.
const SLACK_MS: u64 = 60_000;

/// A loss is made sure of for ten seconds at most; from the middle of that on no flow waits for the account's mode.
const PRESSED_MS: u64 = 5_000;

/// Takes in what moved the equity without trading.
pub(crate) fn on_ledger(step: &mut Step<'_>, updates: &[LedgerUpdate], begun_ms: u64) {
    book::on_ledger_ahead(step, updates);
    book::on_ledger(step, updates, begun_ms);
    let Some(mode) = step.guard.risk.mode else { return };
    // What is read again for the book alone was judged when it was new, and what of it comes later still counts as profit or loss.
    let since_ms = step.guard.risk.ledger_since_ms(&step.guard.clock).saturating_sub(SLACK_MS);
    let updates: Vec<LedgerUpdate> = updates.iter().filter(|update| update.time >= since_ms).cloned().collect();
    let updates = updates.as_slice();
    if is_early(step.guard, updates, begun_ms) {
        return ask_again(step, updates);
    }
    let mut taken = step.guard.risk.taken.clone();
    let new = taken.new_ones(
        updates,
        |time_ms| purse_at(step.guard, mode, time_ms),
        |time_ms| step.guard.risk.is_in_change(time_ms),
    );
    if lacks_company(step, &new, &taken, begun_ms) || lacks_measure(step, &new) {
        return ask_again(step, updates);
    }
    step.guard.risk.taken = taken;
    let Guard { risk, clock, .. } = &mut *step.guard;
    risk.note_ledger_read(begun_ms, clock, step.now_ms);
    let mut last: Option<Transfer> = None;
    for mut flow in new {
        // Of several at one moment, each finds what the one before it left.
        flow.before = match last.filter(|last| last.time_ms == flow.time_ms && last.is_sure) {
            Some(last) => last.before.map(|before| before.saturating_add(last.usd)),
            None => step.guard.risk.equity_before(&flow),
        };
        take_transfer(step, &flow);
        last = Some(flow);
    }
    take_proven(step);
    step.guard.risk.forget_flows(begun_ms);
    step.guard.risk.cash_history.on_ledger(begun_ms);
    step.guard.risk.told.on_ledger(begun_ms);
}

/// What came in, less what went out, as the account shows it, by what was told and no answer of the ledger that was taken in has
/// shown yet, USDC. What was told before the ledger was read last, the answer may have lacked.
pub(crate) fn told_to_come(guard: &Guard, now_ms: u64) -> Decimal {
    let risk = &guard.risk;
    let (Some(mode), Some(account)) = (risk.mode, &guard.view.account) else { return Decimal::ZERO };
    let since_ms = risk.ledger_read_ms.saturating_sub(LEDGER_LATE_MS);
    let purse_at = |time_ms: u64| purse_at(guard, mode, time_ms);
    risk.told.come(since_ms..=account.venue_ms, &risk.taken, purse_at, |time_ms| risk.is_in_change(time_ms), now_ms)
}

/// The purse that a row of this time moved: that of the mode that the account was in then, and that of its mode now where nobody
/// knows. Between two modes the reads tell: what one of before the change shows moved the purse of before.
fn purse_at(guard: &Guard, mode: AccountMode, time_ms: u64) -> BalanceScope {
    let mut modes = guard.risk.modes.at(time_ms);
    let mode = match (modes.next(), modes.next()) {
        (Some(only), None) => only,
        (Some(before), Some(_)) if guard.risk.is_before_change(time_ms) => before,
        _ => mode,
    };
    BalanceScope { account: guard.config.account, mode }
}

/// Whether an answer shows flows from before the first read of the account so soon after that, that another one of the same
/// time may be missing in it. What the account was worth between them could not be told; the next answer holds them all.
fn is_early(guard: &Guard, updates: &[LedgerUpdate], begun_ms: u64) -> bool {
    guard.risk.equities.first_ms().is_some_and(|first_ms| {
        let is_young = guard.clock.venue_at(begun_ms) < first_ms.saturating_add(LEDGER_GRACE_MS);
        let recent = first_ms.saturating_sub(LEDGER_GRACE_MS.saturating_mul(LONG))..=first_ms;
        is_young && updates.iter().any(|update| recent.contains(&update.time))
    })
}

/// Whether the account moved beside a new flow, or may have, by what the ledger may not have told yet, or by a change of the mode
/// that was not read yet. What it was worth before the flow could not be told; an answer from a little later holds all that
/// flowed, and the reads of a purse that nobody has settled are held for ten seconds at most.
fn lacks_company(step: &Step<'_>, new: &[Transfer], taken: &SeenTransfers, begun_ms: u64) -> bool {
    let venue_ms = step.guard.clock.venue_at(begun_ms);
    let unexplained = |flow: &Transfer| step.guard.risk.equities.unexplained_at(flow.time_ms, taken);
    let mut read_ms = new.iter().filter(|flow| flow.is_sure).filter_map(unexplained);
    // A loss that is made sure of does not wait for the mode for ever: what explains it must be heard before it is believed.
    let is_doubted = !is_pressed(step) && step.guard.risk.settled.is_purse_doubted(step.guard.risk.mode_ms);
    read_ms.any(|read_ms| is_doubted || venue_ms < read_ms.saturating_add(LEDGER_GRACE_MS))
}

/// Whether there are new flows while one read alone tells what the account is worth, or two differ: what it was worth before them
/// is measured by that. No longer than a few seconds.
fn lacks_measure(step: &Step<'_>, new: &[Transfer]) -> bool {
    let is_alone = step.guard.risk.first.as_ref().is_some_and(|first| first.is_pressing(step.now_ms));
    is_alone && !is_pressed(step) && new.iter().any(|flow| flow.is_sure)
}

/// Whether a loss that is made sure of has waited for half of its time.
fn is_pressed(step: &Step<'_>) -> bool {
    let doubt = step.guard.risk.unconfirmed.as_ref();
    doubt.is_some_and(|doubt| step.now_ms.saturating_sub(doubt.seen_ms) >= PRESSED_MS)
}

/// Has the ledger read once more when it must have shown what this answer may lack. What it does show is known until then.
fn ask_again(step: &mut Step<'_>, updates: &[LedgerUpdate]) {
    step.guard.risk.told.hear(updates, step.now_ms);
    let again_ms = step.now_ms.saturating_add(LEDGER_GRACE_MS);
    let risk = &mut step.guard.risk;
    match &mut risk.unconfirmed {
        Some(doubt) => (doubt.ledger_from_ms, doubt.is_ledger_asked) = (again_ms, false),
        None => risk.ledger_again_ms = Some(again_ms),
    }
}

fn take_transfer(step: &mut Step<'_>, flow: &Transfer) {
    if !flow.is_known {
        let text = format!(
            "the ledger entry {} of {} USDC is of no known type; it counts as a deposit or withdrawal only as far as a read \
             of the account shows it",
            flow.kind,
            flow.usd.normalize()
        );
        note_oddity(step, text);
    }
    if step.guard.risk.is_in_change(flow.time_ms) {
        // What the equity differs by across a change of the mode was counted whole.
        return;
    }
    if flow.is_sure {
        step.guard.risk.unproven.explain(flow);
        count(step, flow);
    } else if !flow.usd.is_zero() {
        step.guard.risk.unproven.wait(flow.clone());
    }
}

/// Counts what a read of the account has shown of entries that were not sure.
pub(crate) fn take_proven(step: &mut Step<'_>) {
    for mut flow in step.guard.risk.unproven.proven() {
        flow.before = step.guard.risk.equity_before(&flow);
        count(step, &flow);
    }
}

/// Moves the marks with a flow.
pub(crate) fn count(step: &mut Step<'_>, flow: &Transfer) {
    step.guard.risk.shift(flow);
    step.effects.risk.push(records::flow(flow, step.now_ms).into());
}

/// An oddity is told of for so long: a day is enough to see it, and an alert that never goes is looked at no more.
const ODD_FOR_MS: u64 = 86_400_000;

/// Lets go of oddities that were told of for long enough.
pub(crate) fn forget_oddities(step: &mut Step<'_>) {
    let now_ms = step.now_ms;
    step.guard.risk.oddities.retain(|(_, at_ms)| now_ms.saturating_sub(*at_ms) < ODD_FOR_MS);
}

/// Tells of something odd about the account's money, and keeps it as an alert.
pub(crate) fn note_oddity(step: &mut Step<'_>, text: String) {
    const KEPT: usize = 8;
    step.record(Trouble::new(&text));
    step.guard.risk.oddities.push((text, step.now_ms));
    let over = step.guard.risk.oddities.len().saturating_sub(KEPT);
    step.guard.risk.oddities.drain(..over);
}
