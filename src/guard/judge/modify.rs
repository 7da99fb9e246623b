//! Modifies: the new order is judged on top of the old one, which may turn out not to be gone.

use rust_decimal::Decimal;

use super::entry::{Altered, Cover};
use super::orders::{Class, add_exit, classify, fills_at_once};
use super::plan::{Plan, Post};
use super::veto::Veto;
use super::{admission, entry, throttle};
use crate::base::address::Address;
use crate::base::address::Cloid;
use crate::base::amount::to_wire;
use crate::guard::code::Code;
use crate::guard::state::cover::{self, CoverSize, side_covered};
use crate::guard::state::exposure::{Book, Stop};
use crate::guard::state::guard::Guard;
use crate::guard::state::throttle::EntryNote;
use crate::guard::state::view::Resting;
use crate::venue::action::{Action, Grouping, Modify, OrderAction, Target};
use crate::venue::order::Order;

/// Modifies that passed, before they are put back into their action.
pub(crate) struct Judged {
    modifies: Vec<Modify>,
    plan: Plan,
}

impl Judged {
    pub(crate) fn into_plan(self, action: impl FnOnce(Vec<Modify>) -> Action) -> Plan {
        Plan { forward: Some(action(self.modifies)), ..self.plan }
    }
}

pub(crate) fn judge(guard: &Guard, client: Address, modifies: &[Modify], now_ms: u64) -> Result<Judged, Veto> {
    let mut book = Book::of(guard);
    let mut modifies = modifies.to_vec();
    let mut altered = Altered::default();
    let mut plan = Plan::default();
    let (mut cloids, mut classes) = (Vec::new(), Vec::new());
    // Exits first, wherever they stand: what they close no entry can count on closing.
    for modify in &mut modifies {
        let (old, old_cloid) = find(guard, modify.target)?;
        if old.is_some_and(Resting::is_guards) {
            let text = "this stop is the guard's own; place a tighter stop instead, and it goes by itself";
            return Err(Veto::new(Code::GuardOrder, text));
        }
        if let Some(old) = old {
            keeps_cover(guard, &mut book, old, &modify.order)?;
        }
        let class = classify(guard, &mut book, &mut modify.order, &mut altered.changes);
        match class {
            Class::Exit => add_exit(guard, &mut book, &modify.order),
            Class::Entry => cloids.extend(modify.order.cloid.filter(|cloid| old_cloid != Some(*cloid))),
        }
        classes.push(class);
    }
    for (place, (modify, class)) in modifies.iter_mut().zip(classes).enumerate() {
        let order = &mut modify.order;
        let mut stop = None;
        if let Class::Entry = class {
            admission::check(guard, now_ms)?;
            let note = EntryNote::of(client, order);
            let entry::Judged { cover, opening } =
                entry::judge(guard, &mut book, order, &mut [], &mut altered, now_ms)?;
            plan.entries.extend((!opening.is_zero()).then_some(note));
            stop = Some(cover.stop_at());
            // What rests is covered when it fills: a stop for each new price would pile up.
            if let Cover::Attached(attached) = cover
                && fills_at_once(guard, order)
            {
                let attached = OrderAction { orders: vec![attached], grouping: Grouping::Na, builder: None };
                plan.post.push(Post { action: Action::Order(attached), after_place: place });
            }
        }
        plan.stops.push(stop);
    }
    // A modify replaces an open order, so it adds none to the count of open entries.
    throttle::check(guard, &plan.entries, &cloids, 0, now_ms)?;
    plan.is_entry = !plan.entries.is_empty();
    plan.reduces = !plan.is_entry;
    plan.changes = altered.changes;
    plan.pre = altered.pre;
    Ok(Judged { modifies, plan })
}

/// The order that is to be replaced, where a read shows it, and its client order id.
fn find(guard: &Guard, target: Target) -> Result<(Option<&Resting>, Option<Cloid>), Veto> {
    let (resting, paper) = match target {
        Target::Oid(oid) => (guard.order(oid), guard.paper.get(oid)),
        Target::Cloid(cloid) => {
            let paper = guard.paper.by_cloid(&cloid).and_then(|oid| guard.paper.get(oid));
            (guard.orders_by_cloid(cloid).next(), paper)
        }
    };
    if let Some(old) = resting {
        return Ok((Some(old), old.cloid));
    }
    let is_target = |oid: Option<u64>, cloid: Option<Cloid>| match target {
        Target::Oid(wanted) => oid == Some(wanted),
        Target::Cloid(wanted) => cloid == Some(wanted),
    };
    // Accepted, and not shown by a read yet.
    let in_flight = guard.sent.open().find(|order| is_target(order.oid, order.cloid));
    match paper.map(|order| order.cloid).or(in_flight.map(|order| order.cloid)) {
        Some(cloid) => Ok((None, cloid)),
        None => {
            let text = "no open order has this id; place a new order, or cancel what may still be open";
            Err(Veto::new(Code::OrderUnknown, text))
        }
    }
}

/// Refuses a change that leaves the position with a wider, smaller or no stop.
fn keeps_cover(guard: &Guard, book: &mut Book, old: &Resting, new: &Order) -> Result<(), Veto> {
    let Some(old_px) = old.stop_px else { return Ok(()) };
    let side = side_covered(old.is_buy);
    // Before the account is read any stop may cover.
    let held = match &guard.view.account {
        Some(_) => book.market(guard, old.asset).held(side.is_long()),
        None => Decimal::MAX,
    };
    if held.is_zero() {
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
        None => {
            if let Some(stop) = Stop::of(old) {
                book.remove_stop(old.asset, old.is_buy, stop);
            }
            Ok(())
        }
    }
}
