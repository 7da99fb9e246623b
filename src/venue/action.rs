//! Actions: what a request asks the venue to do.
//!
//! An action is read into its typed form and written back in the venue's own field order with canonical amounts.
//! That canonical form is what is hashed, signed, judged and sent; the order in which a client wrote its keys is
//! kept only for the one hash that some clients need (see [`super::envelope`]).

mod parse;

use std::collections::BTreeSet;
use std::ops::Not;

use serde::Serialize;
use serde_json::Value;

use super::order::Order;
use crate::base::address::{Address, Cloid};

pub use parse::MAX_BATCH;

/// An action that the guard knows, or the name of one that it does not. Written in the venue's field order, with a
/// flag that is not set left out: the venue hashes the same form, so a `false` that is written changes the signer.
/// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/exchange-endpoint>.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Action {
    /// Places orders.
    Order(OrderAction),
    /// Cancels by order id.
    Cancel {
        /// The orders to cancel.
        cancels: Vec<Cancel>,
        /// Fast cancel; the venue refuses it for trigger orders.
        #[serde(rename = "f", skip_serializing_if = "Not::not")]
        fast: bool,
    },
    /// Cancels by client order id.
    CancelByCloid {
        /// The orders to cancel.
        cancels: Vec<CancelByCloid>,
        /// Fast cancel.
        #[serde(rename = "f", skip_serializing_if = "Not::not")]
        fast: bool,
    },
    /// Replaces one order.
    Modify {
        /// The order to replace, and the new one.
        #[serde(flatten)]
        modify: Modify,
        /// Place the new order even if the old one cannot be cancelled.
        #[serde(rename = "a", skip_serializing_if = "Not::not")]
        always: bool,
    },
    /// Replaces several orders.
    BatchModify {
        /// The orders to replace, each with the new one.
        modifies: Vec<Modify>,
        /// Place the new orders even if the old ones cannot be cancelled.
        #[serde(rename = "a", skip_serializing_if = "Not::not")]
        always: bool,
    },
    /// Sets a market's leverage.
    UpdateLeverage {
        /// Asset id.
        asset: u32,
        /// Cross margin, or isolated.
        is_cross: bool,
        /// The leverage setting.
        leverage: u32,
    },
    /// Moves margin into or out of an isolated position.
    UpdateIsolatedMargin {
        /// Asset id.
        asset: u32,
        /// Without effect at the venue; carried as sent.
        is_buy: bool,
        /// Millionths of a USDC; negative takes margin out.
        ntli: i64,
    },
    /// Stops a TWAP.
    TwapCancel {
        /// Asset id.
        #[serde(rename = "a")]
        asset: u32,
        /// TWAP id.
        #[serde(rename = "t")]
        twap_id: u64,
    },
    /// Nothing but burning its nonce.
    Noop,
    /// Pulls the guard's own kill switch. Never sent to the venue.
    GuardKill {
        /// Why, in 1 to 200 characters.
        reason: String,
    },
    /// Any other type, known to the venue or not; none of them is ever forwarded, and no canonical form is known.
    #[serde(skip_serializing)]
    Other {
        /// The action's `type`.
        name: String,
    },
}

/// The orders of an `order` action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OrderAction {
    /// The orders.
    pub orders: Vec<Order>,
    /// How they hang together.
    pub grouping: Grouping,
    /// A builder who takes a fee, if the client named one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub builder: Option<Builder>,
}

/// How the orders of one action hang together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Grouping {
    /// Independent orders.
    Na,
    /// A parent and its take profit or stop loss.
    NormalTpsl,
    /// Take profit or stop loss of the position.
    PositionTpsl,
    /// A bid for priority, in hundred-millionths of the notional.
    /// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/priority-fees>.
    #[serde(rename = "p")]
    Priority(u64),
}

/// A builder and its fee.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Builder {
    /// The builder's address.
    #[serde(rename = "b")]
    pub address: Address,
    /// Tenths of a basis point. Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/trading/builder-codes>.
    #[serde(rename = "f")]
    pub fee: u64,
}

/// One order to cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Cancel {
    /// Asset id.
    #[serde(rename = "a")]
    pub asset: u32,
    /// Order id.
    #[serde(rename = "o")]
    pub oid: u64,
}

/// One order to cancel by client order id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CancelByCloid {
    /// Asset id.
    pub asset: u32,
    /// Client order id.
    pub cloid: Cloid,
}

/// One order to replace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Modify {
    /// The order to replace.
    #[serde(rename = "oid")]
    pub target: Target,
    /// The new order, whole.
    pub order: Order,
}

/// An order named by either id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Target {
    /// By the venue's id.
    Oid(u64),
    /// By the client's id.
    Cloid(Cloid),
}

impl Action {
    /// The action's `type`.
    #[must_use]
    pub fn type_name(&self) -> &str {
        match self {
            Action::Order(_) => "order",
            Action::Cancel { .. } => "cancel",
            Action::CancelByCloid { .. } => "cancelByCloid",
            Action::Modify { .. } => "modify",
            Action::BatchModify { .. } => "batchModify",
            Action::UpdateLeverage { .. } => "updateLeverage",
            Action::UpdateIsolatedMargin { .. } => "updateIsolatedMargin",
            Action::TwapCancel { .. } => "twapCancel",
            Action::Noop => "noop",
            Action::GuardKill { .. } => "guardKill",
            Action::Other { name } => name,
        }
    }

    /// The orders that it places.
    pub fn orders(&self) -> impl Iterator<Item = &Order> {
        let (orders, modifies): (&[Order], &[Modify]) = match self {
            Action::Order(action) => (&action.orders, &[]),
            Action::Modify { modify, .. } => (&[], std::slice::from_ref(modify)),
            Action::BatchModify { modifies, .. } => (&[], modifies),
            _ => (&[], &[]),
        };
        orders.iter().chain(modifies.iter().map(|modify| &modify.order))
    }

    /// The markets that it is about, each once.
    #[must_use]
    pub fn assets(&self) -> BTreeSet<u32> {
        match self {
            Action::Cancel { cancels, .. } => cancels.iter().map(|cancel| cancel.asset).collect(),
            Action::CancelByCloid { cancels, .. } => cancels.iter().map(|cancel| cancel.asset).collect(),
            Action::UpdateLeverage { asset, .. }
            | Action::UpdateIsolatedMargin { asset, .. }
            | Action::TwapCancel { asset, .. } => BTreeSet::from([*asset]),
            _ => self.orders().map(|order| order.asset).collect(),
        }
    }

    /// How many orders, cancels or modifies it holds: the `n` of the venue's rate limits. At least 1.
    /// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits>.
    #[must_use]
    pub fn batch_len(&self) -> usize {
        match self {
            Action::Order(action) => action.orders.len(),
            Action::Cancel { cancels, .. } => cancels.len(),
            Action::CancelByCloid { cancels, .. } => cancels.len(),
            Action::BatchModify { modifies, .. } => modifies.len(),
            _ => 1,
        }
        .max(1)
    }

    /// Whether it can neither open nor reduce anything.
    #[must_use]
    pub fn is_neutral(&self) -> bool {
        matches!(
            self,
            Action::UpdateLeverage { .. }
                | Action::UpdateIsolatedMargin { .. }
                | Action::TwapCancel { .. }
                | Action::Noop
        )
    }

    /// The action in the venue's field order with canonical amounts: the form that is hashed and posted. `None` for
    /// an action the guard does not know, of which no canonical form is known.
    #[must_use]
    pub fn to_node(&self) -> Option<Value> {
        serde_json::to_value(self).ok()
    }
}

#[cfg(test)]
mod tests;
