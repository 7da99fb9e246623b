//! An order as an agent asks for it, and as the venue takes it. Pure: nothing is rounded but the limit that a market
//! order is given, and that only toward the price.

use rust_decimal::{Decimal, dec};

use super::args::{Args, ArgumentError};
use super::outcome::{Outcome, Rule};
use crate::base::address::Cloid;
use crate::base::amount::{percent_of, to_wire};
use crate::venue::action::{Grouping, OrderAction};
use crate::venue::market::{Market, Toward};
use crate::venue::order::{Order, OrderKind, TRIGGER_SLIPPAGE_PCT, Tif, Tpsl};

/// Percent from the mid within which a market order that only closes may fill: exits are not held to the owner's collar.
pub(super) const EXIT_SLIPPAGE_PCT: Decimal = dec!(5);

/// The order that `place_order` was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OrderRequest {
    pub(super) coin: String,
    pub(super) is_buy: bool,
    pub(super) size: Decimal,
    pub(super) kind: OrderType,
    pub(super) reduce_only: bool,
    pub(super) stop_px: Option<Decimal>,
    pub(super) take_px: Option<Decimal>,
    pub(super) client_id: String,
    pub(super) reason: Option<String>,
}

/// Market, or limit with its price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OrderType {
    Market,
    Limit(Decimal, Tif),
}

impl OrderRequest {
    /// The names of the arguments.
    pub(super) const NAMES: [&str; 11] = [
        "coin",
        "side",
        "type",
        "size",
        "client_id",
        "limit_price",
        "tif",
        "reduce_only",
        "stop_loss_price",
        "take_profit_price",
        "reason",
    ];

    /// Reads the arguments, those that belong together too.
    pub(super) fn read(args: &Args) -> Result<Self, ArgumentError> {
        let is_market = args.required_choice("type", &[("market", true), ("limit", false)])?;
        let tif = args.choice("tif", &[("gtc", Tif::Gtc), ("ioc", Tif::Ioc), ("alo", Tif::Alo)])?;
        let limit_px = args.amount("limit_price")?;
        let kind = match (is_market, limit_px) {
            (true, None) if tif.is_some() => return Err(args.fault("tif", "nothing with type market")),
            (true, None) => OrderType::Market,
            (true, Some(_)) => return Err(args.fault("limit_price", "nothing with type market")),
            (false, Some(px)) => OrderType::Limit(px, tif.unwrap_or(Tif::Gtc)),
            (false, None) => return Err(args.fault("limit_price", "a price with type limit")),
        };
        let reduce_only = args.flag("reduce_only")?;
        let (stop_px, take_px) = (args.amount("stop_loss_price")?, args.amount("take_profit_price")?);
        for (name, px) in [("stop_loss_price", stop_px), ("take_profit_price", take_px)] {
            if reduce_only && px.is_some() {
                return Err(args.fault(name, "nothing with reduce_only, which opens nothing to protect"));
            }
        }
        Ok(Self {
            coin: args.coin()?,
            is_buy: args.required_choice("side", &[("buy", true), ("sell", false)])?,
            size: args.required_amount("size")?,
            kind,
            reduce_only,
            stop_px,
            take_px,
            client_id: args.client_id()?,
            reason: args.reason()?,
        })
    }

    /// The request in words.
    pub(super) fn words(&self) -> String {
        let side = if self.is_buy { "buy" } else { "sell" };
        let price = match self.kind {
            OrderType::Market => "at market".to_owned(),
            OrderType::Limit(px, _) => format!("at {}", to_wire(px)),
        };
        format!("{side} {} {} {price}", to_wire(self.size), self.coin)
    }

