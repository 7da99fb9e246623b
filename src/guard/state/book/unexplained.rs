//! Times of which rows may still come: what account and book came apart by when all that could be read did not explain it, and what was
//! before a book's beginning. Rows of them are looked for again, ever more seldom, for a day, however much has come by then: what is
//! missing may be nothing in the sum.

use crate::base::amount::to_wire;
use crate::base::moment::utc;
use crate::guard::state::book::sums::differs;
use rust_decimal::Decimal;
use std::collections::VecDeque;

/// So long after it was told rows are looked for again, and each time after twice as long as before, up to the longest.
const FIRST_MS: u64 = 60_000;
const SELDOM_MS: u64 = 3_600_000;
/// After so long they are looked for no more; those of before a book's beginning, which moved nothing that was compared, sooner.
const GIVEN_UP_MS: u64 = 86_400_000;
const BEFORE_MS: u64 = 3_600_000;
/// Stretches that are kept in mind at once: the oldest goes first. Each takes more than a minute to be told.
const MOST: usize = 256;

/// The time between two reads of the account, the later one of which began the book anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// The venue's times of the two reads.
    pub(crate) since_ms: u64,
    pub(crate) to_ms: u64,
    /// What more came, or less, than the rows of it tell, USDC; none where that was never known.
    pub(crate) usdc: Option<Decimal>,
    /// When that was told.
    pub(crate) told_ms: u64,
}

impl Stretch {
    /// What no row explains, as it is told.
    pub(crate) fn text(&self) -> Option<String> {
        let usdc = self.usdc.filter(|usdc| differs(*usdc))?;
        Some(format!(
            "the book does not add up: between {} and {} the equity moved by {} USDC more than all that is on record of that time",
            utc(self.since_ms),
            utc(self.to_ms),
            to_wire(usdc.round_dp(6))
        ))
    }
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
    /// Keeps one in mind. It puts no look off. Those of no amount that follow one another are one, however often reads are wrong.
    pub(crate) fn add(&mut self, stretch: Stretch) {
        let next_ms = stretch.told_ms.saturating_add(FIRST_MS);
        self.next_ms = if self.stretches.is_empty() { next_ms } else { self.next_ms.min(next_ms) };
        self.pause_ms = FIRST_MS;
        let last = self.stretches.back_mut().filter(|last| last.usdc.is_none() && stretch.usdc.is_none());
        let is_next = |last: &&mut Stretch| {
            stretch.since_ms.saturating_sub(last.to_ms) < FIRST_MS
                && stretch.to_ms.saturating_sub(last.since_ms) < BEFORE_MS
        };
        match last.filter(is_next) {
            Some(last) => (last.to_ms, last.told_ms) = (last.to_ms.max(stretch.to_ms), stretch.told_ms),
            None => self.stretches.push_back(stretch),
        }
        let over = self.stretches.len().saturating_sub(MOST);
        self.stretches.drain(..over);
    }

    /// Takes in a row that has come: what it brought is explained.
    pub(crate) fn take(&mut self, time_ms: u64, usdc: Decimal) {
        let is_of = |stretch: &&mut Stretch| (stretch.since_ms..stretch.to_ms).contains(&time_ms);
        let amount = self.stretches.iter_mut().find(is_of).and_then(|stretch| stretch.usdc.as_mut());
        amount.into_iter().for_each(|amount| *amount = amount.saturating_sub(usdc));
    }

    /// Whether it is time to look for rows again: then all since the oldest are looked through.
    pub(crate) fn look(&mut self, now_ms: u64) -> bool {
        self.stretches.retain(|stretch| {
            let most_ms = if stretch.usdc.is_some() { GIVEN_UP_MS } else { BEFORE_MS };
            now_ms.saturating_sub(stretch.told_ms) < most_ms
        });
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
        Stretch { since_ms, to_ms: since_ms + 10, usdc: Some(dec!(5)), told_ms }
    }

    #[test]
    fn rows_of_its_time_explain_it_and_are_looked_for_all_the_same() {
        let mut unexplained = Unexplained::default();
        unexplained.add(stretch(100, 200));
        unexplained.add(stretch(150, 210));
        let left = |unexplained: &Unexplained| unexplained.stretches().map(|of| of.usdc.unwrap()).collect::<Vec<_>>();
        for (time_ms, usdc) in [(99, dec!(5)), (110, dec!(5)), (149, dec!(5)), (160, dec!(5)), (100, dec!(4.99))] {
            unexplained.take(time_ms, usdc);
        }
        assert_eq!(left(&unexplained), [dec!(0.01), dec!(5)]);
        assert_eq!(unexplained.stretches().filter_map(Stretch::text).count(), 2);
        unexplained.take(109, dec!(0.001));
        let texts: Vec<String> = unexplained.stretches().filter_map(Stretch::text).collect();
        assert!(texts.len() == 1 && texts[0].contains(" moved by 5 USDC more"), "{texts:?}");
        assert_eq!(unexplained.since_ms(), Some(100));
        // What comes then shows that others are missing.
        unexplained.take(109, dec!(3));
        assert_eq!(
            (left(&unexplained)[0], unexplained.stretches().filter_map(Stretch::text).count()),
            (dec!(-2.991), 2)
        );
    }

    #[test]
    fn it_is_looked_for_ever_more_seldom_for_a_day() {
        let mut unexplained = Unexplained::default();
        unexplained.add(stretch(7, 0));
        let looks: Vec<u64> = (0..2_000).filter(|minute| unexplained.look(minute * 60_000)).collect();
        assert_eq!(looks[..8], [1, 3, 7, 15, 31, 63, 123, 183]);
        assert_eq!((looks.last(), unexplained.since_ms()), (Some(&1_383), None));
        unexplained.add(Stretch { usdc: None, ..stretch(7, 0) });
        assert_eq!(
            (1..1_000).filter(|minute| unexplained.look(minute * 60_000)).count(),
            5,
            "before its beginning: an hour"
        );
        (0..257).for_each(|n| unexplained.add(stretch(n, 0)));
        assert_eq!((unexplained.stretches().count(), unexplained.since_ms()), (256, Some(1)));
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
