//! `cancel_order`.

use super::tool::{SETTING, Tool, read};
use crate::mcp::answer::Answer;
use crate::mcp::context::Context;
use crate::mcp::outcome::Outcome;
use crate::mcp::schema;
use crate::mcp::send::execute;
use crate::mcp::trade_outcome::Trade;
use crate::venue::action::{Action, Cancel};

pub(super) const CANCEL: Tool = Tool {
    name: "cancel_order",
    title: "Cancel an order",
    description: "Cancels one open order. Cancelling the last stop of a position is taken, and the guard puts its own in its \
                  place, so the position is never bare.",
    hints: SETTING,
    input: || schema::object(2, &[("coin", schema::coin()), ("order_id", schema::order_id())]),
    run: cancel,
};

fn cancel(context: &Context, args: Option<&str>) -> Result<Answer, Outcome> {
    let args = read(args, &["coin", "order_id"])?;
    let (coin, oid) = (args.coin()?, args.required_whole("order_id", 0..=u64::MAX)?);
    let status = context.admit()?;
    let market = context.market(&coin)?;
    let action = Action::Cancel { cancels: vec![Cancel { asset: market.asset, oid }], fast: false };
    let trade = Trade { what: format!("cancel of order {oid} in {}", market.coin), ..Trade::default() };
    Ok(execute(context, &status, &action, &trade).into())
}