    /// The venue's orders: the request, and under it what protects it.
    ///
    /// # Errors
    /// `invalid` where a price or size is not on the market's steps, or a trigger is on the wrong side.
    pub(super) fn orders(&self, market: &Market, entry: LimitTerms, cloid: Cloid) -> Result<OrderAction, Outcome> {
        size_fits(market, self.size)?;
        let LimitTerms { px, tif } = entry;
        price_fits(market, px, "limit_price")?;
        let kind = OrderKind::Limit(tif);
        let main = Order {
            asset: market.asset,
            is_buy: self.is_buy,
            limit_px: px,
            size: self.size,
            reduce_only: self.reduce_only,
            kind,
            cloid: Some(cloid),
        };
        let mut orders = vec![main];
        for (name, tpsl, trigger_px) in
            [("take_profit_price", Tpsl::Tp, self.take_px), ("stop_loss_price", Tpsl::Sl, self.stop_px)]
        {
            let Some(trigger_px) = trigger_px else { continue };
            price_fits(market, trigger_px, name)?;
            self.side_fits(name, tpsl, trigger_px, px)?;
            orders.push(protection(market, !self.is_buy, trigger_px, self.size, tpsl));
        }
        let grouping = if orders.len() > 1 { Grouping::NormalTpsl } else { Grouping::Na };
        Ok(OrderAction { orders, grouping, builder: None })
    }

    /// A stop belongs on the losing side of the entry, a take profit on the winning one.
    fn side_fits(&self, name: &str, tpsl: Tpsl, trigger_px: Decimal, px: Decimal) -> Result<(), Outcome> {
        let wants_below = self.is_buy == (tpsl == Tpsl::Sl);
        let is_below = trigger_px < px;
        if trigger_px != px && wants_below == is_below {
            return Ok(());
        }
        let side = if wants_below { "below" } else { "above" };
        let rule = Rule::of(&format!("argument_{name}"), &format!("{side} {}", to_wire(px)), &to_wire(trigger_px));
        let text = format!(
            "{name} {} must be {side} the order's price {}. Nothing was sent; correct it and call again.",
            to_wire(trigger_px),
            to_wire(px)
        );
        Err(Outcome::invalid(rule, text))
    }
}

/// The price that the main order goes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LimitTerms {
    pub(super) px: Decimal,
    pub(super) tif: Tif,
}

/// The limit of a market order: so many percent through the mid, on the tick, rounded toward the mid.
pub(super) fn limit_through(market: &Market, is_buy: bool, mid: Decimal, percent: Decimal) -> LimitTerms {
    let width = percent_of(mid, percent);
    let px = if is_buy {
        market.round_price(mid.saturating_add(width), Toward::Down)
    } else {
        market.round_price(mid.saturating_sub(width), Toward::Up)
    };
    LimitTerms { px, tif: Tif::Ioc }
}

/// A reduce-only order that executes at market once the mark price reaches its trigger.
pub(super) fn protection(market: &Market, is_buy: bool, trigger_px: Decimal, size: Decimal, tpsl: Tpsl) -> Order {
    Order {
        asset: market.asset,
        is_buy,
        limit_px: beyond_trigger(market, is_buy, trigger_px),
        size,
        reduce_only: true,
        kind: OrderKind::Trigger { is_market: true, trigger_px, tpsl },
        cloid: None,
    }
}

/// The limit price that a market trigger carries.
pub(super) fn beyond_trigger(market: &Market, is_buy: bool, trigger_px: Decimal) -> Decimal {
    limit_through(market, is_buy, trigger_px, TRIGGER_SLIPPAGE_PCT).px
}

/// Refuses a size that is not on the market's lot.
pub(super) fn size_fits(market: &Market, size: Decimal) -> Result<(), Outcome> {
    if market.is_size(size) {
        return Ok(());
    }
    let lot = to_wire(market.lot());
    let text = format!(
        "The size {} is not a multiple of {}'s smallest step {lot}; the next lower one is {}. Nothing was sent and nothing is \
         rounded for you; correct it and call again.",
        to_wire(size),
        market.coin,
        to_wire(market.floor_size(size)),
    );
    Err(Outcome::invalid(Rule::of("size_invalid", &format!("multiples of {lot}"), &to_wire(size)), text))
}

/// Refuses a price that is not on the market's tick.
pub(super) fn price_fits(market: &Market, px: Decimal, name: &str) -> Result<(), Outcome> {
    if market.is_price(px) {
        return Ok(());
    }
    let (below, above) = (market.round_price(px, Toward::Down), market.round_price(px, Toward::Up));
    let next = format!("{} or {}", to_wire(below), to_wire(above));
    let text = format!(
        "{name} {} is not a price that {} trades at; the next ones are {next}. Nothing was sent and nothing is rounded for \
         you; correct it and call again.",
        to_wire(px),
        market.coin,
    );
    Err(Outcome::invalid(Rule::of("price_invalid", &next, &to_wire(px)), text))
}
