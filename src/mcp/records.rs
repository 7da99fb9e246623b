//! Decisions and events as an agent gets to see them: short, bounded, and with coins by name. Pure.

use serde_json::{Map, Value, json};

use super::sanitize;
use crate::base::text::visible;
use crate::venue::market::Universe;

/// Most bytes of one list; a longer one says that it is truncated.
const MAX_BYTES: usize = 96 * 1024;
/// Most bytes of one of its items. A longer one is cut to its head, so that it hides nothing but itself.
const MAX_ITEM_BYTES: usize = 16 * 1024;
/// Most orders of one decision that are shown.
const MAX_ORDERS: usize = 16;

/// A decision event, in short.
pub(super) fn decision(event: &Value, universe: &Universe) -> Value {
    let mut short = Map::new();
    for key in ["seq", "at_ms", "client", "action", "verdict", "code", "limit", "actual", "text", "changes"] {
        if let Some(member) = event.get(key) {
            short.insert(key.to_owned(), sanitize::value(member));
        }
    }
    let orders: Vec<Value> = orders(event).take(MAX_ORDERS).map(|order| order_line(order, universe)).collect();
    if !orders.is_empty() {
        short.insert("orders".to_owned(), json!(orders));
    }
    let more = self::orders(event).skip(MAX_ORDERS).count();
    if more > 0 {
        short.insert("orders_left_out".to_owned(), json!(more));
    }
    Value::Object(short)
}

/// The orders, cancels and modifies that a request held.
fn orders(event: &Value) -> impl Iterator<Item = &Value> {
    let request = event.get("request");
    let list = |key: &'static str| request.and_then(|request| request.get(key)?.as_array()).into_iter().flatten();
    let modified = list("modifies").chain(request).filter_map(|modify| modify.get("order"));
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
pub(super) fn is_about(event: &Value, coin: &str, universe: &Universe) -> bool {
    let asked = event.get("request");
    orders(event).chain(asked).any(|order| coin_of(order, universe) == Some(coin))
}

/// The sends for a decision and their results, in short.
pub(super) fn effects(record: &Value) -> Value {
    let events = |list: &str| {
        let events = record.get(list).and_then(Value::as_array).into_iter().flatten().take(16);
        events.map(event).collect::<Vec<Value>>()
    };
    json!({
        "sent": events("sent"),
        "recovered": events("recovered"),
        "done": record.get("done").is_some_and(|done| !done.is_null()),
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
