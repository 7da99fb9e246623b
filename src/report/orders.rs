//! Orders as actions name them: what a report has to know of one.

use rust_decimal::Decimal;
use serde_json::Value;

use crate::base::address::Cloid;
use crate::base::amount::parse_wire;
use crate::record::events::Decision;
use crate::venue::json::Node;

/// An order in an action.
#[derive(Debug, Clone)]
pub(super) struct Order {
    pub(super) asset: u64,
    pub(super) is_buy: bool,
    pub(super) size: Decimal,
    pub(super) reduces: bool,
    pub(super) is_trigger: bool,
    /// A stop, of the triggers.
    pub(super) is_stop: bool,
    pub(super) cloid: Option<Cloid>,
}

impl Order {
    /// Reads one; `None` where it is none that the venue would take.
    fn of(node: &Node) -> Option<Order> {
        let trigger = node.pointer("/t/trigger");
        let kind = trigger.and_then(|trigger| trigger.get("tpsl")?.as_str());
        Some(Order {
            asset: node.get("a")?.as_u64()?,
            is_buy: node.get("b")?.as_bool()?,
            size: parse_wire(node.get("s")?.as_str()?).ok()?,
            reduces: node.get("r").and_then(Value::as_bool).unwrap_or(false),
            is_trigger: trigger.is_some(),
            is_stop: kind == Some("sl"),
            cloid: node.get("c").and_then(|cloid| cloid.as_str()?.parse().ok()),
        })
    }

    /// Whether it can open a position at once or by resting.
    pub(super) fn enters(&self) -> bool {
        !self.reduces && !self.is_trigger
    }
}

/// The orders that an action places.
pub(super) fn placed_by(action: &Node) -> Vec<Order> {
    let is_order = action.get("type").and_then(Value::as_str) == Some("order");
    let orders = action.get("orders").and_then(Value::as_array).filter(|_| is_order);
    orders.into_iter().flatten().filter_map(Order::of).collect()
}

/// The orders of all that is sent for a decision.
pub(super) fn sent_for(decision: &Decision<'_>) -> Vec<Order> {
    let actions = decision.pre.iter().chain(&decision.forward).chain(&decision.post);
    actions.flat_map(|action| placed_by(action)).collect()
}
