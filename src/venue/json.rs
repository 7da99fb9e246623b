//! JSON as the venue reads it: ordered objects, integers only, no duplicate keys.
//!
//! The order of keys is kept because some clients sign the order they send. Money travels as strings, so a number
//! that is not an integer is refused here, before any rule sees it. What is read is an ordinary
//! [`serde_json::Value`]; only the way in is stricter, and everything hostile comes in this way.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Value};

use crate::base::text::short;

/// Deepest nesting accepted; the venue's deepest action has five levels.
pub const MAX_DEPTH: usize = 32;
/// Most members of one object. Objects of requests are small, or refused for an unknown key soon after.
const MAX_MEMBERS: usize = 64;
/// Most items of one array: a few more than an action may have, so that its own refusal says how many these are. No array is one large
/// piece of memory, of which the allocator keeps as much for each thread from then on.
const MAX_ITEMS: usize = 1_024;

/// Most values of one request, an object counted as [`OBJECT`]. The most that a request can ask for, a thousand modifies of stops with a
/// client order id each, has 26,021. A tree takes up to a hundred times the memory of its text, and anybody may send one.
const MOST_VALUES: usize = 28_000;
/// An object takes as much memory as so many plain values, however little it holds.
const OBJECT: usize = 4;
/// Most bytes of what asks for something and is no batch: a question, a subscription, a kill. None needs a quarter of it.
pub const MOST_QUESTION_BYTES: usize = 4 * 1024;

/// A JSON value of a request or of an action. Two of them are equal whatever the order of their keys: where the order
/// matters, their texts or hashes are compared.
pub type Node = Value;

/// Reads one JSON text.
///
/// # Errors
/// A text that says what is wrong and where: syntax, depth, size, a duplicate key, a number that is not an integer.
pub fn parse(bytes: &[u8]) -> Result<Value, String> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let left = Cell::new(MOST_VALUES);
    let value = Strict { depth: 0, left: &left }.deserialize(&mut deserializer).map_err(|error| error.to_string())?;
    deserializer.end().map_err(|error| error.to_string())?;
    Ok(value)
}

/// Whether what asks for something and is no batch is short enough to be read.
///
/// # Errors
/// A text that says how long it may be.
pub fn is_short(bytes: &[u8]) -> Result<(), String> {
    match bytes.len() {
        ..=MOST_QUESTION_BYTES => Ok(()),
        length => Err(format!("{length} bytes; at most {MOST_QUESTION_BYTES} are read")),
    }
}

/// Reads what asks for something and is no batch, as a server does that looks at the members it knows.
///
/// # Errors
/// A text that says what is wrong: length, syntax.
pub fn question(bytes: &[u8]) -> Result<Value, String> {
    is_short(bytes)?;
    serde_json::from_slice(bytes).map_err(|error| error.to_string())
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

/// A strict reading that knows how deep it stands, and how many values more there may be.
#[derive(Clone, Copy)]
struct Strict<'c> {
    depth: usize,
    left: &'c Cell<usize>,
}

impl Strict<'_> {
    fn deeper<E: Error>(self) -> Result<Self, E> {
        if self.depth >= MAX_DEPTH {
            return Err(E::custom(format_args!("nested deeper than {MAX_DEPTH} levels")));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }

    fn count<E: Error>(self, values: usize) -> Result<(), E> {
        let left = self.left.get().checked_sub(values);
        self.left.set(left.ok_or_else(|| E::custom(format_args!("more than {MOST_VALUES} values")))?);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.count(1)?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
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
            if items.len() >= MAX_ITEMS {
                return Err(Error::custom(format_args!("an array with more than {MAX_ITEMS} items")));
            }
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        self.count(OBJECT - 1)?;
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

    #[test]
    fn a_request_has_so_many_values_and_an_object_counts_as_four() {
        let refused =
            |text: &str| parse(text.as_bytes()).err().map(|error| error.split(" at ").next().unwrap().to_owned());
        let most = Some("more than 28000 values".to_owned());
        let list = |item: &str, count: usize| format!("[{}]", vec![item; count].join(","));
        // A list of 28 lists, and what else is left.
        let lists = |item: &str, count: usize, more: usize| {
            format!("[{},{}]", vec![list(item, count); 27].join(","), list("0", more))
        };
        for (item, count) in [("0", 1_000), ("{}", 1_000 / OBJECT)] {
            let left = MOST_VALUES - 27 * 1_000 - 29;
            assert_eq!(
                (refused(&lists(item, count, left)), refused(&lists(item, count, left + 1))),
                (None, most.clone())
            );
        }
        let items = Some("an array with more than 1024 items".to_owned());
        assert_eq!((refused(&list("0", MAX_ITEMS)), refused(&list("0", MAX_ITEMS + 1))), (None, items));
    }

    #[test]
    fn the_largest_batch_is_read() {
        let stop = r#"{"oid":"0x00000000000000000000000000000001","order":{"a":0,"b":true,"p":"1","s":"1","r":true,"t":{"trigger":{"isMarket":true,"triggerPx":"1","tpsl":"sl"}},"c":"0x00000000000000000000000000000002"}}"#;
        let modifies = vec![stop; 1_000].join(",");
        let signature = r#"{"r":"0x1","s":"0x1","v":27}"#;
        let body = |more: &str| {
            format!(
                r#"{{"action":{{"type":"batchModify","modifies":[{modifies}],"a":true}},"nonce":1,"signature":{signature},"vaultAddress":null,"expiresAfter":1{more}}}"#
            )
        };
        assert!(parse(body("").as_bytes()).is_ok());
        // As many as are left to the bound.
        let list = |count: usize| format!("[{}]", vec!["0"; count].join(","));
        let more = |count: usize| format!(r#","x":{},"y":{}"#, list(1_000), list(count - 1_002));
        let left = MOST_VALUES - 26_021;
        assert!(parse(body(&more(left)).as_bytes()).is_ok() && parse(body(&more(left + 1)).as_bytes()).is_err());
    }

    #[test]
    fn a_question_is_read_up_to_4_kib() {
        let long = |length: usize| format!(r#"{{"type":"meta","x":"{}"}}"#, "y".repeat(length - 22));
        let of =
            |length: usize| (long(length).len(), question(long(length).as_bytes()).map(|asked| asked["type"].clone()));
        assert_eq!(of(MOST_QUESTION_BYTES), (MOST_QUESTION_BYTES, Ok("meta".into())));
        let why = "4097 bytes; at most 4096 are read".to_owned();
        assert_eq!(of(MOST_QUESTION_BYTES + 1), (MOST_QUESTION_BYTES + 1, Err(why)));
        assert!(question(b"{").is_err_and(|error| error.contains("EOF")));
    }
}
