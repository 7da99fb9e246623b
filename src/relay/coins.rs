//! Which coins the venue trades: a subscription to one that it does not can cost the whole socket (observed), and with it
//! what all others hear. So a coin is subscribed to once a list of the venue's has it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::feed::Rolling;

/// Lists that are asked for in a minute: 2 of the venue's weight each, should it count them.
const LISTS: usize = 12;
/// A list is as good as new for so long, and waited for as long.
const FRESH_MS: u64 = 10_000;
/// Dexes and coins that are remembered; the venue has some thousands of coins.
const MOST_DEXES: usize = 64;
const MOST_COINS: usize = 50_000;

/// What was read.
#[derive(Debug)]
pub(super) struct Coins {
    known: BTreeSet<String>,
    lists: BTreeMap<String, List>,
    asked: Rolling,
    last_id: u64,
}

#[derive(Debug, Default)]
struct List {
    /// The question on its way, and since when.
    pending: Option<(u64, u64)>,
    read_ms: Option<u64>,
}

/// What is known of a coin.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Known {
    Yes,
    No,
    /// Not yet.
    Waits,
    /// Not before this was sent and answered.
    Ask(String),
}

impl Default for Coins {
    fn default() -> Self {
        Self { known: BTreeSet::new(), lists: BTreeMap::new(), asked: Rolling::new(LISTS), last_id: 0 }
    }
}

impl Coins {
    pub(super) fn is_known(&mut self, coin: &str, now_ms: u64) -> Known {
        if self.known.contains(coin) {
            return Known::Yes;
        }
        let dex = coin.split_once(':').map_or("", |(dex, _)| dex);
        if self.lists.len() >= MOST_DEXES && !self.lists.contains_key(dex) {
            return Known::No;
        }
        let list = self.lists.entry(dex.to_owned()).or_default();
        let is_recent = |then_ms: u64| now_ms.saturating_sub(then_ms) < FRESH_MS;
        match (list.pending, list.read_ms) {
            (Some((_, since_ms)), _) if is_recent(since_ms) => return Known::Waits,
            // No answer: a dex that the venue does not have is not worth a second question.
            (Some(_), _) => {
                (list.pending, list.read_ms) = (None, Some(now_ms));
                return Known::No;
            }
            (None, Some(read_ms)) if is_recent(read_ms) => return Known::No,
            _ if self.asked.room(now_ms) == 0 => return Known::Waits,
            _ => {}
        }
        self.asked.take(now_ms);
        self.last_id = self.last_id.saturating_add(1);
        list.pending = Some((self.last_id, now_ms));
        let question = match dex {
            "" => json!({"type": "allMids"}),
            dex => json!({"type": "allMids", "dex": dex}),
        };
        let request = json!({"type": "info", "payload": question});
        Known::Ask(json!({"method": "post", "id": self.last_id, "request": request}).to_string())
    }

    /// A question was answered, with a list or without.
    pub(super) fn answered(&mut self, id: u64, list: Option<&RawValue>, now_ms: u64) {
        let is_it = |list: &&mut List| list.pending.is_some_and(|(pending, _)| pending == id);
        let Some(asked) = self.lists.values_mut().find(is_it) else { return };
        *asked = List { pending: None, read_ms: Some(now_ms) };
        let mids: Option<BTreeMap<String, Value>> = list.and_then(|list| serde_json::from_str(list.get()).ok());
        let room = MOST_COINS.saturating_sub(self.known.len());
        self.known.extend(mids.unwrap_or_default().into_keys().take(room));
    }

    /// No answer comes any more.
    pub(super) fn lost(&mut self) {
        self.lists.values_mut().for_each(|list| list.pending = None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Box<RawValue> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_coin_is_known_once_a_list_has_it() {
        let mut coins = Coins::default();
        let Known::Ask(question) = coins.is_known("BTC", 0) else { panic!() };
        assert!(question.contains(r#""payload":{"type":"allMids"}"#), "{question}");
        assert_eq!(coins.is_known("ETH", 9_999), Known::Waits);
        coins.answered(7, Some(&list(r#"{"ETH":"1"}"#)), 10);
        assert_eq!(coins.is_known("ETH", 10), Known::Waits, "another question's answer");
        coins.answered(1, Some(&list(r#"{"BTC":"1"}"#)), 10);
        assert_eq!([coins.is_known("BTC", 10), coins.is_known("ETH", 10_009)], [Known::Yes, Known::No]);
        assert!(matches!(coins.is_known("ETH", 10_010), Known::Ask(_)), "it may be listed by now");
        let Known::Ask(question) = coins.is_known("xyz:TSLA", 10_010) else { panic!() };
        assert!(question.contains(r#""dex":"xyz""#), "{question}");
        assert_eq!(coins.is_known("xyz:TSLA", 20_010), Known::No, "nobody answers");
    }

    #[test]
    fn lists_are_bounded() {
        let mut coins = Coins::default();
        let asked = (0..1_000).filter(|n| matches!(coins.is_known(&format!("d{n}:A"), 0), Known::Ask(_))).count();
        assert_eq!((asked, coins.lists.len()), (LISTS, MOST_DEXES));
        assert_eq!(coins.is_known("BTC", 0), Known::No);
    }
}
