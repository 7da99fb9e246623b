//! The ledger, a page at a time: an answer holds so many entries, the oldest ones, and the next page begins at the time of its last
//! one. What was read is kept where a page finds no room, so that the next try goes on from there.

use crate::venue::history::{LEDGER_A_PAGE, Page, Unread};
use crate::venue::info::LedgerUpdate;

/// Pages that are read for one answer at most.
const MOST_PAGES: usize = 20;

/// What was read of the ledger since a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LedgerPages {
    since_ms: u64,
    /// When the first page was asked for: what the ledger shows since then may be missing.
    pub(super) begun_ms: u64,
    pub(super) updates: Vec<LedgerUpdate>,
    /// Entries that cannot be read.
    pub(super) unread: Vec<Unread>,
    next_ms: u64,
    pages: usize,
    /// The first and the last time of which entries may be missing, where some are.
    pub(super) cut: Option<(u64, u64)>,
}

impl LedgerPages {
    /// Goes on with what an earlier try has read, where that holds all since this time; else it begins.
    pub(super) fn go_on(earlier: Option<Self>, since_ms: u64, now_ms: u64) -> Self {
        earlier.filter(|earlier| earlier.pages > 0 && earlier.since_ms <= since_ms).unwrap_or(Self {
            since_ms,
            begun_ms: now_ms,
            updates: Vec::new(),
            unread: Vec::new(),
            next_ms: since_ms,
            pages: 0,
            cut: None,
        })
    }

    /// From when on the next page is.
    pub(super) fn next_ms(&self) -> u64 {
        self.next_ms
    }

    /// Whether these hold all that the others do, and more.
    pub(super) fn reach_beyond(&self, others: &Self) -> bool {
        self.since_ms <= others.since_ms && self.next_ms > others.next_ms
    }

    /// Takes in a page; whether there is another one.
    pub(super) fn add(&mut self, page: Page<LedgerUpdate>) -> bool {
        let is_full = page.count() >= LEDGER_A_PAGE;
        let times = page.rows.iter().map(|row| row.time).chain(page.unread.iter().filter_map(|row| row.time));
        let (from_ms, newest_ms) = (self.next_ms, times.max());
        // Of the moment at which the page before this one ended some may have been told, and all of them are here.
        self.updates.retain(|row| row.time < from_ms);
        self.unread.retain(|row| row.time.is_none_or(|time_ms| time_ms < from_ms));
        self.updates.extend(page.rows);
        self.unread.extend(page.unread);
        self.pages = self.pages.saturating_add(1);
        let Some(newest_ms) = newest_ms.filter(|_| is_full) else { return false };
        if newest_ms <= from_ms {
            // Where one moment fills a page nothing of it can be paged further.
            self.lack(from_ms, from_ms);
        }
        self.next_ms = newest_ms.max(from_ms.saturating_add(u64::from(newest_ms <= from_ms)));
        if self.pages < MOST_PAGES {
            return true;
        }
        self.lack(self.next_ms, self.begun_ms);
        false
    }

