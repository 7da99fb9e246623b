//! The owner's rules: what they are, their ranges, their words, their order from strict to loose, and the `sr1_` code.
//!
//! Pure: no file, clock, venue or configuration enters here. Every key is defined once, in [`table`]'s rows; parsing,
//! the canonical JSON, the words and the looser-than order all walk those rows.

mod code;
mod comparison;
mod error;
mod markets;
mod owner_rules;
mod raw;
mod table;
mod unit;

pub use code::CODE_PREFIX;
pub(crate) use code::toml_fault;
pub use comparison::Described;
pub use error::{Problem, Problems, RulesError};
pub use markets::{Coin, MAX_COINS, Markets};
pub use owner_rules::Rules;
pub use unit::Unit;

#[cfg(test)]
mod tests;
