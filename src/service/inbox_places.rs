//! The places in the decision loop's inbox. Most are for signed requests, each client's part as large as the others'; what is
//! left is for requests without a client, of which few wait, for kills, questions and the guard's own threads.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::base::address::Address;
use crate::base::sync::lock;

/// Messages that wait for the decision loop at most, beside as many that it has taken out. Whoever sends waits while it is full, but for those who have a
/// client waiting, who answer `busy` instead.
pub(super) const INBOX: usize = 1024;
/// Signed requests among them, of all clients.
const SIGNED: usize = 768;

/// The places that are taken, by client.
#[derive(Debug)]
pub(super) struct InboxPlaces {
    taken: Mutex<BTreeMap<Address, usize>>,
    each: usize,
}

/// One request's place; free again when dropped.
#[derive(Debug)]
pub(super) struct InboxPlace {
    places: Arc<InboxPlaces>,
    client: Address,
}

impl InboxPlaces {
    /// Equal parts for so many clients.
    #[must_use]
    pub(super) fn new(clients: usize) -> Self {
        Self { taken: Mutex::default(), each: SIGNED.checked_div(clients).unwrap_or(SIGNED).max(1) }
    }

    /// Takes a place for a client's request.
    ///
    /// # Errors
    /// How many it may take, where it has taken them.
    pub(super) fn take(self: &Arc<Self>, client: Address) -> Result<InboxPlace, usize> {
        let mut taken = lock(&self.taken);
        let count = taken.entry(client).or_default();
        if *count >= self.each {
            return Err(self.each);
        }
        *count = count.saturating_add(1);
        Ok(InboxPlace { places: Arc::clone(self), client })
    }
}

impl Drop for InboxPlace {
    fn drop(&mut self) {
        if let Some(count) = lock(&self.places.taken).get_mut(&self.client) {
            *count = count.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_its_part_and_gets_it_back() {
        let places = Arc::new(InboxPlaces::new(4));
        let (one, other) = (Address([1; 20]), Address([2; 20]));
        let mut taken: Vec<InboxPlace> = std::iter::from_fn(|| places.take(one).ok()).take(SIGNED).collect();
        assert_eq!(taken.len(), SIGNED / 4);
        assert_eq!(places.take(one).err(), Some(SIGNED / 4));
        assert!(places.take(other).is_ok());
        taken.pop();
        assert!(places.take(one).is_ok());
    }
}
