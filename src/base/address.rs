//! Account addresses and client order ids: fixed-size byte strings written as lower-case hex.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::hex::{HexError, decode_array, write_hex};
use super::keccak::keccak256;

/// A 20-byte account address. Shown as `0x` and 40 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(pub [u8; 20]);

/// A 16-byte client order id. Shown as `0x` and 32 lower-case hex digits.
/// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/exchange-endpoint>, "Client Order ID".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cloid(pub [u8; 16]);

impl Address {
    /// Reads the venue's forms: with or without `0x`, any digit case (ccxt sends vault addresses bare); `0X` is refused.
    ///
    /// # Errors
    /// When the text is not 40 hex digits.
    pub fn parse_lenient(text: &str) -> Result<Self, HexError> {
        decode_array(text.strip_prefix("0x").unwrap_or(text)).map(Self)
    }

    /// Whether the case of the text's letters fits them, where it is mixed: it is the checksum that wallets show
    /// (<https://eips.ethereum.org/EIPS/eip-55>). A text in one case has none.
    #[must_use]
    pub fn fits_case(self, text: &str) -> bool {
        let typed = text.strip_prefix("0x").unwrap_or(text);
        let has = |is: fn(&u8) -> bool| typed.as_bytes().iter().any(is);
        if !(has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase)) {
            return true;
        }
        let plain = typed.to_ascii_lowercase();
        let nibbles = keccak256(plain.as_bytes()).into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
        typed
            .bytes()
            .zip(nibbles)
            .all(|(letter, nibble)| !letter.is_ascii_alphabetic() || letter.is_ascii_uppercase() == (nibble >= 8))
    }
}

impl FromStr for Address {
    type Err = HexError;

    fn from_str(text: &str) -> Result<Self, HexError> {
        decode_array(text.strip_prefix("0x").ok_or(HexError { digits: 40 })?).map(Self)
    }
}

impl FromStr for Cloid {
    type Err = HexError;

    fn from_str(text: &str) -> Result<Self, HexError> {
        decode_array(text.strip_prefix("0x").ok_or(HexError { digits: 32 })?).map(Self)
    }
}

macro_rules! hex_text {
    ($name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("0x")?;
                write_hex(f, &self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(de::Error::custom)
            }
        }
    };
}

hex_text!(Address);
hex_text!(Cloid);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_lower_cased_and_length_checked() {
        let address: Address = "0x14791697260E4c9A71f18484C9f997B308e59325".parse().unwrap();
        assert_eq!(address.to_string(), "0x14791697260e4c9a71f18484c9f997b308e59325");
        assert_eq!(Address::parse_lenient("14791697260E4c9A71f18484C9f997B308e59325").unwrap(), address);
        for bad in ["", "0x", "14791697260e4c9a71f18484c9f997b308e59325", "0x14791697260e4c9a71f18484c9f997b308e5932"] {
            assert!(bad.parse::<Address>().is_err(), "{bad}");
        }
        assert!(Address::parse_lenient("0X14791697260e4c9a71f18484c9f997b308e59325").is_err());
        assert!("0x14791697260e4c9a71f18484c9f997b308e5932g".parse::<Address>().is_err());
    }

    /// The examples of the proposal, and what a slip of the hand makes of one.
    #[test]
    fn mixed_letters_are_a_checksum() {
        let fits = |text: &str| text.parse::<Address>().unwrap().fits_case(text);
        for right in [
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
            "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
            "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
            "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
            "0x52908400098527886E0F7030069857D2E4169EE7",
            "0xde709f2102306220921060314715629080e2fb77",
        ] {
            assert!(fits(right), "{right}");
            assert!(fits(&right.to_lowercase()));
        }
        assert!(!fits("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee"));
        assert!(!fits("0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed"));
    }
}
