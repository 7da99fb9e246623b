//! The markets an owner allows.

use std::collections::BTreeSet;
use std::fmt;

/// Most coins in one list: more than the venue has core perps, few enough that a code stays short.
pub const MAX_COINS: usize = 300;

/// Longest coin name.
const MAX_COIN_LEN: usize = 16;

/// A core perp's coin as the venue spells it (`BTC`, `kPEPE`): 1 to 16 ASCII letters and digits, case kept.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Coin(String);

impl Coin {
    /// Reads a coin; `None` for anything that cannot be a core perp (builder-deployed `dex:COIN`, spot `A/B` and `@1`).
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let shape = (1..=MAX_COIN_LEN).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        shape.then(|| Self(text.to_owned()))
    }

    /// The coin that was likely meant by one in small letters, of which the venue's have none but a `k` before capitals, for
    /// thousands: a coin that it does not have allows nothing.
    #[must_use]
    pub fn likely(&self) -> Option<String> {
        let name = self.0.strip_prefix('k').filter(|rest| !rest.is_empty()).unwrap_or(&self.0);
        let is_small = name.bytes().any(|letter| letter.is_ascii_lowercase());
        // Only the `k` of thousands stands before capitals: of a whole name in small letters it is a letter like others.
        is_small.then(|| self.0.to_ascii_uppercase())
    }

    /// The coin's name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Coin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

// Lets a set of coins be asked with a plain string.
impl std::borrow::Borrow<str> for Coin {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl Markets {
    /// The coins as they were likely meant, where one of them is likely none of the venue's: with commas between them.
    #[must_use]
    pub fn likely(&self) -> Option<String> {
        let Self::List(coins) = self else { return None };
        let meant = coins.iter().map(|coin| coin.likely().unwrap_or_else(|| coin.as_str().to_owned()));
        coins.iter().any(|coin| coin.likely().is_some()).then(|| meant.collect::<Vec<_>>().join(","))
    }
}

/// The markets in which entries are allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Markets {
    /// Every core perp.
    All,
    /// These coins only; never empty, at most [`MAX_COINS`].
    List(BTreeSet<Coin>),
}

impl Markets {
    /// Whether the rule allows entries in `coin`.
    #[must_use]
    pub fn allows(&self, coin: &str) -> bool {
        match self {
            Self::All => true,
            Self::List(coins) => coins.contains(coin),
        }
    }

    /// The markets that are named; none where every one is allowed.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::All => Vec::new(),
            Self::List(coins) => coins.iter().map(ToString::to_string).collect(),
        }
    }

    /// Looser: allows a market that `other` does not.
    pub(super) fn is_looser(&self, other: &Self) -> bool {
        match (self, other) {
            (_, Self::All) => false,
            (Self::All, Self::List(_)) => true,
            (Self::List(mine), Self::List(theirs)) => !mine.is_subset(theirs),
        }
    }
}
