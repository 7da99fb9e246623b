//! Decisions and events as an agent gets to see them: short, bounded, and with coins by name. Pure.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::sanitize;
use super::settlement_view::Record;
use crate::base::address::Address;
use crate::base::text::visible;
use crate::record::event::{Event, Kind};
use crate::venue::market::Universe;

/// Most bytes of one list; a longer one says that it is truncated.
const MAX_BYTES: usize = 96 * 1024;
/// Most bytes of one of its items. A longer one is cut to its head, so that it hides nothing but itself.
const MAX_ITEM_BYTES: usize = 16 * 1024;
/// Most orders of one decision that are shown.
const MAX_ORDERS: usize = 16;

/// The fields of a decision event that an agent gets to see.
#[derive(Serialize)]
struct Short<'a> {
    seq: u64,
    at_ms: u64,
    client: Option<Address>,
    action: &'a str,
    verdict: &'a str,
    code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    actual: Option<&'a str>,
    text: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    changes: &'a [String],
}

/// A decision event, in short; `None` for an event of another kind.
pub(super) fn decision(event: &Event<'_>, universe: &Universe) -> Option<Map<String, Value>> {
    let Kind::Decision(decision) = &event.kind else { return None };
    let short = json!(Short {
        seq: event.seq,
        at_ms: event.at_ms,
        client: decision.client,
        action: &decision.action,
        verdict: &decision.verdict,
        code: &decision.code,
        limit: decision.limit.as_deref(),
        actual: decision.actual.as_deref(),
        text: &decision.text,
        changes: &decision.changes,
    });
    let mut short: Map<String, Value> =
        short.as_object().into_iter().flatten().map(|(key, member)| (key.clone(), sanitize::value(member))).collect();
    let asked: Vec<&Value> = orders(&decision.request).collect();
    let lines: Vec<Value> = asked.iter().take(MAX_ORDERS).map(|order| order_line(order, universe)).collect();
    if !lines.is_empty() {
        short.insert("orders".to_owned(), json!(lines));
    }
    let more = asked.len().saturating_sub(MAX_ORDERS);
    if more > 0 {
        short.insert("orders_left_out".to_owned(), json!(more));
    }
    Some(short)
}

/// The orders, cancels and modifies that a request held.
fn orders(request: &Value) -> impl Iterator<Item = &Value> {
    let list = |key: &'static str| request.get(key).and_then(Value::as_array).into_iter().flatten();
    let modified = list("modifies").chain([request]).filter_map(|modify| modify.get("order"));
    list("orders").chain(modified).chain(list("cancels"))
}

fn order_line(order: &Value, universe: &Universe) -> Value {
    let text = |key: &str| order.get(key).and_then(Value::as_str).map(|text| visible(text, 40));
    let flag = |key: &str| order.get(key).and_then(Value::as_bool);
    json!({
        "coin": coin_of(order, universe),
        "side": flag("b").map(|is_buy| if is_buy { "buy" } else { "sell" }),
        "size": text("s"),
        "price": text("p"),
        "trigger_price": order.pointer("/t/trigger/triggerPx").and_then(Value::as_str).map(|text| visible(text, 40)),
        "reduce_only": flag("r"),
        "order_id": order.get("o").and_then(Value::as_u64),
    })
}

fn coin_of<'a>(order: &Value, universe: &'a Universe) -> Option<&'a str> {
    let asset = order.get("a").or_else(|| order.get("asset")).and_then(Value::as_u64)?;
    universe.get(u32::try_from(asset).ok()?).map(|market| market.coin.as_str())
}

/// Whether a decision is about a coin.
pub(super) fn is_about(event: &Event<'_>, coin: &str, universe: &Universe) -> bool {
    let Kind::Decision(decision) = &event.kind else { return false };
    orders(&decision.request).chain([&*decision.request]).any(|order| coin_of(order, universe) == Some(coin))
}

/// The sends for a decision and their results, in short.
pub(super) fn effects(record: &Record) -> Value {
    let events = |list: &[Event<'_>]| list.iter().take(16).map(|shown| event(&json!(shown))).collect::<Vec<Value>>();
    json!({
        "sent": events(&record.sent),
        "recovered": events(&record.recovered),
        "done": record.done.is_some(),
    })
}

/// An event of any kind, bounded.
pub(super) fn event(event: &Value) -> Value {
    sanitize::value(event)
}

/// The list with as many of `items` as fit, and whether some did not.
pub(super) fn list(name: &str, items: Vec<Value>) -> Map<String, Value> {
    let (count, mut left, mut kept) = (items.len(), MAX_BYTES, Vec::new());
    for item in items {
        let (item, bytes) = match item.to_string().len() {
            bytes if bytes <= MAX_ITEM_BYTES => (item, bytes),
            _ => (head(&item), MAX_ITEM_BYTES),
        };
        let Some(rest) = left.checked_sub(bytes) else { break };
        left = rest;
        kept.push(item);
    }
    let truncated = kept.len() < count;
    Map::from_iter([(name.to_owned(), json!(kept)), ("truncated".to_owned(), json!(truncated))])
}

/// The fields that identify an item, without the rest.
fn head(item: &Value) -> Value {
    let names = ["seq", "at_ms", "kind", "client", "action", "verdict", "code", "coin", "oid", "side", "size"];
    let known = |name: &str| item.get(name).filter(|member| !member.is_array() && !member.is_object()).cloned();
    let mut head: Map<String, Value> =
        names.into_iter().filter_map(|name| Some((name.to_owned(), known(name)?))).collect();
    head.insert("left_out".to_owned(), json!("the rest: too long to be told here"));
    Value::Object(head)
}
