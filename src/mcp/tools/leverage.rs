//! `set_leverage`.

use super::tool::{SETTING, Tool, read};
use crate::mcp::answer::Answer;
use crate::mcp::context::Context;
use crate::mcp::outcome::Outcome;
use crate::mcp::schema;
use crate::mcp::send::execute;
use crate::mcp::trade_outcome::Trade;
use crate::venue::action::Action;

pub(super) const LEVERAGE: Tool = Tool {
    name: "set_leverage",
    title: "Set leverage",
    description: "Sets a market's leverage and margin mode. The owner's rules cap it; get_rules shows the cap. The margin mode \
                  cannot change while a position is open.",
    hints: SETTING,
    input: || {
        let mode =
            schema::choice(&["cross", "isolated"], "cross shares the account's margin, isolated keeps it apart.");
        let leverage = schema::whole(1, 100, "The leverage, a whole number.");
        schema::object(3, &[("coin", schema::coin()), ("leverage", leverage), ("margin_mode", mode)])
    },
    run: set,
};

fn set(context: &Context, args: Option<&str>) -> Result<Answer, Outcome> {
    let args = read(args, &["coin", "leverage", "margin_mode"])?;
    let (coin, leverage) = (args.coin()?, args.required_whole("leverage", 1..=100)?);
    let is_cross = args.required_choice("margin_mode", &[("cross", true), ("isolated", false)])?;
    let status = context.admit()?;
    let market = context.market(&coin)?;
    // In range by the check above.
    let leverage = u32::try_from(leverage).unwrap_or(1);
    let action = Action::UpdateLeverage { asset: market.asset, is_cross, leverage };
    let mode = if is_cross { "cross" } else { "isolated" };
    let trade = Trade { what: format!("leverage {leverage} ({mode}) for {}", market.coin), ..Trade::default() };
    Ok(execute(context, &status, &action, &trade).into())
}
