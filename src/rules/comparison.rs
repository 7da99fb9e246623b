//! Rules said in words, and compared: which of them are looser than others.

use rust_decimal::Decimal;

use super::owner_rules::Rules;
use super::table::{ROWS, Row};
use super::unit::Unit;
use crate::base::amount::to_wire;

/// One rule said in words, as `check-config` prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// The rule's key.
    pub key: &'static str,
    /// The key's value as the canonical JSON writes it.
    pub value: String,
    /// What the rule means with its value.
    pub words: String,
    /// Whether the value is looser than the default.
    pub looser: bool,
    /// The unit of the value.
    pub unit: Unit,
    /// Whether there may be no limit.
    pub is_optional: bool,
}

impl Rules {
    /// The names of all rules.
    pub fn keys() -> impl Iterator<Item = &'static str> {
        ROWS.iter().map(|row| row.key)
    }

    /// Keys whose value is looser than the default, in the table's (alphabetical) order.
    #[must_use]
    pub fn looser_than_default(&self) -> Vec<&'static str> {
        self.looser_than(&Self::default())
    }

    /// Keys whose value is looser than that of `other`, in the table's (alphabetical) order.
    #[must_use]
    pub fn looser_than(&self, other: &Self) -> Vec<&'static str> {
        ROWS.iter().filter(|row| row.is_looser(self, other)).map(|row| row.key).collect()
    }

    /// The nearest value that the rule of this name takes and that is no looser than the one asked for, as it is written; none
    /// where every one is looser, and of a rule that takes no number.
    #[must_use]
    pub fn near(key: &str, asked: Decimal) -> Option<String> {
        ROWS.iter().find(|row| row.key == key)?.near(asked).map(to_wire)
    }

    /// Every rule in words, in the table's (alphabetical) order.
    #[must_use]
    pub fn describe(&self) -> Vec<Described> {
        let default = Self::default();
        let describe = |row: &Row| Described {
            key: row.key,
            value: row.json(self).to_string(),
            words: row.words(self),
            looser: row.is_looser(self, &default),
            unit: row.unit,
            is_optional: row.is_optional(),
        };
        ROWS.iter().map(describe).collect()
    }
}
