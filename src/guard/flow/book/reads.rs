//! The book's reads: seldom, after everything else, and a page at a time.

use crate::base::amount::to_wire;
use crate::base::ip_share::IP_BUDGET;
use crate::base::moment::utc;
use crate::guard::effects::{Command, Read};
use crate::guard::flow::book::rows::{self, Told};
use crate::guard::flow::step_context::Step;
use crate::guard::state::book::unexplained::looked;
use crate::guard::state::guard::Guard;
use crate::record::events::Trouble;
use crate::record::lack::Lack;
use crate::venue::fill::Fill;
use crate::venue::history::{FILLS_A_PAGE, FILLS_DEPTH, FUNDINGS_A_PAGE, Page, Unread};
use crate::venue::info::LedgerUpdate;
use crate::venue::stream::events::Funding;

/// Reads of the same are so far apart with the whole budget, and further with less.
const APART_MS: u64 = 10_000;
/// Fills are read so often where no feed tells of them, and where one does.
const FILLS_MS: u64 = 60_000;
const FILLS_WITH_FEED_MS: u64 = 600_000;
/// Funding is paid each hour, and is read so long after.
const FUNDINGS_MS: u64 = 3_600_000;
const PAID_BY_MS: u64 = 60_000;
/// An answer may lack what has happened so shortly before it.
pub(super) const LAGS_MS: u64 = 60_000;
/// So many reads look for a fill that is missing.
const TRIES: u32 = 3;
const TRY_AGAIN_MS: u64 = 10_000;

/// Asks for what is due.
pub(super) fn ask(step: &mut Step<'_>) {
    let now_ms = step.now_ms;
    want_due(step.guard, now_ms);
    if step.guard.journal_error.is_some() || step.guard.is_disk_full || step.guard.shutdown_reason.is_some() {
        return;
    }
    look_for_late(step);
    let share = u64::from(IP_BUDGET).checked_div(u64::from(step.guard.config.weight_per_minute)).unwrap_or(1).max(1);
    let apart_ms = APART_MS.saturating_mul(share);
    let mode = step.guard.risk.mode;
    let book = &mut step.guard.book;
    if book.fill_reads.begin(now_ms, apart_ms) {
        let since_ms = book.chains.look_from_ms(book.fills.read_ms());
        let since_ms = since_ms.min(book.unexplained.fills_ms.unwrap_or(since_ms));
        let since_ms = book.since_with_elsewhere(mode, since_ms, book.elsewhere.fills_ms);
        let is_for_cover = book.fill_reads.is_for_cover;
        step.effects.immediate.push(Command::Read(Read::BookFills { since_ms, is_for_cover }));
    }
    let book = &mut step.guard.book;
    if book.funding_reads.begin(now_ms, apart_ms) {
        let since_ms = book.fundings.read_ms();
        let since_ms = since_ms.min(book.unexplained.fundings_ms.unwrap_or(since_ms));
        let since_ms = book.since_with_elsewhere(mode, since_ms, book.elsewhere.fundings_ms);
        step.effects.immediate.push(Command::Read(Read::Fundings { since_ms }));
    }
}

/// Has all read again that may explain what did not add up.
fn look_for_late(step: &mut Step<'_>) {
    let (now_ms, guard) = (step.now_ms, &mut *step.guard);
    if guard.book.unexplained.look(now_ms) {
        let since_ms = guard.risk.ledger_since_ms(&guard.clock);
        let since_ms = since_ms.min(guard.book.unexplained.since_ms().unwrap_or(since_ms));
        guard.book.fill_reads.want_once(now_ms);
        guard.book.funding_reads.want_once(now_ms);
        step.effects.immediate.push(Command::Read(Read::LedgerSoon { since_ms }));
    }
}

