//! How numbers and addresses look in info answers and replies.

use rust_decimal::Decimal;
use svc_guard::base::address::Address;

/// A number as info answers print it: always with a fraction (`"423.0"`).
pub(crate) fn num(value: Decimal) -> String {
    let mut text = plain(value);
    if !text.contains('.') {
        text.push_str(".0");
    }
    text
}

/// A number in its shortest form, as trigger conditions print it (`Price above 7`).
pub(crate) fn plain(value: Decimal) -> String {
    let value = value.normalize();
    // There is no negative zero on the wire.
    if value.is_zero() { "0".into() } else { value.to_string() }
}

/// A number of US dollars, cut to the digits the venue shows.
pub(crate) fn usd(value: Decimal) -> String {
    num(value.round_dp(10))
}

/// The address a request's member names, if it is one in a form the venue reads.
pub(crate) fn address(text: &str) -> Option<Address> {
    Address::parse_lenient(text).ok()
}
