//! What each client may have at work at once: an equal part of the decision loop's inbox, most of which is theirs. What is
//! left is for requests without a client, of which few wait, for kills, questions and the guard's own threads.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::base::address::Address;
use crate::base::sync::lock;
use crate::service::message::INBOX;

/// Signed requests at work at once, of all clients.
const AT_WORK: usize = 768;
const _: () = assert!(AT_WORK < INBOX, "a kill always has room");

/// The requests at work, by client.
#[derive(Debug)]
pub(in crate::service) struct Shares {
    at_work: Mutex<BTreeMap<Address, usize>>,
    each: usize,
}

/// One request at work; done when dropped.
#[derive(Debug)]
pub(super) struct Share {
    shares: Arc<Shares>,
    client: Address,
}

impl Shares {
    /// Equal parts for so many clients.
    #[must_use]
    pub(in crate::service) fn new(clients: usize) -> Self {
        Self { at_work: Mutex::default(), each: AT_WORK.checked_div(clients).unwrap_or(AT_WORK).max(1) }
    }

    /// Marks a request as at work; what a client may have where it has that already.
    pub(super) fn take(self: &Arc<Self>, client: Address) -> Result<Share, usize> {
        let mut at_work = lock(&self.at_work);
        let count = at_work.entry(client).or_default();
        if *count >= self.each {
            return Err(self.each);
        }
        *count = count.saturating_add(1);
        Ok(Share { shares: Arc::clone(self), client })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if let Some(count) = lock(&self.shares.at_work).get_mut(&self.client) {
            *count = count.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_its_part_and_gets_it_back() {
        let shares = Arc::new(Shares::new(4));
        let (one, other) = (Address([1; 20]), Address([2; 20]));
        let mut taken: Vec<Share> = std::iter::from_fn(|| shares.take(one).ok()).take(AT_WORK).collect();
        assert_eq!(taken.len(), AT_WORK / 4);
        assert_eq!(shares.take(one).err(), Some(AT_WORK / 4));
        assert!(shares.take(other).is_ok());
        taken.pop();
        assert!(shares.take(one).is_ok());
    }
}
