//! The audit: what the book says that the equity is, beside what was read. A row may be late, so what does not add up is told
//! once everything was read again, and then once.

use crate::base::amount::to_wire;
use crate::base::moment::utc;
use crate::guard::effects::{Command, Read};
use crate::guard::flow::book::reads::LAGS_MS;
use crate::guard::flow::book::written::{HOUR_MS, write, write_measured};
use crate::guard::flow::step_context::Step;
use crate::guard::state::book::Book;
use crate::guard::state::book::audit::{Candidate, Extremes};
use crate::guard::state::book::sums::{Standing, differs};
use crate::guard::state::book::unexplained::Stretch;
use crate::record::events::Trouble;
use crate::venue::info::{AccountMode, MarginMode};
use rust_decimal::{Decimal, dec};

/// A row that the feed tells of comes so long after the account shows it.
const FEED_MS: u64 = 2_000;
/// Everything is read so often for what does not add up, after this pause and at last after as long as a row may be late.
const TRIES: u32 = 3;
const TRY_AGAIN_MS: u64 = 10_000;
/// So often at most, where what it is off by is another amount each time.
const MOST_TRIES: u32 = 12;
/// Reads of the ledger for this are so far apart.
const LEDGER_APART_MS: u64 = 10_000;
/// What the two answers of a unified account can be apart by, in parts of what is held: in the part of a second between them a price
/// that trends moves by a basis point or two, and each read then is off by about the same.
const PRICES_APART: Decimal = dec!(0.0002);
/// No price moves so far between the two answers, in parts of what is held, at each of several reads over a minute, and to the same
/// side: what is off by more at all of them is a row, also where it grows from one to the next.
const NO_PRICE: Decimal = dec!(0.005);
const CHANGED: &str = "the account's mode changed";
const FOREIGN: &str = "a fill of another purse moved the balance";
const ELSEWHERE: &str = "what is held in another dex moves the balance with its price";
const MOMENTS: &str = "the balance and what is held were read at two moments";
const NO_MODE: &str = "the account's mode when the book began is not known";
/// Sums of rows that came are written down before the hour is over: the first one at once, the next ones this far apart.
const MOVED_APART_MS: u64 = 60_000;

/// Takes in an account read, and does what is due.
pub(super) fn run(step: &mut Step<'_>) {
    look(step);
    let Some(candidate) = step.guard.book.audit.candidate else { return };
    // A read of before the mode changed is of another purse: nothing is compared with it.
    if step.guard.risk.sure_mode() != Some(candidate.mode) {
        return drop_it(step);
    }
    if step.guard.book.is_looking_elsewhere(Some(candidate.mode)) {
        return drop_it(step);
    }
    if candidate.mode != step.guard.book.audit.mode.unwrap_or(candidate.mode) {
        open(step, &candidate);
        return compared(step, &candidate, None, CHANGED);
    }
    if step.guard.book.account.opening().is_none() {
        // What came while nobody watched is read first: one that was read by then will do, for rows are of later or are not.
        let book = &step.guard.book;
        let is_caught_up = book.fill_reads.read_ms.is_some() && book.funding_reads.read_ms.is_some();
        if is_caught_up {
            open_with_newest(step, candidate);
        }
        return;
    }
    if candidate.mode == AccountMode::Unified && step.guard.book.chains.holds_elsewhere() {
        return not_comparable(step, &candidate);
    }
    match step.guard.book.account.compare(candidate.standing) {
        None => drop_it(step),
        Some(difference) if !differs(difference) => {
            let is_caught_up = step.guard.book.fill_reads.read_ms.is_some();
            if is_caught_up { compared(step, &candidate, Some(difference), "") } else { drop_it(step) }
        }
        Some(difference) => match adds_up_by_now(step, &candidate) {
            Some((newest, difference)) => compared(step, &newest, Some(difference), ""),
            None => explain(step, candidate, difference),
        },
    }
}

