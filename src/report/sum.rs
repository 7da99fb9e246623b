//! Sums that are exact whatever is added in whatever order: a `Decimal` has room for 28 digits and rounds without a word
//! where a year's volume meets a fee with a long tail.

use std::fmt;
use std::ops::{AddAssign, Neg};

use rust_decimal::Decimal;

/// The most decimals that a `Decimal` has.
const DECIMALS: u32 = 28;
/// Parts in a whole.
const UNIT: i128 = 10_i128.pow(DECIMALS);
/// What one is with so many zeros behind it: each amount asks for two of them.
const POWERS: [i128; DECIMALS as usize + 1] = powers();
const NO_UNIT: i128 = -UNIT;
/// As many decimals as nearly all amounts have at most, and what is behind them of one with no more.
const SHORT_DECIMALS: u32 = 18;
const SHORT: u128 = 10_u128.pow(DECIMALS - SHORT_DECIMALS);

#[expect(clippy::indexing_slicing, reason = "worked out by the compiler, which refuses what is out of bounds")]
const fn powers() -> [i128; DECIMALS as usize + 1] {
    let (mut powers, mut at) = ([1; DECIMALS as usize + 1], 1);
    while at < powers.len() {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
}

/// No amount has more than 28 decimals.
fn power(scale: u32) -> i128 {
    usize::try_from(scale).ok().and_then(|scale| POWERS.get(scale).copied()).unwrap_or(UNIT)
}

/// A sum of amounts: a whole number, and parts of the same sign that do not make up one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    whole: i128,
    parts: i128,
}

impl Sum {
    /// The exact product of a price and a size; rounded only where both together have more than 28 decimals or 38 digits,
    /// which no amount of the venue's has.
    #[must_use]
    pub fn product(price: Decimal, size: Decimal) -> Sum {
        let (price, size) = (price.normalize(), size.normalize());
        let scale = price.scale().saturating_add(size.scale());
        let exact = price.mantissa().checked_mul(size.mantissa()).filter(|_| scale <= DECIMALS);
        exact.map_or_else(|| price.saturating_mul(size).into(), |mantissa| Sum::scaled(mantissa, scale))
    }

    /// `mantissa` with its last `scale` digits behind the point.
    fn scaled(mantissa: i128, scale: u32) -> Sum {
        let (unit, fill) = (power(scale), power(DECIMALS.saturating_sub(scale)));
        // Nearly all amounts are short, and a machine divides those in a fraction of the time.
        let (whole, rest) = match (i64::try_from(mantissa), i64::try_from(unit)) {
            (Ok(mantissa), Ok(unit)) => (i128::from(mantissa / unit), i128::from(mantissa % unit)),
            _ => (mantissa / unit, mantissa % unit),
        };
        // The rest is below `unit`, so that it fits below `UNIT` when it is filled up.
        Sum { whole, parts: rest.saturating_mul(fill) }
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.whole == 0 && self.parts == 0
    }

    /// The same as one `Decimal`, where it fits into one.
    #[must_use]
    pub fn to_decimal(self) -> Option<Decimal> {
        Decimal::from_str_exact(&self.to_string()).ok()
    }

    /// Carries a whole one over, and gives both parts one sign. The parts of two sums make up one at most.
    fn carried(whole: i128, parts: i128) -> Sum {
        let (mut whole, mut parts) = match parts {
            UNIT.. => (whole.saturating_add(1), parts.saturating_sub(UNIT)),
            i128::MIN..=NO_UNIT => (whole.saturating_sub(1), parts.saturating_add(UNIT)),
            _ => (whole, parts),
        };
        if whole > 0 && parts < 0 {
            (whole, parts) = (whole.saturating_sub(1), parts.saturating_add(UNIT));
        } else if whole < 0 && parts > 0 {
            (whole, parts) = (whole.saturating_add(1), parts.saturating_sub(UNIT));
        }
        Sum { whole, parts }
    }
}

impl From<Decimal> for Sum {
    fn from(amount: Decimal) -> Sum {
        Sum::scaled(amount.mantissa(), amount.scale())
    }
}

impl AddAssign for Sum {
    fn add_assign(&mut self, other: Sum) {
        // Parts are below 10^28 on both sides, and 10^38 whole ones are more than there is money.
        let parts = self.parts.saturating_add(other.parts);
        *self = Sum::carried(self.whole.saturating_add(other.whole), parts);
    }
}

impl AddAssign<Decimal> for Sum {
    fn add_assign(&mut self, amount: Decimal) {
        *self += Sum::from(amount);
    }
}

impl Neg for Sum {
    type Output = Sum;

    fn neg(self) -> Sum {
        Sum { whole: self.whole.saturating_neg(), parts: self.parts.saturating_neg() }
    }
}

impl fmt::Display for Sum {
    /// The shortest text: no zeros at the end, no exponent.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, parts) = (self.whole.unsigned_abs(), self.parts.unsigned_abs());
        let is_negative = self.whole < 0 || self.parts < 0;
        let short = u64::try_from(whole).ok().zip(u64::try_from(parts / SHORT).ok()).filter(|_| parts % SHORT == 0);
        if let Some((whole, parts)) = short {
            return f.write_str(Shortly::of(is_negative, whole, parts).text());
        }
        let sign = if is_negative { "-" } else { "" };
        if parts == 0 {
            return write!(f, "{sign}{whole}");
        }
        let digits = format!("{parts:028}");
        write!(f, "{sign}{whole}.{}", digits.trim_end_matches('0'))
    }
}

