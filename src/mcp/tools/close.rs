//! `close_position`.

use rust_decimal::Decimal;

use super::place::{Asked, Once};
use super::{TRADE, Tool, read};
use crate::mcp::answer::Answer;
use crate::mcp::desk::Desk;
use crate::mcp::order::{EXIT_SLIPPAGE_PCT, Main, size_fits, through};
use crate::mcp::outcome::{Kind, Outcome, Retry, Rule};
use crate::mcp::schema;
use crate::mcp::send::Trade;
use crate::mcp::status::Position;
use crate::venue::action::{Action, Grouping, OrderAction};
use crate::venue::amount::{parse_info, to_wire};
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

fn close(desk: &Desk, args: Option<&str>) -> Result<Answer, Outcome> {
    let args = read(args, &["coin", "client_id", "size"])?;
    let (coin, size, client_id) = (args.coin()?, args.amount("size")?, args.client_id()?);
    let once = Once::begin(desk, &client_id)?;
    let status = desk.settled()?;
    let market = desk.market(&coin)?;
    let held = status.position(&market.coin);
    let closing = size.or(held.as_ref().map(|held| held.size));
    let much = closing.map_or_else(|| "the position".to_owned(), to_wire);
    let trade = Trade {
        what: format!("close {much} of {}", market.coin),
        client_id: Some(client_id),
        cloid: Some(once.cloid),
        size: closing,
        ..Trade::default()
    };
    let asked = Asked { asset: market.asset, is_buy: None, reduce_only: true, size };
    once.or_recall(desk, &status, &trade, &asked, true, || {
        let held = held.as_ref().ok_or_else(|| nothing_held(&market))?;
        let size = part(&market, held, size)?;
        let is_buy = !held.is_long;
        let Main { px, tif } = through(&market, is_buy, price(desk, &market, held)?, EXIT_SLIPPAGE_PCT);
        let order = Order {
            asset: market.asset,
            is_buy,
            limit_px: px,
            size,
            reduce_only: true,
            kind: OrderKind::Limit(tif),
            cloid: Some(once.cloid),
        };
        Ok(Action::Order(OrderAction { orders: vec![order], grouping: Grouping::Na, builder: None }))
    })
}

fn nothing_held(market: &Market) -> Outcome {
    let rule = Rule { id: "no_position".to_owned(), limit: Some("0".to_owned()), observed: None };
    Outcome::invalid(rule, format!("There is no open position in {}. Nothing was sent.", market.coin))
}

/// How much is to be closed: no more than there is.
fn part(market: &Market, held: &Position, size: Option<Decimal>) -> Result<Decimal, Outcome> {
    let Some(size) = size else { return Ok(held.size) };
    size_fits(market, size)?;
    if size <= held.size {
        return Ok(size);
    }
    let (size, held) = (to_wire(size), to_wire(held.size));
    let text = format!(
        "Only {held} {} is held, and {size} was to be closed. Nothing was sent; leave size out to close all.",
        market.coin
    );
    Err(Outcome::invalid(Rule::of("position_size", &held, &size), text))
}

/// The price that a close goes by: the mark that the guard has, so that it hangs on no other question.
fn price(desk: &Desk, market: &Market, held: &Position) -> Result<Decimal, Outcome> {
    if let Some(mark_px) = held.mark_px {
        return Ok(mark_px);
    }
    let mid = desk.mids()?.get(&market.coin).and_then(|mid| parse_info(mid.as_str()?).ok());
    mid.ok_or_else(|| {
        let text = format!("Nothing was sent: no price for {} is to be had right now. Try again.", market.coin);
        Outcome::new(Kind::Unavailable, Retry::Later, text)
    })
}
