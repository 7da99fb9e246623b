//! Lets the guard's own stops go once a client's stop at least as tight covers the position.

use rust_decimal::Decimal;

use super::plan::Post;
use crate::guard::state::cover::{self, CoverSize, side_covered};
use crate::guard::state::guard::Guard;
use crate::guard::state::standing_stops::{StandingStop, stops_for};
use crate::venue::action::{Action, Cancel, Grouping};
use crate::venue::order::Order;

/// The cancels of the guard's own stops, each to follow the client's stop that takes their place.
pub(crate) fn own_stops(guard: &Guard, orders: &[Order], grouping: Grouping) -> Vec<Post> {
    let mut freed: Vec<u64> = Vec::new();
    let mut posts = Vec::new();
    if guard.is_account_older() {
        return posts;
    }
    for (place, order) in orders.iter().enumerate() {
        // The child of an entry covers nothing yet.
        let Some(size) = cover::of_order(order, grouping) else { continue };
        // A cancel of this very id may arrive after the stop, and take it.
        if guard.sent.is_cloid_being_cancelled(order.cloid) {
            continue;
        }
        let replaced = replaced_by(guard, order, size, &freed);
        if replaced.is_empty() {
            continue;
        }
        freed.extend(&replaced);
        let cancels = replaced.into_iter().map(|oid| Cancel { asset: order.asset, oid }).collect();
        posts.push(Post { action: Action::Cancel { cancels, fast: false }, after_places: vec![place] });
    }
    posts
}

/// The guard's own stops without which the position keeps the cover that it has, nowhere further from the price, once
/// `new` rests; with what may have filled since it was read. Only what a read has shown to rest keeps it.
fn replaced_by(guard: &Guard, new: &Order, new_size: CoverSize, freed: &[u64]) -> Vec<u64> {
    let side = side_covered(new.is_buy);
    let line = guard.lines.get(new.asset).filter(|line| line.side == side);
    let (Some(line), Some(new_px)) = (line, new.market_stop_px()) else { return Vec::new() };
    // One on the wrong side of the price is refused, or fires at once.
    let mark = guard.view.mark(new.asset).or_else(|| guard.view.price(new.asset));
    if mark.is_none_or(|mark| !side.losing(new_px, mark)) {
        return Vec::new();
    }
    let mut line = line.clone();
    let pending = guard.may_have_filled(new.asset, side);
    let mut standing = stops_for(guard, new.asset, side);
    standing.retain(|stop| stop.shown.is_some_and(|(oid, _)| !freed.contains(&oid)));
    line.tighten(&standing.iter().map(StandingStop::cover).collect::<Vec<_>>(), pending);
    let mut replaced = Vec::new();
    let own: Vec<u64> = standing.iter().filter(|stop| stop.is_own).filter_map(|stop| Some(stop.shown?.0)).collect();
    for oid in own {
        let is_kept =
            |stop: &&StandingStop| stop.shown.is_some_and(|(other, _)| other != oid && !replaced.contains(&other));
        let kept = standing.iter().filter(is_kept).map(StandingStop::cover);
        let kept: Vec<(Decimal, CoverSize)> = kept.chain([(new_px, new_size)]).collect();
        if line.bare(&kept, pending).is_empty() {
            replaced.push(oid);
        }
    }
    replaced
}
