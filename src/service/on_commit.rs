//! The effects that wait for records to be on disk, released on the journal's own thread: events become visible, clients are
//! answered, sends go out. Where the disk failed none of it happens, and everyone hears of it.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use crossbeam_channel::Sender;

use super::kill_to_write::KillToWrite;
use super::message::{Message, Reply, Responder};
use super::metrics::Metrics;
use super::reporting::log;
use super::reporting::recent_events::RecentEvents;
use super::turned_away::TurnedAway;
use super::venue_io::send_queue::SendQueue;
use crate::base::sync::lock;
use crate::faults::{Faults, Step};
use crate::guard::{self, Code, Decided, Input, SendAction, SendOutcome};
use crate::journal::JournalError;

/// Refused events kept at most; the journal itself bounds what it keeps by size.
const MAX_REFUSED: usize = 1000;

/// Travels with a batch of records.
#[derive(Debug, Default)]
pub(super) struct AfterCommit {
    /// The events written.
    pub(super) events: Vec<Event>,
    /// Released by them, in order.
    pub(super) outputs: Vec<Output>,
}

/// An event, with the figures that are counted of it.
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

/// One thing that waits for its records.
#[derive(Debug)]
pub(super) enum Output {
    /// A waiting client is answered.
    Answer(Responder, Reply),
    /// An action goes to the senders.
    Send(SendAction),
    /// The kill file is written, for this reason.
    KillFile(String),
    /// The last event is on disk.
    ShutDown,
}

/// Releases outputs.
pub(super) struct CommitHandler {
    /// The last events.
    pub(super) recent_events: Arc<RecentEvents>,
    /// The senders' queue.
    pub(super) sends: SendQueue,
    /// The decision loop.
    pub(super) inbox: Sender<Message>,
    /// Is sent a word when the last event is on disk.
    pub(super) shut_down: Sender<()>,
    /// Events that the disk refused: they are written ahead of the next ones.
    pub(super) refused: Mutex<Vec<Event>>,
    /// Requests that have no event of their own.
    pub(super) turned_away: Arc<TurnedAway>,
    /// Counts events and decisions.
    pub(super) metrics: Arc<Metrics>,
    /// Written when a client pulls the switch.
    pub(super) kill_file: Arc<KillToWrite>,
    /// Makes answers fail, in builds that can.
    pub(super) faults: Faults,
}

impl CommitHandler {
    /// Does what must not wait for the events of a batch: a switch that was pulled stays so, whatever becomes of the
    /// journal. On a full disk there may be room for it: it has its blocks. And whoever will send wakes up meanwhile.
    pub(super) fn on_begin(&self, after: &AfterCommit) {
        let kills = after.outputs.iter().filter_map(|output| match output {
            Output::KillFile(reason) => Some(reason),
            _ => None,
        });
        kills.for_each(|reason| self.kill_file.write(reason));
        if after.outputs.iter().any(|output| matches!(output, Output::Send(_))) {
            self.sends.announce();
        }
    }

    /// Releases the outputs of a batch, or refuses them where it was not written.
    pub(super) fn on_commit(&self, after: AfterCommit, written: &Result<(), Arc<JournalError>>) {
        let mut refused = lock(&self.refused);
        let mut lines = Vec::new();
        match written.as_ref().map_err(AsRef::as_ref) {
            // Events that the disk refused before went ahead of these.
            Ok(()) => {
                let written: Vec<Event> = refused.drain(..).chain(after.events).collect();
                lines.extend(written.iter().map(|event| event.text.clone()));
                self.recent_events.push(written.into_iter().map(|event| self.count(event)));
            }
            Err(JournalError::Disk { .. }) => {
                refused.extend(after.events);
                refused.truncate(MAX_REFUSED);
            }
            // A full disk has no room for those; they are told of together.
            Err(JournalError::NoRoom(_)) => self.count_unwritten(&after.events),
            // Never to be written.
            Err(JournalError::Line(_) | JournalError::TooLarge { .. }) => {}
        }
        drop(refused);
        let mut is_last = false;
        for output in after.outputs {
            match (output, written) {
                (Output::Answer(client, reply), Ok(())) => self.answer(client, reply),
                (Output::Answer(client, _), Err(error)) => {
                    let body = guard::unrecorded(&error.to_string());
                    self.answer(client, Reply { http_status: 503, body });
                }
                (Output::Send(action), Ok(())) => self.send(action),
                (Output::Send(action), Err(error)) => {
                    let outcome = SendOutcome::Unrecorded(error.to_string());
                    self.report(Input::Sent { intent: action.intent, index: action.index, outcome });
                }
                // Written before the events were.
                (Output::KillFile(_), _) => {}
                // Without a disk there is no last event to wait for.
                (Output::ShutDown, _) => is_last = true,
            }
        }
        // Clients wait for their answers, and nobody for the log, but at the end, when it is written out.
        lines.into_iter().for_each(log::event);
        if is_last {
            // Nobody waits for it where the service goes down over a death.
            _ = self.shut_down.try_send(());
        }
    }

