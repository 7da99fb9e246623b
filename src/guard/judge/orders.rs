//! The `order` action: each order in turn, then the stops that hang on them, then the limits of the whole.

use std::collections::BTreeMap;

use rust_decimal::Decimal;

use super::entry::{Altered, Cover, Judged};
use super::plan::{Plan, Post};
use super::stop::Entry;
use super::veto::Veto;
use super::{admission, entry, market, redundant_stops, stop, throttle};
use crate::base::address::Address;
use crate::base::amount::to_wire;
use crate::guard::state::exposure::{Book, EntryLeg};
use crate::guard::state::guard::Guard;
use crate::guard::state::stop_geometry::stop_order;
use crate::guard::state::throttle::EntryNote;
use crate::venue::action::{Action, Grouping, OrderAction};
use crate::venue::market::{FIRST_BUILDER_PERP, FIRST_NON_CORE_ASSET, FIRST_OUTCOME};
use crate::venue::order::{Order, OrderKind, Tif};
use crate::venue::side::PositionSide;

/// A `normalTpsl` group with more than these behind its entry is refused whole.
const MOST_CHILDREN: usize = 2;

/// What an order is, seen against what the account could come to hold.
pub(crate) enum Class {
    /// Can only reduce.
    Exit,
    /// Can open or enlarge a position.
    Entry,
}

pub(crate) fn judge(guard: &Guard, client: Address, action: &OrderAction, now_ms: u64) -> Result<Plan, Veto> {
    let mut book = Book::of(guard);
    let mut orders = action.orders.clone();
    let mut altered = Altered::default();
    let mut judged: Vec<Option<Judged>> = vec![None; orders.len()];
    let (mut notes, mut cloids) = (Vec::new(), Vec::new());
    let mut resting = 0_usize;
    // Exits first, wherever they stand: what they close no entry can count on closing.
    let classes: Vec<Class> = orders
        .iter_mut()
        .map(|order| {
            let class = classify(guard, &mut book, order, &mut altered.changes);
            if matches!(class, Class::Exit) {
                add_exit(guard, &mut book, order);
            }
            class
        })
        .collect();
    for (place, class) in classes.into_iter().enumerate() {
        let (Class::Entry, Some(mut order)) = (class, orders.get(place).cloned()) else { continue };
        if let Err(veto) = admission::check(guard, now_ms) {
            // What is on its way may close the position first, and then this would open one. While nothing may be
            // opened, whoever asks for no more than the position means to close it: reduce-only, it can do no other.
            if order.is_trigger() || order.size > book.market(guard, order.asset).held(!order.is_buy) {
                return Err(veto);
            }
            mark_exit(&mut order, &mut altered.changes);
            if let Some(slot) = orders.get_mut(place) {
                *slot = order;
            }
            continue;
        }
        let note = EntryNote::of(client, &order);
        let side = (order.asset, order.is_buy);
        let mut stops: Vec<&mut Order> = orders.iter_mut().filter(|other| covers_side(other, side)).collect();
        let passed = entry::judge(guard, &mut book, &mut order, &mut stops, &mut altered, now_ms)?;
        if !passed.opening.is_zero() {
            cloids.extend(order.cloid);
            notes.push(note);
            resting += usize::from(!is_immediate(&order));
        }
        if let (Some(slot), Some(judged)) = (orders.get_mut(place), judged.get_mut(place)) {
            (*slot, *judged) = (order, Some(passed));
        }
    }
    check_shared_stops(guard, &orders, &judged)?;
    throttle::check(guard, &notes, &cloids, resting, now_ms)?;
    fit_requested_stops(guard, &mut book, &mut orders, &judged, action, &mut altered.changes);

    let is_entry = !notes.is_empty();
    let stops = judged.iter().map(|judged| judged.as_ref().map(|judged| judged.cover.stop_at())).collect();
    let own_stops = redundant_stops::own_stops(guard, &orders, action.grouping);
    let (grouping, mut post) = hang_attached(guard, action, &mut orders, judged);
    post.extend(own_stops);
    Ok(Plan {
        kept: None,
        pre: altered.pre,
        forward: Some(Action::Order(OrderAction { orders, grouping, builder: action.builder.clone() })),
        post,
        changes: altered.changes,
        stops,
        entries: notes,
        is_entry,
        reduces: !is_entry,
    })
}

/// Tells an exit from an entry. An exit that is not marked so is marked reduce-only: no race can then make it open.
pub(crate) fn classify(guard: &Guard, book: &mut Book, order: &mut Order, changes: &mut Vec<String>) -> Class {
    let is_spot = (FIRST_NON_CORE_ASSET..FIRST_BUILDER_PERP).contains(&order.asset);
    if is_spot || order.asset >= FIRST_OUTCOME {
        // Spot and outcome markets have no positions to reduce: the flag proves nothing there.
        return Class::Entry;
    }
    if order.reduce_only {
        return Class::Exit;
    }
    let is_core = order.asset < FIRST_NON_CORE_ASSET;
    if is_core && !order.size.is_zero() && book.market(guard, order.asset).entry_part(order).is_zero() {
        mark_exit(order, changes);
        return Class::Exit;
    }
    Class::Entry
}

fn mark_exit(order: &mut Order, changes: &mut Vec<String>) {
    order.reduce_only = true;
    let side = if order.is_buy { "buy" } else { "sell" };
    changes.push(format!("{side} of {} only closes and goes as reduce-only", to_wire(order.size)));
}

