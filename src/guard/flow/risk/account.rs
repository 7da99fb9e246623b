//! Account reads, and what follows from them for the risk state.
//!
//! The balance moves before the ledger says why: what looks like a loss is believed only on the next account read, and
//! where cash is gone, after the ledger and the account's mode were read as well. No order and no send may enter here.

use crate::base::day::day_of;
use crate::guard::effects::{Command, Read};
use crate::guard::flow::risk::halt::Seen;
use crate::guard::flow::risk::{halt, ledger, mode, records, witness};
use crate::guard::flow::step_context::Step;
use crate::guard::state::guard::Guard;
use crate::guard::state::risk::cash_balance::Cash;
use crate::guard::state::risk::equity_peaks::EquitySample;
use crate::guard::state::risk::settled_reading::jumps;
use crate::venue::info::AccountMode;
use rust_decimal::Decimal;

/// Reads of the ledger asked for by jumps are this far apart, and so many: it may show a flow late.
const JUMP_PAUSE_MS: u64 = 10_000;

const JUMP_READS: u8 = 3;

/// Reads of the mode asked for by jumps are this far apart.
const MODE_PAUSE_MS: u64 = 3_000;

/// A mode that cannot be valued is asked for again as often for so long, for one answer may be wrong, and then this far apart.
const MODE_DOUBTED_MS: u64 = 30_000;

const MODE_LASTS_MS: u64 = 60_000;

/// Cash that moves while the account trades has the open orders read at once no sooner than this after the last time.
const PRESSED_FOR_MS: u64 = 2_000;

/// Takes in the newest account read, then sees whether a halt fires or ends.
pub(crate) fn check(step: &mut Step<'_>) {
    if step.guard.risk.is_mode_unread {
        return check_carried(step, mode::carry_last_life);
    }
    ask_for_unvalued_mode(step);
    let Some(account) = step.guard.view.account.as_ref() else { return };
    if step.guard.risk.unvalued.is_some() && step.guard.risk.settled.last().is_none() {
        // Nothing tells what it is worth, in this life or before it.
        return;
    }
    if !account.is_valued() && step.guard.risk.unvalued.is_none() {
        return check_carried(step, mode::carry_unread_equity);
    }
    let (begun_ms, venue_ms, cash) = (account.begun_ms, account.venue_ms, Cash::of(account));
    let (known_ms, marked) = (account.known_ms(), account.marked);
    let mark = step.guard.risk.with_later_flows(EquitySample { at_ms: venue_ms, equity: account.equity });
    let (cash, equity) = (cash.valued_at(mark.equity), mark.equity);
    let before_ms = step.guard.risk.last.map(|(_, last_ms)| last_ms);
    if before_ms.is_none_or(|last_ms| begun_ms > last_ms) {
        if before_ms.is_some_and(|last_ms| begun_ms.saturating_sub(last_ms) > step.guard.account_max_gap_ms()) {
            halt::on_gap(step);
        }
        mode::count_change(step, mark);
        take_cash(step, cash.clone());
        measure(step, mark, begun_ms, &cash);
        mode::note_read(step, venue_ms);
        // The same moment, read twice, is one witness.
        let is_new = venue_ms > std::mem::replace(&mut step.guard.risk.seen_ms, venue_ms);
        halt::check_limits(step, equity, if is_new { Seen::Anew } else { Seen::Before });
    } else if !step.guard.risk.mode_changed && step.now_ms.saturating_sub(known_ms) <= step.guard.account_max_age_ms() {
        let mark = marked.map(|equity| step.guard.risk.with_later_flows(EquitySample { at_ms: venue_ms, equity }));
        match mark.map(|mark| mark.equity).filter(|marked| *marked < equity) {
            Some(marked) => halt::check_limits(step, marked, Seen::ByMarks),
            None => halt::check_limits(step, equity, Seen::Before),
        }
    }
}

