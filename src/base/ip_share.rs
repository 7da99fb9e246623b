//! The share of the machine's IP budget at the venue that one service may spend.

use std::fmt;

use rust_decimal::Decimal;

use crate::base::amount::parse_setting;

/// Request weight the venue grants one IP address a minute
/// (<https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits>).
pub const IP_BUDGET: u32 = 1_200;

/// The least share is one in this many.
const LEAST: u32 = 8;

/// The least budget a minute that one guard can be safe with: its slowest reads and one full flatten.
pub const SMALLEST_BUDGET: u32 = IP_BUDGET / LEAST;

/// Largest number in a fraction: more services than fit one machine.
const MAX_TERM: u32 = 1_000_000;

/// A fraction of the IP budget, exact, from 1/8 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpShare {
    numerator: u32,
    denominator: u32,
}

/// Why an IP share is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShareError {
    /// It is no fraction, decimal or whole number.
    Text,
    /// It is over 1.
    TooLarge,
    /// It is under the least share; the weight a minute that it would leave.
    TooSmall(u32),
}

impl fmt::Display for ShareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let least = SMALLEST_BUDGET;
        match self {
            Self::Text => f.write_str("must be 1, a fraction such as 1/3, or a decimal such as 0.25"),
            Self::TooLarge => f.write_str("is over 1, the whole budget of this machine's IP address"),
            Self::TooSmall(weight) => write!(
                f,
                "leaves {weight} of the venue's {IP_BUDGET} weight a minute; the guard's own reads and one full \
                 flatten need {least}, so the least share is 1/{LEAST} ({IP_BUDGET} / {LEAST} = {least}): run \
                 fewer services on this machine or give each its own IP address"
            ),
        }
    }
}

impl IpShare {
    /// The whole budget.
    pub const WHOLE: Self = Self { numerator: 1, denominator: 1 };

    /// Reads `1`, a fraction (`1/3`) or a decimal (`0.25`), and keeps it exactly.
    ///
    /// # Errors
    /// When it is none of these, over 1, or under 1/8.
    pub fn parse(text: &str) -> Result<Self, ShareError> {
        let (numerator, denominator) = match text.split_once('/') {
            Some((numerator, denominator)) => (term(numerator)?, term(denominator)?),
            None => decimal_terms(text)?,
        };
        if denominator == 0 {
            return Err(ShareError::Text);
        }
        if numerator > denominator {
            return Err(ShareError::TooLarge);
        }
        let divisor = common_divisor(numerator, denominator);
        let share = Self { numerator: numerator.div_euclid(divisor), denominator: denominator.div_euclid(divisor) };
        // Terms are at most 1,000,000, so neither product leaves a u32.
        if share.numerator.saturating_mul(LEAST) < share.denominator {
            return Err(ShareError::TooSmall(share.budget_per_minute()));
        }
        Ok(share)
    }

    /// The share that was likely meant by a text that is none: the least by one that is too small, one part in as many as a whole
    /// number says, the whole by another that is too large, one in percent as its decimal, a fraction by one with a colon, a decimal by
    /// one with a comma or without its zero, and else the one of `now`, or a half, as an example, where there is none.
    #[must_use]
    pub fn likely(text: &str, now: Option<Self>) -> Self {
        match Self::parse(text) {
            Err(ShareError::TooSmall(_)) => return Self { numerator: 1, denominator: LEAST },
            // So many guards share it: each takes one part.
            Err(ShareError::TooLarge) if !text.ends_with('%') => return parts(text).unwrap_or(Self::WHOLE),
            _ => {}
        }
        let percent = text.strip_suffix('%').and_then(|percent| parse_setting(percent.trim()));
        let share = percent.and_then(|percent| percent.checked_div(Decimal::ONE_HUNDRED));
        let plain = text.replace(':', "/").replace(',', ".").replace(' ', "");
        let plain = if plain.starts_with('.') { format!("0{plain}") } else { plain };
        share
            .and_then(|share| Self::parse(&share.normalize().to_string()).ok())
            .or_else(|| Self::parse(&plain).ok())
            .or(now)
            .unwrap_or(Self { numerator: 1, denominator: 2 })
    }

