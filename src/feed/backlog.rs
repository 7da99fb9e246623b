//! Frames that wait while the account is read: what happened meanwhile must be taken in after what was read.

use std::collections::VecDeque;

use crate::venue::stream::data::Data;
use crate::venue::stream::topic::{AccountFeed, Topic};

/// Most text of the frames that wait.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The frames that wait, oldest first.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    waiting: VecDeque<(Data, usize)>,
    bytes: usize,
}

impl Backlog {
    /// Keeps a frame. A state replaces the one before. Whether there was room for it.
    pub(super) fn push(&mut self, data: Data, bytes: usize) -> bool {
        let topic = data.topic();
        if is_state(&topic)
            && let Some(index) = self.waiting.iter().position(|(held, _)| held.topic() == topic)
            && let Some((_, held)) = self.waiting.remove(index)
        {
            self.bytes = self.bytes.saturating_sub(held);
        }
        // A short text still takes the room of what is made of it.
        let bytes = bytes.max(size_of::<Data>());
        self.bytes = self.bytes.saturating_add(bytes);
        self.waiting.push_back((data, bytes));
        self.bytes <= MAX_BYTES
    }

    /// Gives all of them, oldest first.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Data> {
        self.bytes = 0;
        std::mem::take(&mut self.waiting).into_iter().map(|(data, _)| data)
    }
}

/// Whether each frame holds all that the last one did.
fn is_state(topic: &Topic) -> bool {
    use AccountFeed::{Account, OpenOrders, Spot, WebData};
    matches!(topic, Topic::Account(Account | OpenOrders | Spot | WebData))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::address::Address;

    const ACCOUNT: Address = Address([1; 20]);

    #[test]
    fn the_newest_state_and_every_event_wait_in_order() {
        let mut backlog = Backlog::default();
        let (orders, updates) = (Data::OpenOrders(ACCOUNT, Vec::new()), Data::OrderUpdates(Vec::new()));
        for data in [&updates, &orders, &updates, &orders] {
            assert!(backlog.push(data.clone(), 10));
        }
        assert_eq!(backlog.drain().collect::<Vec<_>>(), [updates.clone(), updates, orders]);
        assert_eq!(backlog.drain().count(), 0);
    }

    #[test]
    fn what_waits_is_bounded() {
        let mut backlog = Backlog::default();
        let updates = || Data::OrderUpdates(Vec::new());
        assert!(backlog.push(updates(), MAX_BYTES));
        assert!(!backlog.push(updates(), 0));
        backlog.drain().for_each(drop);
        let most = MAX_BYTES / size_of::<Data>();
        assert!((0..most).all(|_| backlog.push(updates(), 1)) && !backlog.push(updates(), 1));
        // States do not pile up.
        let mut backlog = Backlog::default();
        assert!((0..9).all(|_| backlog.push(Data::OpenOrders(ACCOUNT, Vec::new()), MAX_BYTES)));
    }
}
