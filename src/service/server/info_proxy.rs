//! `/info`, passed through: within the budget that is left for clients' questions, and from the cache where an answer still
//! holds.

use std::collections::BTreeSet;
use std::sync::Mutex;

use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::types::Response;
use crate::base::address::Address;
use crate::base::clock::now_ms;
use crate::base::sync::lock;
use crate::service::reporting::level::Level;
use crate::service::reporting::log;
use crate::service::venue_io::info_cache::{self, lasting_ms};
use crate::service::venue_io::venue_access::VenueAccess;
use crate::venue::client::{CallError, RawAnswer};
use crate::venue::json::question;
use crate::venue::weight::{Priority, info_extra, info_most_extra, info_weight};

/// Most bytes that are passed on of a refusal's body.
const REFUSAL_BYTES: usize = 512;
/// So many accounts that are not the guarded one are told of.
const MOST_STRANGERS: usize = 8;

/// Answers clients' questions.
pub(in crate::service) struct InfoProxy {
    pub(in crate::service) venue: VenueAccess,
    pub(in crate::service) account: Address,
    /// The addresses of the clients' keys.
    pub(in crate::service) clients: Vec<Address>,
    /// Other accounts that a client read, each told of once.
    pub(in crate::service) strangers: Mutex<BTreeSet<Address>>,
}

/// A question that was read.
pub(super) struct Question {
    text: String,
    kind: String,
    /// What the length of its answer adds to its weight at most.
    most_extra: u32,
    key: String,
}

impl InfoProxy {
    /// Reads a question.
    ///
    /// # Errors
    /// The refusal to answer with.
    pub(super) fn read(&self, body: &[u8]) -> Result<Question, Response> {
        let mut question = match question(body) {
            Ok(question) if question.get("type").and_then(Value::as_str).is_some() => question,
            Ok(_) => return Err(Response::error(422, "malformed", "an info question is a JSON object with a `type`")),
            Err(error) => {
                return Err(Response::error(400, "malformed", &format!("the body cannot be read: {error}")));
            }
        };
        let stranger = self.ask_for_the_account(&mut question);
        let kind = question.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        if let Some(user) = stranger.filter(|_| kind == "clearinghouseState") {
            self.hint_at(user);
        }
        let most_extra = info_most_extra(&question);
        Ok(Question { text: question.to_string(), kind, most_extra, key: info_cache::key(&question) })
    }

    /// The answer that needs no venue, if there is one.
    pub(super) fn recall(&self, question: &Question) -> Option<Response> {
        self.venue.cache.fresh(&question.kind, &question.key).map(|body| Response::json(200, body.to_vec()))
    }

    /// Answers a question, from the cache or by asking the venue: may take as long as a call to it.
    #[must_use]
    pub(super) fn answer(&self, question: Question) -> Response {
        let begun_ms = now_ms();
        if let Some(response) = self.recall(&question) {
            return response;
        }
        let asked = match self.venue.try_ask(Priority::PassThrough, info_weight(&question.kind), question.most_extra) {
            Ok(asked) => asked,
            Err(denied) => {
                let text = format!("{denied}; the rest is kept for the guard's own reads");
                return self.last_known(&question).unwrap_or_else(|| Response::error(429, "rate_limited", &text));
            }
        };
        self.venue.faults.about("pass_through");
        let answer = self.venue.metrics.pass_through(|| self.venue.client.info_raw(question.text.as_bytes()));
        self.venue.settle(asked, added_weight(&question.kind, &answer));
        match answer {
            Ok(answer) if answer.status == 200 => {
                if lasting_ms(&question.kind) > 0 {
                    self.venue.cache.keep(question.key, answer.body.clone(), begun_ms);
                }
                Response::json(200, answer.body)
            }
            // The venue's own refusal of this question: nothing older is right either.
            Ok(answer) if answer.status != 429 && (400..500).contains(&answer.status) => {
                let text = String::from_utf8_lossy(answer.body.get(..REFUSAL_BYTES).unwrap_or(&answer.body));
                Response::error(answer.status, "venue_refused", &text)
            }
            failed => self.last_known(&question).unwrap_or_else(|| venue_away(failed)),
        }
    }

    fn last_known(&self, question: &Question) -> Option<Response> {
        let body = self.venue.cache.last_of_markets(&question.kind, &question.key);
        body.map(|body| Response::json(200, body.to_vec()))
    }

    /// Says once of an address that it is not the guarded account: a bot that was given a wrong one shows its figures and
    /// trades for the account all the same.
    fn hint_at(&self, user: Address) {
        let mut told = lock(&self.strangers);
        if told.len() < MOST_STRANGERS && told.insert(user) {
            log::line(
                Level::Info,
                format!(
                    "a client reads the account state of {user}, which is not the guarded account {}; if that is the bot's \
                     own account_address, correct it: its orders are the guarded account's in any case",
                    self.account
                ),
            );
        }
    }

