//! `guard_order`: the guard's own stop is no client's to cancel or replace.

use super::veto::Veto;
use crate::guard::code::Code;
use crate::guard::state::guard::Guard;
use crate::guard::state::own_cloid::is_guard_stop;
use crate::venue::action::Target;

/// Why a guard's own stop stays.
pub(crate) const GUARDS_OWN: &str =
    "this stop is the guard's own and covers the position; close the position, or place a tighter stop";

/// Whether this names a stop of the guard's own: one that rests or was accepted, one that waits behind an entry, and by
/// its client order id also one that no read has shown.
pub(crate) fn is_named(guard: &Guard, target: Target) -> bool {
    let is_it = |oid: u64| guard.order(oid).is_some_and(|order| order.is_guards()) || is_child(guard, oid);
    match target {
        Target::Oid(oid) => is_it(oid),
        Target::Cloid(cloid) => is_guard_stop(&cloid) || guard.orders_by_cloid(cloid).any(|order| order.is_guards()),
    }
}

/// Whether a stop of the guard's waits behind an open entry under this id.
fn is_child(guard: &Guard, oid: u64) -> bool {
    let mut children = guard.view.orders.values().flat_map(|order| &order.order.children);
    children.any(|child| child.oid == oid && child.cloid.as_ref().is_some_and(is_guard_stop))
}

/// Refuses to replace a stop of the guard's own.
pub(crate) fn check(guard: &Guard, target: Target) -> Result<(), Veto> {
    if is_named(guard, target) {
        let text = "this stop is the guard's own; place a tighter stop instead, and it goes by itself";
        return Err(Veto::new(Code::GuardOrder, text));
    }
    Ok(())
}
