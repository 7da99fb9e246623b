//! Why rules are refused: each problem names the key, the value and the way out.

use std::fmt;

use crate::base::sealed::CodeError;

/// One key that cannot stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The key as written.
    pub key: String,
    /// The value as written, shortened when long; empty when there is none.
    pub value: String,
    /// What is allowed there.
    pub allowed: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, value, allowed } = self;
        match value.as_str() {
            "" => write!(f, "{key}: {allowed}"),
            _ => write!(f, "{key} = {value}: {allowed}"),
        }
    }
}

/// Every problem found in one set of rules, in the order of its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, problem) in self.0.iter().enumerate() {
            let separator = if place == 0 { "" } else { "; " };
            write!(f, "{separator}{problem}")?;
        }
        Ok(())
    }
}

/// Why a set of rules is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RulesError {
    /// The code itself cannot be read.
    Code(CodeError),
    /// The text is not TOML (the parser's message and the line).
    Toml(String),
    /// It can be read, but these keys cannot stand.
    Problems(Problems),
}

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(error) => error.fmt(f),
            Self::Toml(message) => write!(f, "the rules are not valid TOML: {message}"),
            Self::Problems(problems) => problems.fmt(f),
        }
    }
}

impl std::error::Error for RulesError {}
