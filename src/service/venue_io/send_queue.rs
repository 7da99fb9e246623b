//! The queues between the journal and the senders: the guard's own actions apart from those of clients, and of these each
//! client's apart from the others'. Clients take turns, and none can fill more than its part.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded, select_biased};

use crate::base::address::Address;
use crate::base::sync::lock;
use crate::guard::{SendAction, Urgency};

/// Actions that wait for a sender at most: of the guard's own, and of all clients in equal parts.
pub(in crate::service) const QUEUE: usize = 256;

/// The ends at which actions are queued.
#[derive(Debug, Clone)]
pub(in crate::service) struct SendQueue {
    own: Sender<Queued>,
    /// One for each action of a client that waits.
    turns: Sender<()>,
    clients: Arc<Mutex<Turns>>,
    /// What one client may have waiting.
    each: usize,
}

/// An action, and when it came into its queue: the event that names it is on disk since then.
type Queued = (SendAction, Instant);

/// Clients' actions. The first client's turn is next; only who has actions stands here.
type Turns = VecDeque<(Option<Address>, VecDeque<Queued>)>;

/// The senders' ends.
#[derive(Debug, Clone)]
pub(in crate::service) struct QueuedSends {
    own: Receiver<Queued>,
    turns: Receiver<()>,
    clients: Arc<Mutex<Turns>>,
}

/// Both ends, for so many clients.
pub(in crate::service) fn queues(clients: usize) -> (SendQueue, QueuedSends) {
    let ((own, own_end), (turns, turns_end)) = (bounded(QUEUE), bounded(QUEUE));
    let each = QUEUE.checked_div(clients).unwrap_or(QUEUE).max(1);
    let clients = Arc::<Mutex<Turns>>::default();
    let queued = QueuedSends { own: own_end, turns: turns_end, clients: Arc::clone(&clients) };
    (SendQueue { own, turns, clients, each }, queued)
}

impl SendQueue {
    /// How many of the guard's own actions and of clients' wait.
    pub(in crate::service) fn lengths(&self) -> [usize; 2] {
        [self.own.len(), self.turns.len()]
    }

    /// Queues an action, or gives it back where there is no room.
    pub(in crate::service) fn push(&self, action: SendAction) -> Result<(), SendAction> {
        let queued = (action, Instant::now());
        if queued.0.urgency == Urgency::Own {
            return self.own.try_send(queued).map_err(|error| match error {
                TrySendError::Full((action, _)) | TrySendError::Disconnected((action, _)) => action,
            });
        }
        let mut clients = lock(&self.clients);
        let waiting = clients.iter_mut().find(|(client, _)| *client == queued.0.client);
        if waiting.as_ref().is_some_and(|(_, waiting)| waiting.len() >= self.each) || self.turns.try_send(()).is_err() {
            return Err(queued.0);
        }
        match waiting {
            Some((_, waiting)) => waiting.push_back(queued),
            None => clients.push_back((queued.0.client, VecDeque::from([queued]))),
        }
        Ok(())
    }
}

impl QueuedSends {
    /// The next action, the guard's own first, or its own alone with `only_own`; `None` once the queues are closed.
    pub(super) fn next(&self, only_own: bool) -> Option<Queued> {
        if only_own {
            return self.own.recv().ok();
        }
        select_biased! {
            recv(self.own) -> queued => queued.ok(),
            recv(self.turns) -> turn => turn.ok().and_then(|()| self.next_of_clients()),
        }
    }

    /// The oldest action of the client whose turn it is; there is one for each turn that was taken.
    fn next_of_clients(&self) -> Option<Queued> {
        let mut clients = lock(&self.clients);
        let (client, mut waiting) = clients.pop_front()?;
        let next = waiting.pop_front();
        if !waiting.is_empty() {
            clients.push_back((client, waiting));
        }
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
        let sent: Vec<u64> = (0..6).map(|_| queued.next(false).unwrap().0.intent).collect();
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
}
