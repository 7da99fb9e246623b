//! Lets the guard's own stops go once a client's stop at least as tight covers the position.

use rust_decimal::Decimal;

use super::plan::Post;
use crate::guard::state::cover::{self, CoverSize, side_covered};
use crate::guard::state::guard::Guard;
use crate::guard::state::view::Resting;
use crate::venue::action::{Action, Cancel, Grouping};
use crate::venue::order::Order;

/// The cancels of the guard's own stops, each to follow the client's stop that takes their place.
pub(crate) fn own_stops(guard: &Guard, orders: &[Order], grouping: Grouping) -> Vec<Post> {
    let mut freed: Vec<u64> = Vec::new();
    let mut posts = Vec::new();
    for (place, order) in orders.iter().enumerate() {
        // The child of an entry covers nothing yet.
        let Some(size) = cover::of_order(order, grouping) else { continue };
        // A cancel of this very id may arrive after the stop, and take it.
        if guard.sent.is_cloid_being_cancelled(order.cloid) {
            continue;
        }
        let replaced = guard.view.orders.values().filter(|own| own.is_guards() && !freed.contains(&own.oid));
        let replaced: Vec<_> = replaced.filter(|own| is_replaced(guard, own, order, size)).collect();
        if replaced.is_empty() {
            continue;
        }
        freed.extend(replaced.iter().map(|own| own.oid));
        let cancels = replaced.into_iter().map(|own| Cancel { asset: own.asset, oid: own.oid }).collect();
        posts.push(Post { action: Action::Cancel { cancels, fast: false }, after_place: place });
    }
    posts
}

/// Whether the position keeps full cover, nowhere further from the price, when `new` rests and `own` is gone.
fn is_replaced(guard: &Guard, own: &Resting, new: &Order, new_size: CoverSize) -> bool {
    let (Some(own_px), Some(new_px)) = (own.stop_px, new.market_stop_px()) else { return false };
    let szi = guard.view.position(own.asset);
    let is_tight = |px: Decimal| !side_covered(own.is_buy).nearer(own_px, px);
    if (new.asset, new.is_buy) != (own.asset, own.is_buy) || !is_tight(new_px) || !cover::covers(own, szi) {
        return false;
    }
    let is_going = |order: &Resting| guard.sent.is_being_cancelled(order.oid, order.cloid);
    let clients = guard.view.orders.values().filter(|order| !order.is_guards() && !is_going(order));
    let clients = clients.filter(|order| order.asset == own.asset && cover::covers(order, szi));
    let clients = clients.filter(|order| order.stop_px.is_some_and(is_tight)).filter_map(cover::of_resting);
    cover::total(clients.chain([new_size]), szi.abs()) >= szi.abs()
}
