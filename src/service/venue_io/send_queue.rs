//! The queues between the journal and the senders: the guard's own actions apart from those of clients.

use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded, select_biased};

use crate::guard::{SendAction, Urgency};

/// Actions that wait for a sender at most, in each queue.
pub(in crate::service) const QUEUE: usize = 256;

/// The ends at which actions are queued.
#[derive(Debug, Clone)]
pub(in crate::service) struct SendQueue {
    own: Sender<Queued>,
    clients: Sender<Queued>,
}

/// An action, and when it came into its queue: the event that names it is on disk since then.
type Queued = (SendAction, Instant);

/// The senders' ends.
#[derive(Debug, Clone)]
pub(in crate::service) struct QueuedSends {
    own: Receiver<Queued>,
    clients: Receiver<Queued>,
}

/// Both ends.
pub(in crate::service) fn queues() -> (SendQueue, QueuedSends) {
    let ((own, own_end), (clients, clients_end)) = (bounded(QUEUE), bounded(QUEUE));
    (SendQueue { own, clients }, QueuedSends { own: own_end, clients: clients_end })
}

impl SendQueue {
    fn queue(&self, urgency: Urgency) -> &Sender<Queued> {
        if urgency == Urgency::Own { &self.own } else { &self.clients }
    }

    /// How many of the guard's own actions and of clients' wait.
    pub(in crate::service) fn lengths(&self) -> [usize; 2] {
        [self.own.len(), self.clients.len()]
    }

    /// Queues an action, or gives it back where there is no room.
    pub(in crate::service) fn push(&self, action: SendAction) -> Result<(), SendAction> {
        self.queue(action.urgency).try_send((action, Instant::now())).map_err(|error| match error {
            TrySendError::Full((action, _)) | TrySendError::Disconnected((action, _)) => action,
        })
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
            recv(self.clients) -> queued => queued.ok(),
        }
    }
}
