//! The senders: the only threads that reach the API wallet's key. Each signs an action and sends it, once.
//!
//! The guard's own actions have a queue and a sender to themselves, and every other sender looks there first: a stop order or a
//! flatten never waits behind clients' orders.

use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use serde_json::json;

use super::send_queue::QueuedSends;
use super::venue_access::{Leaves, VenueAccess};
use crate::base::clock::steady_ms;
use crate::base::key::SecretKey;
use crate::faults::Step;
use crate::guard::{Code, Input, SendAction, SendOutcome, Urgency};
use crate::service::message::Message;
use crate::venue::client::CallError;
use crate::venue::envelope;
use crate::venue::json::Node;
use crate::venue::signing::{self, Source};
use crate::venue::weight::{Denied, Priority, exchange_weight};

/// Where the address's budget may be used up, the guard's own actions wait this long for it, and then go out over it: the
/// venue's own limit decides.
const OWN_PATIENCE_MS: u64 = 2_000;

/// Shared by all senders.
pub(in crate::service) struct Sending {
    pub(in crate::service) key: SecretKey,
    /// The network that it signs for.
    pub(in crate::service) source: Source,
    pub(in crate::service) venue: VenueAccess,
}

/// Sends until the queues are closed; with `only_own`, nothing but the guard's own actions.
///
/// # Errors
/// When the decision loop is gone.
pub(in crate::service) fn run(
    sending: &Sending,
    queue: &QueuedSends,
    only_own: bool,
    inbox: &Sender<Message>,
) -> Result<(), String> {
    while let Some((action, queued)) = queue.next(only_own) {
        let outcome = send(sending, &action, queued);
        queue.sent(&action);
        sending.venue.cache.account_changed();
        let input = Input::Sent { intent: action.intent, index: action.index, outcome };
        inbox.send(Message::Input(input)).map_err(|_| "the decision loop is gone".to_owned())?;
    }
    Ok(())
}

fn send(sending: &Sending, action: &SendAction, queued: Instant) -> SendOutcome {
    let faults = &sending.venue.faults;
    faults.about(action.action.get("type").and_then(Node::as_str).unwrap_or_default());
    if let Err(error) = faults.pass(Step::SendTaken) {
        return SendOutcome::NotSent(error.to_string());
    }
    if let Err(denied) = spend(&sending.venue, action) {
        return SendOutcome::NoRoom(Code::VenueBudget, denied.to_string());
    }
    let signature = match signing::sign_action(&sending.key, &action.action, &action.terms, sending.source) {
        Ok(signature) => signature,
        Err(error) => return SendOutcome::NotSent(error.to_string()),
    };
    let body = envelope::body(&action.action, &action.terms, &signature);
    if let Err(error) = faults.pass(Step::SendSigned) {
        return SendOutcome::NotSent(error.to_string());
    }
    let answer = sending.venue.client.exchange(body.as_bytes());
    sending.venue.metrics.sent(queued, &answer);
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

/// Whether it is nobody's and no cover or close, such as a cancel of what is over a limit, or the end of a doubt.
fn is_upkeep(action: &SendAction) -> bool {
    action.urgency == Urgency::Exit && action.client.is_none()
}

/// Who spends it. Upkeep has no client's part to live on: it comes out of what is kept for the guard's steady reads, which
/// no client touches.
fn priority_of(action: &SendAction) -> Priority {
    match action.urgency {
        Urgency::Own => Priority::Flatten,
        Urgency::Exit if is_upkeep(action) => Priority::Read,
        Urgency::Exit => Priority::ClientExit,
        Urgency::Neutral | Urgency::Entry => Priority::ClientEntry,
    }
}

/// Spends the request's weight. What a client sends is refused where it does not fit, exits too: what is kept for the
/// guard's reads, its stops and its closes is what the account's halts live on. Upkeep goes out over the share where reads
/// have left it nothing. Only the guard's own goes out whatever is spent: at once while this service has not used half of what the address has, and after a while in any case.
fn spend(venue: &VenueAccess, action: &SendAction) -> Result<(), Denied> {
    let weight = exchange_weight(action.batch_len);
    let priority = priority_of(action);
    let until_ms = steady_ms().saturating_add(OWN_PATIENCE_MS);
    loop {
        match venue.try_spend_for(action.client.as_ref(), priority, weight) {
            Ok(()) => return Ok(()),
            Err(_) if is_upkeep(action) && venue.overdraw(weight, Leaves::Sixteenth) => return Ok(()),
            Err(denied) if action.urgency != Urgency::Own => return Err(denied),
            Err(_) if venue.is_address_free_for(weight) || steady_ms() >= until_ms => {
                venue.charge(priority, weight);
                return Ok(());
            }
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::base::address::Address;
    use crate::service::metrics::Metrics;
    use crate::venue::client::{Client, Timeouts};
    use crate::venue::signing::Terms;
    use crate::venue::weight_ledger::Ledger;

    fn action(urgency: Urgency, client: Option<Address>) -> SendAction {
        let terms = Terms { nonce: 0, vault: None, expires_after_ms: None };
        SendAction { intent: 1, index: 0, action: json!({}), terms, batch_len: 1, urgency, client }
    }

    /// Whatever clients spend of a minute, what the guard cancels of its own accord still has room.
    #[test]
    fn cancels_of_the_guards_own_have_room_that_no_client_takes() {
        let client = Address([1; 20]);
        let cancel = priority_of(&action(Urgency::Exit, None));
        let exit = priority_of(&action(Urgency::Exit, Some(client)));
        assert!(priority_of(&action(Urgency::Own, None)) < exit && exit < cancel);
        let mut ledger = Ledger::new(1_200, [&client]);
        while ledger.try_spend(exit, Some(&client), 1, 0).is_ok() {}
        assert!(ledger.try_spend(Priority::ClientExit, None, 1, 0).is_err());
        assert_eq!(ledger.try_spend(cancel, None, 1, 0), Ok(()));
    }

    /// The steady reads may want more than there is, minute after minute.
    #[test]
    fn reads_that_take_all_they_can_leave_room_for_the_end_of_a_doubt() {
        let client = Address([1; 20]);
        let venue = VenueAccess {
            client: Arc::new(Client::new("http://127.0.0.1:1", Timeouts::default()).unwrap()),
            budget: Arc::new(Mutex::new(Ledger::new(1_200, [&client]))),
            cache: Arc::default(),
            metrics: Arc::new(Metrics::new(0, "paper")),
            faults: crate::faults::Faults::default(),
        };
        while venue.try_spend(Priority::Read, 1).is_ok() || venue.overdraw(1, Leaves::Eighth) {}
        let end_of_doubt = action(Urgency::Exit, None);
        for _ in 0..75 {
            assert_eq!(spend(&venue, &end_of_doubt), Ok(()));
        }
        assert!(spend(&venue, &end_of_doubt).is_err(), "the rest is for stops and closes");
        assert_eq!(spend(&venue, &action(Urgency::Exit, Some(client))), Ok(()), "a client's part is untouched");
        assert!(spend(&venue, &action(Urgency::Entry, Some(client))).is_err());
    }
}
