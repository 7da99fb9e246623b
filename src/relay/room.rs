//! The clients' side: they subscribe, end subscriptions and leave, and take what waits for them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::client::{Clients, TOO_SLOW};
use super::coins::Coins;
use super::feed::{Feed, Holder, Phase};
use super::kind::Manner;
use super::limits::may_take;
use super::line::{Line, OWN_LINE};
use super::messages::{ClientId, Config, Counts, Frame, NotServed};
use super::queue::FeedId;
use super::subscription::{Route, Subscription};
use crate::base::address::Address;
use crate::feed::Rolling;
use crate::venue::stream::topic::{AccountFeed, Topic};

/// Why little is subscribed to where the share is small.
const NO_SOCKET: &str =
    "this guard's share of the address leaves no socket but its own feed's; subscribe at the venue itself";

/// The subscriptions of all clients.
#[derive(Debug)]
pub struct Relay {
    pub(super) config: Config,
    pub(super) clients: Clients,
    pub(super) feeds: BTreeMap<FeedId, Feed>,
    /// By their normal form.
    pub(super) ids: BTreeMap<String, FeedId>,
    /// The subscription that frames belong to, by the line on which they come.
    pub(super) routes: BTreeMap<(usize, Route), FeedId>,
    /// Those of which the venue has to hear something, or from which an answer is waited for.
    pub(super) todo: BTreeSet<FeedId>,
    pub(super) lines: Vec<Line>,
    pub(super) coins: Coins,
    pub(super) messages: Rolling,
    pub(super) connections: Rolling,
    last_id: FeedId,
}

