//! A tool's arguments, read strictly: every refusal names the argument, what is expected and what came. Pure.
//!
//! Numbers are read from their own digits, never through a floating-point number, so nothing is rounded on the way.

use std::fmt;

use rust_decimal::Decimal;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::base::amount::parse_wire;
use crate::base::kill_file::MAX_REASON_LEN;
use crate::base::text::{visible, without_keys};

/// Most characters of a wrong value that are repeated.
const MAX_SHOWN: usize = 60;
/// Most arguments; no tool has near so many.
const MAX_MEMBERS: usize = 32;

/// An argument that is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("argument `{name}`: expected {expected}, found {found}")]
pub(super) struct ArgumentError {
    pub(super) name: String,
    pub(super) expected: String,
    pub(super) found: String,
}

/// The arguments of one call, each as its own JSON text.
#[derive(Debug, Default)]
pub(super) struct Args {
    members: Vec<(String, Box<RawValue>)>,
}

impl Args {
    /// Reads the object of arguments; absent counts as empty. Only the names in `known` may stand in it, each once.
    ///
    /// # Errors
    /// The argument that is refused.
    pub(super) fn parse(text: Option<&str>, known: &[&str]) -> Result<Self, ArgumentError> {
        let whole =
            |found: String| ArgumentError { name: "arguments".to_owned(), expected: "an object".to_owned(), found };
        let members = match text {
            None | Some("null") => Vec::new(),
            Some(text) => members(text).map_err(|error| whole(visible(&error.to_string(), MAX_SHOWN)))?,
        };
        for (index, (name, _)) in members.iter().enumerate() {
            let twice = members.iter().take(index).any(|(other, _)| other == name);
            if twice || !known.contains(&name.as_str()) {
                let expected = if known.is_empty() { "no arguments".to_owned() } else { known.join(", ") };
                let found = if twice { "it twice" } else { "a name that this tool does not take" };
                let expected = if twice { "it once".to_owned() } else { format!("one of {expected}") };
                return Err(ArgumentError { name: visible(name, MAX_SHOWN), expected, found: found.to_owned() });
            }
        }
        Ok(Self { members })
    }

    /// The JSON text of an argument, unless absent or null.
    fn raw(&self, name: &str) -> Option<&str> {
        let found = self.members.iter().find(|(known, _)| known == name);
        found.map(|(_, raw)| raw.get()).filter(|raw| *raw != "null")
    }

    fn required<T>(&self, name: &str, expected: &str, value: Option<T>) -> Result<T, ArgumentError> {
        value.ok_or_else(|| self.fault(name, expected))
    }

    /// The refusal of an argument.
    pub(super) fn fault(&self, name: &str, expected: impl Into<String>) -> ArgumentError {
        let found = self.raw(name).map_or_else(|| "nothing".to_owned(), |raw| visible(&without_keys(raw), MAX_SHOWN));
        ArgumentError { name: name.to_owned(), expected: expected.into(), found }
    }

    /// A text.
    pub(super) fn text(&self, name: &str, expected: &str) -> Result<Option<String>, ArgumentError> {
        let Some(raw) = self.raw(name) else { return Ok(None) };
        serde_json::from_str(raw).map(Some).map_err(|_| self.fault(name, expected))
    }

    /// A market's name.
    pub(super) fn coin(&self) -> Result<String, ArgumentError> {
        let coin = self.optional_coin("coin")?;
        self.required("coin", COIN, coin)
    }

    /// A market's name, where one is given.
    pub(super) fn optional_coin(&self, name: &str) -> Result<Option<String>, ArgumentError> {
        let Some(coin) = self.text(name, COIN)? else { return Ok(None) };
        if is_coin(&coin) { Ok(Some(coin)) } else { Err(self.fault(name, COIN)) }
    }

    /// Market names, at most `most`.
    pub(super) fn coins(&self, name: &str, most: usize) -> Result<Vec<String>, ArgumentError> {
        let expected = format!("a list of 1 to {most} market names such as [\"BTC\"]");
        let coins: Option<Vec<String>> = self.raw(name).and_then(|raw| serde_json::from_str(raw).ok());
        let coins = coins.filter(|coins| (1..=most).contains(&coins.len()) && coins.iter().all(|coin| is_coin(coin)));
        self.required(name, &expected, coins)
    }

    /// An amount above zero: a decimal string, or a number written out.
    pub(super) fn amount(&self, name: &str) -> Result<Option<Decimal>, ArgumentError> {
        let Some(raw) = self.raw(name) else { return Ok(None) };
        let expected = "a decimal above 0 in quotes such as \"0.5\"";
        let text = if raw.starts_with('"') { serde_json::from_str(raw).unwrap_or_default() } else { raw.to_owned() };
        match parse_wire(&text) {
            Ok(amount) if amount > Decimal::ZERO => Ok(Some(amount)),
            Ok(_) => Err(self.fault(name, expected)),
            Err(error) => Err(self.fault(name, format!("{expected} ({error})"))),
        }
    }

