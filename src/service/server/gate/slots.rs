//! The places for connections, who holds them, and who gives way when all are taken.
//!
//! A connection on which a client's signature checked out is that client's, and each client has a share of the places. All
//! others give way to newcomers, whoever was idle longest first, but for a request that is at work and for what was not read
//! yet, which is read at once. What can be at work without a signature has fewer places than there are, so a newcomer finds
//! one. They have a bound of memory between them as well: over it, whoever keeps most gives way.

use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::limits::Limits;
use crate::base::address::Address;
use crate::base::sync::lock;

/// Threads of connections that gave way and have not ended yet, at most.
const MOST_ENDING: usize = 64;

/// The places there are.
#[derive(Debug)]
pub(in crate::service) struct Slots {
    state: Mutex<State>,
    idle: Condvar,
    most: usize,
    asking: usize,
    share: usize,
    unsigned_bytes: usize,
}

#[derive(Debug, Default)]
struct State {
    places: BTreeMap<u64, Place>,
    /// The number of the last place given.
    last: u64,
    /// Counts what happens on places, so that the longest idle one is known.
    moment: u64,
    /// Slots that are held, those that gave way among them.
    held: usize,
    at_work: usize,
    asking: usize,
    shutting_down: bool,
}

/// A place that is taken.
#[derive(Debug)]
struct Place {
    /// The connection's own socket once more: to wake its thread by.
    socket: TcpStream,
    /// The client whose signature checked out on it.
    client: Option<Address>,
    phase: Phase,
    /// The moment of its last change.
    since: u64,
    /// What it keeps of what has not come in whole, and of answers that are not taken.
    bytes: usize,
}

impl Place {
    /// Whether nothing has to be waited for that is its client's to do.
    fn is_busy(&self) -> bool {
        self.phase >= Phase::Seated
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// Between two requests.
    Waiting,
    /// Upgraded to a WebSocket.
    Upgraded,
    /// A request comes in.
    Receiving,
    /// An answer goes out.
    Answering,
    /// What made it ask for its place is not read yet: its thread begins with that.
    Seated,
    /// A request is being answered.
    AtWork,
}

/// One connection's place; free again when dropped.
#[derive(Debug)]
pub(in crate::service::server) struct Slot {
    slots: Arc<Slots>,
    number: u64,
}

/// Where a request is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// On the connection's own thread.
    Here,
    /// By the HTTP workers, which may ask the venue.
    Workers,
}

/// Why a request does not begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotBegun {
    ShuttingDown,
    /// Its place is another's by now, or too many of its kind are at work.
    Busy,
}

/// One request at work; done when dropped.
#[derive(Debug)]
pub(super) struct AtWork {
    slots: Arc<Slots>,
    number: u64,
    /// Whether it waits for a worker.
    is_asking: bool,
}

impl Slots {
    /// The places of these limits, where so many clients are known.
    pub(in crate::service) fn new(limits: &Limits, clients: usize) -> Self {
        let share = limits.signed.checked_div(clients).unwrap_or(limits.signed).max(1);
        let (state, idle) = (Mutex::default(), Condvar::new());
        let Limits { connections: most, asking, unsigned_bytes, .. } = *limits;
        Self { state, idle, most, asking, share, unsigned_bytes }
    }

    /// The connections there may be.
    pub(in crate::service) fn most(&self) -> usize {
        self.most
    }

    /// How many connections have places, and how many requests are at work.
    pub(in crate::service) fn taken(&self) -> (usize, usize) {
        let state = self.lock();
        (state.places.len(), state.at_work)
    }

    /// A place for a connection that has something to say, if need be that of one that is nobody's; `None` while
    /// all are at work or clients'. `socket` is the connection's once more.
    pub(super) fn enter(self: &Arc<Self>, socket: TcpStream) -> Result<Slot, TcpStream> {
        let mut state = self.lock();
        let is_full = state.places.len() >= self.most;
        let has_thread = state.held < self.most.saturating_add(MOST_ENDING);
        if !has_thread || (is_full && !state.close_one(|place| place.client.is_none() && !place.is_busy())) {
            return Err(socket);
        }
        let since = state.next_moment();
        state.last = state.last.saturating_add(1);
        state.held = state.held.saturating_add(1);
        let number = state.last;
        state.places.insert(number, Place { socket, client: None, phase: Phase::Seated, since, bytes: 0 });
        Ok(Slot { slots: Arc::clone(self), number })
    }

    /// Lets no request begin any more and waits for those at work; false when some are left after `grace`.
    pub(super) fn shut_down(&self, grace: Duration) -> bool {
        let mut state = self.lock();
        state.shutting_down = true;
        let waited = self.idle.wait_timeout_while(state, grace, |state| state.at_work > 0);
        waited.unwrap_or_else(PoisonError::into_inner).0.at_work == 0
    }

