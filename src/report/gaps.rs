//! Days of which no event is there, though the journal goes on behind them: nobody can say of them that nothing happened.

use serde_json::{Value, json};

use crate::base::day::{Day, day_of};

/// Gaps that are kept in mind: as many days as a report has rows. A day in what comes on top counts as it is told.
const MOST: usize = 10_000;
/// Days, or spans of them, that are named.
const MOST_NAMED: usize = 5;
/// The same for a program.
const MOST_MEMBERS: usize = 100;
/// The last lines of a day may stand in the file of the next one.
const EDGE_MS: u64 = 60_000;

/// The days.
#[derive(Debug, Default)]
pub(super) struct Gaps(Vec<Gap>);

/// Whole days between two lines, next to one another.
#[derive(Clone, Copy, Debug)]
struct Gap {
    first: Day,
    last: Day,
    /// Whether no line is before it.
    is_open: bool,
    /// When the line behind it is of.
    end_ms: u64,
}

impl Gap {
    fn holds(&self, day: Day) -> bool {
        (self.first..=self.last).contains(&day)
    }

    fn name(&self) -> String {
        match (self.is_open, self.first == self.last) {
            (true, _) => format!("the days up to {}", self.last),
            (false, true) => self.first.to_string(),
            (false, false) => format!("{} to {}", self.first, self.last),
        }
    }
}

impl Gaps {
    /// Events are missing between the lines of these two times; the first is 0 where none is before.
    pub(super) fn add(&mut self, from_ms: u64, to_ms: u64) {
        let first = if from_ms == 0 { day_of(0) } else { day_of(from_ms).following() };
        let end = day_of(to_ms.saturating_add(EDGE_MS));
        if first < end && self.0.len() < MOST {
            self.0.push(Gap { first, last: end.preceding(), is_open: from_ms == 0, end_ms: to_ms });
        }
    }

    /// Takes the gap before the line of this time back.
    pub(super) fn take_back(&mut self, to_ms: u64) {
        self.0.pop_if(|gap| gap.end_ms == to_ms);
    }

    /// When the gap ends that the day of this moment lies in.
    pub(super) fn end_of(&self, ms: u64) -> Option<u64> {
        if self.0.is_empty() {
            return None;
        }
        let day = day_of(ms);
        self.0.iter().rev().find(|gap| gap.holds(day)).map(|gap| gap.end_ms)
    }

    /// Whether all of this time lies in one.
    pub(super) fn hold(&self, from_ms: u64, to_ms: u64) -> bool {
        let (first, last) = (day_of(from_ms), day_of(to_ms.saturating_sub(1)));
        self.0.iter().any(|gap| gap.holds(first) && gap.holds(last))
    }

    /// Those that some of this time lies in. Of days that no line is before nobody knows whether there were any, unless something
    /// was heard of one.
    fn within(&self, (from_ms, to_ms): (u64, u64), is_heard: bool) -> impl Iterator<Item = &Gap> {
        let (first, last) = (day_of(from_ms), day_of(to_ms.saturating_sub(1)));
        self.0.iter().filter(move |gap| gap.first <= last && first <= gap.last && (is_heard || !gap.is_open))
    }

    /// The days in words, where there are some.
    pub(super) fn text(&self, span: (u64, u64), is_heard: bool) -> Option<String> {
        let names: Vec<String> = self.within(span, is_heard).take(MOST_NAMED).map(Gap::name).collect();
        let more = match self.within(span, is_heard).count().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more such times"),
        };
        (!names.is_empty()).then(|| names.join(", ") + &more)
    }

    /// The days as a member of the report.
    pub(super) fn members(&self, span: (u64, u64), is_heard: bool) -> Value {
        let member = |gap: &Gap| {
            let first = (!gap.is_open).then(|| gap.first.to_string());
            json!({"from": first, "to": gap.last.to_string()})
        };
        self.within(span, is_heard).take(MOST_MEMBERS).map(member).collect()
    }
}
