//! `modify_order`.

use std::time::Duration;

use rust_decimal::Decimal;

use super::tool::{TRADE, Tool, read};
use crate::base::amount::to_wire;
use crate::base::cloid_prefix::is_derived;
use crate::mcp::answer::Answer;
use crate::mcp::context::Context;
use crate::mcp::freshness::{PATIENCE, Snapshot};
use crate::mcp::order::{beyond_trigger, price_fits, size_fits};
use crate::mcp::outcome::{Kind, Outcome, Retry, Rule};
use crate::mcp::schema;
use crate::mcp::send::execute;
use crate::mcp::status::{Open, Status};
use crate::mcp::trade_outcome::Trade;
use crate::venue::action::{Action, Modify, Target};
use crate::venue::market::Market;
use crate::venue::order::{Order, OrderKind, Tif, Tpsl};

pub(super) const MODIFY: Tool = Tool {
    name: "modify_order",
    title: "Change an order",
    description: "Changes the price or size of one open order: a limit order's price, or a stop's or take profit's trigger. A stop \
                  that covers a position may only move toward the price. The order gets a new id and keeps its time in force. Size \
                  is what is to be left open, in coins.",
    hints: TRADE,
    input: || {
        schema::object(
            2,
            &[
                ("coin", schema::coin()),
                ("order_id", schema::order_id()),
                ("new_price", schema::amount("The new limit or trigger price; left out, it stays.")),
                ("new_size", schema::amount("The new size; left out, it stays.")),
            ],
        )
    },
    run: modify,
};

fn modify(context: &Context, args: Option<&str>) -> Result<Answer, Outcome> {
    let args = read(args, &["coin", "order_id", "new_price", "new_size"])?;
    let (coin, oid) = (args.coin()?, args.required_whole("order_id", 0..=u64::MAX)?);
    let (px, size) = (args.amount("new_price")?, args.amount("new_size")?);
    if px.is_none() && size.is_none() {
        return Err(args.fault("new_price", "new_price, new_size or both").into());
    }
    let market = context.market(&coin)?;
    // Worth a wait for a newer picture: an order that does not show yet, and an entry whose size is taken from the picture.
    let is_plain = |old: &Open| size.is_some() || old.reduce_only || old.trigger_px.is_some();
    let as_it_is = |status: &Status| status.open_order(&market.coin, oid).is_some_and(|old| is_plain(&old));
    let snapshot = context.await_newer(context.snapshot(Some(market.asset))?, |status| {
        if as_it_is(status) { Duration::ZERO } else { PATIENCE }
    })?;
    let status = &snapshot.status;
    let old = status.open_order(&market.coin, oid).ok_or_else(|| not_open(&market, oid, &snapshot))?;
    let order = changed(&market, &old, px, size)?;
    let what = format!(
        "change of order {oid} to {} {} {} at {}",
        if order.is_buy { "buy" } else { "sell" },
        to_wire(order.size),
        market.coin,
        to_wire(px.or(old.trigger_px).unwrap_or(order.limit_px)),
    );
    // The venue replaces a trigger only if it may place the new one in any case; what only reduces may.
    let always = order.is_trigger();
    let action = Action::BatchModify { modifies: vec![Modify { target: Target::Oid(oid), order }], always };
    let outcome = execute(context, status, &action, &Trade { what, ..Trade::default() });
    Ok(outcome.with(snapshot.caution()).into())
}

fn not_open(market: &Market, oid: u64, snapshot: &Snapshot) -> Outcome {
    if let Some(caution) = snapshot.caution() {
        let text = format!(
            "Nothing was sent: the guard's picture shows no open order {oid} in {}, and it is old. {caution} Call again.",
            market.coin
        );
        return Outcome::new(Kind::Unavailable, Retry::Later, text);
    }
    let rule = Rule { id: "order_unknown".to_owned(), limit: None, observed: Some(oid.to_string()) };
    let text =
        format!("{} has no open order {oid}. Nothing was sent; get_open_orders shows what is open.", market.coin);
    Outcome::invalid(rule, text)
}

/// The whole new order, in which only what was asked for differs.
fn changed(market: &Market, old: &Open, px: Option<Decimal>, size: Option<Decimal>) -> Result<Order, Outcome> {
    if let Some(size) = size {
        size_fits(market, size)?;
    }
    if let Some(px) = px {
        price_fits(market, px, "new_price")?;
    }
    let (limit_px, kind) = match old.trigger_px {
        None => (px.unwrap_or(old.px), OrderKind::Limit(old.tif.unwrap_or(Tif::Gtc))),
        Some(trigger_px) => {
            let moved = px.unwrap_or(trigger_px);
            let limit_px = match px {
                Some(px) if old.is_market_trigger => beyond_trigger(market, old.is_buy, px),
                Some(px) => px,
                None => old.px,
            };
            (
                limit_px,
                OrderKind::Trigger {
                    is_market: old.is_market_trigger,
                    trigger_px: moved,
                    tpsl: if old.is_take_profit { Tpsl::Tp } else { Tpsl::Sl },
                },
            )
        }
    };
    // The guard derives its ids anew; names that the agent gave stay with their order.
    let cloid = old.cloid.filter(|cloid| !is_derived(cloid));
    Ok(Order {
        asset: market.asset,
        is_buy: old.is_buy,
        limit_px,
        size: size.unwrap_or(old.size),
        reduce_only: old.reduce_only,
        kind,
        cloid,
    })
}
