//! Cancels: always pass, but a position is never left bare. What must not go is left out of its batch.

use std::collections::BTreeMap;

use rust_decimal::Decimal;

use super::guard_order::{self, GUARDS_OWN};
use super::orders;
use super::plan::Plan;
use super::veto::Veto;
use crate::base::amount::to_wire;
use crate::guard::code::Code;
use crate::guard::state::cover::{self, CoverSize, LinePart, side_covered, total_size};
use crate::guard::state::cover_line::CoverLine;
use crate::guard::state::guard::Guard;
use crate::guard::state::sent::cancel::targets;
use crate::guard::state::standing_stops::live_for;
use crate::guard::state::view::Resting;
use crate::venue::action::{Action, Cancel};
use crate::venue::side::PositionSide;

/// Stops of the guard's own that one cancel puts in front of it, for one side of a market.
const MOST_STOPS: usize = 4;

pub(crate) fn judge(guard: &Guard, action: &Action) -> Result<Plan, Veto> {
    let withheld = withheld(guard, action);
    let kept: Vec<usize> = (0..withheld.len()).filter(|place| matches!(withheld.get(*place), Some(None))).collect();
    if let Some(veto) = first_reason(&withheld).filter(|_| kept.is_empty()) {
        return Err(veto);
    }
    // Who cancels everything that rests means the guard's stop the least.
    let mut plan = Plan::reducing(only(action, &kept));
    if kept.len() < withheld.len() {
        plan.changes = told(&withheld);
        let withheld = withheld.iter().enumerate().filter_map(|(place, veto)| Some((place, veto.as_ref()?)));
        plan.left_out = withheld.map(|(place, veto)| (place, format!("svc-guard: {}", veto.text))).collect();
        plan.kept = Some(kept);
    }
    let named: Vec<&Resting> = plan.forward.iter().flat_map(|action| named(guard, action)).flatten().collect();
    keep_cover(guard, &named, &mut plan);
    Ok(plan)
}

/// Whether no cancel of an action may go before the open orders are read.
pub(crate) fn must_wait(guard: &Guard, action: &Action) -> bool {
    let withheld = withheld(guard, action);
    let is_unseen = |veto: &Veto| veto.code == Code::OrderUnknown;
    withheld.iter().all(Option::is_some) && first_reason(&withheld).as_ref().is_some_and(is_unseen)
}

/// Why each cancel of an action must not go, by place.
fn withheld(guard: &Guard, action: &Action) -> Vec<Option<Veto>> {
    let own = guards_own(guard, action).into_iter();
    let mut withheld: Vec<Option<Veto>> =
        own.map(|is_own| is_own.then(|| Veto::new(Code::GuardOrder, GUARDS_OWN))).collect();
    if let Action::Cancel { cancels, .. } = action {
        for (cancel, veto) in cancels.iter().zip(&mut withheld).filter(|(_, veto)| veto.is_none()) {
            *veto = may_name_unseen_stop(guard, cancel).then(unseen);
        }
    }
    withheld
}

/// The reason for all of them where all are withheld: an id that may yet be shown first.
fn first_reason(withheld: &[Option<Veto>]) -> Option<Veto> {
    withheld.iter().flatten().max_by_key(|veto| veto.code == Code::OrderUnknown).cloned()
}

/// How many are left out, once a reason.
fn told(withheld: &[Option<Veto>]) -> Vec<String> {
    let mut reasons: Vec<(&Veto, usize)> = Vec::new();
    for veto in withheld.iter().flatten() {
        match reasons.iter_mut().find(|(other, _)| other.code == veto.code) {
            Some((_, count)) => *count = count.saturating_add(1),
            None => reasons.push((veto, 1)),
        }
    }
    let total = withheld.len();
    reasons.iter().map(|(veto, count)| format!("{count} of {total} cancels left out: {}", veto.text)).collect()
}

/// Whether a cancel names an id that nothing known carries, in a market where a stop has none that is known: the child of
/// an entry gets no id in the venue's answer.
fn may_name_unseen_stop(guard: &Guard, cancel: &Cancel) -> bool {
    let is_known = guard.order(cancel.oid).is_some() || guard.paper.get(cancel.oid).is_some();
    !is_known && guard.sent.has_unseen_stop(cancel.asset)
}

/// The refusal of a cancel that waited for the open orders in vain.
fn unseen() -> Veto {
    let text = "no read has shown the order, and stops were placed in this market that none has shown either: it may be \
                one of them; ask again in a moment, or cancel by client order id";
    Veto::new(Code::OrderUnknown, text)
}

