//! Which coins the venue trades: a subscription to one that it does not can cost the whole socket (observed), and with it
//! what all others hear. So a coin is subscribed to once a list of the venue's has it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::feed::Rolling;

/// Lists of dexes that are asked for in a minute: 2 of the venue's weight each, should it count them. The main list is not
/// among them: it is asked for once while it is fresh and once on a new socket, and waits for no dex.
pub(super) const LISTS: usize = 12;
/// A list is as good as new for so long, and waited for as long.
const FRESH_MS: u64 = 10_000;
/// So often in a row the main list is asked for where the venue answers with none: that says of no coin that it is not listed.
const TRIES: u32 = 5;
/// The pause after the first of them, twice as long after each: together longer than the minute for which the venue may refuse.
const PAUSE_MS: u64 = 5_000;
/// So long after the last of them who waits is told that there is no answer; who comes later waits for the next.
const TOLD_MS: u64 = 1_000;
/// Coins that are remembered; the venue has some thousands.
const MOST_COINS: usize = 50_000;

/// What was read.
#[derive(Debug)]
pub(super) struct Coins {
    known: BTreeSet<String>,
    main: List,
    /// Those that are waited for or fresh: a dex can be made up, so none has a place for long.
    dexes: BTreeMap<String, List>,
    asked: Rolling,
    last_id: u64,
}

#[derive(Debug, Default)]
struct List {
    /// The question on its way, and since when.
    pending: Option<(u64, u64)>,
    read_ms: Option<u64>,
    /// How often in a row there was no answer or one without a list, and the last time of that.
    unheard: (u32, u64),
}

impl List {
    /// There is no list, which is not an empty one.
    fn was_unheard(&mut self, now_ms: u64) {
        let tries = self.unheard.0.saturating_add(1);
        *self = Self { pending: None, read_ms: None, unheard: (tries, now_ms) };
    }

    /// What holds until it may be asked for again.
    fn pauses(&mut self, now_ms: u64) -> Option<Known> {
        let (tries, last_ms) = self.unheard;
        let is_within = |most_ms: u64| now_ms.saturating_sub(last_ms) < most_ms;
        match tries {
            0 => None,
            1..TRIES => is_within(PAUSE_MS << (tries - 1)).then_some(Known::Waits),
            TRIES.. if is_within(TOLD_MS) => Some(Known::NoList),
            TRIES.. => {
                self.unheard = (0, now_ms);
                None
            }
        }
    }

    fn is_in_use(&self, now_ms: u64) -> bool {
        let since_ms = self.pending.map(|(_, since_ms)| since_ms).max(self.read_ms);
        since_ms.is_some_and(|since_ms| now_ms.saturating_sub(since_ms) < FRESH_MS.saturating_mul(2))
    }
}

/// Whether the list of one more dex may be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Now,
    Later,
    /// Not for who asks for so many.
    Never,
}

/// What is known of a coin.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Known {
    Yes,
    No,
    /// The venue was asked often enough, and tells of none.
    NoList,
    /// Not yet.
    Waits,
    /// Not before this was sent and answered.
    Ask(String),
    /// Not for who asks for so many dexes.
    TooMany,
}

impl Default for Coins {
    fn default() -> Self {
        let (known, main, dexes) = (BTreeSet::new(), List::default(), BTreeMap::new());
        Self { known, main, dexes, asked: Rolling::new(LISTS), last_id: 0 }
    }
}

impl Coins {
    /// The dex of a coin; empty for the main list's.
    pub(super) fn dex(coin: &str) -> &str {
        coin.split_once(':').map_or("", |(dex, _)| dex)
    }

    /// How many lists of dexes were asked for in the last minute.
    pub(super) fn taken(&mut self, now_ms: u64) -> usize {
        self.asked.taken(now_ms)
    }

    pub(super) fn is_known(&mut self, coin: &str, turn: Turn, now_ms: u64) -> Known {
        if self.known.contains(coin) {
            return Known::Yes;
        }
        let dex = Self::dex(coin);
        self.dexes.retain(|_, list| list.is_in_use(now_ms));
        let mut unheard_of = List::default();
        let list = if dex.is_empty() { &mut self.main } else { self.dexes.get_mut(dex).unwrap_or(&mut unheard_of) };
        let is_recent = |then_ms: u64| now_ms.saturating_sub(then_ms) < FRESH_MS;
        match (list.pending, list.read_ms) {
            (Some((_, since_ms)), _) if is_recent(since_ms) => return Known::Waits,
            (Some(_), _) if dex.is_empty() => list.was_unheard(now_ms),
            // No answer: a dex that the venue does not have is not worth a second question.
            (Some(_), _) => {
                (list.pending, list.read_ms) = (None, Some(now_ms));
                return Known::No;
            }
            (None, Some(read_ms)) if is_recent(read_ms) => return Known::No,
            _ => {}
        }
        if let Some(known) = list.pauses(now_ms) {
            return known;
        }
        self.last_id = self.last_id.saturating_add(1);
        let asked = List { pending: Some((self.last_id, now_ms)), read_ms: None, unheard: list.unheard };
        match turn {
            _ if dex.is_empty() => self.main = asked,
            Turn::Never => return Known::TooMany,
            Turn::Now if self.asked.room(now_ms) > 0 => {
                self.asked.take(now_ms);
                self.dexes.insert(dex.to_owned(), asked);
            }
            Turn::Now | Turn::Later => return Known::Waits,
        }
        Known::Ask(question(self.last_id, dex))
    }