/// Wants what was not read for too long, and what could not be written before.
fn want_due(guard: &mut Guard, now_ms: u64) {
    let has_feed = guard.feed.is_trusted(now_ms) && guard.feed.tells_account();
    let fills_ms = if has_feed { FILLS_WITH_FEED_MS } else { FILLS_MS };
    let mode = guard.risk.mode;
    let book = &mut guard.book;
    let is_well = guard.journal_error.is_none() && !guard.is_disk_full;
    let is_behind = is_well && std::mem::take(&mut book.is_behind);
    let is_old =
        |read_ms: Option<u64>, every_ms: u64| read_ms.is_none_or(|at_ms| now_ms.saturating_sub(at_ms) >= every_ms);
    let is_due = is_old(book.fill_reads.read_ms, fills_ms) || book.fill_reads.is_second_due(now_ms);
    if is_behind || is_due && !book.fill_reads.is_open(now_ms) {
        book.fill_reads.want(now_ms);
    }
    if book.is_looking_elsewhere(mode) {
        book.fill_reads.want_once(now_ms);
        book.funding_reads.want_once(now_ms);
    }
    // An hour's payments are read once they surely show.
    let hour = |at_ms: u64| at_ms.saturating_sub(PAID_BY_MS).checked_div(FUNDINGS_MS);
    let is_new_hour = book.funding_reads.read_ms.is_none_or(|read_ms| hour(read_ms) < hour(now_ms));
    let is_due = is_new_hour || book.funding_reads.is_second_due(now_ms);
    if is_behind || is_due && !book.funding_reads.is_open(now_ms) {
        book.funding_reads.want(now_ms);
    }
}

/// What an answer shows apart from its rows.
struct Shown {
    /// Of the newest row, UTC ms; where there is none, the time asked for.
    newest_ms: u64,
    /// What of it is not for the book; empty where all of it is.
    text: String,
    /// Of when rows are missing for it.
    lacks: Option<Lack>,
    /// Whether it can be all that there is: no answer with a row of a time to come is.
    is_believed: bool,
}

fn shown<T>(step: &Step<'_>, page: &Page<T>, since_ms: u64, time_of: fn(&T) -> u64, kind: &str) -> Shown {
    let latest_ms = rows::latest_ms(step.guard);
    let times = || page.rows.iter().map(time_of).chain(page.unread.iter().filter_map(|row| row.time));
    let newest_ms = times().filter(|time_ms| *time_ms <= latest_ms).max().unwrap_or(since_ms);
    let ahead_ms = times().filter(|time_ms| *time_ms > latest_ms).max();
    let ahead = ahead_ms.map(|ahead_ms| ahead_text(kind, ahead_ms));
    let unread = page.unread.first().map(|first| unread_text(kind, first, page.unread.len()));
    let text = ahead.into_iter().chain(unread).collect::<Vec<_>>().join("; ");
    let lacks = Some(&page.unread).filter(|unread| !unread.is_empty());
    Shown { newest_ms, text, lacks: lacks.map(|unread| lack_of(unread)), is_believed: ahead_ms.is_none() }
}

fn ahead_text(kind: &str, ahead_ms: u64) -> String {
    format!("{kind} has a row of {}, which is a time to come: what is of such a time is not in the book", utc(ahead_ms))
}

fn unread_text(kind: &str, first: &Unread, count: usize) -> String {
    format!(
        "{} of {kind} cannot be read and may be missing in the book; the first, of {}: {}",
        if count == 1 { "a row".to_owned() } else { format!("{count} rows") },
        first.time.map_or_else(|| "an unknown time".to_owned(), utc),
        first.why
    )
}

fn lack_of(unread: &[Unread]) -> Lack {
    let is_dated = unread.iter().all(|row| row.time.is_some());
    let times = || unread.iter().filter_map(|row| row.time).filter(|_| is_dated);
    Lack::between(times().min(), times().max())
}

const LEDGER: &str = "userNonFundingLedgerUpdates";

/// Tells of an entry of the ledger that is of a time to come: once, as long as it is the same.
pub(crate) fn on_ledger_ahead(step: &mut Step<'_>, updates: &[LedgerUpdate]) {
    let latest_ms = rows::latest_ms(step.guard);
    let Some(ahead) = updates.iter().find(|update| update.time > latest_ms) else { return };
    let text = ahead_text(LEDGER, ahead.time);
    if step.guard.book.is_ledger_news(&text) {
        tell(step, &text, None);
    }
}

/// Tells of entries of the ledger that are not in the book: once, as long as they are the same.
pub(crate) fn on_ledger_lacks(step: &mut Step<'_>, unread: &[Unread], cut: Option<(u64, u64)>) {
    let unread = unread.first().map(|first| (unread_text(LEDGER, first, unread.len()), lack_of(unread)));
    let cut = cut.map(|(from_ms, to_ms)| {
        let text = format!(
            "{LEDGER} has more entries than are read at once: those between {} and {} may be missing in the book, \
             and count as profit or loss",
            utc(from_ms),
            utc(to_ms)
        );
        (text, Lack::between(Some(from_ms), Some(to_ms)))
    });
    for (text, lacks) in unread.into_iter().chain(cut) {
        if step.guard.book.is_ledger_news(&text) {
            tell(step, &text, Some(lacks));
        }
    }
}