    /// An amount that must be given.
    pub(super) fn required_amount(&self, name: &str) -> Result<Decimal, ArgumentError> {
        let amount = self.amount(name)?;
        self.required(name, "a decimal above 0 in quotes such as \"0.5\"", amount)
    }

    /// A whole number that is not negative; its digits may stand in quotes.
    pub(super) fn whole(&self, name: &str, expected: &str) -> Result<Option<u64>, ArgumentError> {
        let Some(raw) = self.raw(name) else { return Ok(None) };
        let text = if raw.starts_with('"') { serde_json::from_str(raw).unwrap_or_default() } else { raw.to_owned() };
        let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = if is_plain { text.parse().ok() } else { None };
        number.map(Some).ok_or_else(|| self.fault(name, expected))
    }

    /// A whole number in a range that must be given.
    pub(super) fn required_whole(
        &self,
        name: &str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<u64, ArgumentError> {
        let expected = format!("a whole number from {} to {}", range.start(), range.end());
        let number = self.whole(name, &expected)?.filter(|number| range.contains(number));
        self.required(name, &expected, number)
    }

    /// The number of records wanted: 1 to `most`, `default` where none is given.
    pub(super) fn limit(&self, default: usize, most: usize) -> Result<usize, ArgumentError> {
        let expected = format!("a whole number from 1 to {most}");
        match self.whole("limit", &expected)? {
            None => Ok(default),
            Some(limit) => {
                let limit = usize::try_from(limit).ok().filter(|limit| (1..=most).contains(limit));
                self.required("limit", &expected, limit)
            }
        }
    }

    /// True or false; absent is false.
    pub(super) fn flag(&self, name: &str) -> Result<bool, ArgumentError> {
        match self.raw(name) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(self.fault(name, "true or false")),
        }
    }

    /// One of a few words.
    pub(super) fn choice<T: Copy>(&self, name: &str, choices: &[(&str, T)]) -> Result<Option<T>, ArgumentError> {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let expected = format!("one of {}", names.join(", "));
        let Some(text) = self.text(name, &expected)? else { return Ok(None) };
        let chosen = choices.iter().find(|(name, _)| *name == text).map(|(_, choice)| *choice);
        chosen.map(Some).ok_or_else(|| self.fault(name, expected))
    }

    /// One of a few words that must be given.
    pub(super) fn required_choice<T: Copy>(&self, name: &str, choices: &[(&str, T)]) -> Result<T, ArgumentError> {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let chosen = self.choice(name, choices)?;
        self.required(name, &format!("one of {}", names.join(", ")), chosen)
    }

    /// The agent's name for one trade.
    pub(super) fn client_id(&self) -> Result<String, ArgumentError> {
        let id = self.optional_client_id()?;
        self.required("client_id", CLIENT_ID, id)
    }

    /// The agent's name for one trade, where one is given.
    pub(super) fn optional_client_id(&self) -> Result<Option<String>, ArgumentError> {
        let Some(id) = self.text("client_id", CLIENT_ID)? else { return Ok(None) };
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
        let fits = (1..=64).contains(&id.len()) && id.bytes().all(letter);
        if fits { Ok(Some(id)) } else { Err(self.fault("client_id", CLIENT_ID)) }
    }

    /// A reason of 1 to 200 characters.
    pub(super) fn reason(&self) -> Result<Option<String>, ArgumentError> {
        let Some(reason) = self.text("reason", REASON)? else { return Ok(None) };
        let shown = visible(&reason, MAX_REASON_LEN);
        let fits = reason.chars().count() <= MAX_REASON_LEN && !shown.trim().is_empty();
        if fits { Ok(Some(shown.trim().to_owned())) } else { Err(self.fault("reason", REASON)) }
    }

    /// A reason that must be given.
    pub(super) fn required_reason(&self) -> Result<String, ArgumentError> {
        let reason = self.reason()?;
        self.required("reason", REASON, reason)
    }
}

const REASON: &str = "a text of 1 to 200 characters";
const COIN: &str = "a market name such as \"BTC\"";
const CLIENT_ID: &str = "1 to 64 of the characters A-Z a-z 0-9 . _ : -";

/// Whether this can be a market: a perp, one of another dex (`xyz:GOLD`), or a spot pair (`@107`, `PURR/USDC`).
fn is_coin(text: &str) -> bool {
    let can_be = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'@' | b'/');
    (1..=32).contains(&text.len()) && text.bytes().all(can_be)
}

/// The members of an object in their order, repeated ones too.
fn members(text: &str) -> Result<Vec<(String, Box<RawValue>)>, serde_json::Error> {
    struct Members;
    impl<'de> Visitor<'de> for Members {
        type Value = Vec<(String, Box<RawValue>)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "an object of at most {MAX_MEMBERS} arguments")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some(member) = map.next_entry()? {
                if members.len() >= MAX_MEMBERS {
                    return Err(serde::de::Error::custom(format_args!("more than {MAX_MEMBERS} arguments")));
                }
                members.push(member);
            }
            Ok(members)
        }
    }
    serde_json::Deserializer::from_str(text).deserialize_map(Members)
}
