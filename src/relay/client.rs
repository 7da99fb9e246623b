//! The clients: what each has subscribed to, and what waits for it.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::coins::LISTS;
use super::frame::{Frame, Memory};
use super::limits::{Limits, Shared};
use super::messages::{ClientId, Counts};
use super::queue::{FeedId, Part, Put, Queue};
use super::turns::Turns;
use crate::base::address::Address;
use crate::feed::Rolling;

/// Why a client is closed that does not read.
pub(super) const TOO_SLOW: &str = "too slow: what happened piled up; read faster, or subscribe to less";

/// The bytes that frames of all clients may take, each frame counted once: with what else the service needs, and on which no client
/// signed, this keeps it within 64 MiB.
const MOST_MEMORY: usize = 12 * 1024 * 1024;
/// Of whom less than this waits is no cause of more.
const LITTLE: usize = 64 * 1024;

/// Why one is closed for whom most waits.
const TOO_HEAVY: &str = "too slow: what waits takes too much memory; read faster, or subscribe to less";

/// One client's connection.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) held: BTreeSet<Part>,
    /// The client that signed on it.
    owner: Option<Address>,
    /// Messages that the venue was sent for it.
    pub(super) asked: Rolling,
    /// Lists of dexes' coins that the venue was asked for it.
    pub(super) lists: Rolling,
    queue: Queue,
    /// Bytes of what it took last, and may not have written yet.
    in_hand: usize,
    /// The second in which it took them.
    took_in_s: u64,
    closed: Option<&'static str>,
}

/// What the venue was asked within a minute for connections that are no more.
#[derive(Debug)]
struct Left {
    asked: Rolling,
    lists: Rolling,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Clients {
    all: BTreeMap<ClientId, Client>,
    /// By the client that had signed on them, and of all together on which none had: who comes and goes has no new part each time.
    left: BTreeMap<Option<Address>, Left>,
    woken: BTreeSet<ClientId>,
    /// What all their frames take.
    pub(super) memory: Memory,
    /// The second of what happened last.
    now_s: u64,
    pub(super) counts: Counts,
}

impl Clients {
    pub(super) fn enter(&mut self, client: ClientId, limits: &Limits) -> &mut Client {
        self.all.entry(client).or_insert_with(|| Client {
            held: BTreeSet::new(),
            owner: None,
            asked: Rolling::new(limits.messages),
            lists: Rolling::new(LISTS),
            queue: Queue::default(),
            in_hand: 0,
            took_in_s: 0,
            closed: None,
        })
    }

    pub(super) fn get_mut(&mut self, client: ClientId) -> Option<&mut Client> {
        self.all.get_mut(&client)
    }

    /// The connections that have one part of everything between them: all of one client's that signed, or one alone.
    fn beside(&self, id: ClientId) -> impl Iterator<Item = ClientId> + use<> {
        let owner = self.all.get(&id).and_then(|client| client.owner);
        let others =
            self.all.iter().filter(|(other, client)| **other == id || owner.is_some() && client.owner == owner);
        others.map(|(other, _)| *other).collect::<Vec<_>>().into_iter()
    }

    /// Among whom everything is shared, as a connection sees it.
    pub(super) fn shared(&self, id: ClientId) -> Shared {
        self.shared_by(self.all.get(&id).is_some_and(|client| client.owner.is_some()))
    }

    fn shared_by(&self, is_signed: bool) -> Shared {
        let unsigned = self.all.values().filter(|client| client.owner.is_none()).count();
        let owners: BTreeSet<Address> = self.all.values().filter_map(|client| client.owner).collect();
        let parties = owners.len().saturating_add(usize::from(unsigned > 0));
        Shared { parties, sharers: if is_signed { 1 } else { unsigned.max(1) }, is_signed }
    }

    /// Something happens now.
    pub(super) fn at(&mut self, now_ms: u64) {
        self.now_s = now_ms / 1_000;
    }

    /// A client's signature checked out on a connection.
    pub(super) fn vouch(&mut self, id: ClientId, owner: Address) {
        if let Some(client) = self.all.get_mut(&id) {
            client.owner = Some(owner);
        }
    }

    /// The feeds that count towards a connection's part.
    pub(super) fn own_feeds(&self, id: ClientId) -> BTreeSet<FeedId> {
        let held = self.beside(id).filter_map(|other| self.all.get(&other)).flat_map(|client| &client.held);
        held.map(|(feed, _)| *feed).collect()
    }

    /// What it has subscribed to.
    pub(super) fn own_parts(&self, id: ClientId) -> impl Iterator<Item = Part> + '_ {
        self.all.get(&id).into_iter().flat_map(|client| client.held.iter().copied())
    }

    /// The messages that count towards it.
    pub(super) fn own_asked(&mut self, id: ClientId, now_ms: u64) -> usize {
        let before = self.left_of(id).map_or(0, |left| left.asked.taken(now_ms));
        let now: usize = self.beside(id).filter_map(|other| Some(self.all.get_mut(&other)?.asked.taken(now_ms))).sum();
        now.saturating_add(before)
    }

    /// The turns at having one more dex's list asked for, where so many were.
    pub(super) fn turns(&mut self, taken: usize, now_ms: u64) -> Turns {
        let (signed, unsigned) = (self.shared_by(true), self.shared_by(false));
        let mut own: BTreeMap<Option<Address>, usize> =
            self.left.iter_mut().map(|(owner, left)| (*owner, left.lists.taken(now_ms))).collect();
        for client in self.all.values_mut().filter(|client| client.owner.is_some()) {
            let all = own.entry(client.owner).or_default();
            *all = all.saturating_add(client.lists.taken(now_ms));
        }
        let mut turns = Turns::default();
        for (id, client) in &mut self.all {
            let of_party = own.get(&client.owner).copied().unwrap_or_default();
            match client.owner {
                Some(_) => turns.put(*id, signed, taken, of_party),
                None => turns.put(*id, unsigned, taken, of_party.saturating_add(client.lists.taken(now_ms))),
            }
        }
        turns
    }