/// Takes in fills from `since_ms` on, the oldest ones where they are too many for one answer.
pub(crate) fn on_fills_page(step: &mut Step<'_>, page: Page<Fill>, since_ms: u64, begun_ms: u64) {
    let shown = shown(step, &page, since_ms, |fill| fill.time, "userFillsByTime");
    let Shown { newest_ms, text, lacks, is_believed } = shown;
    let is_more = page.count() >= FILLS_A_PAGE;
    let fills = page.rows;
    let (count, first_ms) = (fills.len(), fills.iter().map(|fill| fill.time).min());
    let is_first = !step.guard.book.fill_reads.is_paging;
    let is_new = |fill: &Fill| !step.guard.book.fills.is_known(&fill.id());
    let new = fills.iter().filter(|fill| is_new(fill)).count();
    // The feed may have told of the newest ones first; only the moment that two pages share is shown twice.
    let shown_now = fills.iter().filter(|fill| fill.time > since_ms || is_new(fill)).count();
    if step.guard.book.fill_reads.is_news(&text) {
        tell(step, &text, lacks);
    }
    if is_believed {
        step.guard.book.fill_reads.on_answer(begun_ms, shown_now, is_more);
    } else {
        let now_ms = step.now_ms;
        step.guard.book.fill_reads.on_doubt(now_ms);
    }
    let up_to_ms = if is_more { newest_ms } else { u64::MAX };
    if is_believed {
        step.guard.book.look_at_fills(&fills, since_ms, up_to_ms.max(since_ms.saturating_add(1)));
    }
    let since_ms = step.guard.book.since_begin(since_ms);
    let take_in = if is_more { rows::on_fills_read } else { rows::on_newest_read };
    take_in(step, fills.clone());
    if step.guard.book.is_behind || !is_believed {
        return;
    }
    step.guard.book.chains.show(&fills, since_ms, up_to_ms);
    if is_first && is_more {
        step.guard.book.oldest_shown =
            first_ms.filter(|first_ms| new == count && *first_ms > since_ms).map(|ms| (since_ms, ms));
    }
    tell_depth(step);
    let read_ms = if is_more { newest_ms } else { shown_ms(step, begun_ms) };
    // Where one moment fills a page nothing of it can be paged further, and no page is read twice for rows of before it.
    let is_stuck = is_more && newest_ms <= since_ms;
    let read_ms = if is_stuck { since_ms.saturating_add(1) } else { read_ms };
    if is_stuck {
        tell_moment(step, (FILLS_A_PAGE, "fills"), since_ms);
    }
    let book = &mut step.guard.book;
    let (looked_ms, keep_ms) = (if is_more { read_ms } else { u64::MAX }, book.keep_ms());
    book.chains.looked(since_ms, looked_ms);
    looked(&mut book.unexplained.fills_ms, since_ms, looked_ms, book.fills.read_ms());
    if is_more {
        book.fills.read_up_to(read_ms, keep_ms);
        book.fill_reads.want(step.now_ms);
    } else {
        let missing_ms = book.chains.missing_since_ms().unwrap_or(u64::MAX);
        let twice_ms = book.fill_reads.shown_twice_ms(read_ms);
        twice_ms.into_iter().for_each(|twice_ms| book.fills.read_up_to(twice_ms.min(missing_ms), keep_ms));
        look_for_missing(step, begun_ms);
    }
}

/// Of one moment the venue shows a page and no more: that is told once, however often it is looked through.
fn tell_moment(step: &mut Step<'_>, (page, rows): (usize, &str), at_ms: u64) {
    let text = format!(
        "there may be more than {page} {rows} of {}, and the venue shows no more of one moment: the others are \
         missing in the book",
        utc(at_ms)
    );
    tell(step, &text, Some(Lack::between(Some(at_ms), Some(at_ms))));
}

