//! The client order ids that clients chose, and whose each of them is: an order under one of them is the bot's.

use crate::base::address::{Address, Cloid};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Client order ids remembered as the clients' own; the oldest is forgotten first.
const MAX_CLIENT_CLOIDS: usize = 10_000;

/// An id and the client that chose it; `None` where an earlier version did not note whose it is.
type Chosen = (Cloid, Option<Address>);

/// The client order ids that clients chose, oldest forgotten first. Two clients may choose the same one: what one of them
/// did under it says nothing of the other.
#[derive(Debug, Default)]
pub(crate) struct ClientCloids {
    order: VecDeque<Chosen>,
    known: BTreeSet<Chosen>,
}

impl ClientCloids {
    pub(crate) fn insert(&mut self, cloid: Cloid, client: Option<Address>) {
        if !self.known.insert((cloid, client)) {
            return;
        }
        self.order.push_back((cloid, client));
        if self.order.len() > MAX_CLIENT_CLOIDS
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    /// The last `count` of them.
    pub(crate) fn last(&self, count: usize) -> Vec<Cloid> {
        self.last_chosen(count).map(|(cloid, _)| *cloid).collect()
    }

    /// The same by the client that chose them, as far as that is known.
    pub(crate) fn last_by_client(&self, count: usize) -> BTreeMap<Address, Vec<Cloid>> {
        let mut by_client: BTreeMap<Address, Vec<Cloid>> = BTreeMap::new();
        for (cloid, client) in self.last_chosen(count).filter_map(|(cloid, client)| Some((*cloid, (*client)?))) {
            by_client.entry(client).or_default().push(cloid);
        }
        by_client
    }

    fn last_chosen(&self, count: usize) -> impl Iterator<Item = &Chosen> {
        self.order.iter().skip(self.order.len().saturating_sub(count))
    }

    /// Whether any client chose it.
    pub(crate) fn contains(&self, cloid: &Cloid) -> bool {
        self.known.range((*cloid, None)..=(*cloid, Some(Address([u8::MAX; 20])))).next().is_some()
    }

    /// Whether this client chose it, or may have.
    pub(crate) fn is_of(&self, cloid: &Cloid, client: Address) -> bool {
        [None, Some(client)].into_iter().any(|whose| self.known.contains(&(*cloid, whose)))
    }
}
