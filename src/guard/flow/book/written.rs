//! The sums of the book as they are written down: the account as it was compared, and that it could not be.

use crate::guard::flow::step_context::Step;
use crate::guard::state::book::audit::Extremes;
use crate::guard::state::book::sums::{Standing, Sums};
use crate::record::money::Balance;
use crate::venue::info::AccountMode;
use rust_decimal::Decimal;

pub(super) const HOUR_MS: u64 = 3_600_000;
/// What was not compared for so long is known no more.
const UNCOMPARED_MS: u64 = 180_000;
/// No two ticks are so far apart, but where the machine slept in between.
const ASLEEP_MS: u64 = 60_000;
const ANEW: &str = "the book begins anew";

/// Writes a sum down, with what was measured since the one before.
pub(super) fn write(
    step: &mut Step<'_>,
    standing: Standing,
    sums: Sums,
    difference: Option<Decimal>,
    why: &'static str,
) {
    let book = &mut step.guard.book;
    let opening = book.account.opening();
    let extremes = book.audit.extremes.take();
    let kept = Extremes::from(standing.equity.saturating_sub(sums.transfers));
    book.audit.extremes = Some(kept);
    book.audit.note_written(standing.at_ms);
    let unified = book.audit.mode.map(|mode| mode == AccountMode::Unified);
    step.record(Balance {
        venue_ms: standing.at_ms,
        opened_ms: opening.map_or(standing.at_ms, |opening| opening.at_ms),
        opening_equity: opening.map(|opening| opening.equity),
        opening_unrealised: opening.map(|opening| opening.unrealised),
        equity: Some(standing.equity),
        unrealised: Some(standing.unrealised),
        gross: sums.gross,
        fees: sums.fees,
        funding: sums.funding,
        transfers: sums.transfers,
        difference: difference.map(|difference| difference.round_dp(6)),
        why: why.into(),
        unified,
        highest: extremes.map(|extremes| extremes.highest),
        lowest: extremes.map(|extremes| extremes.lowest),
        worst_fall: extremes.map(|extremes| extremes.worst_fall),
    });
}

/// A sum that ends: what was measured of it since it was last written down is in no later one.
pub(super) fn write_measured(step: &mut Step<'_>) {
    let audit = &step.guard.book.audit;
    let is_moved = audit.extremes.is_some_and(|extremes| extremes.highest != extremes.lowest);
    let Some((standing, sums)) = audit.last.filter(|_| is_moved) else { return };
    let difference = audit.difference;
    write(step, standing, sums, difference, if difference.is_none() { ANEW } else { "" });
}

/// An account that was not compared for long may have lost or won what no row tells: until it is compared again nobody knows.
pub(super) fn note_uncompared(step: &mut Step<'_>) {
    let guard = &mut *step.guard;
    let (is_unvalued, has_mode) = (guard.risk.unvalued.is_some(), guard.risk.sure_mode().is_some());
    let audit = &mut guard.book.audit;
    // A machine that slept could compare nothing.
    if step.now_ms.saturating_sub(std::mem::replace(&mut audit.ticked_ms, step.now_ms)) > ASLEEP_MS {
        audit.compared_ms = step.now_ms;
    }
    let Some((standing, sums)) = audit.last.filter(|_| !is_unvalued) else { return };
    let is_told = audit.is_off && audit.difference.is_none();
    if is_told || step.now_ms.saturating_sub(audit.compared_ms) < UNCOMPARED_MS {
        return;
    }
    (audit.is_off, audit.difference) = (true, None);
    let why = if has_mode { "the account was not compared since" } else { "the account's mode is not known since" };
    write(step, standing, sums, None, why);
}

/// A book whose equity cannot be read has nothing to compare; that is written down as often as the sum.
pub(super) fn note_unread(step: &mut Step<'_>) {
    let guard = &mut *step.guard;
    let Some(account) = guard.view.account.as_ref().filter(|_| guard.risk.unvalued.is_some()) else { return };
    let at_ms = account.venue_ms;
    let hour = at_ms.checked_div(HOUR_MS);
    let book = &guard.book;
    if book.fill_reads.read_ms.is_none() || book.audit.hour == hour {
        return;
    }
    if book.account.opening().is_some() {
        write_measured(step);
    }
    let book = &mut step.guard.book;
    (book.audit.hour, book.audit.is_off, book.audit.difference) = (hour, true, None);
    // What the mode hides is in no sum: it begins anew once the equity is read.
    book.account.close();
    step.record(Balance {
        venue_ms: at_ms,
        opened_ms: at_ms,
        why: "the account's mode hides its equity".into(),
        ..Balance::default()
    });
}