/// Takes the newest read of the account, where none waits.
fn look(step: &mut Step<'_>) {
    if step.guard.book.audit.candidate.is_some() {
        return;
    }
    if let Some(newest) = newest(step).filter(|newest| newest.standing.at_ms > step.guard.book.audit.looked_ms) {
        let audit = &mut step.guard.book.audit;
        (audit.looked_ms, audit.candidate) = (newest.standing.at_ms, Some(newest));
    }
}

/// The newest read of the account.
fn newest(step: &Step<'_>) -> Option<Candidate> {
    let mode = step.guard.risk.sure_mode()?;
    let account = step.guard.view.account.as_ref().filter(|account| account.is_valued())?;
    let held = account.positions.values().chain(account.unknown.values());
    let unrealised = held.fold(Decimal::ZERO, |sum, position| sum.saturating_add(position.unrealized_pnl));
    let held = account.positions.values().chain(account.unknown.values());
    let notional = held.fold(Decimal::ZERO, |sum, position| sum.saturating_add(position.position_value.abs()));
    let mut known = account.positions.values();
    Some(Candidate {
        standing: Standing { at_ms: account.venue_ms, equity: account.equity, unrealised },
        taken_ms: step.now_ms,
        mode,
        is_flat: account.is_flat(),
        is_cross: account.unknown.is_empty() && known.all(|position| position.leverage.mode == MarginMode::Cross),
        notional,
        rows_from_ms: account.begun_ms,
        tries: 0,
        off_by: None,
        is_steady: true,
        least: None,
    })
}

/// One read can be wrong. A unified account is read by two answers, the balance and what is held, at prices of two moments, and with
/// rows between them or not. So a later read that adds up proves the book. Of any other account rows there and back may be hidden
/// then: they are looked for.
fn adds_up_by_now(step: &mut Step<'_>, candidate: &Candidate) -> Option<(Candidate, Decimal)> {
    let is_caught_up = step.guard.book.fill_reads.read_ms.is_some();
    let newest = newest(step).filter(|newest| is_caught_up && newest.mode == candidate.mode)?;
    let audit = &mut step.guard.book.audit;
    if newest.standing.at_ms <= audit.looked_ms {
        return None;
    }
    audit.looked_ms = newest.standing.at_ms;
    let book = &mut step.guard.book;
    let difference = book.account.compare(newest.standing).filter(|difference| !differs(*difference))?;
    if candidate.mode != AccountMode::Unified {
        let stretch = stretch(book, candidate, step.now_ms);
        book.unexplained.add(stretch);
    }
    Some((newest, difference))
}

/// The next read is looked at.
fn drop_it(step: &mut Step<'_>) {
    step.guard.book.audit.candidate = None;
}

/// What a unified account holds in another dex moves its balance by its price alone, of which no row tells: nothing that it is off by
/// shows that one is missing. That is written down each hour, until it is closed.
fn not_comparable(step: &mut Step<'_>, candidate: &Candidate) {
    let Standing { at_ms, equity, .. } = candidate.standing;
    let audit = &mut step.guard.book.audit;
    let is_due = audit.hour != at_ms.checked_div(HOUR_MS) || audit.difference.is_some();
    match step.guard.book.account.sums_at(at_ms) {
        Some(_) if is_due => return compared(step, candidate, None, ELSEWHERE),
        Some(sums) => {
            let equity = equity.saturating_sub(sums.transfers);
            audit.extremes.get_or_insert(Extremes::from(equity)).add(equity);
        }
        None => {}
    }
    drop_it(step);
}

/// The sum begins with the account as it was read last.
fn open_with_newest(step: &mut Step<'_>, candidate: Candidate) {
    let newest = newest(step).unwrap_or(candidate);
    step.guard.book.audit.looked_ms = newest.standing.at_ms;
    open(step, &newest);
    compared(step, &newest, Some(Decimal::ZERO), "");
}

fn open(step: &mut Step<'_>, candidate: &Candidate) {
    write_measured(step);
    let now_ms = step.now_ms;
    let book = &mut step.guard.book;
    book.open(candidate.standing, now_ms);
    book.audit.begin(Some(candidate.mode));
}

