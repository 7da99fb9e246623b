//! `open_exits_limit`: reduce-only orders that rest. The venue takes 1000 open orders from an account, and the guard's own
//! stops must find room among them. What fills at once or not at all always passes.

use crate::base::address::Address;
use crate::guard::code::Code;
use crate::guard::judge::plan::Plan;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;
use crate::guard::state::view::Resting;
use crate::venue::action::{Action, Grouping, Target};
use crate::venue::order::{Order, Tif};
use std::collections::BTreeSet;

/// Of one client.
const OF_CLIENT: usize = 100;
/// Of all of them together.
const OF_ACCOUNT: usize = 200;

/// Refuses a plan that would leave too many of them.
pub(crate) fn check(guard: &Guard, client: Address, plan: &Plan) -> Result<(), Veto> {
    let more = plan.parts().map(|part| more_of(guard, part, plan.is_entry)).fold(0, usize::saturating_add);
    let resting = Exits::of(guard, client);
    for (whose, open, limit) in
        [("of this client", resting.of_client, OF_CLIENT), ("of all clients", resting.of_account, OF_ACCOUNT)]
    {
        let count = open.saturating_add(more);
        if more > 0 && count > limit {
            let text = format!(
                "{open} reduce-only orders {whose} rest and {more} more are over {limit}; cancel some first, or send \
                 them to fill at once (Ioc)"
            );
            return Err(Veto::new(Code::OpenExitsLimit, text).with(&limit, &count));
        }
    }
    Ok(())
}

/// Reduce-only orders that rest or may come to.
struct Exits {
    of_client: usize,
    of_account: usize,
}

impl Exits {
    fn of(guard: &Guard, client: Address) -> Self {
        let read = guard.view.orders.values().filter(|order| is_exit(order)).map(|order| order.cloid);
        let sent = guard.sent.exits_on_their_way();
        let cloids: Vec<_> = read.chain(sent).collect();
        let is_own = |cloid: &Option<_>| cloid.is_some_and(|cloid| guard.exit_owners.get(&cloid) == Some(&client));
        Self { of_client: cloids.iter().filter(|cloid| is_own(cloid)).count(), of_account: cloids.len() }
    }
}

fn is_exit(order: &Resting) -> bool {
    (order.reduce_only || order.is_trigger) && !order.is_guards()
}

/// Whether an order that is asked for may rest and only reduces.
fn rests(order: &Order) -> bool {
    order.reduce_only && !order.tif().is_some_and(Tif::is_immediate)
}

/// How many of them an action adds. `is_entry` says that stops in a group hang on an entry.
fn more_of(guard: &Guard, forward: &Action, is_entry: bool) -> usize {
    let asked = forward.orders().filter(|order| rests(order)).count();
    match forward {
        // They hang on an entry, and entries are counted.
        Action::Order(orders) if is_entry && orders.grouping == Grouping::NormalTpsl => 0,
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