    /// Asks for the main list anew, however fresh it is: it may have a coin no longer.
    pub(super) fn ask_again(&mut self, now_ms: u64) -> Option<String> {
        if self.is_awaited(now_ms) {
            return None;
        }
        self.last_id = self.last_id.saturating_add(1);
        self.main.pending = Some((self.last_id, now_ms));
        Some(question(self.last_id, ""))
    }

    /// Whether the main list is on its way.
    pub(super) fn is_awaited(&self, now_ms: u64) -> bool {
        self.main.pending.is_some_and(|(_, since_ms)| now_ms.saturating_sub(since_ms) < FRESH_MS)
    }

    /// Whether the last list that there was of its dex has it.
    pub(super) fn has(&self, coin: &str) -> bool {
        self.known.contains(coin)
    }

    /// The dex that a question is about.
    fn dex_of(&self, id: u64) -> Option<&str> {
        let is_it = |list: &List| list.pending.is_some_and(|(pending, _)| pending == id);
        let of_dex = self.dexes.iter().find(|(_, list)| is_it(list)).map(|(dex, _)| dex.as_str());
        if is_it(&self.main) { Some("") } else { of_dex }
    }

    /// A question was answered, with a list or without.
    pub(super) fn answered(&mut self, id: u64, list: Option<&RawValue>, now_ms: u64) {
        let dex = self.dex_of(id).unwrap_or_default().to_owned();
        let mids: Option<BTreeMap<String, Value>> = list.and_then(|list| serde_json::from_str(list.get()).ok());
        let is_it = |list: &List| list.pending.is_some_and(|(pending, _)| pending == id);
        if is_it(&self.main) && mids.as_ref().is_none_or(BTreeMap::is_empty) {
            return self.main.was_unheard(now_ms);
        }
        let Some(asked) = self.lists().find(|list| is_it(list)) else { return };
        *asked = List { pending: None, read_ms: Some(now_ms), unheard: (0, now_ms) };
        let mids = mids.unwrap_or_default();
        if !mids.is_empty() {
            // What a whole list has no more is over.
            self.known.retain(|coin| Self::dex(coin) != dex || mids.contains_key(coin));
        }
        let room = MOST_COINS.saturating_sub(self.known.len());
        self.known.extend(mids.into_keys().take(room));
    }

    /// No answer comes any more.
    pub(super) fn lost(&mut self) {
        self.lists().for_each(|list| list.pending = None);
    }

    fn lists(&mut self) -> impl Iterator<Item = &mut List> {
        std::iter::once(&mut self.main).chain(self.dexes.values_mut())
    }
}

