//! Exact decimal amounts as text: of actions, of answers, and of an owner's settings.
//!
//! Prices and sizes travel as strings. The venue reads them strictly, pads and strips zeros freely, and hashes the
//! shortest form; so does this module. `Decimal::from_str` is never used on its own: it takes exponents and
//! underscores, and rounds without a word.

use std::fmt;

use rust_decimal::{Decimal, RoundingStrategy, dec};

/// Most decimals of an amount on the wire: the official Python SDK writes so many, and the venue refuses a ninth that
/// is not zero (observed on its test network).
pub const MAX_DECIMALS: u32 = 8;
/// Most digits before the point; far above any price or size, and small enough for exact products of two amounts.
const MAX_WHOLE_DIGITS: usize = 12;
/// Longest text of an action's amount; zero padding beyond this serves nobody.
const MAX_TEXT: usize = 64;
/// Longest text of a setting: enough for any figure an owner sets, far below where `Decimal` would round.
const MAX_SETTING: usize = 20;

/// Why a text is no amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AmountError {
    /// Empty, signed, with an exponent, or with anything but digits and one point.
    Form,
    /// A non-zero ninth decimal.
    Decimals,
    /// Too many digits before the point, or too long a text.
    Size,
}

impl fmt::Display for AmountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AmountError::Form => f.write_str("expected digits with at most one point, such as \"0.5\""),
            AmountError::Decimals => write!(f, "at most {MAX_DECIMALS} decimals"),
            AmountError::Size => write!(f, "at most {MAX_WHOLE_DIGITS} digits before the point"),
        }
    }
}

impl std::error::Error for AmountError {}

/// Reads an amount of an action: digits, at most one point, not negative, at most eight decimals that count.
///
/// # Errors
/// When the venue would not read it as this amount either.
pub fn parse_wire(text: &str) -> Result<Decimal, AmountError> {
    if text.is_empty() || text.len() > MAX_TEXT {
        return Err(if text.is_empty() { AmountError::Form } else { AmountError::Size });
    }
    let (whole, fraction) = digits(text).ok_or(AmountError::Form)?;
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    if whole.len() > MAX_WHOLE_DIGITS {
        return Err(AmountError::Size);
    }
    let scale = u32::try_from(fraction.len()).map_err(|_| AmountError::Decimals)?;
    if scale > MAX_DECIMALS {
        return Err(AmountError::Decimals);
    }
    let mantissa = whole.bytes().chain(fraction.bytes()).fold(0_i128, |value, digit| {
        // At most 20 digits, checked above: far inside i128.
        value * 10 + i128::from(digit - b'0')
    });
    Decimal::try_from_i128_with_scale(mantissa, scale).map_err(|_| AmountError::Size)
}

/// Reads a setting: digits and at most one point with a digit on each side, at most 20 characters. `None` for
/// anything else.
#[must_use]
pub fn parse_setting(text: &str) -> Option<Decimal> {
    digits(text).filter(|_| text.len() <= MAX_SETTING)?;
    Decimal::from_str_exact(text).ok()
}

/// The digits before and after the point; "0" after a point that is not there.
fn digits(text: &str) -> Option<(&str, &str)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let are_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    (are_digits(whole) && are_digits(fraction)).then_some((whole, fraction))
}

/// The shortest text of an amount: no exponent, no zeros at the end. This is the form that is signed.
#[must_use]
pub fn to_wire(amount: Decimal) -> String {
    amount.normalize().to_string()
}

/// An amount as the venue prints it in answers: at least one decimal (`"423.0"`).
#[must_use]
pub fn to_answer(amount: Decimal) -> String {
    let mut amount = amount.normalize();
    if amount.scale() == 0 {
        amount.rescale(1);
    }
    amount.to_string()
}

/// Reads a decimal of an info answer, which may be negative and may show a binary tail (`"3173167.3515860001"`).
///
/// # Errors
/// When the text is not a plain decimal number of at most 28 digits before the point.
pub fn parse_info(text: &str) -> Result<Decimal, AmountError> {
    let plain = text.strip_prefix('-').unwrap_or(text);
    if plain.is_empty() || !plain.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return Err(AmountError::Form);
    }
    // Rounding beyond 28 digits is wanted here: such digits are noise of the venue's number printing.
    text.parse::<Decimal>().map_err(|_| AmountError::Size)
}

