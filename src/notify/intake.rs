//! One look at the guard taken in: its events in order, those that are gone from its memory from the journal, then its status.

use std::sync::atomic::Ordering;

use super::follow::Followed;
use super::guard_look::{GuardLook, Look};
use super::office::Office;
use super::shared::Shared;
use super::watch::{Due, Report, Seen};
use crate::base::clock::{steady_ms, wall_ms};
use crate::base::sync::lock;
use crate::faults::Step;
use crate::record::event::Event;
use crate::record::event_page::EventPage;

/// Events read from the journal for one gap; more are read at the next look.
const MAX_PAST: usize = 20_000;

/// The lines of a guard's journal (its mode and account) behind an event, oldest first, as many as are asked for at most; and why
/// those that are not among them are not, for people: which folder was read, or what keeps it from being read.
pub type Past = Box<dyn Fn(&str, u64, usize) -> (Vec<String>, String)>;

/// Looks at a guard that is gone at which its journal is read: its last words stand there, and are written as it goes.
const LAST_WORDS: u32 = 6;

/// Where looks are taken in from, beside the guard itself.
pub(super) struct Intake {
    pub(super) past: Past,
    /// The home of the guard that is meant, unless its URL was named.
    pub(super) own: Option<Followed>,
    /// The minute of the day of the summary.
    pub(super) summary: Option<u64>,
    /// Looks at which the guard was gone, one after another.
    pub(super) away: u32,
    /// When the last question of the look before was asked, where no answer came.
    pub(super) unanswered_ms: Option<u64>,
}

impl Intake {
    /// The answers of the guard that is meant, and when they were there.
    fn ask(&mut self, guard: &GuardLook, cursor: Option<u64>) -> (Look, u64) {
        let looked = guard.look(cursor);
        let known_ms = steady_ms();
        let of_own = match &mut self.own {
            Some(own) => own.of_own(guard.url(), looked),
            None => looked,
        };
        (of_own, known_ms)
    }
}

/// Looks at the guard once and files what is worth telling. Says whether the next look may wait.
pub(super) fn look(guard: &GuardLook, shared: &Shared, intake: &mut Intake) -> bool {
    let asked_ms = steady_ms();
    let (before, mark, journal) = {
        let office = lock(&shared.office);
        (office.watch.cursor, office.watch.mark, office.watch.guard.journal())
    };
    let (Look { seen, status, page }, known_ms) = intake.ask(guard, before);
    let unanswered_ms = intake.unanswered_ms.take().filter(|_| seen.is_away());
    let asked_ms = unanswered_ms.unwrap_or(asked_ms);
    shared.pass(Step::NotifyLooked);
    intake.away = if seen.is_away() { intake.away.saturating_add(1) } else { 0 };
    let is_another = status.as_ref().is_some_and(|status| lock(&shared.office).is_another(status, wall_ms()));
    let cursor = before.filter(|_| !is_another);
    let is_changed = page.as_ref().zip(cursor).is_some_and(|(page, cursor)| is_changed(guard, page, cursor, mark));
    let past = |after: u64| (intake.past)(&journal, after, MAX_PAST);
    let (mut events, mut is_whole, not_there) = match page.as_ref().zip(cursor) {
        Some((page, cursor)) if !is_changed => gap(page, cursor, &past),
        _ => (Vec::new(), !is_changed, String::new()),
    };
    if let Some(cursor) = cursor.filter(|_| (1..=LAST_WORDS).contains(&intake.away)) {
        events = past(cursor).0.iter().filter_map(|line| Event::parse(line)).collect();
    }
    shared.pulse.guard(seen == Seen::Well);
    let summary = summary(guard, shared, intake, &seen);
    let now = wall_ms();
    let mut office = lock(&shared.office);
    office.watch.not_in_journal = not_there;
    if let Some(page) = &page {
        match office.watch.cursor {
            None => office.watch.cursor = Some(page.last.unwrap_or(0)),
            // What it holds from there on is asked for at once.
            Some(_) if is_changed => {
                office.begin_anew(now);
                office.watch.begin_anew((page.oldest.unwrap_or(1), page.last.unwrap_or(0)), now);
            }
            Some(_) => {}
        }
        // What comes behind a gap that is not closed yet waits for it.
        events.extend(page.events.iter().filter(|_| is_whole).cloned());
        is_whole &= cursor.is_none_or(|cursor| is_last(page, cursor));
    }
    let (mut is_news, has_room) = take_in(&mut office, &events);
    // What a status shows has its events among those that were taken in.
    if let Some(status) = status.as_ref().filter(|_| is_whole && has_room) {
        office.watch.status(status);
    }
    let is_away = seen.is_away();
    office.watch.seen(&seen, (asked_ms, known_ms), now);
    if let Some((due, book)) = summary {
        office.watch.summarise(status.as_ref(), due, book.as_ref().map_err(String::as_str), now);
    }
    is_news |= office.file();
    let is_moved = office.watch.cursor != before;
    drop(office);
    let past = |after: u64| (intake.past)(&journal, after, MAX_PAST);
    let Later { is_more, is_news: is_news_of_later, unanswered_ms } = later(guard, shared, is_away, &past);
    intake.unanswered_ms = intake.unanswered_ms.or(unanswered_ms);
    is_news |= is_news_of_later;
    if is_news || is_moved || is_more {
        shared.is_dirty.store(true, Ordering::Relaxed);
    }
    if is_news {
        shared.pass(Step::NotifyFiled);
    }
    shared.news.notify_all();
    !is_more && (is_whole || !has_room)
}

