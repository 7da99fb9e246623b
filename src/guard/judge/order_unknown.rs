//! `order_unknown`: only an order that the guard knows is replaced.

use crate::base::address::Cloid;
use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;
use crate::guard::state::view::Resting;
use crate::venue::action::Target;

/// An order that is to be replaced.
pub(crate) struct Replaced<'a> {
    /// The order, where a read shows it.
    pub(crate) resting: Option<&'a Resting>,
    pub(crate) cloid: Option<Cloid>,
}

/// The order of this id: one that a read shows, one of paper mode, or one that was accepted since the last read.
pub(crate) fn find(guard: &Guard, target: Target) -> Result<Replaced<'_>, Veto> {
    let (resting, paper) = match target {
        Target::Oid(oid) => (guard.order(oid), guard.paper.get(oid)),
        Target::Cloid(cloid) => {
            let paper = guard.paper.by_cloid(&cloid).and_then(|oid| guard.paper.get(oid));
            (guard.orders_by_cloid(cloid).next(), paper)
        }
    };
    if let Some(old) = resting {
        return Ok(Replaced { resting, cloid: old.cloid });
    }
    let is_target = |oid: Option<u64>, cloid: Option<Cloid>| match target {
        Target::Oid(wanted) => oid == Some(wanted),
        Target::Cloid(wanted) => cloid == Some(wanted),
    };
    let in_flight = guard.sent.open().find(|order| is_target(order.oid, order.cloid));
    match paper.map(|order| order.cloid).or(in_flight.map(|order| order.cloid)) {
        Some(cloid) => Ok(Replaced { resting: None, cloid }),
        None => {
            let text = "no open order has this id; place a new order, or cancel what may still be open";
            Err(Veto::new(Code::OrderUnknown, text))
        }
    }
}
