//! One order as it travels inside an action.

use crate::base::text::short;
use std::fmt;

use rust_decimal::Decimal;

use super::json::{Node, ObjBuilder};
use crate::base::address::Cloid;
use crate::base::amount::{parse_wire, to_wire};

/// Why an action or order is not of the venue's shape. The text names the place and the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShapeError(pub String);

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ShapeError {}

/// An order that is to be placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Asset id: for a core perp its index in the venue's universe.
    pub asset: u32,
    /// Buy, or sell.
    pub is_buy: bool,
    /// Limit price. Market triggers carry one as well.
    pub limit_px: Decimal,
    /// Size in base units; 0 means the whole position (`positionTpsl` only).
    pub size: Decimal,
    /// May only reduce the position.
    pub reduce_only: bool,
    /// Limit or trigger.
    pub kind: OrderKind,
    /// Client order id.
    pub cloid: Option<Cloid>,
}

/// When and how an order executes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderKind {
    /// A limit order.
    Limit(Tif),
    /// An order that waits for the mark price.
    Trigger {
        /// Executes as a market order once triggered; otherwise as a limit order at its price.
        is_market: bool,
        /// The mark price that triggers it.
        trigger_px: Decimal,
        /// Stop loss or take profit.
        tpsl: Tpsl,
    },
}

/// Time in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tif {
    /// Add liquidity only.
    Alo,
    /// Immediate or cancel.
    Ioc,
    /// Good till cancelled.
    Gtc,
    /// An immediate-or-cancel order that the venue's own page labels "market".
    FrontendMarket,
}

/// The side of a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    pub fn parse(node: &Node, place: &str) -> Result<Self, ShapeError> {
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

    /// The order in the venue's field order.
    #[must_use]
    pub fn to_node(&self) -> Node {
        ObjBuilder::default()
            .with("a", self.asset)
            .with("b", self.is_buy)
            .with("p", to_wire(self.limit_px))
            .with("s", to_wire(self.size))
            .with("r", self.reduce_only)
            .with("t", self.kind.to_node())
            .with_opt("c", self.cloid.map(|cloid| cloid.to_string()))
            .build()
    }
}

impl OrderKind {
    fn parse(node: &Node, place: &str) -> Result<Self, ShapeError> {
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

    fn to_node(&self) -> Node {
        let inner = ObjBuilder::default();
        match self {
            OrderKind::Limit(tif) => ObjBuilder::default().with("limit", inner.with("tif", tif.name()).build()),
            OrderKind::Trigger { is_market, trigger_px, tpsl } => ObjBuilder::default().with(
                "trigger",
                inner
                    .with("isMarket", *is_market)
                    .with("triggerPx", to_wire(*trigger_px))
                    .with("tpsl", tpsl.name())
                    .build(),
            ),
        }
        .build()
    }
}

/// The members of an object whose keys are all known. Every error names the place.
pub(super) struct Fields<'a> {
    members: &'a [(String, Node)],
    place: &'a str,
}

impl<'a> Fields<'a> {
    pub(super) fn of(node: &'a Node, place: &'a str, known: &[&str]) -> Result<Self, ShapeError> {
        let Node::Obj(members) = node else {
            return Err(ShapeError(format!("{place}: expected an object, found {}", node.kind())));
        };
        match members.iter().find(|(key, _)| !known.contains(&key.as_str())) {
            Some((key, _)) => {
                Err(ShapeError(format!("{place}: unknown key `{}`; known: {}", short(key), known.join(", "))))
            }
            None => Ok(Self { members, place }),
        }
    }

    /// The place of the member `key`, for errors inside it.
    pub(super) fn inner(&self, key: &str) -> String {
        format!("{}.{key}", self.place)
    }

    /// The member, unless absent or null.
    pub(super) fn optional(&self, key: &str) -> Option<&'a Node> {
        self.members.iter().find(|(name, _)| name == key).map(|(_, node)| node).filter(|node| **node != Node::Null)
    }

    pub(super) fn required(&self, key: &str) -> Result<&'a Node, ShapeError> {
        self.optional(key).ok_or_else(|| ShapeError(format!("{}: missing key `{key}`", self.place)))
    }

    fn wrong(&self, key: &str, wanted: impl fmt::Display, found: &Node) -> ShapeError {
        let found = match found {
            Node::Str(text) => format!("\"{}\"", short(text)),
            other => other.kind().to_owned(),
        };
        ShapeError(format!("{}.{key}: expected {wanted}, found {found}", self.place))
    }

    pub(super) fn bool(&self, key: &str) -> Result<bool, ShapeError> {
        match self.required(key)? {
            Node::Bool(value) => Ok(*value),
            other => Err(self.wrong(key, "true or false", other)),
        }
    }

    pub(super) fn bool_or(&self, key: &str, default: bool) -> Result<bool, ShapeError> {
        if self.optional(key).is_some() { self.bool(key) } else { Ok(default) }
    }

    pub(super) fn u64(&self, key: &str) -> Result<u64, ShapeError> {
        let node = self.required(key)?;
        node.as_u64().ok_or_else(|| self.wrong(key, "an integer that is not negative", node))
    }

    pub(super) fn u32(&self, key: &str) -> Result<u32, ShapeError> {
        let number = self.u64(key)?;
        u32::try_from(number).map_err(|_| ShapeError(format!("{}.{key}: {number} is over {}", self.place, u32::MAX)))
    }

    pub(super) fn i64(&self, key: &str) -> Result<i64, ShapeError> {
        let node = self.required(key)?;
        let number = match node {
            Node::Int(number) => i64::try_from(*number).ok(),
            _ => None,
        };
        number.ok_or_else(|| self.wrong(key, "an integer of 64 bits", node))
    }

    pub(super) fn str(&self, key: &str) -> Result<&'a str, ShapeError> {
        let node = self.required(key)?;
        node.as_str().ok_or_else(|| self.wrong(key, "a string", node))
    }

    pub(super) fn amount(&self, key: &str) -> Result<Decimal, ShapeError> {
        let text = self.str(key)?;
        parse_wire(text)
            .map_err(|error| ShapeError(format!("{}.{key}: \"{}\" is no amount: {error}", self.place, short(text))))
    }

    pub(super) fn cloid(&self, key: &str) -> Result<Option<Cloid>, ShapeError> {
        let Some(node) = self.optional(key) else { return Ok(None) };
        let parsed = node.as_str().and_then(|text| text.parse().ok());
        parsed.map(Some).ok_or_else(|| self.wrong(key, "0x and 32 hex digits", node))
    }

    pub(super) fn array(&self, key: &str) -> Result<&'a [Node], ShapeError> {
        match self.required(key)? {
            Node::Arr(items) => Ok(items),
            other => Err(self.wrong(key, "an array", other)),
        }
    }

    pub(super) fn one_of<T: Copy>(
        &self,
        key: &str,
        values: &[T],
        name: impl Fn(T) -> &'static str,
    ) -> Result<T, ShapeError> {
        let text = self.str(key)?;
        values.iter().copied().find(|value| name(*value) == text).ok_or_else(|| {
            let names: Vec<_> = values.iter().map(|value| name(*value)).collect();
            ShapeError(format!("{}.{key}: \"{}\" is none of {}", self.place, short(text), names.join(", ")))
        })
    }
}
