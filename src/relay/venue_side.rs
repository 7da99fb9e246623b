//! The venue's side: each line's socket opened, kept and closed, and its frames passed on.

use std::collections::BTreeMap;

use super::client::Clients;
use super::feed::{Feed, Passed, Phase};
use super::frame::{Frame, Lent};
use super::heard::{Data, Heard};
use super::kind::Manner;
use super::line::{Need, OWN_LINE};
use super::messages::{Input, Output, Told};
use super::queue::FeedId;
use super::room::Relay;
use crate::venue::stream::topic::PING;

/// How far the venue's time may be ahead of what is known of it.
const LAG_MS: u64 = 2_000;
/// Bytes that are kept of all feeds for who comes late.
const MOST_KEPT: usize = 8 * 1024 * 1024;

impl Relay {
    /// Takes in what happened on a line, and says what to do on it.
    pub fn step(&mut self, line: usize, input: Input<'_>, now_ms: u64) -> Vec<Output> {
        self.clients.at(now_ms);
        let mut outputs = Vec::new();
        match input {
            Input::Connected => self.connected(line, now_ms, &mut outputs),
            Input::Closed => {
                self.suspect(line, now_ms);
                self.lost(line, now_ms);
            }
            Input::Frame(told) => {
                if self.frame(line, told, now_ms) {
                    // A market can tell hundreds of things a second; what is due can wait for the next tick.
                    return outputs;
                }
            }
            Input::Tick => {}
        }
        self.go_on(line, now_ms, &mut outputs);
        outputs
    }

    /// Whether the line has or should have a socket.
    #[must_use]
    pub fn is_wanted(&self, line: usize) -> bool {
        self.lines.get(line).is_some_and(|line| line.is_open() || line.is_connecting())
            || self.feeds.values().any(|feed| feed.line == line && feed.needs_line())
    }

    fn connected(&mut self, number: usize, now_ms: u64, outputs: &mut Vec<Output>) {
        if number == OWN_LINE {
            return self.own_connected(now_ms);
        }
        match self.lines.get_mut(number) {
            Some(line) if line.is_connecting() => {
                line.opened(now_ms);
                self.clients.counts.sockets = self.clients.counts.sockets.saturating_add(1);
            }
            _ => outputs.push(Output::Close),
        }
    }

    /// The guard has subscribed for itself: the acknowledgements and first frames of that follow.
    fn own_connected(&mut self, now_ms: u64) {
        for feed in self.feeds.values_mut().filter(|feed| feed.is_own()) {
            feed.forget();
            feed.phase = Phase::Asked { since_ms: now_ms, tries: 1, turn: 0 };
        }
    }

    /// Clients keep their subscriptions, which are asked for anew on the next socket.
    fn lost(&mut self, number: usize, now_ms: u64) {
        if let Some(line) = self.lines.get_mut(number) {
            line.lost(now_ms);
        }
        if number != OWN_LINE {
            self.coins.lost();
        }
        let here = |(id, feed): (&FeedId, &Feed)| (feed.line == number).then_some(*id);
        for id in self.feeds.iter().filter_map(here).collect::<Vec<_>>() {
            match self.feeds.get_mut(&id) {
                Some(feed) if feed.is_own() => feed.lose(),
                Some(feed) if !feed.holders.is_empty() => {
                    feed.lose();
                    self.todo.insert(id);
                }
                _ => self.end(id),
            }
        }
    }

    fn go_on(&mut self, number: usize, now_ms: u64, outputs: &mut Vec<Output>) {
        let is_wanted = self.feeds.values().any(|feed| feed.line == number && feed.needs_line());
        // Most come on the first line, and the last new sockets are kept for it.
        let others = if number == 0 { 0 } else { self.config.limits.connections.div_euclid(4) };
        let Some(line) = self.lines.get_mut(number) else { return };
        match line.need(is_wanted, &mut self.connections, others, now_ms) {
            Need::Nothing => {}
            Need::Connect => outputs.push(Output::Connect),
            Need::Ping => {
                self.messages.take(now_ms);
                outputs.push(Output::Send(PING.to_owned()));
            }
            Need::Close => {
                outputs.push(Output::Close);
                return self.lost(number, now_ms);
            }
        }
        if self.lines.get(number).is_some_and(super::line::Line::is_open) {
            self.probe_for_suspects(number, now_ms, outputs);
            let is_silent = |(id, feed): (&FeedId, &Feed)| feed.is_silent(now_ms).then_some(*id);
            self.todo.extend(self.feeds.iter().filter_map(is_silent));
            self.ask_due(number, now_ms, outputs);
        }
    }

