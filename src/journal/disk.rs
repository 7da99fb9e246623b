//! Who goes to the disk: the writer itself or, where a fallback folder stands by, a thread of its own that can be given up. A
//! call that hangs never comes back to be an error, and behind it wait stops and closes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::batch::Records;
use super::error::JournalError;
use super::store::Store;
use super::store::takeover::{End, Spare};
use crate::base::day::{Day, day_of};

/// How long the home's disk may take for one turn before the fallback folder takes over.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often the disk is looked at beside the writing.
const LOOK: Duration = Duration::from_secs(1);

type Written = Vec<Result<(), Arc<JournalError>>>;

/// One turn at the disk.
#[derive(Clone)]
enum Turn {
    Write(Day, Vec<Records>),
    /// At the places as well, or at what is left to do alone.
    Look(bool),
}

impl Turn {
    /// The day that it writes to.
    fn day(&self) -> Day {
        match self {
            Turn::Write(day, _) => *day,
            Turn::Look(_) => day_of(0),
        }
    }
}

fn take_turn(store: &mut Store, turn: Turn) -> Written {
    match turn {
        Turn::Write(day, group) => store.write(day, group),
        Turn::Look(places) => {
            if places {
                store.look_at_places();
            }
            store.retry_backlog();
            store.look_at_space();
            Vec::new()
        }
    }
}

/// What the writer writes with.
pub(super) enum Hand {
    /// This thread goes to the disk.
    Own(Box<Store>),
    /// Another one does, and nothing is lost without it.
    Apart(Box<Apart>),
}

/// The other thread, and what takes its place.
pub(super) struct Apart {
    turns: Sender<Turn>,
    turned: Receiver<(Written, End)>,
    /// How the last turn left the journal.
    end: End,
    spare: Spare,
    looked: Instant,
}

/// The work of the thread that goes to the disk.
pub struct Disk {
    // Closed before anybody hears of the end.
    store: Store,
    turns: Receiver<Turn>,
    turned: Sender<(Written, End)>,
}

impl Disk {
    /// Goes to the disk as often as it is asked to. Given up, it never ends: what it holds must not be let go of while
    /// another goes on in its place.
    pub fn run(mut self) {
        while let Ok(turn) = self.turns.recv() {
            let written = take_turn(&mut self.store, turn);
            self.store.conclude();
            if self.turned.send((written, self.store.end())).is_err() {
                break;
            }
            self.store.write_index();
        }
        while self.store.is_given_up() {
            std::thread::park();
        }
    }
}

impl Hand {
    pub(super) fn of(store: Store) -> (Hand, Option<Disk>) {
        let (store, spare) = match store.with_spare() {
            Ok(both) => both,
            Err(alone) => return (Hand::Own(alone), None),
        };
        let ((turns, turns_end), (turned_end, turned)) = (bounded(1), bounded(1));
        let apart = Apart { turns, turned, end: store.end(), spare, looked: Instant::now() };
        (Hand::Apart(Box::new(apart)), Some(Disk { store: *store, turns: turns_end, turned: turned_end }))
    }

    /// Puts a group on disk; what became of each of its batches.
    pub(super) fn write(&mut self, day: Day, group: Vec<Records>) -> Written {
        self.turn(Turn::Write(day, group))
    }

    /// Does what is left to do, and looks at the places once nothing is written.
    pub(super) fn look(&mut self, places: bool) {
        if let Hand::Apart(apart) = self {
            if apart.looked.elapsed() < LOOK {
                return;
            }
            apart.looked = Instant::now();
        }
        self.turn(Turn::Look(places));
    }

    fn turn(&mut self, turn: Turn) -> Written {
        let apart = match self {
            Hand::Own(store) => return take_turn(store, turn),
            Hand::Apart(apart) => apart,
        };
        let again = turn.clone();
        apart.spare.begin();
        if apart.turns.send(turn).is_err() {
            return gone(&again);
        }
        loop {
            match apart.turned.recv_timeout(PATIENCE) {
                Ok((written, end)) => {
                    apart.end = end;
                    apart.spare.show();
                    return written;
                }
                Err(RecvTimeoutError::Disconnected) => return gone(&again),
                Err(RecvTimeoutError::Timeout) => {
                    let Some(mut store) = apart.spare.take_over(&apart.end, again.day()) else { continue };
                    let written = take_turn(&mut store, again);
                    *self = Hand::Own(Box::new(store));
                    return written;
                }
            }
        }
    }

    /// Closes the journal.
    pub(super) fn end(self) {
        if let Hand::Apart(apart) = self {
            let Apart { turns, turned, .. } = *apart;
            drop(turns);
            // It is closed when nobody is left to speak; a disk that hangs is not waited for.
            let _closed = turned.recv_timeout(PATIENCE);
        }
    }
}

/// The thread died, and the service ends for it.
fn gone(turn: &Turn) -> Written {
    let Turn::Write(_, group) = turn else { return Vec::new() };
    let refused = || {
        let error = std::io::Error::other("the thread that writes it is gone");
        Err(Arc::new(JournalError::Disk { path: "the journal".into(), error }))
    };
    group.iter().map(|_| refused()).collect()
}
