//! `open_exits_limit`: reduce-only orders that rest. The venue takes 1000 open orders from an account, and the guard's own
//! stops must find room among them. What fills at once or not at all always passes. The children of an entry count from
//! when they are asked for: they rest once it has filled. While one of those stops waits for room none more may rest, however few
//! there are: orders from elsewhere may have filled the book. What rests after a start nobody knows before the open orders are
//! read: until then all count that the journal says were placed.

use crate::base::address::{Address, Cloid};
use crate::guard::code::Code;
use crate::guard::judge::fair_part;
use crate::guard::judge::plan::Plan;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;
use crate::guard::state::own_cloid::is_guard_stop;
use crate::guard::state::view::Resting;
use crate::venue::action::{Action, Target};
use crate::venue::order::{Order, Tif};
use std::collections::BTreeSet;

/// Of one client.
const OF_CLIENT: usize = 100;
/// Of all of them together.
const OF_ACCOUNT: usize = 200;

/// Refuses a plan that would leave too many of them, or take those of the account that are kept for other clients.
pub(crate) fn check(guard: &Guard, client: Address, plan: &Plan, now_ms: u64) -> Result<(), Veto> {
    if guard.watch.waits_for_room(now_ms) {
        // A modify that leaves an order resting keeps its place, or takes a new one where its target has just been cancelled.
        let rest =
            plan.clients_parts().map(|(part, orders)| part.orders().take(orders).filter(|order| rests(order)).count());
        return match rest.fold(0, usize::saturating_add) {
            0 => Ok(()),
            more => Err(no_room(more)),
        };
    }
    let asked = plan.clients_parts().map(|(part, orders)| more_of(guard, part, orders));
    let more = asked.fold(0, usize::saturating_add);
    if more == 0 {
        return Ok(());
    }
    let exits = exits(guard);
    let own = exits.of_client(client);
    let count = own.saturating_add(more);
    if count > OF_CLIENT {
        return Err(refusal(guard, (own, more, OF_CLIENT), "of this client", 0));
    }
    if guard.config.clients.len() > 1 && count <= fair_part::part(guard, OF_ACCOUNT) {
        // Its own part, whoever's the others are.
        return Ok(());
    }
    let kept = exits.kept_for_others(guard, client, OF_ACCOUNT);
    if exits.all.saturating_add(more).saturating_add(kept) > OF_ACCOUNT {
        return Err(refusal(guard, (exits.all, more, OF_ACCOUNT), "of all clients", kept));
    }
    Ok(())
}

/// Refuses those of a request that has more than a client may rest in all, before anything of it is looked at: what asks
/// for far too much must cost little.
pub(crate) fn refuse_excess(guard: &Guard, orders: &[Order], refused: &mut [Option<Veto>]) {
    let asked = orders.iter().filter(|order| rests(order)).count();
    if asked <= OF_CLIENT {
        return;
    }
    refuse_resting(orders, refused, &refusal(guard, (0, asked, OF_CLIENT), "of this client", 0));
}

/// Refuses those of a request that may rest.
pub(crate) fn refuse_resting(orders: &[Order], refused: &mut [Option<Veto>], veto: &Veto) {
    for (_, refused) in orders.iter().zip(refused).filter(|(order, _)| rests(order)) {
        refused.get_or_insert_with(|| veto.clone());
    }
}

fn refusal(guard: &Guard, (open, more, limit): (usize, usize, usize), whose: &str, kept: usize) -> Veto {
    let unread = if guard.view.orders_ms.is_none() {
        ", or try again once the open orders have been read, in a moment: until then all count that were placed before the start"
    } else {
        ""
    };
    let text = format!(
        "{open} reduce-only orders {whose} rest and {more} more are over {limit}{}; cancel some first, or send them to \
         fill at once (Ioc){unread}",
        fair_part::told(kept)
    );
    Veto::new(Code::OpenExitsLimit, text).with(&limit, &open.saturating_add(more))
}

/// The refusal while a stop of the guard's waits for room.
fn no_room(more: usize) -> Veto {
    let text = format!(
        "the venue takes no more open orders from the account, and the guard's own stop waits for room among them, or its close: {more} \
         more may not rest; cancel some first, or send them to fill at once (Ioc)"
    );
    Veto::new(Code::OpenExitsLimit, text).with(&0, &more)
}

/// Reduce-only orders that rest or may come to, the children of entries too.
fn exits(guard: &Guard) -> fair_part::Resting {
    let read = guard.view.orders.values().filter(|order| is_exit(order)).map(|order| order.cloid);
    let children = guard.view.orders.values().flat_map(|order| &order.order.children).map(|child| child.cloid);
    let children = children.filter(|cloid| !cloid.as_ref().is_some_and(is_guard_stop));
    let is_earlier = |cloid: &Cloid| guard.view.orders_ms.is_none() && guard.order_owners.contains_key(cloid);
    let sent = guard.sent.exits_on_their_way().filter(|cloid| !cloid.as_ref().is_some_and(is_earlier));
    let earlier = guard.order_owners.keys().copied().filter(is_earlier).map(Some);
    fair_part::Resting::count(guard, read.chain(children).chain(sent).chain(earlier))
}

fn is_exit(order: &Resting) -> bool {
    (order.reduce_only || order.is_trigger) && !order.is_guards()
}

/// Whether an order that is asked for may rest and only reduces.
fn rests(order: &Order) -> bool {
    order.reduce_only && !order.tif().is_some_and(Tif::is_immediate)
}

/// How many of them an action adds by its first `orders`, which are the client's.
fn more_of(guard: &Guard, forward: &Action, orders: usize) -> usize {
    let asked = forward.orders().take(orders).filter(|order| rests(order)).count();
    match forward {
        Action::Modify { modify, .. } => asked.saturating_sub(replaced(guard, [&modify.target])),
        Action::BatchModify { modifies, .. } => {
            asked.saturating_sub(replaced(guard, modifies.iter().map(|modify| &modify.target)))
        }
        _ => asked,
    }
}

/// How many of these are such orders already.
fn replaced<'a>(guard: &Guard, targets: impl IntoIterator<Item = &'a Target>) -> usize {
    let oids = targets.into_iter().flat_map(|target| match target {
        Target::Oid(oid) => guard.order(*oid).into_iter().collect::<Vec<_>>(),
        Target::Cloid(cloid) => guard.orders_by_cloid(*cloid).collect(),
    });
    oids.filter(|order| is_exit(order)).map(|order| order.oid).collect::<BTreeSet<_>>().len()
}
