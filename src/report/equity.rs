//! The equity at both ends of a span of time, and the worst fall within it, from the sums of the book.

use rust_decimal::Decimal;

use super::sum::Sum;
use crate::record::money::Balance;

/// The equity at the ends of a span: the measurements nearest to them.
#[derive(Clone, Debug)]
pub(super) struct Ends {
    from_ms: u64,
    to_ms: u64,
    pub(super) start: Option<At>,
    pub(super) end: Option<At>,
}

/// An equity that was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct At {
    pub(super) ms: u64,
    pub(super) usdc: Decimal,
}

impl Default for Ends {
    fn default() -> Self {
        Ends::of(0, u64::MAX)
    }
}

impl Ends {
    /// Those of the time from `from_ms` up to `to_ms`.
    pub(super) fn of(from_ms: u64, to_ms: u64) -> Ends {
        Ends { from_ms, to_ms, start: None, end: None }
    }

    /// Takes a measurement in. Of two that are as near the one inside the span is taken.
    pub(super) fn see(&mut self, at: At) {
        let nearer = |end: u64, held: &At| at.ms.abs_diff(end).cmp(&held.ms.abs_diff(end));
        if self.start.as_ref().is_none_or(|held| nearer(self.from_ms, held).is_lt()) {
            self.start = Some(at);
        }
        if self.end.as_ref().is_none_or(|held| nearer(self.to_ms, held).is_le()) {
            self.end = Some(at);
        }
    }
}

/// The worst fall from a high to a later low, put together from the ones of successive stretches of time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fall {
    /// The opening of the book that the highs are counted from: those of two openings cannot be compared.
    opened_ms: u64,
    high: Option<Decimal>,
    pub(super) worst: Option<Sum>,
}

impl Fall {
    pub(super) fn see(&mut self, balance: &Balance) {
        if self.opened_ms != balance.opened_ms {
            (self.opened_ms, self.high) = (balance.opened_ms, None);
        }
        let (Some(highest), Some(lowest)) = (balance.highest, balance.lowest) else { return };
        let since_before = self.high.map(|high| high.saturating_sub(lowest));
        let within = balance.worst_fall.unwrap_or_default();
        let fall = since_before.map_or(within, |fall| fall.max(within)).max(Decimal::ZERO);
        let is_worse = self.worst.and_then(Sum::to_decimal).is_none_or(|worst| fall > worst);
        if is_worse {
            self.worst = Some(fall.into());
        }
        self.high = Some(self.high.map_or(highest, |high| high.max(highest)));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rust_decimal::dec;

    use super::*;

    fn stretch(path: &[i64]) -> Balance {
        Balance {
            opened_ms: 1,
            highest: path.iter().max().map(|high| Decimal::from(*high)),
            lowest: path.iter().min().map(|low| Decimal::from(*low)),
            worst_fall: Some(Decimal::from(worst_fall(path))),
            ..Balance::default()
        }
    }

    fn worst_fall(path: &[i64]) -> i64 {
        let falls = path.iter().enumerate().flat_map(|(at, high)| path.iter().skip(at).map(move |low| high - low));
        falls.max().unwrap_or(0)
    }

    #[test]
    fn the_nearest_measurement_stands_for_an_end() {
        let mut ends = Ends::of(1000, 2000);
        let at = |ms, usdc| At { ms, usdc };
        for (ms, usdc) in
            [(500, dec!(1)), (990, dec!(2)), (1020, dec!(3)), (1970, dec!(4)), (2020, dec!(5)), (2500, dec!(6))]
        {
            ends.see(at(ms, usdc));
        }
        assert_eq!((ends.start, ends.end), (Some(at(990, dec!(2))), Some(at(2020, dec!(5)))));
    }

    #[test]
    fn highs_of_two_openings_are_not_compared() {
        let mut fall = Fall::default();
        fall.see(&stretch(&[100, 90]));
        fall.see(&Balance { opened_ms: 2, ..stretch(&[5, 4]) });
        assert_eq!(fall.worst.map(|worst| worst.to_string()), Some("10".to_owned()));
        fall.see(&Balance { opened_ms: 2, highest: None, ..Balance::default() });
        assert_eq!(fall.worst.map(|worst| worst.to_string()), Some("10".to_owned()));
    }

    proptest! {
        #[test]
        fn falls_compose_over_stretches(path in prop::collection::vec(-1000_i64..1000, 1..40), cut in 1_usize..8) {
            let mut fall = Fall::default();
            path.chunks(cut).for_each(|part| fall.see(&stretch(part)));
            prop_assert_eq!(fall.worst.map(|worst| worst.to_string()), Some(worst_fall(&path).to_string()));
        }
    }
}
