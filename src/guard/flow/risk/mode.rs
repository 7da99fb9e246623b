//! The account's mode: where its equity is kept, and what is done when that changes.
//!
//! A change is neither profit nor loss. In a mode whose equity cannot be read the last one that could is carried on with
//! what the positions win and lose: nothing may be opened by it, and a loss on what is held still fires the halts.

use crate::base::day::day_of;
use crate::guard::effects::{Command, Read};
use crate::guard::flow::risk::ledger;
use crate::guard::flow::step_context::Step;
use crate::guard::state::guard::Guard;
use crate::guard::state::risk::cash_balance::Cash;
use crate::guard::state::risk::equity_peaks::EquitySample;
use crate::guard::state::risk::modes::Undated;
use crate::guard::state::risk::transfers::{MODE_CHANGE, Transfer};
use crate::guard::state::view::View;
use crate::record::events::Trouble;
use crate::record::risk_record::{ModeSeen, RiskRecord};
use crate::venue::info::AccountMode;
use rust_decimal::Decimal;

/// Takes in where the account keeps its equity.
pub(crate) fn on_account_mode(step: &mut Step<'_>, mode: AccountMode, begun_ms: u64) {
    note_answer(step, mode, begun_ms);
    let risk = &mut step.guard.risk;
    risk.mode_ms = risk.mode_ms.max(begun_ms);
    risk.unvalued = None;
    let before = risk.mode.replace(mode);
    if risk.is_mode_unread {
        // The equity at hand may be of another purse: the next read tells.
        risk.purse_ms = step.now_ms;
        step.effects.immediate.push(Command::Read(Read::AccountNow));
    }
    if before.is_some_and(|before| before != mode) {
        risk.mode_changed = true;
        risk.purse_ms = step.now_ms;
        risk.change_purse();
        step.effects.immediate.push(Command::Read(Read::AccountNow));
    }
}

/// The account was in this mode when it was asked for that at this time. Before the venue's time is known nobody knows when that was.
fn note_answer(step: &mut Step<'_>, mode: AccountMode, begun_ms: u64) {
    step.guard.risk.modes.undated = Some(Undated { mode, begun_ms, at_ms: step.now_ms });
    date_answer(step);
}

fn date_answer(step: &mut Step<'_>) {
    let (clock, now_ms) = (&step.guard.clock, step.now_ms);
    if clock.venue_ms().is_none() {
        return;
    }
    let (earliest_ms, latest_ms) = (clock.earliest_ms(), clock.latest_ms());
    let Some(Undated { mode, begun_ms, at_ms }) = step.guard.risk.modes.undated.take() else { return };
    let since = |ms: u64| now_ms.saturating_sub(ms);
    note(step, mode, (earliest_ms.saturating_sub(since(begun_ms)), latest_ms.saturating_sub(since(at_ms))));
}

/// The account was in the mode that is known when it was read.
pub(crate) fn note_read(step: &mut Step<'_>, venue_ms: u64) {
    date_answer(step);
    let mode = step.guard.risk.sure_mode();
    mode.into_iter().for_each(|mode| note(step, mode, (venue_ms, venue_ms)));
}

/// Keeps the mode in mind, and writes it down once and where it changes: the next life judges rows of this one by it.
fn note(step: &mut Step<'_>, mode: AccountMode, (from_ms, to_ms): (u64, u64)) {
    step.guard.risk.modes.see(mode, from_ms, to_ms);
    if step.guard.risk.mode_recorded.replace(mode) != Some(mode) {
        let seen = ModeSeen { at_ms: step.now_ms, unified: mode == AccountMode::Unified, from_ms, to_ms };
        step.effects.risk.push(RiskRecord::Mode(seen).into());
    }
}

/// Takes in that the mode could not be read since the start: what is held gets its cover and can be closed all the same,
/// nothing is opened, and no loss is measured until the mode is known.
pub(crate) fn on_mode_unread(step: &mut Step<'_>) {
    let risk = &mut step.guard.risk;
    if risk.mode.is_none() && risk.unvalued.is_none() {
        risk.is_mode_unread = true;
        risk.unvalued = Some(("not read yet".to_owned(), step.now_ms));
    }
}

