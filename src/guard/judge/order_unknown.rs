//! `order_unknown`: only an order that the guard knows is replaced, and only so many cancels name none.

use super::limits::duplicate_order::on_their_way;
use crate::base::address::{Address, Cloid};
use crate::guard::code::Code;
use crate::guard::config::Mode;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;
use crate::guard::state::sent::cancel::targets;
use crate::guard::state::view::Resting;
use crate::venue::action::{Action, Target};
use std::collections::BTreeSet;

/// A client's cancels of ids that no known order has, in a minute, where its rules allow fewer entries than that: one that was quick to take
/// back what had just filled sends no more.
const LEAST: usize = 120;

/// An order that is to be replaced.
pub(crate) struct Replaced {
    pub(crate) cloid: Option<Cloid>,
    /// Whether it is one of the open entries.
    pub(crate) is_entry: bool,
    /// The venue's id, where it is known.
    oid: Option<u64>,
}

impl Replaced {
    /// Whether it is the same order as `other`.
    pub(crate) fn is(&self, other: &Replaced) -> bool {
        match (self.oid, other.oid) {
            (Some(one), Some(other)) => one == other,
            _ => self.cloid.is_some() && self.cloid == other.cloid,
        }
    }
}

/// All orders of this id that are known to rest: a client order id is good for several, and the guard does not know which
/// of them the venue takes.
pub(crate) fn named(guard: &Guard, target: Target) -> Vec<&Resting> {
    match target {
        Target::Oid(oid) => guard.order(oid).into_iter().collect(),
        Target::Cloid(cloid) => guard.orders_by_cloid(cloid).collect(),
    }
}

/// The order of this id: one that a read shows, one of paper mode, or one that was accepted since the last read.
pub(crate) fn find(guard: &Guard, target: Target) -> Result<Replaced, Veto> {
    let (resting, paper) = match target {
        Target::Oid(oid) => (guard.order(oid), Some(oid)),
        Target::Cloid(cloid) => (guard.orders_by_cloid(cloid).next(), guard.paper.by_cloid(&cloid)),
    };
    // Whichever of several carries the id when the modify arrives.
    let is_shared = |cloid: Cloid| guard.sent.open().any(|order| order.cloid == Some(cloid) && order.reduce_only);
    let may_be_exit = matches!(target, Target::Cloid(cloid) if is_shared(cloid));
    if let Some(old) = resting {
        // What is on its way out already makes no more room by this.
        let is_leaving = guard.sent.is_being_cancelled(old.oid, old.cloid);
        let is_entry = old.is_entry() && !may_be_exit && !is_leaving;
        return Ok(Replaced { cloid: old.cloid, is_entry, oid: Some(old.oid) });
    }
    if let Some((oid, old)) = paper.and_then(|oid| Some((oid, guard.paper.get(oid)?))) {
        let is_entry = !old.reduce_only && !old.is_trigger;
        return Ok(Replaced { cloid: old.cloid, is_entry, oid: Some(oid) });
    }
    let is_target = |oid: Option<u64>, cloid: Option<Cloid>| match target {
        Target::Oid(wanted) => oid == Some(wanted),
        Target::Cloid(wanted) => cloid == Some(wanted),
    };
    match guard.sent.open().find(|order| is_target(order.oid, order.cloid)) {
        Some(old) => {
            // One that is not answered yet may come after the modify, which then finds something else or nothing.
            let is_entry = !old.reduce_only && !old.is_immediate && !may_be_exit && old.oid.is_some();
            Ok(Replaced { cloid: old.cloid, is_entry, oid: old.oid })
        }
        None => {
            let id = match target {
                Target::Oid(oid) => format!("id {oid}"),
                Target::Cloid(cloid) => format!("client order id {cloid}"),
            };
            let text = format!("no open order has the {id}; place a new order, or cancel what may still be open");
            Err(Veto::new(Code::OrderUnknown, text))
        }
    }
}

/// The orders that an action names and a read shows, of which the venue has said since that a cancel took them.
fn told_gone<'a>(guard: &'a Guard, action: &Action) -> impl Iterator<Item = u64> + 'a {
    let orders = targets(action).into_iter().flat_map(|target| named(guard, target));
    orders.filter(|order| guard.sent.is_told_gone(order.oid, order.cloid)).map(|order| order.oid)
}

/// Withholds a client's cancels of ids that no known order has where they are too many, at their places; says how many pass. The
/// venue refuses each of them and counts it all the same. What is known is never held up by them.
pub(crate) fn withhold_excess(
    guard: &Guard,
    client: Address,
    action: &Action,
    withheld: &mut [Option<Veto>],
    now_ms: u64,
) -> usize {
    // Where the open orders are not known, every id may be one of theirs.
    let is_known =
        guard.view.orders_known_ms().is_some_and(|at_ms| now_ms.saturating_sub(at_ms) <= guard.orders_max_age_ms());
    if guard.config.mode == Mode::Paper || !is_known {
        return 0;
    }
    let most = usize::try_from(guard.config.rules.orders_per_minute).unwrap_or(LEAST).max(LEAST);
    let spent = guard.throttle.unknown_in_last_minute(client, now_ms);
    let gone: BTreeSet<u64> = told_gone(guard, action).collect();
    let resting = guard.view.orders.values().filter(|order| !gone.contains(&order.oid));
    let alive: BTreeSet<Cloid> = resting.filter_map(|order| order.cloid).chain(on_their_way(guard)).collect();
    let is_unknown = |target: &Target| match target {
        Target::Oid(oid) => gone.contains(oid) || guard.order(*oid).is_none(),
        Target::Cloid(cloid) => !alive.contains(cloid),
    };
    let mut passing = 0_usize;
    let unknown =
        targets(action).into_iter().zip(withheld).filter(|(target, veto)| veto.is_none() && is_unknown(target));
    for (_, veto) in unknown {
        if spent.saturating_add(passing) < most {
            passing = passing.saturating_add(1);
        } else {
            let text = format!(
                "no open order has this id, and this client has cancelled {most} such ids within a minute, which the venue \
                 counts; cancel orders that are open, or wait"
            );
            *veto = Some(Veto::new(Code::OrderUnknown, text).with(&most, &spent));
        }
    }
    passing
}