fn question(id: u64, dex: &str) -> String {
    let question = match dex {
        "" => json!({"type": "allMids"}),
        dex => json!({"type": "allMids", "dex": dex}),
    };
    let request = json!({"type": "info", "payload": question});
    json!({"method": "post", "id": id, "request": request}).to_string()
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
        let Known::Ask(question) = coins.is_known("BTC", Turn::Now, 0) else { panic!() };
        assert!(question.contains(r#""payload":{"type":"allMids"}"#), "{question}");
        assert_eq!(coins.is_known("ETH", Turn::Now, 9_999), Known::Waits);
        coins.answered(7, Some(&list(r#"{"ETH":"1"}"#)), 10);
        assert_eq!(coins.is_known("ETH", Turn::Now, 10), Known::Waits, "another question's answer");
        coins.answered(1, Some(&list(r#"{"BTC":"1"}"#)), 10);
        assert_eq!(
            [coins.is_known("BTC", Turn::Now, 10), coins.is_known("ETH", Turn::Now, 10_009)],
            [Known::Yes, Known::No]
        );
        assert!(matches!(coins.is_known("ETH", Turn::Now, 10_010), Known::Ask(_)), "it may be listed by now");
        let Known::Ask(question) = coins.is_known("xyz:TSLA", Turn::Now, 10_010) else { panic!() };
        assert!(question.contains(r#""dex":"xyz""#), "{question}");
        assert_eq!(coins.is_known("xyz:TSLA", Turn::Now, 20_010), Known::No, "nobody answers");
    }

    /// Neither silence nor a refusal nor an empty answer says that a coin is not listed.
    #[test]
    fn while_the_venue_tells_of_no_list_a_coin_waits_and_is_asked_for_again_with_pauses() {
        for answer in [None, Some("null"), Some("[]"), Some("{}")] {
            let mut coins = Coins::default();
            let mut now_ms = 0;
            for pause_ms in [5_000, 10_000, 20_000, 40_000] {
                assert!(matches!(coins.is_known("BTC", Turn::Now, now_ms), Known::Ask(_)), "{answer:?} {now_ms}");
                coins.answered(coins.last_id, answer.map(list).as_deref(), now_ms);
                assert_eq!(coins.is_known("BTC", Turn::Now, now_ms + pause_ms - 1), Known::Waits, "{answer:?}");
                now_ms += pause_ms;
            }
            assert!(now_ms > 60_000 && matches!(coins.is_known("BTC", Turn::Now, now_ms), Known::Ask(_)));
            coins.answered(coins.last_id, answer.map(list).as_deref(), now_ms);
            assert_eq!(coins.is_known("BTC", Turn::Now, now_ms + 999), Known::NoList);
            assert!(matches!(coins.is_known("BTC", Turn::Now, now_ms + 1_000), Known::Ask(_)), "for who comes then");
            coins.answered(coins.last_id, Some(&list(r#"{"BTC":"1"}"#)), now_ms + 1_010);
            assert_eq!(
                ["BTC", "ETH"].map(|coin| coins.is_known(coin, Turn::Now, now_ms + 1_010)),
                [Known::Yes, Known::No]
            );
        }
    }

    #[test]
    fn a_question_that_nobody_answers_is_one_of_them_and_one_of_a_lost_socket_is_none() {
        let mut coins = Coins::default();
        let asks = |known: Known| matches!(known, Known::Ask(_));
        assert!(asks(coins.is_known("BTC", Turn::Now, 0)));
        coins.lost();
        assert!(asks(coins.is_known("BTC", Turn::Now, 1)), "at once on the next socket");
        assert_eq!(
            [10_000, 10_001, 15_000].map(|at| coins.is_known("BTC", Turn::Now, at)),
            [const { Known::Waits }; 3]
        );
        coins.lost();
        assert_eq!(coins.is_known("BTC", Turn::Now, 15_000), Known::Waits, "the pause holds on");
        assert!(asks(coins.is_known("BTC", Turn::Now, 15_001)));
    }

    #[test]
    fn a_coin_is_known_no_more_once_its_own_list_has_it_no_more() {
        let mut coins = Coins::default();
        assert!(matches!(coins.is_known("BTC", Turn::Now, 0), Known::Ask(_)));
        coins.answered(1, Some(&list(r##"{"BTC":"1","#7":"1"}"##)), 0);
        assert!(matches!(coins.is_known("d:A", Turn::Now, 0), Known::Ask(_)));
        coins.answered(2, Some(&list(r#"{"d:A":"1"}"#)), 0);
        assert!(["BTC", "#7", "d:A"].iter().all(|coin| coins.has(coin)), "another dex's list says nothing of it");
        assert!(coins.ask_again(5).is_some() && coins.ask_again(10_004).is_none() && coins.is_awaited(10_004));
        coins.answered(3, None, 10_004);
        assert!(coins.has("#7"), "no list says nothing");
        assert!(coins.ask_again(20_000).is_some() && coins.ask_again(30_000).is_some(), "nobody answers");
        coins.answered(5, Some(&list(r#"{"BTC":"1"}"#)), 30_000);
        assert_eq!(["BTC", "#7", "d:A"].map(|coin| coins.has(coin)), [true, false, true]);
        assert_eq!(coins.is_known("#7", Turn::Now, 30_000), Known::No);
    }

    #[test]
    fn made_up_dexes_are_bounded_and_forgotten_and_keep_no_coin_waiting() {
        let mut coins = Coins::default();
        let mut asked = |now_ms| {
            let ask = |n: &usize| matches!(coins.is_known(&format!("d{n}:A"), Turn::Now, now_ms), Known::Ask(_));
            ((0..1_000).filter(ask).count(), coins.dexes.len())
        };
        assert_eq!([asked(0), asked(30_000), asked(60_000)], [(LISTS, LISTS), (0, 0), (LISTS, LISTS)]);
        assert!(matches!(coins.is_known("BTC", Turn::Later, 60_000), Known::Ask(_)), "it has a place of its own");
        coins.answered(coins.last_id, Some(&list(r#"{"BTC":"1"}"#)), 60_010);
        assert_eq!(coins.is_known("BTC", Turn::Never, 60_010), Known::Yes);
        assert_eq!(coins.is_known("xyz:A", Turn::Later, 60_010), Known::Waits);
        assert_eq!(coins.is_known("xyz:A", Turn::Never, 60_010), Known::TooMany);
        assert_eq!(coins.is_known("d0:A", Turn::Never, 60_010), Known::Waits, "that is asked for already");
    }
}
