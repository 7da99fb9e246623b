//! When rows of one kind are read: what for, since when, and how far.

/// A question that was asked so long ago is asked again: whoever had it may have lost it.
const LOST_MS: u64 = 300_000;
/// An answer that is not believed, or by itself, is asked for again so long after.
const DOUBTED_MS: u64 = 60_000;
/// What is wanted for so long and not read is told of.
const BEHIND_MS: u64 = 900_000;

/// The reads of one kind of rows.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// From when on one is wanted.
    wanted_ms: Option<u64>,
    /// Since when one is under way.
    asked_ms: Option<u64>,
    /// When the last one was asked for.
    begun_ms: Option<u64>,
    /// When the last one began that showed all there is.
    pub(crate) read_ms: Option<u64>,
    /// Up to when the last one that showed all there is did so, by the venue's clock.
    shown_up_to_ms: Option<u64>,
    /// None before it did.
    is_alone: bool,
    /// Rows in the answers of one catching up.
    pub(crate) shown: usize,
    /// An answer had more to come.
    pub(crate) is_paging: bool,
    /// What is held waits for it.
    pub(crate) is_for_cover: bool,
    /// Since when something is wanted that was not read since.
    open_since_ms: Option<u64>,
    /// What was told last of rows that are not in the book.
    told: String,
}

impl Reading {
    /// Wants one, not before this time.
    pub(crate) fn want(&mut self, from_ms: u64) {
        self.wanted_ms = Some(self.wanted_ms.map_or(from_ms, |wanted_ms| wanted_ms.min(from_ms)));
        self.open_since_ms.get_or_insert(from_ms);
    }

    /// Wants one at once, for the cover of what is held: whatever is under way may come late.
    pub(crate) fn want_for_cover(&mut self, now_ms: u64) {
        (self.asked_ms, self.begun_ms, self.is_for_cover) = (None, None, true);
        self.want(now_ms);
    }

    /// Wants one, where none is wanted or under way.
    pub(crate) fn want_once(&mut self, from_ms: u64) {
        if !self.is_open(from_ms) {
            self.want(from_ms);
        }
    }

    /// Whether one is wanted or under way.
    pub(crate) fn is_open(&self, now_ms: u64) -> bool {
        self.wanted_ms.is_some() || self.is_under_way(now_ms)
    }

    fn is_under_way(&self, now_ms: u64) -> bool {
        self.asked_ms.is_some_and(|asked_ms| now_ms.saturating_sub(asked_ms) < LOST_MS)
    }

    /// Begins the one that is wanted: whether it is time for it. They are `apart_ms` apart, from one to the next.
    pub(crate) fn begin(&mut self, now_ms: u64, apart_ms: u64) -> bool {
        let is_under_way = self.is_under_way(now_ms);
        let is_soon = self.begun_ms.is_some_and(|begun_ms| now_ms.saturating_sub(begun_ms) < apart_ms);
        // One that catches up goes on at once.
        let is_time = self.wanted_ms.is_some_and(|wanted_ms| now_ms >= wanted_ms) && (!is_soon || self.is_paging);
        if is_time && !is_under_way {
            (self.wanted_ms, self.asked_ms, self.begun_ms) = (None, Some(now_ms), Some(now_ms));
        }
        is_time && !is_under_way
    }

    /// Takes in an answer with so many rows that the one before it did not show, of which there may be more.
    pub(crate) fn on_answer(&mut self, begun_ms: u64, rows: usize, is_more: bool) {
        self.shown = if self.is_paging { self.shown.saturating_add(rows) } else { rows };
        (self.asked_ms, self.is_paging) = (None, is_more);
        if !is_more {
            self.read_ms = self.read_ms.max(Some(begun_ms));
            (self.open_since_ms, self.is_for_cover) = (None, false);
        }
    }

    /// Takes note of an answer that shows all there is up to a time: up to when two have, which is what counts as read. One alone may
    /// lack something, or all of it, and nothing shows that.
    pub(crate) fn shown_twice_ms(&mut self, up_to_ms: u64) -> Option<u64> {
        let before_ms = self.shown_up_to_ms;
        self.shown_up_to_ms = before_ms.max(Some(up_to_ms));
        self.is_alone = before_ms.is_none();
        before_ms.map(|before_ms| before_ms.min(up_to_ms))
    }

