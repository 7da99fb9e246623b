//! Who sent which order, so that a fill has its cause.
//!
//! Every order that goes out has a client order id. The guard's derived ones say themselves which event sent them; who asked for
//! one, and what sent one that a client chose, is kept here for the last ten thousand orders, a thousand over a restart. Where
//! a client used an id again, the order id that the venue answered tells the orders apart, within a life.

use crate::base::address::{Address, Cloid};
use crate::guard::state::own_cloid::{intent_of, is_guard_stop};
use crate::record::book_record::OrderRecord;
use crate::venue::action::Action;
use std::collections::{BTreeMap, VecDeque};

/// Orders that are kept in mind.
const MOST: usize = 10_000;
/// How many of them over a restart.
const MOST_RECORDED: usize = 1_000;

/// What `client` is called where the guard decided itself.
const GUARD: &str = "guard";

/// What sent an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sender {
    seq: u64,
    client: Option<Address>,
}

/// What caused a fill.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Cause {
    /// The event that sent the order.
    pub(crate) intent: Option<u64>,
    /// The client that decided on it.
    pub(crate) client: Option<String>,
}

/// The orders that were sent.
#[derive(Debug, Default)]
pub(crate) struct SentBy {
    by_cloid: BTreeMap<Cloid, Sender>,
    /// In the order in which they were sent.
    order: VecDeque<(Cloid, u64)>,
    by_oid: BTreeMap<u64, Sender>,
}

impl SentBy {
    /// Remembers the orders of an action that an event sends, for a client or again for whom they were sent first.
    pub(crate) fn note(&mut self, seq: u64, client: Option<Address>, action: &Action) {
        let cloids = action.orders().filter_map(|order| order.cloid);
        cloids.filter(|cloid| !is_guard_stop(cloid)).for_each(|cloid| self.insert(cloid, seq, client));
    }

    fn insert(&mut self, cloid: Cloid, seq: u64, client: Option<Address>) {
        let known = self.by_cloid.get(&cloid).and_then(|sender| sender.client);
        self.by_cloid.insert(cloid, Sender { seq, client: client.or(known) });
        self.order.push_back((cloid, seq));
        if self.order.len() > MOST
            && let Some((oldest, seq)) = self.order.pop_front()
            && self.by_cloid.get(&oldest).is_some_and(|sender| sender.seq == seq)
        {
            self.by_cloid.remove(&oldest);
        }
    }

    /// Remembers the order id that the venue gave an order of this event.
    pub(crate) fn note_oid(&mut self, oid: u64, seq: u64, cloid: Option<Cloid>) {
        let Some(cloid) = cloid.filter(|cloid| !is_guard_stop(cloid)) else { return };
        let client = self.by_cloid.get(&cloid).and_then(|sender| sender.client);
        self.by_oid.insert(oid, Sender { seq, client });
        if self.by_oid.len() > MOST {
            self.by_oid.pop_first();
        }
    }

    /// What sent the order of this id and client order id; no event is later than `last_seq`.
    pub(crate) fn cause(&self, oid: u64, cloid: Option<Cloid>, last_seq: u64) -> Cause {
        let of_client = |sender: &Sender| Cause {
            intent: Some(sender.seq),
            client: sender.client.map(|client| client.to_string()),
        };
        if let Some(sender) = self.by_oid.get(&oid) {
            return of_client(sender);
        }
        let Some(cloid) = cloid else { return Cause::default() };
        let derived = intent_of(&cloid).filter(|seq| *seq <= last_seq);
        if is_guard_stop(&cloid) {
            return Cause { intent: derived, client: derived.map(|_| GUARD.to_owned()) };
        }
        self.by_cloid.get(&cloid).map_or(Cause { intent: derived, client: None }, of_client)
    }

    /// The last of them, for the next life.
    pub(crate) fn records(&self) -> Vec<OrderRecord> {
        let newest = self.order.iter().skip(self.order.len().saturating_sub(MOST_RECORDED));
        let sent = newest.filter_map(|(cloid, seq)| {
            let sender = self.by_cloid.get(cloid).filter(|sender| sender.seq == *seq)?;
            Some(OrderRecord { cloid: *cloid, seq: *seq, client: sender.client })
        });
        sent.collect()
    }

    /// Takes in what an earlier life remembered.
    pub(crate) fn restore(&mut self, record: &OrderRecord) {
        self.insert(record.cloid, record.seq, record.client);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::state::own_cloid::{OrderOwner, derived_cloid};

    const CLIENT: Address = Address([1; 20]);

    fn cause(intent: u64, client: Option<&str>) -> Cause {
        Cause { intent: Some(intent), client: client.map(str::to_owned) }
    }

    #[test]
    fn an_order_has_the_event_that_sent_it() {
        let (chosen, named) = (Cloid([7; 16]), derived_cloid(OrderOwner::Client, 4, 0));
        let mut sent = SentBy::default();
        sent.insert(chosen, 3, Some(CLIENT));
        sent.insert(named, 4, Some(CLIENT));
        sent.note_oid(70, 3, Some(chosen));
        // Sent again, and again with the same id in another request.
        sent.insert(named, 6, None);
        sent.insert(chosen, 9, Some(Address([2; 20])));
        let client = CLIENT.to_string();
        assert_eq!(sent.cause(70, Some(chosen), 9), cause(3, Some(&client)), "by the venue's id");
        assert_eq!(sent.cause(71, Some(chosen), 9), cause(9, Some(&Address([2; 20]).to_string())));
        assert_eq!(sent.cause(72, Some(named), 9), cause(6, Some(&client)));
        let own = derived_cloid(OrderOwner::Guard, 5, 1);
        assert_eq!(sent.cause(73, Some(own), 9), cause(5, Some("guard")));
        assert_eq!(sent.cause(73, Some(own), 4), Cause::default(), "of no event that there was");
        assert_eq!(sent.cause(74, None, 9), Cause::default());
        let mut next = SentBy::default();
        sent.records().iter().for_each(|record| next.restore(record));
        assert_eq!(next.cause(72, Some(named), 9), cause(6, Some(&client)));
        assert_eq!(SentBy::default().cause(72, Some(named), 9), cause(4, None), "the event is in the id");
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let mut sent = SentBy::default();
        let cloid = |n: u64| Cloid([[0; 8], n.to_be_bytes()].concat().try_into().unwrap());
        (0..20_001).for_each(|n| sent.insert(cloid(n % 10_001), n, Some(CLIENT)));
        assert_eq!((sent.by_cloid.len(), sent.order.len(), sent.records().len()), (10_000, 10_000, 1_000));
        assert_eq!(sent.cause(1, Some(cloid(0)), 99_999), cause(10_001, Some(&CLIENT.to_string())));
    }
}
