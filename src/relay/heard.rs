//! One frame of the venue's: whose it is, and where in its text the account's address stands.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::kind::{Kind, Manner};
use super::subscription::{Route, Subscription};

/// A frame.
#[derive(Debug)]
pub(super) enum Heard<'a> {
    /// Of a feed.
    Data(Data<'a>),
    /// A subscription began, as the venue has it.
    Subscribed(Subscription, &'a str),
    /// A subscription ended.
    Ended(Subscription),
    /// Something was refused.
    Refused(String),
    /// The answer to a ping.
    Pong,
    /// The answer to a question.
    Answer(u64, Option<&'a RawValue>),
    /// Nothing that is waited for.
    Other,
}

/// A frame of a feed.
#[derive(Debug)]
pub(super) struct Data<'a> {
    pub(super) kind: &'static Kind,
    /// `None` where it does not say whose it is: an empty list of trades.
    pub(super) route: Option<Route>,
    /// Where the address of its account stands.
    pub(super) user_at: Option<Range<usize>>,
    /// Its rows, where it has such.
    pub(super) rows: Vec<&'a str>,
    pub(super) is_snapshot: bool,
    /// The last millisecond that it tells of, where that is told.
    pub(super) ends_ms: Option<u64>,
}

#[derive(Deserialize)]
struct Text<'a> {
    #[serde(borrow)]
    channel: Cow<'a, str>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

type Members<'a> = BTreeMap<&'a str, &'a RawValue>;

impl<'a> Heard<'a> {
    /// Reads a frame; `None` for what is none.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let Text { channel, data } = serde_json::from_str::<Text<'a>>(text).ok()?;
        let data = data.map_or("null", RawValue::get);
        Some(match &*channel {
            "pong" => Heard::Pong,
            "error" => Heard::Refused(serde_json::from_str(data).ok()?),
            "subscriptionResponse" => acknowledged(data)?,
            "post" => answer(data)?,
            channel => match Kind::of_channel(channel) {
                Some(kind) => Heard::Data(of_feed(kind, text, data)?),
                None => Heard::Other,
            },
        })
    }
}

fn acknowledged(data: &str) -> Option<Heard<'_>> {
    let members: Members<'_> = serde_json::from_str(data).ok()?;
    let method = string(members.get("method")?)?;
    let said = members.get("subscription")?.get();
    let subscription = Subscription::read(&serde_json::from_str::<Value>(said).ok()?)?;
    Some(match method {
        "subscribe" => Heard::Subscribed(subscription, said),
        "unsubscribe" => Heard::Ended(subscription),
        _ => Heard::Other,
    })
}

fn answer(data: &str) -> Option<Heard<'_>> {
    #[derive(Deserialize)]
    struct Answer<'a> {
        id: u64,
        #[serde(borrow)]
        response: Response<'a>,
    }
    #[derive(Deserialize)]
    struct Response<'a> {
        #[serde(rename = "type")]
        kind: &'a str,
        #[serde(borrow)]
        payload: &'a RawValue,
    }
    let Answer { id, response } = serde_json::from_str(data).ok()?;
    let payload = (response.kind == "info").then(|| serde_json::from_str::<Members<'_>>(response.payload.get()).ok());
    Some(Heard::Answer(id, payload.flatten().and_then(|members| members.get("data").copied())))
}

fn of_feed<'a>(kind: &'static Kind, text: &str, data: &'a str) -> Option<Data<'a>> {
    let mut heard = Data { kind, route: None, user_at: None, rows: Vec::new(), is_snapshot: false, ends_ms: None };
    if let Manner::Rows(None, _) = kind.manner {
        heard.rows = rows(data)?;
        if let Some(first) = heard.rows.first() {
            let row: Members<'a> = serde_json::from_str(first).ok()?;
            heard.route = Some(Route::new(kind, "", string(row.get("coin")?)?, "", ""));
        }
        return Some(heard);
    }
    if kind.is_nameless || kind.fields.is_empty() {
        heard.route = Some(Route::new(kind, "", "", "", ""));
        return Some(heard);
    }
    let members: Members<'a> = serde_json::from_str(data).ok()?;
    let told = |key: &str| members.get(key).and_then(|value| string(value)).unwrap_or_default();
    let user = match kind.name {
        "webData3" => {
            let state: Members<'a> = serde_json::from_str(members.get("userState")?.get()).ok()?;
            string(state.get("user")?)?
        }
        _ => told("user"),
    };
    heard.user_at = (!user.is_empty()).then(|| place(text, user)).flatten();
    heard.route = Some(match kind.name {
        "candle" => {
            heard.ends_ms = members.get("T").and_then(|ends| serde_json::from_str(ends.get()).ok());
            Route::new(kind, "", told("s"), "", told("i"))
        }
        _ => Route::new(kind, &user.to_ascii_lowercase(), told("coin"), told("dex"), ""),
    });
    if let Manner::Rows(Some(key), _) = kind.manner {
        heard.rows = rows(members.get(key)?.get())?;
        heard.is_snapshot = members.get("isSnapshot").is_some_and(|value| value.get() == "true");
    }
    Some(heard)
}

fn rows(list: &str) -> Option<Vec<&str>> {
    let rows: Vec<&RawValue> = serde_json::from_str(list).ok()?;
    Some(rows.into_iter().map(RawValue::get).collect())
}

/// A text in which nothing is escaped.
fn string<'a>(value: &&'a RawValue) -> Option<&'a str> {
    serde_json::from_str(value.get()).ok()
}

/// Where in a text a part of it lies.
fn place(text: &str, part: &str) -> Option<Range<usize>> {
    let start = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    Some(start..start.checked_add(part.len())?)
}

/// The subscription that a refusal quotes, by itself or in the frame that asked for it or for its end; and whether it is the end
/// that is refused.
pub(super) fn quoted(text: &str) -> Option<(Subscription, bool)> {
    let (_, quote) = text.split_at_checked(text.find('{')?)?;
    let mut values = serde_json::Deserializer::from_str(quote).into_iter::<Value>();
    let value = values.next()?.ok()?;
    let is_end = value.get("method").and_then(Value::as_str) == Some("unsubscribe");
    Some((Subscription::read(value.get("subscription").unwrap_or(&value))?, is_end))
}
