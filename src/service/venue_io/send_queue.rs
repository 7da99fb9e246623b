//! The queues between the journal and the senders: the guard's own actions apart from those of clients, and of these each
//! client's apart from the others'. Clients take turns; none can fill more than its part, nor have more than its part of
//! the senders at work: a venue that is slow with one client's orders keeps no other client's exit from leaving.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::base::address::Address;
use crate::base::sync::{lock, look_out};
use crate::guard::{SendAction, Urgency};

/// Actions that wait for a sender at most: of the guard's own, and of all clients in equal parts.
pub(in crate::service) const QUEUE: usize = 256;
/// Senders for clients' actions: a slow answer holds up none of the next few.
const LEAST_SENDERS: usize = 4;
/// However many clients there are.
const MOST_SENDERS: usize = 32;

/// How long a sender stays awake for an action that was announced: what the disk takes, and some.
const AWAKE: Duration = Duration::from_millis(2);

/// How many threads send clients' actions: one at least for each client, so that each has one to itself.
pub(in crate::service) fn client_senders(clients: usize) -> usize {
    clients.clamp(LEAST_SENDERS, MOST_SENDERS)
}

/// The end at which actions are queued. The queue is closed when the last of these is gone.
#[derive(Debug, Clone)]
pub(in crate::service) struct SendQueue {
    queue: Arc<Queue>,
    _open: Arc<Open>,
}

/// The senders' end.
#[derive(Debug, Clone)]
pub(in crate::service) struct QueuedSends(Arc<Queue>);

/// An action, and when it came into its queue: the event that names it is on disk since then.
type Queued = (SendAction, Instant);

#[derive(Debug)]
struct Queue {
    waiting: Mutex<Waiting>,
    /// Something for any sender, and for the one that is kept for the guard's own.
    changed: Condvar,
    own_changed: Condvar,
    /// What one client may have waiting, and at the venue.
    each: usize,
    each_sending: usize,
}

#[derive(Debug, Default)]
struct Waiting {
    own: VecDeque<Queued>,
    /// The first one's turn is next; only who has actions that wait or are sent stands here.
    clients: VecDeque<Turn>,
    is_closed: bool,
    /// An action is about to come.
    is_announced: bool,
    /// Senders that look for it without sleeping.
    awake: usize,
}

/// One client's actions.
#[derive(Debug)]
struct Turn {
    client: Option<Address>,
    waiting: VecDeque<Queued>,
    sending: usize,
}

/// Closes the queue.
#[derive(Debug)]
struct Open(Arc<Queue>);

impl Drop for Open {
    fn drop(&mut self) {
        lock(&self.0.waiting).is_closed = true;
        self.0.changed.notify_all();
        self.0.own_changed.notify_all();
    }
}

/// Both ends, for so many clients.
pub(in crate::service) fn queues(clients: usize) -> (SendQueue, QueuedSends) {
    let queue = Arc::new(Queue {
        waiting: Mutex::default(),
        changed: Condvar::new(),
        own_changed: Condvar::new(),
        each: QUEUE.checked_div(clients).unwrap_or(QUEUE).max(1),
        each_sending: client_senders(clients).checked_div(clients).unwrap_or(LEAST_SENDERS).max(1),
    });
    (SendQueue { queue: Arc::clone(&queue), _open: Arc::new(Open(Arc::clone(&queue))) }, QueuedSends(queue))
}

impl SendQueue {
    /// How many of the guard's own actions and of clients' wait.
    pub(in crate::service) fn lengths(&self) -> [usize; 2] {
        let waiting = lock(&self.queue.waiting);
        [waiting.own.len(), waiting.of_clients()]
    }

