//! `market_delisted`: a market that the venue no longer trades is not entered.

use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::venue::market::Market;

pub(crate) fn check(market: &Market) -> Result<(), Veto> {
    if !market.is_delisted {
        return Ok(());
    }
    let text = format!("{} is delisted at the venue; only exits are possible", market.coin);
    Err(Veto::new(Code::MarketDelisted, text))
}
