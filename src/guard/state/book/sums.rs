//! The equity as the book has it: an opening, the rows after it, and how far what is held has moved.
//!
//! Rows are summed up to the moment that was audited last; later ones are kept apart, since the account may be read at any
//! moment between them. Those of the opening's very moment are in it or not, all of them together, since a moment of the venue's
//! is a block: the first account that adds up one way tells.

use rust_decimal::{Decimal, dec};

/// Rows that are kept apart: of more than this the oldest are summed up, and moments before them are audited no more.
const MOST_LATER: usize = 20_000;

/// A difference of less than this is none: the venue rounds what it tells to millionths.
const A_CENT: Decimal = dec!(0.01);

/// What rows come to, USDC.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    /// Won by closing, before fees.
    pub(crate) gross: Decimal,
    /// Paid.
    pub(crate) fees: Decimal,
    /// Received.
    pub(crate) funding: Decimal,
    /// Came in.
    pub(crate) transfers: Decimal,
}

impl Sums {
    /// What they move the equity by.
    pub(crate) fn net(&self) -> Decimal {
        let won = self.gross.saturating_sub(self.fees);
        won.saturating_add(self.funding).saturating_add(self.transfers)
    }

    fn add(&mut self, other: Self) {
        self.gross = self.gross.saturating_add(other.gross);
        self.fees = self.fees.saturating_add(other.fees);
        self.funding = self.funding.saturating_add(other.funding);
        self.transfers = self.transfers.saturating_add(other.transfers);
    }
}

/// The account as it stood at a moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Standing {
    /// The venue's time of it.
    pub(crate) at_ms: u64,
    pub(crate) equity: Decimal,
    /// What is held had won or lost.
    pub(crate) unrealised: Decimal,
}

/// The sum.
#[derive(Debug, Default)]
pub(crate) struct Account {
    opening: Option<Standing>,
    /// Rows of the opening's very moment, as long as nobody knows whether it holds them.
    doubtful: Sums,
    sums: Sums,
    /// `sums` holds all of this moment and before.
    up_to_ms: u64,
    later: Vec<(u64, Sums)>,
}

/// Whether a difference is one.
pub(crate) fn differs(difference: Decimal) -> bool {
    difference.abs() >= A_CENT
}

impl Account {
    /// Where the sum begins.
    pub(crate) fn opening(&self) -> Option<Standing> {
        self.opening
    }

    /// Takes in a row of this time.
    pub(crate) fn add(&mut self, time_ms: u64, sums: Sums) {
        match self.opening {
            Some(opening) if time_ms < opening.at_ms => return,
            Some(opening) if time_ms == opening.at_ms => return self.doubtful.add(sums),
            Some(_) if time_ms <= self.up_to_ms => return self.sums.add(sums),
            _ => {}
        }
        self.later.push((time_ms, sums));
        let over = self.later.len().saturating_sub(MOST_LATER);
        for (time_ms, sums) in self.later.drain(..over) {
            self.sums.add(sums);
            self.up_to_ms = self.up_to_ms.max(time_ms);
        }
    }

    /// What rows have come to since the opening by this moment; `None` where that cannot be told: the opening is not known, the
    /// moment is over, or a row is of just that moment.
    pub(crate) fn sums_at(&self, at_ms: u64) -> Option<Sums> {
        let opening = self.opening?;
        let is_of = |(time_ms, _): &(u64, Sums)| *time_ms == at_ms;
        if at_ms < self.up_to_ms || at_ms < opening.at_ms || self.later.iter().any(is_of) {
            return None;
        }
        let mut sums = self.sums;
        self.later.iter().filter(|(time_ms, _)| *time_ms < at_ms).for_each(|(_, row)| sums.add(*row));
        Some(sums)
    }

    /// The equity less what the book says that it is. Where that is nothing one of both ways, the rows of the opening's moment
    /// are in it or not from here on.
    pub(crate) fn compare(&mut self, now: Standing) -> Option<Decimal> {
        let (opening, sums) = (self.opening?, self.sums_at(now.at_ms)?);
        let moved = now.unrealised.saturating_sub(opening.unrealised);
        let held = now.equity.saturating_sub(opening.equity.saturating_add(sums.net()).saturating_add(moved));
        let not_held = held.saturating_sub(self.doubtful.net());
        if differs(held) && differs(not_held) {
            return Some(held);
        }
        let doubtful = std::mem::take(&mut self.doubtful);
        if differs(held) {
            self.sums.add(doubtful);
            return Some(not_held);
        }
        Some(held)
    }

    /// This moment was audited: it is looked at no more.
    pub(crate) fn settle(&mut self, at_ms: u64) {
        let Some(sums) = self.sums_at(at_ms) else { return };
        (self.sums, self.up_to_ms) = (sums, at_ms);
        self.later.retain(|(time_ms, _)| *time_ms > at_ms);
    }

    /// The sum begins here.
    pub(crate) fn open(&mut self, opening: Standing) {
        self.restore(Some(opening), Sums::default(), opening.at_ms);
    }

