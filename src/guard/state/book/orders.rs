//! Who sent which order, so that a fill has its cause.
//!
//! Every order that goes out has a client order id. The guard's derived ones say themselves which event sent them; who asked for
//! one, and what sent one that a client chose, is kept here for the last ten thousand orders, a thousand over a restart, and for
//! those that still rest at the venue. Where a client used an id again, the order id that the venue answered tells the orders
//! apart, within a life.

use crate::base::address::{Address, Cloid};
use crate::guard::state::own_cloid::{intent_of, is_guard_stop};
use crate::record::book_record::OrderRecord;
use crate::venue::action::Action;
use std::collections::{BTreeMap, VecDeque};

/// Orders that are kept in mind.
const MOST: usize = 10_000;
/// How many of them over a restart, and all that rest.
const MOST_RECORDED: u64 = 1_000;
/// One that rested is kept until so many others were sent since: its fill may be told late. An account has fewer open orders
/// than are left beside these.
const AFTER_REST: u64 = 4_000;
/// What rests is looked at so often.
const LOOK_MS: u64 = 10_000;

/// What `client` is called where the guard decided itself.
const GUARD: &str = "guard";

/// What sent an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sender {
    seq: u64,
    client: Option<Address>,
}

/// An order that was sent.
#[derive(Debug, Clone, Copy)]
struct Sent {
    sender: Sender,
    /// How many had been sent then.
    at: u64,
    /// The same of when it was last seen to rest.
    rested_at: u64,
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
    by_cloid: BTreeMap<Cloid, Sent>,
    /// In the order in which they go.
    order: VecDeque<(Cloid, u64)>,
    by_oid: BTreeMap<u64, Sender>,
    /// How many were ever kept in mind.
    count: u64,
    /// How many had been when it was last looked at what rests, and when that was.
    looked_at: u64,
    looked_ms: Option<u64>,
}

impl SentBy {
    /// Remembers the orders of an action that an event sends, for a client or again for whom they were sent first.
    pub(crate) fn note(&mut self, seq: u64, client: Option<Address>, action: &Action) {
        let cloids = action.orders().filter_map(|order| order.cloid);
        cloids.filter(|cloid| !is_guard_stop(cloid)).for_each(|cloid| self.insert(cloid, seq, client));
    }

    fn insert(&mut self, cloid: Cloid, seq: u64, client: Option<Address>) {
        let known = self.by_cloid.get(&cloid).and_then(|sent| sent.sender.client);
        self.count = self.count.saturating_add(1);
        let sender = Sender { seq, client: client.or(known) };
        self.by_cloid.insert(cloid, Sent { sender, at: self.count, rested_at: self.count });
        self.order.push_back((cloid, seq));
        if self.order.len() > MOST {
            self.forget_one();
        }
    }

    /// Forgets the oldest one that does not rest; where all do, the oldest.
    fn forget_one(&mut self) {
        for _ in 0..self.order.len() {
            let Some((oldest, seq)) = self.order.pop_front() else { return };
            let sent = self.by_cloid.get(&oldest).filter(|sent| sent.sender.seq == seq);
            match sent.map(|sent| self.count.saturating_sub(sent.rested_at)) {
                Some(since) if since < AFTER_REST => self.order.push_back((oldest, seq)),
                Some(_) => {
                    self.by_cloid.remove(&oldest);
                    return;
                }
                None => return,
            }
        }
        if let Some((oldest, _)) = self.order.pop_front() {
            self.by_cloid.remove(&oldest);
        }
    }

    /// Whether it is time to look at what rests.
    pub(crate) fn is_look_due(&self, now_ms: u64) -> bool {
        self.looked_ms.is_none_or(|looked_ms| now_ms.abs_diff(looked_ms) >= LOOK_MS)
    }

    /// Takes note of what rests at the venue.
    pub(crate) fn look(&mut self, resting: impl Iterator<Item = Cloid>, now_ms: u64) {
        (self.looked_at, self.looked_ms) = (self.count, Some(now_ms));
        for cloid in resting {
            if let Some(sent) = self.by_cloid.get_mut(&cloid) {
                sent.rested_at = self.count;
            }
        }
    }

    /// Remembers the order id that the venue gave an order of this event.
    pub(crate) fn note_oid(&mut self, oid: u64, seq: u64, cloid: Option<Cloid>) {
        let Some(cloid) = cloid.filter(|cloid| !is_guard_stop(cloid)) else { return };
        let client = self.by_cloid.get(&cloid).and_then(|sent| sent.sender.client);
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
        let sent = self.by_cloid.get(&cloid);
        sent.map_or(Cause { intent: derived, client: None }, |sent| of_client(&sent.sender))
    }

    /// The last of them and those that rest, for the next life; all of them where nobody has seen yet what rests.
    pub(crate) fn records(&self) -> Vec<OrderRecord> {
        let sent = self.order.iter().filter_map(|(cloid, seq)| {
            let sent = self.by_cloid.get(cloid).filter(|sent| sent.sender.seq == *seq)?;
            let is_kept = self.count.saturating_sub(sent.at) < MOST_RECORDED || sent.rested_at >= self.looked_at;
            is_kept.then_some(OrderRecord { cloid: *cloid, seq: *seq, client: sent.sender.client })
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
        assert_eq!((sent.by_cloid.len(), sent.order.len(), sent.records().len()), (10_000, 10_000, 10_000));
        sent.look(std::iter::empty(), 1);
        assert_eq!(sent.records().len(), 1_000);
        assert_eq!(sent.cause(1, Some(cloid(0)), 99_999), cause(10_001, Some(&CLIENT.to_string())));
        // Nor does it grow where all of them rest.
        (20_001..20_005).for_each(|n| {
            sent.look((0..=n).map(cloid), n);
            sent.insert(cloid(n), n, Some(CLIENT));
        });
        assert_eq!((sent.by_cloid.len(), sent.order.len()), (10_000, 10_000));
    }
}