    /// Queues an action, or gives it back where there is no room.
    pub(in crate::service) fn push(&self, action: SendAction) -> Result<(), SendAction> {
        let queued = (action, Instant::now());
        let mut waiting = lock(&self.queue.waiting);
        let is_own = queued.0.urgency == Urgency::Own;
        if is_own {
            if waiting.own.len() >= QUEUE {
                return Err(queued.0);
            }
            waiting.own.push_back(queued);
        } else {
            let client = queued.0.client;
            let is_full = waiting.of_clients() >= QUEUE;
            let turn = waiting.clients.iter_mut().find(|turn| turn.client == client);
            if is_full || turn.as_ref().is_some_and(|turn| turn.waiting.len() >= self.queue.each) {
                return Err(queued.0);
            }
            match turn {
                Some(turn) => turn.waiting.push_back(queued),
                None => waiting.clients.push_back(Turn { client, waiting: VecDeque::from([queued]), sending: 0 }),
            }
        }
        let is_looked_for = waiting.own.len() + waiting.of_clients() <= waiting.awake;
        drop(waiting);
        if !is_looked_for {
            self.queue.changed.notify_one();
            is_own.then(|| self.queue.own_changed.notify_one());
        }
        Ok(())
    }

    /// Has a sender awake by the time that an action comes, which waits for the disk alone.
    pub(in crate::service) fn announce(&self) {
        lock(&self.queue.waiting).is_announced = true;
        self.queue.changed.notify_one();
    }
}

