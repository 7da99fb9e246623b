//! `place_order`.

use super::close::{exit_price, mid};
use super::idempotency::{IdempotentTrade, TradeTerms};
use super::tool::{TRADE, Tool, read};
use crate::mcp::answer::Answer;
use crate::mcp::context::Context;
use crate::mcp::log::log;
use crate::mcp::order::{EXIT_SLIPPAGE_PCT, LimitTerms, OrderRequest, OrderType, limit_through};
use crate::mcp::outcome::Outcome;
use crate::mcp::schema;
use crate::mcp::status::Status;
use crate::mcp::trade_outcome::Trade;
use crate::venue::action::Action;
use crate::venue::market::Market;

pub(super) const PLACE: Tool = Tool {
    name: "place_order",
    title: "Place an order",
    description: "Places one order through the guard, with its stop loss and take profit attached if you give them. Size is in \
                  coins, NOT in dollars. A market order fills at once up to the owner's price collar. If you give no stop, the \
                  guard attaches one. After a lost answer or `unknown`, call again with the same client_id: it never trades \
                  twice.",
    hints: TRADE,
    input: || {
        schema::object(
            5,
            &[
                ("coin", schema::coin()),
                ("side", schema::choice(&["buy", "sell"], "buy or sell.")),
                ("type", schema::choice(&["market", "limit"], "market fills now; limit needs limit_price.")),
                ("size", schema::amount("Size in coins.")),
                ("client_id", schema::client_id()),
                ("limit_price", schema::amount("For type limit: the worst price taken.")),
                (
                    "tif",
                    schema::choice(
                        &["gtc", "ioc", "alo"],
                        "For type limit: gtc rests (default), ioc fills now or is cancelled, alo only rests.",
                    ),
                ),
                ("reduce_only", schema::flag("True: may only shrink a position.")),
                ("stop_loss_price", schema::amount("Closes at market when the mark price gets there.")),
                ("take_profit_price", schema::amount("Closes at market when the mark price gets there.")),
                ("reason", schema::reason("Why, for the log of this server.")),
            ],
        )
    },
    run: place,
};

fn place(context: &Context, args: Option<&str>) -> Result<Answer, Outcome> {
    let request = OrderRequest::read(&read(args, &OrderRequest::NAMES)?)?;
    if let Some(reason) = &request.reason {
        log(&format!("place_order {}: {} because: {reason}", request.client_id, request.words()));
    }
    let trade_once = IdempotentTrade::begin(context, &request.client_id)?;
    let status = context.admit()?;
    let market = context.market(&request.coin)?;
    let trade = Trade {
        what: request.words(),
        client_id: Some(request.client_id.clone()),
        cloid: Some(trade_once.cloid),
        size: Some(request.size),
        stop_index: request.stop_px.map(|_| 1 + usize::from(request.take_px.is_some())),
        is_entry: !request.reduce_only,
    };
    let terms = TradeTerms {
        asset: market.asset,
        is_buy: Some(request.is_buy),
        reduce_only: request.reduce_only,
        size: Some(request.size),
    };
    if let Some(outcome) = trade_once.earlier_outcome(context, &status, &terms, |_| trade.clone())? {
        return Ok(outcome.into());
    }
    let main = match request.kind {
        OrderType::Limit(px, tif) => LimitTerms { px, tif },
        OrderType::Market => at_market(context, &status, &market, &request)?,
    };
    let action = request.orders(&market, main, trade_once.cloid).map(Action::Order)?;
    Ok(trade_once.send(context, &status, &terms, &trade, &action).into())
}

/// The limit of a market order: as far through the price as the owner's collar lets an entry go.
fn at_market(
    context: &Context,
    status: &Status,
    market: &Market,
    request: &OrderRequest,
) -> Result<LimitTerms, Outcome> {
    if request.reduce_only {
        let px = exit_price(context, market, status.position(&market.coin).as_ref())?;
        return Ok(limit_through(market, request.is_buy, px, EXIT_SLIPPAGE_PCT));
    }
    let collar = context.rules(status).map_or(EXIT_SLIPPAGE_PCT, |rules| rules.collar);
    Ok(limit_through(market, request.is_buy, mid(context, market)?, collar.min(EXIT_SLIPPAGE_PCT)))
}
