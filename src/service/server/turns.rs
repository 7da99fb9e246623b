//! Who recovers a signer next. That is most of what a request costs, so no more do it at once than there are cores, and clients
//! take turns: whoever floods waits behind itself, and another's request behind one of each client at most. Beside others a
//! client has its part of the turns and rests after each, so that the cores have time left for whoever asks less. Connections on
//! which no signature checked out yet are one client here.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::base::address::Address;
use crate::base::sync::lock;

/// Who takes a turn: a client, or all together who are none yet.
type Party = Option<Address>;

/// A party counts beside others for so long after it took its last turn.
const BESIDE: Duration = Duration::from_millis(100);
/// Beside others a party rests after a turn for so many times as long as that took: the rest of a request costs about as much again,
/// and so does whoever asks on the same machine.
const REST: u32 = 2;
/// A turn that a busy machine drew out is not rested for in full.
const LONGEST_REST: Duration = Duration::from_millis(1);

/// The turns there are. As many wait as there are connections at most.
#[derive(Debug)]
pub(super) struct Turns {
    at_once: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// As many as there are clients, and one.
    parties: BTreeMap<Party, Taken>,
    waiting: BTreeMap<Party, VecDeque<Sender<()>>>,
    last: Party,
}

/// What a party has taken.
#[derive(Debug, Clone, Copy)]
struct Taken {
    turns: usize,
    /// When it last wanted one.
    wanted: Instant,
    /// Until when it rests where others are beside it.
    rests_until: Instant,
}

/// A turn; the next one's when dropped.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    turns: &'a Turns,
    party: Party,
    begun: Instant,
}

impl Turns {
    /// So many at once.
    pub(super) fn new(at_once: usize) -> Self {
        Self { at_once: at_once.max(1), state: Mutex::default() }
    }

    /// Whether nobody takes one.
    pub(super) fn are_idle(&self) -> bool {
        lock(&self.state).taken() == 0
    }

    /// Waits for a turn of this party's.
    pub(super) fn take(&self, party: Party) -> Turn<'_> {
        let called = lock(&self.state).enter(party, self.at_once, Instant::now());
        if let Some(called) = called {
            // It cannot fail: who is done calls whoever waits.
            let _called = called.recv();
        }
        let rest = lock(&self.state).rest(party, Instant::now());
        if !rest.is_zero() {
            std::thread::sleep(rest);
        }
        Turn { turns: self, party, begun: Instant::now() }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.turns.state);
        let now = Instant::now();
        state.leave(self.party, self.begun, now);
        while let Some(call) = state.next(self.turns.at_once, now) {
            _ = call.try_send(());
        }
    }
}

impl State {
    fn taken(&self) -> usize {
        self.parties.values().map(|taken| taken.turns).sum()
    }

    /// How many parties have wanted a turn of late.
    fn beside(&self, now: Instant) -> usize {
        let is_beside = |taken: &&Taken| now.saturating_duration_since(taken.wanted) < BESIDE;
        self.parties.values().filter(is_beside).count().max(1)
    }

    /// Takes a turn for this party, or has it wait to be called.
    fn enter(&mut self, party: Party, at_once: usize, now: Instant) -> Option<Receiver<()>> {
        self.parties.entry(party).or_insert(Taken { turns: 0, wanted: now, rests_until: now }).wanted = now;
        if self.has_room(party, at_once, now) {
            self.begin(party);
            return None;
        }
        let (call, called) = bounded(1);
        self.waiting.entry(party).or_default().push_back(call);
        Some(called)
    }

    fn begin(&mut self, party: Party) {
        if let Some(taken) = self.parties.get_mut(&party) {
            taken.turns = taken.turns.saturating_add(1);
        }
    }

    /// Ends a turn of this party's that began then.
    fn leave(&mut self, party: Party, begun: Instant, now: Instant) {
        if let Some(taken) = self.parties.get_mut(&party) {
            taken.turns = taken.turns.saturating_sub(1);
            let rest = now.saturating_duration_since(begun).saturating_mul(REST).min(LONGEST_REST);
            taken.rests_until = now.checked_add(rest).unwrap_or(now);
        }
    }