impl QueuedSends {
    /// The next action, the guard's own first, or its own alone with `only_own`; `None` once the queues are closed and
    /// empty. [`Self::sent`] is told once it was sent.
    pub(super) fn next(&self, only_own: bool) -> Option<Queued> {
        let mut waiting = lock(&self.0.waiting);
        loop {
            if let Some(queued) = waiting.next(only_own, self.0.each_sending) {
                return Some(queued);
            }
            if waiting.is_closed && (only_own || waiting.of_clients() == 0) {
                return None;
            }
            if !only_own && std::mem::take(&mut waiting.is_announced) {
                waiting.awake += 1;
                drop(waiting);
                let next = look_out(AWAKE, || lock(&self.0.waiting).next_while_awake(self.0.each_sending));
                if next.is_some() {
                    return next;
                }
                waiting = lock(&self.0.waiting);
                waiting.awake -= 1;
                continue;
            }
            let changed = if only_own { &self.0.own_changed } else { &self.0.changed };
            waiting = changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes note that an action is at the venue no more.
    pub(super) fn sent(&self, action: &SendAction) {
        if action.urgency == Urgency::Own {
            return;
        }
        let mut waiting = lock(&self.0.waiting);
        if let Some(turn) = waiting.clients.iter_mut().find(|turn| turn.client == action.client) {
            turn.sending = turn.sending.saturating_sub(1);
        }
        waiting.clients.retain(|turn| turn.sending > 0 || !turn.waiting.is_empty());
        let is_any = waiting.of_clients() > 0;
        drop(waiting);
        if is_any {
            self.0.changed.notify_one();
        }
    }
}

impl Waiting {
    fn of_clients(&self) -> usize {
        self.clients.iter().map(|turn| turn.waiting.len()).sum()
    }

    fn next(&mut self, only_own: bool, each_sending: usize) -> Option<Queued> {
        let own = self.own.pop_front();
        own.or_else(|| if only_own { None } else { self.next_of_clients(each_sending) })
    }

    /// The same for a sender that is awake, and counts as such no more once it has one.
    fn next_while_awake(&mut self, each_sending: usize) -> Option<Queued> {
        let next = self.next(false, each_sending);
        self.awake -= usize::from(next.is_some());
        next
    }

    /// The oldest action of the first client that has not its part at the venue; the turn goes to the next one.
    fn next_of_clients(&mut self, each_sending: usize) -> Option<Queued> {
        let may_send = |turn: &Turn| !turn.waiting.is_empty() && turn.sending < each_sending;
        let mut turn = self.clients.iter().position(may_send).and_then(|place| self.clients.remove(place))?;
        let next = turn.waiting.pop_front();
        turn.sending = turn.sending.saturating_add(1);
        self.clients.push_back(turn);
        next
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::venue::signing::Terms;

    fn action(client: u8, intent: u64, urgency: Urgency) -> SendAction {
        let terms = Terms { nonce: intent, vault: None, expires_after_ms: None };
        let client = (urgency != Urgency::Own).then_some(Address([client; 20]));
        SendAction { intent, index: 0, action: json!({}), terms, batch_len: 1, urgency, client }
    }

    #[test]
    fn clients_take_turns_and_the_guards_own_goes_first() {
        let (queue, queued) = queues(2);
        for intent in 1..=3 {
            queue.push(action(1, intent, Urgency::Exit)).unwrap();
        }
        queue.push(action(2, 11, Urgency::Entry)).unwrap();
        queue.push(action(2, 12, Urgency::Entry)).unwrap();
        queue.push(action(0, 21, Urgency::Own)).unwrap();
        assert_eq!(queue.lengths(), [1, 5]);
        let next = || {
            let (action, _) = queued.next(false).unwrap();
            queued.sent(&action);
            action.intent
        };
        let sent: Vec<u64> = (0..6).map(|_| next()).collect();
        assert_eq!(sent, [21, 1, 11, 2, 12, 3]);
        drop(queue);
        assert!(queued.next(false).is_none() && queued.next(true).is_none());
    }

    #[test]
    fn one_client_fills_its_part_and_another_still_has_room() {
        let (queue, queued) = queues(2);
        let pushed = (0..300).filter(|intent| queue.push(action(1, *intent, Urgency::Exit)).is_ok()).count();
        assert_eq!(pushed, QUEUE / 2);
        assert!(queue.push(action(2, 301, Urgency::Entry)).is_ok());
        assert_eq!([queued.next(false).unwrap().0.intent, queued.next(false).unwrap().0.intent], [0, 301]);
        assert!(queue.push(action(1, 302, Urgency::Exit)).is_ok());
        assert!(queue.push(action(1, 303, Urgency::Exit)).is_err());
    }

    /// An announcement that nothing follows costs a sender a moment, and holds up nothing that comes later.
    #[test]
    fn what_was_announced_is_sent_and_so_is_what_was_not() {
        let (queue, queued) = queues(1);
        std::thread::scope(|scope| {
            let queued = &queued;
            let senders = [true, false, false].map(|only_own| scope.spawn(move || taken(queued, only_own)));
            for intent in 0..300 {
                if intent % 3 > 0 {
                    queue.announce();
                }
                if intent % 3 < 2 {
                    let urgency = if intent % 2 == 0 { Urgency::Own } else { Urgency::Exit };
                    while queue.push(action(1, intent, urgency)).is_err() {
                        std::thread::yield_now();
                    }
                }
            }
            while queue.lengths() != [0, 0] {
                std::thread::yield_now();
            }
            drop(queue);
            let mut sent: Vec<u64> = senders.into_iter().flat_map(|sender| sender.join().unwrap()).collect();
            sent.sort_unstable();
            assert_eq!(sent, (0..300).filter(|intent| intent % 3 < 2).collect::<Vec<u64>>());
        });
    }

    fn taken(queued: &QueuedSends, only_own: bool) -> Vec<u64> {
        let mut taken = Vec::new();
        while let Some((action, _)) = queued.next(only_own) {
            queued.sent(&action);
            taken.push(action.intent);
        }
        taken
    }

    /// Whatever one client has at the venue and waiting, the next sender is another's.
    #[test]
    fn one_client_holds_no_more_than_its_part_of_the_senders() {
        for clients in [1, 2, 3, 9, 40] {
            let (queue, queued) = queues(clients);
            let part = (client_senders(clients) / clients).max(1);
            for intent in 0..6 {
                queue.push(action(1, intent, Urgency::Entry)).unwrap();
            }
            let taken: Vec<SendAction> = (0..part).map(|_| queued.next(false).unwrap().0).collect();
            if clients > 1 {
                queue.push(action(2, 20, Urgency::Exit)).unwrap();
                assert_eq!(queued.next(false).unwrap().0.intent, 20, "{clients}");
            }
            queue.push(action(0, 30, Urgency::Own)).unwrap();
            assert_eq!(queued.next(false).unwrap().0.intent, 30, "{clients}");
            assert!(lock(&queued.0.waiting).next_of_clients(queued.0.each_sending).is_none(), "{clients}");
            // Its next one goes as soon as one of them is answered.
            queued.sent(&taken[0]);
            assert_eq!(queued.next(false).unwrap().0.intent, u64::try_from(part).unwrap(), "{clients}");
        }
    }
}