/// Takes in the cash that the life before this one read last: the first read of this one is compared with it.
pub(crate) fn on_last_life(step: &mut Step<'_>, mode: AccountMode, cash: Cash) {
    let Guard { risk, book, .. } = &mut *step.guard;
    risk.last_life_ms = Some(cash.at_ms);
    if book.chains.newest_ms() >= Some(cash.at_ms) {
        // A life in between has put it on record, and has read nothing more.
        risk.traded(step.now_ms);
    }
    risk.last_life = Some((mode, cash));
}

/// Has the mode read again while the last answer named one whose equity cannot be read.
fn ask_for_unvalued_mode(step: &mut Step<'_>) {
    let risk = &mut step.guard.risk;
    let Some((_, since_ms)) = &risk.unvalued else { return };
    let is_young = step.now_ms.saturating_sub(*since_ms) < MODE_DOUBTED_MS;
    let pause_ms = if is_young { MODE_PAUSE_MS } else { MODE_LASTS_MS };
    if risk.mode_asked_ms.is_none_or(|asked_ms| step.now_ms.saturating_sub(asked_ms) >= pause_ms) {
        risk.mode_asked_ms = Some(step.now_ms);
        step.effects.immediate.push(Command::Read(Read::Mode { is_for_halt: false }));
    }
}

/// The equity was not told with what is held: what that won and lost since the last read that did tell it fires the halts, and sets no
/// mark.
fn check_carried(step: &mut Step<'_>, carry: impl FnOnce(&mut Guard) -> Option<Decimal>) {
    let Some(equity) = carry(step.guard) else { return };
    let Some((begun_ms, venue_ms)) =
        step.guard.view.account.as_ref().map(|account| (account.begun_ms, account.venue_ms))
    else {
        return;
    };
    if step.now_ms.saturating_sub(begun_ms) <= step.guard.config.account_max_age_ms {
        let is_new = venue_ms > std::mem::replace(&mut step.guard.risk.seen_ms, venue_ms);
        halt::check_limits(step, equity, if is_new { Seen::Anew } else { Seen::Before });
    }
}

/// Keeps the cash, and sees whether it shows what the ledger told.
fn take_cash(step: &mut Step<'_>, cash: Cash) {
    let risk = &mut step.guard.risk;
    // Of another purse it says nothing.
    if let Some((mode, before)) = risk.last_life.take().filter(|_| risk.cash.is_none())
        && risk.mode == Some(mode)
    {
        // What flowed in that life the ledger told it, but for its last seconds.
        risk.cash_history.begin_with(before.clone());
        risk.cash = Some(before);
    }
    if let Some(before) = &risk.cash
        && cash.is_untouched(before, risk.traded_ms)
    {
        risk.unproven.moved(before, &cash);
    }
    // A position closed and opened anew between two reads, at one price, looks as before: its stops may be gone with it.
    // Only where the equity and what is held come from one answer. What was heard of may be all that it is, and whoever trades on and
    // on must not use up these reads.
    let is_one = risk.mode == Some(AccountMode::Standard);
    if is_one && let Some(before) = risk.cash.as_ref().filter(|before| cash.moved_unseen(before) && !cash.is_flat()) {
        let is_heard_of = risk.traded_ms.is_some_and(|traded_ms| traded_ms >= before.begun_ms);
        let has_pressed = risk.pressed_ms.is_some_and(|at_ms| step.now_ms.saturating_sub(at_ms) < PRESSED_FOR_MS);
        if is_heard_of && has_pressed {
            step.effects.immediate.push(Command::Read(Read::Orders));
        } else {
            risk.pressed_ms = Some(step.now_ms);
            step.effects.immediate.push(Command::Read(Read::OrdersNow));
        }
    }
    risk.cash_before = risk.cash.replace(cash);
    ledger::take_proven(step);
    let risk = &mut step.guard.risk;
    risk.cash.iter().for_each(|cash| risk.cash_history.add(cash.clone()));
}