/// Takes in that the account keeps its equity where it cannot be read.
pub(crate) fn on_unvalued_mode(step: &mut Step<'_>, mode: String, begun_ms: u64) {
    let now_ms = step.now_ms;
    let risk = &mut step.guard.risk;
    risk.mode_ms = risk.mode_ms.max(begun_ms);
    if risk.unvalued.as_ref().is_some_and(|(known, _)| *known == mode) {
        return;
    }
    // It is known now: a loss on what is held is measured from here on.
    risk.is_mode_unread = false;
    let since_ms = risk.unvalued.as_ref().map_or(now_ms, |(_, since_ms)| *since_ms);
    let text = format!("the account's mode is {mode}, whose equity cannot be valued surely; nothing is opened in it");
    risk.unvalued = Some((mode, since_ms));
    risk.change_purse();
    step.record(Trouble::new(text));
    carry_equity(step.guard);
}

/// Where the account's equity cannot be read, puts the one that is carried on in its place. A life that has read none goes on from what
/// the day began with, as [`carry_unread_equity`] does.
pub(crate) fn carry_equity(guard: &mut Guard) {
    let View { account: Some(account), mids, mids_ms, .. } = &mut guard.view else { return };
    if guard.risk.unvalued.is_none() || guard.risk.is_mode_unread {
        return;
    }
    if let (None, Some(start)) = (guard.risk.settled.last(), guard.risk.marks.day_start) {
        guard.risk.settled.settle(Some(Cash::of(account).valued_at(start.equity)));
    }
    if let Some(last) = guard.risk.settled.last() {
        let carried = last.carried_to(account, |asset| mids.get(&asset).copied());
        account.equity = carried.equity;
        // What is opened counts from the first read that shows it, however soon it is closed again.
        let closes_nothing = carried.holds_all_of(last);
        // The prices at hand may be from before a close that this read is the first to show, or that nothing later than the
        // first read of it has priced: the next one goes on from it.
        let is_priced = |before: &Cash| carried.has_sizes_of(before) && *mids_ms >= Some(before.begun_ms);
        if closes_nothing || guard.risk.cash.as_ref().is_some_and(is_priced) {
            guard.risk.settled.settle(Some(carried));
        }
    }
}

/// The equity of an account whose last read did not tell it: the last settled one, carried on with what the positions won and
/// lost since. A life that has read none counts from its first read on, as if the account were worth then what the day began
/// with: what came before is not known, and a loss that is as large as a limit by itself fires the halt.
pub(crate) fn carry_unread_equity(guard: &mut Guard) -> Option<Decimal> {
    let View { account: Some(account), mids, mids_ms, .. } = &mut guard.view else { return None };
    let is_priced = *mids_ms >= Some(account.begun_ms);
    let day_start = guard.risk.marks.day_start;
    guard.risk.settled.carry_from(|| day_start.map(|start| Cash::of(account).valued_at(start.equity)));
    let equity = guard.risk.settled.carry(account, |asset| mids.get(&asset).copied(), is_priced)?;
    account.equity = equity;
    Some(equity)
}

/// While the mode was never read in this life, the equity that the life before it read last, carried on in the same way, where that
/// was on the same day: in whichever purse the rest is, what is held has lost that much.
pub(crate) fn carry_last_life(guard: &mut Guard) -> Option<Decimal> {
    let View { account: Some(account), mids, mids_ms, .. } = &guard.view else { return None };
    let (_, before) = guard.risk.last_life.as_ref()?;
    if day_of(before.at_ms) != day_of(account.venue_ms) {
        return None;
    }
    let is_priced = *mids_ms >= Some(account.begun_ms);
    guard.risk.settled.carry_from(|| Some(before.clone()));
    guard.risk.settled.carry(account, |asset| mids.get(&asset).copied(), is_priced)
}

/// The first equity after a change of the mode: what it differs by came or went with that, but for what the positions won and
/// lost since the last read of before.
pub(crate) fn count_change(step: &mut Step<'_>, mark: EquitySample) {
    if !std::mem::take(&mut step.guard.risk.mode_changed) {
        return;
    }
    let Some(account) = &step.guard.view.account else { return };
    let Some(last) = step.guard.risk.settled.before_change(account, mark.equity) else { return };
    let (before, last_ms) = (last.carried_to(account, |_| None).equity, last.at_ms);
    step.guard.risk.note_purse_change(last_ms, mark.at_ms);
    let usd = mark.equity.saturating_sub(before);
    let text =
        format!("the account's mode changed, and its equity by {} USDC, which counts as a flow", usd.normalize());
    ledger::note_oddity(step, text);
    let (kind, hash) = (MODE_CHANGE.to_owned(), String::new());
    let (time_ms, since_ms, before) = (mark.at_ms, Some(last_ms), Some(before));
    let flow = Transfer { time_ms, usd, since_ms, before, kind, hash, is_known: true, is_sure: true };
    step.guard.risk.taken.remember(&flow);
    ledger::count(step, &flow);
    step.guard.risk.settled.settle(None);
}
