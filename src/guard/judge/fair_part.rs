//! A limit on orders that rest, which clients share: half of it goes to whoever comes, and the other half is kept, in equal
//! parts, for those that have not used theirs. One client alone has all of it.

use crate::base::address::{Address, Cloid};
use crate::guard::state::guard::Guard;
use std::collections::BTreeMap;

/// The orders of one kind that rest or may come to.
pub(crate) struct Resting {
    pub(crate) all: usize,
    /// Of those whose client is known.
    by_client: BTreeMap<Address, usize>,
}

impl Resting {
    /// Counts them, by their client order ids.
    pub(crate) fn count(guard: &Guard, cloids: impl Iterator<Item = Option<Cloid>>) -> Self {
        let mut counted = Self { all: 0, by_client: BTreeMap::new() };
        for cloid in cloids {
            counted.all = counted.all.saturating_add(1);
            if let Some(client) = cloid.and_then(|cloid| guard.order_owners.get(&cloid)) {
                let count = counted.by_client.entry(*client).or_default();
                *count = count.saturating_add(1);
            }
        }
        counted
    }

    pub(crate) fn of_client(&self, client: Address) -> usize {
        self.by_client.get(&client).copied().unwrap_or_default()
    }

    /// How many of `limit` are kept for other clients than this one.
    pub(crate) fn kept_for_others(&self, guard: &Guard, client: Address, limit: usize) -> usize {
        let others = guard.config.clients.iter().filter(|other| **other != client);
        let part = part(guard, limit);
        others.map(|other| part.saturating_sub(self.of_client(*other))).fold(0, usize::saturating_add)
    }
}

/// What is each client's own: one at least, where there is one for each.
pub(crate) fn part(guard: &Guard, limit: usize) -> usize {
    let clients = guard.config.clients.len();
    let half = limit.checked_div(clients.saturating_mul(2)).unwrap_or_default();
    half.max(usize::from(clients > 0 && clients <= limit))
}

/// What a refusal says of what is kept for others.
pub(crate) fn told(kept: usize) -> String {
    if kept == 0 { String::new() } else { format!(", of which {kept} are kept for other clients") }
}
