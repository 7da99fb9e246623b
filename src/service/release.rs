//! What happens once records are on disk, on the journal's own thread: events become visible, clients are answered,
//! sends go out. Where the disk failed none of it happens, and everyone is told.

use crate::base::sync::lock;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crossbeam_channel::Sender;

use super::log;
use super::message::{Message, Reply, Responder};
use super::metrics::Metrics;
use super::ring::Ring;
use super::sender::Sends;
use crate::faults::{Faults, Step};
use crate::guard::{self, Decided, Input, SendAction, SendOutcome};
use crate::journal::JournalError;

/// Refused events kept at most; what the journal itself keeps is bounded by its size.
const MAX_BEHIND: usize = 1000;

/// What waits for records to be on disk.
#[derive(Debug, Default)]
pub(super) struct Release {
    /// The events written.
    pub(super) events: Vec<Event>,
    /// What is released by them, in order.
    pub(super) ready: Vec<Ready>,
}

/// An event, with what is counted of it.
#[derive(Debug)]
pub(super) struct Event {
    /// Its number.
    pub(super) seq: u64,
    /// Its kind.
    pub(super) kind: &'static str,
    /// The event as one line of JSON.
    pub(super) text: String,
    /// How a request was decided, and when that was received.
    pub(super) decided: Option<(Decided, Option<Instant>)>,
}

/// One thing that is ready to happen.
#[derive(Debug)]
pub(super) enum Ready {
    /// A waiting client is answered.
    Answer(Responder, Reply),
    /// An action goes to the senders.
    Send(SendAction),
    /// The last event is on disk.
    Stopped,
}

/// Where released things go.
pub(super) struct Releaser {
    /// The last events.
    pub(super) ring: Arc<Ring>,
    /// The senders' queue.
    pub(super) sends: Sends,
    /// The decision loop.
    pub(super) inbox: Sender<Message>,
    /// Told when the last event is on disk.
    pub(super) stopped: Sender<()>,
    /// Events that the disk refused: they are written ahead of the next ones.
    pub(super) behind: Mutex<Vec<Event>>,
    /// Counts events and decisions.
    pub(super) metrics: Arc<Metrics>,
    /// Makes answers fail, in builds that can.
    pub(super) faults: Faults,
}

impl Releaser {
    /// Releases what waited for a batch.
    pub(super) fn release(&self, release: Release, written: &Result<(), Arc<JournalError>>) {
        let mut behind = lock(&self.behind);
        let mut lines = Vec::new();
        match written.as_ref().map_err(AsRef::as_ref) {
            // What the disk refused before went ahead of this.
            Ok(()) => {
                let written: Vec<Event> = behind.drain(..).chain(release.events).collect();
                lines.extend(written.iter().map(|event| event.text.clone()));
                self.ring.push(written.into_iter().map(|event| self.count(event)));
            }
            Err(JournalError::Disk { .. }) => {
                behind.extend(release.events);
                behind.truncate(MAX_BEHIND);
            }
            // Never to be written.
            Err(JournalError::Line(_) | JournalError::TooLarge { .. }) => {}
        }
        drop(behind);
        let mut is_last = false;
        for ready in release.ready {
            match (ready, written) {
                (Ready::Answer(client, reply), Ok(())) => self.answer(client, reply),
                (Ready::Answer(client, _), Err(error)) => {
                    let body = guard::unrecorded(&error.to_string());
                    self.answer(client, Reply { http_status: 503, body });
                }
                (Ready::Send(action), Ok(())) => self.send(action),
                (Ready::Send(action), Err(error)) => {
                    self.tell(&action, SendOutcome::Unrecorded(error.to_string()));
                }
                // Without a disk there is no last event to wait for.
                (Ready::Stopped, _) => is_last = true,
            }
        }
        // Clients wait for their answers, and nobody for the log, but at the end, when it is written out.
        lines.into_iter().for_each(log::event);
        if is_last {
            // Nobody waits for it where the service goes down otherwise.
            _ = self.stopped.try_send(());
        }
    }

    /// Counts an event that is on disk, and gives what those who poll see.
    fn count(&self, event: Event) -> (u64, String) {
        self.metrics.event(event.seq, event.kind);
        if let Some((decided, received)) = event.decided {
            self.metrics.decision(decided, received);
        }
        (event.seq, event.text)
    }

    /// Answers a client; one that cannot be answered looks its decision up.
    pub(super) fn answer(&self, client: Responder, reply: Reply) {
        if self.faults.pass(Step::Answer).is_ok() {
            client.answer(reply);
        }
    }

    /// Hands an action to the senders.
    pub(super) fn send(&self, action: SendAction) {
        if let Err(action) = self.sends.push(action) {
            self.tell(&action, SendOutcome::NotSent("too many actions wait to be sent".to_owned()));
        }
    }

    fn tell(&self, action: &SendAction, outcome: SendOutcome) {
        let input = Input::Sent { intent: action.intent, index: action.index, outcome };
        // The loop never waits for this thread, so this cannot lock both up.
        let _ = self.inbox.send(Message::Input(input));
    }
}

#[cfg(test)]
mod tests {
    use crossbeam_channel::bounded;

    use super::*;
    use crate::service::sender;

    /// A disk that fails for a moment leaves no gap for those who poll.
    #[test]
    fn events_that_were_refused_show_up_with_the_next_ones() {
        let ring = Arc::new(Ring::default());
        let ((sends, _to_send), (inbox, _messages), (stopped, _told)) = (sender::queues(), bounded(1), bounded(1));
        let (behind, faults) = (Mutex::default(), Faults::default());
        let metrics = Arc::new(Metrics::new(0, "paper"));
        let releaser = Releaser { ring: Arc::clone(&ring), sends, inbox, stopped, behind, metrics, faults };
        let release = |seq: u64, written| {
            let events = vec![Event { seq, kind: "done", text: seq.to_string(), decided: None }];
            releaser.release(Release { events, ready: Vec::new() }, &written);
        };
        let disk = || JournalError::Disk { path: "events".into(), error: std::io::Error::other("full") };
        let failed = || Err(Arc::new(disk()));
        release(1, Ok(()));
        release(2, failed());
        release(3, failed());
        assert!(ring.after(0, 9).ends_with("[1]}"), "{}", ring.after(0, 9));
        release(4, Ok(()));
        assert!(ring.after(0, 9).ends_with("[1,2,3,4]}"), "{}", ring.after(0, 9));
    }
}
