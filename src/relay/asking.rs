//! Asking the venue: subscriptions begun, ended and begun anew, each as often as it makes sense, and no more.

use super::coins::{Coins, Known, LISTS, Turn};
use super::feed::{Feed, Phase};
use super::limits::unsigned_leave;
use super::messages::{ClientId, Output};
use super::queue::FeedId;
use super::room::Relay;
use super::suspects::Flight;
use super::turns::Turns;

/// An answer comes at once.
const ANSWER_MS: u64 = 10_000;
/// So often something is asked that is not answered.
const TRIES: u8 = 3;
/// A feed is begun anew no more often than this, however many come late.
const RENEW_MS: u64 = 5_000;
/// What cannot be asked for yet is looked at again after this, unless something happens to it before.
const REST_MS: u64 = 500;
/// Messages that are kept for pings.
const FOR_PINGS: usize = 24;

/// The next thing to do about a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    Nothing,
    Later,
    Ask,
    End,
    /// To be ended, and then begun again.
    Renew,
    /// The venue does not answer.
    GiveUp,
}

fn due(feed: &Feed, now_ms: u64) -> Due {
    let is_wanted = !feed.holders.is_empty();
    let waits = |since_ms: u64, most_ms: u64| now_ms.saturating_sub(since_ms) < most_ms;
    match feed.phase {
        Phase::Unasked => Due::Ask,
        Phase::Asked { .. } | Phase::Held if !is_wanted => Due::End,
        Phase::Held if !feed.is_stale && !feed.is_silent(now_ms) => Due::Nothing,
        Phase::Held if feed.renewed_ms.is_some_and(|renewed_ms| waits(renewed_ms, RENEW_MS)) => Due::Later,
        Phase::Held => Due::Renew,
        Phase::Asked { since_ms, .. } | Phase::Ending { since_ms, .. } if waits(since_ms, ANSWER_MS) => Due::Later,
        Phase::Asked { tries, .. } if tries < TRIES => Due::Ask,
        Phase::Asked { .. } => Due::GiveUp,
        Phase::Ending { tries, .. } if tries < TRIES => Due::End,
        // The venue may hold it still: then it says so.
        Phase::Ending { .. } if is_wanted => Due::Ask,
        Phase::Ending { .. } => Due::Nothing,
    }
}

impl Relay {
    /// Sends what is due on a line: for clients that signed first, and the last eighth of what may be sent for them alone.
    pub(super) fn ask_due(&mut self, number: usize, now_ms: u64, outputs: &mut Vec<Output>) {
        let is_due = |feed: &Feed| {
            let is_now = !matches!(due(feed, now_ms), Due::Later);
            feed.line == number && feed.rests_until_ms <= now_ms && is_now
        };
        let due = self.todo.iter().filter(|id| self.feeds.get(id).is_some_and(is_due));
        let due: Vec<FeedId> = due.copied().collect();
        if due.is_empty() {
            return;
        }
        let signed = self.clients.signed_feeds();
        let (first, last): (Vec<_>, Vec<_>) = due.into_iter().partition(|id| signed.contains(id));
        let kept = unsigned_leave(self.config.limits.messages).max(FOR_PINGS.saturating_mul(2));
        let (mut flight, mut turns) = (self.flight(number, now_ms), None);
        for (id, kept) in first.into_iter().map(|id| (id, FOR_PINGS)).chain(last.into_iter().map(|id| (id, kept))) {
            if self.messages.room(now_ms) > kept {
                self.ask(id, &mut flight, &mut turns, now_ms, outputs);
            } else {
                self.rest(id, now_ms);
            }
        }
    }

    /// Nothing changes for it so soon, and many may wait.
    fn rest(&mut self, id: FeedId, now_ms: u64) {
        if let Some(feed) = self.feeds.get_mut(&id) {
            feed.rests_until_ms = now_ms.saturating_add(REST_MS);
        }
    }

    /// Sends what is due about one subscription.
    fn ask(
        &mut self,
        id: FeedId,
        flight: &mut Flight,
        turns: &mut Option<Turns>,
        now_ms: u64,
        outputs: &mut Vec<Output>,
    ) {
        let Some(feed) = self.feeds.get(&id) else { return };
        match due(feed, now_ms) {
            Due::Nothing => drop(self.todo.remove(&id)),
            Due::Ask if flight.may_take(feed) => self.ask_for(id, flight, turns, now_ms, outputs),
            Due::Later | Due::Ask => {}
            Due::End => self.ask_for_end(id, now_ms, outputs),
            // What nobody asked for takes no message from who does.
            Due::Renew if feed.is_stale || self.messages.is_half_free(now_ms) => {
                if let Some(feed) = self.feeds.get_mut(&id) {
                    feed.renew(now_ms);
                }
                self.ask_for_end(id, now_ms, outputs);
            }
            Due::Renew => {}
            Due::GiveUp => {
                let text = format!("Invalid subscription {}: the venue does not answer", feed.said);
                self.tell_refused(id, &text);
            }
        }
    }

