//! Orders, open orders and answers as they travel.

use serde_json::{Value, json};

use crate::venue::Node;
use crate::venue::info::OpenOrder;

/// An `order` action of independent orders.
pub(super) fn place(orders: Vec<Value>) -> Value {
    json!({"type": "order", "orders": orders, "grouping": "na"})
}

fn limit(asset: u32, is_buy: bool, px: &str, size: &str, reduce_only: bool, tif: &str) -> Value {
    json!({"a": asset, "b": is_buy, "p": px, "s": size, "r": reduce_only, "t": {"limit": {"tif": tif}}})
}

pub(super) fn buy(asset: u32, px: &str, size: &str) -> Value {
    limit(asset, true, px, size, false, "Gtc")
}

pub(super) fn sell(asset: u32, px: &str, size: &str) -> Value {
    limit(asset, false, px, size, false, "Gtc")
}

/// A reduce-only order that fills at once or not at all.
pub(super) fn close(asset: u32, is_buy: bool, px: &str, size: &str) -> Value {
    limit(asset, is_buy, px, size, true, "Ioc")
}

/// A market stop: a sell covers a long.
pub(super) fn stop(asset: u32, is_buy: bool, trigger_px: &str, size: &str) -> Value {
    let trigger = json!({"isMarket": true, "triggerPx": trigger_px, "tpsl": "sl"});
    json!({"a": asset, "b": is_buy, "p": trigger_px, "s": size, "r": true, "t": {"trigger": trigger}})
}

/// `order` with `value` at the JSON pointer `at`.
pub(super) fn with(mut order: Value, at: &str, value: Value) -> Value {
    match order.pointer_mut(at) {
        Some(place) => *place = value,
        None => {
            order.as_object_mut().unwrap().insert(at.trim_start_matches('/').to_owned(), value);
        }
    }
    order
}

/// A cloid of a client's choice.
pub(super) fn cloid(number: u8) -> Value {
    json!(format!("0x{}", format!("{number:02x}").repeat(16)))
}

/// An open limit order; `side` is `B` or `A`.
pub(super) fn open(coin: &str, side: &str, px: &str, size: &str, oid: u64) -> OpenOrder {
    serde_json::from_value(json!({
        "coin": coin, "side": side, "limitPx": px, "sz": size, "oid": oid, "isTrigger": false, "triggerPx": "0.0",
        "isPositionTpsl": false, "reduceOnly": false, "orderType": "Limit", "cloid": null,
    }))
    .unwrap()
}

/// An open market stop.
pub(super) fn open_stop(coin: &str, side: &str, trigger_px: &str, size: &str, oid: u64) -> OpenOrder {
    let order = open(coin, side, trigger_px, size, oid);
    let trigger_px = trigger_px.parse().unwrap();
    OpenOrder { is_trigger: true, trigger_px, reduce_only: true, order_type: "Stop Market".to_owned(), ..order }
}

/// The venue's answer with these statuses.
pub(super) fn statuses(statuses: Value) -> Value {
    json!({"status": "ok", "response": {"type": "order", "data": {"statuses": statuses}}})
}

pub(super) fn done() -> Value {
    json!({"status": "ok", "response": {"type": "default"}})
}

/// A request with a signature that is no longer looked at.
pub(super) fn body(action: &Value, nonce: u64) -> Value {
    json!({"action": action, "nonce": nonce, "signature": {"r": "0x1", "s": "0x1", "v": 27}})
}

/// The action that does nothing but use its nonce up.
pub(super) fn noop() -> Value {
    json!({"type": "noop"})
}

/// Replaces one open order.
pub(super) fn modify(oid: u64, order: Value) -> Value {
    json!({"type": "modify", "oid": oid, "order": order})
}

/// Replaces several open orders.
pub(super) fn batch(modifies: Vec<(u64, Value)>) -> Value {
    let modifies: Vec<_> = modifies.into_iter().map(|(oid, order)| json!({"oid": oid, "order": order})).collect();
    json!({"type": "batchModify", "modifies": modifies})
}

pub(super) fn json_of(node: &Node) -> Value {
    serde_json::to_value(node).unwrap()
}
