//! Lets the guard's own stops go once a client's stop at least as tight covers the position.

use rust_decimal::Decimal;

use super::plan::Post;
use crate::guard::state::guard::Guard;
use crate::guard::state::view::Resting;
use crate::venue::action::{Action, Cancel};
use crate::venue::order::Order;

/// The cancels of the guard's own stops, each to follow the client's stop that takes their place.
pub(crate) fn own_stops(guard: &Guard, orders: &[Order]) -> Vec<Post> {
    let mut freed: Vec<u64> = Vec::new();
    let mut posts = Vec::new();
    for (place, order) in orders.iter().enumerate() {
        let Some(px) = order.market_stop_px() else { continue };
        // A cancel of this very id may arrive after the stop, and take it.
        if guard.pending.is_unseen_going(order.cloid) {
            continue;
        }
        let replaced = guard.view.orders.values().filter(|own| own.is_guards() && !freed.contains(&own.oid));
        let replaced: Vec<_> = replaced.filter(|own| is_replaced(guard, own, order, px)).collect();
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
fn is_replaced(guard: &Guard, own: &Resting, new: &Order, new_px: Decimal) -> bool {
    let Some(own_px) = own.stop_px else { return false };
    let is_tight = |px: Decimal| if own.is_buy { px <= own_px } else { px >= own_px };
    let position = guard.view.position(own.asset);
    let held = if own.is_buy { -position } else { position };
    if (new.asset, new.is_buy) != (own.asset, own.is_buy) || !is_tight(new_px) || held <= Decimal::ZERO {
        return false;
    }
    let whole = |size: Decimal| if size.is_zero() { held } else { size };
    let is_going = |order: &Resting| guard.pending.is_going(order.oid, order.cloid);
    let clients = guard.view.orders.values().filter(|order| !order.is_guards() && !is_going(order));
    let clients = clients.filter(|order| (order.asset, order.is_buy) == (own.asset, own.is_buy));
    let clients = clients.filter(|order| order.stop_px.is_some_and(is_tight)).map(|order| whole(order.size));
    clients.fold(whole(new.size), Decimal::saturating_add) >= held
}
