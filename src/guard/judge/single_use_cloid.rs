//! Client order ids that are good for one trade and no more, for clients that may repeat themselves without knowing it:
//! an agent that asks again after a lost answer, perhaps from a new process.
//!
//! The venue and the guard let an id be used again once its order is gone. An id with this prefix is not: after a
//! request that passed, any other that names it is refused, exits too, for it is no second wish to exit but the first
//! one again. It is used up for the client that used it: the ids derive from what everybody may read, and none of
//! them may be taken from another. The guard remembers the last of them; whoever derives such ids asks
//! `/guard/decision` first, which knows all of them.

use super::veto::Veto;
use crate::base::address::{Address, Cloid};
use crate::base::cloid_prefix::SINGLE_USE;
use crate::guard::code::Code;
use crate::guard::state::guard::Guard;
use crate::venue::order::Order;

/// Refuses an order under an id of this kind that its client has used.
pub(crate) fn check_order(guard: &Guard, client: Address, order: &Order) -> Result<(), Veto> {
    let is_used = |cloid: &Cloid| cloid.0.starts_with(&SINGLE_USE) && guard.client_cloids.is_of(cloid, client);
    match order.cloid.filter(is_used) {
        Some(cloid) => {
            let text = format!(
                "client order id {cloid} is good for one trade, and an earlier request with it passed; look it up at \
                 /guard/decision?cloid={cloid}, choose another for another trade"
            );
            Err(Veto::new(Code::DuplicateOrder, text))
        }
        None => Ok(()),
    }
}
