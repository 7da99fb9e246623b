//! One socket from its opening to its end: what is subscribed on it, and what it is good for.

use std::collections::{BTreeMap, BTreeSet};

use super::backlog::Backlog;
use super::heartbeat::Heartbeat;
use super::life::{Life, Need};
use super::limits::Rolling;
use super::messages::{Counts, Now, Output, Stage};
use crate::base::address::Address;
use crate::venue::stream::data::Data;
use crate::venue::stream::frame::{Frame, FrameError};
use crate::venue::stream::refusal::Refusal;
use crate::venue::stream::topic::{AccountFeed, MarketFeed, PING, Subscription, Topic};

/// Messages a minute that are kept for pings.
const PINGS: usize = 8;

/// One socket.
#[derive(Debug)]
pub(super) struct Session {
    number: u64,
    stage: Stage,
    /// Since when it is live.
    live_ms: Option<u64>,
    lives: BTreeMap<Topic, Life>,
    heartbeat: Heartbeat,
    backlog: Backlog,
}

/// Why a socket is of no more use.
pub(super) type Lost = &'static str;

/// What a step of the session works with.
pub(super) struct Step<'a> {
    pub(super) account: &'a Address,
    pub(super) now: Now,
    pub(super) messages: &'a mut Rolling,
    pub(super) counts: &'a mut Counts,
    /// How late the newest state was, milliseconds.
    pub(super) lag_ms: &'a mut Option<u64>,
    pub(super) outputs: &'a mut Vec<Output>,
}

impl Step<'_> {
    fn send(&mut self, text: String) {
        self.messages.take(self.now.steady_ms);
        self.outputs.push(Output::Send(text));
    }

    /// Whether so many messages may go out beside the pings.
    fn has_room(&mut self, messages: usize) -> bool {
        self.messages.room(self.now.steady_ms) >= messages.saturating_add(PINGS)
    }
}

impl Session {
    /// The socket has opened. Of earlier ones this much is `known`: the times of the newest states.
    pub(super) fn new(number: u64, known: &BTreeMap<Topic, u64>, now_ms: u64) -> Self {
        let topics = AccountFeed::ALL.into_iter().map(Topic::Account).chain([Topic::Mids]);
        let life = |topic: &Topic| Life::after(topic, known.get(topic).copied().unwrap_or_default());
        Self {
            number,
            stage: Stage::Subscribing,
            live_ms: None,
            lives: topics.map(|topic| (topic.clone(), life(&topic))).collect(),
            heartbeat: Heartbeat::new(now_ms),
            backlog: Backlog::default(),
        }
    }

    pub(super) fn stage(&self) -> Stage {
        self.stage
    }

    pub(super) fn live_ms(&self) -> Option<u64> {
        self.live_ms
    }

    /// What can be believed.
    pub(super) fn proved(&self, now_ms: u64) -> BTreeSet<Topic> {
        if self.stage != Stage::Live {
            return BTreeSet::new();
        }
        let proved = self.lives.iter().filter(|(_, life)| !life.is_market() && life.is_proved(now_ms));
        proved.map(|(topic, _)| topic.clone()).collect()
    }

    /// The times of the account's newest states.
    pub(super) fn known(&self) -> BTreeMap<Topic, u64> {
        let account = self.lives.iter().filter(|(_, life)| !life.is_market());
        account.map(|(topic, life)| (topic.clone(), life.state_ms())).collect()
    }

    /// Takes in a frame whose text had so many bytes.
    pub(super) fn on_frame(
        &mut self,
        frame: Result<Frame, FrameError>,
        bytes: usize,
        step: &mut Step<'_>,
    ) -> Result<(), Lost> {
        match frame {
            Ok(Frame::Data(data)) => return self.on_data(data, bytes, step),
            Ok(Frame::Acked { is_subscribed, subscription }) => {
                if is_subscribed {
                    let now_ms = step.now.steady_ms;
                    self.with(subscription.as_ref(), step, |life| life.acked(now_ms));
                }
            }
            Ok(Frame::Refused(refusal)) => self.on_refusal(&refusal, step),
            Ok(Frame::Pong) => self.heartbeat.pong(),
            Ok(Frame::Other(_)) => step.counts.other = step.counts.other.saturating_add(1),
            Err(error) => {
                step.counts.unreadable = step.counts.unreadable.saturating_add(1);
                if may_tell_what_happened(&error) {
                    return Err("a frame that may tell of a trade cannot be read");
                }
            }
        }
        Ok(())
    }

    /// Account, open orders and fills were read.
    pub(super) fn on_baseline(&mut self, socket: u64, step: &mut Step<'_>) {
        if socket == self.number && self.stage == Stage::Reading {
            self.stage = Stage::Live;
            self.live_ms = Some(step.now.steady_ms);
            step.outputs.extend(self.backlog.drain().map(Output::Tell));
        }
    }