/// It does not add up: the rows may be late. They are read, the likely ones first; what nothing explains is told.
fn explain(step: &mut Step<'_>, candidate: Candidate, difference: Decimal) {
    let now_ms = step.now_ms;
    let guard = &mut *step.guard;
    let has_feed = guard.feed.is_trusted(now_ms) && guard.feed.tells_account();
    if has_feed && now_ms.saturating_sub(candidate.taken_ms) < FEED_MS || now_ms < candidate.rows_from_ms {
        return;
    }
    let since_ms = guard.risk.ledger_since_ms(&guard.clock);
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
    let is_same = candidate.off_by.is_some_and(|off_by| !differs(difference.saturating_sub(off_by)));
    let candidate = tried(candidate, difference, book.audit.swallowed);
    // A read may be wrong, and a unified account's is of two moments: another one tells whether it is off by the same.
    let is_sure = is_same || candidate.mode == AccountMode::Unified || candidate.tries >= MOST_TRIES;
    if candidate.tries < TRIES || !is_sure {
        let pause_ms = if candidate.tries.saturating_add(1) == TRIES { LAGS_MS } else { TRY_AGAIN_MS };
        let rows_from_ms = now_ms.saturating_add(pause_ms);
        let next = newest(step).unwrap_or(candidate);
        let Candidate { tries, off_by, is_steady, least, .. } = candidate;
        step.guard.book.audit.candidate = Some(Candidate { tries, rows_from_ms, off_by, is_steady, least, ..next });
        return;
    }
    not_explained(step, &candidate, difference);
}

/// All was read once more, and it is off by this.
fn tried(candidate: Candidate, difference: Decimal, swallowed: Decimal) -> Candidate {
    let is_same = |off_by: Decimal| !differs(difference.saturating_sub(off_by));
    let total = difference.saturating_add(swallowed);
    let is_on_one_side = |least: Decimal| least.is_sign_negative() == total.is_sign_negative();
    let least = match candidate.least {
        None => total,
        Some(least) if !is_on_one_side(least) => Decimal::ZERO,
        Some(least) if least.abs() < total.abs() => least,
        Some(_) => total,
    };
    Candidate {
        tries: candidate.tries.saturating_add(1),
        off_by: Some(difference),
        is_steady: candidate.is_steady && candidate.off_by.is_none_or(is_same),
        least: Some(least),
        ..candidate
    }
}

/// All was read, more than once.
fn not_explained(step: &mut Step<'_>, candidate: &Candidate, difference: Decimal) {
    let why = cannot_say(&step.guard.book, candidate, difference);
    let swallowed = step.guard.book.audit.swallowed.saturating_add(difference);
    if why.is_empty() {
        tell(step, candidate, difference);
        compared(step, candidate, Some(difference), "");
    }
    // So that it is told once.
    open(step, candidate);
    if !why.is_empty() {
        compared(step, candidate, None, why);
    }
    if why == MOMENTS {
        step.guard.book.audit.swallowed = swallowed;
    }
}

/// Why nobody can say that a row is missing; empty where one is.
fn cannot_say(book: &Book, candidate: &Candidate, difference: Decimal) -> &'static str {
    let (audit, opening) = (&book.audit, book.account.opening());
    if audit.mode.is_none() {
        return NO_MODE;
    }
    if candidate.mode != AccountMode::Unified {
        return "";
    }
    let was_flat = opening.is_none_or(|opening| opening.unrealised.is_zero());
    let within = |parts: Decimal, off_by: Decimal| off_by.abs() <= candidate.notional.saturating_mul(parts);
    // The opening was of one moment, and reads of different ones are off by the same, and by more than prices are: that is a row.
    let is_proved = audit.is_proved && candidate.is_steady && !within(PRICES_APART, difference);
    let is_no_price = !candidate.is_flat && candidate.least.is_some_and(|least| !within(NO_PRICE, least));
    if difference.abs() <= audit.foreign_usd() {
        FOREIGN
    } else if !(candidate.is_flat && was_flat) && !(candidate.is_cross && (is_proved || is_no_price)) {
        // The balance and what is held are two answers, at prices of two moments.
        MOMENTS
    } else {
        ""
    }
}

