//! Which markets may be entered: the checks on a market, in their order.

use rust_decimal::Decimal;

use super::{market_delisted, market_not_allowed, market_unknown};
use crate::guard::judge::admission::price_stale;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;
use crate::venue::market::Market;

/// A market that may be entered, with its mid.
pub(crate) fn check(guard: &Guard, asset: u32) -> Result<(&Market, Decimal), Veto> {
    market_not_allowed::check_kind(asset)?;
    let market = market_unknown::find(guard, asset)?;
    market_not_allowed::check_list(guard, market)?;
    market_delisted::check(market)?;
    Ok((market, price_stale::mid(guard, market)?))
}
