//! The guard's stops on the way to the venue: with the entry that they are for, or after it.

use super::entry::checks::PassedEntry;
use super::entry::entry_cover::Cover;
use super::plan::Post;
use crate::guard::state::guard::Guard;
use crate::venue::action::{Action, Grouping, OrderAction};
use crate::venue::order::{Order, OrderKind, Tif};
use crate::venue::side::Side;

/// The venue refuses a `normalTpsl` group whole that has more than these behind its entry.
const MOST_CHILDREN: usize = 2;

/// Hangs the guard's stops on the entries they are for: as the child of a single entry; in a batch, and on an entry that
/// has all the children it may have, as actions that follow for what fills at once. Entries that rest there are covered
/// when they fill.
pub(crate) fn attach(
    guard: &Guard,
    action: &OrderAction,
    orders: &mut Vec<Order>,
    passed: Vec<Option<PassedEntry>>,
) -> (Grouping, Vec<Post>) {
    let has_room = orders.len() == 1 || (action.grouping == Grouping::NormalTpsl && orders.len() <= MOST_CHILDREN);
    let mut grouping = action.grouping;
    let mut post = Vec::new();
    for (place, passed) in passed.into_iter().enumerate() {
        let cover = passed.map(|passed| passed.cover);
        let (Some(Cover::Attached(stop)), Some(entry)) = (cover, orders.get(place)) else { continue };
        if has_room && grouping != Grouping::PositionTpsl {
            orders.push(stop);
            grouping = Grouping::NormalTpsl;
        } else {
            post.extend(follow_up(guard, entry, place, stop));
        }
    }
    (grouping, post)
}

/// The guard's stop as an action that follows the entry at `place`, where that fills at once. One that rests is covered
/// when it fills: a stop for each that comes in between would pile up.
pub(crate) fn follow_up(guard: &Guard, entry: &Order, place: usize, stop: Order) -> Option<Post> {
    let stop = OrderAction { orders: vec![stop], grouping: Grouping::Na, builder: None };
    fills_at_once(guard, entry).then_some(Post { action: Action::Order(stop), after_place: place })
}

fn fills_at_once(guard: &Guard, order: &Order) -> bool {
    let mid = guard.view.mids.get(&order.asset);
    let crosses = mid.is_some_and(|mid| Side::of(order.is_buy).reaches(order.limit_px, *mid));
    crosses && !matches!(order.kind, OrderKind::Limit(Tif::Alo))
}