/// What each cancel of an action names, by place.
fn named<'a>(guard: &'a Guard, action: &Action) -> Vec<Vec<&'a Resting>> {
    match action {
        Action::Cancel { cancels, .. } => {
            cancels.iter().map(|cancel| guard.order(cancel.oid).into_iter().collect()).collect()
        }
        Action::CancelByCloid { cancels, .. } => {
            cancels.iter().map(|cancel| guard.orders_by_cloid(cancel.cloid).collect()).collect()
        }
        _ => Vec::new(),
    }
}

/// Which cancels of an action name a stop of the guard's own, by place.
pub(crate) fn guards_own(guard: &Guard, action: &Action) -> Vec<bool> {
    targets(action).into_iter().map(|target| guard_order::is_named(guard, target)).collect()
}

/// The cancels at these places.
fn only(action: &Action, places: &[usize]) -> Action {
    match action {
        Action::Cancel { cancels, fast } => Action::Cancel {
            cancels: places.iter().filter_map(|place| cancels.get(*place).copied()).collect(),
            fast: *fast,
        },
        Action::CancelByCloid { cancels, fast } => {
            let cancels = places.iter().filter_map(|place| cancels.get(*place).copied()).collect();
            Action::CancelByCloid { cancels, fast: *fast }
        }
        other => other.clone(),
    }
}

/// Puts the guard's own stops in front for the cover that these cancels would take from a position, with what may have
/// filled since it was read. Only stops at least as tight as one that goes take its place; one that covers nothing goes
/// as it is.
pub(crate) fn keep_cover(guard: &Guard, cancelled: &[&Resting], plan: &mut Plan) {
    let mut by_market: BTreeMap<u32, Vec<&Resting>> = BTreeMap::new();
    for order in cancelled.iter().filter(|order| order.stop_px.is_some()) {
        by_market.entry(order.asset).or_default().push(order);
    }
    for (asset, stops) in by_market {
        for side in PositionSide::BOTH {
            for part in few(side, lost_cover(guard, asset, side, &stops)) {
                let Some(action) = orders::own_stop(guard, asset, side, part.px, part.size) else { continue };
                let coin = guard.view.market(asset).map_or("", |market| &market.coin);
                plan.pre.push(action);
                plan.changes.push(format!(
                    "the guard's own stop for {} of {coin} goes to {} first, so that the position keeps its cover",
                    to_wire(part.size),
                    to_wire(part.px)
                ));
            }
        }
    }
}

/// The same cover in few stops, each a request of its own: more parts than that go as one, at the tightest trigger.
fn few(side: PositionSide, parts: Vec<LinePart>) -> Vec<LinePart> {
    let tightest = side.nearest(parts.iter().map(|part| part.px));
    match tightest.filter(|_| parts.len() > MOST_STOPS) {
        Some(px) => vec![LinePart { px, size: total_size(&parts) }],
        None => parts,
    }
}

/// What one side of a market loses of its cover when these stops go, and where that stood.
fn lost_cover(guard: &Guard, asset: u32, side: PositionSide, going: &[&Resting]) -> Vec<LinePart> {
    let held = guard.lines.get(asset).filter(|line| line.side == side);
    let pending = guard.sent.may_have_filled(asset, side);
    if held.is_none() && pending.is_zero() {
        return Vec::new();
    }
    let mut line = held.cloned().unwrap_or_else(|| CoverLine::new(side, Decimal::ZERO, None));
    let mut kept = live_for(guard, asset, side);
    let of_side = going.iter().filter(|order| side_covered(order.is_buy) == side);
    let named = of_side.filter_map(|order| Some((order.stop_px?, cover::of_resting(order)?)));
    let named: Vec<(Decimal, CoverSize)> = named.collect();
    for cover in &named {
        if let Some(place) = kept.iter().position(|other| other == cover) {
            kept.remove(place);
        }
    }
    // One that an earlier cancel names may still be there: this one must not overtake what goes first for that.
    let live = [kept.as_slice(), named.as_slice()].concat();
    // What was bare before stays for the guard to cover; what goes now is missed at the trigger that it had.
    let was_bare = line.bare(&live, pending);
    line.tighten(&live, pending);
    let mut missing = line.bare(&kept, pending);
    for bare in was_bare {
        let mut left = bare.size;
        for part in missing.iter_mut().filter(|part| part.px == bare.px) {
            let same = left.min(part.size);
            (part.size, left) = (part.size.saturating_sub(same), left.saturating_sub(same));
        }
    }
    missing.retain(|part| part.size > Decimal::ZERO);
    // Nothing of it was covered any further from the price than the stops that stand.
    let farthest = side.furthest(live.iter().map(|(px, _)| *px).filter(|px| line.counts(*px)));
    missing.iter_mut().for_each(|part| part.px = farthest.map_or(part.px, |px| side.nearer_of(part.px, px)));
    missing
}
