//! The audit: what the book says that the equity is, beside what was read. A row may be late, so what does not add up is told
//! once everything was read again, and then once.

use crate::base::amount::to_wire;
use crate::guard::effects::{Command, Read};
use crate::guard::flow::step_context::Step;
use crate::guard::state::book::audit::{Candidate, Extremes};
use crate::guard::state::book::sums::{Standing, Sums, differs};
use crate::guard::state::guard::Guard;
use crate::record::events::Trouble;
use crate::record::money::Balance;
use crate::venue::info::AccountMode;
use rust_decimal::Decimal;

/// A row that the feed tells of comes so long after the account shows it.
const FEED_MS: u64 = 2_000;
/// Everything is read so often for what does not add up, after pauses that double.
const TRIES: u32 = 3;
const TRY_AGAIN_MS: u64 = 5_000;
/// Reads of the ledger for this are so far apart.
const LEDGER_APART_MS: u64 = 10_000;
const HOUR_MS: u64 = 3_600_000;
/// Sums that rows have moved are written down before the hour is over, this far apart.
const MOVED_APART_MS: u64 = 60_000;

/// Takes in an account read, and does what is due.
pub(super) fn run(step: &mut Step<'_>) {
    look(step);
    let Some(candidate) = step.guard.book.audit.candidate else { return };
    // A read of before the mode changed is of another purse: nothing is compared with it.
    if sure_mode(step.guard) != Some(candidate.mode) {
        return drop_it(step);
    }
    if candidate.mode != step.guard.book.audit.mode.unwrap_or(candidate.mode) {
        open(step, &candidate);
        return compared(step, &candidate, None, "the account's mode changed");
    }
    if step.guard.book.account.opening().is_none() {
        // What came while nobody watched is read first.
        let book = &step.guard.book;
        let is_caught_up = book.fill_reads.read_ms.is_some() && book.funding_reads.read_ms.is_some();
        if is_caught_up {
            open(step, &candidate);
            return compared(step, &candidate, Some(Decimal::ZERO), "");
        }
        return drop_it(step);
    }
    match step.guard.book.account.compare(candidate.standing) {
        None => drop_it(step),
        Some(difference) if !differs(difference) => {
            let is_caught_up = step.guard.book.fill_reads.read_ms.is_some();
            if is_caught_up { compared(step, &candidate, Some(difference), "") } else { drop_it(step) }
        }
        Some(difference) => explain(step, candidate, difference),
    }
}

/// The account's mode, where it is known and says where the equity is.
fn sure_mode(guard: &Guard) -> Option<AccountMode> {
    let risk = &guard.risk;
    risk.mode.filter(|_| risk.unvalued.is_none() && !risk.is_mode_unread && !risk.mode_changed)
}

/// Takes the newest read of the account, where none waits.
fn look(step: &mut Step<'_>) {
    let Some(mode) = sure_mode(step.guard) else { return };
    let Guard { view, book, .. } = &mut *step.guard;
    let Some(account) = view.account.as_ref().filter(|account| account.is_valued()) else { return };
    if book.audit.candidate.is_some() || account.venue_ms <= book.audit.looked_ms {
        return;
    }
    book.audit.looked_ms = account.venue_ms;
    let held = account.positions.values().chain(account.unknown.values());
    let unrealised = held.fold(Decimal::ZERO, |sum, position| sum.saturating_add(position.unrealized_pnl));
    book.audit.candidate = Some(Candidate {
        standing: Standing { at_ms: account.venue_ms, equity: account.equity, unrealised },
        taken_ms: step.now_ms,
        mode,
        is_flat: account.is_flat(),
        rows_from_ms: account.begun_ms,
        tries: 0,
    });
}

/// The next read is looked at.
fn drop_it(step: &mut Step<'_>) {
    step.guard.book.audit.candidate = None;
}

fn open(step: &mut Step<'_>, candidate: &Candidate) {
    let book = &mut step.guard.book;
    book.account.open(candidate.standing);
    (book.audit.mode, book.audit.extremes, book.audit.has_foreign) = (Some(candidate.mode), None, false);
}

/// It does not add up: the rows may be late. They are read, the likely ones first; what nothing explains is told.
fn explain(step: &mut Step<'_>, candidate: Candidate, difference: Decimal) {
    let now_ms = step.now_ms;
    let guard = &mut *step.guard;
    let has_feed = guard.feed.is_trusted(now_ms) && guard.feed.tells_account();
    if has_feed && now_ms.saturating_sub(candidate.taken_ms) < FEED_MS || now_ms < candidate.rows_from_ms {
        return;
    }
    let since_ms = guard.risk.ledger_since_ms();
    let book = &mut guard.book;
    let from_ms = candidate.rows_from_ms;
    if !book.fill_reads.is_read_since(from_ms) {
        return book.fill_reads.want_once(now_ms);
    }
    let (has_fundings, has_ledger) = (book.funding_reads.is_read_since(from_ms), book.audit.ledger_ms >= from_ms);
    if !has_fundings {
        book.funding_reads.want_once(now_ms);
    }
    if !has_ledger && now_ms.saturating_sub(book.audit.ledger_asked_ms) >= LEDGER_APART_MS {
        book.audit.ledger_asked_ms = now_ms;
        step.effects.immediate.push(Command::Read(Read::LedgerSoon { since_ms }));
    }
    if !has_fundings || !has_ledger {
        return;
    }
    let tries = candidate.tries.saturating_add(1);
    if tries < TRIES {
        let pause_ms = TRY_AGAIN_MS.saturating_mul(1 << tries.min(TRIES));
        let rows_from_ms = now_ms.saturating_add(pause_ms);
        step.guard.book.audit.candidate = Some(Candidate { tries, rows_from_ms, ..candidate });
        return;
    }
    not_explained(step, &candidate, difference);
}

