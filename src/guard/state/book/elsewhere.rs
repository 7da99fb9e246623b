//! Positions in other dexes that are held since before the book began. No row of the book tells of it, and where all is one purse its price
//! moves the balance. What was paid for it in the hour before, or traded since, shows it: each hour funding is paid for all that is
//! held.

use crate::guard::state::book::Book;
use crate::guard::state::book::held::{Elsewhere, Held};
use crate::venue::fill::Fill;
use crate::venue::info::AccountMode;
use crate::venue::stream::events::Funding;
use rust_decimal::Decimal;

/// So far before its beginning it is looked for: an hour's payment may show late. A book that is older than that has rows of all
/// that is held.
const BEFORE_MS: u64 = 2 * 3_600_000;

impl Book {
    /// From when on rows are read to find it, where they are read for the book from `since_ms` on, and were looked at up to
    /// `looked_ms`.
    pub(crate) fn since_with_elsewhere(&self, mode: Option<AccountMode>, since_ms: u64, looked_ms: Option<u64>) -> u64 {
        let Some(begin_ms) = self.begin_ms.filter(|_| mode == Some(AccountMode::Unified)) else { return since_ms };
        // What the book has of its own time shows it by then.
        let is_old = since_ms >= begin_ms.saturating_add(BEFORE_MS);
        let looked_ms = looked_ms.unwrap_or(begin_ms.saturating_sub(BEFORE_MS));
        if is_old || looked_ms >= begin_ms { since_ms } else { since_ms.min(looked_ms) }
    }

    /// Whether what is held elsewhere is still looked for.
    pub(crate) fn is_looking_elsewhere(&self, mode: Option<AccountMode>) -> bool {
        let Elsewhere { fills_ms, fundings_ms } = self.elsewhere;
        let is_before = |known_ms: u64, looked_ms| self.since_with_elsewhere(mode, known_ms, looked_ms) < known_ms;
        is_before(self.fills.read_ms(), fills_ms) || is_before(self.fundings.read_ms(), fundings_ms)
    }

    /// From when on the book has rows at all; what is of before is of no concern to it.
    pub(crate) fn since_begin(&self, since_ms: u64) -> u64 {
        since_ms.max(self.begin_ms.unwrap_or(since_ms))
    }

    /// An answer has shown all fills from `since_ms` up to a time.
    pub(crate) fn look_at_fills(&mut self, fills: &[Fill], since_ms: u64, up_to_ms: u64) {
        let Some(begin_ms) = self.begin_ms.filter(|begin_ms| since_ms < *begin_ms) else { return };
        let before = fills.iter().filter(|fill| fill.time < begin_ms && fill.coin.contains(':')).cloned();
        for fill in self.chains.in_order(before.collect()) {
            let after = fill.position_after().unwrap_or(fill.start_position);
            self.held_elsewhere(&fill.coin, after, fill.time);
        }
        self.elsewhere.fills_ms = self.elsewhere.fills_ms.max(Some(up_to_ms));
    }

    /// The same of payments of funding.
    pub(crate) fn look_at_fundings(&mut self, rows: &[Funding], since_ms: u64, up_to_ms: u64) {
        let Some(begin_ms) = self.begin_ms.filter(|begin_ms| since_ms < *begin_ms) else { return };
        for row in rows.iter().filter(|row| row.time < begin_ms && row.coin.contains(':')) {
            self.held_elsewhere(&row.coin, row.szi, row.time);
        }
        self.elsewhere.fundings_ms = self.elsewhere.fundings_ms.max(Some(up_to_ms));
    }

    /// So much was held then, and it is not known of a later time.
    fn held_elsewhere(&mut self, coin: &str, size: Decimal, time_ms: u64) {
        let is_newer = |held: &Held| held.time_ms <= time_ms;
        if self.chains.held(coin).is_none_or(is_newer) {
            self.chains.restore(coin.to_owned(), Held::unknown(size, time_ms));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: u64 = 10 * BEFORE_MS;

    #[test]
    fn it_is_looked_for_once_and_in_a_young_book_of_one_purse() {
        let mut book = Book::default();
        book.begin(BEGIN);
        let since = |book: &Book, mode, since_ms| book.since_with_elsewhere(mode, since_ms, book.elsewhere.fills_ms);
        let (unified, standard) = (Some(AccountMode::Unified), Some(AccountMode::Standard));
        assert_eq!(since(&book, unified, BEGIN), BEGIN - BEFORE_MS);
        assert_eq!(since(&book, unified, BEGIN + BEFORE_MS - 1), BEGIN - BEFORE_MS);
        for (mode, since_ms) in [(unified, BEGIN + BEFORE_MS), (standard, BEGIN), (None, BEGIN)] {
            assert_eq!(since(&book, mode, since_ms), since_ms, "{mode:?}");
        }
        book.look_at_fills(&[], BEGIN - BEFORE_MS, BEGIN - 5);
        assert_eq!((since(&book, unified, BEGIN), book.is_looking_elsewhere(unified)), (BEGIN - 5, true));
        book.look_at_fills(&[], BEGIN - 5, BEGIN);
        assert_eq!((since(&book, unified, BEGIN), book.is_looking_elsewhere(unified)), (BEGIN, true));
        book.look_at_fundings(&[], BEGIN - BEFORE_MS, u64::MAX);
        assert!(!book.is_looking_elsewhere(unified));
    }
}
