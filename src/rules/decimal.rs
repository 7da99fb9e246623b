//! Strict reading of decimal text: digits and at most one point, bounded, never a float on the way.

use rust_decimal::Decimal;

/// Longest text read: enough for any figure an owner sets, far below where `Decimal` would round.
const MAX_LEN: usize = 20;

/// Reads a non-negative decimal written plainly (`12`, `0.5`): no sign, exponent, underscore or white space, a digit on
/// each side of the point, at most 20 characters. `None` for anything else.
#[must_use]
pub fn parse_decimal(text: &str) -> Option<Decimal> {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let plain = match text.split_once('.') {
        Some((whole, fraction)) => digits(whole) && digits(fraction),
        None => digits(text),
    };
    if !plain || text.len() > MAX_LEN {
        return None;
    }
    Decimal::from_str_exact(text).ok()
}

/// The shortest text of a decimal: no trailing zeros, no exponent.
pub(super) fn shortest(value: Decimal) -> String {
    value.normalize().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_digits_are_read() {
        for bad in ["", ".", "1.", ".5", "-1", "+1", "1e5", "1_000", " 1", "1 ", "1.2.3", "１", "000000000000000000001"]
        {
            assert_eq!(parse_decimal(bad), None, "{bad:?}");
        }
        assert_eq!(parse_decimal("00.50").map(shortest).as_deref(), Some("0.5"));
        assert_eq!(parse_decimal("100").map(shortest).as_deref(), Some("100"));
        assert_eq!(parse_decimal("12345678901234567890").map(shortest).as_deref(), Some("12345678901234567890"));
    }
}