    /// The feeds that clients have that signed.
    pub(super) fn signed_feeds(&self) -> BTreeSet<FeedId> {
        let signed = self.all.values().filter(|client| client.owner.is_some());
        signed.flat_map(|client| client.held.iter().map(|(feed, _)| *feed)).collect()
    }

    fn left_of(&mut self, id: ClientId) -> Option<&mut Left> {
        let owner = self.all.get(&id).and_then(|client| client.owner);
        self.left.get_mut(&owner)
    }

    /// What it held.
    pub(super) fn leave(&mut self, client: ClientId) -> BTreeSet<Part> {
        self.woken.remove(&client);
        let Some(Client { held, owner, asked, lists, .. }) = self.all.remove(&client) else { return BTreeSet::new() };
        match self.left.entry(owner) {
            Entry::Vacant(place) => drop(place.insert(Left { asked, lists })),
            Entry::Occupied(mut place) => {
                place.get_mut().asked.take_over(asked);
                place.get_mut().lists.take_over(lists);
            }
        }
        held
    }

    /// Bytes that wait for one of them.
    pub(super) fn waiting(&self, id: ClientId) -> usize {
        self.all.get(&id).map_or(0, |client| client.queue.bytes())
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// How many subscriptions they have.
    pub(super) fn held(&self) -> usize {
        self.all.values().map(|client| client.held.len()).sum()
    }

    /// Tells one client something.
    pub(super) fn tell(&mut self, id: ClientId, text: String) {
        let frame = self.memory.frame(text);
        self.give(id, None, frame);
    }

    /// Gives a client a frame: a feed's state, or what counts whatever comes after it.
    pub(super) fn give(&mut self, id: ClientId, state_of: Option<Part>, frame: Frame) {
        let Some(client) = self.all.get_mut(&id).filter(|client| client.closed.is_none()) else { return };
        if client.queue.is_empty() {
            self.woken.insert(id);
        }
        let put = match state_of {
            Some(feed) => client.queue.state(feed, frame),
            None => client.queue.event(frame),
        };
        self.counts.passed = self.counts.passed.saturating_add(1);
        match put {
            Put::Waits => {}
            Put::Replaced => self.counts.replaced = self.counts.replaced.saturating_add(1),
            Put::Full => self.close(id, TOO_SLOW),
        }
        self.relieve();
    }

    /// Where frames take more memory than they may, whoever keeps most of them waiting and has signed nothing is given up.
    fn relieve(&mut self) {
        if self.memory.bytes() <= MOST_MEMORY {
            return;
        }
        // Who was given up lets go of what it has in hand.
        let leaving = self.all.values().filter(|client| client.closed.is_some()).map(|client| client.in_hand).sum();
        let held = |client: &Client| client.queue.bytes().saturating_add(client.in_hand);
        let may_go = |client: &Client| client.owner.is_none() && client.closed.is_none() && held(client) > LITTLE;
        // Who took something a moment ago has most likely written it, and only not come back for more.
        let is_written = |client: &Client| self.now_s <= client.took_in_s.saturating_add(1);
        let waits = |client: &Client| if is_written(client) { client.queue.bytes() } else { held(client) };
        let heaviest = self.all.iter().filter(|(_, client)| may_go(client)).max_by_key(|(_, client)| waits(client));
        if let Some(id) = heaviest.map(|(id, _)| *id)
            && self.memory.bytes().saturating_sub(leaving) > MOST_MEMORY
        {
            self.close(id, TOO_HEAVY);
        }
    }

    /// Has a client closed that does not read: nothing more waits for it. Each counts once.
    pub(super) fn close(&mut self, id: ClientId, why: &'static str) {
        if let Some(client) = self.all.get_mut(&id).filter(|client| client.closed.is_none()) {
            self.counts.slow = self.counts.slow.saturating_add(1);
            client.queue = Queue::default();
            client.closed = Some(why);
            self.woken.insert(id);
        }
    }

    /// A feed is no longer the client's; what waits of it stays.
    pub(super) fn settle(&mut self, id: ClientId, feed: Part) {
        if let Some(client) = self.all.get_mut(&id) {
            client.held.remove(&feed);
            client.queue.settle(feed);
        }
    }

    /// Why a client is to be closed at once.
    pub(super) fn too_heavy(&self, id: ClientId) -> Option<&'static str> {
        self.all.get(&id)?.closed.filter(|reason| *reason == TOO_HEAVY)
    }

    /// Frames for a client, of about so many bytes: all that it took before is written by then.
    ///
    /// # Errors
    /// Why it is to be closed.
    pub(super) fn take(&mut self, id: ClientId, most_bytes: usize) -> Result<Vec<Frame>, &'static str> {
        let Some(client) = self.all.get_mut(&id) else { return Ok(Vec::new()) };
        if let Some(reason) = client.closed {
            return Err(reason);
        }
        let frames = client.queue.take(most_bytes);
        client.in_hand = frames.iter().map(|frame| frame.len()).sum();
        client.took_in_s = self.now_s;
        Ok(frames)
    }

    /// Those for whom something is there since the last time.
    pub(super) fn woken(&mut self) -> BTreeSet<ClientId> {
        std::mem::take(&mut self.woken)
    }
}
