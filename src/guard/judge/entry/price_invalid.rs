//! `price_invalid`: an entry's price is on the market's tick as sent; the guard rounds no client's price.

use crate::base::amount::to_wire;
use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::venue::market::{Market, Toward};
use crate::venue::order::Order;
use rust_decimal::Decimal;

pub(crate) fn check(market: &Market, order: &Order) -> Result<(), Veto> {
    if market.is_price(order.limit_px) {
        return Ok(());
    }
    let (below, above) =
        (market.round_price(order.limit_px, Toward::Down), market.round_price(order.limit_px, Toward::Up));
    let next = if market.is_price(below) && market.is_price(above) {
        format!("the next ones are {below} and {above}")
    } else {
        // Under the lowest price there is none.
        format!("the lowest one is {}", market.next_price(Decimal::ZERO, Toward::Up))
    };
    let text = format!("price {} is not on {}'s tick; {next}", to_wire(order.limit_px), market.coin);
    Err(Veto::new(Code::PriceInvalid, text))
}
