//! The senders: the only threads that reach the API wallet's key. Each signs an action and sends it, once.
//!
//! The guard's own actions have a queue and a sender to themselves, and every other sender looks there first: a stop or a
//! flatten never waits behind clients' orders.

use crate::base::sync::lock;
use crate::venue::signing;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded, select_biased};
use serde_json::json;

use super::message::Message;
use super::metrics::Metrics;
use super::questions::Questions;
use crate::base::clock::steady_ms;
use crate::base::key::SecretKey;
use crate::faults::{Faults, Step};
use crate::guard::{Input, SendAction, SendOutcome, Urgency};
use crate::venue::client::{CallError, Client};
use crate::venue::envelope;
use crate::venue::json::Node;
use crate::venue::signing::Source;
use crate::venue::weight::{Denied, Ledger, Priority, exchange_weight};

/// Sender threads: a slow answer holds up none of the next few actions. The first sends the guard's own only.
pub(super) const SENDERS: usize = 5;
/// Actions that wait for a sender at most, in each queue.
pub(super) const QUEUE: usize = 256;
/// An exit waits this long for the request budget, and then goes out over it: the venue's own limit decides.
const EXIT_PATIENCE_MS: u64 = 2_000;

/// The queues of actions on their way to the senders.
#[derive(Debug, Clone)]
pub(super) struct Sends {
    own: Sender<Queued>,
    clients: Sender<Queued>,
}

/// An action, and when it came into its queue: the event that names it is on disk since then.
type Queued = (SendAction, Instant);

/// The senders' ends of the queues.
#[derive(Debug, Clone)]
pub(super) struct ToSend {
    own: Receiver<Queued>,
    clients: Receiver<Queued>,
}

/// The queues.
pub(super) fn queues() -> (Sends, ToSend) {
    let ((own, own_end), (clients, clients_end)) = (bounded(QUEUE), bounded(QUEUE));
    (Sends { own, clients }, ToSend { own: own_end, clients: clients_end })
}

impl Sends {
    fn queue(&self, urgency: Urgency) -> &Sender<Queued> {
        if urgency == Urgency::Own { &self.own } else { &self.clients }
    }

    /// Whether an action of this urgency finds no room.
    pub(super) fn is_full(&self, urgency: Urgency) -> bool {
        self.queue(urgency).is_full()
    }

    /// How many of the guard's own actions and of clients' wait.
    pub(super) fn lengths(&self) -> [usize; 2] {
        [self.own.len(), self.clients.len()]
    }

    /// Queues an action, or gives it back where there is no room.
    pub(super) fn push(&self, action: SendAction) -> Result<(), SendAction> {
        self.queue(action.urgency).try_send((action, Instant::now())).map_err(|error| match error {
            TrySendError::Full((action, _)) | TrySendError::Disconnected((action, _)) => action,
        })
    }
}

impl ToSend {
    /// The next action, the guard's own first; `None` once the queues are closed.
    fn next(&self) -> Option<Queued> {
        select_biased! {
            recv(self.own) -> queued => queued.ok(),
            recv(self.clients) -> queued => queued.ok(),
        }
    }
}

/// What the senders share.
pub(super) struct Sending {
    /// The API wallet.
    pub(super) key: SecretKey,
    /// The network it signs for.
    pub(super) source: Source,
    /// The venue.
    pub(super) client: Arc<Client>,
    /// Told of every send.
    pub(super) questions: Arc<Questions>,
    /// The request budget.
    pub(super) ledger: Arc<Mutex<Ledger>>,
    /// Counts and times sends.
    pub(super) metrics: Arc<Metrics>,
    /// Makes sends fail, in builds that can.
    pub(super) faults: Faults,
}

/// Sends until the queues are closed; with `only_own`, nothing but the guard's own actions.
///
/// # Errors
/// When the decision loop is gone.
pub(super) fn run(sending: &Sending, queue: &ToSend, only_own: bool, inbox: &Sender<Message>) -> Result<(), String> {
    while let Some((action, queued)) = if only_own { queue.own.recv().ok() } else { queue.next() } {
        let outcome = send(sending, &action, queued);
        sending.questions.account_changed();
        let input = Input::Sent { intent: action.intent, index: action.index, outcome };
        inbox.send(Message::Input(input)).map_err(|_| "the decision loop is gone".to_owned())?;
    }
    Ok(())
}

fn send(sending: &Sending, action: &SendAction, queued: Instant) -> SendOutcome {
    let faults = &sending.faults;
    faults.about(action.action.get("type").and_then(Node::as_str).unwrap_or_default());
    if let Err(error) = faults.pass(Step::SendTaken) {
        return SendOutcome::NotSent(error.to_string());
    }
    if let Err(denied) = spend(&sending.ledger, action) {
        return SendOutcome::NotSent(denied.to_string());
    }
    let signature = match signing::sign_action(&sending.key, &action.action, &action.terms, sending.source) {
        Ok(signature) => signature,
        Err(error) => return SendOutcome::NotSent(error.to_string()),
    };
    let body = envelope::body(&action.action, &action.terms, &signature);
    if let Err(error) = faults.pass(Step::SendSigned) {
        return SendOutcome::NotSent(error.to_string());
    }
    let answer = sending.client.exchange(body.as_bytes());
    sending.metrics.sent(queued, &answer);
    if let Err(error) = faults.pass(Step::SendAnswered) {
        return SendOutcome::NoAnswer(error.to_string());
    }
    match answer {
        Ok(answer) => SendOutcome::Answered(answer),
        // The venue read the request and refused it whole: an answer, though not in an action's shape.
        Err(CallError::Refused { status, body }) if (400..500).contains(&status) && status != 408 => {
            SendOutcome::Answered(json!({"status": "err", "response": format!("HTTP {status}: {body}")}))
        }
        Err(error) if error.may_have_happened() => SendOutcome::NoAnswer(error.to_string()),
        Err(error) => SendOutcome::NotSent(error.to_string()),
    }
}

/// Spends the request's weight; an exit waits for it and then goes out regardless.
fn spend(ledger: &Mutex<Ledger>, action: &SendAction) -> Result<(), Denied> {
    let weight = exchange_weight(action.batch_len);
    let priority = match action.urgency {
        Urgency::Own => Priority::Flatten,
        Urgency::Exit => Priority::ClientExit,
        Urgency::Entry => Priority::ClientEntry,
    };
    let try_spend = |now_ms| lock(ledger).try_spend(priority, weight, now_ms);
    let until_ms = steady_ms().saturating_add(EXIT_PATIENCE_MS);
    loop {
        match try_spend(steady_ms()) {
            Ok(()) => return Ok(()),
            Err(denied) if action.urgency == Urgency::Entry => return Err(denied),
            Err(_) if steady_ms() >= until_ms => {
                lock(ledger).charge(priority, weight, steady_ms());
                return Ok(());
            }
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}
