//! The strict reader of objects: every key known, every value of its type, every error with its place.
//!
//! The texts reach clients word for word, and of several faults in one object the first in the reader's order is
//! named, whatever the order in which the keys came.

use std::fmt;

use rust_decimal::Decimal;
use serde_json::{Map, Value};
use thiserror::Error;

use super::json::kind;
use crate::base::address::Cloid;
use crate::base::amount::parse_wire;
use crate::base::text::short;

/// Why an action or order is not of the venue's shape. The text names the place and the key.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ShapeError(pub String);

/// The members of an object whose keys are all known. Every error names the place.
pub(super) struct Fields<'a> {
    members: &'a Map<String, Value>,
    place: &'a str,
}

impl<'a> Fields<'a> {
    pub(super) fn of(node: &'a Value, place: &'a str, known: &[&str]) -> Result<Self, ShapeError> {
        let Value::Object(members) = node else {
            return Err(ShapeError(format!("{place}: expected an object, found {}", kind(node))));
        };
        match members.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => Err(ShapeError(format!("{place}: unknown key `{}`; known: {}", short(key), known.join(", ")))),
            None => Ok(Self { members, place }),
        }
    }

    /// The place of the member `key`, for errors inside it.
    pub(super) fn inner(&self, key: &str) -> String {
        format!("{}.{key}", self.place)
    }

    /// The member, unless absent or null.
    pub(super) fn optional(&self, key: &str) -> Option<&'a Value> {
        // Few keys, and short: looking at them in turn is quicker than hashing the one that is wanted.
        let member = self.members.iter().find(|(name, _)| *name == key);
        member.map(|(_, value)| value).filter(|value| !value.is_null())
    }

    pub(super) fn required(&self, key: &str) -> Result<&'a Value, ShapeError> {
        self.optional(key).ok_or_else(|| ShapeError(format!("{}: missing key `{key}`", self.place)))
    }

    fn wrong(&self, key: &str, wanted: impl fmt::Display, found: &Value) -> ShapeError {
        let found = match found {
            Value::String(text) => format!("\"{}\"", short(text)),
            other => kind(other).to_owned(),
        };
        ShapeError(format!("{}.{key}: expected {wanted}, found {found}", self.place))
    }

    pub(super) fn bool(&self, key: &str) -> Result<bool, ShapeError> {
        match self.required(key)? {
            Value::Bool(value) => Ok(*value),
            other => Err(self.wrong(key, "true or false", other)),
        }
    }

    pub(super) fn bool_or(&self, key: &str, default: bool) -> Result<bool, ShapeError> {
        if self.optional(key).is_some() { self.bool(key) } else { Ok(default) }
    }

    pub(super) fn u64(&self, key: &str) -> Result<u64, ShapeError> {
        let node = self.required(key)?;
        node.as_u64().ok_or_else(|| self.wrong(key, "an integer that is not negative", node))
    }

    pub(super) fn u32(&self, key: &str) -> Result<u32, ShapeError> {
        let number = self.u64(key)?;
        u32::try_from(number).map_err(|_| ShapeError(format!("{}.{key}: {number} is over {}", self.place, u32::MAX)))
    }

    pub(super) fn i64(&self, key: &str) -> Result<i64, ShapeError> {
        let node = self.required(key)?;
        node.as_i64().ok_or_else(|| self.wrong(key, "an integer of 64 bits", node))
    }

    pub(super) fn str(&self, key: &str) -> Result<&'a str, ShapeError> {
        let node = self.required(key)?;
        node.as_str().ok_or_else(|| self.wrong(key, "a string", node))
    }

    pub(super) fn amount(&self, key: &str) -> Result<Decimal, ShapeError> {
        let text = self.str(key)?;
        parse_wire(text)
            .map_err(|error| ShapeError(format!("{}.{key}: \"{}\" is no amount: {error}", self.place, short(text))))
    }

    pub(super) fn cloid(&self, key: &str) -> Result<Option<Cloid>, ShapeError> {
        let Some(node) = self.optional(key) else { return Ok(None) };
        let parsed = node.as_str().and_then(|text| text.parse().ok());
        parsed.map(Some).ok_or_else(|| self.wrong(key, "0x and 32 hex digits", node))
    }

    pub(super) fn array(&self, key: &str) -> Result<&'a [Value], ShapeError> {
        match self.required(key)? {
            Value::Array(items) => Ok(items),
            other => Err(self.wrong(key, "an array", other)),
        }
    }

    pub(super) fn one_of<T: Copy>(
        &self,
        key: &str,
        values: &[T],
        name: impl Fn(T) -> &'static str,
    ) -> Result<T, ShapeError> {
        let text = self.str(key)?;
        values.iter().copied().find(|value| name(*value) == text).ok_or_else(|| {
            let names: Vec<_> = values.iter().map(|value| name(*value)).collect();
            ShapeError(format!("{}.{key}: \"{}\" is none of {}", self.place, short(text), names.join(", ")))
        })
    }
}
