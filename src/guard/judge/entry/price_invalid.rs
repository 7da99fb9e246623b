//! `price_invalid`: an entry's price is on the market's tick as sent; the guard rounds no client's price.

use crate::base::amount::to_wire;
use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::venue::market::{Market, Toward};
use crate::venue::order::Order;

pub(crate) fn check(market: &Market, order: &Order) -> Result<(), Veto> {
    if market.is_price(order.limit_px) {
        return Ok(());
    }
    let text = format!(
        "price {} is not on {}'s tick; the next ones are {} and {}",
        to_wire(order.limit_px),
        market.coin,
        market.round_price(order.limit_px, Toward::Down),
        market.round_price(order.limit_px, Toward::Up),
    );
    Err(Veto::new(Code::PriceInvalid, text))
}