/// One amount as [`Sum`] shows it, which most are shown as without being one.
pub(super) struct Shown(pub(super) Decimal);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mantissa, scale) = (self.0.mantissa(), self.0.scale());
        match u64::try_from(mantissa.unsigned_abs()) {
            Ok(digits) => f.write_str(Shortly::scaled(mantissa < 0, digits, scale).text()),
            Err(_) => Sum::from(self.0).fmt(f),
        }
    }
}

/// A short amount's text, written from its end: a year of fills has ten million of them.
struct Shortly {
    bytes: [u8; 48],
    begin: usize,
}

impl Shortly {
    const EMPTY: Shortly = Shortly { bytes: [0; 48], begin: 48 };

    /// `parts` has [`SHORT_DECIMALS`] digits.
    fn of(is_negative: bool, whole: u64, parts: u64) -> Shortly {
        let mut text = Self::EMPTY;
        text.decimals(parts, SHORT_DECIMALS);
        text.whole(is_negative, whole)
    }

    /// Digits, of which so many stand behind the point.
    fn scaled(is_negative: bool, digits: u64, scale: u32) -> Shortly {
        let mut text = Self::EMPTY;
        let whole = text.decimals(digits, scale);
        text.whole(is_negative, whole)
    }

    /// The point and so many of the last digits behind it, without zeros at the end; what is left of the digits.
    fn decimals(&mut self, mut digits: u64, mut scale: u32) -> u64 {
        while scale > 0 && digits.is_multiple_of(10) {
            (digits, scale) = (digits / 10, scale.saturating_sub(1));
        }
        if scale > 0 {
            (0..scale).for_each(|_| self.digit(&mut digits));
            self.put(b'.');
        }
        digits
    }

    fn whole(mut self, is_negative: bool, mut rest: u64) -> Shortly {
        self.digit(&mut rest);
        while rest > 0 {
            self.digit(&mut rest);
        }
        if is_negative {
            self.put(b'-');
        }
        self
    }

    fn digit(&mut self, rest: &mut u64) {
        // Below ten.
        self.put(b'0' | u8::try_from(*rest % 10).unwrap_or_default());
        *rest /= 10;
    }

    fn put(&mut self, byte: u8) {
        self.begin = self.begin.saturating_sub(1);
        self.bytes.get_mut(self.begin).into_iter().for_each(|place| *place = byte);
    }

    fn text(&self) -> &str {
        self.bytes.get(self.begin..).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rust_decimal::dec;

    use super::*;

    fn sum(amounts: &[Decimal]) -> Sum {
        let mut sum = Sum::default();
        amounts.iter().for_each(|amount| sum += *amount);
        sum
    }

    #[test]
    fn sums_are_shown_short_and_signed() {
        for (amounts, text) in [
            (&[][..], "0"),
            (&[dec!(1.10), dec!(2.20)][..], "3.3"),
            (&[dec!(-0.5)], "-0.5"),
            (&[dec!(1), dec!(-0.25)], "0.75"),
            (&[dec!(-1), dec!(0.25)], "-0.75"),
            (&[dec!(0.5), dec!(-0.5)], "0"),
            (&[dec!(18446744073709551615)], "18446744073709551615"),
            (&[dec!(18446744073709551616)], "18446744073709551616"),
            (&[dec!(-18446744073709551616)], "-18446744073709551616"),
            (&[dec!(18446744073709551616.5)], "18446744073709551616.5"),
            (&[Decimal::MAX], "79228162514264337593543950335"),
            (
                &[dec!(100000000000000000000), dec!(0.0000000000000000000000000001)],
                "100000000000000000000.0000000000000000000000000001",
            ),
        ] {
            assert_eq!(sum(amounts).to_string(), text);
        }
        for amount in [
            Decimal::MAX,
            Decimal::MIN,
            dec!(18446744073709551615),
            dec!(-18446744073709551616),
            dec!(-0.00),
            dec!(1.50),
        ] {
            assert_eq!(Shown(amount).to_string(), Sum::from(amount).to_string());
        }
        assert_eq!(Sum::product(dec!(60000.5), dec!(0.00001)).to_string(), "0.600005");
        assert_eq!(Sum::product(dec!(-3), dec!(0.5)).to_string(), "-1.5");
    }

    proptest! {
        #[test]
        fn the_order_does_not_matter_and_what_is_taken_off_is_gone(
            amounts in prop::collection::vec((any::<i64>(), 0_u32..=28), 1..20)
        ) {
            let amounts: Vec<Decimal> = amounts.into_iter().map(|(mantissa, scale)| Decimal::new(mantissa, scale)).collect();
            let forward = sum(&amounts);
            let backward = sum(&amounts.iter().rev().copied().collect::<Vec<_>>());
            prop_assert_eq!(forward, backward);
            let mut rest = forward;
            rest += -sum(&amounts);
            prop_assert!(rest.is_zero());
            prop_assert_eq!(Sum::from(amounts[0]).to_decimal(), Some(amounts[0]));
            let shown = amounts[0].normalize();
            prop_assert_eq!(Sum::from(amounts[0]).to_string(), shown.to_string());
            prop_assert_eq!(Shown(amounts[0]).to_string(), shown.to_string());
        }
    }
}
