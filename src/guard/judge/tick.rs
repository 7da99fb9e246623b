//! Ticks and lots: an entry's price and size must be valid as sent.

use super::veto::Veto;
use crate::base::amount::to_wire;
use crate::guard::code::Code;
use crate::venue::market::{Market, Toward};
use crate::venue::order::Order;

pub(crate) fn check(market: &Market, order: &Order) -> Result<(), Veto> {
    if !market.is_price(order.limit_px) {
        let text = format!(
            "price {} is not on {}'s tick; the next ones are {} and {}",
            to_wire(order.limit_px),
            market.coin,
            market.round_price(order.limit_px, Toward::Down),
            market.round_price(order.limit_px, Toward::Up),
        );
        return Err(Veto::new(Code::PriceInvalid, text));
    }
    if !market.is_size(order.size) {
        let (size, lot) = (to_wire(order.size), market.lot());
        return Err(Veto::new(
            Code::SizeInvalid,
            format!("size {size} is not a multiple of {}'s lot {lot}", market.coin),
        ));
    }
    Ok(())
}
