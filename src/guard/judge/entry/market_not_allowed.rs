//! `market_not_allowed`: only core perps are entered, and of these only the owner's list.

use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;
use crate::rules::Markets;
use crate::venue::market::{FIRST_NON_CORE_ASSET, Market};

/// Refuses an asset that is no core perp.
pub(crate) fn check_kind(asset: u32) -> Result<(), Veto> {
    if asset < FIRST_NON_CORE_ASSET {
        return Ok(());
    }
    let text = format!("asset {asset} is a spot, builder-deployed or outcome market; only core perps can be traded");
    Err(Veto::new(Code::MarketNotAllowed, text))
}

/// Refuses a market that is not in the owner's list.
pub(crate) fn check_list(guard: &Guard, market: &Market) -> Result<(), Veto> {
    if guard.config.rules.markets.allows(&market.coin) {
        return Ok(());
    }
    let allowed = match &guard.config.rules.markets {
        Markets::All => "all core perps".to_owned(),
        Markets::List(coins) => coins.iter().map(|coin| coin.as_str()).collect::<Vec<_>>().join(", "),
    };
    let text = format!("{} is not among the markets allowed: {allowed}", market.coin);
    Err(Veto::new(Code::MarketNotAllowed, text).with(&allowed, &market.coin))
}
