//! UTC days.

/// Milliseconds of a day.
const DAY_MS: u64 = 86_400_000;

/// A UTC day, counted from 1 January 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::guard) struct Day(u64);

impl Day {
    /// The day of a time, UTC ms.
    pub(in crate::guard) fn of(at_ms: u64) -> Self {
        Self(at_ms / DAY_MS)
    }
}

impl std::fmt::Display for Day {
    /// `2026-01-31`, by the usual arithmetic on the 400-year cycle of the calendar, with years that begin in March.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let days = self.0.saturating_add(719_468);
        let (era, of_era) = (days / 146_097, days % 146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * march_month + 2) / 5 + 1;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        let year = year_of_era + era.saturating_mul(400) + u64::from(month <= 2);
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (at_ms, text) in [
            (0, "1970-01-01"),
            (86_399_999, "1970-01-01"),
            (951_782_400_000, "2000-02-29"),
            (1_772_323_199_999, "2026-02-28"),
            (1_772_323_200_000, "2026-03-01"),
            (1_798_761_600_000, "2027-01-01"),
        ] {
            assert_eq!(Day::of(at_ms).to_string(), text);
        }
    }
}
