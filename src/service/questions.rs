//! `/info`, passed through: answers kept for a while, and the budget that is left for questions.

use crate::base::sync::lock;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crossbeam_channel::Receiver;
use serde_json::{Value, json};

use super::http::types::Response;
use super::metrics::Metrics;
use crate::base::address::Address;
use crate::base::clock::{now_ms, steady_ms};
use crate::venue::client::{CallError, Client};
use crate::venue::weight::{Ledger, Priority, info_extra, info_weight};

/// Answers kept at most; the oldest goes first.
const KEPT: usize = 256;
/// How long answers that hardly change are given again.
const STATIC_MS: u64 = 60_000;
/// How long market answers are given again.
const MARKET_MS: u64 = 500;
/// How long the guard's own reads are given again: one interval at full budget.
const OWN_MS: u64 = 1_000;

/// The questions' desk.
pub(super) struct Questions {
    client: Arc<Client>,
    ledger: Arc<Mutex<Ledger>>,
    account: Address,
    clients: Vec<Address>,
    metrics: Arc<Metrics>,
    kept: Mutex<HashMap<String, Kept>>,
    /// Answers about the account that were asked for before this are out of date.
    account_since_ms: AtomicU64,
}

struct Kept {
    at_ms: u64,
    body: Arc<Vec<u8>>,
}

impl Questions {
    /// A desk without answers.
    #[must_use]
    pub(super) fn new(
        client: Arc<Client>,
        ledger: Arc<Mutex<Ledger>>,
        account: Address,
        clients: Vec<Address>,
        metrics: Arc<Metrics>,
    ) -> Self {
        Self { client, ledger, account, clients, metrics, kept: Mutex::default(), account_since_ms: AtomicU64::new(0) }
    }

    /// Keeps an answer that the guard read itself, beginning at `begun_ms`.
    pub(super) fn keep(&self, question: &Value, answer: &Value, begun_ms: u64) {
        self.store(key(question), answer.to_string().into_bytes(), begun_ms);
    }

    /// Something was sent: a client that asks about the account now must see what it did.
    pub(super) fn account_changed(&self) {
        self.account_since_ms.store(now_ms(), Ordering::SeqCst);
    }

    /// Answers a question of a client.
    #[must_use]
    pub(super) fn answer(&self, body: &[u8]) -> Response {
        let mut question = match serde_json::from_slice::<Value>(body) {
            Ok(question) if question.get("type").and_then(Value::as_str).is_some() => question,
            Ok(_) => return Response::error(422, "malformed", "an info question is a JSON object with a `type`"),
            Err(error) => return Response::error(400, "malformed", &format!("the body is not JSON: {error}")),
        };
        self.ask_for_the_account(&mut question);
        let kind = question.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        let key = key(&question);
        let begun_ms = now_ms();
        let since_ms = if is_of_account(&kind) { self.account_since_ms.load(Ordering::SeqCst) } else { 0 };
        if let Some(body) = self.recall(&key, lasting_ms(&kind), since_ms) {
            return Response::json(200, body.to_vec());
        }
        let spent = {
            let mut ledger = lock(&self.ledger);
            ledger.try_spend(Priority::PassThrough, info_weight(&kind), steady_ms())
        };
        if let Err(denied) = spent {
            let text = format!("{denied}; the rest is kept for the guard's own reads");
            return self.as_before(&kind, &key).unwrap_or_else(|| Response::error(429, "rate_limited", &text));
        }
        let reply = match self.metrics.pass_through(|| self.client.info_raw(question.to_string().as_bytes())) {
            Ok(answer) if answer.status == 200 => {
                self.charge_items(&kind, &answer.body);
                if lasting_ms(&kind) > 0 {
                    self.store(key, answer.body.clone(), begun_ms);
                }
                return Response::json(200, answer.body);
            }
            Ok(answer) if answer.status == 429 => {
                Response::error(429, "rate_limited", "the venue answered 429: too many requests from this address")
            }
            Ok(answer) if (400..500).contains(&answer.status) => {
                let text = String::from_utf8_lossy(answer.body.get(..512).unwrap_or(&answer.body)).into_owned();
                return Response::error(answer.status, "venue_refused", &text);
            }
            Ok(answer) => Response::error(502, "venue_away", &format!("the venue answered HTTP {}", answer.status)),
            Err(error @ (CallError::NotSent(_) | CallError::NoAnswer(_))) => {
                Response::error(502, "venue_away", &error.to_string())
            }
            Err(error) => Response::error(502, "venue_away", &error.to_string()),
        };
        self.as_before(&kind, &key).unwrap_or(reply)
    }

    /// The last answer to a question of what there is to trade: who cannot read that cannot even close, and it is hardly
    /// ever out of date.
    fn as_before(&self, kind: &str, key: &str) -> Option<Response> {
        let body = if is_static(kind) { self.recall(key, u64::MAX, 0) } else { None };
        body.map(|body| Response::json(200, body.to_vec()))
    }

