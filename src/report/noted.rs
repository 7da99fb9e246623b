//! The lines themselves: from when to when they tell, and which of them are not as they were written.

use serde_json::{Map, Value};

use super::cells::Recorded;
use super::gaps::Gaps;
use super::lacks::Lacks;
use super::line::Head;
use super::number::in_number;
use super::question::Question;
use crate::base::day::day_of;
use crate::base::moment::iso;

/// A guard that starts has read the account, and opened its book, within this time.
const OPENS_WITHIN_MS: u64 = 60_000;

/// What the lines showed beside the figures.
#[derive(Debug, Default)]
pub(super) struct Noted {
    /// The first moment that the book tells of.
    book_from_ms: Option<u64>,
    /// Lives that began before the book is heard of.
    lives: u64,
    /// The earliest and the newest moment that the lines tell of.
    told_ms: Option<(u64, u64)>,
    /// Numbers of the first and the last line.
    seen: Option<(u64, u64)>,
    /// The time of the last line.
    last_ms: u64,
    /// How many numbers the last line passed over.
    gap: u64,
    /// Days of which no event is there.
    gaps: Gaps,
    /// Whether anything was heard of one of them: a row, or that the book was opened then.
    is_heard: bool,
    /// Rows of the book that are of such days, told later.
    left_out: u64,
    /// The event up to which the journal was written at least.
    written_to: u64,
    /// What the guard told to be missing in the book.
    pub(super) lacks: Lacks,
    /// Whether the last line stood before already.
    is_again: bool,
    /// Events that are not in the journal's files.
    missing: u64,
    /// Lines that could not be read.
    unreadable: u64,
    /// The number and the time of the first of them, or of the line before where it shows none.
    unreadable_at: (u64, u64),
    /// Lines that do not follow from the one before, where none is missing in between.
    changed: u64,
    /// Lines that stand twice, or behind a later one.
    doubled: u64,
}

impl Noted {
    /// The line read now could not be read.
    pub(super) fn unreadable(&mut self) {
        if self.unreadable == 0 {
            self.unreadable_at = (self.seen.map_or(0, |(_, last)| last), self.last_ms);
        }
        self.unreadable = self.unreadable.saturating_add(1);
    }

    /// The book tells of this moment: of a day that is missing from the end of what is missing on.
    pub(super) fn book_from(&mut self, ms: u64) {
        let missing_to_ms = self.gaps.end_of(ms);
        self.is_heard |= missing_to_ms.is_some();
        let ms = missing_to_ms.unwrap_or(ms);
        self.book_from_ms = Some(self.book_from_ms.map_or(ms, |from| from.min(ms)));
    }

    /// A life of the guard began.
    pub(super) fn started(&mut self) {
        self.lives = self.lives.saturating_add(u64::from(self.book_from_ms.is_none()));
    }

    /// The journal tells of this moment, whether anything happened in it or not.
    pub(super) fn told_of(&mut self, ms: u64) {
        self.told_ms = Some(self.told_ms.map_or((ms, ms), |(first, newest)| (first.min(ms), newest.max(ms))));
    }

    /// A row of the book is of this moment, which is asked about or not.
    pub(super) fn row(&mut self, ms: u64, question: &Question) {
        self.book_from(ms);
        let is_left_out = self.is_missing(ms) && question.is_about(ms);
        self.left_out = self.left_out.saturating_add(u64::from(is_left_out));
    }

    /// Whether no event of the day of this moment is there.
    pub(super) fn is_missing(&self, ms: u64) -> bool {
        self.gaps.end_of(ms).is_some()
    }

    /// The journal was written up to this event.
    pub(super) fn written_up_to(&mut self, seq: u64) {
        self.written_to = self.written_to.max(seq);
    }

    /// Events that are missing at the journal's end. Where a part of it is read that has no line nobody knows.
    fn cut_off(&self, question: &Question) -> u64 {
        let last = self.seen.map(|(_, last)| last).or_else(|| question.from.is_none().then_some(0));
        last.map_or(0, |last| self.written_to.saturating_sub(last))
    }

