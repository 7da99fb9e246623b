//! Times of the day and spans of time, as people write them in the config. Given a time they answer; no clock is read.

/// Milliseconds of a minute, and minutes of a day.
const MINUTE_MS: u64 = 60_000;
const DAY_MINUTES: u64 = 24 * 60;

/// How far local time is ahead of UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Clock {
    /// In minutes; behind it with a minus.
    pub offset_minutes: i64,
}

impl Clock {
    /// Local minutes since 1970.
    fn minutes(self, at_ms: u64) -> u64 {
        (at_ms / MINUTE_MS).saturating_add_signed(self.offset_minutes)
    }

    /// The local minute of the day.
    fn of_day(self, at_ms: u64) -> u64 {
        self.minutes(at_ms) % DAY_MINUTES
    }

    /// The number of the last time that it was `minute` of the day: it grows by one a day, at that minute.
    pub(super) fn rounds(self, at_ms: u64, minute: u64) -> u64 {
        self.minutes(at_ms).saturating_add(DAY_MINUTES).saturating_sub(minute) / DAY_MINUTES
    }
}

/// Hours of the day, from a minute to another, over midnight too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hours {
    /// The first minute of the day.
    pub(super) from: u64,
    /// The minute behind the last.
    pub(super) to: u64,
}

impl Hours {
    /// Reads `22:00-07:00`.
    #[must_use]
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (from, to) = text.split_once('-')?;
        Some(Self { from: minute(from)?, to: minute(to)? })
    }

    /// Whether it is these hours.
    pub(super) fn holds(self, clock: Clock, at_ms: u64) -> bool {
        let now = clock.of_day(at_ms);
        if self.from <= self.to { (self.from..self.to).contains(&now) } else { now >= self.from || now < self.to }
    }
}

/// Reads `HH:MM` as a minute of the day.
pub(super) fn minute(text: &str) -> Option<u64> {
    let (hours, minutes) = text.split_once(':').filter(|_| text.len() == 5 && text.is_ascii())?;
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u64>().ok())?;
    let (hours, minutes) = (digits(hours)?, digits(minutes)?);
    (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
}

/// Reads `+02:00` or `-03:30` as minutes.
pub(super) fn parse_offset(text: &str) -> Option<i64> {
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let minutes = i64::try_from(minute(rest)?).ok().filter(|minutes| *minutes <= 14 * 60)?;
    Some(sign * minutes)
}

/// Reads `90s`, `10m`, `1h` or `2d` as milliseconds, a week at most.
pub(super) fn span_ms(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let unit = match unit {
        "s" => 1_000,
        "m" => MINUTE_MS,
        "h" => 60 * MINUTE_MS,
        "d" => DAY_MINUTES * MINUTE_MS,
        _ => return None,
    };
    let number: u64 = number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse().ok())??;
    number.checked_mul(unit).filter(|ms| *ms <= 7 * DAY_MINUTES * MINUTE_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 60 * MINUTE_MS;

    #[test]
    fn quiet_hours_hold_over_midnight_and_by_local_time() {
        let night = Hours::parse("22:00-07:00").unwrap();
        let (utc, east) = (Clock::default(), Clock { offset_minutes: 120 });
        for (hour, quiet) in [(21, false), (22, true), (0, true), (6, true), (7, false), (12, false)] {
            assert_eq!(night.holds(utc, hour * HOUR), quiet, "{hour}");
            assert_eq!(night.holds(east, (hour + 22) % 24 * HOUR), quiet, "{hour} local");
        }
        let noon = Hours::parse("12:00-13:30").unwrap();
        assert!(noon.holds(utc, 13 * HOUR + 29 * MINUTE_MS) && !noon.holds(utc, 13 * HOUR + 30 * MINUTE_MS));
        assert!(!Hours::parse("12:00-12:00").unwrap().holds(utc, 12 * HOUR), "no time at all");
    }

    #[test]
    fn a_round_is_counted_at_its_minute() {
        let clock = Clock { offset_minutes: -60 };
        let seven = 7 * 60;
        let before = clock.rounds(10 * 24 * HOUR + 8 * HOUR - 1, seven);
        assert_eq!(clock.rounds(10 * 24 * HOUR + 8 * HOUR, seven), before + 1);
        assert_eq!(clock.rounds(11 * 24 * HOUR + 8 * HOUR - 1, seven), before + 1);
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in ["", "7", "07:0", "24:00", "07:60", "aa:bb", "0é:00", "+1:00"] {
            assert_eq!(minute(text), None, "{text}");
        }
        assert_eq!(
            [parse_offset("+02:00"), parse_offset("-03:30"), parse_offset("+00:00")],
            [Some(120), Some(-210), Some(0)]
        );
        assert!(["", "2", "02:00", "+15:00", "é2:00"].iter().all(|text| parse_offset(text).is_none()));
        assert_eq!(
            [span_ms("90s"), span_ms("10m"), span_ms("1h"), span_ms("2d"), span_ms("0s")],
            [Some(90_000), Some(600_000), Some(3_600_000), Some(172_800_000), Some(0)]
        );
        assert!(
            ["", "s", "1", "1w", "-1s", "8d", "99999999999999999999s", "1é"].iter().all(|text| span_ms(text).is_none())
        );
    }
}
