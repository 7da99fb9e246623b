//! The order in which the decision loop hears those who wait for it. Reads, kills and questions wait behind one request at most, and a
//! client's request behind one of each other client: a request may ask for a thousand orders, and who sends many waits behind itself.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

use crate::base::address::Address;
use crate::guard::RequestBody;
use crate::service::inbox_places::INBOX;
use crate::service::message::Message;

/// Who asks: a client, or all together who are none.
type Party = Option<Address>;

/// The messages that were taken out of the inbox, at most as many as it holds itself.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    requests: BTreeMap<Party, VecDeque<Message>>,
    /// The owner of the last request.
    last: Party,
    others: VecDeque<Message>,
    /// How many of the others go before the next request; none while those that came during the last one are not counted.
    before_request: Option<usize>,
    length: usize,
}

impl Lanes {
    pub(super) fn len(&self) -> usize {
        self.length
    }

    pub(super) fn have_requests(&self) -> bool {
        !self.requests.is_empty()
    }

    /// Takes in what has come, as long as there is room.
    pub(super) fn fill(&mut self, mut come: impl FnMut() -> Option<Message>) {
        while self.length < INBOX
            && let Some(message) = come()
        {
            self.length = self.length.saturating_add(1);
            match &message {
                Message::Exchange { body, .. } => self.requests.entry(party(body)).or_default().push_back(message),
                _ => self.others.push_back(message),
            }
        }
    }

    /// The next message: a request once all has been taken that waited when the last one was done.
    pub(super) fn next(&mut self) -> Option<Message> {
        let before = self.before_request.unwrap_or(self.others.len());
        let request = if before == 0 { self.next_request() } else { None };
        let next = match request {
            Some(request) => {
                self.before_request = None;
                request
            }
            None => {
                let other = self.others.pop_front()?;
                self.before_request = Some(before.saturating_sub(1));
                other
            }
        };
        self.length = self.length.saturating_sub(1);
        Some(next)
    }

    fn next_request(&mut self) -> Option<Message> {
        let later = self.requests.range((Bound::Excluded(self.last), Bound::Unbounded));
        let party = *later.map(|(party, _)| party).chain(self.requests.keys()).next()?;
        self.last = party;
        let waiting = self.requests.get_mut(&party)?;
        let request = waiting.pop_front();
        if waiting.is_empty() {
            self.requests.remove(&party);
        }
        request
    }
}

fn party(body: &RequestBody) -> Party {
    match body {
        RequestBody::Signed { client, .. } => Some(*client),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    use crate::guard::{Input, Via};
    use crate::service::message::Responder;
    use crate::venue::envelope::Envelope;
    use crate::venue::signing::Source;

    const BODY: &str = r#"{"action": {"type": "noop"}, "nonce": 1, "signature": {"r": "0x1", "s": "0x2", "v": 27}}"#;

    fn request(byte: u8) -> Message {
        let (envelope, client) = (Box::new(Envelope::parse(BODY.as_bytes()).unwrap()), Address([byte; 20]));
        let body = RequestBody::Signed { envelope, client, signed_as: Source::Testnet };
        let (reply, _) = Responder::channel(Instant::now());
        Message::Exchange { via: Via::Http, body, place: None, reply }
    }

    fn unsigned() -> Message {
        let body =
            RequestBody::Malformed { received: None, unparsed: String::new(), text: String::new(), http_status: 422 };
        let (reply, _) = Responder::channel(Instant::now());
        Message::Exchange { via: Via::Http, body, place: None, reply }
    }

    /// The byte of the client's address; 0 of none, and 9 of no request.
    fn name(message: &Message) -> u8 {
        match message {
            Message::Exchange { body: RequestBody::Signed { client, .. }, .. } => client.0[0],
            Message::Exchange { .. } => 0,
            _ => 9,
        }
    }

    fn fill(lanes: &mut Lanes, names: &[u8]) {
        let mut come = names.iter().map(|name| match name {
            0 => unsigned(),
            9 => Message::Input(Input::Tick),
            byte => request(*byte),
        });
        lanes.fill(|| come.next());
    }

    fn taken(lanes: &mut Lanes) -> Vec<u8> {
        std::iter::from_fn(|| lanes.next()).map(|message| name(&message)).collect()
    }

    #[test]
    fn clients_are_heard_in_turn_however_much_one_asks() {
        let mut lanes = Lanes::default();
        fill(&mut lanes, &[2, 2, 2, 2, 1, 0, 2, 1]);
        assert_eq!(lanes.len(), 8);
        assert_eq!(taken(&mut lanes), [1, 2, 0, 1, 2, 2, 2, 2]);
        assert!(lanes.len() == 0 && !lanes.have_requests());
    }

    #[test]
    fn all_else_waits_for_one_request_and_a_request_for_what_came_before_it() {
        let mut lanes = Lanes::default();
        fill(&mut lanes, &[1, 1, 9, 9, 1]);
        assert_eq!(lanes.next().as_ref().map(name), Some(9));
        fill(&mut lanes, &[9, 9, 9]);
        assert_eq!(lanes.next().as_ref().map(name), Some(9));
        assert_eq!(lanes.next().as_ref().map(name), Some(1), "after those that it found, though others came");
        fill(&mut lanes, &[9]);
        assert_eq!(taken(&mut lanes), [9, 9, 9, 9, 1, 1]);
    }

    #[test]
    fn no_more_is_taken_in_than_the_inbox_holds() {
        let mut lanes = Lanes::default();
        fill(&mut lanes, &[9; INBOX + 1]);
        assert_eq!(lanes.len(), INBOX);
        let _tick = lanes.next();
        fill(&mut lanes, &[1, 1]);
        assert_eq!((lanes.len(), lanes.have_requests()), (INBOX, true));
    }
}
