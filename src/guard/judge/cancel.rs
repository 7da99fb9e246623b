//! Cancels: always pass, but a position is never left bare. What must not go is left out of its batch.

use std::collections::BTreeMap;

use rust_decimal::Decimal;

use super::cancel_by_id;
use super::guard_order::{self, GUARDS_OWN};
use super::order_unknown;
use super::orders;
use super::plan::Plan;
use super::veto::Veto;
use crate::base::address::Address;
use crate::base::amount::to_wire;
use crate::guard::code::Code;
use crate::guard::config::Mode;
use crate::guard::state::cover::{self, CoverSize, LinePart, side_covered, total_size};
use crate::guard::state::cover_line::CoverLine;
use crate::guard::state::guard::Guard;
use crate::guard::state::sent::cancel::targets;
use crate::guard::state::standing_stops::lasting_for;
use crate::guard::state::view::Resting;
use crate::venue::action::Action;
use crate::venue::side::PositionSide;

/// Why a stop stays while it is not known what it stands for.
const UNREAD: &str =
    "the account was not read since the start, and this stop may cover what it holds; try again in a moment";

const NOT_OPEN: &str = "no order that is open has this id";

/// Stops of the guard's own that one cancel puts in front of it, for one side of a market.
const MOST_STOPS: usize = 4;

pub(crate) fn judge(guard: &Guard, client: Address, action: &Action, now_ms: u64) -> Result<Plan, Veto> {
    let by_id = cancel_by_id::by_order_id(guard, action);
    let action = by_id.as_ref().map_or(action, |(action, _)| action);
    let mut withheld = withheld(guard, action);
    let unknown_cancels = order_unknown::withhold_excess(guard, client, action, &mut withheld, now_ms);
    if let Some(veto) = first_reason(&withheld).filter(|_| withheld.iter().all(Option::is_some)) {
        return Err(veto);
    }
    let named = named(guard, action);
    let mut plan = Plan { reduces: true, unknown_cancels, ..Plan::default() };
    plan.changes.extend(by_id.iter().flat_map(|(_, cloids)| cloids).map(cancel_by_id::told));
    let going = named.iter().zip(&withheld).filter(|(_, veto)| veto.is_none()).flat_map(|(orders, _)| orders);
    keep_cover(guard, &going.copied().collect::<Vec<_>>(), &mut plan);
    // What goes in front gets an id of the venue's: one that nothing carries yet may be it.
    if !plan.pre.is_empty() && matches!(action, Action::Cancel { .. }) {
        for (_, veto) in named.iter().zip(&mut withheld).filter(|(orders, _)| orders.is_empty()) {
            veto.get_or_insert_with(|| Veto::new(Code::OrderUnknown, NOT_OPEN));
        }
    }
    let kept: Vec<usize> = (0..withheld.len()).filter(|place| matches!(withheld.get(*place), Some(None))).collect();
    plan.forward = Some(only(action, &kept));
    if kept.len() < withheld.len() {
        plan.changes.extend(told(&withheld));
        let withheld = withheld.iter().enumerate().filter_map(|(place, veto)| Some((place, veto.as_ref()?)));
        plan.left_out = withheld.map(|(place, veto)| (place, format!("svc-guard: {}", veto.text))).collect();
        plan.kept = Some(kept);
    }
    Ok(plan)
}

/// Whether no cancel of an action may go before the open orders are read: any order id while they never were, and what may
/// name nothing but stops that no read has shown.
pub(crate) fn must_wait(guard: &Guard, action: &Action) -> bool {
    if let (Action::Cancel { cancels, .. }, None) = (action, guard.view.orders_ms) {
        return guard.config.mode != Mode::Paper && cancels.iter().any(|cancel| !is_known(guard, cancel.oid));
    }
    let withheld = withheld(guard, action);
    let is_unseen = |veto: &Veto| veto.code == Code::OrderUnknown;
    withheld.iter().all(Option::is_some) && first_reason(&withheld).as_ref().is_some_and(is_unseen)
}

/// Why each cancel of an action must not go, by place. Who cancels everything that rests means the guard's stop the least.
fn withheld(guard: &Guard, action: &Action) -> Vec<Option<Veto>> {
    let unseen_stops = may_name_unseen_stop(guard, action);
    let own = guards_own(guard, action).into_iter().zip(unseen_stops);
    own.zip(may_cover_unread(guard, action))
        .map(|places| match places {
            ((true, _), _) => Some(Veto::new(Code::GuardOrder, GUARDS_OWN)),
            ((false, true), _) => Some(unseen()),
            (_, may_cover) => may_cover.then(|| Veto::new(Code::Starting, UNREAD)),
        })
        .collect()
}