    /// Takes in one frame; whether it was a feed's.
    fn frame(&mut self, line: usize, told: &Told<'_>, now_ms: u64) -> bool {
        if let Some(line) = self.lines.get_mut(line) {
            line.heard();
        }
        match &told.heard {
            Some(Heard::Data(data)) => {
                self.clients.counts.frames = self.clients.counts.frames.saturating_add(1);
                if self.pass_on(line, told, data, now_ms).is_none() {
                    self.unusable();
                }
                return true;
            }
            Some(Heard::Subscribed(subscription, said)) => {
                if let Some(id) = self.ids.get(&subscription.normal()).copied() {
                    self.held(line, id, said, now_ms);
                }
            }
            Some(Heard::Ended(subscription)) => {
                if let Some(id) = self.ids.get(&subscription.normal()).copied() {
                    self.ended(line, id);
                }
            }
            Some(Heard::Refused(text)) => self.refused(line, text, now_ms),
            Some(Heard::Pong) => {
                if let Some(line) = self.lines.get_mut(line) {
                    line.pong();
                }
            }
            Some(Heard::Answer(id, list)) => {
                self.coins.answered(*id, *list, now_ms);
                self.feeds.values_mut().for_each(|feed| feed.rests_until_ms = 0);
                self.end_unlisted();
            }
            Some(Heard::Other) => {}
            None => self.unusable(),
        }
        false
    }

    fn unusable(&mut self) {
        self.clients.counts.unusable = self.clients.counts.unusable.saturating_add(1);
    }

    /// Gives a frame to all who have subscribed to it; `None` where that is nobody.
    fn pass_on(&mut self, line: usize, told: &Told<'_>, data: &Data<'_>, now_ms: u64) -> Option<()> {
        let id = match &data.route {
            Some(route) => self.routes.get(&(line, route.clone())).copied()?,
            None => self.waits_for_empty(line, data)?,
        };
        let feed = self.feeds.get_mut(&id)?;
        let memory = self.clients.memory.clone();
        let passed = Passed { frame: memory.frame(told.text), user_at: data.user_at.clone() };
        if matches!(feed.phase, Phase::Asked { .. }) && feed.is_first(data) {
            // That it tells says that the venue holds it: the acknowledgement is late or lost, and stands before the frame.
            feed.begin(now_ms);
            self.todo.remove(&id);
            self.tell_all(id, now_ms);
        }
        let feed = self.feeds.get_mut(&id)?;
        feed.keep(told.text, data, &self.kept, now_ms);
        let left_ms = |ends_ms: u64| ends_ms.saturating_sub(told.venue_ms.saturating_add(LAG_MS));
        feed.holds_until_ms = data.ends_ms.map(|ends_ms| now_ms.saturating_add(left_ms(ends_ms)));
        let is_state = feed.manner() == Manner::State;
        give_all(&mut self.clients, feed, is_state.then_some(id), |spelled| passed.to(spelled, &memory));
        self.keep_less();
        Some(())
    }

    /// Where too much is kept for who comes late, the feed of which most is lets go of it. What the guard listens to for itself is
    /// kept: nobody can have it told again.
    fn keep_less(&mut self) {
        while self.kept.bytes() > MOST_KEPT {
            let others = self.feeds.values_mut().filter(|feed| !feed.is_own());
            match others.map(|feed| (feed.kept_bytes(), feed)).max_by_key(|(bytes, _)| *bytes) {
                Some((1.., feed)) => feed.let_go(),
                _ => return,
            }
        }
    }

    /// The feed that an empty list is the first frame of: whichever waits for one, in the order in which they were asked for; where
    /// none is known to be held, the only one that it can be.
    fn waits_for_empty(&self, line: usize, data: &Data<'_>) -> Option<FeedId> {
        let is_it = |feed: &Feed| feed.line == line && feed.subscription.kind == data.kind && !feed.has_first;
        let mut held = self.feeds.iter().filter(|(_, feed)| is_it(feed) && feed.phase == Phase::Held);
        let mut asked = self.feeds.iter().filter(|(_, feed)| is_it(feed) && matches!(feed.phase, Phase::Asked { .. }));
        let only = || asked.next().filter(|_| asked.next().is_none());
        held.next().or_else(only).map(|(id, _)| *id)
    }
}

/// Gives a frame to each client that has the feed, as that client wrote its address.
fn give_all(clients: &mut Clients, feed: &Feed, state_of: Option<FeedId>, spell: impl Fn(Option<&str>) -> Frame) {
    // Lent, so that what is made for a client that is closed over it is gone at once.
    let mut spellings: BTreeMap<Option<&str>, Lent> = BTreeMap::new();
    for ((client, own), holder) in feed.holders.iter().filter(|(_, holder)| holder.is_told) {
        let spelled = holder.spelled.as_deref();
        let frame = spellings.get(&spelled).and_then(Lent::frame).unwrap_or_else(|| spell(spelled));
        spellings.insert(spelled, frame.lent());
        clients.give(*client, state_of.map(|id| (id, *own)), frame);
    }
}
