//! The clients' side: they subscribe, end subscriptions and leave, and take what waits for them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::blamed::Blamed;
use super::client::{Clients, TOO_SLOW};
use super::coins::Coins;
use super::feed::{Feed, Holder, Phase};
use super::frame::{Frame, Memory};
use super::limits::Shared;
use super::line::{Line, OWN_LINE};
use super::messages::{ClientId, Config, Counts, NotServed};
use super::queue::{FeedId, Part};
use super::subscription::{Route, Spelled, Subscription, respelled};
use crate::base::address::Address;
use crate::feed::Rolling;
use crate::venue::json::question;
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
    pub(super) blamed: Blamed,
    pub(super) messages: Rolling,
    pub(super) connections: Rolling,
    /// What is kept for who comes late.
    pub(super) kept: Memory,
    last_id: FeedId,
    /// Of those that were asked for, the number of the last.
    pub(super) last_turn: u64,
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
            blamed: Blamed::default(),
            kept: Memory::default(),
            last_id: 0,
            last_turn: 0,
        };
        for feed in AccountFeed::ALL {
            let subscription = Topic::Account(feed).subscription(&relay.config.account);
            if let Some(subscription) = Subscription::read(&subscription) {
                relay.begin(subscription, OWN_LINE);
            }
        }
        relay
    }

    /// A client's signature checked out on a connection: all connections of that client have one part between them.
    pub fn vouch(&mut self, client: ClientId, owner: Address) {
        self.clients.enter(client, &self.config.limits);
        self.clients.vouch(client, owner);
    }

    /// A client subscribes; what it is told waits for it.
    ///
    /// # Errors
    /// [`NotServed`].
    pub fn subscribe(&mut self, client: ClientId, subscription: &str, now_ms: u64) -> Result<(), NotServed> {
        let (subscription, spelled) = self.read(subscription)?;
        self.clients.enter(client, &self.config.limits);
        if let Err(text) = self.take_in(client, subscription, spelled, now_ms) {
            self.refuse(client, &text);
        }
        Ok(())
    }

    /// Gives a client a subscription, or says why not.
    fn take_in(
        &mut self,
        client: ClientId,
        subscription: Subscription,
        spelled: Option<Spelled>,
        now_ms: u64,
    ) -> Result<(), String> {
        let known = self.ids.get(&subscription.normal()).copied();
        let text = spelled.as_ref().map(|spelled| spelled.text.as_str());
        if self.lines.is_empty() && known.is_none() {
            return Err(format!("Invalid subscription {}: {NO_SOCKET}", Feed::new(subscription, 0).said_to(text)));
        }
        if let Some(why) = self.blamed.refusal(&subscription, text, now_ms) {
            return Err(why);
        }
        let own = spelled.as_ref().map(|spelled| spelled.address);
        let held = &self.clients.enter(client, &self.config.limits).held;
        if let Some(id) = known
            && held.contains(&(id, own))
            && let Some(feed) = self.feeds.get_mut(&id)
        {
            let holder = feed.holders.get_mut(&(client, own));
            let is_answered_later = holder.is_some_and(Holder::ask_again);
            return if is_answered_later { Ok(()) } else { Err(already(&feed.said_to(text))) };
        }
        if held.len() >= self.config.limits.subscriptions {
            return Err(too_many("subscriptions", self.config.limits.subscriptions));
        }
        let id = match known {
            Some(id) => id,
            None => {
                let line = self.admit(client, &subscription, now_ms)?;
                self.begin(subscription, line)
            }
        };
        self.join(id, client, spelled, now_ms)
    }

    /// A client ends a subscription; what it is told waits for it.
    ///
    /// # Errors
    /// [`NotServed`].
    pub fn unsubscribe(&mut self, client: ClientId, subscription: &str, now_ms: u64) -> Result<(), NotServed> {
        let (subscription, spelled) = self.read(subscription)?;
        let (text, own) = spelled.map_or((None, None), |spelled| (Some(spelled.text), Some(spelled.address)));
        let id = self.ids.get(&subscription.normal()).copied();
        let limits = self.config.limits;
        let held = &self.clients.enter(client, &limits).held;
        let is_held = |id: &FeedId| held.contains(&(*id, own));
        let Some((id, feed)) = id.filter(is_held).and_then(|id| Some((id, self.feeds.get(&id)?))) else {
            let feed = Feed::new(subscription, 0);
            self.refuse(client, &format!("Already unsubscribed: {}", feed.said_to(text.as_deref())));
            return Ok(());
        };
        let said = feed.said_to(text.as_deref());
        // Who asks for its end before the venue has answered hears what it would hear there: that it began, and that it ended.
        let untold = feed.holders.get(&(client, own)).filter(|holder| !holder.is_told).map(|holder| holder.again);
        self.drop_holder((id, own), client, now_ms);
        if let Some(again) = untold {
            self.clients.tell(client, acknowledgement("subscribe", &said));
            self.refuse_again(client, again, &already(&said));
        }
        self.clients.tell(client, acknowledgement("unsubscribe", &said));
        Ok(())
    }

    /// A client is gone. The ends of what it alone had are sent for it.
    pub fn leave(&mut self, client: ClientId, now_ms: u64) {
        let alone = |feed: &&Feed| !feed.is_own() && feed.holders.keys().all(|(holder, _)| *holder == client);
        let ends = self.clients.own_parts(client).filter_map(|(id, _)| self.feeds.get(&id)).filter(alone).count();
        self.charge(client, ends, now_ms);
        for part in self.clients.leave(client) {
            self.let_go(part, client);
        }
    }

    /// Frames for a client, of about so many bytes: all that it took before is written by then.
    ///
    /// # Errors
    /// Why the client is to be closed.
    pub fn take(&mut self, client: ClientId, most_bytes: usize) -> Result<Vec<Frame>, &'static str> {
        self.clients.take(client, most_bytes)
    }

    /// Why a client is to be closed at once, whatever it has not taken yet: what waits takes too much memory.
    #[must_use]
    pub fn too_heavy(&self, client: ClientId) -> Option<&'static str> {
        self.clients.too_heavy(client)
    }

    /// Bytes that wait for a client.
    #[must_use]
    pub fn waiting(&self, client: ClientId) -> usize {
        self.clients.waiting(client)
    }

    /// Gives up a client that takes nothing of what it is sent; why it is closed.
    pub fn give_up(&mut self, client: ClientId) -> &'static str {
        self.clients.close(client, TOO_SLOW);
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
    fn read(&self, asked: &str) -> Result<(Subscription, Option<Spelled>), NotServed> {
        let asked: Value = question(asked.as_bytes()).map_err(|_| NotServed)?;
        let subscription = Subscription::read(&asked).ok_or(NotServed)?;
        let is_client = |user: &Address| *user != self.config.account && self.config.clients.contains(user);
        let Some(address) = subscription.user.filter(is_client) else { return Ok((subscription, None)) };
        let text = asked.get("user").and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok((subscription.of_user(self.config.account), Some(Spelled { address, text })))
    }

    /// The line for a subscription that the venue does not hold yet, or the refusal of one too many.
    fn admit(&mut self, client: ClientId, subscription: &Subscription, now_ms: u64) -> Result<usize, String> {
        let (limits, shared) = (self.config.limits, self.clients.shared(client));
        let own = self.clients.own_feeds(client);
        let kept = |most: usize| shared.with_another().part(most);
        if !shared.may_hold(limits.subscriptions, self.at_venue(), own.len()) {
            return Err(too_many("subscriptions", kept(limits.subscriptions).max(own.len())));
        }
        self.may_send(client, now_ms)?;
        let is_stranger = |user: &Address| *user != self.config.account;
        if let Some(user) = subscription.user.filter(is_stranger) {
            let users = |is_counted: &dyn Fn(&FeedId) -> bool| -> BTreeSet<Address> {
                let counted = self.feeds.iter().filter(|(id, _)| is_counted(id));
                counted.filter_map(|(_, feed)| feed.subscription.user).filter(is_stranger).collect()
            };
            let (all, of_client) = (users(&|_| true), users(&|id| own.contains(id)));
            if !all.contains(&user) && !shared.may_hold(limits.strangers, all.len(), of_client.len()) {
                let most = kept(limits.strangers).max(of_client.len());
                return Err(too_many("users", most.saturating_add(1)));
            }
        }
        let line = self.line_for(subscription, &own, shared).ok_or_else(|| match subscription.user {
            Some(_) => too_many("users", limits.strangers.saturating_add(1)),
            None => too_many("subscriptions", limits.subscriptions),
        })?;
        self.charge(client, 1, now_ms);
        Ok(line)
    }

    /// Whether the venue may be sent one more message for this client, or why not.
    fn may_send(&mut self, client: ClientId, now_ms: u64) -> Result<(), String> {
        let (most, shared) = (self.config.limits.messages, self.clients.shared(client));
        let asked = self.clients.own_asked(client, now_ms);
        match shared.may_take(most, self.messages.taken(now_ms), asked) {
            true => Ok(()),
            false => Err(format!("Cannot send more than {} messages per minute.", shared.part(most))),
        }
    }

    /// How many subscriptions the venue holds for clients, or shall.
    fn at_venue(&self) -> usize {
        self.feeds.values().filter(|feed| !feed.is_own()).count()
    }

    /// The line on which the frames of a subscription can be told from all others, where this client may have one more with such.
    fn line_for(&self, subscription: &Subscription, own: &BTreeSet<FeedId>, shared: Shared) -> Option<usize> {
        let route = subscription.route();
        let on = |line: usize| self.routes.get(&(line, route.clone()));
        let alike: Vec<&FeedId> = (0..self.lines.len()).filter_map(on).collect();
        let of_client = alike.iter().filter(|id| own.contains(id)).count();
        let may = shared.may_hold(self.lines.len(), alike.len(), of_client);
        (0..self.lines.len()).find(|line| may && on(*line).is_none())
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

    fn join(&mut self, id: FeedId, client: ClientId, spelled: Option<Spelled>, now_ms: u64) -> Result<(), String> {
        let (text, own) = spelled.map_or((None, None), |spelled| (Some(spelled.text), Some(spelled.address)));
        let Some(feed) = self.feeds.get(&id) else { return Ok(()) };
        let costs = feed.join_costs(now_ms);
        let is_held = feed.phase == Phase::Held;
        let begins_now = is_held && (feed.is_own() || feed.can_begin(now_ms));
        if costs > 0 {
            self.may_send(client, now_ms)?;
            self.charge(client, costs, now_ms);
        }
        self.clients.enter(client, &self.config.limits).held.insert((id, own));
        let Some(feed) = self.feeds.get_mut(&id) else { return Ok(()) };
        feed.holders.insert((client, own), Holder { spelled: text, is_told: false, again: 0 });
        feed.rests_until_ms = 0;
        if begins_now {
            self.tell_all(id, now_ms);
        } else if !feed.is_own() {
            feed.is_stale |= is_held;
            self.todo.insert(id);
        }
        Ok(())
    }

    /// Counts messages as sent for a client.
    fn charge(&mut self, client: ClientId, messages: usize, now_ms: u64) {
        if let Some(client) = self.clients.get_mut(client) {
            (0..messages).for_each(|_| client.asked.take(now_ms));
        }
    }

    /// Tells those that wait for it that they have it, and what the venue would begin with.
    pub(super) fn tell_all(&mut self, id: FeedId, now_ms: u64) {
        let Some(feed) = self.feeds.get_mut(&id) else { return };
        let (said, user) = (feed.said.clone(), feed.subscription.user);
        let first = feed.first(&self.clients.memory, now_ms);
        let mut again = Vec::new();
        for ((client, _), holder) in feed.holders.iter_mut().filter(|(_, holder)| !holder.is_told) {
            holder.is_told = true;
            let spelled = holder.spelled.as_deref();
            let said = respelled(&said, user, spelled);
            self.clients.tell(*client, acknowledgement("subscribe", &said));
            if let Some(first) = &first {
                let frame = first.to(spelled, &self.clients.memory);
                self.clients.give(*client, None, frame);
            }
            again.push((*client, std::mem::take(&mut holder.again), said));
        }
        for (client, again, said) in again {
            self.refuse_again(client, again, &already(&said));
        }
    }

    /// Ends one client's part in a feed, at its wish.
    fn drop_holder(&mut self, part: Part, client: ClientId, now_ms: u64) {
        self.clients.settle(client, part);
        self.charge(client, 1, now_ms);
        self.let_go(part, client);
    }

    fn let_go(&mut self, (id, own): Part, client: ClientId) {
        let Some(feed) = self.feeds.get_mut(&id) else { return };
        feed.holders.remove(&(client, own));
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

    pub(super) fn refuse_again(&mut self, client: ClientId, again: u8, text: &str) {
        (0..again).for_each(|_| self.refuse(client, text));
    }

    pub(super) fn refuse(&mut self, client: ClientId, text: &str) {
        self.clients.counts.refused = self.clients.counts.refused.saturating_add(1);
        self.clients.tell(client, json!({"channel": "error", "data": text}).to_string());
    }
}

/// The venue's words, with the number that holds here.
fn too_many(what: &str, most: usize) -> String {
    format!("Cannot track more than {most} total {what}.")
}

fn already(said: &str) -> String {
    format!("Already subscribed: {said}")
}

fn acknowledgement(method: &str, said: &str) -> String {
    let head = r#"{"channel":"subscriptionResponse","data":{"method":""#;
    format!(r#"{head}{method}","subscription":{said}}}}}"#)
}
