//! Which rows of the book stand in a sum that was compared with the account, and which do not. No figure may enter here.

use std::collections::VecDeque;

use super::sum::Sum;
use crate::base::moment::iso;
use crate::record::money::Balance;
use rust_decimal::{Decimal, dec};

/// A sum of the book that is written in the first minute of a day tells of the day before: it closes that one.
const CLOSES_WITHIN_MS: u64 = 60_000;
/// A difference of less is none, and the book goes on with it.
const A_CENT: Decimal = dec!(0.01);
/// Books that came apart, of which rows may still come: those of more are long gone.
const MOST_APART: usize = 64;
/// A guard that runs and can read the account has compared a row, and written that down, within this time.
const WAITS_MS: u64 = 120_000;
/// A guard that runs writes down what it measured within this time: each hour.
const WRITES_WITHIN_MS: u64 = 3_660_000;
/// What was measured for less than this and is gone is let be: nobody knows how much of it there was.
const LOST_MS: u64 = 60_000;

/// Which rows of the book stand in a sum that was compared.
#[derive(Debug, Default)]
pub(super) struct Compared {
    /// The number of the newest sum, and the time of the account that it was compared with.
    newest: (u64, u64),
    /// The number of the last start.
    started: u64,
    /// When that life still went on: it compares each read, and writes down what does not add up.
    pub(super) runs_ms: Option<u64>,
    /// The newest time of a row of the book.
    newest_row_ms: u64,
    /// The oldest time of a row of before the first sum that was compared.
    oldest_row_ms: Option<u64>,
    /// When the account was first measured.
    opened_ms: Option<u64>,
    /// Since when rows wait for a sum that has them, by the guard's clock.
    waiting_ms: Option<u64>,
    /// The opening of the book that the last sum was of, and whether that sum was compared; none where there was no book.
    book: Option<(u64, bool)>,
    /// The opening of the book that was compared last, and what it was apart by.
    apart: (u64, Sum),
    /// The books that ended apart from the account: from when to when each was kept, and the moment that this counts at.
    came_apart: VecDeque<((u64, u64), u64)>,
    /// The account's time of this life's last sum.
    seen_ms: Option<u64>,
    /// Whether this life has ended by itself: then its last word was that of the account as it was.
    is_ended: bool,
}

/// What a sum of the book says beside its own figures.
pub(super) struct Seen {
    /// The moment that it counts at, by the account's time: the first one of a life measured at its own moment alone.
    pub(super) closes_ms: u64,
    /// What account and book came apart by since the sum before.
    pub(super) apart: Option<Sum>,
    /// The book before, where it ended without being compared.
    pub(super) given_up: Option<GivenUp>,
}

/// The end of a book that was not compared before another one was opened.
pub(super) struct GivenUp {
    /// When it was compared last, and when it ended.
    pub(super) span: (u64, u64),
    pub(super) why: String,
}

/// Rows from then on are of before the account was first measured.
fn before(oldest_ms: u64, opened_ms: u64) -> GivenUp {
    let why = format!(
        "the account was first measured at {}: what was recorded of before was compared with nothing",
        iso(opened_ms)
    );
    GivenUp { span: (oldest_ms, opened_ms), why }
}

impl Compared {
    pub(super) fn begin(&mut self, seq: u64) {
        (self.started, self.seen_ms, self.is_ended) = (seq, None, false);
    }

    /// The life ends by itself.
    pub(super) fn stop(&mut self) {
        self.is_ended = true;
    }

    /// Since when the life before had measured what it did not write down, and until when at most, where it broke off.
    pub(super) fn broke_off(&self, at_ms: u64) -> Option<(u64, u64)> {
        let since_ms = self.seen_ms.filter(|_| !self.is_ended)?;
        let end_ms = at_ms.min(since_ms.saturating_add(WRITES_WITHIN_MS));
        (end_ms.saturating_sub(since_ms) >= LOST_MS).then_some((since_ms, end_ms))
    }

    /// A row of the book is of `time`, and was written down at `at_ms`. One of before the account was first measured is in no sum.
    pub(super) fn row(&mut self, time: u64, at_ms: u64) -> Option<GivenUp> {
        self.newest_row_ms = self.newest_row_ms.max(time);
        self.oldest_row_ms = Some(self.oldest_row_ms.map_or(time, |oldest_ms| oldest_ms.min(time)));
        self.waiting_ms.get_or_insert(at_ms);
        self.opened_ms.filter(|opened_ms| time < *opened_ms).map(|opened_ms| before(time, opened_ms))
    }

