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
/// How long answers that hardly change are given again.
const STATIC_MS: u64 = 60_000;
/// How long market answers are given again.
const MARKET_MS: u64 = 500;
/// How long the guard's own reads are given again: one interval at full budget.
const OWN_MS: u64 = 1_000;

/// The cache.
#[derive(Default)]
pub(in crate::service) struct InfoCache {
    answers: Mutex<HashMap<String, Answer>>,
    /// Answers about the account that were asked for before the end of this millisecond may be out of date.
    account_since_ms: AtomicU64,
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
    pub(in crate::service) fn keep(&self, key: String, body: Vec<u8>, begun_ms: u64) {
        let mut answers = lock(&self.answers);
        if answers.get(&key).is_some_and(|kept| kept.begun_ms > begun_ms) {
            return;
        }
        if answers.len() >= KEPT && !answers.contains_key(&key) {
            let oldest = answers.iter().min_by_key(|(_, answer)| answer.begun_ms).map(|(key, _)| key.clone());
            oldest.map(|key| answers.remove(&key));
        }
        answers.insert(key, Answer { begun_ms, body: Arc::new(body) });
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
        let answer = answers.get(key)?;
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
