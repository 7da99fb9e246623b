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
/// The bodies of those together: read, a long one takes twenty times its length.
const SIGNED_BYTES: usize = 1024 * 1024;

/// The places that are taken, by client.
#[derive(Debug)]
pub(super) struct InboxPlaces {
    taken: Mutex<BTreeMap<Address, Taken>>,
    /// Each client's part.
    each: Taken,
}

/// Requests, and the length of their bodies.
#[derive(Debug, Clone, Copy, Default)]
struct Taken {
    requests: usize,
    bytes: usize,
}

/// One request's place; free again when dropped.
#[derive(Debug)]
pub(super) struct InboxPlace {
    places: Arc<InboxPlaces>,
    client: Address,
    bytes: usize,
}

impl InboxPlaces {
    /// Equal parts for so many clients.
    #[must_use]
    pub(super) fn new(clients: usize) -> Self {
        let part = |of: usize| of.checked_div(clients).unwrap_or(of).max(1);
        Self { taken: Mutex::default(), each: Taken { requests: part(SIGNED), bytes: part(SIGNED_BYTES) } }
    }

    /// Takes a place for a client's request with a body of so many bytes. One alone has a place however long it is.
    ///
    /// # Errors
    /// How much of what it may take, where it has taken that.
    pub(super) fn take(self: &Arc<Self>, client: Address, bytes: usize) -> Result<InboxPlace, (usize, &'static str)> {
        let mut all = lock(&self.taken);
        let taken = all.entry(client).or_default();
        if taken.requests >= self.each.requests {
            return Err((self.each.requests, "requests that wait"));
        }
        if taken.requests > 0 && taken.bytes.saturating_add(bytes) > self.each.bytes {
            return Err((self.each.bytes, "bytes of requests that wait"));
        }
        *taken = Taken { requests: taken.requests.saturating_add(1), bytes: taken.bytes.saturating_add(bytes) };
        Ok(InboxPlace { places: Arc::clone(self), client, bytes })
    }
}

impl Drop for InboxPlace {
    fn drop(&mut self) {
        if let Some(taken) = lock(&self.places.taken).get_mut(&self.client) {
            taken.requests = taken.requests.saturating_sub(1);
            taken.bytes = taken.bytes.saturating_sub(self.bytes);
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
        let mut taken: Vec<InboxPlace> = std::iter::from_fn(|| places.take(one, 700).ok()).take(SIGNED).collect();
        assert_eq!(taken.len(), SIGNED / 4);
        assert_eq!(places.take(one, 0).err(), Some((SIGNED / 4, "requests that wait")));
        assert!(places.take(other, 700).is_ok());
        taken.pop();
        assert!(places.take(one, 700).is_ok());
    }

    #[test]
    fn what_waits_is_bounded_by_its_length_and_one_always_has_a_place() {
        let places = Arc::new(InboxPlaces::new(2));
        let [one, other, third] = [1, 2, 3].map(|byte| Address([byte; 20]));
        let part = SIGNED_BYTES / 2;
        let full = |refused: Result<InboxPlace, _>| refused.err() == Some((part, "bytes of requests that wait"));
        let (first, rest) = (places.take(one, part - 1).unwrap(), places.take(one, 1).unwrap());
        assert!(full(places.take(one, 1)));
        drop(rest);
        assert!(full(places.take(one, 2)) && places.take(one, 1).is_ok());
        drop(first);
        assert!(places.take(one, part).is_ok());
        let long = places.take(other, 10 * part).unwrap();
        assert!(full(places.take(other, 0)));
        drop(long);
        assert!(places.take(other, 0).is_ok() && places.take(third, 0).is_ok());
    }
}
