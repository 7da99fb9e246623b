//! The first read of a life and what later ones say of it: which marks are gone by, and what is written of it. No order and no
//! send may enter here.

use crate::base::day::day_of;
use crate::guard::effects::{Command, Read};
use crate::guard::flow::risk::records;
use crate::guard::flow::step_context::Step;
use crate::guard::state::risk::cash_balance::Cash;
use crate::guard::state::risk::equity_peaks::EquitySample;
use crate::guard::state::risk::first_reading::{Beside, FirstReading, Word};
use crate::guard::state::risk::marks::{Marks, Set};
use crate::record::events::Trouble;
use crate::record::risk_record::Said;
use crate::venue::info::ClearinghouseState;

fn beside(step: &Step<'_>) -> Beside {
    let risk = &step.guard.risk;
    Beside { mode_ms: risk.mode_ms, traded_ms: risk.traded_ms, now_ms: step.now_ms }
}

/// Takes note that a read is the first of this life, and of the marks that it set.
pub(crate) fn begin(step: &mut Step<'_>, cash: &Cash, before: Marks, set: Set) {
    let is_written = set.day || set.peak;
    let first = FirstReading::new(cash.clone(), before, is_written, &beside(step));
    if is_written {
        step.effects.risk.push(records::first(first.mark(), Said::Alone, step.now_ms).into());
    }
    step.guard.risk.first = Some(first);
}

/// Takes in what a read says of the first; whether it may set marks.
pub(crate) fn hear(step: &mut Step<'_>, cash: &Cash, mark: EquitySample) -> bool {
    let Some(mut first) = step.guard.risk.first.take() else { return true };
    let word = first.hear(cash, &beside(step));
    match word {
        Word::BornOut => {
            bear_out(step, first);
            return true;
        }
        Word::Misread(other) => {
            take_back(step, &first, *other);
            return true;
        }
        Word::Contradicted => {
            let marks = &mut step.guard.risk.marks;
            first.set_aside(marks, cash, step.now_ms);
            marks.take(mark, day_of(cash.at_ms), step.now_ms);
        }
        Word::Disputed | Word::Nothing => {}
    }
    step.guard.risk.first = Some(first);
    matches!(word, Word::Nothing)
}

/// Takes in the account as the feed told it: where it is as the first read showed, that was right. What else it tells counts as
/// no read.
pub(crate) fn hear_told(step: &mut Step<'_>, state: &ClearinghouseState) {
    let (told, beside) = (Cash::told(state, step.now_ms), beside(step));
    if let Some(first) = step.guard.risk.first.take_if(|first| first.is_borne_out(&told, &beside)) {
        bear_out(step, first);
    }
}

/// Has the account read again at once while only one read tells what it is worth, or two differ.
pub(crate) fn ask(step: &mut Step<'_>) {
    if step.guard.risk.first.as_ref().is_some_and(|first| first.is_pressing(step.now_ms)) {
        step.effects.immediate.push(Command::Read(Read::AccountNow));
    }
}

fn bear_out(step: &mut Step<'_>, mut first: FirstReading) {
    let set_aside = first.uphold();
    set_aside.into_iter().for_each(|marks| step.guard.risk.marks = marks);
    if first.is_written {
        step.effects.risk.push(records::first(first.mark(), Said::BornOut, step.now_ms).into());
    }
}

/// The first read was wrong: nothing is measured by it any more. All begins with the `other` one, whose marks are gone by
/// already.
fn take_back(step: &mut Step<'_>, first: &FirstReading, other: Cash) {
    let text = format!(
        "the account's first answer told an equity of {} USDC, and two later ones {}: what it had set is taken back",
        first.mark().equity.normalize(),
        other.equity.normalize()
    );
    step.record(Trouble::new(text));
    let risk = &mut step.guard.risk;
    risk.equities.clear();
    risk.equities.add(EquitySample { at_ms: other.at_ms, equity: other.equity }, true);
    risk.cash_history.clear();
    [Some(other.clone()), risk.cash.clone()].into_iter().flatten().for_each(|cash| risk.cash_history.add(cash));
    risk.unproven.forget_moves();
    risk.cash_before = Some(other.clone());
    // What a loss from the marks before it looks like is no withdrawal since that read.
    risk.unconfirmed.iter_mut().for_each(|doubt| doubt.cash_before = None);
    risk.settled.settle(Some(other));
    if first.is_written {
        step.effects.risk.push(records::first(first.mark(), Said::Misread, step.now_ms).into());
    }
    write_marks(step);
}

/// Writes the marks as they are.
fn write_marks(step: &mut Step<'_>) {
    let risk = &mut step.guard.risk;
    let ledger_ms = risk.ledger_read_ms;
    let Marks { day, day_start, peaks, peak_written, .. } = &mut risk.marks;
    *peak_written = peaks.highest();
    if let (Some(day), Some(mark)) = (*day, *day_start) {
        step.effects.risk.push(records::day(day, mark, ledger_ms, step.now_ms).into());
    }
    if let Some(mark) = *peak_written {
        step.effects.risk.push(records::peak(mark, step.now_ms).into());
    }
}
