//! The question that a report answers.

use std::fmt;

use crate::base::day::{Day, day_of, start_ms};

/// What a report is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// `paper`, `testnet` or `mainnet`.
    pub mode: String,
    /// The account that is guarded.
    pub account: String,
    /// The first day; none for the journal's first.
    pub from: Option<Day>,
    /// The last day; none for the journal's last.
    pub to: Option<Day>,
    /// The rows.
    pub by: By,
}

/// What a row stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// A UTC day.
    #[default]
    Day,
    /// A market.
    Market,
    /// A client.
    Client,
}

/// The last day lies before the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadQuestion {
    /// The first day.
    pub from: Day,
    /// The last day.
    pub to: Day,
}

impl fmt::Display for BadQuestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the first day, {}, is after the last, {}; give the earlier one first", self.from, self.to)
    }
}

impl std::error::Error for BadQuestion {}

impl By {
    /// The names, in the order of the variants.
    pub const NAMES: [&'static str; 3] = ["day", "market", "client"];

    /// The name.
    #[must_use]
    pub fn name(self) -> &'static str {
        let [day, market, client] = By::NAMES;
        match self {
            By::Day => day,
            By::Market => market,
            By::Client => client,
        }
    }

    /// The one of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<By> {
        [By::Day, By::Market, By::Client].into_iter().find(|by| by.name() == name)
    }
}

impl Question {
    /// Whether it can be answered.
    ///
    /// # Errors
    /// [`BadQuestion`].
    pub fn check(&self) -> Result<(), BadQuestion> {
        match (self.from, self.to) {
            (Some(from), Some(to)) if to < from => Err(BadQuestion { from, to }),
            _ => Ok(()),
        }
    }

    /// The day from which on the journal has to be read: the one before the first, for the equity that it ended with and
    /// the decisions that are followed. What is recorded later than it happened stands behind, so it is read to its end.
    #[must_use]
    pub fn read_from(&self) -> Option<Day> {
        self.from.map(Day::preceding)
    }

    /// The time that it is about, from its first millisecond up to the one behind its last.
    pub(super) fn span(&self) -> (u64, u64) {
        (self.from.map_or(0, start_ms), self.to.map_or(u64::MAX, |to| start_ms(to.following())))
    }

    /// Whether a moment lies in that time.
    pub(super) fn is_about(&self, ms: u64) -> bool {
        let day = day_of(ms);
        self.from.is_none_or(|from| from <= day) && self.to.is_none_or(|to| day <= to)
    }
}