/// Reads a count: digits and nothing else, none of them left out. `None` for anything else, and for one that is too large.
#[must_use]
pub fn parse_count(text: &str) -> Option<u64> {
    let digit = |byte: u8| byte.is_ascii_digit().then(|| u64::from(byte - b'0'));
    let mut count = text.bytes().try_fold(0_u64, |count, byte| count.checked_mul(10)?.checked_add(digit(byte)?));
    count.take_if(|_| !text.is_empty())
}

/// An amount of USDC for a text, to the nearest cent, as the page shows it.
#[must_use]
pub fn cents(amount: Decimal) -> String {
    let nearest = amount.round_dp_with_strategy(2, RoundingStrategy::MidpointAwayFromZero);
    format!("{:.2}", if nearest.is_zero() { Decimal::ZERO } else { nearest })
}

/// `percent` percent of `amount`.
#[must_use]
pub fn percent_of(amount: Decimal, percent: Decimal) -> Decimal {
    amount.saturating_mul(percent.saturating_mul(dec!(0.01)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cents_are_the_nearest() {
        for (amount, text) in [
            (dec!(0), "0.00"),
            (dec!(-0.004), "0.00"),
            (dec!(0.005), "0.01"),
            (dec!(-0.005), "-0.01"),
            (dec!(1804.08982), "1804.09"),
            (dec!(1804.0849), "1804.08"),
            (dec!(99.995), "100.00"),
            (dec!(5), "5.00"),
        ] {
            assert_eq!(cents(amount), text);
        }
    }

    #[test]
    fn counts_are_digits_alone() {
        let most = u64::MAX.to_string();
        for (text, count) in [("0", Some(0)), ("1800000000000", Some(1_800_000_000_000)), (&most, Some(u64::MAX))] {
            assert_eq!(parse_count(text), count);
        }
        for text in ["", "-1", "+1", "1.0", " 1", "1e3", "18446744073709551616", "99999999999999999999"] {
            assert_eq!(parse_count(text), None, "{text}");
        }
    }

    #[test]
    fn wire_amounts_are_read_strictly() {
        for (text, canonical) in
            [("0", "0"), ("1800.10", "1800.1"), ("0.00000001", "0.00000001"), ("007", "7"), ("1.000000000000", "1")]
        {
            assert_eq!(to_wire(parse_wire(text).unwrap()), canonical, "{text}");
        }
        for text in ["", "-1", "+1", "1e5", "1_000", ".5", "5.", "NaN", " 1", "1.2.3", "0x1"] {
            assert_eq!(parse_wire(text), Err(AmountError::Form), "{text}");
        }
        assert_eq!(parse_wire("0.000000001"), Err(AmountError::Decimals));
        assert!(parse_wire("999999999999").is_ok());
        assert_eq!(parse_wire("1000000000000"), Err(AmountError::Size));
        assert_eq!(parse_wire(&"0".repeat(65)), Err(AmountError::Size));
    }

    #[test]
    fn settings_are_plain_digits() {
        for bad in ["", ".", "1.", ".5", "-1", "+1", "1e5", "1_000", " 1", "1 ", "1.2.3", "１", "000000000000000000001"]
        {
            assert_eq!(parse_setting(bad), None, "{bad:?}");
        }
        assert_eq!(parse_setting("00.50").map(to_wire).as_deref(), Some("0.5"));
        assert_eq!(parse_setting("100").map(to_wire).as_deref(), Some("100"));
        assert_eq!(parse_setting("12345678901234567890").map(to_wire).as_deref(), Some("12345678901234567890"));
    }

    #[test]
    fn info_amounts_may_be_negative_and_long() {
        assert_eq!(parse_info("-339414.3").unwrap().to_string(), "-339414.3");
        assert!(parse_info("3173167.3515860001").is_ok());
        assert!(parse_info("0.1000000000000000055511151231257827021181583404541015625").is_ok());
        for text in ["", "-", "1e5", "1_0", "abc", "--1"] {
            assert!(parse_info(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_wire_form_reads_back_as_the_same_amount(mantissa in 0_i64..1_000_000_000_000_000, scale in 0_u32..=8) {
            let amount = Decimal::new(mantissa, scale);
            prop_assume!(amount < Decimal::from(1_000_000_000_000_i64));
            let text = to_wire(amount);
            prop_assert_eq!(parse_wire(&text).unwrap(), amount);
            prop_assert!(!text.contains('.') || !text.ends_with('0'));
        }

        #[test]
        fn no_text_panics(text in ".{0,80}") {
            let _ = (parse_wire(&text), parse_info(&text));
        }
    }
}
