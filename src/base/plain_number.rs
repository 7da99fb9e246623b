//! The number that was surely meant by a text that is none: a thousand in groups, a comma for the point, a unit beside it.
//!
//! A number that somebody might not have meant is none: what is advised is typed without a thought.

use std::fmt;

use super::amount::parse_setting;
use super::text::QUOTES;

/// Names of the one unit that is written beside an amount.
const UNITS: [&str; 4] = ["$", "USDC", "usdc", "USD"];

/// A number in the plain digits that are taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plain {
    /// Its digits, with a point where it has one.
    pub digits: String,
    how: How,
}

/// How what was typed differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// A unit or quotes stand beside it.
    Dressed,
    /// Its thousands are parted.
    Grouped,
    /// A comma stands for its point.
    Comma,
}

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.how {
            How::Dressed => write!(f, "digits alone say it: {}", self.digits),
            How::Grouped => {
                write!(f, "nothing parts its digits: a thousand is written 1000, and this is {} then", self.digits)
            }
            How::Comma => write!(f, "a point parts the digits: {}", self.digits),
        }
    }
}

/// The number that was meant; none where that is not certain, and where the text is one already.
#[must_use]
pub fn meant(typed: &str) -> Option<Plain> {
    let mut bare = typed.trim().trim_matches(QUOTES).trim();
    for unit in UNITS {
        bare = bare.strip_prefix(unit).or_else(|| bare.strip_suffix(unit)).unwrap_or(bare).trim();
    }
    let found = |how, digits: Option<String>| {
        let digits = digits.filter(|digits| digits != typed && parse_setting(digits).is_some());
        digits.map(|digits| Plain { digits, how })
    };
    found(How::Dressed, Some(bare.to_owned()))
        .or_else(|| found(How::Grouped, joined(bare)))
        .or_else(|| found(How::Comma, pointed(bare)))
}

/// The digits of groups of three, with the same sign between all of them, and of what stands behind the other sign.
fn joined(bare: &str) -> Option<String> {
    for between in [',', '_', '\'', ' ', '.'] {
        let other = if between == '.' { ',' } else { '.' };
        let (whole, rest) = bare.split_once(other).map_or((bare, None), |(whole, rest)| (whole, Some(rest)));
        let groups: Vec<&str> = whole.split(between).collect();
        // One point alone, and nothing else, is a point.
        let least = if between == '.' && rest.is_none() { 3 } else { 2 };
        if groups.len() >= least && are_groups(&groups) && rest.is_none_or(is_digits) {
            return Some(rest.map_or_else(|| groups.concat(), |rest| format!("{}.{rest}", groups.concat())));
        }
    }
    None
}

/// Whether these are the digits of a number above 999, three by three from its end.
fn are_groups(groups: &[&str]) -> bool {
    groups.split_first().is_some_and(|(first, rest)| {
        is_digits(first)
            && first.len() <= 3
            && !first.starts_with('0')
            && rest.iter().all(|group| is_digits(group) && group.len() == 3)
    })
}

/// A number with a comma in the place of its point. One before three digits may part thousands, also where the digits before it
/// are no group.
fn pointed(bare: &str) -> Option<String> {
    let (whole, rest) = bare.split_once(',')?;
    let is_point = is_digits(whole) && is_digits(rest) && (rest.len() != 3 || whole == "0");
    is_point.then(|| format!("{whole}.{rest}"))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_meant_where_it_can_be_no_other() {
        for (typed, digits) in [
            ("1,000", "1000"),
            ("1_000", "1000"),
            ("1 000 000", "1000000"),
            ("1'000", "1000"),
            ("1.000.000", "1000000"),
            ("1,000.50", "1000.50"),
            ("1.000,50", "1000.50"),
            ("1000,50", "1000.50"),
            ("1,5", "1.5"),
            ("0,500", "0.500"),
            ("$1000", "1000"),
            ("$1,000", "1000"),
            ("1000USDC", "1000"),
            ("“1000 usdc”", "1000"),
        ] {
            assert_eq!(meant(typed).map(|plain| plain.digits).as_deref(), Some(digits), "{typed}");
        }
    }

    #[test]
    fn a_number_that_may_be_another_is_none() {
        for typed in [
            "1e3",
            "1.5e6",
            "10k",
            "2m",
            "-5",
            "+5",
            "１０００",
            "1000,500",
            "0001,000",
            "1,00,000",
            "1,000,50",
            "1.2.3",
            "much",
            "",
            ",5",
            "5,",
            "1,000.5.0",
            "1,000 000",
            "1000",
            "10.5",
            "$",
            "12345678901234567890,123456",
        ] {
            assert_eq!(meant(typed), None, "{typed}");
        }
    }
}