/// All was read, more than once.
fn not_explained(step: &mut Step<'_>, candidate: &Candidate, difference: Decimal) {
    let is_unified = candidate.mode == AccountMode::Unified;
    let was_flat = step.guard.book.account.opening().is_none_or(|opening| opening.unrealised.is_zero());
    let why = if is_unified && step.guard.book.audit.has_foreign {
        "a fill of another purse moved the balance"
    } else if is_unified && !(candidate.is_flat && was_flat) {
        // The balance and what is held are two answers, at prices of two moments.
        "the balance and what is held were read at two moments"
    } else {
        ""
    };
    if why.is_empty() {
        tell(step, candidate, difference);
        compared(step, candidate, Some(difference), "");
    }
    // So that it is told once.
    open(step, candidate);
    if !why.is_empty() {
        compared(step, candidate, None, why);
    }
}

fn tell(step: &mut Step<'_>, candidate: &Candidate, difference: Decimal) {
    let Some(opening) = step.guard.book.account.opening() else { return };
    let text = format!(
        "the book does not add up: the equity {} at {} is {} USDC off the {} of {} with all that was filled, paid and moved \
         since (UTC ms)",
        to_wire(candidate.standing.equity),
        candidate.standing.at_ms,
        to_wire(difference.round_dp(6)),
        to_wire(opening.equity),
        opening.at_ms
    );
    step.record(Trouble::new(&text));
    let now_ms = step.now_ms;
    let book = &mut step.guard.book;
    book.tell(text, now_ms);
    book.audit.discrepancies = book.audit.discrepancies.saturating_add(1);
}

/// The account was compared: that is written down where it is due.
fn compared(step: &mut Step<'_>, candidate: &Candidate, difference: Option<Decimal>, why: &'static str) {
    let standing = candidate.standing;
    let book = &mut step.guard.book;
    let sums = book.account.sums_at(standing.at_ms).unwrap_or_default();
    book.account.settle(standing.at_ms);
    book.audit.mode = Some(candidate.mode);
    let equity = standing.equity.saturating_sub(sums.transfers);
    book.audit.extremes.get_or_insert(Extremes::from(equity)).add(equity);
    let hour = standing.at_ms.checked_div(HOUR_MS);
    let is_off = difference.is_none_or(differs);
    let is_moved = book
        .audit
        .written
        .is_none_or(|(at_ms, written)| written != sums && standing.at_ms.saturating_sub(at_ms) >= MOVED_APART_MS);
    let is_due = book.audit.hour != hour || is_off || book.audit.is_off || is_moved || !why.is_empty();
    (book.audit.last, book.audit.difference, book.audit.candidate) = (Some((standing, sums)), difference, None);
    if is_due {
        (book.audit.hour, book.audit.is_off) = (hour, is_off);
        write(step, standing, sums, difference, why);
    }
}

fn write(step: &mut Step<'_>, standing: Standing, sums: Sums, difference: Option<Decimal>, why: &'static str) {
    let book = &mut step.guard.book;
    let opening = book.account.opening();
    let extremes = book.audit.extremes.take();
    let kept = Extremes::from(standing.equity.saturating_sub(sums.transfers));
    (book.audit.extremes, book.audit.written) = (Some(kept), Some((standing.at_ms, sums)));
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
        highest: extremes.map(|extremes| extremes.highest),
        lowest: extremes.map(|extremes| extremes.lowest),
        worst_fall: extremes.map(|extremes| extremes.worst_fall),
    });
}

/// The last word of a life: the account as it was read last, where it was ever compared.
pub(super) fn end(step: &mut Step<'_>) {
    if step.guard.book.audit.last.is_none() {
        return;
    }
    drop_it(step);
    step.guard.book.audit.looked_ms = 0;
    look(step);
    let Some(Candidate { standing, .. }) = step.guard.book.audit.candidate.take() else { return };
    let book = &mut step.guard.book;
    let (Some(difference), Some(sums)) = (book.account.compare(standing), book.account.sums_at(standing.at_ms)) else {
        return;
    };
    book.account.settle(standing.at_ms);
    let equity = standing.equity.saturating_sub(sums.transfers);
    book.audit.extremes.get_or_insert(Extremes::from(equity)).add(equity);
    if differs(difference) {
        write(step, standing, sums, None, "the end came before the last rows were read");
    } else {
        write(step, standing, sums, Some(difference), "");
    }
}

/// A book whose equity cannot be read has nothing to compare; that is written down as often as the sum.
pub(super) fn note_unread(step: &mut Step<'_>) {
    let guard = &mut *step.guard;
    let Some(account) = guard.view.account.as_ref().filter(|_| guard.risk.unvalued.is_some()) else { return };
    let at_ms = account.venue_ms;
    let hour = at_ms.checked_div(HOUR_MS);
    let book = &mut guard.book;
    if book.fill_reads.read_ms.is_none() || book.audit.hour == hour {
        return;
    }
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
