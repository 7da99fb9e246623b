//! Reads of orders: open, by id, and their history.

use super::super::engine::Engine;
use super::super::engine::order::{Kind, Order, Record, Stage, Tif};
use super::super::show::{num, plain};
use super::{Reader, core_dex};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::collections::HashMap;

/// The orders that a user's reads show as open. Children that wait for their parent stand under it, not beside it.
fn live<'a>(reader: &'a Reader<'_>, request: &Value) -> impl Iterator<Item = &'a Order> {
    let shown = reader.known && core_dex(request);
    reader.engine.orders.values().rev().filter(move |order| shown && order.stage != Stage::Waiting)
}

pub(super) fn open(reader: &Reader<'_>, request: &Value) -> Value {
    let show = |order: &Order| {
        let mut entry = brief(reader.engine, order);
        if let (true, Some(members)) = (order.spec.reduce_only, entry.as_object_mut()) {
            members.insert("reduceOnly".into(), json!(true));
        }
        entry
    };
    live(reader, request).map(show).collect()
}

/// The eight members that short listings and order updates share.
pub(crate) fn brief(engine: &Engine, order: &Order) -> Value {
    let spec = &order.spec;
    let mut entry = json!({
        "coin": engine.coin(spec.asset), "side": side(spec.is_buy), "limitPx": num(spec.px),
        "sz": num(order.remaining), "oid": order.oid, "timestamp": order.placed_ms, "origSz": num(spec.sz),
    });
    if let (Some(cloid), Some(members)) = (&spec.cloid, entry.as_object_mut()) {
        members.insert("cloid".into(), json!(cloid));
    }
    entry
}

pub(super) fn frontend(reader: &Reader<'_>, request: &Value) -> Value {
    let families = Families::of(reader.engine);
    let foreign = reader.engine.foreign_orders.iter().filter(|_| reader.known && core_dex(request));
    live(reader, request).map(|order| families.show(order)).chain(foreign.cloned()).collect()
}

/// The live orders' children that wait, by their parent: collected once for a listing of many orders.
pub(crate) struct Families<'a> {
    engine: &'a Engine,
    waiting: HashMap<u64, Vec<&'a Order>>,
}

impl<'a> Families<'a> {
    pub(crate) fn of(engine: &'a Engine) -> Self {
        let mut waiting: HashMap<u64, Vec<&Order>> = HashMap::new();
        for child in engine.orders.values().filter(|order| order.stage == Stage::Waiting) {
            if let Some(parent) = child.parent {
                waiting.entry(parent).or_default().push(child);
            }
        }
        Self { engine, waiting }
    }

    /// All sixteen members of an order, in the venue's key order.
    pub(crate) fn show(&self, order: &Order) -> Value {
        let spec = &order.spec;
        let trigger = order.live_trigger();
        let condition = match (trigger, order.triggered) {
            (None, false) => "N/A".to_owned(),
            (None, true) => "Triggered".to_owned(),
            (Some(trigger), _) if trigger.fires_above(spec.is_buy) => format!("Price above {}", plain(trigger.px)),
            (Some(trigger), _) => format!("Price below {}", plain(trigger.px)),
        };
        let children = self.waiting.get(&order.oid).map_or(&[][..], Vec::as_slice);
        let children: Vec<Value> = children.iter().map(|child| self.show(child)).collect();
        json!({
            "coin": self.engine.coin(spec.asset), "side": side(spec.is_buy), "limitPx": num(spec.px),
            "sz": num(order.remaining), "oid": order.oid, "timestamp": order.placed_ms,
            "triggerCondition": condition, "isTrigger": trigger.is_some(),
            "triggerPx": num(trigger.map_or(Decimal::ZERO, |trigger| trigger.px)), "children": children,
            "isPositionTpsl": order.position_tpsl, "reduceOnly": spec.reduce_only,
            "orderType": type_name(spec.kind), "origSz": num(spec.sz),
            "tif": Engine::tif_of(order).map(Tif::name), "cloid": spec.cloid,
        })
    }
}

pub(super) fn status(reader: &Reader<'_>, request: &Value) -> Option<Value> {
    let engine = reader.engine;
    let oid = match request.get("oid")? {
        Value::Number(oid) => Some(oid.as_u64()?),
        Value::String(cloid) => engine.cloids.get(&cloid.to_ascii_lowercase()).copied(),
        _ => return None,
    };
    let known_from = |placed_ms: u64| placed_ms.saturating_add(engine.settings.order_status_lag_ms);
    let record = oid.and_then(|oid| engine.records.get(&oid));
    let record = record.filter(|record| reader.known && known_from(record.order.placed_ms) <= engine.now_ms);
    Some(match record {
        None => json!({"status": "unknownOid"}),
        Some(record) => {
            // A live order's record is from its last change; what has filled since shows in the order itself.
            let order = engine.orders.get(&record.order.oid).unwrap_or(&record.order);
            json!({"status": "order", "order": {
                "order": Families::of(engine).show(order), "status": record.status, "statusTimestamp": record.status_ms,
            }})
        }
    })
}

pub(super) fn historical(reader: &Reader<'_>) -> Value {
    let engine = reader.engine;
    let families = Families::of(engine);
    let show = |record: &Record| {
        let order = families.show(&record.order);
        json!({"order": order, "status": record.status, "statusTimestamp": record.status_ms})
    };
    engine.history.iter().rev().filter(|_| reader.known).map(show).collect()
}

/// `B` for a buy, `A` for a sell.
pub(crate) fn side(is_buy: bool) -> &'static str {
    if is_buy { "B" } else { "A" }
}

fn type_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Limit(Tif::FrontendMarket) => "Market",
        Kind::Limit(_) => "Limit",
        Kind::Trigger(trigger) => match (trigger.is_stop, trigger.is_market) {
            (true, true) => "Stop Market",
            (true, false) => "Stop Limit",
            (false, true) => "Take Profit Market",
            (false, false) => "Take Profit Limit",
        },
    }
}