    /// Whether one answer of this life alone has shown all there is, and the next one is due.
    pub(crate) fn is_second_due(&self, now_ms: u64) -> bool {
        self.is_alone && self.read_ms.is_some_and(|read_ms| now_ms.saturating_sub(read_ms) >= DOUBTED_MS)
    }

    /// Takes note of an answer that is not believed: nothing is known to be all there is.
    pub(crate) fn on_doubt(&mut self, now_ms: u64) {
        (self.asked_ms, self.is_paging, self.wanted_ms) = (None, false, None);
        self.want(now_ms.saturating_add(DOUBTED_MS));
    }

    /// Since when something is wanted, where that is too long.
    pub(crate) fn behind_since_ms(&self, now_ms: u64) -> Option<u64> {
        self.open_since_ms.filter(|since_ms| now_ms.saturating_sub(*since_ms) >= BEHIND_MS)
    }

    /// Whether this was not what was told last of an answer's rows; nothing is told of an answer that is whole.
    pub(crate) fn is_news(&mut self, text: &str) -> bool {
        let is_news = !text.is_empty() && self.told != text;
        text.clone_into(&mut self.told);
        is_news
    }

    /// Whether all there is was read at a time from then on.
    pub(crate) fn is_read_since(&self, since_ms: u64) -> bool {
        self.read_ms.is_some_and(|read_ms| read_ms >= since_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_apart_but_pages() {
        let mut reading = Reading::default();
        assert!(!reading.begin(5, 10));
        reading.want(7);
        assert!(!reading.begin(6, 10) && reading.begin(7, 10));
        reading.want(7);
        assert!(!reading.begin(8, 10), "one at a time");
        reading.on_answer(7, 3, true);
        assert!(reading.begin(9, 10) && !reading.is_read_since(7), "the next page");
        reading.on_answer(9, 1, false);
        assert!(reading.is_read_since(9) && !reading.is_open(9));
        reading.want(10);
        assert!(!reading.begin(18, 10) && reading.begin(19, 10));
        reading.want(20);
        assert!(!reading.begin(19 + LOST_MS - 1, 10) && reading.begin(19 + LOST_MS, 10));
        // Of one that was lost nobody waits for the answer.
        let lost_ms = 19 + 2 * LOST_MS;
        assert!(reading.is_open(lost_ms - 1) && !reading.is_open(lost_ms));
        reading.want_once(lost_ms);
        assert!(reading.begin(lost_ms, 10));
    }

    #[test]
    fn what_is_not_read_for_long_is_behind() {
        let mut reading = Reading::default();
        assert_eq!(reading.behind_since_ms(u64::MAX), None);
        reading.want(7);
        assert!(reading.begin(7, 10));
        reading.on_answer(8, 2_000, true);
        reading.want(9);
        reading.on_doubt(10);
        assert!(!reading.begin(10 + DOUBTED_MS - 1, 10) && reading.is_open(10));
        assert_eq!(reading.behind_since_ms(6 + BEHIND_MS), None);
        assert_eq!(reading.behind_since_ms(7 + BEHIND_MS), Some(7));
        reading.on_answer(11, 0, false);
        assert_eq!(reading.behind_since_ms(u64::MAX), None);
    }

    #[test]
    fn what_two_answers_show_is_read() {
        let mut reading = Reading::default();
        reading.on_answer(100, 0, false);
        assert_eq!(reading.shown_twice_ms(40), None);
        assert!(!reading.is_second_due(100 + DOUBTED_MS - 1) && reading.is_second_due(100 + DOUBTED_MS));
        reading.on_answer(200, 0, false);
        assert_eq!(reading.shown_twice_ms(140), Some(40));
        assert!(!reading.is_second_due(u64::MAX));
        // The venue's clock was set back.
        assert_eq!([reading.shown_twice_ms(90), reading.shown_twice_ms(200)], [Some(90), Some(140)]);
    }

    #[test]
    fn the_same_is_told_once_and_again_after_an_answer_that_was_whole() {
        let mut reading = Reading::default();
        let told = ["one", "one", "two", "", "two"].map(|text| reading.is_news(text));
        assert_eq!(told, [true, false, true, false, true]);
    }
}