    /// Weight a minute this share allows, rounded down.
    #[must_use]
    pub fn budget_per_minute(self) -> u32 {
        let weight = u64::from(IP_BUDGET).saturating_mul(u64::from(self.numerator));
        // A share is at most 1, so the budget is at most the whole.
        u32::try_from(weight.div_euclid(u64::from(self.denominator))).unwrap_or(IP_BUDGET)
    }
}

impl fmt::Display for IpShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.denominator {
            1 => write!(f, "{}", self.numerator),
            denominator => write!(f, "{}/{denominator}", self.numerator),
        }
    }
}

/// One part in so many.
fn parts(text: &str) -> Option<IpShare> {
    let whole = term(text).ok().filter(|parts| *parts > 1)?;
    Some(IpShare { numerator: 1, denominator: whole.min(LEAST) })
}

fn term(text: &str) -> Result<u32, ShareError> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(number) if digits && number <= MAX_TERM => Ok(number),
        _ => Err(ShareError::Text),
    }
}

/// A decimal of at most six places as a fraction.
fn decimal_terms(text: &str) -> Result<(u32, u32), ShareError> {
    let value = parse_setting(text).ok_or(ShareError::Text)?.normalize();
    if value > Decimal::ONE {
        return Err(ShareError::TooLarge);
    }
    let denominator = 10_u32.checked_pow(value.scale()).filter(|&terms| terms <= MAX_TERM).ok_or(ShareError::Text)?;
    let numerator = u32::try_from(value.mantissa()).map_err(|_| ShareError::Text)?;
    Ok((numerator, denominator))
}

/// Greatest common divisor; 1 or more because the second number is never 0.
fn common_divisor(mut a: u32, mut b: u32) -> u32 {
    while a != 0 {
        (a, b) = (b.rem_euclid(a), a);
    }
    b.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_kept_exactly() {
        for (text, shown, budget) in [
            ("1", "1", 1_200),
            ("1.0", "1", 1_200),
            ("1/3", "1/3", 400),
            ("2/6", "1/3", 400),
            ("0.25", "1/4", 300),
            ("1/7", "1/7", 171),
            ("1/8", "1/8", 150),
            ("0.125", "1/8", 150),
            ("125000/1000000", "1/8", 150),
        ] {
            let share = IpShare::parse(text).unwrap();
            assert_eq!((share.to_string().as_str(), share.budget_per_minute()), (shown, budget), "{text}");
        }
    }

    #[test]
    fn a_share_too_small_is_refused_with_the_arithmetic() {
        assert_eq!(IpShare::parse("1/9"), Err(ShareError::TooSmall(133)));
        assert_eq!(IpShare::parse("0.124999"), Err(ShareError::TooSmall(149)));
        assert_eq!(IpShare::parse("0"), Err(ShareError::TooSmall(0)));
        let text = ShareError::TooSmall(133).to_string();
        assert!(text.contains("leaves 133 of") && text.contains("1200 / 8 = 150"), "{text}");
    }

    #[test]
    fn what_was_likely_meant_is_the_share_of_now_where_nothing_tells() {
        let now = IpShare::parse("1/4").ok();
        for (text, likely, likely_first) in [
            ("x", "1/4", "1/2"),
            ("1/", "1/4", "1/2"),
            ("1:3", "1/3", "1/3"),
            ("1 / 3", "1/3", "1/3"),
            ("25%", "1/4", "1/4"),
            (".2", "1/5", "1/5"),
            ("0,2", "1/5", "1/5"),
            (".", "1/4", "1/2"),
            ("2", "1/2", "1/2"),
            ("1/9", "1/8", "1/8"),
        ] {
            assert_eq!(IpShare::likely(text, now).to_string(), likely, "{text}");
            assert_eq!(IpShare::likely(text, None).to_string(), likely_first, "{text}");
        }
    }

    #[test]
    fn what_is_no_share_is_refused() {
        for text in
            ["", "x", "1/", "/3", "1/0", "0/0", "-1", "+1/3", "1/3/5", "1 / 3", "0.1234567", "1/1000001", "1e-1"]
        {
            assert_eq!(IpShare::parse(text), Err(ShareError::Text), "{text}");
        }
        for text in ["2", "1.1", "4/3", "1.000001"] {
            assert_eq!(IpShare::parse(text), Err(ShareError::TooLarge), "{text}");
        }
    }
}
