//! Actions: what a request asks the venue to do.
//!
//! An action is read into its typed form and written back in the venue's own field order with canonical amounts.
//! That canonical form is what is hashed, signed, judged and sent; the order in which a client wrote its keys is
//! kept only for the one hash that some clients need (see [`super::envelope`]).

use super::json::{Node, ObjBuilder};
use super::order::{Fields, Order, ShapeError};
use crate::base::address::{Address, Cloid};
use crate::base::text::short;

/// Most orders, cancels or modifies in one action. The body limit allows more; a human or a bot needs far fewer.
pub const MAX_BATCH: usize = 1000;

/// An action that the guard knows, or the name of one that it does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Places orders.
    Order(OrderAction),
    /// Cancels by order id.
    Cancel {
        /// What is cancelled.
        cancels: Vec<Cancel>,
        /// Fast cancel; the venue refuses it for trigger orders.
        fast: bool,
    },
    /// Cancels by client order id.
    CancelByCloid {
        /// What is cancelled.
        cancels: Vec<CancelByCloid>,
        /// Fast cancel.
        fast: bool,
    },
    /// Replaces one order.
    Modify {
        /// What is replaced, and by what.
        modify: Modify,
        /// Place the new order even if the old one cannot be cancelled.
        always: bool,
    },
    /// Replaces several orders.
    BatchModify {
        /// What is replaced, and by what.
        modifies: Vec<Modify>,
        /// Place the new orders even if the old ones cannot be cancelled.
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
        /// Always true at the venue; carried as sent.
        is_buy: bool,
        /// Millionths of a USDC; negative takes margin out.
        ntli: i64,
    },
    /// Stops a TWAP.
    TwapCancel {
        /// Asset id.
        asset: u32,
        /// TWAP id.
        twap_id: u64,
    },
    /// Nothing but burning its nonce.
    Noop,
    /// Pulls the guard's own kill switch. Never sent to the venue.
    GuardKill {
        /// Why, in 1 to 200 characters.
        reason: String,
    },
    /// Any other type, known to the venue or not; none of them is ever forwarded.
    Other {
        /// The action's `type`.
        name: String,
    },
}

/// The orders of an `order` action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderAction {
    /// The orders.
    pub orders: Vec<Order>,
    /// How they hang together.
    pub grouping: Grouping,
    /// A builder who takes a fee, if the client named one.
    pub builder: Option<Builder>,
}

/// How the orders of one action hang together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grouping {
    /// Independent orders.
    Na,
    /// A parent and its take profit or stop loss.
    NormalTpsl,
    /// Take profit or stop loss of the position.
    PositionTpsl,
    /// A bid for priority.
    Priority(u64),
}

/// A builder and its fee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Builder {
    /// The builder's address.
    pub address: Address,
    /// Tenths of a basis point.
    pub fee: u64,
}

/// One order to cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancel {
    /// Asset id.
    pub asset: u32,
    /// Order id.
    pub oid: u64,
}

/// One order to cancel by client order id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CancelByCloid {
    /// Asset id.
    pub asset: u32,
    /// Client order id.
    pub cloid: Cloid,
}

/// One order to replace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Modify {
    /// The order to replace.
    pub target: Target,
    /// The new order, whole.
    pub order: Order,
}

/// An order named by either id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// By the venue's id.
    Oid(u64),
    /// By the client's id.
    Cloid(Cloid),
}

