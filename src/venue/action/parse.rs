//! Reading of actions: strict, with the place of whatever is wrong.

use serde_json::Value;

use super::{Action, Builder, Cancel, CancelByCloid, Grouping, Modify, OrderAction, Target};
use crate::base::address::Address;
use crate::base::text::short;
use crate::venue::fields::{Fields, ShapeError};
use crate::venue::order::Order;

/// Most orders, cancels or modifies in one action. The body limit allows more; a human or a bot needs far fewer.
pub const MAX_BATCH: usize = 1000;

impl Grouping {
    fn parse(node: Option<&Value>) -> Result<Self, ShapeError> {
        match node {
            None => Ok(Grouping::Na),
            Some(Value::String(text)) => match text.as_str() {
                "na" => Ok(Grouping::Na),
                "normalTpsl" => Ok(Grouping::NormalTpsl),
                "positionTpsl" => Ok(Grouping::PositionTpsl),
                other => Err(ShapeError(format!(
                    "action.grouping: \"{}\" is none of na, normalTpsl, positionTpsl",
                    short(other)
                ))),
            },
            Some(node) => Fields::of(node, "action.grouping", &["p"])?.u64("p").map(Grouping::Priority),
        }
    }
}

impl Modify {
    fn parse(target: &Value, order: &Value, place: &str) -> Result<Self, ShapeError> {
        let target = match target {
            Value::String(text) => text.parse().map(Target::Cloid).ok(),
            node => node.as_u64().map(Target::Oid),
        };
        let target = target.ok_or_else(|| ShapeError(format!("{place}.oid: expected an order id or a cloid")))?;
        Ok(Self { target, order: Order::parse(order, &format!("{place}.order"))? })
    }
}

impl Action {
    /// Reads an action.
    ///
    /// # Errors
    /// When it has no `type`, or is of a type the guard judges but not of that type's shape.
    pub fn parse(node: &Value) -> Result<Self, ShapeError> {
        let name = node.get("type").and_then(Value::as_str);
        let name = name.ok_or_else(|| ShapeError("action: missing key `type`".to_owned()))?;
        match name {
            "order" => Self::parse_order(node),
            "cancel" => {
                let fields = Fields::of(node, "action", &["type", "cancels", "f"])?;
                let cancels = batch(&fields, "cancels", |item, place| {
                    let item = Fields::of(item, place, &["a", "o"])?;
                    Ok(Cancel { asset: item.u32("a")?, oid: item.u64("o")? })
                })?;
                Ok(Action::Cancel { cancels, fast: fields.bool_or("f", false)? })
            }
            "cancelByCloid" => {
                let fields = Fields::of(node, "action", &["type", "cancels", "f"])?;
                let cancels = batch(&fields, "cancels", |item, place| {
                    let fields = Fields::of(item, place, &["asset", "cloid"])?;
                    fields.required("cloid")?;
                    let cloid = fields.cloid("cloid")?.ok_or_else(|| ShapeError(format!("{place}: no cloid")))?;
                    Ok(CancelByCloid { asset: fields.u32("asset")?, cloid })
                })?;
                Ok(Action::CancelByCloid { cancels, fast: fields.bool_or("f", false)? })
            }
            "modify" => {
                let fields = Fields::of(node, "action", &["type", "oid", "order", "a"])?;
                let modify = Modify::parse(fields.required("oid")?, fields.required("order")?, "action")?;
                Ok(Action::Modify { modify, always: fields.bool_or("a", false)? })
            }
            "batchModify" => {
                let fields = Fields::of(node, "action", &["type", "modifies", "a"])?;
                let modifies = batch(&fields, "modifies", |item, place| {
                    let item = Fields::of(item, place, &["oid", "order"])?;
                    Modify::parse(item.required("oid")?, item.required("order")?, place)
                })?;
                Ok(Action::BatchModify { modifies, always: fields.bool_or("a", false)? })
            }
            _ => Self::parse_setting(node, name),
        }
    }

    fn parse_order(node: &Value) -> Result<Self, ShapeError> {
        let fields = Fields::of(node, "action", &["type", "orders", "grouping", "builder"])?;
        let orders = batch(&fields, "orders", Order::parse)?;
        let builder = match fields.optional("builder") {
            Some(node) => {
                let builder = Fields::of(node, "action.builder", &["b", "f"])?;
                let address = Address::parse_lenient(builder.str("b")?)
                    .map_err(|error| ShapeError(format!("action.builder.b: {error}")))?;
                Some(Builder { address, fee: builder.u64("f")? })
            }
            None => None,
        };
        Ok(Action::Order(OrderAction { orders, grouping: Grouping::parse(fields.optional("grouping"))?, builder }))
    }

    fn parse_setting(node: &Value, name: &str) -> Result<Self, ShapeError> {
        match name {
            "updateLeverage" => {
                let fields = Fields::of(node, "action", &["type", "asset", "isCross", "leverage"])?;
                Ok(Action::UpdateLeverage {
                    asset: fields.u32("asset")?,
                    is_cross: fields.bool("isCross")?,
                    leverage: fields.u32("leverage")?,
                })
            }
            "updateIsolatedMargin" => {
                let fields = Fields::of(node, "action", &["type", "asset", "isBuy", "ntli"])?;
                Ok(Action::UpdateIsolatedMargin {
                    asset: fields.u32("asset")?,
                    is_buy: fields.bool("isBuy")?,
                    ntli: fields.i64("ntli")?,
                })
            }
            "twapCancel" => {
                let fields = Fields::of(node, "action", &["type", "a", "t"])?;
                Ok(Action::TwapCancel { asset: fields.u32("a")?, twap_id: fields.u64("t")? })
            }
            "noop" => Fields::of(node, "action", &["type"]).map(|_| Action::Noop),
            "guardKill" => {
                let reason = Fields::of(node, "action", &["type", "reason"])?.str("reason")?;
                match reason.chars().count() {
                    1..=200 => Ok(Action::GuardKill { reason: reason.to_owned() }),
                    count => Err(ShapeError(format!("action.reason: {count} characters; 1 to 200 are allowed"))),
                }
            }
            other => Ok(Action::Other { name: other.to_owned() }),
        }
    }
}

/// Reads the array `key` of one to [`MAX_BATCH`] items.
fn batch<T>(
    fields: &Fields<'_>,
    key: &str,
    mut parse: impl FnMut(&Value, &str) -> Result<T, ShapeError>,
) -> Result<Vec<T>, ShapeError> {
    let items = fields.array(key)?;
    if items.is_empty() {
        return Err(ShapeError(format!("action.{key}: empty; nothing is asked for")));
    }
    if items.len() > MAX_BATCH {
        return Err(ShapeError(format!("action.{key}: {} items; at most {MAX_BATCH} in one action", items.len())));
    }
    items.iter().enumerate().map(|(index, item)| parse(item, &format!("action.{key}[{index}]"))).collect()
}
