//! `stop_loosened`: a stop that covers a position may only become a tighter or larger one.

use super::order_unknown;
use super::veto::Veto;
use crate::base::amount::to_wire;
use crate::guard::code::Code;
use crate::guard::state::cover::{self, CoverSize, side_covered};
use crate::guard::state::cover_line::CoverLine;
use crate::guard::state::exposure::{Exposure, Stop};
use crate::guard::state::guard::Guard;
use crate::guard::state::standing_stops::live_for;
use crate::guard::state::view::Resting;
use crate::venue::action::{Action, Grouping, OrderAction};
use crate::venue::order::Order;
use rust_decimal::Decimal;

/// Why a stop is not replaced for a moment.
const BEING_GUESSED: &str = "a cancel is on its way of an order id that no order has yet, and the new stop may get that id; the stop \
                             that covers the position stays; ask again in a moment";

/// Refuses the child of a group, at its place, that is smaller than the group's entry. Whichever child fills first, the venue
/// takes the others away: a small take profit would leave nearly all of the position without its stop. A stop without another
/// beside it becomes as large as the entry.
pub(crate) fn check_child(action: &OrderAction, place: usize) -> Result<(), Veto> {
    let (Some(parent), Some(child)) = (action.orders.first(), action.orders.get(place)) else { return Ok(()) };
    let is_stop = |order: &Order| order.market_stop_px().is_some();
    let is_raised = is_stop(child) && action.orders.iter().filter(|order| is_stop(order)).count() == 1;
    if action.grouping != Grouping::NormalTpsl || place == 0 || child.size >= parent.size || is_raised {
        return Ok(());
    }
    let (child, parent) = (to_wire(child.size), to_wire(parent.size));
    let text = format!(
        "order {place} of the group, size {child}, is smaller than the {parent} that it belongs to: the venue cancels the \
         position's stop when it fills; give it the same size, or place it by itself once the entry has filled"
    );
    Err(Veto::new(Code::StopLoosened, text))
}

/// Whether modifies that were decided on some time ago would leave a position with a wider, smaller or no stop by now: what they
/// replace may have covered nothing then.
pub(crate) fn loosens(guard: &Guard, action: &Action) -> bool {
    let modifies = match action {
        Action::Modify { modify, .. } => std::slice::from_ref(modify),
        Action::BatchModify { modifies, .. } => modifies,
        _ => return false,
    };
    let mut exposure = guard.exposure();
    modifies.iter().any(|modify| {
        let old = order_unknown::named(guard, modify.target);
        old.into_iter().any(|old| check(guard, &mut exposure, old, &modify.order).is_err())
    })
}

/// Refuses a change that leaves the position with a wider, smaller or no stop. One that passes takes the old stop out
/// of the exposure.
pub(crate) fn check(guard: &Guard, exposure: &mut Exposure, old: &Resting, new: &Order) -> Result<(), Veto> {
    let Some(old_px) = old.stop_px else { return Ok(()) };
    let side = side_covered(old.is_buy);
    // Before the account is read any stop may cover.
    let held =
        if guard.is_account_known() { exposure.market_mut(&guard.view, old.asset).held(side) } else { Decimal::MAX };
    let pending = guard.may_have_filled(old.asset, side);
    let held = held.saturating_add(pending);
    let line = guard.lines.get(old.asset).filter(|line| line.side == side);
    // While anything is bare, what is farther than the line stands in for its cover.
    let is_covered = |line: &CoverLine| line.bare(&live_for(guard, old.asset, side), pending).is_empty();
    let is_idle = |line: &CoverLine| !line.counts_with(old_px, pending) && is_covered(line);
    if held.is_zero() || line.is_some_and(is_idle) {
        return Ok(());
    }
    let is_stop = new.market_stop_px().filter(|_| new.asset == old.asset && new.is_buy == old.is_buy);
    let looser = match is_stop {
        None => Some("anything but a market stop of the same side".to_owned()),
        Some(px) if side.nearer(old_px, px) => {
            Some(format!("a trigger at {}, further from the price than {}", to_wire(px), to_wire(old_px)))
        }
        Some(_) => {
            let closed = cover::of_resting(old).unwrap_or(CoverSize::Whole);
            let needed = closed.of(held).min(held);
            let smaller = new.size < needed && !(closed == CoverSize::Whole && new.size.is_zero());
            smaller.then(|| format!("size {}, smaller than the {} it covers", to_wire(new.size), to_wire(needed)))
        }
    };
    match looser {
        Some(what) => {
            let text = format!("a stop that covers a position cannot become {what}; close the position instead");
            Err(Veto::new(Code::StopLoosened, text))
        }
        // It would get the next order id, and be gone with the old one.
        None if guard.sent.may_cancel_next(&guard.view) => Err(Veto::new(Code::StopLoosened, BEING_GUESSED)),
        None => {
            if let Some(stop) = Stop::of(old) {
                exposure.remove_stop(old.asset, old.is_buy, stop);
            }
            Ok(())
        }
    }
}