/// Which cancels of an action name a stop before the account was read in this life, by place: it may stand for anything.
fn may_cover_unread(guard: &Guard, action: &Action) -> Vec<bool> {
    let is_unread = guard.config.mode != Mode::Paper && !guard.is_account_known();
    let names_stop = |orders: Vec<&Resting>| is_unread && orders.iter().any(|order| order.stop_px.is_some());
    named(guard, action).into_iter().map(names_stop).collect()
}

/// The reason for all of them where all are withheld: an id that may yet be shown first.
fn first_reason(withheld: &[Option<Veto>]) -> Option<Veto> {
    withheld.iter().flatten().max_by_key(|veto| veto.code == Code::OrderUnknown).cloned()
}

/// How many are left out, once a reason.
fn told(withheld: &[Option<Veto>]) -> Vec<String> {
    let mut reasons: Vec<(&Veto, usize)> = Vec::new();
    for veto in withheld.iter().flatten() {
        match reasons.iter_mut().find(|(other, _)| *other == veto) {
            Some((_, count)) => *count = count.saturating_add(1),
            None => reasons.push((veto, 1)),
        }
    }
    let total = withheld.len();
    reasons.iter().map(|(veto, count)| format!("{count} of {total} cancels left out: {}", veto.text)).collect()
}

/// Which cancels of an action may name a stop that no read has shown, by place: an order id that nothing known carries while
/// a stop has none that is known, since the child of an entry gets no id in the venue's answer; or the client order id of
/// such a stop. The market that it names proves nothing. While the open orders were never read none may be held back.
fn may_name_unseen_stop(guard: &Guard, action: &Action) -> Vec<bool> {
    let is_read = guard.view.orders_ms.is_some();
    let has_unseen = is_read && guard.sent.has_unseen_stop();
    match action {
        Action::Cancel { cancels, .. } => {
            cancels.iter().map(|cancel| has_unseen && !is_known(guard, cancel.oid)).collect()
        }
        Action::CancelByCloid { cancels, .. } => {
            cancels.iter().map(|cancel| is_read && guard.sent.has_unseen_stop_with(cancel.cloid)).collect()
        }
        _ => Vec::new(),
    }
}

fn is_known(guard: &Guard, oid: u64) -> bool {
    guard.order(oid).is_some() || guard.paper.get(oid).is_some()
}

