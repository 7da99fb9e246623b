//! `size_invalid`: an entry's size is a multiple of the market's lot as sent.

use crate::base::amount::to_wire;
use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::venue::market::Market;
use crate::venue::order::Order;

pub(crate) fn check(market: &Market, order: &Order) -> Result<(), Veto> {
    if market.is_size(order.size) {
        return Ok(());
    }
    let (size, lot) = (to_wire(order.size), market.lot());
    Err(Veto::new(Code::SizeInvalid, format!("size {size} is not a multiple of {}'s lot {lot}", market.coin)))
}
