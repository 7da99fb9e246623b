//! The guard's stops that follow entries which fill at once: one for each side of a market, however many entries of a
//! request it is for. One after the other they would leave the last entries bare for as long as the venue takes for all.

use super::plan::Post;
use crate::guard::state::cover::side_covered;
use crate::guard::state::guard::Guard;
use crate::venue::action::{Action, Grouping, OrderAction};
use crate::venue::order::{Order, OrderKind, Tif};
use crate::venue::side::Side;

/// The stops that follow a request.
#[derive(Debug, Default)]
pub(crate) struct FollowingStops(Vec<(Order, Vec<usize>)>);

impl FollowingStops {
    /// Takes in the stop of the entry at `place`, where that fills at once; says whether it did. One that rests is covered
    /// when it fills: a stop for each that comes in between would pile up.
    pub(crate) fn add(&mut self, guard: &Guard, entry: &Order, place: usize, stop: &Order) -> bool {
        if !fills_at_once(guard, entry) {
            return false;
        }
        match self.0.iter_mut().find(|(other, _)| is_alike(other, stop)) {
            Some((one, places)) => {
                let size = one.size.saturating_add(stop.size);
                let is_nearer = one
                    .market_stop_px()
                    .zip(stop.market_stop_px())
                    .is_some_and(|(old, new)| side_covered(stop.is_buy).nearer(new, old));
                if is_nearer {
                    *one = stop.clone();
                }
                one.size = size;
                places.push(place);
            }
            None => self.0.push((stop.clone(), vec![place])),
        }
        true
    }

    /// Whether the entry at `place` is among those that one follows.
    pub(crate) fn holds(&self, place: usize) -> bool {
        self.0.iter().any(|(_, places)| places.contains(&place))
    }

    /// The stop that follows in the place of `stop`: the nearest of all for that side.
    pub(crate) fn of(&self, stop: &Order) -> Option<&Order> {
        self.0.iter().map(|(one, _)| one).find(|one| is_alike(one, stop))
    }

    /// Each as an action, sent if any of its entries was accepted.
    pub(crate) fn into_posts(self) -> impl Iterator<Item = Post> {
        self.0.into_iter().map(|(stop, after_places)| {
            let stop = OrderAction { orders: vec![stop], grouping: Grouping::Na, builder: None };
            Post { action: Action::Order(stop), after_places }
        })
    }
}

fn is_alike(one: &Order, other: &Order) -> bool {
    (one.asset, one.is_buy) == (other.asset, other.is_buy)
}

fn fills_at_once(guard: &Guard, order: &Order) -> bool {
    let mid = guard.view.mids.get(&order.asset);
    let crosses = mid.is_some_and(|mid| Side::of(order.is_buy).reaches(order.limit_px, *mid));
    crosses && !matches!(order.kind, OrderKind::Limit(Tif::Alo))
}
