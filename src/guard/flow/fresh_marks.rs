//! The marks of markets in which entries are asked for are read again before they are too old to judge by: so only the first
//! entry after a quiet time waits for a read.

use crate::guard::effects::{Command, Read};
use crate::guard::flow::step_context::Step;
use std::collections::BTreeSet;

/// For so long after an entry was asked for its market's mark is kept.
const TRADED_MS: u64 = 60_000;

/// Takes note of the markets that a request may enter.
pub(crate) fn note_entered(step: &mut Step<'_>, entered: BTreeSet<u32>) {
    let now_ms = step.now_ms;
    step.guard.watch.entered_ms.extend(entered.into_iter().map(|asset| (asset, now_ms)));
}

/// Has the marks read where that of a market traded lately has two thirds of its time behind it: once in as long.
pub(crate) fn refresh(step: &mut Step<'_>) {
    let (guard, now_ms) = (&mut *step.guard, step.now_ms);
    let since = |at_ms: u64| now_ms.saturating_sub(at_ms);
    guard.watch.entered_ms.retain(|_, at_ms| since(*at_ms) < TRADED_MS);
    let pause_ms = (guard.config.marks_max_age_ms / 3).saturating_mul(2);
    if guard.watch.marks_asked_ms.is_some_and(|at_ms| since(at_ms) < pause_ms) {
        return;
    }
    let is_old = |asset: &u32| guard.view.mark_age_ms(*asset, now_ms).is_some_and(|age_ms| age_ms >= pause_ms);
    if guard.watch.entered_ms.keys().any(is_old) {
        guard.watch.marks_asked_ms = Some(now_ms);
        step.effects.immediate.push(Command::Read(Read::Universe));
    }
}