    /// How long a party that has its turn rests first.
    fn rest(&self, party: Party, now: Instant) -> Duration {
        let until = self.parties.get(&party).filter(|_| self.beside(now) > 1).map(|taken| taken.rests_until);
        until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now))
    }

    /// Whether a turn is free for this party: beside others each has its part, and what of that is not taken stays free.
    fn has_room(&self, party: Party, at_once: usize, now: Instant) -> bool {
        let part = at_once.checked_div(self.beside(now)).unwrap_or(1).max(1);
        self.taken() < at_once && self.parties.get(&party).is_none_or(|taken| taken.turns < part)
    }

    /// The one that waited longest of the party whose turn it is.
    fn next(&mut self, at_once: usize, now: Instant) -> Option<Sender<()>> {
        let may = |party: &Party| self.has_room(*party, at_once, now);
        let later = self.waiting.range((Bound::Excluded(self.last), Bound::Unbounded));
        let party = *later.map(|(party, _)| party).chain(self.waiting.keys()).find(|party| may(party))?;
        self.last = party;
        let calls = self.waiting.get_mut(&party)?;
        let call = calls.pop_front();
        if calls.is_empty() {
            self.waiting.remove(&party);
        }
        self.begin(party);
        call
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Has these parties wait in this order behind a turn that is held; in which order they came to theirs.
    fn order_of(parties: &[Party]) -> Vec<Party> {
        let (turns, came) = (Turns::new(1), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            let held = turns.take(Some(Address([2; 20])));
            for (before, party) in parties.iter().enumerate() {
                let waiting = || lock(&turns.state).waiting.values().map(VecDeque::len).sum::<usize>();
                while waiting() < before {
                    std::thread::sleep(Duration::from_millis(1));
                }
                scope.spawn(|| {
                    let _turn = turns.take(*party);
                    lock(&came).push(*party);
                });
            }
            while lock(&turns.state).waiting.values().map(VecDeque::len).sum::<usize>() < parties.len() {
                std::thread::sleep(Duration::from_millis(1));
            }
            drop(held);
        });
        assert!(turns.are_idle());
        came.into_inner().unwrap()
    }

    #[test]
    fn parties_take_turns_however_many_of_one_wait() {
        let [none, one, two] = [None, Some(Address([1; 20])), Some(Address([2; 20]))];
        let came = order_of(&[two, two, two, two, one, none, two, one]);
        assert_eq!(came, [one, two, none, one, two, two, two, two]);
    }

    /// Two at once, of which one client has both before another comes.
    #[test]
    fn beside_another_each_has_its_part() {
        let [one, other] = [1, 2].map(|byte| Some(Address([byte; 20])));
        let (mut state, now) = (State::default(), Instant::now());
        assert!(state.enter(one, 2, now).is_none() && state.enter(one, 2, now).is_none());
        let third = state.enter(one, 2, now).unwrap();
        let first_other = state.enter(other, 2, now).unwrap();
        state.leave(one, now, now);
        state.next(2, now).unwrap().send(()).unwrap();
        assert!(first_other.try_recv().is_ok() && third.try_recv().is_err());
        assert!(state.next(2, now).is_none(), "the other one's part is taken, and so is this one's");
        state.leave(other, now, now);
        assert!(state.next(2, now).is_none(), "what is the other one's is kept for it");
        state.leave(one, now, now);
        state.next(2, now).unwrap().send(()).unwrap();
        assert!(third.try_recv().is_ok() && state.next(2, now).is_none());
        // Alone it has all of them again.
        assert!(state.enter(one, 2, now + BESIDE - Duration::from_micros(1)).is_some());
        assert!(state.enter(one, 2, now + BESIDE).is_none());
    }

    #[test]
    fn beside_another_a_client_rests_after_a_turn() {
        let [one, other] = [1, 2].map(|byte| Some(Address([byte; 20])));
        let (mut state, begun) = (State::default(), Instant::now());
        let ended = begun + Duration::from_micros(80);
        assert!(state.enter(one, 2, begun).is_none());
        state.leave(one, begun, ended);
        assert_eq!(state.rest(one, ended), Duration::ZERO, "nobody is beside it");
        assert!(state.enter(other, 2, ended).is_none());
        assert_eq!(state.rest(one, ended), Duration::from_micros(160));
        assert_eq!(state.rest(one, ended + Duration::from_micros(160)), Duration::ZERO);
        assert_eq!(state.rest(other, ended), Duration::ZERO, "its first");
        let late = ended + Duration::from_millis(10);
        state.leave(other, ended, late);
        assert_eq!(state.rest(other, late), LONGEST_REST);
        assert_eq!(state.rest(other, ended + BESIDE), Duration::ZERO, "the other one is gone");
    }

    #[test]
    fn as_many_go_on_at_once_as_may() {
        let turns = Turns::new(2);
        let (first, _second) = (turns.take(None), turns.take(None));
        std::thread::scope(|scope| {
            let third = scope.spawn(|| drop(turns.take(None)));
            while lock(&turns.state).waiting.is_empty() {
                std::thread::sleep(Duration::from_millis(1));
            }
            assert!(!third.is_finished());
            drop(first);
        });
        assert_eq!(lock(&turns.state).taken(), 1);
    }
}
