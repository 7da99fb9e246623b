//! The venue's side: each line's socket opened, kept and closed, subscriptions asked for and ended, frames passed on.

use std::collections::BTreeMap;

use super::client::Clients;
use super::coins::{Coins, Known, LISTS, Turn};
use super::feed::{Feed, Passed, Phase};
use super::heard::{Data, Heard, quoted};
use super::kind::Manner;
use super::limits::{may_take, part};
use super::line::{Need, OWN_LINE};
use super::messages::{ClientId, Frame, Input, Output, Told};
use super::queue::FeedId;
use super::room::{Relay, acknowledgement};
use crate::venue::stream::topic::PING;

/// An acknowledgement comes at once.
const ANSWER_MS: u64 = 10_000;
/// Messages that are kept for pings.
const FOR_PINGS: usize = 24;

impl Relay {
    /// Takes in what happened on a line, and says what to do on it.
    pub fn step(&mut self, line: usize, input: Input<'_>, now_ms: u64) -> Vec<Output> {
        let mut outputs = Vec::new();
        match input {
            Input::Connected => self.connected(line, now_ms, &mut outputs),
            Input::Closed => self.lost(line, now_ms),
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
            || self.feeds.values().any(|feed| feed.line == line)
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
            feed.phase = Phase::Asked { since_ms: now_ms };
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
                Some(feed) if feed.is_own() => feed.forget(),
                Some(feed) if !feed.holders.is_empty() => {
                    feed.forget();
                    self.todo.insert(id);
                }
                _ => self.end(id),
            }
        }
    }

    fn go_on(&mut self, number: usize, now_ms: u64, outputs: &mut Vec<Output>) {
        let is_wanted = self.feeds.values().any(|feed| feed.line == number);
        let Some(line) = self.lines.get_mut(number) else { return };
        match line.need(is_wanted, &mut self.connections, now_ms) {
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
            let due = self.todo.iter().filter(|id| self.feeds.get(id).is_some_and(|feed| feed.line == number));
            for id in due.copied().collect::<Vec<_>>() {
                if self.messages.room(now_ms) <= FOR_PINGS {
                    break;
                }
                self.ask(id, now_ms, outputs);
            }
        }
    }

    /// Sends what is due about one subscription.
    fn ask(&mut self, id: FeedId, now_ms: u64, outputs: &mut Vec<Output>) {
        let Some(feed) = self.feeds.get_mut(&id) else { return };
        let frame =
            |method: &str, asked: &str| Output::Send(format!(r#"{{"method":"{method}","subscription":{asked}}}"#));
        let asked = feed.subscription.asked();
        if feed.holders.is_empty() {
            outputs.push(frame("unsubscribe", &asked));
            self.messages.take(now_ms);
            return self.end(id);
        }
        match feed.phase {
            Phase::Held => {
                self.todo.remove(&id);
                return;
            }
            Phase::Asked { since_ms } if now_ms.saturating_sub(since_ms) < ANSWER_MS => return,
            Phase::Unasked if !feed.subscription.coin().is_empty() => {
                let (coin, said) = (feed.subscription.coin().to_owned(), feed.said.clone());
                let (turn, payer) = self.turn(id, &coin, now_ms);
                match self.coins.is_known(&coin, turn, now_ms) {
                    Known::Yes => {}
                    Known::Waits => return,
                    Known::No => return self.refuse_all(id, &format!("Invalid subscription {said}")),
                    Known::TooMany => {
                        let part = part(LISTS, self.clients.len());
                        return self.refuse_all(id, &format!("Cannot ask for more than {part} dexes per minute."));
                    }
                    Known::Ask(question) => {
                        if let Some(client) = payer.and_then(|client| self.clients.get_mut(client)) {
                            client.lists.take(now_ms);
                        }
                        self.messages.take(now_ms);
                        outputs.push(Output::Send(question));
                        return;
                    }
                }
            }
            Phase::Stale => {
                self.messages.take(now_ms);
                outputs.push(frame("unsubscribe", &asked));
            }
            Phase::Unasked | Phase::Asked { .. } => {}
        }
        let Some(feed) = self.feeds.get_mut(&id) else { return };
        feed.phase = Phase::Asked { since_ms: now_ms };
        self.messages.take(now_ms);
        // Of those that wait for it one is as good as another: it is the one who came first.
        let first = feed.holders.keys().next().and_then(|client| self.clients.get_mut(*client));
        if let Some(client) = first {
            client.asked.take(now_ms);
        }
        outputs.push(frame("subscribe", &asked));
    }

    /// Whether a dex's list may be asked for now, and for which of those who wait. Who has had its part is refused, so that
    /// names that it makes up take nobody else's turn.
    fn turn(&mut self, id: FeedId, coin: &str, now_ms: u64) -> (Turn, Option<ClientId>) {
        if Coins::dex(coin).is_empty() {
            return (Turn::Now, None);
        }
        let (taken, clients) = (self.coins.taken(now_ms), self.clients.len());
        let mut turn = Turn::Never;
        for client in self.feeds.get(&id).into_iter().flat_map(|feed| feed.holders.keys()) {
            let own = self.clients.get_mut(*client).map_or(0, |client| client.lists.taken(now_ms));
            if may_take(LISTS, taken, own, clients) {
                return (Turn::Now, Some(*client));
            }
            if own < part(LISTS, clients) {
                turn = Turn::Later;
            }
        }
        (turn, None)
    }

    /// Takes in one frame; whether it was a feed's.
    fn frame(&mut self, line: usize, told: &Told<'_>, now_ms: u64) -> bool {
        match &told.heard {
            Some(Heard::Data(data)) => {
                self.clients.counts.frames = self.clients.counts.frames.saturating_add(1);
                if self.pass_on(line, told.text, data).is_none() {
                    self.unusable();
                }
                return true;
            }
            Some(Heard::Subscribed(subscription, said)) => {
                if let Some(id) = self.ids.get(&subscription.normal()).copied() {
                    self.held(line, id, said);
                }
            }
            Some(Heard::Refused(text)) => self.refused(line, text),
            Some(Heard::Pong) => {
                if let Some(line) = self.lines.get_mut(line) {
                    line.pong();
                }
            }
            Some(Heard::Answer(id, list)) => self.coins.answered(*id, *list, now_ms),
            Some(Heard::Other) => {}
            None => self.unusable(),
        }
        false
    }

    fn unusable(&mut self) {
        self.clients.counts.unusable = self.clients.counts.unusable.saturating_add(1);
    }

    /// Gives a frame to all who have subscribed to it; `None` where that is nobody.
    fn pass_on(&mut self, line: usize, text: &str, data: &Data<'_>) -> Option<()> {
        let id = match &data.route {
            Some(route) => self.routes.get(&(line, route.clone())).copied()?,
            // An empty list is a first frame: of whoever waits for one, in the order in which they were asked for.
            None => {
                let waits = |feed: &Feed| feed.phase == Phase::Held && !feed.has_first && feed.line == line;
                let is_it =
                    |(id, feed): (&FeedId, &Feed)| (waits(feed) && feed.subscription.kind == data.kind).then_some(*id);
                self.feeds.iter().find_map(is_it)?
            }
        };
        let feed = self.feeds.get_mut(&id)?;
        let passed = Passed { frame: text.into(), user_at: data.user_at.clone() };
        feed.keep(&passed, data);
        let state_of = (feed.manner() == Manner::State).then_some(id);
        give_all(&mut self.clients, feed, state_of, |spelled| passed.to(spelled));
        Some(())
    }

    /// The venue holds it: who waits for that is told.
    fn held(&mut self, line: usize, id: FeedId, said: &str) {
        let Some(feed) = self.feeds.get_mut(&id).filter(|feed| feed.line == line) else { return };
        if !matches!(feed.phase, Phase::Asked { .. }) {
            return;
        }
        feed.phase = Phase::Held;
        said.clone_into(&mut feed.said);
        // Where all have left meanwhile it still has to be ended.
        if !feed.holders.is_empty() || feed.is_own() {
            self.todo.remove(&id);
        }
        let waiting: Vec<_> = feed.holders.iter().filter(|(_, holder)| !holder.is_told).map(|(id, _)| *id).collect();
        for client in waiting {
            let spelled = feed.holders.get(&client).and_then(|holder| holder.spelled.clone());
            let ack = acknowledgement("subscribe", &feed.said_to(spelled.as_deref()));
            self.clients.give(client, None, ack);
            if let Some(holder) = feed.holders.get_mut(&client) {
                holder.is_told = true;
            }
        }
    }

    /// The venue refuses something: by its words what they quote, else what was asked for first.
    fn refused(&mut self, line: usize, text: &str) {
        let named = quoted(text).and_then(|subscription| self.ids.get(&subscription.normal()).copied());
        if text.starts_with("Already subscribed: ") {
            if let Some((id, said)) = named.zip(text.split_once(": ").map(|(_, said)| said.to_owned())) {
                self.held(line, id, &said);
            }
            return;
        }
        let is_of_users = text.ends_with(" users.");
        let is_meant = |feed: &Feed| {
            let is_asked = matches!(feed.phase, Phase::Asked { .. });
            is_asked && feed.line == line && (!is_of_users || feed.subscription.user.is_some())
        };
        let first = || self.feeds.iter().find(|(_, feed)| is_meant(feed)).map(|(id, _)| *id);
        let id = match named {
            Some(id) => Some(id).filter(|id| self.feeds.get(id).is_some_and(&is_meant)),
            None if text.starts_with("Cannot track more than ") => first(),
            None => None,
        };
        if let Some(id) = id {
            self.refuse_all(id, text);
        }
    }

    /// Nobody can have it.
    fn refuse_all(&mut self, id: FeedId, text: &str) {
        let Some(feed) = self.feeds.get(&id) else { return };
        let user = feed.subscription.user.map(|user| user.to_string());
        let told: Vec<_> = feed.holders.iter().map(|(client, holder)| (*client, holder.spelled.clone())).collect();
        for (client, spelled) in told {
            let text = match (&user, spelled) {
                (Some(user), Some(spelled)) => text.replace(user, &spelled),
                _ => text.to_owned(),
            };
            self.clients.settle(client, id);
            self.refuse(client, &text);
        }
        self.end(id);
    }
}

/// Gives a frame to each client that has the feed, as that client wrote its address.
fn give_all(clients: &mut Clients, feed: &Feed, state_of: Option<FeedId>, spell: impl Fn(Option<&str>) -> Frame) {
    let mut spellings: BTreeMap<Option<&str>, Frame> = BTreeMap::new();
    for (client, holder) in feed.holders.iter().filter(|(_, holder)| holder.is_told) {
        let spelled = holder.spelled.as_deref();
        let frame = spellings.entry(spelled).or_insert_with(|| spell(spelled)).clone();
        clients.give(*client, state_of, frame);
    }
}
