//! One order as it travels inside an action.
//! Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/exchange-endpoint>, "Place an order".

use rust_decimal::Decimal;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::fields::{Fields, ShapeError};
use crate::base::address::Cloid;
use crate::base::amount::to_wire;

/// The slippage that the venue tolerates when it fills a triggered market order, percent: the order's limit price stands
/// this far beyond its trigger.
/// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/trading/take-profit-and-stop-loss-orders-tp-sl>.
pub const TRIGGER_SLIPPAGE_PCT: Decimal = Decimal::TEN;

/// An order that is to be placed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Order {
    /// Asset id: for a core perp its index in the venue's universe.
    #[serde(rename = "a")]
    pub asset: u32,
    /// Buy, or sell.
    #[serde(rename = "b")]
    pub is_buy: bool,
    /// Limit price. Market triggers carry one as well.
    #[serde(rename = "p", serialize_with = "wire")]
    pub limit_px: Decimal,
    /// Size in base units; 0 means the whole position (`positionTpsl` only; observed).
    #[serde(rename = "s", serialize_with = "wire")]
    pub size: Decimal,
    /// May only reduce the position.
    #[serde(rename = "r")]
    pub reduce_only: bool,
    /// Limit or trigger.
    #[serde(rename = "t")]
    pub kind: OrderKind,
    /// Client order id.
    #[serde(rename = "c", skip_serializing_if = "Option::is_none")]
    pub cloid: Option<Cloid>,
}

/// When and how an order executes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum OrderKind {
    /// A limit order.
    #[serde(serialize_with = "limit")]
    Limit(Tif),
    /// An order that waits for the mark price.
    /// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/trading/take-profit-and-stop-loss-orders-tp-sl>.
    Trigger {
        /// Executes as a market order once triggered; otherwise as a limit order at its price.
        is_market: bool,
        /// The mark price that triggers it.
        #[serde(serialize_with = "wire")]
        trigger_px: Decimal,
        /// Stop loss or take profit.
        tpsl: Tpsl,
    },
}

/// Time in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Tif {
    /// Add liquidity only.
    Alo,
    /// Immediate or cancel.
    Ioc,
    /// Good till cancelled.
    Gtc,
    /// An immediate-or-cancel order that the venue's own page labels "market". Answers on
    /// <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/info-endpoint> show it; that it may be sent
    /// is on no page (observed, and in the schema of the SDK `@nktkas/hyperliquid`).
    FrontendMarket,
}

/// The side of a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tpsl {
    /// Take profit.
    Tp,
    /// Stop loss.
    Sl,
}

impl Tif {
    /// The name on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Tif::Alo => "Alo",
            Tif::Ioc => "Ioc",
            Tif::Gtc => "Gtc",
            Tif::FrontendMarket => "FrontendMarket",
        }
    }

    /// The time in force of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Tif::Alo, Tif::Ioc, Tif::Gtc, Tif::FrontendMarket].into_iter().find(|tif| tif.name() == name)
    }

    /// Whether what does not fill at once is cancelled.
    #[must_use]
    pub fn is_immediate(self) -> bool {
        matches!(self, Tif::Ioc | Tif::FrontendMarket)
    }
}

impl Tpsl {
    /// The name on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Tpsl::Tp => "tp",
            Tpsl::Sl => "sl",
        }
    }
}

impl Order {
    /// Whether the order waits for a trigger.
    #[must_use]
    pub fn is_trigger(&self) -> bool {
        matches!(self.kind, OrderKind::Trigger { .. })
    }

    /// The time in force of a limit order.
    #[must_use]
    pub fn tif(&self) -> Option<Tif> {
        match self.kind {
            OrderKind::Limit(tif) => Some(tif),
            OrderKind::Trigger { .. } => None,
        }
    }

    /// Whether what does not fill at once stays open. No trigger order counts here: it waits to be triggered first.
    #[must_use]
    pub fn may_rest(&self) -> bool {
        self.tif().is_some_and(|tif| !tif.is_immediate())
    }

    /// The trigger price, if this is a reduce-only stop loss that executes at market: the only kind that covers.
    #[must_use]
    pub fn market_stop_px(&self) -> Option<Decimal> {
        match self.kind {
            OrderKind::Trigger { is_market: true, trigger_px, tpsl: Tpsl::Sl } if self.reduce_only => Some(trigger_px),
            _ => None,
        }
    }

    /// Reads an order; `place` names it in errors.
    ///
    /// # Errors
    /// When a key is missing, unknown or of another type, or an amount is not one.
    pub fn parse(node: &Value, place: &str) -> Result<Self, ShapeError> {
        let fields = Fields::of(node, place, &["a", "b", "p", "s", "r", "t", "c"])?;
        Ok(Order {
            asset: fields.u32("a")?,
            is_buy: fields.bool("b")?,
            limit_px: fields.amount("p")?,
            size: fields.amount("s")?,
            reduce_only: fields.bool_or("r", false)?,
            kind: OrderKind::parse(fields.required("t")?, &fields.inner("t"))?,
            cloid: fields.cloid("c")?,
        })
    }
}

impl OrderKind {
    fn parse(node: &Value, place: &str) -> Result<Self, ShapeError> {
        let fields = Fields::of(node, place, &["limit", "trigger"])?;
        match (fields.optional("limit"), fields.optional("trigger")) {
            (Some(limit), None) => {
                let inner = fields.inner("limit");
                let limit = Fields::of(limit, &inner, &["tif"])?;
                limit.one_of("tif", &[Tif::Alo, Tif::Ioc, Tif::Gtc, Tif::FrontendMarket], Tif::name).map(Self::Limit)
            }
            (None, Some(trigger)) => {
                let inner = fields.inner("trigger");
                let trigger = Fields::of(trigger, &inner, &["isMarket", "triggerPx", "tpsl"])?;
                Ok(Self::Trigger {
                    is_market: trigger.bool("isMarket")?,
                    trigger_px: trigger.amount("triggerPx")?,
                    tpsl: trigger.one_of("tpsl", &[Tpsl::Tp, Tpsl::Sl], Tpsl::name)?,
                })
            }
            _ => Err(ShapeError(format!("{place}: exactly one of `limit` and `trigger` is needed"))),
        }
    }
}

/// Writes an amount in its shortest form: the one that is signed.
fn wire<S: Serializer>(amount: &Decimal, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&to_wire(*amount))
}

/// Writes what a limit order carries besides its price.
fn limit<S: Serializer>(tif: &Tif, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Limit {
        tif: Tif,
    }
    Limit { tif: *tif }.serialize(serializer)
}