    /// The number of the first line.
    pub(super) fn first_seq(&self) -> u64 {
        self.seen.map_or(0, |(first, _)| first)
    }

    /// Takes the next line's number in; false where the line is not to be counted, as it was before. Numbers run without a
    /// gap, from 1 on; a reading that begins later began with a file of a day before those asked for. `is_chained` says
    /// whether the line follows from the one before: then it is the next one, whatever their numbers say.
    pub(super) fn number(&mut self, head: &Head<'_>, is_chained: bool, question: &Question) -> bool {
        let seq = head.seq;
        let is_before = question.read_from().is_some_and(|day| day_of(head.at_ms) <= day);
        let last = match self.seen {
            Some((_, last)) => last,
            None if is_before => seq.saturating_sub(1),
            None => 0,
        };
        let was_again = self.is_again;
        self.is_again = seq <= last && (!is_chained || was_again);
        if self.is_again {
            self.doubled = self.doubled.saturating_add(1);
            return false;
        }
        if seq <= last {
            // Only a changed number had passed over some.
            self.missing = self.missing.saturating_sub(self.gap);
            self.gaps.take_back(self.last_ms);
            self.changed = self.changed.saturating_add(1);
        }
        self.gap = seq.saturating_sub(last).saturating_sub(1);
        if self.gap > 0 {
            self.missing = self.missing.saturating_add(self.gap);
            self.gaps.add(self.last_ms, head.at_ms);
        }
        // What stands behind a gap, or behind lines that stand twice, cannot follow from what is before it.
        self.changed = self.changed.saturating_add(u64::from(!is_chained && self.gap == 0 && !was_again));
        self.seen = Some((self.seen.map_or(seq, |(first, _)| first), seq));
        self.last_ms = head.at_ms;
        if is_chained || self.told_ms.is_none() {
            self.told_of(head.at_ms);
        }
        true
    }

    /// What was recorded of the time from `from_ms` up to `to_ms`.
    pub(super) fn recorded(&self, (from_ms, to_ms): (u64, u64)) -> Recorded {
        if self.is_gone((from_ms, to_ms)) {
            return Recorded { journal: false, book: false };
        }
        let journal = self.told_ms.is_some_and(|(first, newest)| first < to_ms && from_ms <= newest);
        Recorded { journal, book: journal && self.book_from_ms.is_some_and(|begun| begun < to_ms) }
    }

    /// Whether no event of all of this time is there.
    pub(super) fn is_gone(&self, (from_ms, to_ms): (u64, u64)) -> bool {
        self.gaps.hold(from_ms, to_ms)
    }

    /// The same as members of the report.
    pub(super) fn members(&self, question: &Question) -> Map<String, Value> {
        let moment = |ms: Option<u64>| Value::from(ms.map(iso));
        let newest = self.told_ms.map(|(_, newest)| newest);
        let members = [
            ("recorded_from", moment(self.book_from_ms)),
            ("recorded_to", moment(newest)),
            ("missing_events", self.missing.saturating_add(self.cut_off(question)).into()),
            ("missing_at_end", self.cut_off(question).into()),
            ("missing_days", self.gaps.members(question.span(), self.is_heard)),
            ("left_out_rows", self.left_out.into()),
            ("unreadable_lines", self.unreadable.into()),
            ("changed_lines", self.changed.into()),
            ("doubled_lines", self.doubled.into()),
            ("book_lacks", self.lacks.count().into()),
        ];
        members.into_iter().map(|(name, member)| (name.to_owned(), member)).collect()
    }

