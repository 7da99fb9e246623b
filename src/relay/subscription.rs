//! A subscription as a client asks for it, and the normal form in which the venue echoes it: options filled in, users in
//! lower case, keys in an order of the venue's own, and what it does not know left out.

use serde_json::{Map, Value, json};

use super::kind::{Field, INTERVALS, Kind};
use crate::base::address::Address;

/// The longest name of a coin or dex that is asked for.
const NAME_BYTES: usize = 64;

/// Which frames are a subscription's: what they say of themselves. Two subscriptions can have the same route, and then not
/// come on one socket.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Route(String);

impl Route {
    /// Of a feed, by what its frames show.
    pub(super) fn new(kind: &Kind, user: &str, coin: &str, dex: &str, interval: &str) -> Self {
        let user = if kind.is_nameless { "" } else { user };
        Self([kind.name, user, coin, dex, interval].join(" "))
    }
}

/// What of, and whose.
#[derive(Debug, Clone)]
pub(super) struct Subscription {
    pub(super) kind: &'static Kind,
    normal: Map<String, Value>,
    pub(super) user: Option<Address>,
}

impl Subscription {
    /// Reads one; `None` for what the venue would not read.
    pub(super) fn read(asked: &Value) -> Option<Self> {
        let kind = Kind::named(asked.get("type")?.as_str()?)?;
        let mut normal = Map::new();
        normal.insert("type".to_owned(), json!(kind.name));
        let mut user = None;
        for field in kind.fields {
            let given = |key: &str| asked.get(key).filter(|value| !value.is_null());
            let name = |key: &str| given(key)?.as_str().filter(|name| name.len() <= NAME_BYTES && is_plain(name));
            let (key, value) = match *field {
                Field::User => {
                    let address = Address::parse_lenient(given("user")?.as_str()?).ok()?;
                    user = Some(address);
                    ("user", json!(address))
                }
                Field::Coin => ("coin", json!(name("coin")?)),
                Field::DexIfGiven if given("dex").is_none() => continue,
                Field::Dex if given("dex").is_none() => ("dex", json!("")),
                Field::Dex | Field::DexIfGiven => ("dex", json!(name("dex")?)),
                Field::Interval => {
                    ("interval", json!(name("interval").filter(|interval| INTERVALS.contains(interval))?))
                }
                Field::Number(key, _) if given(key).is_none() => (key, Value::Null),
                Field::Number(key, these) => {
                    (key, json!(given(key)?.as_u64().filter(|number| these.contains(number))?))
                }
                Field::Flag(key) => (key, json!(given(key).map_or(Some(false), Value::as_bool)?)),
            };
            normal.insert(key.to_owned(), value);
        }
        Some(Self { kind, normal, user })
    }

    /// The same of another account.
    pub(super) fn of_user(mut self, user: Address) -> Self {
        if let Some(value) = self.normal.get_mut("user") {
            *value = json!(user);
            self.user = Some(user);
        }
        self
    }

    /// The normal form. Two subscriptions are the same when theirs are.
    pub(super) fn normal(&self) -> String {
        Value::Object(self.normal.clone()).to_string()
    }

    /// As it is asked of the venue, without what it would fill in.
    pub(super) fn asked(&self) -> String {
        let said = |value: &Value| !value.is_null() && *value != Value::Bool(false);
        let said = self.normal.iter().filter(|(_, value)| said(value));
        Value::Object(said.map(|(key, value)| (key.clone(), value.clone())).collect()).to_string()
    }

    pub(super) fn route(&self) -> Route {
        let [user, coin, dex, interval] = ["user", "coin", "dex", "interval"].map(|key| self.text(key));
        Route::new(self.kind, user, coin, dex, interval)
    }

    /// The coin; empty where it is of none.
    pub(super) fn coin(&self) -> &str {
        self.text("coin")
    }

    fn text(&self, key: &str) -> &str {
        self.normal.get(key).and_then(Value::as_str).unwrap_or_default()
    }
}

/// A client's own address that stands for the account, and how the client wrote it.
#[derive(Debug, Clone)]
pub(super) struct Spelled {
    pub(super) address: Address,
    pub(super) text: String,
}

/// A text that quotes a subscription of this user, as a client reads it that wrote its own address instead. Whatever else the
/// text holds stays, a coin of that name too: a quotation mark within a name is escaped.
pub(super) fn respelled(text: &str, user: Option<Address>, spelled: Option<&str>) -> String {
    match user.zip(spelled) {
        Some((user, spelled)) => text.replace(&format!(r#""user":"{user}""#), &format!(r#""user":"{spelled}""#)),
        None => text.to_owned(),
    }
}

/// Names of the venue's are letters that show, and a route has blanks between its parts.
fn is_plain(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_graphic())
}