    /// Waits until no connection is upgraded any more, for so long at most: each says goodbye by itself.
    pub(super) fn wait_for_upgraded(&self, grace: Duration) {
        let is_upgraded = |place: &Place| place.phase == Phase::Upgraded;
        let has_some = |state: &mut State| state.places.values().any(is_upgraded);
        drop(self.idle.wait_timeout_while(self.lock(), grace, has_some));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl State {
    fn next_moment(&mut self) -> u64 {
        self.moment = self.moment.saturating_add(1);
        self.moment
    }

    fn set(&mut self, number: u64, phase: Phase) -> bool {
        let since = self.next_moment();
        let place = self.places.get_mut(&number);
        let set = |place: &mut Place| {
            (place.phase, place.since) = (phase, since);
            // What it was asked is answered, and taken.
            if phase == Phase::Waiting {
                place.bytes = 0;
            }
        };
        place.map(set).is_some()
    }

    /// Closes the connection that was idle longest of those that `may_go`, and takes its place from it.
    fn close_one(&mut self, may_go: impl Fn(&Place) -> bool) -> bool {
        let candidates = self.places.iter().filter(|(_, place)| may_go(place));
        let longest = candidates.min_by_key(|(_, place)| (place.phase >= Phase::Receiving, place.since));
        longest.map(|(number, _)| *number).is_some_and(|number| self.close(number))
    }

    /// Closes the connection that keeps most of those that are nobody's and not at work.
    fn close_heaviest(&mut self) -> bool {
        let may_go = |place: &Place| place.client.is_none() && !place.is_busy() && place.bytes > 0;
        let candidates = self.places.iter().filter(|(_, place)| may_go(place));
        let heaviest = candidates.max_by_key(|(_, place)| (place.bytes, std::cmp::Reverse(place.since)));
        heaviest.map(|(number, _)| *number).is_some_and(|number| self.close(number))
    }

    fn unsigned_bytes(&self) -> usize {
        self.places.values().filter(|place| place.client.is_none()).map(|place| place.bytes).sum()
    }

    fn close(&mut self, number: u64) -> bool {
        let Some(place) = self.places.remove(&number) else { return false };
        // Its thread sees the end of the stream. One that reads may still say why; one that writes is cut off.
        let how = if place.phase == Phase::Answering { Shutdown::Both } else { Shutdown::Read };
        // An error says that the connection is gone already.
        let _ = place.socket.shutdown(how);
        true
    }
}

impl Slot {
    /// The connection waits for its next request, or is upgraded.
    pub(super) fn wait(&self) {
        self.slots.lock().set(self.number, Phase::Waiting);
    }

    /// A request comes in.
    pub(super) fn receive(&self) {
        self.slots.lock().set(self.number, Phase::Receiving);
    }

    /// The connection is a WebSocket from now on.
    pub(super) fn upgrade(&self) {
        self.slots.lock().set(self.number, Phase::Upgraded);
    }

    /// The connection is not idle: a frame came in, or its client took some of what goes out.
    pub(in crate::service::server) fn stay(&self) {
        let mut state = self.slots.lock();
        let since = state.next_moment();
        if let Some(place) = state.places.get_mut(&self.number) {
            place.since = since;
        }
    }

    /// Says how much the connection keeps of what has not come in whole, and of answers that are not taken; whether the place is still
    /// its own.
    pub(in crate::service::server) fn hold(&self, bytes: usize) -> bool {
        let mut state = self.slots.lock();
        if let Some(place) = state.places.get_mut(&self.number) {
            place.bytes = bytes;
        }
        while state.unsigned_bytes() > self.slots.unsigned_bytes && state.close_heaviest() {}
        state.places.contains_key(&self.number)
    }

    /// Whether the place is another's by now.
    pub(in crate::service::server) fn is_lost(&self) -> bool {
        !self.slots.lock().places.contains_key(&self.number)
    }

    /// The client whose signature checked out on it.
    pub(in crate::service::server) fn client(&self) -> Option<Address> {
        self.slots.lock().places.get(&self.number).and_then(|place| place.client)
    }

    /// Marks a request as at work: the place is kept for as long.
    pub(super) fn begin(&self, work: Work) -> Result<AtWork, NotBegun> {
        let mut state = self.slots.lock();
        if state.shutting_down {
            return Err(NotBegun::ShuttingDown);
        }
        if work == Work::Workers && state.asking >= self.slots.asking {
            return Err(NotBegun::Busy);
        }
        if !state.set(self.number, Phase::AtWork) {
            return Err(NotBegun::Busy);
        }
        state.at_work = state.at_work.saturating_add(1);
        let is_asking = work == Work::Workers;
        state.asking = state.asking.saturating_add(usize::from(is_asking));
        Ok(AtWork { slots: Arc::clone(&self.slots), number: self.number, is_asking })
    }

    /// Gives the place to a client whose signature checked out on it. One that has its share of them already loses the
    /// one that was idle longest; the number of its share where none is idle.
    pub(in crate::service::server) fn vouch(&self, client: Address) -> Result<(), usize> {
        let mut state = self.slots.lock();
        // A place that is some client's already, or that is lost, takes no further one.
        if state.places.get(&self.number).is_none_or(|place| place.client.is_some()) {
            return Ok(());
        }
        let held = state.places.values().filter(|place| place.client == Some(client)).count();
        let is_idle = |place: &Place| place.client == Some(client) && place.phase == Phase::Waiting;
        if held >= self.slots.share && !state.close_one(is_idle) {
            return Err(self.slots.share);
        }
        if let Some(place) = state.places.get_mut(&self.number) {
            place.client = Some(client);
        }
        Ok(())
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut state = self.slots.lock();
        state.places.remove(&self.number);
        state.held = state.held.saturating_sub(1);
        if state.shutting_down {
            self.slots.idle.notify_all();
        }
    }
}

impl AtWork {
    /// The answer is there, and only has to be written: from now on the place may be taken by another.
    pub(super) fn answered(&mut self) {
        let mut state = self.slots.lock();
        state.set(self.number, Phase::Answering);
        state.asking = state.asking.saturating_sub(usize::from(std::mem::take(&mut self.is_asking)));
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.answered();
        let mut state = self.slots.lock();
        state.at_work = state.at_work.saturating_sub(1);
        if state.at_work == 0 {
            self.slots.idle.notify_all();
        }
    }
}

#[cfg(test)]
mod tests;
