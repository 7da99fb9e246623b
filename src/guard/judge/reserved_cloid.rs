//! `malformed`: client order ids with the prefix by which the guard knows its own orders.

use super::veto::Veto;
use crate::guard::code::Code;
use crate::guard::state::own_cloid::is_derived;
use crate::venue::order::Order;

/// Refuses a new order under an id that looks like the guard's own.
pub(crate) fn check_order(order: &Order) -> Result<(), Veto> {
    match order.cloid.filter(is_derived) {
        Some(cloid) => {
            let text = format!("client order id {cloid} has the prefix of the guard's own; choose another");
            Err(Veto::new(Code::Malformed, text))
        }
        None => Ok(()),
    }
}