    fn lack(&mut self, from_ms: u64, to_ms: u64) {
        let (first_ms, last_ms) = self.cut.unwrap_or((from_ms, to_ms));
        self.cut = Some((first_ms.min(from_ms), last_ms.max(to_ms)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row(time: u64, nth: usize) -> LedgerUpdate {
        LedgerUpdate { time, hash: nth.to_string(), delta: json!({"type": "deposit", "usdc": "1"}) }
    }

    /// What the venue shows of these from a time on.
    fn page(all: &[LedgerUpdate], since_ms: u64) -> Page<LedgerUpdate> {
        let since = all.iter().filter(|row| row.time >= since_ms);
        since.take(LEDGER_A_PAGE).cloned().collect::<Vec<_>>().into()
    }

    /// Reads to the end; how many pages that took.
    fn read(pages: &mut LedgerPages, all: &[LedgerUpdate]) -> usize {
        let mut count = 1;
        while pages.add(page(all, pages.next_ms())) {
            count += 1;
        }
        count
    }

    #[test]
    fn all_of_it_is_read_each_once() {
        for (a_moment, count, expected) in [(1, 499, 1), (1, 500, 2), (1, 1_300, 3), (3, 1_300, 3), (250, 1_300, 5)] {
            let all: Vec<LedgerUpdate> = (0..count).map(|n| row(1_000 + (n / a_moment) as u64, n)).collect();
            let mut pages = LedgerPages::go_on(None, 7, 9_000);
            assert_eq!(read(&mut pages, &all), expected, "{a_moment} {count}");
            assert_eq!((pages.updates, pages.begun_ms, pages.cut), (all, 9_000, None));
        }
    }

    #[test]
    fn a_try_goes_on_with_what_the_one_before_it_has_read() {
        let all: Vec<LedgerUpdate> = (0..700).map(|n| row(1_000 + n as u64, n)).collect();
        let mut first = LedgerPages::go_on(None, 7, 9_000);
        assert!(first.add(page(&all, 7)));
        for (since_ms, begun_ms, count) in [(7, 9_000, 1), (9, 9_000, 1), (6, 9_500, 2)] {
            let mut pages = LedgerPages::go_on(Some(first.clone()), since_ms, 9_500);
            assert_eq!((read(&mut pages, &all), pages.begun_ms), (count, begun_ms), "{since_ms}");
            assert_eq!(pages.updates, all);
        }
    }

    #[test]
    fn a_try_that_read_nothing_leaves_nothing() {
        let nothing = LedgerPages::go_on(None, 7, 9_000);
        assert_eq!(LedgerPages::go_on(Some(nothing), 7, 60_000).begun_ms, 60_000);
    }

    /// Where two tries were cut off, the one that got further is kept.
    #[test]
    fn of_two_tries_one_holds_more() {
        let all: Vec<LedgerUpdate> = (0..1_300).map(|n| row(1_000 + n as u64, n)).collect();
        let read = |since_ms: u64, pages: usize| {
            let mut read = LedgerPages::go_on(None, since_ms, 9_000);
            (0..pages).for_each(|_| assert!(read.add(page(&all, read.next_ms()))));
            read
        };
        assert!(read(7, 2).reach_beyond(&read(7, 1)) && read(7, 1).reach_beyond(&read(8, 0)));
        for (one, other) in [(read(7, 1), read(7, 1)), (read(7, 1), read(7, 2)), (read(9, 2), read(7, 1))] {
            assert!(!one.reach_beyond(&other), "{} {}", one.pages, other.pages);
        }
    }

    #[test]
    fn what_no_page_shows_is_told() {
        // More of one moment than a page holds, and then some.
        let mut all: Vec<LedgerUpdate> = (0..600).map(|n| row(1_000, n)).collect();
        all.push(row(1_001, 600));
        let mut pages = LedgerPages::go_on(None, 7, 9_000);
        read(&mut pages, &all);
        assert_eq!((pages.cut, pages.updates.len(), pages.updates.last()), (Some((1_000, 1_000)), 501, all.last()));
        // More than are read for one answer.
        let all: Vec<LedgerUpdate> = (0..11_000).map(|n| row(1_000 + n as u64, n)).collect();
        let mut pages = LedgerPages::go_on(None, 7, 90_000);
        assert_eq!(read(&mut pages, &all), MOST_PAGES);
        let expected = 1_000 + (MOST_PAGES * (LEDGER_A_PAGE - 1)) as u64;
        assert_eq!(pages.cut, Some((expected, 90_000)));
    }

    #[test]
    fn one_that_cannot_be_read_counts_for_the_page_and_is_told() {
        let odd = |time| Unread { time: Some(time), why: "no".to_owned() };
        let mut first = page(&(0..499).map(|n| row(1_000 + n as u64, n)).collect::<Vec<_>>(), 7);
        first.unread.push(odd(1_700));
        let mut pages = LedgerPages::go_on(None, 7, 9_000);
        assert!(pages.add(first));
        let next = Page { rows: vec![row(1_701, 9)], unread: vec![odd(1_700)] };
        assert!(pages.next_ms() == 1_700 && !pages.add(next));
        assert_eq!((pages.unread, pages.updates.len(), pages.cut), (vec![odd(1_700)], 500, None));
    }
}