impl Grouping {
    fn parse(node: Option<&Node>) -> Result<Self, ShapeError> {
        match node {
            None => Ok(Grouping::Na),
            Some(Node::Str(text)) => match text.as_str() {
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

    fn to_node(self) -> Node {
        match self {
            Grouping::Na => "na".into(),
            Grouping::NormalTpsl => "normalTpsl".into(),
            Grouping::PositionTpsl => "positionTpsl".into(),
            Grouping::Priority(bid) => ObjBuilder::default().with("p", bid).build(),
        }
    }
}

impl Modify {
    fn parse(target: &Node, order: &Node, place: &str) -> Result<Self, ShapeError> {
        let target = match target {
            Node::Str(text) => text.parse().map(Target::Cloid).ok(),
            node => node.as_u64().map(Target::Oid),
        };
        let target = target.ok_or_else(|| ShapeError(format!("{place}.oid: expected an order id or a cloid")))?;
        Ok(Self { target, order: Order::parse(order, &format!("{place}.order"))? })
    }
}

impl Target {
    fn to_node(self) -> Node {
        match self {
            Target::Oid(oid) => oid.into(),
            Target::Cloid(cloid) => cloid.to_string().into(),
        }
    }
}

impl Action {
    /// Reads an action.
    ///
    /// # Errors
    /// When it has no `type`, or is of a type the guard judges but not of that type's shape.
    pub fn parse(node: &Node) -> Result<Self, ShapeError> {
        let name = node.get("type").and_then(Node::as_str);
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

    fn parse_order(node: &Node) -> Result<Self, ShapeError> {
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

    fn parse_setting(node: &Node, name: &str) -> Result<Self, ShapeError> {
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

    /// How many orders, cancels or modifies it holds: the `n` of the venue's rate limits. At least 1.
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

    /// The action in the venue's field order with canonical amounts: what is hashed and what is posted. `None` for
    /// an action the guard does not know, of which no canonical form is known.
    #[must_use]
    pub fn to_node(&self) -> Option<Node> {
        let object = ObjBuilder::default().with("type", self.type_name());
        let flag = |set: &bool| set.then_some(true);
        let node = match self {
            Action::Order(action) => object
                .with("orders", action.orders.iter().map(Order::to_node).collect::<Vec<_>>())
                .with("grouping", action.grouping.to_node())
                .with_opt("builder", action.builder.as_ref().map(builder_node)),
            Action::Cancel { cancels, fast } => {
                let item =
                    |cancel: &Cancel| ObjBuilder::default().with("a", cancel.asset).with("o", cancel.oid).build();
                object.with("cancels", cancels.iter().map(item).collect::<Vec<_>>()).with_opt("f", flag(fast))
            }
            Action::CancelByCloid { cancels, fast } => {
                let item = |cancel: &CancelByCloid| {
                    ObjBuilder::default().with("asset", cancel.asset).with("cloid", cancel.cloid.to_string()).build()
                };
                object.with("cancels", cancels.iter().map(item).collect::<Vec<_>>()).with_opt("f", flag(fast))
            }
            Action::Modify { modify, always } => object
                .with("oid", modify.target.to_node())
                .with("order", modify.order.to_node())
                .with_opt("a", flag(always)),
            Action::BatchModify { modifies, always } => {
                let item = |modify: &Modify| {
                    let object = ObjBuilder::default().with("oid", modify.target.to_node());
                    object.with("order", modify.order.to_node()).build()
                };
                object.with("modifies", modifies.iter().map(item).collect::<Vec<_>>()).with_opt("a", flag(always))
            }
            Action::UpdateLeverage { asset, is_cross, leverage } => {
                object.with("asset", *asset).with("isCross", *is_cross).with("leverage", *leverage)
            }
            Action::UpdateIsolatedMargin { asset, is_buy, ntli } => {
                object.with("asset", *asset).with("isBuy", *is_buy).with("ntli", *ntli)
            }
            Action::TwapCancel { asset, twap_id } => object.with("a", *asset).with("t", *twap_id),
            Action::Noop => object,
            Action::GuardKill { reason } => object.with("reason", reason.as_str()),
            Action::Other { .. } => return None,
        };
        Some(node.build())
    }
}

fn builder_node(builder: &Builder) -> Node {
    ObjBuilder::default().with("b", builder.address.to_string()).with("f", builder.fee).build()
}

/// Reads the array `key` of at most [`MAX_BATCH`] items.
fn batch<T>(
    fields: &Fields<'_>,
    key: &str,
    mut parse: impl FnMut(&Node, &str) -> Result<T, ShapeError>,
) -> Result<Vec<T>, ShapeError> {
    let items = fields.array(key)?;
    if items.len() > MAX_BATCH {
        return Err(ShapeError(format!("action.{key}: {} items; at most {MAX_BATCH} in one action", items.len())));
    }
    items.iter().enumerate().map(|(index, item)| parse(item, &format!("action.{key}[{index}]"))).collect()
}