    /// The sum ends: nobody knows what it begins with.
    pub(crate) fn close(&mut self) {
        self.opening = None;
    }

    /// What it is made from: opening, sums, up to when, and the rows that are not in them.
    pub(crate) fn parts(&self) -> (Option<Standing>, Sums, u64, impl Iterator<Item = (u64, Sums)>) {
        let doubtful = self.opening.map(|opening| (opening.at_ms, self.doubtful));
        let doubtful = doubtful.filter(|(_, sums)| *sums != Sums::default());
        (self.opening, self.sums, self.up_to_ms, doubtful.into_iter().chain(self.later.iter().copied()))
    }

    /// Takes in what an earlier life summed up.
    pub(crate) fn restore(&mut self, opening: Option<Standing>, sums: Sums, up_to_ms: u64) {
        (self.opening, self.sums, self.up_to_ms, self.doubtful) = (opening, sums, up_to_ms, Sums::default());
        let is_doubtful = |time_ms: u64| opening.is_some_and(|opening| opening.at_ms == time_ms) && time_ms == up_to_ms;
        for (_, row) in self.later.iter().filter(|(time_ms, _)| is_doubtful(*time_ms)) {
            self.doubtful.add(*row);
        }
        self.later.retain(|(time_ms, _)| *time_ms > up_to_ms);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(at_ms: u64, equity: Decimal, unrealised: Decimal) -> Standing {
        Standing { at_ms, equity, unrealised }
    }

    fn won(gross: Decimal, fees: Decimal) -> Sums {
        Sums { gross, fees, ..Sums::default() }
    }

    #[test]
    fn it_adds_up() {
        let mut book = Account::default();
        book.add(4, won(dec!(1000), dec!(0)));
        book.add(9, won(dec!(0), dec!(0.5)));
        book.open(at(5, dec!(100), dec!(-3)));
        assert_eq!(book.compare(at(8, dec!(101), dec!(-2))), Some(dec!(0)), "as the price moves");
        assert_eq!(book.compare(at(9, dec!(100), dec!(-3))), None, "before or after the fee");
        assert_eq!(book.compare(at(10, dec!(99.5), dec!(-3))), Some(dec!(0)));
        book.add(12, Sums { funding: dec!(-1), transfers: dec!(20), ..won(dec!(-7), dec!(0.25)) });
        assert_eq!(book.compare(at(11, dec!(99.5), dec!(-3))), Some(dec!(0)));
        assert_eq!(book.compare(at(13, dec!(114.25), dec!(0))), Some(dec!(0)));
        book.settle(13);
        assert_eq!((book.sums_at(12), book.compare(at(14, dec!(114.25), dec!(0)))), (None, Some(dec!(0))));
        // One that comes late counts, but where the opening holds it.
        book.add(6, won(dec!(2), dec!(0)));
        book.add(5 - 1, won(dec!(2), dec!(0)));
        assert_eq!(book.compare(at(14, dec!(114.25), dec!(0))), Some(dec!(-2)));
    }

    #[test]
    fn rows_of_the_openings_moment_are_in_it_or_not() {
        for (equity, gross) in [(dec!(101), dec!(0)), (dec!(104), dec!(3))] {
            // Some are known before it is opened, and some come after.
            let mut book = Account::default();
            book.add(5, won(dec!(1), dec!(0)));
            book.open(at(5, dec!(100), dec!(0)));
            book.add(5, won(dec!(2), dec!(0)));
            book.add(7, won(dec!(1), dec!(0)));
            let mut next = Account::default();
            let (opening, sums, up_to_ms, rest) = book.parts();
            next.restore(opening, sums, up_to_ms);
            rest.for_each(|(time_ms, row)| next.add(time_ms, row));
            for mut book in [book, next] {
                assert_eq!(book.compare(at(6, dec!(150), dec!(0))), Some(dec!(50)), "neither way");
                assert_eq!(book.compare(at(8, equity, dec!(0))), Some(dec!(0)));
                assert_eq!(book.sums_at(8).unwrap().gross, gross + dec!(1));
                // It is known from then on.
                book.settle(8);
                assert_eq!(book.compare(at(9, equity - dec!(3), dec!(0))), Some(dec!(-3)));
                assert_eq!(book.compare(at(9, equity + dec!(3), dec!(0))), Some(dec!(3)));
            }
        }
    }

    #[test]
    fn a_difference_is_a_cent() {
        assert!(!differs(dec!(0.009999)) && differs(dec!(0.01)) && differs(dec!(-0.01)));
    }

    #[test]
    fn rows_over_the_bound_are_summed_up() {
        let mut book = Account::default();
        book.open(at(5, dec!(100), dec!(0)));
        (0..20_001).for_each(|n| book.add(10 + n, won(dec!(1), dec!(0))));
        assert_eq!((book.parts().3.count(), book.sums_at(9)), (20_000, None));
        assert_eq!(book.sums_at(1_000_000).unwrap().gross, dec!(20001));
    }
}
