//! Cancels by a client order id that several open orders have: which of them the venue takes nobody knows, so they go by its own
//! ids, each of the order that had the id first.

use crate::base::address::Cloid;
use crate::guard::state::guard::Guard;
use crate::venue::action::{Action, Cancel, CancelByCloid};

/// The same cancels by order ids, with the client order ids that say nothing; `None` where each names one order, or where one of
/// them names none: that can only go as it is.
pub(crate) fn by_order_id(guard: &Guard, action: &Action) -> Option<(Action, Vec<Cloid>)> {
    let Action::CancelByCloid { cancels, fast } = action else { return None };
    let several: Vec<Cloid> =
        cancels.iter().filter(|cancel| named(guard, cancel).count() > 1).map(|cancel| cancel.cloid).collect();
    if several.is_empty() {
        return None;
    }
    let first = |cancel: &CancelByCloid| Some(Cancel { asset: cancel.asset, oid: named(guard, cancel).min()? });
    let cancels = cancels.iter().map(first).collect::<Option<Vec<Cancel>>>()?;
    Some((Action::Cancel { cancels, fast: *fast }, several))
}

/// The text of one of them.
pub(crate) fn told(cloid: &Cloid) -> String {
    format!(
        "client order id {cloid} is that of several orders: the one that had it first is cancelled, by its order id"
    )
}

fn named<'a>(guard: &'a Guard, cancel: &'a CancelByCloid) -> impl Iterator<Item = u64> + 'a {
    guard.orders_by_cloid(cancel.cloid).filter(|order| order.asset == cancel.asset).map(|order| order.oid)
}
