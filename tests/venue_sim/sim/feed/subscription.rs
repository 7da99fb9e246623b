//! Reading a subscription, and the normal form in which the venue echoes it: its options filled in, its user in lower
//! case, its keys in an order of the venue's own, and what the venue does not know left out.

use super::super::info::interval_ms;
use super::super::show;
use super::kinds::{Field, Kind};
use serde_json::{Map, Value, json};
use svc_guard::base::address::Address;

/// What somebody has subscribed to.
#[derive(Clone, Debug)]
pub(crate) struct Subscription {
    pub(crate) kind: &'static Kind,
    /// The normal form; two subscriptions are the same when these are.
    pub(crate) normal: Value,
    pub(crate) user: Option<Address>,
}

impl Subscription {
    /// None for what the venue does not read.
    pub(crate) fn read(asked: &Value) -> Option<Self> {
        let kind = Kind::named(asked.get("type")?.as_str()?)?;
        let mut normal = Map::new();
        normal.insert("type".into(), json!(kind.name));
        let mut user = None;
        for field in kind.fields {
            let given = |key: &str| asked.get(key).filter(|value| !value.is_null());
            let (key, value) = match *field {
                Field::User => {
                    let address = show::address(given("user")?.as_str()?)?;
                    user = Some(address);
                    ("user", json!(address))
                }
                Field::Coin => ("coin", json!(given("coin")?.as_str()?)),
                Field::Dex => {
                    ("dex", given("dex").map_or(Some(json!("")), |dex| dex.is_string().then(|| dex.clone()))?)
                }
                Field::DexIfGiven => match given("dex") {
                    None => continue,
                    Some(dex) => ("dex", dex.is_string().then(|| dex.clone())?),
                },
                Field::Interval => {
                    let interval = given("interval")?.as_str()?;
                    interval_ms(interval)?;
                    ("interval", json!(interval))
                }
                Field::Number(key) => (key, given(key).map_or(Some(Value::Null), |n| n.as_u64().map(|n| json!(n)))?),
                Field::Flag(key) => (key, json!(given(key).map_or(Some(false), Value::as_bool)?)),
            };
            normal.insert(key.into(), value);
        }
        Some(Self { kind, normal: Value::Object(normal), user })
    }

    /// A member of the normal form that is a text; empty when it is not there.
    pub(crate) fn text(&self, key: &str) -> &str {
        self.normal.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn flag(&self, key: &str) -> bool {
        self.normal.get(key).and_then(Value::as_bool).unwrap_or_default()
    }

    /// The user in lower case.
    pub(crate) fn user_json(&self) -> Value {
        self.normal.get("user").cloned().unwrap_or_default()
    }
}