    /// A bot that knows only its own key asks about its own address; the account is meant.
    fn ask_for_the_account(&self, question: &mut Value) {
        let user = question.get("user").and_then(Value::as_str).and_then(|text| Address::parse_lenient(text).ok());
        if user.is_some_and(|user| user == self.account || self.clients.contains(&user))
            && let Some(members) = question.as_object_mut()
        {
            members.insert("user".to_owned(), json!(self.account));
        }
    }

    /// Some answers cost by their length, which is known only now.
    fn charge_items(&self, kind: &str, body: &[u8]) {
        if info_extra(kind, usize::MAX) == 0 {
            return;
        }
        let items = serde_json::from_slice::<Value>(body).ok().and_then(|answer| answer.as_array().map(Vec::len));
        let extra = info_extra(kind, items.unwrap_or_default());
        lock(&self.ledger).charge(Priority::PassThrough, extra, steady_ms());
    }

    fn recall(&self, key: &str, lasting_ms: u64, since_ms: u64) -> Option<Arc<Vec<u8>>> {
        let kept = lock(&self.kept);
        let answer = kept.get(key)?;
        let is_fresh = now_ms().saturating_sub(answer.at_ms) <= lasting_ms && answer.at_ms >= since_ms;
        is_fresh.then(|| Arc::clone(&answer.body))
    }

    fn store(&self, key: String, body: Vec<u8>, at_ms: u64) {
        let mut kept = lock(&self.kept);
        if kept.len() >= KEPT && !kept.contains_key(&key) {
            let oldest = kept.iter().min_by_key(|(_, answer)| answer.at_ms).map(|(key, _)| key.clone());
            oldest.map(|key| kept.remove(&key));
        }
        kept.insert(key, Kept { at_ms, body: Arc::new(body) });
    }
}

/// Errands that wait for a thread at most.
pub(super) const ERRANDS: usize = 64;
/// Threads that run errands.
pub(super) const ERRAND_THREADS: usize = 4;

/// A question whose answer is awaited elsewhere.
pub(super) struct Errand {
    question: Vec<u8>,
    take: Box<dyn FnOnce(Response) + Send>,
}

impl Errand {
    /// A question, and what takes its answer without waiting.
    pub(super) fn new(question: Vec<u8>, take: impl FnOnce(Response) + Send + 'static) -> Self {
        Self { question, take: Box::new(take) }
    }
}

/// Runs errands until no more can come.
pub(super) fn run_errands(questions: &Questions, errands: &Receiver<Errand>) {
    for errand in errands {
        (errand.take)(questions.answer(&errand.question));
    }
}

/// How long an answer of this kind is given again.
fn lasting_ms(kind: &str) -> u64 {
    match kind {
        _ if is_static(kind) => STATIC_MS,
        "allMids" | "l2Book" | "metaAndAssetCtxs" | "spotMetaAndAssetCtxs" | "recentTrades" | "candleSnapshot" => {
            MARKET_MS
        }
        _ if is_of_account(kind) => OWN_MS,
        _ => 0,
    }
}

/// The questions of what there is to trade.
fn is_static(kind: &str) -> bool {
    matches!(kind, "meta" | "spotMeta" | "perpDexs")
}

/// The questions about the account that the guard itself asks.
fn is_of_account(kind: &str) -> bool {
    matches!(kind, "clearinghouseState" | "frontendOpenOrders")
}

/// One text for questions that are the same: keys sorted, an empty `dex` left out.
fn key(question: &Value) -> String {
    let mut members: Vec<(&String, &Value)> = question
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, value)| !(name.as_str() == "dex" && value.as_str() == Some("")))
        .collect();
    members.sort_by_key(|(name, _)| name.as_str());
    json!(members).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::venue::client::Timeouts;

    #[test]
    fn what_there_is_to_trade_is_told_while_the_venue_is_away() {
        let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let client = Client::new(&format!("http://{nobody}"), Timeouts::default()).unwrap();
        let (ledger, metrics) = (Arc::new(Mutex::new(Ledger::new(1_200))), Arc::new(Metrics::new(0, "paper")));
        let questions = Questions::new(Arc::new(client), ledger, Address([0x11; 20]), Vec::new(), metrics);
        let long_ago = now_ms() - 10 * STATIC_MS;
        for (kind, told) in [("meta", true), ("allMids", false)] {
            let question = json!({"type": kind});
            assert_eq!(questions.answer(question.to_string().as_bytes()).status, 502, "{kind}");
            questions.keep(&question, &json!({"kept": kind}), long_ago);
            let answer = questions.answer(question.to_string().as_bytes());
            assert_eq!(answer.status, if told { 200 } else { 502 }, "{kind}");
        }
    }
}