impl Relay {
    /// A relay that nobody has subscribed to.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let limits = config.limits;
        let seeds = (config.seed..).take(limits.sockets);
        let mut relay = Self {
            lines: seeds.map(Line::new).collect(),
            messages: Rolling::new(limits.messages),
            connections: Rolling::new(limits.connections),
            config,
            clients: Clients::default(),
            feeds: BTreeMap::new(),
            ids: BTreeMap::new(),
            routes: BTreeMap::new(),
            todo: BTreeSet::new(),
            coins: Coins::default(),
            last_id: 0,
        };
        for feed in AccountFeed::ALL {
            let subscription = Topic::Account(feed).subscription(&relay.config.account);
            if let Some(subscription) = Subscription::read(&subscription) {
                relay.begin(subscription, OWN_LINE);
            }
        }
        relay
    }

    /// A client subscribes; what it is told waits for it.
    ///
    /// # Errors
    /// [`NotServed`].
    pub fn subscribe(&mut self, client: ClientId, subscription: &str, now_ms: u64) -> Result<(), NotServed> {
        let (subscription, spelled) = self.read(subscription)?;
        let known = self.ids.get(&subscription.normal()).copied();
        if self.lines.is_empty() && known.is_none() {
            let said = Feed::new(subscription, 0).said_to(spelled.as_deref());
            self.clients.enter(client, &self.config.limits);
            self.refuse(client, &format!("Invalid subscription {said}: {NO_SOCKET}"));
            return Ok(());
        }
        let held = &self.clients.enter(client, &self.config.limits).held;
        let has_it = known.is_some_and(|id| held.contains(&id));
        let own = held.len();
        if has_it && let Some(feed) = known.and_then(|id| self.feeds.get(&id)) {
            let text = format!("Already subscribed: {}", feed.said_to(spelled.as_deref()));
            self.refuse(client, &text);
            return Ok(());
        }
        if own >= self.config.limits.subscriptions {
            self.refuse(client, &too_many("subscriptions", self.config.limits.subscriptions));
            return Ok(());
        }
        let id = match known {
            Some(id) => id,
            None => match self.admit(client, own, &subscription, now_ms) {
                Ok(line) => self.begin(subscription, line),
                Err(text) => {
                    self.refuse(client, &text);
                    return Ok(());
                }
            },
        };
        self.join(id, client, spelled);
        Ok(())
    }

    /// A client ends a subscription; what it is told waits for it.
    ///
    /// # Errors
    /// [`NotServed`].
    pub fn unsubscribe(&mut self, client: ClientId, subscription: &str, now_ms: u64) -> Result<(), NotServed> {
        let (subscription, spelled) = self.read(subscription)?;
        let id = self.ids.get(&subscription.normal()).copied();
        let limits = self.config.limits;
        let held = &self.clients.enter(client, &limits).held;
        let Some((id, feed)) = id.filter(|id| held.contains(id)).and_then(|id| Some((id, self.feeds.get(&id)?))) else {
            let feed = Feed::new(subscription, 0);
            self.refuse(client, &format!("Already unsubscribed: {}", feed.said_to(spelled.as_deref())));
            return Ok(());
        };
        let said = feed.said_to(spelled.as_deref());
        // Who asks for its end before the venue has answered hears what it would hear there: that it began, and that it ended.
        let is_told = feed.holders.get(&client).is_some_and(|holder| holder.is_told);
        let methods = if is_told { &["unsubscribe"][..] } else { &["subscribe", "unsubscribe"] };
        self.drop_holder(id, client, now_ms);
        for method in methods {
            self.clients.give(client, None, acknowledgement(method, &said));
        }
        Ok(())
    }

    /// A client is gone.
    pub fn leave(&mut self, client: ClientId) {
        for id in self.clients.leave(client) {
            self.let_go(id, client);
        }
    }

    /// Frames for a client, of about so many bytes.
    ///
    /// # Errors
    /// Why the client is to be closed.
    pub fn take(&mut self, client: ClientId, most_bytes: usize) -> Result<Vec<Frame>, &'static str> {
        self.clients.take(client, most_bytes)
    }

    /// Gives up a client that takes nothing of what it is sent; why it is closed.
    pub fn give_up(&mut self, client: ClientId) -> &'static str {
        self.clients.give_up(client);
        TOO_SLOW
    }

    /// Those for whom something is there since the last time.
    pub fn woken(&mut self) -> BTreeSet<ClientId> {
        self.clients.woken()
    }

    /// What was counted, and what is held.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts {
            clients: self.clients.len(),
            held: self.clients.held(),
            subscriptions: self.at_venue(),
            open: self.lines.iter().filter(|line| line.is_open()).count(),
            ..self.clients.counts
        }
    }

    /// What a client asks for, and its own address as it wrote it where that stands for the account.
    fn read(&self, asked: &str) -> Result<(Subscription, Option<String>), NotServed> {
        let asked: Value = serde_json::from_str(asked).map_err(|_| NotServed)?;
        let subscription = Subscription::read(&asked).ok_or(NotServed)?;
        let is_client = |user: &Address| *user != self.config.account && self.config.clients.contains(user);
        if !subscription.user.as_ref().is_some_and(is_client) {
            return Ok((subscription, None));
        }
        let spelled = asked.get("user").and_then(Value::as_str).map(str::to_owned);
        Ok((subscription.of_user(self.config.account), spelled))
    }

    /// The line for a subscription that the venue does not hold yet, or the refusal of one too many.
    fn admit(
        &mut self,
        client: ClientId,
        own: usize,
        subscription: &Subscription,
        now_ms: u64,
    ) -> Result<usize, String> {
        let (limits, clients) = (self.config.limits, self.clients.len());
        if !may_take(limits.subscriptions, self.at_venue(), own, clients) {
            let part = limits.subscriptions.checked_div(clients).unwrap_or_default();
            return Err(too_many("subscriptions", part));
        }
        let asked = self.clients.enter(client, &limits).asked.taken(now_ms);
        if !may_take(limits.messages, self.messages.taken(now_ms), asked, clients) {
            let part = limits.messages.checked_div(clients).unwrap_or_default();
            return Err(format!("Cannot send more than {part} messages per minute."));
        }
        let is_stranger = |user: &Address| *user != self.config.account;
        let strangers = || self.feeds.values().filter_map(|feed| feed.subscription.user).filter(is_stranger);
        if let Some(user) = subscription.user.filter(is_stranger) {
            let users: BTreeSet<Address> = strangers().collect();
            if !users.contains(&user) && users.len() >= limits.strangers {
                return Err(too_many("users", limits.strangers.saturating_add(1)));
            }
        }
        let line = self.line_for(subscription);
        line.ok_or_else(|| match subscription.user {
            Some(_) => too_many("users", limits.strangers.saturating_add(1)),
            None => too_many("subscriptions", limits.subscriptions),
        })
    }

    /// How many subscriptions the venue holds for clients, or shall.
    fn at_venue(&self) -> usize {
        self.feeds.values().filter(|feed| !feed.is_own()).count()
    }

    /// The line on which the frames of a subscription can be told from all others.
    fn line_for(&self, subscription: &Subscription) -> Option<usize> {
        let route = subscription.route();
        (0..self.lines.len()).find(|line| !self.routes.contains_key(&(*line, route.clone())))
    }

    fn begin(&mut self, subscription: Subscription, line: usize) -> FeedId {
        self.last_id = self.last_id.saturating_add(1);
        let id = self.last_id;
        self.ids.insert(subscription.normal(), id);
        self.routes.insert((line, subscription.route()), id);
        let feed = Feed::new(subscription, line);
        if !feed.is_own() {
            self.todo.insert(id);
        }
        self.feeds.insert(id, feed);
        id
    }

    fn join(&mut self, id: FeedId, client: ClientId, spelled: Option<String>) {
        self.clients.enter(client, &self.config.limits).held.insert(id);
        let Some(feed) = self.feeds.get_mut(&id) else { return };
        let is_held = feed.phase == Phase::Held;
        if is_held && feed.manner() == Manner::Changes && feed.has_first {
            feed.phase = Phase::Stale;
            self.todo.insert(id);
        }
        let is_told = feed.phase == Phase::Held;
        if is_told {
            self.clients.give(client, None, acknowledgement("subscribe", &feed.said_to(spelled.as_deref())));
            if let Some(first) = feed.first() {
                self.clients.give(client, None, first.to(spelled.as_deref()));
            }
        }
        feed.holders.insert(client, Holder { spelled, is_told });
    }

    /// Ends one client's part in a feed, at its wish.
    fn drop_holder(&mut self, id: FeedId, client: ClientId, now_ms: u64) {
        self.clients.settle(client, id);
        if let Some(client) = self.clients.get_mut(client) {
            client.asked.take(now_ms);
        }
        self.let_go(id, client);
    }

    fn let_go(&mut self, id: FeedId, client: ClientId) {
        let Some(feed) = self.feeds.get_mut(&id) else { return };
        feed.holders.remove(&client);
        if feed.holders.is_empty() && !feed.is_own() {
            match feed.phase {
                Phase::Unasked => self.end(id),
                _ => drop(self.todo.insert(id)),
            }
        }
    }

    /// The venue does not hold it, and nobody wants it.
    pub(super) fn end(&mut self, id: FeedId) {
        self.todo.remove(&id);
        if let Some(feed) = self.feeds.remove(&id) {
            self.ids.remove(&feed.subscription.normal());
            self.routes.remove(&(feed.line, feed.subscription.route()));
        }
    }

    pub(super) fn refuse(&mut self, client: ClientId, text: &str) {
        self.clients.counts.refused = self.clients.counts.refused.saturating_add(1);
        self.clients.give(client, None, json!({"channel": "error", "data": text}).to_string().into());
    }
}

/// The venue's words, with the number that holds here.
fn too_many(what: &str, most: usize) -> String {
    format!("Cannot track more than {most} total {what}.")
}

pub(super) fn acknowledgement(method: &str, said: &str) -> Frame {
    let head = r#"{"channel":"subscriptionResponse","data":{"method":""#;
    format!(r#"{head}{method}","subscription":{said}}}}}"#).into()
}
