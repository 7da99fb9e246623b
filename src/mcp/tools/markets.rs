//! `get_markets`: prices and steps of a few markets.

use serde_json::{Map, Value, json};

use super::tool::{Tool, VENUE_READ, noted, read};
use crate::base::amount::to_wire;
use crate::mcp::answer::Answer;
use crate::mcp::context::Context;
use crate::mcp::outcome::Outcome;
use crate::mcp::{sanitize, schema};

/// Most markets asked for at once.
const MAX_COINS: usize = 20;

pub(super) const MARKETS: Tool = Tool {
    name: "get_markets",
    title: "Markets",
    description: "For up to 20 perpetuals: mid price, smallest size step, decimals of a size, highest leverage at the venue, and \
                  whether the owner's rules allow entries. Prices have at most 5 significant digits.",
    hints: VENUE_READ,
    input: || {
        let coins = json!({"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": MAX_COINS,
                           "description": "Market names, such as [\"BTC\", \"ETH\"]."});
        schema::object(1, &[("coins", coins)])
    },
    run: markets,
};

fn markets(context: &Context, args: Option<&str>) -> Result<Answer, Outcome> {
    let coins = read(args, &["coins"])?.coins("coins", MAX_COINS)?;
    let status = context.admit()?;
    context.universe()?;
    let mids = context.mids()?;
    let rules = context.rules(&status);
    let mut found = Vec::new();
    for coin in &coins {
        let market = context.market(coin)?;
        let allowed = rules.as_ref().map(|rules| rules.allows(&market.coin) && !market.is_delisted);
        found.push(json!({
            "coin": market.coin,
            "mid": mids.get(&market.coin).map(sanitize::value),
            "szDecimals": market.size_decimals,
            "size_step": to_wire(market.lot()),
            "maxLeverage": market.max_leverage,
            "only_isolated": market.only_isolated,
            "delisted": market.is_delisted,
            "entries_allowed": allowed,
        }));
    }
    Ok(noted(Map::from_iter([("markets".to_owned(), Value::Array(found))])))
}
