//! Mail on its way between the guard and the model venue, and the dice that decide its fate.

use crate::base::address::Cloid;
use crate::guard::effects::SendAction;
use crate::guard::{Input, SendOutcome};

/// Numbers from a seed (xorshift).
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }

    pub(super) fn one_in(&mut self, sides: u64) -> bool {
        self.roll(sides) == 0
    }
}

/// A request on its way.
pub(super) struct Post {
    pub(super) send: SendAction,
    /// Whether it has left the process, and survives its death.
    pub(super) leaves_ms: u64,
    /// When the venue gets it, if it does.
    pub(super) arrives_ms: Option<u64>,
    /// When the guard hears, and what: the venue's answer where nothing else is said.
    pub(super) heard_ms: u64,
    pub(super) heard: Option<SendOutcome>,
    pub(super) refuse: bool,
}

/// A read, with the moment whose truth it shows.
pub(super) enum Mail {
    Input(Box<Input>),
    Account { begun_ms: u64 },
    Orders { begun_ms: u64 },
    Status { intent: u64, index: usize, cloid: Cloid },
}
