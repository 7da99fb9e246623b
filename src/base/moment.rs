//! Moments and spans of time as they are read. Pure arithmetic; no clock and no time zone may enter here.

use std::fmt::Write;

use super::day::day_of;

/// A moment for people: `2027-01-15 08:00:00 UTC`.
#[must_use]
pub fn utc(ms: u64) -> String {
    format!("{} {} UTC", day_of(ms), clock(ms))
}

/// A moment to the millisecond, which sorts as the moments do: `2027-01-15T08:00:00.000Z`.
#[must_use]
pub fn iso(ms: u64) -> String {
    let mut text = String::with_capacity("2027-01-15T08:00:00.000Z".len());
    // Writing to a String cannot fail.
    _ = write!(text, "{}", day_of(ms));
    let seconds = ms / 1_000;
    // A year of fills has a million of them.
    for (mark, number, digits) in
        [('T', seconds / 3_600 % 24, 2), (':', seconds / 60 % 60, 2), (':', seconds % 60, 2), ('.', ms % 1_000, 3)]
    {
        text.push(mark);
        push_digits(&mut text, number, digits);
    }
    text.push('Z');
    text
}

/// Puts a number's last digits to a text, zeros before them where it has less.
fn push_digits(text: &mut String, number: u64, digits: u32) {
    for place in (0..digits).rev() {
        let digit = number / 10_u64.pow(place) % 10;
        // Below ten.
        text.push(char::from(b'0' | u8::try_from(digit).unwrap_or_default()));
    }
}

/// The time of a moment's day, UTC: `08:00:00`.
#[must_use]
pub fn clock(ms: u64) -> String {
    let seconds = ms / 1_000;
    format!("{:02}:{:02}:{:02}", seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60)
}

/// A span of time in its largest units, as `800 ms`, `5.1 s`, `12 s`, `3 min`, `2 h 5 min` or `3 days 1 h`. What is cut off counts
/// as one more of the last unit: a time that is over its limit never reads as the limit itself.
#[must_use]
pub fn span(ms: u64) -> String {
    let (seconds, minutes, hours) = (ms.div_ceil(1_000), ms.div_ceil(60_000), ms.div_ceil(3_600_000));
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..10_000 => {
            let tenths = ms.div_ceil(100);
            if tenths.is_multiple_of(10) {
                format!("{seconds} s")
            } else {
                format!("{}.{} s", tenths / 10, tenths % 10)
            }
        }
        10_000..=120_000 => format!("{seconds} s"),
        120_001..=7_200_000 => format!("{minutes} min"),
        7_200_001..=172_800_000 => two(minutes / 60, "h", minutes % 60, "min"),
        _ => two(hours / 24, "days", hours % 24, "h"),
    }
}

fn two(large: u64, of_large: &str, small: u64, of_small: &str) -> String {
    if small == 0 { format!("{large} {of_large}") } else { format!("{large} {of_large} {small} {of_small}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_for_people_and_for_machines() {
        let ms = 1_800_000_000_000 + 3_723_045;
        assert_eq!(utc(ms), "2027-01-15 09:02:03 UTC");
        assert_eq!(iso(ms), "2027-01-15T09:02:03.045Z");
        assert_eq!((utc(0), iso(0)), ("1970-01-01 00:00:00 UTC".into(), "1970-01-01T00:00:00.000Z".into()));
    }

    #[test]
    fn a_span_is_told_in_its_largest_units() {
        for (ms, told) in [
            (0, "0 ms"),
            (999, "999 ms"),
            (1_000, "1 s"),
            (5_000, "5 s"),
            (5_001, "5.1 s"),
            (9_901, "10 s"),
            (10_000, "10 s"),
            (15_001, "16 s"),
            (120_000, "120 s"),
            (120_001, "3 min"),
            (7_200_000, "120 min"),
            (7_200_001, "2 h 1 min"),
            (7_500_000, "2 h 5 min"),
            (172_800_000, "48 h"),
            (172_800_001, "2 days 1 h"),
            (259_200_000, "3 days"),
        ] {
            assert_eq!(span(ms), told, "{ms}");
        }
        assert!(span(u64::MAX).ends_with(" h"), "{}", span(u64::MAX));
    }
}