    /// Takes in a sum that was written down at `at_ms`.
    pub(super) fn see(&mut self, place: (u64, u64), balance: &Balance) -> Seen {
        // Of a life that began before the first line nobody knows but that its book was there.
        let first_ms = if self.started > 0 { balance.venue_ms } else { balance.opened_ms };
        let since_ms = self.seen_ms.replace(balance.venue_ms).unwrap_or(first_ms).min(balance.venue_ms);
        let apart = balance.difference.map(|difference| self.came_apart(balance.opened_ms, difference.into()));
        let closes_ms = balance.venue_ms.saturating_sub(CLOSES_WITHIN_MS).max(since_ms);
        if balance.difference.is_some_and(|difference| difference.abs() >= A_CENT) {
            self.came_apart.push_back(((balance.opened_ms, balance.venue_ms), closes_ms));
            let over = self.came_apart.len().saturating_sub(MOST_APART);
            self.came_apart.drain(..over);
        }
        Seen { closes_ms, apart, given_up: self.give_up(place, balance) }
    }

    /// Where a row of this time counts that comes after its book ended apart from the account: it explains some of that.
    pub(super) fn explains(&self, time: u64) -> Option<u64> {
        let of = self.came_apart.iter().find(|((opened_ms, ended_ms), _)| (*opened_ms..*ended_ms).contains(&time));
        of.map(|(_, closes_ms)| *closes_ms)
    }

    /// What a book of this opening came apart by since it was compared before; where that is not known it was less than a cent,
    /// for of more the book begins anew.
    fn came_apart(&mut self, opened_ms: u64, difference: Sum) -> Sum {
        let (before_ms, before) = std::mem::replace(&mut self.apart, (opened_ms, difference));
        let mut apart = difference;
        if before_ms == opened_ms {
            apart += -before;
        }
        apart
    }

    /// The book before, where it ended without being compared.
    fn give_up(&mut self, (seq, at_ms): (u64, u64), balance: &Balance) -> Option<GivenUp> {
        let is_compared = balance.difference.is_some();
        let is_opened_now = !is_compared && balance.opened_ms == balance.venue_ms;
        let before = self.book.filter(|(opened_ms, _)| *opened_ms != balance.opened_ms);
        let unopened = self.unopened(balance);
        let given_up = before.filter(|(_, was_compared)| is_opened_now || !was_compared).map(|_| GivenUp {
            span: (self.newest.1.min(balance.venue_ms), balance.venue_ms),
            why: format!(
                "the book began anew at {}, and the one before was not compared to its end{}",
                iso(balance.opened_ms),
                if is_compared { String::new() } else { format!(": {}", why_of(balance)) }
            ),
        });
        let given_up = given_up.or(unopened);
        // What a mode hides is in no book.
        let is_book = is_compared || balance.equity.is_some();
        self.book = is_book.then_some((balance.opened_ms, is_compared || is_opened_now));
        if is_compared {
            self.newest = (seq, balance.venue_ms);
            // Rows of after the account was read wait on.
            self.waiting_ms = self.waiting_ms.filter(|_| self.newest_row_ms > balance.venue_ms).map(|_| at_ms);
        }
        given_up
    }

    /// Rows of before the account was first measured: what it was worth before them nobody knows.
    fn unopened(&mut self, balance: &Balance) -> Option<GivenUp> {
        let is_first = self.newest.1 == 0 && balance.difference.is_some() && balance.opened_ms == balance.venue_ms;
        if is_first {
            self.opened_ms = Some(balance.opened_ms);
        }
        let oldest_ms = self.oldest_row_ms.filter(|oldest_ms| is_first && *oldest_ms <= balance.opened_ms)?;
        Some(before(oldest_ms, balance.opened_ms))
    }

    /// The number of the newest sum that was compared.
    pub(super) fn newest_seq(&self) -> u64 {
        self.newest.0
    }

    /// When account and book were compared last, by the account's time.
    pub(super) fn newest_ms(&self) -> u64 {
        self.newest.1
    }

    /// When the newest sum was compared, where it lacks one of these rows.
    pub(super) fn lacks(&self, (newest_ms, last): (u64, u64)) -> Option<u64> {
        let (seq, sum_ms) = self.newest;
        let is_young = |now_ms: u64| self.waiting_ms.is_none_or(|since| now_ms.saturating_sub(since) <= WAITS_MS);
        let is_watched = seq > self.started && self.runs_ms.is_some_and(is_young);
        (!is_watched && (last > seq || newest_ms > sum_ms)).then_some(sum_ms)
    }
}

/// Why a sum could not be compared.
pub(super) fn why_of(balance: &Balance) -> &str {
    match balance.why.as_ref() {
        "" => "the journal does not say why",
        why => why,
    }
}
