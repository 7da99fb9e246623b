//! The list of all that the book was told to lack: each once, and for a day or until it has come, whatever restarts lie between.

use crate::record::book_record::ToldRecord;
use crate::record::lack::Lack;
use crate::record::money;

/// It is told for so long: a day is enough to see it.
pub(crate) const TOLD_FOR_MS: u64 = 86_400_000;
/// So many at once: the oldest goes first.
const MOST: usize = 8;

/// All of it, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Told(Vec<ToldRecord>);

impl Told {
    /// Keeps something in mind that is missing.
    pub(crate) fn add(&mut self, text: &str, lacks: Option<Lack>, at_ms: u64) {
        self.restore(ToldRecord { text: text.to_owned(), at_ms, lacks });
    }

    /// The same of an earlier life.
    pub(crate) fn restore(&mut self, record: ToldRecord) {
        self.0.push(record);
        let over = self.0.len().saturating_sub(MOST);
        self.0.drain(..over);
    }

    /// Whether this is told of now.
    pub(crate) fn has(&self, text: &str, now_ms: u64) -> bool {
        self.now(now_ms).any(|told| told.text == text)
    }

    /// What was told in the last day, and has not come.
    pub(crate) fn now(&self, now_ms: u64) -> impl Iterator<Item = &ToldRecord> {
        self.0.iter().filter(move |told| now_ms.saturating_sub(told.at_ms) < TOLD_FOR_MS)
    }

    /// Takes in a fill that is on record now: where it is the last of those that were missing, nothing is.
    pub(crate) fn take(&mut self, fill: &money::Fill) {
        self.0.retain_mut(|told| !told.lacks.as_mut().is_some_and(|lack| lack.take(fill)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rust_decimal::{Decimal, dec};

    fn fill(coin: &str, time: u64, before: Decimal, after: Decimal) -> money::Fill {
        money::Fill {
            coin: coin.to_owned(),
            time,
            position_before: before,
            position_after: Some(after),
            ..money::Fill::default()
        }
    }

    #[test]
    fn fills_that_were_missing_are_told_of_until_the_last_has_come() {
        let mut told = Told::default();
        let lacks = Lack { from_ms: Some(5), to_ms: Some(9), coin: Some("ETH".to_owned()), size: Some(dec!(-3)) };
        told.add("some", Some(lacks), 0);
        told.add("others", Some(Lack { from_ms: Some(5), to_ms: Some(9), ..Lack::default() }), 0);
        let is_told = |told: &Told| told.has("some", 10);
        for (coin, time, after) in
            [("BTC", 6, dec!(-3)), ("ETH", 4, dec!(-3)), ("ETH", 10, dec!(-3)), ("ETH", 5, dec!(-2))]
        {
            told.take(&fill(coin, time, dec!(0), after));
            assert!(is_told(&told), "{coin} {time}");
        }
        told.take(&fill("ETH", 9, dec!(-2), dec!(-3)));
        assert!(!is_told(&told) && told.has("others", 10));
    }

    #[test]
    fn it_is_told_for_a_day_and_eight_at_once() {
        let mut told = Told::default();
        told.add("old", None, 7);
        assert!(told.has("old", 7 + TOLD_FOR_MS - 1) && !told.has("old", 7 + TOLD_FOR_MS));
        (0..8).for_each(|n| told.add(&n.to_string(), None, 7));
        assert!(!told.has("old", 8) && told.has("0", 8) && told.now(8).count() == 8);
    }
}
