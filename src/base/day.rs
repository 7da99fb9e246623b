//! UTC days, counted from 1970-01-01. Pure arithmetic; no clock and no time zone may enter here.

use std::fmt;
use std::str::FromStr;

/// Milliseconds in a UTC day (leap seconds do not exist in Unix time).
const DAY_MS: u64 = 86_400_000;

/// 9999-12-31, the last day whose name still sorts as it counts. Later times fall on it.
const LAST: u32 = 2_932_896;

/// A UTC day. Displayed and parsed as `YYYY-MM-DD`, which sorts as the days do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(u32);

/// The UTC day on which `ms` (epoch milliseconds) falls.
#[must_use]
pub fn day_of(ms: u64) -> Day {
    Day(u32::try_from(ms / DAY_MS).unwrap_or(LAST).min(LAST))
}

/// The first millisecond of `day` (epoch milliseconds, UTC).
#[must_use]
pub fn start_ms(day: Day) -> u64 {
    u64::from(day.0) * DAY_MS
}

impl Day {
    /// Days since 1970-01-01.
    #[must_use]
    pub fn number(self) -> u32 {
        self.0
    }

    /// The day that many days after 1970-01-01, if it is not later than 9999-12-31.
    #[must_use]
    pub fn from_number(number: u32) -> Option<Day> {
        (number <= LAST).then_some(Day(number))
    }
}

impl Day {
    /// The day after it; the last one has none, and is its own.
    #[must_use]
    pub fn following(self) -> Day {
        Day(self.0.saturating_add(1).min(LAST))
    }

    /// The day before it; the first one has none, and is its own.
    #[must_use]
    pub fn preceding(self) -> Day {
        Day(self.0.saturating_sub(1))
    }
}

impl fmt::Display for Day {
    /// Years are counted from March, so that the leap day is a year's last day: 400 years are 146,097 days,
    /// and within such a year the months' first days lie on the line `(153 × month + 2) / 5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let since_0000_03_01 = self.0 + 719_468;
        let (era, day_of_era) = (since_0000_03_01 / 146_097, since_0000_03_01 % 146_097);
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * from_march + 2) / 5 + 1;
        let (month, next) = if from_march < 10 { (from_march + 3, 0) } else { (from_march - 9, 1) };
        write!(f, "{:04}-{month:02}-{day:02}", era * 400 + year_of_era + next)
    }
}

/// The text is not a UTC day from 1970-01-01 to 9999-12-31 written `YYYY-MM-DD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotADay;

impl FromStr for Day {
    type Err = NotADay;

    /// The inverse of the display; what does not display as it was written (2026-02-30) is no day.
    fn from_str(text: &str) -> Result<Day, NotADay> {
        let mut parts = text.splitn(3, '-').map(|part| part.parse::<u32>().map_err(|_| NotADay));
        let mut part = || parts.next().ok_or(NotADay)?;
        let (year, month, day) = (part()?, part()?, part()?);
        if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return Err(NotADay);
        }
        let year = if month <= 2 { year - 1 } else { year };
        let (era, year_of_era) = (year / 400, year % 400);
        let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        let number = (era * 146_097 + day_of_era).checked_sub(719_468).ok_or(NotADay)?;
        Day::from_number(number).filter(|day| day.to_string() == text).ok_or(NotADay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_days_have_their_names() {
        for (ms, name) in [
            (0, "1970-01-01"),
            (86_399_999, "1970-01-01"),
            (86_400_000, "1970-01-02"),
            (951_782_400_000, "2000-02-29"),
            (951_868_800_000, "2000-03-01"),
            (1_709_164_800_000, "2024-02-29"),
            (1_735_689_599_999, "2024-12-31"),
            (1_735_689_600_000, "2025-01-01"),
            (4_107_542_400_000, "2100-03-01"),
            (253_402_300_799_999, "9999-12-31"),
            (u64::MAX, "9999-12-31"),
        ] {
            assert_eq!(day_of(ms).to_string(), name, "{ms}");
        }
    }

    #[test]
    fn every_day_reads_back_as_it_is_written() {
        let mut last = String::new();
        for number in (0..=LAST).step_by(7).chain([LAST]) {
            let day = Day(number);
            let name = day.to_string();
            assert!(name > last, "{name} does not sort after {last}");
            assert_eq!(name.parse(), Ok(day));
            assert_eq!(day_of(start_ms(day)), day);
            last = name;
        }
    }

    #[test]
    fn days_have_neighbours_but_the_first_and_the_last() {
        let (first, day, last) = (Day(0), "2024-02-29".parse::<Day>().unwrap(), Day(LAST));
        assert_eq!(
            (day.following().to_string(), day.preceding().to_string()),
            ("2024-03-01".into(), "2024-02-28".into())
        );
        assert_eq!((first.preceding(), last.following()), (first, last));
    }

    #[test]
    fn what_is_no_day_is_refused() {
        for text in ["", "2026", "2026-02-30", "1969-12-31", "2026-1-01", "2026-13-01", "10000-01-01", "2026-01-01x"] {
            assert_eq!(text.parse::<Day>(), Err(NotADay), "{text}");
        }
    }
}
