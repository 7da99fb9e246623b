//! Who recovers a signer next. That is most of what a request costs, so no more do it at once than there are cores, and clients
//! take turns: whoever floods waits behind itself, and another's request behind one of each client at most. Connections on
//! which no signature checked out yet have one turn together.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::Mutex;

use crossbeam_channel::{Sender, bounded};

use crate::base::address::Address;
use crate::base::sync::lock;

/// Who takes a turn: a client, or all together who are none yet.
type Party = Option<Address>;

/// The turns there are. As many wait as there are connections at most.
#[derive(Debug)]
pub(super) struct Turns {
    at_once: usize,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    free: usize,
    /// Nobody waits while one is free.
    waiting: BTreeMap<Party, VecDeque<Sender<()>>>,
    last: Party,
}

/// A turn; the next one's when dropped.
#[derive(Debug)]
pub(super) struct Turn<'a>(&'a Turns);

impl Turns {
    /// So many at once.
    pub(super) fn new(at_once: usize) -> Self {
        let at_once = at_once.max(1);
        let state = State { free: at_once, waiting: BTreeMap::new(), last: None };
        Self { at_once, state: Mutex::new(state) }
    }

    /// Whether nobody takes one.
    pub(super) fn are_idle(&self) -> bool {
        lock(&self.state).free == self.at_once
    }

    /// Waits for a turn of this party's.
    pub(super) fn take(&self, party: Party) -> Turn<'_> {
        let called = {
            let mut state = lock(&self.state);
            if let Some(left) = state.free.checked_sub(1) {
                state.free = left;
                return Turn(self);
            }
            let (call, called) = bounded(1);
            state.waiting.entry(party).or_default().push_back(call);
            called
        };
        // It cannot fail: who is done calls whoever waits.
        let _called = called.recv();
        Turn(self)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        match state.next() {
            Some(call) => drop(call.try_send(())),
            None => state.free = state.free.saturating_add(1),
        }
    }
}

impl State {
    /// The one that waited longest of the party whose turn it is.
    fn next(&mut self) -> Option<Sender<()>> {
        let later = self.waiting.range((Bound::Excluded(self.last), Bound::Unbounded)).next();
        let party = *later.or_else(|| self.waiting.first_key_value())?.0;
        self.last = party;
        let calls = self.waiting.get_mut(&party)?;
        let call = calls.pop_front();
        if calls.is_empty() {
            self.waiting.remove(&party);
        }
        call
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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
        assert_eq!(lock(&turns.state).free, 1);
        came.into_inner().unwrap()
    }

    #[test]
    fn parties_take_turns_however_many_of_one_wait() {
        let [none, one, two] = [None, Some(Address([1; 20])), Some(Address([2; 20]))];
        let came = order_of(&[two, two, two, two, one, none, two, one]);
        assert_eq!(came, [one, two, none, one, two, two, two, two]);
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
        assert_eq!(lock(&turns.state).free, 1);
    }
}