    /// What is not in the figures, or should not be, in words.
    pub(super) fn warnings(&self, question: &Question) -> Vec<String> {
        let mut warnings = self.bounds(question);
        warnings.extend(self.counted(question));
        warnings.extend(self.gaps.text(question.span(), self.is_heard).map(|days| {
            format!(
                "of {days} no event is in the journal's folder: those days are not recorded here, and {}",
                in_number(
                    self.left_out,
                    "[row of them that was/rows of them that were] told later [is/are] in no figure"
                )
            )
        }));
        if self.lacks.count() > 0 {
            let text = "[time/times] the guard told that rows may be missing in the book, the last time: ";
            warnings.push(in_number(self.lacks.count(), text) + self.lacks.text());
        }
        warnings
    }

    /// Lines that are not there, or not as they were written.
    fn counted(&self, question: &Question) -> Vec<String> {
        let first = match self.unreadable_at {
            (0, _) => "at the beginning".to_owned(),
            (seq, at_ms) => format!("at event {seq} of {}, or right behind it", iso(at_ms)),
        };
        let unreadable = format!(
            "[line/lines] of the journal could not be read, the first one {first}, and [is/are] not in the figures"
        );
        let counted = [
            (
                self.missing,
                "[event is/events are] not in the journal's folder, and not in the figures; bring the files back as they were, where \
                 some, or lines of one, were taken out; where none were, a full disk had no room for refusals",
            ),
            (
                self.cut_off(question),
                "[event/events] at the journal's end [is not in its files/are not in its files], and not in the figures: \
                 tail.redo beside them says that [it was/they were] written; bring the files back as they were, or start \
                 the guard, which puts the last ones back where it was killed as it wrote them",
            ),
            (self.unreadable, &unreadable),
            (
                self.changed,
                "[line of the journal does/lines of the journal do] not follow from the one before: [it was/they were] \
                 changed after [it was/they were] written, or others were taken out or put in, and the figures are not to \
                 be relied on; bring the files back as they were",
            ),
            (
                self.doubled,
                "[line of the journal stands/lines of the journal stand] in it twice, or behind later ones, and \
                 [is/are] counted once at most; bring the files back as they were",
            ),
        ];
        let told = counted.into_iter().filter(|(count, _)| *count > 0);
        told.map(|(count, text)| in_number(count, text)).collect()
    }

    /// Whether the time asked about begins on a day before the book, or holds lines of before it.
    fn is_before_book(&self, begun_ms: u64, question: &Question) -> bool {
        let (from_ms, _) = question.span();
        let first = self.told_ms.map(|(first, _)| first.max(from_ms));
        // The life before the one that began the book kept none, however short it was.
        let within_ms = if self.lives > 1 { 0 } else { OPENS_WITHIN_MS };
        question.from.is_some_and(|from| day_of(begun_ms) > from)
            || first.is_some_and(|first| begun_ms > first.saturating_add(within_ms))
    }

    /// From when to when the time asked about is recorded, where not all of it is.
    fn bounds(&self, question: &Question) -> Vec<String> {
        let span = question.span();
        let recorded = self.recorded(span);
        if self.is_gone(span) {
            return vec!["nothing is recorded of this time: its events are not in the journal's folder".to_owned()];
        }
        if !recorded.journal {
            let bounds = self.told_ms.map(|(first, newest)| {
                if newest < span.0 {
                    format!(": the journal ends at {}", iso(newest))
                } else {
                    format!(": the journal begins at {}", iso(first))
                }
            });
            return vec![format!("nothing is recorded of this time{}", bounds.unwrap_or_default())];
        }
        let mut bounds = Vec::new();
        match self.book_from_ms.filter(|_| recorded.book) {
            None => bounds.push("no fills, fees or equity are recorded for this time".to_owned()),
            Some(begun) if self.is_before_book(begun, question) => bounds.push(format!(
                "fills, fees and equity are recorded from {} on; what was before is not in the figures",
                iso(begun)
            )),
            Some(_) => {}
        }
        let newest = self.told_ms.map(|(_, newest)| newest);
        let ended = newest.filter(|newest| question.to.is_some_and(|to| day_of(*newest) < to));
        bounds.extend(
            ended.map(|ended| format!("the journal ends at {}; what came after is not in the figures", iso(ended))),
        );
        bounds
    }
}