/// The refusal of a cancel that waited for the open orders in vain.
fn unseen() -> Veto {
    let text = "no read has shown the order, and stops were placed a moment ago that none has shown either: it may be one \
                of them; ask again in a moment";
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
    for (asset, stops) in stops_by_market(cancelled) {
        for side in PositionSide::BOTH {
            let lost = LostCover::of(guard, (asset, side), &stops, false).map(LostCover::into_parts);
            for part in few(side, lost.unwrap_or_default()) {
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

/// What is held, with what may have filled beside it, on each side of the markets whose stops these cancels name.
pub(crate) fn held(guard: &Guard, action: &Action) -> BTreeMap<(u32, PositionSide), Decimal> {
    let named: Vec<&Resting> = named(guard, action).into_iter().flatten().collect();
    let markets = stops_by_market(&named).into_keys();
    let sides = markets.flat_map(|asset| PositionSide::BOTH.into_iter().map(move |side| (asset, side)));
    sides.map(|(asset, side)| ((asset, side), held_on(guard, asset, side))).collect()
}

fn held_on(guard: &Guard, asset: u32, side: PositionSide) -> Decimal {
    let shown = guard.lines.get(asset).filter(|line| line.side == side).map_or(Decimal::ZERO, |line| line.held);
    shown.saturating_add(guard.may_have_filled(asset, side))
}

/// Whether these cancels, some time after they were decided on, take cover that no other stop stands in for; `flat` are sides
/// on which nothing is held, and `before` what was held when they were decided on: for that the guard's own stops went first,
/// and only what has grown since is looked at again.
pub(crate) fn takes_cover(
    guard: &Guard,
    action: &Action,
    flat: &[(u32, PositionSide)],
    before: &BTreeMap<(u32, PositionSide), Decimal>,
) -> bool {
    let named: Vec<&Resting> = named(guard, action).into_iter().flatten().collect();
    let has_grown = |asset: u32, side: PositionSide| {
        held_on(guard, asset, side) > before.get(&(asset, side)).copied().unwrap_or_default()
    };
    stops_by_market(&named).into_iter().any(|(asset, stops)| {
        let sides = PositionSide::BOTH.into_iter().filter(|side| !flat.contains(&(asset, *side)));
        let mut grown = sides.filter(|side| has_grown(asset, *side));
        grown.any(|side| LostCover::of(guard, (asset, side), &stops, true).is_some_and(|lost| lost.is_any()))
    })
}

fn stops_by_market<'a>(orders: &[&'a Resting]) -> BTreeMap<u32, Vec<&'a Resting>> {
    let mut by_market: BTreeMap<u32, Vec<&Resting>> = BTreeMap::new();
    for order in orders.iter().filter(|order| order.stop_px.is_some()) {
        by_market.entry(order.asset).or_default().push(order);
    }
    by_market
}

/// The same cover in few stops, each a request of its own: more parts than that go as one, at the tightest trigger.
fn few(side: PositionSide, parts: Vec<LinePart>) -> Vec<LinePart> {
    let tightest = side.nearest(parts.iter().map(|part| part.px));
    match tightest.filter(|_| parts.len() > MOST_STOPS) {
        Some(px) => vec![LinePart { px, size: total_size(&parts) }],
        None => parts,
    }
}

/// What one side of a market loses of its cover when some stops go.
struct LostCover {
    line: CoverLine,
    /// What the stops that go covered, and where they stood.
    missing: Vec<LinePart>,
    /// What was bare before.
    bare: Vec<LinePart>,
    /// The stops that go.
    going: Vec<(Decimal, CoverSize)>,
}

impl LostCover {
    /// `None` where nothing can be held. A cancel that is under way counts them as gone already.
    fn of(guard: &Guard, (asset, side): (u32, PositionSide), going: &[&Resting], is_under_way: bool) -> Option<Self> {
        let held = guard.lines.get(asset).filter(|line| line.side == side);
        let pending = guard.may_have_filled(asset, side);
        if held.is_none() && pending.is_zero() {
            return None;
        }
        let mut line = held.cloned().unwrap_or_else(|| CoverLine::new(side, Decimal::ZERO, None));
        let mut kept = lasting_for(guard, asset, side);
        let of_side = going.iter().filter(|order| side_covered(order.is_buy) == side);
        let named = of_side.filter_map(|order| Some((order.stop_px?, cover::of_resting(order)?)));
        let named: Vec<(Decimal, CoverSize)> = named.collect();
        for cover in named.iter().filter(|_| !is_under_way) {
            if let Some(place) = kept.iter().position(|other| other == cover) {
                kept.remove(place);
            }
        }
        // One that an earlier cancel names may still be there: this one must not overtake what goes first for that.
        let live = [kept.as_slice(), named.as_slice()].concat();
        if guard.sent.may_have_turned(asset, side, line.held) {
            kept.clear();
        }
        // What goes now is missed at the trigger that it had; what was bare before, where the guard's own goes anyway.
        let bare = line.bare(&live, pending);
        line.tighten(&live, pending);
        let mut missing = line.bare(&kept, pending);
        for bare in &bare {
            let mut left = bare.size;
            for part in missing.iter_mut().filter(|part| part.px == bare.px) {
                let same = left.min(part.size);
                (part.size, left) = (part.size.saturating_sub(same), left.saturating_sub(same));
            }
        }
        missing.retain(|part| part.size > Decimal::ZERO);
        // Nothing of it was covered any further from the price than the stops that stand.
        let farthest = side.furthest(live.iter().map(|(px, _)| *px).filter(|px| line.counts_with(*px, pending)));
        missing.iter_mut().for_each(|part| part.px = farthest.map_or(part.px, |px| side.nearer_of(part.px, px)));
        Some(Self { line, missing, bare, going: named })
    }

    fn is_any(&self) -> bool {
        !self.missing.is_empty()
    }

    /// What the guard's own stops go for: what is missing, and what is bare and has a stop that goes standing in for its
    /// cover, farther away than its line. They go in front of the cancel, and not a moment after it.
    fn into_parts(self) -> Vec<LinePart> {
        let Self { line, mut missing, bare, going } = self;
        if line.first_stop.is_none() {
            return missing;
        }
        let loose = going.iter().filter(|(px, _)| line.is_inside_liquidation(*px)).map(|(_, size)| *size);
        let mut left = cover::total(loose, line.held).min(total_size(&bare));
        let parts = bare.into_iter().filter_map(|part| {
            let size = part.size.min(left);
            left = left.saturating_sub(size);
            Some(LinePart { px: line.own_px(part)?, size }).filter(|part| part.size > Decimal::ZERO)
        });
        missing.extend(parts);
        missing
    }
}