/// The time since the last read that was compared, in which something came that no row tells of.
fn stretch(book: &Book, candidate: &Candidate, told_ms: u64) -> Stretch {
    let to_ms = candidate.standing.at_ms;
    let opened_ms = book.account.opening().map_or(to_ms, |opening| opening.at_ms);
    let since_ms = book.audit.last.as_ref().map_or(opened_ms, |(standing, _)| standing.at_ms);
    Stretch { since_ms, to_ms, usdc: None, told_ms }
}

fn tell(step: &mut Step<'_>, candidate: &Candidate, difference: Decimal) {
    let Some(opening) = step.guard.book.account.opening() else { return };
    let swallowed = step.guard.book.audit.swallowed.round_dp(6);
    let before = match swallowed.is_zero() {
        true => String::new(),
        false => format!("; {} more before that was taken for prices", to_wire(swallowed)),
    };
    let text = format!(
        "the book does not add up: the equity {} at {} is {} USDC off the {} of {} with all that was filled, paid and moved \
         since{before}",
        to_wire(candidate.standing.equity),
        utc(candidate.standing.at_ms),
        to_wire(difference.round_dp(6)),
        to_wire(opening.equity),
        utc(opening.at_ms)
    );
    step.record(Trouble::new(&text));
    let book = &mut step.guard.book;
    let stretch = Stretch { usdc: Some(difference), ..stretch(book, candidate, step.now_ms) };
    book.unexplained.add(stretch);
    book.audit.discrepancies = book.audit.discrepancies.saturating_add(1);
}

/// The account was compared: that is written down where it is due.
fn compared(step: &mut Step<'_>, candidate: &Candidate, difference: Option<Decimal>, why: &'static str) {
    let (standing, now_ms) = (candidate.standing, step.now_ms);
    let book = &mut step.guard.book;
    let sums = book.account.sums_at(standing.at_ms).unwrap_or_default();
    book.account.settle(standing.at_ms);
    book.audit.mode = Some(candidate.mode);
    book.audit.compared_ms = now_ms;
    if difference.is_some_and(|difference| !differs(difference)) {
        book.audit.vouch(standing.at_ms);
    }
    let is_later = book.account.opening().is_some_and(|opening| opening.at_ms < standing.at_ms);
    book.audit.is_proved |= is_later && difference.is_some_and(|difference| !differs(difference));
    let equity = standing.equity.saturating_sub(sums.transfers);
    book.audit.extremes.get_or_insert(Extremes::from(equity)).add(equity);
    let hour = standing.at_ms.checked_div(HOUR_MS);
    let is_off = difference.is_none_or(differs);
    let has_room = book.audit.moved_ms.is_none_or(|at_ms| standing.at_ms.saturating_sub(at_ms) >= MOVED_APART_MS);
    let is_moved = has_room && book.audit.hour.is_some() && book.audit.has_rows_by(standing.at_ms);
    let is_due = book.audit.hour != hour || is_off || book.audit.is_off || is_moved || !why.is_empty();
    (book.audit.last, book.audit.difference, book.audit.candidate) = (Some((standing, sums)), difference, None);
    if is_due {
        (book.audit.hour, book.audit.is_off) = (hour, is_off);
        book.audit.moved_ms = is_moved.then_some(standing.at_ms).or(book.audit.moved_ms);
        write(step, standing, sums, difference, why);
    }
}

/// The last word of a life: the account as it was read last. Where there is no sum yet it begins there, so that the next life
/// has all that comes after.
pub(super) fn end(step: &mut Step<'_>) {
    drop_it(step);
    step.guard.book.audit.looked_ms = 0;
    look(step);
    let Some(candidate) = step.guard.book.audit.candidate.take() else { return };
    let (standing, book) = (candidate.standing, &mut step.guard.book);
    if candidate.mode != book.audit.mode.unwrap_or(candidate.mode) || book.is_looking_elsewhere(Some(candidate.mode)) {
        return;
    }
    if book.account.opening().is_none() {
        return open_with_newest(step, candidate);
    }
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