/// Files what was noticed, and takes events in. Says whether there was anything, and whether all of them found room.
fn take_in(office: &mut Office, events: &[Event<'_>]) -> (bool, bool) {
    let mut is_news = office.file();
    for event in events {
        // What targets are too slow for waits where it is, in the guard's journal.
        if office.is_full() {
            return (is_news, false);
        }
        is_news |= office.event(event);
    }
    (is_news, true)
}

/// What became of the events whose notices wait in the guard's journal.
#[derive(Default)]
struct Later {
    /// Some were taken in, and more may be.
    is_more: bool,
    is_news: bool,
    /// When the guard was asked for them, where no answer came.
    unanswered_ms: Option<u64>,
}

/// Takes in events whose notices waited in the guard's journal, once there is room for these.
fn later(guard: &GuardLook, shared: &Shared, is_away: bool, past: &dyn Fn(u64) -> (Vec<String>, String)) -> Later {
    let Some(cursor) = lock(&shared.office).later() else { return Later::default() };
    let asked_ms = steady_ms();
    let (events, not_there) = if is_away {
        let (lines, not_there) = past(cursor);
        (lines.iter().filter_map(|line| Event::parse(line)).collect(), not_there)
    } else {
        match guard.page(cursor) {
            Ok(page) => {
                let (mut events, is_whole, not_there) = gap(&page, cursor, past);
                events.extend(page.events.into_iter().filter(|_| is_whole));
                (events, not_there)
            }
            Err(miss) => return Later { unanswered_ms: miss.is_silent.then_some(asked_ms), ..Later::default() },
        }
    };
    let (is_more, is_news) = lock(&shared.office).event_later(&events, not_there, wall_ms());
    Later { is_more, is_news, unanswered_ms: None }
}

/// The summary whose minute has come, with the book of its days: asked for before the state is held, since the guard reads its
/// journal for it.
fn summary(
    guard: &GuardLook,
    shared: &Shared,
    intake: &mut Intake,
    seen: &Seen,
) -> Option<(Due, Result<Report, String>)> {
    let due = {
        let mut office = lock(&shared.office);
        let clock = office.clock();
        office.watch.summary_due(clock, intake.summary?, wall_ms())?
    };
    let book = match seen {
        Seen::Away(_) | Seen::Taken { .. } => Err("the guard does not answer".to_owned()),
        Seen::Well | Seen::Unwell(_) => {
            let asked_ms = steady_ms();
            guard.report(due.from, due.to).map_err(|miss| {
                // A guard that fell silent meanwhile has been so since then.
                intake.unanswered_ms = miss.is_silent.then_some(asked_ms);
                miss.why
            })
        }
    };
    Some((due, book))
}

/// Whether the place is in another journal than the page: that one ends before it, or has another event there.
fn is_changed(guard: &GuardLook, page: &EventPage<Event<'static>>, cursor: u64, mark: Option<(u64, u64)>) -> bool {
    if page.last.is_some_and(|last| last < cursor) {
        return true;
    }
    let is_kept = !page.events.is_empty() && page.oldest.is_some_and(|oldest| oldest <= cursor);
    let Some(mark) = mark.filter(|(seq, _)| is_kept && *seq == cursor) else { return false };
    guard.first_behind(cursor.saturating_sub(1)).is_some_and(|found| found != mark)
}

/// Whether a page holds all that there is: the guard cuts one at a number of events and at a size.
fn is_last(page: &EventPage<Event<'static>>, cursor: u64) -> bool {
    let Some(end) = page.events.last().map(|event| event.seq).filter(|end| *end > cursor) else { return true };
    page.last.is_none_or(|last| last <= end)
}

/// The events between the place and the page, from the journal; whether those are all of them that can be had, and why others
/// are not there.
fn gap(
    page: &EventPage<Event<'static>>,
    cursor: u64,
    past: &dyn Fn(u64) -> (Vec<String>, String),
) -> (Vec<Event<'static>>, bool, String) {
    let Some(first) = page.events.first().map(|event| event.seq).filter(|first| *first > cursor.saturating_add(1))
    else {
        return (Vec::new(), true, String::new());
    };
    let (lines, not_there) = past(cursor);
    let is_full = lines.len() >= MAX_PAST;
    let events = lines.iter().filter_map(|line| Event::parse(line));
    let events: Vec<_> = events.filter(|event| event.seq > cursor && event.seq < first).collect();
    let reaches = events.last().is_none_or(|last| last.seq.saturating_add(1) >= first);
    let is_whole = !is_full || events.len() < lines.len() || reaches;
    (events, is_whole, not_there)
}
