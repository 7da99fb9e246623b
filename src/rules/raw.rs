//! A rule's value as written, before it is checked: the common ground of the code's JSON and the owner's TOML.

use std::fmt;

use crate::base::text::start;

/// Longest value repeated in an error.
const MAX_SHOWN: usize = 60;

/// A value as written.
#[derive(Debug)]
pub(super) enum Raw {
    /// JSON `null`.
    Null,
    /// Text.
    Text(String),
    /// A whole number.
    Whole(i64),
    /// A list.
    List(Vec<Raw>),
    /// Anything no rule takes (a float, a table, a date, a boolean), as its text.
    Other(String),
}

impl From<&serde_json::Value> for Raw {
    fn from(value: &serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::String(text) => Self::Text(text.clone()),
            serde_json::Value::Array(items) => Self::List(items.iter().map(Self::from).collect()),
            serde_json::Value::Number(number) => {
                number.as_i64().map_or_else(|| Self::Other(number.to_string()), Self::Whole)
            }
            other => Self::Other(other.to_string()),
        }
    }
}

impl From<&toml::Value> for Raw {
    fn from(value: &toml::Value) -> Self {
        match value {
            toml::Value::String(text) => Self::Text(text.clone()),
            toml::Value::Integer(number) => Self::Whole(*number),
            toml::Value::Array(items) => Self::List(items.iter().map(Self::from).collect()),
            other => Self::Other(other.to_string()),
        }
    }
}

impl fmt::Display for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Null => "null".to_owned(),
            Self::Text(text) => format!("{text:?}"),
            Self::Whole(number) => number.to_string(),
            Self::List(items) => format!("a list of {}", items.len()),
            Self::Other(text) => text.clone(),
        };
        f.write_str(&start(&text, MAX_SHOWN))
    }
}
