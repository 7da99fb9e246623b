//! Answers of `/info` that are given again for a while: a client's question often is one that the guard or another client
//! has just asked.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::base::clock::now_ms;
use crate::base::sync::lock;

/// Answers kept at most; the oldest goes first.
const KEPT: usize = 256;
/// Bytes that they and their questions take together at most: whoever asks for long answers, one after another, takes no more
/// than these.
const KEPT_BYTES: usize = 8 << 20;
/// A longer answer puts out no others; it is not kept.
const LONGEST: usize = KEPT_BYTES / 4;
/// How long answers that hardly change are given again.
const STATIC_MS: u64 = 60_000;
/// How long market answers are given again.
const MARKET_MS: u64 = 500;
/// How long the guard's own reads are given again: one interval at full budget.
const OWN_MS: u64 = 1_000;

/// The cache.
#[derive(Default)]
pub(in crate::service) struct InfoCache {
    answers: Mutex<Answers>,
    /// Answers about the account that were asked for before the end of this millisecond may be out of date.
    account_since_ms: AtomicU64,
}

/// By question, and the bytes of all of them.
#[derive(Default)]
struct Answers {
    by_key: HashMap<String, Answer>,
    bytes: usize,
}

impl Answers {
    fn remove(&mut self, key: &str) {
        if let Some((key, answer)) = self.by_key.remove_entry(key) {
            self.bytes = self.bytes.saturating_sub(taken(&key, &answer.body));
        }
    }

    fn insert(&mut self, key: String, answer: Answer) {
        self.bytes = self.bytes.saturating_add(taken(&key, &answer.body));
        self.by_key.insert(key, answer);
    }

    fn is_over(&self) -> bool {
        self.by_key.len() > KEPT || self.bytes > KEPT_BYTES
    }

    fn oldest(&self) -> Option<String> {
        self.by_key.iter().min_by_key(|(_, answer)| answer.begun_ms).map(|(key, _)| key.clone())
    }
}

/// Bytes that an answer takes, with its question.
fn taken(key: &str, body: &[u8]) -> usize {
    key.len().saturating_add(body.len())
}

struct Answer {
    /// When it was asked for.
    begun_ms: u64,
    body: Arc<Vec<u8>>,
}

impl InfoCache {
    /// An action was sent: a client that asks about the account now must see what it did.
    pub(in crate::service) fn account_changed(&self) {
        self.account_since_ms.store(now_ms(), Ordering::SeqCst);
    }

    /// Keeps an answer that was asked for at `begun_ms`, unless a newer one is kept.
    pub(in crate::service) fn keep(&self, key: String, mut body: Vec<u8>, begun_ms: u64) {
        if taken(&key, &body) > LONGEST {
            return;
        }
        body.shrink_to_fit();
        let mut answers = lock(&self.answers);
        if answers.by_key.get(&key).is_some_and(|kept| kept.begun_ms > begun_ms) {
            return;
        }
        answers.remove(&key);
        answers.insert(key, Answer { begun_ms, body: Arc::new(body) });
        while answers.is_over()
            && let Some(oldest) = answers.oldest()
        {
            answers.remove(&oldest);
        }
    }

    /// The answer to a question of this kind, while it still holds.
    pub(in crate::service) fn fresh(&self, kind: &str, key: &str) -> Option<Arc<Vec<u8>>> {
        let since_ms = if is_of_account(kind) { self.account_since_ms.load(Ordering::SeqCst) } else { 0 };
        self.recall(key, lasting_ms(kind), since_ms)
    }

    /// The last answer to a question of what there is to trade, however old: who cannot read that cannot even close, and it
    /// is hardly ever out of date.
    pub(in crate::service) fn last_of_markets(&self, kind: &str, key: &str) -> Option<Arc<Vec<u8>>> {
        if is_static(kind) { self.recall(key, u64::MAX, 0) } else { None }
    }

    fn recall(&self, key: &str, lasting_ms: u64, since_ms: u64) -> Option<Arc<Vec<u8>>> {
        let answers = lock(&self.answers);
        let answer = answers.by_key.get(key)?;
        let is_fresh = now_ms().saturating_sub(answer.begun_ms) <= lasting_ms && answer.begun_ms > since_ms;
        is_fresh.then(|| Arc::clone(&answer.body))
    }
}

/// One text for questions that are the same: keys sorted, an empty `dex` left out.
pub(in crate::service) fn key(question: &Value) -> String {
    let mut members: Vec<(&String, &Value)> = question
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, value)| !(name.as_str() == "dex" && value.as_str() == Some("")))
        .collect();
    members.sort_by_key(|(name, _)| name.as_str());
    json!(members).to_string()
}

/// How long an answer of this kind is given again; 0 for one that is not kept.
pub(in crate::service) fn lasting_ms(kind: &str) -> u64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_answer_takes_the_place_of_no_newer_one() {
        let (cache, now_ms) = (InfoCache::default(), now_ms());
        let keeps = |body: &[u8], begun_ms: u64| {
            cache.keep("q".to_owned(), body.to_vec(), begun_ms);
            cache.fresh("meta", "q").is_some_and(|kept| *kept == body)
        };
        assert!(keeps(b"new", now_ms) && !keeps(b"late", now_ms - 1) && keeps(b"as new", now_ms));
    }

    fn kept(cache: &InfoCache, key: &str) -> bool {
        cache.recall(key, u64::MAX, 0).is_some()
    }

    #[test]
    fn answers_take_so_many_bytes_together_and_the_oldest_goes_first() {
        let cache = InfoCache::default();
        let begun_ms = now_ms();
        let longest = |key: &str| vec![0; LONGEST - key.len()];
        for (at, key) in (0..).zip(["c", "a", "b", "d"]) {
            cache.keep(key.to_owned(), longest(key), begun_ms + at);
        }
        let all = || ["c", "a", "b", "d", "e", "f"].map(|key| kept(&cache, key));
        assert_eq!((all(), lock(&cache.answers).bytes), ([true, true, true, true, false, false], KEPT_BYTES));
        cache.keep("f".to_owned(), vec![0; LONGEST], begun_ms + 10);
        assert_eq!(all(), [true, true, true, true, false, false], "one byte over a quarter with its question");
        cache.keep("e".to_owned(), Vec::new(), begun_ms + 10);
        assert_eq!(all(), [false, true, true, true, true, false]);
        // Another answer to the same question takes the place of the one before it, whole.
        cache.keep("d".to_owned(), vec![0; 9], begun_ms + 11);
        assert_eq!(lock(&cache.answers).bytes, 2 * LONGEST + 10 + 1);
        assert_eq!(all(), [false, true, true, true, true, false]);
    }

    #[test]
    fn so_many_answers_are_kept() {
        let cache = InfoCache::default();
        let begun_ms = now_ms();
        (0..=KEPT).for_each(|at| cache.keep(at.to_string(), Vec::new(), begun_ms + at as u64));
        assert_eq!((0..=KEPT).filter(|at| !kept(&cache, &at.to_string())).collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn an_answer_of_the_millisecond_of_a_change_may_be_from_before_it() {
        let cache = InfoCache::default();
        cache.account_changed();
        let changed_ms = cache.account_since_ms.load(Ordering::SeqCst);
        for (begun_ms, holds) in [(changed_ms, false), (changed_ms + 1, true)] {
            cache.keep("q".to_owned(), b"answer".to_vec(), begun_ms);
            assert_eq!(cache.fresh("clearinghouseState", "q").is_some(), holds);
        }
    }
}
