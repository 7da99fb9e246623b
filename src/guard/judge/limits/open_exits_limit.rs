//! `open_exits_limit`: reduce-only orders that rest. The venue takes 1000 open orders from an account, and the guard's own
//! stops must find room among them. What fills at once or not at all always passes. The children of an entry count from
//! when they are asked for: they rest once it has filled.

use crate::base::address::Address;
use crate::guard::code::Code;
use crate::guard::judge::plan::Plan;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;
use crate::guard::state::own_cloid::is_guard_stop;
use crate::guard::state::view::Resting;
use crate::venue::action::{Action, Target};
use crate::venue::order::{Order, Tif};
use std::collections::{BTreeMap, BTreeSet};

/// Of one client.
const OF_CLIENT: usize = 100;
/// Of all of them together.
const OF_ACCOUNT: usize = 200;

/// Refuses a plan that would leave too many of them. Half of the account's go to whoever comes; the other half is kept,
/// in equal parts, for whoever has not come yet.
pub(crate) fn check(guard: &Guard, client: Address, plan: &Plan) -> Result<(), Veto> {
    let asked = plan.clients_parts().map(|(part, orders)| more_of(guard, part, orders));
    let more = asked.fold(0, usize::saturating_add);
    if more == 0 {
        return Ok(());
    }
    let exits = Exits::of(guard);
    let own = exits.of_client(client);
    let count = own.saturating_add(more);
    if count > OF_CLIENT {
        return Err(refusal((own, more, OF_CLIENT), "of this client", ""));
    }
    let clients = &guard.config.clients;
    let part = OF_ACCOUNT.checked_div(clients.len().saturating_mul(2)).unwrap_or_default();
    if clients.len() > 1 && count <= part {
        // Its own part, whoevers the others are.
        return Ok(());
    }
    let others = clients.iter().filter(|other| **other != client);
    let kept = others.map(|other| part.saturating_sub(exits.of_client(*other))).fold(0, usize::saturating_add);
    if exits.all.saturating_add(more).saturating_add(kept) > OF_ACCOUNT {
        let for_others = if kept > 0 { format!(", of which {kept} are kept for other clients") } else { String::new() };
        return Err(refusal((exits.all, more, OF_ACCOUNT), "of all clients", &for_others));
    }
    Ok(())
}

/// Refuses what one request has too much of, before anything of it is looked at: what asks for far more than may rest must
/// cost little.
pub(crate) fn refuse_excess(orders: &[Order], refused: &mut [Option<Veto>]) {
    let asked = orders.iter().filter(|order| rests(order)).count();
    let resting = orders.iter().zip(refused).filter(|(order, _)| rests(order));
    for (_, refused) in resting.skip(OF_CLIENT) {
        refused.get_or_insert_with(|| refusal((0, asked, OF_CLIENT), "of this request", ""));
    }
}

fn refusal((open, more, limit): (usize, usize, usize), whose: &str, kept: &str) -> Veto {
    let text = format!(
        "{open} reduce-only orders {whose} rest and {more} more are over {limit}{kept}; cancel some first, or send them \
         to fill at once (Ioc)"
    );
    Veto::new(Code::OpenExitsLimit, text).with(&limit, &open.saturating_add(more))
}

/// Reduce-only orders that rest or may come to, the children of entries too.
struct Exits {
    all: usize,
    /// Of those whose client is known.
    by_client: BTreeMap<Address, usize>,
}

impl Exits {
    fn of(guard: &Guard) -> Self {
        let read = guard.view.orders.values().filter(|order| is_exit(order)).map(|order| order.cloid);
        let children = guard.view.orders.values().flat_map(|order| &order.order.children).map(|child| child.cloid);
        let children = children.filter(|cloid| !cloid.as_ref().is_some_and(is_guard_stop));
        let mut exits = Self { all: 0, by_client: BTreeMap::new() };
        for cloid in read.chain(children).chain(guard.sent.exits_on_their_way()) {
            exits.all = exits.all.saturating_add(1);
            if let Some(client) = cloid.and_then(|cloid| guard.exit_owners.get(&cloid)) {
                let count = exits.by_client.entry(*client).or_default();
                *count = count.saturating_add(1);
            }
        }
        exits
    }

    fn of_client(&self, client: Address) -> usize {
        self.by_client.get(&client).copied().unwrap_or_default()
    }
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
