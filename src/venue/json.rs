//! JSON as the venue reads it: ordered objects, integers only, no duplicate keys.
//!
//! The order of keys is kept because some clients sign the order they send. Money travels as strings, so a number
//! that is not an integer is refused here, before any rule sees it.

use crate::base::text::short;
use std::fmt;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// Deepest nesting accepted; the venue's deepest action has five levels.
pub const MAX_DEPTH: usize = 32;

/// A JSON value without floating-point numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer between `i64::MIN` and `u64::MAX`.
    Int(i128),
    /// A string.
    Str(String),
    /// An array.
    Arr(Vec<Node>),
    /// An object with its members in the order written.
    Obj(Vec<(String, Node)>),
}

impl Node {
    /// Parses one JSON text.
    ///
    /// # Errors
    /// A text that says what is wrong and where: syntax, depth, a duplicate key, a number that is not an integer.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let mut deserializer = serde_json::Deserializer::from_slice(bytes);
        let node = Limited { depth: 0 }.deserialize(&mut deserializer).map_err(|error| error.to_string())?;
        deserializer.end().map_err(|error| error.to_string())?;
        Ok(node)
    }

    /// The member `key` of an object.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node> {
        match self {
            Node::Obj(members) => members.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The string, if it is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Node::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The integer, if it is one that fits.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Node::Int(number) => u64::try_from(*number).ok(),
            _ => None,
        }
    }

    /// What kind of JSON value this is, in words for an error text.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Node::Null => "null",
            Node::Bool(_) => "a boolean",
            Node::Int(_) => "an integer",
            Node::Str(_) => "a string",
            Node::Arr(_) => "an array",
            Node::Obj(_) => "an object",
        }
    }

    /// The value as compact JSON text.
    #[must_use]
    pub fn to_json(&self) -> String {
        // A Node holds only string keys and plain numbers, for which the writer has no error.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Builds an object in the order written, leaving out what is `None`.
#[derive(Default)]
pub(crate) struct ObjBuilder(Vec<(String, Node)>);

impl ObjBuilder {
    pub(crate) fn with(mut self, key: &str, value: impl Into<Node>) -> Self {
        self.0.push((key.to_owned(), value.into()));
        self
    }

    pub(crate) fn with_opt(self, key: &str, value: Option<impl Into<Node>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    pub(crate) fn build(self) -> Node {
        Node::Obj(self.0)
    }
}

impl From<bool> for Node {
    fn from(value: bool) -> Self {
        Node::Bool(value)
    }
}

impl From<u64> for Node {
    fn from(value: u64) -> Self {
        Node::Int(value.into())
    }
}

impl From<u32> for Node {
    fn from(value: u32) -> Self {
        Node::Int(value.into())
    }
}

impl From<i64> for Node {
    fn from(value: i64) -> Self {
        Node::Int(value.into())
    }
}

impl From<&str> for Node {
    fn from(value: &str) -> Self {
        Node::Str(value.to_owned())
    }
}

impl From<String> for Node {
    fn from(value: String) -> Self {
        Node::Str(value)
    }
}

impl From<Vec<Node>> for Node {
    fn from(value: Vec<Node>) -> Self {
        Node::Arr(value)
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Node::Null => serializer.serialize_unit(),
            Node::Bool(value) => serializer.serialize_bool(*value),
            Node::Int(number) => match (u64::try_from(*number), i64::try_from(*number)) {
                (Ok(number), _) => serializer.serialize_u64(number),
                (_, Ok(number)) => serializer.serialize_i64(number),
                _ => Err(serde::ser::Error::custom("integer out of range")),
            },
            Node::Str(text) => serializer.serialize_str(text),
            Node::Arr(items) => serializer.collect_seq(items),
            Node::Obj(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (key, value) in members {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Limited { depth: 0 }.deserialize(deserializer)
    }
}

/// A deserialisation that knows how deep it stands.
#[derive(Clone, Copy)]
struct Limited {
    depth: usize,
}

impl Limited {
    fn deeper<E: de::Error>(self) -> Result<Self, E> {
        if self.depth >= MAX_DEPTH {
            return Err(E::custom(format_args!("nested deeper than {MAX_DEPTH} levels")));
        }
        Ok(Self { depth: self.depth + 1 })
    }
}

impl<'de> DeserializeSeed<'de> for Limited {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Limited {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Int(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Int(value.into()))
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Node, E> {
        Err(E::custom("a number that is not an integer of 64 bits; amounts are strings"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Str(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let inner = self.deeper()?;
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(inner)? {
            items.push(item);
        }
        Ok(Node::Arr(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let inner = self.deeper()?;
        let mut members: Vec<(String, Node)> = Vec::new();
        while let Some(key) = access.next_key::<String>()? {
            // Objects here are small, or refused for an unknown key soon after; the bound keeps a hostile body from
            // turning this scan into work that grows with its square.
            if members.len() >= 64 {
                return Err(de::Error::custom("an object with more than 64 keys"));
            }
            if members.iter().any(|(name, _)| *name == key) {
                return Err(de::Error::custom(format_args!("duplicate key `{}`", short(&key))));
            }
            let value = access.next_value_seed(inner)?;
            members.push((key, value));
        }
        Ok(Node::Obj(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_kept_and_text_is_compact() {
        let text = r#"{"b":1,"a":[true,null,"x",-5,18446744073709551615]}"#;
        assert_eq!(Node::parse(text.as_bytes()).unwrap().to_json(), text);
    }

    #[test]
    fn what_the_venue_refuses_is_refused() {
        for (text, part) in [
            (r#"{"a":1,"a":2}"#, "duplicate key `a`"),
            ("1.5", "not an integer"),
            ("1e3", "not an integer"),
            ("1e999", "out of range"),
            ("18446744073709551616", "not an integer"),
            ("{} x", "trailing"),
            ("", "EOF"),
        ] {
            let error = Node::parse(text.as_bytes()).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
        let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(Node::parse(deep(MAX_DEPTH).as_bytes()).is_ok());
        assert!(Node::parse(deep(MAX_DEPTH + 1).as_bytes()).unwrap_err().contains("deeper"));
        assert!(Node::parse(deep(100_000).as_bytes()).is_err());
    }
}
