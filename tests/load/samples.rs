//! Times that were measured, and what is told of them.

use std::fmt;
use std::time::Duration;

use rust_decimal::Decimal;

/// A time in nanoseconds, shown in microseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Nanos(pub(crate) u64);

impl Nanos {
    pub(crate) fn of(time: Duration) -> Self {
        Self(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
    }

    /// How many times `other` fits, to two digits.
    pub(crate) fn ratio(self, other: Self) -> Decimal {
        let ratio = Decimal::from(self.0).checked_div(Decimal::from(other.0));
        ratio.unwrap_or(Decimal::MAX).round_dp(2)
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} us", self.0 / 1_000)
    }
}

/// Many of them.
#[derive(Default)]
pub(crate) struct Samples(Vec<Nanos>);

impl Samples {
    pub(crate) fn add(&mut self, time: Nanos) {
        self.0.push(time);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The time that `percent` of them do not exceed; zero where there are none.
    pub(crate) fn percentile(&self, percent: usize) -> Nanos {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
        sorted.get(at).copied().unwrap_or(Nanos(0))
    }
}
