//! Which resting triggers may be of one group: where one of them fills the venue takes the others away, and no read tells which belong
//! together. What this life has sent is known; of what rested before it any two may.

use crate::base::address::Cloid;
use crate::guard::state::view::{Resting, View};
use crate::venue::action::{Action, Grouping, Modify, Target};
use std::collections::VecDeque;

/// Groups that are remembered: beyond these the oldest count as of another life.
const MOST: usize = 4_096;

/// The children of each group that was sent, by their client order ids; an order by itself is a group of one.
#[derive(Debug, Default)]
pub(crate) struct Siblings(VecDeque<Vec<Cloid>>);

impl Siblings {
    /// Takes note of what is about to be sent. What replaces an order stays in its group.
    pub(crate) fn note(&mut self, action: &Action, view: &View) {
        match action {
            Action::Order(action) if action.grouping == Grouping::NormalTpsl => {
                self.add(action.orders.iter().skip(1).filter_map(|child| child.cloid).collect());
            }
            Action::Order(action) => {
                let alone = action.orders.iter().filter(|order| order.is_trigger()).filter_map(|order| order.cloid);
                alone.for_each(|cloid| self.add(vec![cloid]));
            }
            Action::Modify { modify, .. } => self.replace(modify, view),
            Action::BatchModify { modifies, .. } => modifies.iter().for_each(|modify| self.replace(modify, view)),
            _ => {}
        }
    }

    /// Whether one of these may go when the other fills.
    pub(crate) fn may_be(&self, one: &Resting, other: &Resting) -> bool {
        let place = |order: &Resting| order.cloid.and_then(|cloid| self.place(&cloid));
        place(one) == place(other)
    }

    fn place(&self, cloid: &Cloid) -> Option<usize> {
        self.0.iter().rposition(|group| group.contains(cloid))
    }

    fn add(&mut self, group: Vec<Cloid>) {
        if group.is_empty() {
            return;
        }
        self.0.push_back(group);
        let over = self.0.len().saturating_sub(MOST);
        self.0.drain(..over);
    }

    fn replace(&mut self, modify: &Modify, view: &View) {
        let old = match modify.target {
            Target::Cloid(cloid) => Some(cloid),
            Target::Oid(oid) => view.orders.get(&oid).and_then(|order| order.cloid),
        };
        let place = old.and_then(|old| self.place(&old));
        if let (Some(group), Some(cloid)) = (place.and_then(|place| self.0.get_mut(place)), modify.order.cloid)
            && !group.contains(&cloid)
        {
            group.push(cloid);
        }
    }
}
