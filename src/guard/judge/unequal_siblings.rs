//! `stop_loosened`, for what may stand beside a stop in one group: where one child of a group fills, the venue takes the others away. A
//! small one would take the stop of nearly all of the position along.
//!
//! No read tells of a resting order which group it is of ([`Siblings`](crate::guard::state::siblings::Siblings)).

use super::veto::Veto;
use crate::base::amount::to_wire;
use crate::guard::code::Code;
use crate::guard::state::cover::side_covered;
use crate::guard::state::guard::Guard;
use crate::guard::state::view::Resting;
use crate::venue::action::{Grouping, Modify, OrderAction, Target};
use crate::venue::order::Order;
use rust_decimal::Decimal;

/// Refuses a stop of a group, at its place, that is larger than another child: it would stand for more than goes with that one.
pub(super) fn check_child(action: &OrderAction, place: usize) -> Result<(), Veto> {
    let Some(stop) = action.orders.get(place).filter(|child| place > 0 && child.market_stop_px().is_some()) else {
        return Ok(());
    };
    let siblings = action.orders.iter().enumerate().filter(|(other, _)| *other > 0 && *other != place);
    let least = siblings.map(|(_, child)| child.size).min();
    match least.filter(|least| action.grouping == Grouping::NormalTpsl && *least < stop.size) {
        None => Ok(()),
        Some(least) => {
            let (size, least) = (to_wire(stop.size), to_wire(least));
            let text = format!(
                "the stop of the group, order {place}, size {size}, is larger than the {least} of another child: the venue \
                 cancels it when that one fills; give both one size, or place the stop by itself"
            );
            Err(Veto::new(Code::StopLoosened, text))
        }
    }
}

/// Refuses a modify of a child that makes it smaller than a stop beside it, or a stop larger than another child, where what the smaller
/// one closes leaves some of the position. `before` are the modifies of the same request that stand in front of it and go.
pub(super) fn check_modify(guard: &Guard, before: &[&Modify], old: &Resting, new: &Order) -> Result<(), Veto> {
    let is_child = |order: &Resting| order.is_trigger && order.reduce_only && !order.is_position_tpsl;
    if !is_child(old) || new.size == old.size {
        return Ok(());
    }
    let side = side_covered(old.is_buy);
    let held = guard.may_have_filled(old.asset, side).saturating_add(side.held(guard.view.position(old.asset)));
    let size_of = |other: &Resting| {
        let is_of = |modify: &&&Modify| match modify.target {
            Target::Oid(oid) => oid == other.oid,
            Target::Cloid(cloid) => other.cloid == Some(cloid),
        };
        before.iter().find(is_of).map_or(other.size, |modify| modify.order.size)
    };
    let is_hurt = |other: &&Resting| {
        let size = size_of(other);
        let is_unequal = if new.size < old.size {
            new.size < size && other.stop_px.is_some()
        } else {
            new.size > size && old.stop_px.is_some()
        };
        is_unequal && new.size.min(size) < held
    };
    let open = guard.view.orders.values().chain(guard.sent.resting());
    let beside = open.filter(|other| other.oid != old.oid && is_child(other));
    let beside = beside.filter(|other| (other.asset, other.is_buy) == (old.asset, old.is_buy));
    let hurt = beside.filter(is_hurt).find(|other| guard.siblings.may_be(old, other));
    hurt.map_or(Ok(()), |other| Err(refusal(old, new, size_of(other))))
}

fn refusal(old: &Resting, new: &Order, size: Decimal) -> Veto {
    let (old, new, size) = (to_wire(old.size), to_wire(new.size), to_wire(size));
    let text = format!(
        "a child of a group may not be changed from size {old} to {new} while another of {size} stands beside it: the venue cancels \
         one when the other fills, and the position's stop with it; make a take profit as large before its stop, or cancel \
         this one and place another by itself"
    );
    Veto::new(Code::StopLoosened, text)
}