    /// Has the core tell later of refusals that the disk had no room for.
    fn count_unwritten(&self, events: &[Event]) {
        let refusals =
            events.iter().filter_map(|event| event.decided.as_ref()).map(|(decided, _)| decided.code.as_str());
        if let Some(code) = refusals.clone().next_back() {
            let count = u64::try_from(refusals.count()).unwrap_or_default();
            self.turned_away.add(count, code);
        }
    }

    /// Counts an event that is on disk; its number and text are for clients that poll.
    fn count(&self, event: Event) -> (u64, String) {
        self.metrics.event(event.seq, event.kind);
        if let Some((decided, received)) = event.decided {
            self.metrics.decision(decided, received);
        }
        (event.seq, event.text)
    }

    /// Answers a client; one that cannot be answered will look its decision up.
    pub(super) fn answer(&self, client: Responder, reply: Reply) {
        if self.faults.pass(Step::Answer).is_ok() {
            client.answer(reply);
        }
    }

    /// Hands an action to the senders.
    fn send(&self, action: SendAction) {
        if let Err(action) = self.sends.push(action) {
            self.report(not_sent(&action));
        }
    }

    /// The loop never waits for this thread, so this cannot lock both up.
    fn report(&self, input: Input) {
        let _ = self.inbox.send(Message::Input(input));
    }
}

/// What the core hears of an action for which the senders' queue has no room.
pub(super) fn not_sent(action: &SendAction) -> Input {
    let outcome = SendOutcome::NoRoom(Code::Busy, "too many actions wait to be sent; try again".to_owned());
    Input::Sent { intent: action.intent, index: action.index, outcome }
}

#[cfg(test)]
mod tests {
    use crossbeam_channel::bounded;

    use super::*;
    use crate::base::kill_file::KillFile;
    use crate::service::venue_io::send_queue;

    /// A disk that fails for a moment leaves no gap for those who poll.
    #[test]
    fn events_that_were_refused_show_up_with_the_next_ones() {
        let recent_events = Arc::new(RecentEvents::default());
        let ((sends, _queued), (inbox, _messages), (shut_down, _done)) =
            (send_queue::queues(1), bounded(1), bounded(1));
        let handler = CommitHandler {
            recent_events: Arc::clone(&recent_events),
            sends,
            inbox,
            shut_down,
            refused: Mutex::default(),
            turned_away: Arc::default(),
            metrics: Arc::new(Metrics::new(0, "paper")),
            kill_file: Arc::new(KillToWrite::new(KillFile::new("/nowhere/kill".into()), Faults::default())),
            faults: Faults::default(),
        };
        let commit = |seq: u64, written| {
            let events = vec![Event { seq, kind: "done", text: seq.to_string(), decided: None }];
            handler.on_commit(AfterCommit { events, outputs: Vec::new() }, &written);
        };
        let shown = || recent_events.after(0, 9);
        let disk = || JournalError::Disk { path: "events".into(), error: std::io::Error::other("full") };
        let failed = || Err(Arc::new(disk()));
        commit(1, Ok(()));
        commit(2, failed());
        commit(3, failed());
        assert!(shown().ends_with("[1]}"), "{}", shown());
        commit(4, Ok(()));
        assert!(shown().ends_with("[1,2,3,4]}"), "{}", shown());
    }
}