    /// A bot that knows only its own key asks about its own address; the account is meant. Whom else it asks about.
    fn ask_for_the_account(&self, question: &mut Value) -> Option<Address> {
        let user = question.get("user").and_then(Value::as_str).and_then(|text| Address::parse_lenient(text).ok());
        if !user.is_some_and(|user| user == self.account || self.clients.contains(&user)) {
            return user;
        }
        if let Some(members) = question.as_object_mut() {
            members.insert("user".to_owned(), json!(self.account));
        }
        None
    }
}

/// What the length of an answer added to its weight; `None` where the venue may have counted one that never came.
fn added_weight(kind: &str, answer: &Result<RawAnswer, CallError>) -> Option<u32> {
    match answer {
        Ok(answer) if answer.status == 200 && info_extra(kind, usize::MAX) > 0 => {
            Some(info_extra(kind, rows(&answer.body)))
        }
        Err(error) if error.may_have_happened() => None,
        Ok(_) | Err(_) => Some(0),
    }
}

/// How many rows a list has, none of which is kept; 0 for what is no list.
fn rows(body: &[u8]) -> usize {
    serde_json::from_slice::<Vec<IgnoredAny>>(body).map_or(0, |rows| rows.len())
}

/// The refusal where the venue did not answer the question.
fn venue_away(failed: Result<RawAnswer, CallError>) -> Response {
    match failed {
        Ok(answer) if answer.status == 429 => {
            Response::error(429, "rate_limited", &log::typed(&CallError::RateLimited.to_string()))
        }
        Ok(answer) => Response::error(502, "venue_away", &format!("the venue answered HTTP {}", answer.status)),
        Err(error) => Response::error(502, "venue_away", &error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::faults::Faults;
    use crate::service::metrics::Metrics;
    use crate::venue::client::{Client, Timeouts};
    use crate::venue::weight_ledger::Ledger;

    /// A proxy for a venue at this address.
    fn proxy(url: &str) -> InfoProxy {
        let venue = VenueAccess {
            client: Arc::new(Client::new(url, Timeouts::default()).unwrap()),
            budget: Arc::new(Mutex::new(Ledger::new(1_200, []))),
            cache: Arc::default(),
            metrics: Arc::new(Metrics::new(0, "paper")),
            faults: Faults::default(),
        };
        InfoProxy { venue, account: Address([0x11; 20]), clients: Vec::new(), strangers: Mutex::default() }
    }

    fn answer(proxy: &InfoProxy, question: &Value) -> Response {
        proxy.answer(proxy.read(question.to_string().as_bytes()).unwrap_or_else(|_| panic!("refused")))
    }

    #[test]
    fn markets_are_answered_while_the_venue_is_away() {
        let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let proxy = proxy(&format!("http://{nobody}"));
        let long_ago = now_ms() - 600_000;
        for (kind, is_answered) in [("meta", true), ("allMids", false)] {
            let question = json!({"type": kind});
            assert_eq!(answer(&proxy, &question).status, 502, "{kind}");
            proxy.venue.cache.keep(
                info_cache::key(&question),
                json!({"kept": kind}).to_string().into_bytes(),
                long_ago,
            );
            assert_eq!(answer(&proxy, &question).status, if is_answered { 200 } else { 502 }, "{kind}");
        }
    }

    #[test]
    fn rows_are_counted_and_a_lost_answer_may_have_cost_all_of_them() {
        let answered =
            |status, body: String| Ok(RawAnswer { status, content_type: String::new(), body: body.into_bytes() });
        let list = |count: usize| format!("[{}]", vec![r#"{"deep":[[{"a":1}]]}"#; count].join(","));
        for (count, weight) in [(0, 0), (19, 0), (20, 1), (2_000, 100), (2_020, 101)] {
            assert_eq!(added_weight("userFills", &answered(200, list(count))), Some(weight), "{count}");
        }
        assert_eq!(added_weight("meta", &answered(200, list(2_000))), Some(0));
        for body in [r#"{"a":[1,2]}"#, "null", "[1,", ""] {
            assert_eq!(added_weight("userFills", &answered(200, body.to_owned())), Some(0), "{body}");
        }
        assert_eq!(added_weight("userFills", &answered(429, list(2_000))), Some(0));
        assert_eq!(added_weight("userFills", &Err(CallError::NotSent(String::new()))), Some(0));
        assert_eq!(added_weight("userFills", &Err(CallError::NoAnswer(String::new()))), None);
    }
}