/// The venue shows its last fills alone: where the first ones of a long absence are not among them, that is told.
fn tell_depth(step: &mut Step<'_>) {
    let book = &mut step.guard.book;
    if book.fill_reads.shown < FILLS_DEPTH {
        return;
    }
    if let Some((since_ms, first_ms)) = book.oldest_shown.take() {
        let text = format!(
            "the venue shows the last {FILLS_DEPTH} fills alone: what was traded between {} and {} \
             may be missing in the book",
            utc(since_ms),
            utc(first_ms)
        );
        tell(step, &text, Some(Lack::between(Some(since_ms), Some(first_ms))));
    }
}

/// Reads again for what is missing, and tells of what no read has shown.
fn look_for_missing(step: &mut Step<'_>, begun_ms: u64) {
    let now_ms = step.now_ms;
    let gaps = std::mem::take(&mut step.guard.book.chains.gaps);
    for mut gap in gaps {
        gap.reads = gap.reads.saturating_add(u32::from(begun_ms >= gap.found_ms));
        if gap.reads >= TRIES {
            let text = format!(
                "fills in {} between {} and {} are missing: the position went from {} to {} and the venue shows none",
                gap.coin,
                utc(gap.from_ms),
                utc(gap.to_ms),
                to_wire(gap.from),
                to_wire(gap.to)
            );
            let (coin, size) = (Some(gap.coin.clone()), Some(gap.left()));
            tell(step, &text, Some(Lack { coin, size, ..Lack::between(Some(gap.from_ms), Some(gap.to_ms)) }));
        } else {
            step.guard.book.chains.gaps.push(gap);
            step.guard.book.fill_reads.want(now_ms.saturating_add(TRY_AGAIN_MS));
        }
    }
}

/// Tells of something that the book lacks, once in a day.
fn tell(step: &mut Step<'_>, text: &str, lacks: Option<Lack>) {
    let now_ms = step.now_ms;
    if step.guard.book.told.has(text, now_ms) {
        return;
    }
    step.record(Trouble { text: text.into(), lacks: lacks.clone() });
    step.guard.book.told.add(text, lacks, now_ms);
}

/// Takes in payments of funding from `since_ms` on.
pub(crate) fn on_fundings_page(step: &mut Step<'_>, page: &Page<Funding>, since_ms: u64, begun_ms: u64) {
    let Shown { newest_ms, text, lacks, is_believed } = shown(step, page, since_ms, |row| row.time, "userFunding");
    let is_more = page.count() >= FUNDINGS_A_PAGE;
    if step.guard.book.funding_reads.is_news(&text) {
        tell(step, &text, lacks);
    }
    if is_believed {
        step.guard.book.funding_reads.on_answer(begun_ms, page.rows.len(), is_more);
    } else {
        let now_ms = step.now_ms;
        step.guard.book.funding_reads.on_doubt(now_ms);
    }
    if is_believed {
        let up_to_ms = if is_more { newest_ms } else { u64::MAX };
        step.guard.book.look_at_fundings(&page.rows, since_ms, up_to_ms);
    }
    rows::on_fundings_told(step, &page.rows, Told::Later);
    if step.guard.book.is_behind || !is_believed {
        return;
    }
    let is_stuck = is_more && newest_ms <= since_ms;
    if is_stuck {
        tell_moment(step, (FUNDINGS_A_PAGE, "payments of funding"), since_ms);
    }
    let read_ms = match is_more {
        true if is_stuck => since_ms.saturating_add(1),
        true => newest_ms,
        false => shown_ms(step, begun_ms),
    };
    let book = &mut step.guard.book;
    let (looked_ms, keep_ms) = (if is_more { read_ms } else { u64::MAX }, book.keep_ms());
    looked(&mut book.unexplained.fundings_ms, since_ms, looked_ms, book.fundings.read_ms());
    if is_more {
        book.fundings.read_up_to(read_ms, keep_ms);
        book.funding_reads.want(step.now_ms);
    } else {
        let twice_ms = book.funding_reads.shown_twice_ms(read_ms);
        twice_ms.into_iter().for_each(|twice_ms| book.fundings.read_up_to(twice_ms, keep_ms));
    }
}

/// The venue's time up to which an answer to a question of then shows everything.
fn shown_ms(step: &Step<'_>, begun_ms: u64) -> u64 {
    let ago_ms = step.now_ms.saturating_sub(begun_ms);
    step.guard.clock.earliest_ms().saturating_sub(ago_ms).saturating_sub(LAGS_MS)
}