    fn ask_for(
        &mut self,
        id: FeedId,
        flight: &mut Flight,
        turns: &mut Option<Turns>,
        now_ms: u64,
        outputs: &mut Vec<Output>,
    ) {
        if self.waits_for_another(id) || !self.has_coin(id, turns, now_ms, outputs) {
            return;
        }
        let turn = self.last_turn.saturating_add(1);
        let Some(feed) = self.feeds.get_mut(&id) else { return };
        let tries = if let Phase::Asked { tries, .. } = feed.phase { tries.saturating_add(1) } else { 1 };
        if matches!(feed.phase, Phase::Ending { .. }) {
            // Whether it ended or not: what it tells from here on is a beginning, and what it told before is old.
            feed.forget();
        }
        feed.phase = Phase::Asked { since_ms: now_ms, tries, turn };
        flight.take(feed);
        let asked = feed.subscription.asked();
        self.last_turn = turn;
        self.send(format!(r#"{{"method":"subscribe","subscription":{asked}}}"#), now_ms, outputs);
    }

    fn ask_for_end(&mut self, id: FeedId, now_ms: u64, outputs: &mut Vec<Output>) {
        let Some(feed) = self.feeds.get_mut(&id) else { return };
        let tries = if let Phase::Ending { tries, .. } = feed.phase { tries.saturating_add(1) } else { 1 };
        feed.phase = Phase::Ending { since_ms: now_ms, tries };
        let asked = feed.subscription.asked();
        self.send(format!(r#"{{"method":"unsubscribe","subscription":{asked}}}"#), now_ms, outputs);
    }

    pub(super) fn send(&mut self, text: String, now_ms: u64, outputs: &mut Vec<Output>) {
        self.messages.take(now_ms);
        outputs.push(Output::Send(text));
    }

    /// The refusal of one user too many names no subscription: so no two that it can be about are asked for at a time.
    fn waits_for_another(&self, id: FeedId) -> bool {
        let Some(feed) = self.feeds.get(&id).filter(|feed| self.is_of_new_user(feed)) else { return false };
        let is_asked = |other: &Feed| other.line == feed.line && matches!(other.phase, Phase::Asked { .. });
        self.feeds.iter().any(|(other_id, other)| *other_id != id && is_asked(other) && self.is_of_new_user(other))
    }

    /// Whether it is of a user of whom the venue holds nothing else yet.
    pub(super) fn is_of_new_user(&self, feed: &Feed) -> bool {
        let holds =
            |user| self.feeds.values().any(|other| other.phase == Phase::Held && other.subscription.user == user);
        feed.subscription.user.is_some() && !holds(feed.subscription.user)
    }

    /// Whether the venue is known to have its coin, if it has one: else the venue is asked, or who wants it refused.
    fn has_coin(&mut self, id: FeedId, turns: &mut Option<Turns>, now_ms: u64, outputs: &mut Vec<Output>) -> bool {
        let Some(feed) = self.feeds.get(&id).filter(|feed| !feed.subscription.coin().is_empty()) else { return true };
        let (coin, said) = (feed.subscription.coin().to_owned(), feed.said.clone());
        let (turn, payer) = self.turn(id, &coin, turns, now_ms);
        match self.coins.is_known(&coin, turn, now_ms) {
            Known::Yes => return true,
            Known::Waits => self.rest(id, now_ms),
            Known::No => self.refuse_all(id, &format!("Invalid subscription {said}")),
            Known::NoList => {
                let text = format!("Invalid subscription {said}: the venue does not tell which coins it lists");
                self.refuse_all(id, &text);
            }
            Known::TooMany => {
                let part = turns.as_ref().map_or(LISTS, |turns| self.least_part(id, turns));
                self.refuse_all(id, &format!("Cannot ask for more than {part} dexes per minute."));
            }
            Known::Ask(question) => {
                if let Some(client) = payer.and_then(|client| self.clients.get_mut(client)) {
                    client.lists.take(now_ms);
                }
                *turns = None;
                self.rest(id, now_ms);
                self.send(question, now_ms, outputs);
            }
        }
        false
    }

    /// Whether a dex's list may be asked for now, and for which of those who wait. Who has had its part is refused, so that
    /// names that it makes up take nobody else's turn.
    fn turn(&mut self, id: FeedId, coin: &str, turns: &mut Option<Turns>, now_ms: u64) -> (Turn, Option<ClientId>) {
        if Coins::dex(coin).is_empty() || self.coins.has(coin) {
            return (Turn::Now, None);
        }
        let turns = turns.get_or_insert_with(|| self.clients.turns(self.coins.taken(now_ms), now_ms));
        let holders =
            || self.feeds.get(&id).into_iter().flat_map(|feed| feed.holders.keys()).map(|(client, _)| *client);
        match turns.first(holders()) {
            Some(client) => (Turn::Now, Some(client)),
            None if turns.may_later(holders()) => (Turn::Later, None),
            None => (Turn::Never, None),
        }
    }

    /// The smallest part that any of those who have it has of the lists.
    fn least_part(&self, id: FeedId, turns: &Turns) -> usize {
        let holders = self.feeds.get(&id).into_iter().flat_map(|feed| feed.holders.keys());
        holders.filter_map(|(client, _)| turns.part(*client)).min().unwrap_or(LISTS)
    }
}
