//! What account and book came apart by when all that could be read did not explain it. A row that comes late still may: it is looked
//! for again, ever more seldom, for a day.

use crate::guard::state::book::sums::differs;
use rust_decimal::Decimal;
use std::collections::VecDeque;

/// So long after it was told it is looked for again, and each time after twice as long as before, up to the longest.
const FIRST_MS: u64 = 60_000;
const SELDOM_MS: u64 = 3_600_000;
/// After so long it is looked for no more.
const GIVEN_UP_MS: u64 = 86_400_000;
/// Stretches that are kept in mind at once: the oldest goes first.
const MOST: usize = 8;

/// The time between two reads of the account in which more or less came than the rows of it tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// The venue's times of the two reads.
    pub(crate) since_ms: u64,
    pub(crate) to_ms: u64,
    /// What is not explained, USDC.
    pub(crate) usdc: Decimal,
    /// When that was told.
    pub(crate) told_ms: u64,
    /// What was told; empty where an earlier life did.
    pub(crate) text: String,
}

/// All of them, and how far they were looked through for rows that came late.
#[derive(Debug, Default)]
pub(crate) struct Unexplained {
    stretches: VecDeque<Stretch>,
    next_ms: u64,
    pause_ms: u64,
    /// From when on the next answers about fills and about funding have to show rows; none where nothing is looked for.
    pub(crate) fills_ms: Option<u64>,
    pub(crate) fundings_ms: Option<u64>,
}

impl Unexplained {
    /// Keeps one in mind.
    pub(crate) fn add(&mut self, stretch: Stretch) {
        (self.next_ms, self.pause_ms) = (stretch.told_ms.saturating_add(FIRST_MS), FIRST_MS);
        self.stretches.push_back(stretch);
        let over = self.stretches.len().saturating_sub(MOST);
        self.stretches.drain(..over);
    }

    /// Takes in a row that has come; what was told of the stretch that it explains the rest of.
    pub(crate) fn take(&mut self, time_ms: u64, usdc: Decimal) -> Option<String> {
        let is_of = |stretch: &Stretch| (stretch.since_ms..stretch.to_ms).contains(&time_ms);
        let place = self.stretches.iter().position(is_of)?;
        let stretch = self.stretches.get_mut(place)?;
        stretch.usdc = stretch.usdc.saturating_sub(usdc);
        if differs(stretch.usdc) {
            return None;
        }
        self.stretches.remove(place).map(|stretch| stretch.text)
    }

    /// Whether it is time to look for rows again: then all since the oldest are looked through.
    pub(crate) fn look(&mut self, now_ms: u64) -> bool {
        self.stretches.retain(|stretch| now_ms.saturating_sub(stretch.told_ms) < GIVEN_UP_MS);
        let is_due = !self.stretches.is_empty() && now_ms >= self.next_ms;
        if is_due {
            self.pause_ms = self.pause_ms.saturating_mul(2).clamp(FIRST_MS, SELDOM_MS);
            self.next_ms = now_ms.saturating_add(self.pause_ms);
            (self.fills_ms, self.fundings_ms) = (self.since_ms(), self.since_ms());
        }
        is_due
    }

    /// Since when rows are missing.
    pub(crate) fn since_ms(&self) -> Option<u64> {
        self.stretches.iter().map(|stretch| stretch.since_ms).min()
    }

    /// Each of them, the oldest first.
    pub(crate) fn stretches(&self) -> impl Iterator<Item = &Stretch> {
        self.stretches.iter()
    }
}

/// An answer has shown all there is from `since_ms` up to a time; rows from `read_ms` on are read anyway.
pub(crate) fn looked(looked_ms: &mut Option<u64>, since_ms: u64, up_to_ms: u64, read_ms: u64) {
    if looked_ms.is_some_and(|from_ms| since_ms <= from_ms) {
        *looked_ms = Some(up_to_ms).filter(|up_to_ms| *up_to_ms < read_ms);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rust_decimal::dec;

    fn stretch(since_ms: u64, told_ms: u64) -> Stretch {
        Stretch { since_ms, to_ms: since_ms + 10, usdc: dec!(5), told_ms, text: format!("of {since_ms}") }
    }

    #[test]
    fn rows_of_its_time_explain_it() {
        let mut unexplained = Unexplained::default();
        unexplained.add(stretch(100, 200));
        unexplained.add(stretch(150, 210));
        for (time_ms, usdc) in [(99, dec!(5)), (110, dec!(5)), (149, dec!(5)), (160, dec!(5)), (100, dec!(4.98))] {
            assert_eq!(unexplained.take(time_ms, usdc), None, "{time_ms}");
        }
        assert_eq!(unexplained.take(109, dec!(0.02)), Some("of 100".to_owned()));
        assert_eq!((unexplained.take(109, dec!(0.02)), unexplained.since_ms()), (None, Some(150)));
    }

    #[test]
    fn it_is_looked_for_ever_more_seldom_for_a_day() {
        let mut unexplained = Unexplained::default();
        unexplained.add(stretch(7, 0));
        let looks: Vec<u64> = (0..2_000).filter(|minute| unexplained.look(minute * 60_000)).collect();
        assert_eq!(looks[..8], [1, 3, 7, 15, 31, 63, 123, 183]);
        assert_eq!((looks.last(), unexplained.since_ms()), (Some(&1_383), None));
        (0..9).for_each(|n| unexplained.add(stretch(n, 0)));
        assert_eq!((unexplained.stretches().count(), unexplained.since_ms()), (8, Some(1)));
    }

    #[test]
    fn it_is_looked_through_page_by_page_up_to_what_is_read_anyway() {
        let mut from = Some(100);
        looked(&mut from, 120, 150, 500);
        assert_eq!(from, Some(100), "an answer of later shows nothing of it");
        looked(&mut from, 100, 150, 500);
        assert_eq!(from, Some(150));
        looked(&mut from, 150, 500, 500);
        assert_eq!(from, None);
    }
}
