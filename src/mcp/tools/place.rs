//! `place_order`.

use super::close::{exit_price, mid};
use super::once::{Asked, Once};
use super::{TRADE, Tool, read};
use crate::mcp::answer::Answer;
use crate::mcp::desk::Desk;
use crate::mcp::order::{EXIT_SLIPPAGE_PCT, Main, Wish, WishKind, through};
use crate::mcp::outcome::Outcome;
use crate::mcp::send::Trade;
use crate::mcp::status::Status;
use crate::mcp::{run, schema};
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

fn place(desk: &Desk, args: Option<&str>) -> Result<Answer, Outcome> {
    let wish = Wish::read(&read(args, &Wish::NAMES)?)?;
    if let Some(reason) = &wish.reason {
        run::log(&format!("place_order {}: {} because: {reason}", wish.client_id, wish.words()));
    }
    let once = Once::begin(desk, &wish.client_id)?;
    let status = desk.admit()?;
    let market = desk.market(&wish.coin)?;
    let trade = Trade {
        what: wish.words(),
        client_id: Some(wish.client_id.clone()),
        cloid: Some(once.cloid),
        size: Some(wish.size),
        stop_place: wish.stop_px.map(|_| 1 + usize::from(wish.take_px.is_some())),
        is_entry: !wish.reduce_only,
    };
    let asked =
        Asked { asset: market.asset, is_buy: Some(wish.is_buy), reduce_only: wish.reduce_only, size: Some(wish.size) };
    if let Some(outcome) = once.recalled(desk, &status, &asked, |_| trade.clone())? {
        return Ok(outcome.into());
    }
    let main = match wish.kind {
        WishKind::Limit(px, tif) => Main { px, tif },
        WishKind::Market => at_market(desk, &status, &market, &wish)?,
    };
    let action = wish.orders(&market, main, once.cloid).map(Action::Order)?;
    Ok(once.send(desk, &status, &asked, &trade, &action).into())
}

/// The limit of a market order: as far through the price as the owner's collar lets an entry go.
fn at_market(desk: &Desk, status: &Status, market: &Market, wish: &Wish) -> Result<Main, Outcome> {
    if wish.reduce_only {
        let px = exit_price(desk, market, status.position(&market.coin).as_ref())?;
        return Ok(through(market, wish.is_buy, px, EXIT_SLIPPAGE_PCT));
    }
    let collar = status.rules().map_or(EXIT_SLIPPAGE_PCT, |rules| rules.collar);
    Ok(through(market, wish.is_buy, mid(desk, market)?, collar.min(EXIT_SLIPPAGE_PCT)))
}
