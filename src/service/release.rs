//! What happens once records are on disk, on the journal's own thread: events become visible, clients are answered,
//! sends go out. Where the disk failed none of it happens, and everyone is told.

use std::sync::Arc;

use crossbeam_channel::Sender;
use serde_json::json;

use super::log;
use super::message::{Message, Reply, Responder};
use super::ring::Ring;
use super::sender::Sends;
use crate::guard::{Input, SendAction, SendOutcome};
use crate::journal::JournalError;

/// What waits for records to be on disk.
#[derive(Debug, Default)]
pub(super) struct Release {
    /// The events written, by number.
    pub(super) events: Vec<(u64, String)>,
    /// What is released by them, in order.
    pub(super) ready: Vec<Ready>,
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
}

impl Releaser {
    /// Releases what waited for a batch.
    pub(super) fn release(&self, release: Release, written: &Result<(), Arc<JournalError>>) {
        if written.is_ok() {
            release.events.iter().for_each(|(_, text)| log::event(text));
            self.ring.push(release.events);
        }
        for ready in release.ready {
            match (ready, written) {
                (Ready::Answer(client, reply), Ok(())) => client.answer(reply),
                (Ready::Answer(client, _), Err(error)) => client.answer(unrecorded(error)),
                (Ready::Send(action), Ok(())) => self.send(action),
                (Ready::Send(action), Err(error)) => {
                    self.not_sent(&action, format!("the decision could not be written: {error}"));
                }
                // Without a disk there is no last event to wait for.
                (Ready::Stopped, _) => drop(self.stopped.try_send(())),
            }
        }
    }

    /// Hands an action to the senders.
    pub(super) fn send(&self, action: SendAction) {
        if let Err(action) = self.sends.push(action) {
            self.not_sent(&action, "too many actions wait to be sent".to_owned());
        }
    }

    fn not_sent(&self, action: &SendAction, reason: String) {
        let outcome = SendOutcome::NotSent(reason);
        let input = Input::Sent { intent: action.intent, index: action.index, outcome };
        // The loop never waits for this thread, so this cannot lock both up.
        let _ = self.inbox.send(Message::Input(input));
    }
}

fn unrecorded(error: &JournalError) -> Reply {
    let text = format!("svc-guard: the decision could not be written to disk, so nothing was sent: {error}");
    let body = json!({"code": "journal_error", "msg": text, "data": null, "status": "err", "response": text});
    Reply { http_status: 503, body: body.to_string() }
}
