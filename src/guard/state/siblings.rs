//! Which resting triggers may be of one group: where one of them fills the venue takes the others away, and no read tells which belong
//! together. What this life has sent is known; of what rested before it any two may.

use crate::base::address::Cloid;
use crate::guard::state::view::Resting;
use crate::venue::action::{Action, Grouping, Modify, Target};
use std::collections::VecDeque;

/// Groups that are remembered, and ids of one: beyond these the oldest count as of another life.
const MOST: usize = 1_024;
const MOST_IDS: usize = 64;

/// The children of each group that was sent, by their client order ids; an order by itself is a group of one.
#[derive(Debug, Default)]
pub(crate) struct Siblings {
    groups: VecDeque<Vec<Cloid>>,
    /// What is not known may be of one that was.
    has_forgotten: bool,
}

impl Siblings {
    /// Takes note of what is about to be sent. What replaces an order stays in its group; `cloid_of` says which id an order has.
    pub(crate) fn note(&mut self, action: &Action, cloid_of: impl Fn(u64) -> Option<Cloid>) {
        match action {
            Action::Order(action) if action.grouping == Grouping::NormalTpsl => {
                self.add(action.orders.iter().skip(1).filter_map(|child| child.cloid).collect());
            }
            Action::Order(action) => {
                let alone = action.orders.iter().filter(|order| order.is_trigger()).filter_map(|order| order.cloid);
                alone.for_each(|cloid| self.add(vec![cloid]));
            }
            Action::Modify { modify, .. } => self.replace(modify, &cloid_of),
            Action::BatchModify { modifies, .. } => modifies.iter().for_each(|modify| self.replace(modify, &cloid_of)),
            _ => {}
        }
    }

    /// Whether one of these may go when the other fills.
    pub(crate) fn may_be(&self, one: &Resting, other: &Resting) -> bool {
        let place = |order: &Resting| order.cloid.and_then(|cloid| self.place(&cloid));
        match (place(one), place(other)) {
            (Some(one), Some(other)) => one == other,
            (None, None) => true,
            // All of a group that this life has sent is known.
            _ => self.has_forgotten,
        }
    }

    fn place(&self, cloid: &Cloid) -> Option<usize> {
        self.groups.iter().rposition(|group| group.contains(cloid))
    }

    fn add(&mut self, mut group: Vec<Cloid>) {
        if group.is_empty() {
            return;
        }
        self.has_forgotten |= group.len() > MOST_IDS || self.groups.len() >= MOST;
        group.truncate(MOST_IDS);
        self.groups.push_back(group);
        let over = self.groups.len().saturating_sub(MOST);
        self.groups.drain(..over);
    }

    fn replace(&mut self, modify: &Modify, cloid_of: impl Fn(u64) -> Option<Cloid>) {
        let old = match modify.target {
            Target::Cloid(cloid) => Some(cloid),
            Target::Oid(oid) => cloid_of(oid),
        };
        let place = old.and_then(|old| self.place(&old));
        if let (Some(group), Some(cloid)) = (place.and_then(|place| self.groups.get_mut(place)), modify.order.cloid)
            && !group.contains(&cloid)
        {
            group.push(cloid);
            let over = group.len().saturating_sub(MOST_IDS);
            group.drain(..over);
            self.has_forgotten |= over > 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: usize) -> Cloid {
        let mut bytes = [0; 16];
        bytes[8..].copy_from_slice(&number.to_be_bytes());
        Cloid(bytes)
    }

    #[test]
    fn so_many_are_remembered_and_what_is_forgotten_is_known_to_be() {
        let mut siblings = Siblings::default();
        (0..MOST).for_each(|number| siblings.add(vec![id(number)]));
        assert!(siblings.place(&id(0)).is_some() && !siblings.has_forgotten);
        siblings.add(vec![id(MOST)]);
        assert!(siblings.place(&id(0)).is_none() && siblings.has_forgotten);
        let mut siblings = Siblings::default();
        siblings.add((0..MOST_IDS).map(id).collect());
        assert!(siblings.place(&id(MOST_IDS - 1)).is_some() && !siblings.has_forgotten);
        siblings.add((0..=MOST_IDS).map(id).collect());
        assert!(siblings.place(&id(MOST_IDS)).is_none() && siblings.has_forgotten);
    }
}