/// Puts a new equity in its place: the day's start, the peak.
fn measure(step: &mut Step<'_>, mark: EquitySample, begun_ms: u64, cash: &Cash) {
    let risk = &mut step.guard.risk;
    let last = risk.last.replace((mark.equity, begun_ms));
    risk.jumped = last.is_some_and(|(before, _)| jumps(before, mark.equity));
    let is_settled = step.guard.risk.unvalued.is_some() || settle(step, mark, cash);
    ask_for_ledger(step);
    let Some((venue_ms, equity)) = step.guard.view.account.as_ref().map(|account| (account.venue_ms, account.equity))
    else {
        return;
    };
    step.guard.risk.equities.add(EquitySample { at_ms: venue_ms, equity }, is_settled);
    if !is_settled {
        return witness::ask(step);
    }
    // What was held back is known to be of this purse by now.
    if let Some(peak) = step.guard.risk.settled.take_peak()
        && step.guard.risk.marks.peaks.add(peak)
    {
        step.effects.risk.push(records::peak(peak, step.now_ms).into());
    }
    let is_first = step.guard.risk.marks.day_start.is_none();
    if is_first {
        step.guard.risk.cash_history.begin_with(cash.clone());
    }
    let before = last.is_none().then(|| step.guard.risk.marks.clone());
    // A day of the venue's: the machine's clock may be set to any.
    let set = step.guard.risk.marks.take(mark, day_of(venue_ms), step.now_ms);
    if let Some(before) = before.filter(|_| step.guard.risk.unvalued.is_none()) {
        witness::begin(step, cash, before, set);
    }
    if set.day {
        if is_first && step.guard.risk.ledger_ms == 0 {
            // What flowed before anything was measured is in that.
            step.guard.risk.ledger_read_ms = mark.at_ms;
        }
        let ledger_ms = step.guard.risk.ledger_read_ms;
        step.effects.risk.push(records::day(day_of(venue_ms), mark, ledger_ms, step.now_ms).into());
    }
    if set.peak {
        step.effects.risk.push(records::peak(mark, step.now_ms).into());
    }
    witness::ask(step);
}

/// Whether a read sets marks.
fn settle(step: &mut Step<'_>, mark: EquitySample, cash: &Cash) -> bool {
    let is_believed = witness::hear(step, cash, mark);
    let risk = &mut step.guard.risk;
    risk.settled.add(cash, risk.mode_ms, step.now_ms) && is_believed
}

/// Has the ledger read from the start on, again once it must have shown what came before that, and at once when the cash
/// jumps; then the mode too, for the equity may be kept somewhere else. Prices that leap move no cash: neither could say
/// anything of them, and would take the weight that the steady reads need.
fn ask_for_ledger(step: &mut Step<'_>) {
    let shows_ms = ledger::shows_ms(step.guard, step.now_ms);
    let risk = &mut step.guard.risk;
    if risk.has_cash_jumped() {
        (risk.ledger_wanted, risk.mode_wanted) = (JUMP_READS, true);
        // What came in hides a loss until it is told of: the ledger is read once more as soon as it must show it.
        risk.ledger_again_ms = Some(shows_ms);
    } else if risk.ledger_asked_ms.is_none() {
        risk.ledger_wanted = 2;
    }
    let is_mode_due = risk.mode_asked_ms.is_none_or(|asked_ms| step.now_ms.saturating_sub(asked_ms) >= MODE_PAUSE_MS);
    if risk.mode_wanted && is_mode_due {
        (risk.mode_wanted, risk.mode_asked_ms) = (false, Some(step.now_ms));
        step.effects.immediate.push(Command::Read(Read::Mode { is_for_halt: false }));
    }
    let is_due = risk
        .ledger_asked_ms
        .is_none_or(|asked_ms| risk.ledger_wanted > 0 && step.now_ms.saturating_sub(asked_ms) >= JUMP_PAUSE_MS);
    if is_due || risk.ledger_again_ms.is_some_and(|again_ms| step.now_ms >= again_ms) {
        risk.ledger_again_ms = None;
        risk.ledger_wanted = risk.ledger_wanted.saturating_sub(1);
        risk.ledger_asked_ms = Some(step.now_ms);
        step.effects.immediate.push(Command::Read(ledger::read(step.guard)));
    }
}
