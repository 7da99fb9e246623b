//! `close_position`.

use rust_decimal::Decimal;

use super::idempotency::{IdempotentTrade, TradeTerms};
use super::tool::{TRADE, Tool, read};
use crate::base::amount::{parse_info, to_wire};
use crate::mcp::answer::Answer;
use crate::mcp::context::Context;
use crate::mcp::freshness::{EXIT_PATIENCE, PATIENCE, Snapshot};
use crate::mcp::order::{EXIT_SLIPPAGE_PCT, LimitTerms, limit_through, size_fits};
use crate::mcp::outcome::{Kind, Outcome, Retry, Rule};
use crate::mcp::schema;
use crate::mcp::status::{Position, Status};
use crate::mcp::trade_outcome::Trade;
use crate::venue::action::{Action, Grouping, OrderAction};
use crate::venue::market::Market;
use crate::venue::order::{Order, OrderKind};

pub(super) const CLOSE: Tool = Tool {
    name: "close_position",
    title: "Close a position",
    description: "Closes an open position at market, all of it or `size` coins of it. Always possible, also while the kill switch is \
                  pulled. It only reduces: it can never open the other side.",
    hints: TRADE,
    input: || {
        let size = schema::amount("How many coins to close; left out, all of it.");
        schema::object(2, &[("coin", schema::coin()), ("client_id", schema::client_id()), ("size", size)])
    },
    run: close,
};

fn close(context: &Context, args: Option<&str>) -> Result<Answer, Outcome> {
    let args = read(args, &["coin", "client_id", "size"])?;
    let (coin, size, client_id) = (args.coin()?, args.amount("size")?, args.client_id()?);
    let trade_once = IdempotentTrade::begin(context, &client_id)?;
    let market = context.market(&coin)?;
    let snapshot = context.snapshot(Some(market.asset))?;
    let trade = |size: Option<Decimal>| {
        let much = size.map_or_else(|| "the position".to_owned(), to_wire);
        Trade {
            what: format!("close {much} of {}", market.coin),
            client_id: Some(client_id.clone()),
            cloid: Some(trade_once.cloid),
            size,
            ..Trade::default()
        }
    };
    let terms = TradeTerms { asset: market.asset, is_buy: None, reduce_only: true, size };
    if let Some(outcome) = trade_once.earlier_outcome(context, &snapshot.status, &terms, trade)? {
        return Ok(outcome.into());
    }
    // A position that was just enlarged is to be closed as it is now. Where none shows only a newer picture can help;
    // where one does, the wait is short and the exit goes by what shows.
    let holds = |status: &Status| status.position(&market.coin).is_some();
    let snapshot = context.await_newer(snapshot, |status| if holds(status) { EXIT_PATIENCE } else { PATIENCE })?;
    let held = snapshot.status.position(&market.coin).ok_or_else(|| nothing_held(&market, &snapshot))?;
    let size = part(&market, &held, size, &snapshot)?;
    let is_buy = !held.is_long;
    let LimitTerms { px, tif } =
        limit_through(&market, is_buy, exit_price(context, &market, Some(&held))?, EXIT_SLIPPAGE_PCT);
    let order = Order {
        asset: market.asset,
        is_buy,
        limit_px: px,
        size,
        reduce_only: true,
        kind: OrderKind::Limit(tif),
        cloid: Some(trade_once.cloid),
    };
    let action = Action::Order(OrderAction { orders: vec![order], grouping: Grouping::Na, builder: None });
    let outcome = trade_once.send(context, &snapshot.status, &terms, &trade(Some(size)), &action);
    Ok(outcome.with(snapshot.caution()).into())
}

fn nothing_held(market: &Market, snapshot: &Snapshot) -> Outcome {
    if let Some(caution) = snapshot.caution() {
        let text = format!(
            "Nothing was sent: the guard's picture shows no position in {}, and it is old. {caution} Call again with \
             the same client_id; or close what you know to be held by place_order with reduce_only, which \
             needs no picture.",
            market.coin
        );
        return Outcome::new(Kind::Unavailable, Retry::Later, text);
    }
    let rule = Rule { id: "no_position".to_owned(), limit: Some("0".to_owned()), observed: None };
    Outcome::invalid(rule, format!("There is no open position in {}. Nothing was sent.", market.coin))
}

/// The size to close: at most the size held, as far as that is known. The venue cuts a larger one.
fn part(market: &Market, held: &Position, size: Option<Decimal>, snapshot: &Snapshot) -> Result<Decimal, Outcome> {
    let Some(size) = size else { return Ok(held.size) };
    size_fits(market, size)?;
    if size <= held.size || snapshot.is_old() {
        return Ok(size);
    }
    let (size, held) = (to_wire(size), to_wire(held.size));
    let text = format!(
        "Only {held} {} is held, and {size} was to be closed. Nothing was sent; leave size out to close all.",
        market.coin
    );
    Err(Outcome::invalid(Rule::of("position_size", &held, &size), text))
}

/// The price that an exit goes by: the mark that the guard has, so that it hangs on no other question.
pub(super) fn exit_price(context: &Context, market: &Market, held: Option<&Position>) -> Result<Decimal, Outcome> {
    held.and_then(|held| held.mark_px).map_or_else(|| mid(context, market), Ok)
}

/// The middle of a market's book.
pub(super) fn mid(context: &Context, market: &Market) -> Result<Decimal, Outcome> {
    let mid = context.mids()?.get(&market.coin).and_then(|mid| parse_info(mid.as_str()?).ok());
    mid.ok_or_else(|| {
        let text = format!("Nothing was sent: no price for {} is to be had right now. Try again later.", market.coin);
        Outcome::new(Kind::Unavailable, Retry::Later, text)
    })
}
