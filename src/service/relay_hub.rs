//! The one place where clients' subscriptions and the venue's frames meet: the relay's room behind a lock that is held for
//! moments, and the threads that wait on either side of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crossbeam_channel::{Receiver, Sender, bounded};
use nix::sys::eventfd::EventFd;

use crate::base::address::Address;
use crate::base::clock::{now_ms, steady_ms};
use crate::base::sync::lock;
use crate::record::status::SubscriptionStatus;
use crate::relay::{ClientId, Config, Counts, Frame, Input, NotServed, OWN_LINE, Output, Relay, Told};
use crate::service::message::OwnSocket;

/// The relay and whom it wakes.
pub(in crate::service) struct RelayHub {
    room: Mutex<Room>,
    /// As they were at the last tick: who reads them must not wait for frames.
    counts: Arc<Mutex<Counts>>,
    /// One for each line's thread.
    nudges: Vec<Sender<()>>,
}

struct Room {
    relay: Relay,
    wakeups: BTreeMap<ClientId, Arc<EventFd>>,
    last: ClientId,
}

/// One connection's part in it; it leaves when dropped.
pub(in crate::service) struct Subscriber {
    hub: Arc<RelayHub>,
    id: ClientId,
}

impl From<Counts> for SubscriptionStatus {
    fn from(counts: Counts) -> Self {
        Self {
            clients: counts.clients,
            held: counts.held,
            at_venue: counts.subscriptions,
            sockets: counts.open,
            frames: counts.frames,
            passed: counts.passed,
            replaced: counts.replaced,
            slow: counts.slow,
        }
    }
}

impl RelayHub {
    /// The hub, and what wakes each of its lines' threads.
    pub(super) fn new(config: Config) -> (Arc<Self>, Vec<Receiver<()>>) {
        let (nudges, nudged) = (0..config.limits.sockets).map(|_| bounded(1)).unzip();
        let room = Room { relay: Relay::new(config), wakeups: BTreeMap::new(), last: 0 };
        (Arc::new(Self { room: Mutex::new(room), counts: Arc::default(), nudges }), nudged)
    }

    /// A place for a connection, which is woken when something is there for it.
    pub(super) fn enter(self: &Arc<Self>, wakeup: Arc<EventFd>) -> Subscriber {
        let mut room = lock(&self.room);
        room.last = room.last.saturating_add(1);
        let id = room.last;
        room.wakeups.insert(id, wakeup);
        Subscriber { hub: Arc::clone(self), id }
    }

    /// Takes in what happened on a line, and says what to do on it.
    pub(super) fn step(&self, line: usize, input: Input<'_>) -> Vec<Output> {
        let is_frame = matches!(input, Input::Frame(_));
        self.with(is_frame, |room| room.relay.step(line, input, steady_ms()))
    }

    /// Passes on what is heard on the guard's own socket, until the decision loop ends.
    pub(super) fn pass_on(&self, passed: &Receiver<OwnSocket>) {
        for told in passed {
            match &told {
                OwnSocket::Live => self.step(OWN_LINE, Input::Connected),
                OwnSocket::Frame(text) => self.step(OWN_LINE, Input::Frame(&Told::read(text, now_ms()))),
                OwnSocket::Lost => self.step(OWN_LINE, Input::Closed),
            };
        }
    }

    /// Whether a line has or should have a socket.
    pub(super) fn is_wanted(&self, line: usize) -> bool {
        lock(&self.room).relay.is_wanted(line)
    }

    /// What was counted, and what is held.
    pub(super) fn counts(&self) -> Arc<Mutex<Counts>> {
        Arc::clone(&self.counts)
    }

    /// Does something, and wakes whom it concerns.
    fn with<T>(&self, is_frame: bool, act: impl FnOnce(&mut Room) -> T) -> T {
        let mut room = lock(&self.room);
        let done = act(&mut room);
        if !is_frame {
            *lock(&self.counts) = room.relay.counts();
        }
        let woken = room.relay.woken();
        let woken: Vec<_> = woken.iter().filter_map(|id| room.wakeups.get(id).cloned()).collect();
        drop(room);
        for wakeup in woken {
            // One that cannot be raised further has woken its thread already.
            let _ = wakeup.write(1);
        }
        done
    }

    fn nudge(&self) {
        // One that is nudged already comes anyway.
        for line in &self.nudges {
            let _ = line.try_send(());
        }
    }
}

impl Subscriber {
    /// Subscribes; what the client is told waits for it. All connections on which this client signed have one part between them.
    pub(super) fn subscribe(&self, owner: Option<Address>, subscription: &str) -> Result<(), NotServed> {
        let done = self.hub.with(false, |room| {
            owner.into_iter().for_each(|owner| room.relay.vouch(self.id, owner));
            room.relay.subscribe(self.id, subscription, steady_ms())
        });
        self.hub.nudge();
        done
    }

    /// Ends a subscription; what the client is told waits for it.
    pub(super) fn unsubscribe(&self, subscription: &str) -> Result<(), NotServed> {
        let done = self.hub.with(false, |room| room.relay.unsubscribe(self.id, subscription, steady_ms()));
        self.hub.nudge();
        done
    }

    /// Frames for the client, of about so many bytes.
    ///
    /// # Errors
    /// Why it is to be closed.
    pub(super) fn take(&self, most_bytes: usize) -> Result<Vec<Frame>, &'static str> {
        lock(&self.hub.room).relay.take(self.id, most_bytes)
    }

    /// Why it is to be closed at once, whatever it has not taken yet: what waits for clients takes too much memory.
    pub(super) fn too_heavy(&self) -> Option<&'static str> {
        lock(&self.hub.room).relay.too_heavy(self.id)
    }

    /// Bytes that wait for the client.
    pub(super) fn waiting(&self) -> usize {
        lock(&self.hub.room).relay.waiting(self.id)
    }

    /// The client takes nothing of what it is sent: nothing more waits for it. Why it is closed.
    pub(super) fn give_up(&self) -> &'static str {
        self.hub.with(false, |room| room.relay.give_up(self.id))
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        self.hub.with(false, |room| {
            room.wakeups.remove(&self.id);
            room.relay.leave(self.id, steady_ms());
        });
        self.hub.nudge();
    }
}
