//! Subscriptions over which the venue ends the socket (observed: to a coin that it has no more), and with it what all others
//! hear on it. What was acknowledged is innocent. What was not is asked for alone on the next socket, until it is plain which it is.

use super::blamed::why;
use super::feed::{Feed, Phase};
use super::messages::Output;
use super::queue::FeedId;
use super::room::Relay;
use crate::venue::stream::topic::PING;

/// A socket that ends over a subscription ends within a second (observed).
const SOON_MS: u64 = 5_000;
/// A socket can end by chance once while a subscription is waited for.
const ENDS: u8 = 2;
/// What is waited for on a line: what may end the socket is asked for while nothing is, and nothing else meanwhile.
#[derive(Debug)]
pub(super) struct Flight {
    is_clear: bool,
    has_suspect: bool,
}

impl Flight {
    pub(super) fn may_take(&self, feed: &Feed) -> bool {
        !self.has_suspect && (self.is_clear || !feed.is_suspect)
    }

    pub(super) fn take(&mut self, feed: &Feed) {
        (self.is_clear, self.has_suspect) = (false, self.has_suspect || feed.is_suspect);
    }
}

/// Whether the venue was asked for it a moment ago, and has not answered.
fn is_in_flight(feed: &Feed, now_ms: u64) -> bool {
    matches!(feed.phase, Phase::Asked { since_ms, .. } if now_ms.saturating_sub(since_ms) < SOON_MS)
}

impl Relay {
    /// The venue ended a socket of clients.
    pub(super) fn suspect(&mut self, number: usize, now_ms: u64) {
        let Some(line) = self.lines.get(number).filter(|line| line.is_open()) else { return };
        // Where it said nothing on it at all, it ended it for its own reasons.
        let is_heard = line.is_heard();
        let in_flight = self.in_flight(number, now_ms);
        for id in &in_flight {
            let Some(feed) = self.feeds.get_mut(id) else { continue };
            feed.is_suspect = true;
            if is_heard && in_flight.len() == 1 {
                feed.ends_alone = feed.ends_alone.saturating_add(1);
            }
            if feed.ends_alone >= ENDS {
                let text = why(&feed.said);
                self.blamed.put(&feed.subscription, now_ms);
                self.refuse_all(*id, &text);
            }
        }
    }

    fn in_flight(&self, number: usize, now_ms: u64) -> Vec<FeedId> {
        let is_it = |feed: &Feed| feed.line == number && !feed.is_own() && is_in_flight(feed, now_ms);
        self.feeds.iter().filter(|(_, feed)| is_it(feed)).map(|(id, _)| *id).collect()
    }

    /// Before something is asked for over which the last socket may have ended: whether the venue has its coin still, and whether it
    /// answers at all.
    pub(super) fn probe_for_suspects(&mut self, number: usize, now_ms: u64, outputs: &mut Vec<Output>) {
        let suspects = self.todo.iter().filter_map(|id| self.feeds.get(id));
        let mut suspects = suspects.filter(|feed| feed.line == number && feed.is_suspect).peekable();
        if suspects.peek().is_none() || !self.lines.get_mut(number).is_some_and(super::line::Line::probe) {
            return;
        }
        let has_coin = suspects.any(|feed| !feed.subscription.coin().is_empty());
        let question = if has_coin { self.coins.ask_again(now_ms) } else { None };
        self.send(question.unwrap_or_else(|| PING.to_owned()), now_ms, outputs);
    }

    /// What is waited for on a line now.
    pub(super) fn flight(&self, number: usize, now_ms: u64) -> Flight {
        let is_heard = self.lines.get(number).is_some_and(super::line::Line::is_heard);
        let in_flight = self.todo.iter().filter_map(|id| self.feeds.get(id));
        let mut in_flight = in_flight.filter(|feed| feed.line == number && is_in_flight(feed, now_ms)).peekable();
        Flight {
            is_clear: is_heard && !self.coins.is_awaited(now_ms) && in_flight.peek().is_none(),
            has_suspect: in_flight.any(|feed| feed.is_suspect),
        }
    }

    /// What the venue's last list has no more is refused to those that have it, and ended in case that the venue holds it still.
    pub(super) fn end_unlisted(&mut self) {
        let is_over = |feed: &Feed| {
            let coin = feed.subscription.coin();
            let is_asked = matches!(feed.phase, Phase::Asked { .. } | Phase::Held);
            is_asked && !feed.is_own() && !coin.is_empty() && !feed.holders.is_empty() && !self.coins.has(coin)
        };
        let over: Vec<FeedId> = self.feeds.iter().filter(|(_, feed)| is_over(feed)).map(|(id, _)| *id).collect();
        for id in over {
            if let Some(text) = self.feeds.get(&id).map(|feed| format!("Invalid subscription {}", feed.said)) {
                self.tell_refused(id, &text);
                self.todo.insert(id);
            }
        }
    }
}
