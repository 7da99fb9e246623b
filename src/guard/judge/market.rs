//! Which markets may be entered.

use rust_decimal::Decimal;

use super::veto::Veto;
use crate::guard::code::Code;
use crate::guard::state::guard::Guard;
use crate::rules::Markets;
use crate::venue::market::{FIRST_NON_CORE_ASSET, Market};

/// A market that may be entered, with its mid.
pub(crate) fn check(guard: &Guard, asset: u32) -> Result<(&Market, Decimal), Veto> {
    if asset >= FIRST_NON_CORE_ASSET {
        let text =
            format!("asset {asset} is a spot, builder-deployed or outcome market; only core perps can be traded");
        return Err(Veto::new(Code::MarketNotAllowed, text));
    }
    let Some(market) = guard.view.market(asset) else {
        let text = format!("the venue lists no asset {asset}; ids differ between networks, read them from meta");
        return Err(Veto::new(Code::MarketUnknown, text));
    };
    if !guard.config.rules.markets.allows(&market.coin) {
        let allowed = match &guard.config.rules.markets {
            Markets::All => "all core perps".to_owned(),
            Markets::List(coins) => coins.iter().map(|coin| coin.as_str()).collect::<Vec<_>>().join(", "),
        };
        let text = format!("{} is not among the markets allowed: {allowed}", market.coin);
        return Err(Veto::new(Code::MarketNotAllowed, text).with(&allowed, &market.coin));
    }
    if market.is_delisted {
        let text = format!("{} is delisted at the venue; only exits are possible", market.coin);
        return Err(Veto::new(Code::MarketDelisted, text));
    }
    match guard.view.mids.get(&asset) {
        Some(mid) => Ok((market, *mid)),
        None => {
            Err(Veto::new(Code::PriceStale, format!("the venue shows no mid for {}; try again later", market.coin)))
        }
    }
}