/// Counts an exit, so that what follows it cannot close the same position twice.
pub(crate) fn add_exit(guard: &Guard, book: &mut Book, order: &Order) {
    if !order.is_trigger() {
        let leg = EntryLeg { size: order.size, px: order.limit_px, stop: None };
        book.add(guard, order.asset, order.is_buy, true, leg);
    }
}

fn is_immediate(order: &Order) -> bool {
    matches!(order.kind, OrderKind::Limit(tif) if tif.is_immediate())
}

/// Whether `stop` is a market stop for entries of this side of this market.
fn covers_side(stop: &Order, (asset, is_long): (u32, bool)) -> bool {
    stop.market_stop_px().is_some() && (stop.asset, stop.is_buy) == (asset, !is_long)
}

/// Refuses stops that were tightened for one entry and now stand on the wrong side of another.
fn check_shared_stops(guard: &Guard, orders: &[Order], judged: &[Option<Judged>]) -> Result<(), Veto> {
    for (order, judged) in orders.iter().zip(judged) {
        if !matches!(judged, Some(Judged { cover: Cover::Requested(_), .. })) {
            continue;
        }
        let (market, mid) = market::check(guard, order.asset)?;
        let entry = Entry { market, mid, is_long: order.is_buy, px: order.limit_px, held: Decimal::ZERO };
        let mut stops = orders.iter().filter(|stop| covers_side(stop, (order.asset, order.is_buy)));
        stops.try_for_each(|stop| stop::check_side(&entry, stop.market_stop_px().unwrap_or_default()))?;
    }
    Ok(())
}

/// Makes the stops of a request cover its entries: raised where they are too small, and shrunk after a cut.
fn fit_requested_stops(
    guard: &Guard,
    book: &mut Book,
    orders: &mut [Order],
    judged: &[Option<Judged>],
    action: &OrderAction,
    changes: &mut Vec<String>,
) {
    let mut opened: BTreeMap<(u32, bool), Decimal> = BTreeMap::new();
    for (order, judged) in orders.iter().zip(judged) {
        let opening = judged.as_ref().map_or(Decimal::ZERO, |judged| judged.opening);
        let sum = opened.entry((order.asset, order.is_buy)).or_default();
        *sum = sum.saturating_add(opening);
    }
    for ((asset, is_long), wanted) in opened {
        let entries = |orders: &[Order]| -> Decimal {
            let entries =
                orders.iter().filter(|order| !order.reduce_only && (order.asset, order.is_buy) == (asset, is_long));
            entries.map(|order| order.size).fold(Decimal::ZERO, Decimal::saturating_add)
        };
        let held = book.market(guard, asset).held(is_long);
        let was_cut = entries(&action.orders) != entries(orders);
        let mut stops: Vec<&mut Order> =
            orders.iter_mut().filter(|order| covers_side(order, (asset, is_long))).collect();
        if stops.iter().any(|stop| stop.size.is_zero() && action.grouping == Grouping::PositionTpsl) {
            continue;
        }
        let total = stops.iter().map(|stop| stop.size).fold(Decimal::ZERO, Decimal::saturating_add);
        let Some(last) = stops.last_mut() else { continue };
        let others = total.saturating_sub(last.size);
        let most = wanted.saturating_add(held);
        let size = if total < wanted {
            wanted.saturating_sub(others)
        } else if was_cut && total > most && most > others {
            most.saturating_sub(others)
        } else {
            continue;
        };
        let asked = std::mem::replace(&mut last.size, size);
        changes.push(format!("stop size set from {} to {}, that of the entry", to_wire(asked), to_wire(size)));
    }
}

/// Hangs the guard's stops on the entries they are for: as the child of a single entry, or in a batch, and on an entry
/// that has all the children it may have, as actions that follow for what fills at once. What rests there is covered
/// when it fills.
fn hang_attached(
    guard: &Guard,
    action: &OrderAction,
    orders: &mut Vec<Order>,
    judged: Vec<Option<Judged>>,
) -> (Grouping, Vec<Post>) {
    let has_room = orders.len() == 1 || (action.grouping == Grouping::NormalTpsl && orders.len() <= MOST_CHILDREN);
    let mut grouping = action.grouping;
    let mut post = Vec::new();
    for (place, judged) in judged.into_iter().enumerate() {
        let cover = judged.map(|judged| judged.cover);
        let (Some(Cover::Attached(stop)), Some(entry)) = (cover, orders.get(place)) else { continue };
        if has_room && grouping != Grouping::PositionTpsl {
            orders.push(stop);
            grouping = Grouping::NormalTpsl;
        } else if fills_at_once(guard, entry) {
            let stop = OrderAction { orders: vec![stop], grouping: Grouping::Na, builder: None };
            post.push(Post { action: Action::Order(stop), after_place: place });
        }
    }
    (grouping, post)
}

pub(crate) fn fills_at_once(guard: &Guard, order: &Order) -> bool {
    let crosses = guard
        .view
        .mids
        .get(&order.asset)
        .is_some_and(|mid| if order.is_buy { order.limit_px >= *mid } else { order.limit_px <= *mid });
    crosses && !matches!(order.kind, OrderKind::Limit(Tif::Alo))
}

/// The guard's own stop for `size` of one side at `trigger_px`.
pub(crate) fn own_stop(
    guard: &Guard,
    asset: u32,
    side: PositionSide,
    trigger_px: Decimal,
    size: Decimal,
) -> Option<Action> {
    let market = guard.view.market(asset)?;
    let orders = vec![stop_order(market, side, trigger_px, size)];
    Some(Action::Order(OrderAction { orders, grouping: Grouping::Na, builder: None }))
}