    /// Does what is due.
    pub(super) fn go_on(&mut self, markets: &BTreeSet<String>, step: &mut Step<'_>) -> Result<(), Lost> {
        let now_ms = step.now.steady_ms;
        if self.heartbeat.is_dead(now_ms) {
            return Err("a ping was not answered");
        }
        if self.heartbeat.is_due(now_ms) {
            step.send(PING.to_owned());
        }
        // The account comes first, whatever a market may do to the socket.
        if self.stage == Stage::Live {
            self.follow(markets, step);
        }
        for (topic, life) in &mut self.lives {
            match life.need(now_ms) {
                Need::Ask if step.has_room(1) => {
                    life.asked(now_ms);
                    step.send(topic.subscribe(step.account));
                }
                Need::AskAnew if step.has_room(2) => {
                    life.asked_anew(now_ms);
                    step.counts.renewed = step.counts.renewed.saturating_add(1);
                    step.send(topic.unsubscribe(step.account));
                    step.send(topic.subscribe(step.account));
                }
                Need::Lost if life.is_market() => life.give_up(now_ms),
                Need::Lost => return Err("a feed stays silent"),
                Need::Ask | Need::AskAnew | Need::Nothing => {}
            }
        }
        let is_settled = |topic: &Topic, life: &Life| !matches!(topic, Topic::Account(_)) || life.is_settled();
        if self.stage == Stage::Subscribing && self.lives.iter().all(|(topic, life)| is_settled(topic, life)) {
            self.stage = Stage::Reading;
            step.outputs.push(Output::ReadBaseline { socket: self.number });
        }
        Ok(())
    }

    /// Watches these markets and no others.
    fn follow(&mut self, markets: &BTreeSet<String>, step: &mut Step<'_>) {
        let is_left = |topic: &Topic| matches!(topic, Topic::Market(_, coin) if !markets.contains(coin));
        let left: Vec<Topic> = self.lives.keys().filter(|topic| is_left(topic)).cloned().collect();
        for topic in left {
            // One that may not be said yet stays.
            if step.has_room(1)
                && let Some(life) = self.lives.remove(&topic)
                && life.is_asked()
            {
                step.send(topic.unsubscribe(step.account));
            }
        }
        for coin in markets {
            for feed in MarketFeed::ALL {
                let topic = Topic::Market(feed, coin.clone());
                self.lives.entry(topic).or_insert_with_key(Life::new);
            }
        }
    }

    fn on_data(&mut self, data: Data, bytes: usize, step: &mut Step<'_>) -> Result<(), Lost> {
        let topic = data.topic();
        let is_ours = data.user().is_none_or(|user| user == step.account);
        let Some(life) = self.lives.get_mut(&topic).filter(|life| is_ours && life.is_asked()) else {
            step.counts.unasked = step.counts.unasked.saturating_add(1);
            return Ok(());
        };
        if let (Topic::Account(_), Some(state_ms)) = (&topic, data.state_ms()) {
            *step.lag_ms = Some(step.now.venue_ms.saturating_sub(state_ms));
        }
        if !life.hear(data.state_ms(), step.now) {
            step.counts.untimely = step.counts.untimely.saturating_add(1);
        } else if self.stage == Stage::Live || may_come_first(&topic) {
            step.outputs.push(Output::Tell(data));
        } else {
            // What is read beside a socket can wait for weight as long as a minute: no position stays bare for that.
            step.outputs.extend(tells_of_trade(&data).then_some(Output::Traded));
            if !self.backlog.push(data, bytes) {
                return Err("too much happened while the account was read");
            }
        }
        Ok(())
    }

    fn on_refusal(&mut self, refusal: &Refusal, step: &mut Step<'_>) {
        step.counts.refused = step.counts.refused.saturating_add(1);
        let now_ms = step.now.steady_ms;
        match refusal {
            Refusal::AlreadySubscribed(subscription) => {
                self.with(subscription.as_ref(), step, |life| life.acked(now_ms));
            }
            Refusal::NotServed(subscription) => self.with(subscription.as_ref(), step, |life| life.give_up(now_ms)),
            // They say nothing of what is subscribed: what stays without its acknowledgement is found by that.
            Refusal::AlreadyUnsubscribed(_) | Refusal::TooManyUsers | Refusal::Other(_) => {}
        }
    }

    /// Does something to the life of a subscription, if it is one of these.
    fn with(&mut self, subscription: Option<&Subscription>, step: &mut Step<'_>, act: impl FnOnce(&mut Life)) {
        let ours = subscription.filter(|subscription| subscription.user.is_none_or(|user| user == *step.account));
        match ours.and_then(|subscription| self.lives.get_mut(&subscription.topic)) {
            Some(life) => act(life),
            None => step.counts.unasked = step.counts.unasked.saturating_add(1),
        }
    }
}

/// Whether a frame tells of something that was traded just now.
fn tells_of_trade(data: &Data) -> bool {
    match data {
        Data::Fills(told) => !told.is_snapshot && !told.rows.is_empty(),
        Data::Event(event) => !event.fills.is_empty() || event.liquidation.is_some(),
        _ => false,
    }
}

/// Whether a frame waits for no read: prices, and rows of the ledger, which move nothing by themselves, explain a loss at once.
fn may_come_first(topic: &Topic) -> bool {
    matches!(topic, Topic::Account(AccountFeed::Ledger)) || !matches!(topic, Topic::Account(_))
}

/// Whether something that happened once may be in a frame that cannot be read, so that only reads can tell of it now.
/// A state that cannot be read is told again.
fn may_tell_what_happened(error: &FrameError) -> bool {
    match error {
        FrameError::NoFrame(_) => true,
        FrameError::Shape { channel, .. } => {
            matches!(&**channel, "userFills" | "orderUpdates" | "user" | "userNonFundingLedgerUpdates" | "userFundings")
        }
    }
}
