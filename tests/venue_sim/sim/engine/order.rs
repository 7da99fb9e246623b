//! An order, what it was asked to be, and the words the venue answers and remembers it by.

use rust_decimal::Decimal;

/// Time in force of a limit order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tif {
    Gtc,
    Ioc,
    Alo,
    /// An IOC labelled "market".
    FrontendMarket,
}

impl Tif {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gtc => "Gtc",
            Self::Ioc => "Ioc",
            Self::Alo => "Alo",
            Self::FrontendMarket => "FrontendMarket",
        }
    }
}

/// The condition of a trigger order; it watches the mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Trigger {
    pub(crate) is_market: bool,
    pub(crate) px: Decimal,
    /// A stop loss; otherwise a take profit.
    pub(crate) is_stop: bool,
}

impl Trigger {
    /// Fires when the mark is at or above the trigger price; otherwise at or below it.
    pub(crate) fn fires_above(self, is_buy: bool) -> bool {
        self.is_stop == is_buy
    }

    pub(crate) fn met(self, is_buy: bool, mark: Decimal) -> bool {
        if self.fires_above(is_buy) { mark >= self.px } else { mark <= self.px }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Limit(Tif),
    Trigger(Trigger),
}

/// An order as asked for.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    pub(crate) asset: u32,
    pub(crate) is_buy: bool,
    pub(crate) px: Decimal,
    /// Base units; zero on a `positionTpsl` trigger means the whole position, whatever it is.
    pub(crate) sz: Decimal,
    pub(crate) reduce_only: bool,
    pub(crate) kind: Kind,
    /// Lower-case `0x` and 32 digits.
    pub(crate) cloid: Option<String>,
}

impl Spec {
    pub(crate) fn trigger(&self) -> Option<Trigger> {
        match self.kind {
            Kind::Trigger(trigger) => Some(trigger),
            Kind::Limit(_) => None,
        }
    }
}

/// How the orders of one request belong together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Grouping {
    Na,
    NormalTpsl,
    PositionTpsl,
}

/// Where a live order stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    /// On the book.
    Resting,
    /// Watching the mark.
    Armed,
    /// A `normalTpsl` child whose parent has not filled in full.
    Waiting,
}

impl Stage {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Resting => "resting",
            Self::Armed => "armed",
            Self::Waiting => "waiting",
        }
    }
}

/// A live order.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) oid: u64,
    pub(crate) spec: Spec,
    /// Base units still open; zero on a whole-position trigger.
    pub(crate) remaining: Decimal,
    pub(crate) placed_ms: u64,
    pub(crate) stage: Stage,
    /// The trigger condition was met; the order has been an ordinary one since.
    pub(crate) triggered: bool,
    pub(crate) position_tpsl: bool,
    /// The order whose `normalTpsl` child this is.
    pub(crate) parent: Option<u64>,
    pub(crate) twap_id: Option<u64>,
}

impl Order {
    pub(crate) fn new(oid: u64, spec: Spec, placed_ms: u64) -> Self {
        let remaining = spec.sz;
        let stage = if spec.trigger().is_some() { Stage::Armed } else { Stage::Resting };
        let (triggered, position_tpsl) = (false, false);
        Self { oid, spec, remaining, placed_ms, stage, triggered, position_tpsl, parent: None, twap_id: None }
    }

    /// The trigger, while it has not fired.
    pub(crate) fn live_trigger(&self) -> Option<Trigger> {
        if self.triggered { None } else { self.spec.trigger() }
    }
}

/// The last that is known of an order.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) order: Order,
    pub(crate) status: &'static str,
    pub(crate) status_ms: u64,
}

/// One order's line in a reply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    Resting { oid: u64, cloid: Option<String> },
    Filled { oid: u64, total_sz: Decimal, avg_px: Decimal, cloid: Option<String> },
    Error(String),
    WaitingForFill,
    WaitingForTrigger,
}

/// Why an order was refused at run time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Reject {
    UnknownAsset,
    Delisted,
    Tick,
    MinNotional,
    Margin,
    ReduceOnly,
    PostOnly {
        bid: Decimal,
        ask: Decimal,
    },
    IocCancel,
    TriggerPx,
    NoLiquidity,
    TooManyOrders,
    PriceBand(Decimal),
    /// A test told the venue to refuse trigger orders with this text.
    Told(String),
}

impl Reject {
    /// The sentence of the venue's error page. `UnknownAsset` and `TooManyOrders` are worded here: no source has them.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::UnknownAsset => "Order has invalid asset.".into(),
            Self::Delisted => "Trading is halted".into(),
            Self::Tick => "Price must be divisible by tick size.".into(),
            Self::MinNotional => "Order must have minimum value of $10.".into(),
            Self::Margin => "Insufficient margin to place order.".into(),
            Self::ReduceOnly => "Reduce only order would increase position.".into(),
            Self::PostOnly { bid, ask } => {
                format!("Post only order would have immediately matched, bbo was {bid}@{ask}.")
            }
            Self::IocCancel => "Order could not immediately match against any resting orders.".into(),
            Self::TriggerPx => "Invalid TP/SL price.".into(),
            Self::NoLiquidity => "No liquidity available for market order.".into(),
            Self::TooManyOrders => "Too many open orders.".into(),
            Self::PriceBand(pct) => {
                format!("Order price cannot be more than {pct}% away from the reference price")
            }
            Self::Told(text) => text.clone(),
        }
    }

    /// The status the refused order is remembered by.
    pub(crate) fn status(&self) -> &'static str {
        match self {
            Self::UnknownAsset | Self::Delisted | Self::PriceBand(_) | Self::Told(_) => "rejected",
            Self::Tick => "tickRejected",
            Self::MinNotional => "minTradeNtlRejected",
            Self::Margin => "perpMarginRejected",
            Self::ReduceOnly => "reduceOnlyRejected",
            Self::PostOnly { .. } => "badAloPxRejected",
            Self::IocCancel => "iocCancelRejected",
            Self::TriggerPx => "badTriggerPxRejected",
            Self::NoLiquidity => "marketOrderNoLiquidityRejected",
            Self::TooManyOrders => "tooManyOpenOrdersRejected",
        }
    }
}
