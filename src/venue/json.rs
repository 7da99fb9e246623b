//! JSON as the venue reads it: ordered objects, integers only, no duplicate keys.
//!
//! The order of keys is kept because some clients sign the order they send. Money travels as strings, so a number
//! that is not an integer is refused here, before any rule sees it. What is read is an ordinary
//! [`serde_json::Value`]; only the way in is stricter, and everything hostile comes in this way.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Value};

use crate::base::text::short;

/// Deepest nesting accepted; the venue's deepest action has five levels.
pub const MAX_DEPTH: usize = 32;
/// Most members of one object. Objects of requests are small, or refused for an unknown key soon after.
const MAX_MEMBERS: usize = 64;

/// A JSON value of a request or of an action. Two of them are equal whatever the order of their keys: where the order
/// matters, their texts or hashes are compared.
pub type Node = Value;

/// Reads one JSON text.
///
/// # Errors
/// A text that says what is wrong and where: syntax, depth, a duplicate key, a number that is not an integer.
pub fn parse(bytes: &[u8]) -> Result<Value, String> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = Strict { depth: 0 }.deserialize(&mut deserializer).map_err(|error| error.to_string())?;
    deserializer.end().map_err(|error| error.to_string())?;
    Ok(value)
}

/// What kind of JSON value this is, in words for an error text. Numbers are integers wherever [`parse`] read them.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "an integer",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// A strict reading that knows how deep it stands.
#[derive(Clone, Copy)]
struct Strict {
    depth: usize,
}

impl Strict {
    fn deeper<E: Error>(self) -> Result<Self, E> {
        if self.depth >= MAX_DEPTH {
            return Err(E::custom(format_args!("nested deeper than {MAX_DEPTH} levels")));
        }
        Ok(Self { depth: self.depth + 1 })
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Value, E> {
        Err(E::custom("a number that is not an integer of 64 bits; amounts are strings"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(inner)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut members = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            if members.len() >= MAX_MEMBERS {
                return Err(Error::custom(format_args!("an object with more than {MAX_MEMBERS} keys")));
            }
            match members.entry(key) {
                Entry::Occupied(member) => {
                    return Err(Error::custom(format_args!("duplicate key `{}`", short(member.key()))));
                }
                Entry::Vacant(member) => member.insert(access.next_value_seed(inner)?),
            };
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
#[path = "../../tests/fuzz/json.rs"]
mod fuzz;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_kept_and_text_is_compact() {
        let text = r#"{"b":1,"a":[true,null,"x",-5,18446744073709551615]}"#;
        assert_eq!(parse(text.as_bytes()).unwrap().to_string(), text);
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
            let error = parse(text.as_bytes()).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
        let object = |members: usize| {
            let members: Vec<_> = (0..members).map(|member| format!(r#""{member}":0"#)).collect();
            format!("{{{}}}", members.join(","))
        };
        assert!(parse(object(MAX_MEMBERS).as_bytes()).is_ok());
        assert!(parse(object(MAX_MEMBERS + 1).as_bytes()).unwrap_err().contains("more than 64 keys"));
        let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(parse(deep(MAX_DEPTH).as_bytes()).is_ok());
        assert!(parse(deep(MAX_DEPTH + 1).as_bytes()).unwrap_err().contains("deeper"));
        assert!(parse(deep(100_000).as_bytes()).is_err());
    }
}
