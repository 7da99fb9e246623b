//! The reads, and the threads that do them: which read can hold up which.

/// After so long without an answer to a steady read, or to one that a start or a halt waits for, another one begins beside it,
/// and the first of the two to be answered counts: what is bare is still shown soon enough to be covered within three seconds
/// where one try hangs, and a venue that answers everything late is seen late.
pub(super) const TURN_MS: u64 = 2_500;
/// As many tries of one read are under way at most.
pub(super) const TRIES: usize = 4;
/// After so long a try is given up on: its thread begins the next one then.
pub(super) const STEADY_MS: u64 = TURN_MS * TRIES as u64;

/// Weight of a read of the open orders, and of all that is heavy.
pub(super) const HEAVY_WEIGHT: u32 = 20;

/// The threads that read. A read that hangs holds up its own lane alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::service) enum Lane {
    Prices,
    Account,
    Orders,
    /// What all these are understood by: the account's mode, the markets and the ledger. A start and a halt wait for them.
    Basis,
    /// What is read beside them, now and then.
    Beside,
    /// What became of orders in doubt.
    Doubts,
}

impl Lane {
    /// Every lane with the name of its threads, and how many there are.
    pub(in crate::service) const ALL: [(Self, &'static str, usize); 6] = [
        (Self::Account, "poll-account", TRIES),
        (Self::Orders, "poll-orders", TRIES),
        (Self::Prices, "poll-prices", TRIES),
        // Where two of its reads hang for good the third one is still read.
        (Self::Basis, "poll-basis", 2 * TRIES + 1),
        (Self::Beside, "poll-beside", 3),
        (Self::Doubts, "poll-doubts", 2),
    ];

    /// Whether what it reads comes every few seconds.
    pub(super) fn is_steady(self) -> bool {
        matches!(self, Self::Prices | Self::Account | Self::Orders)
    }
}

/// The reads, in the order of their importance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    Wallet,
    Role,
    Mode,
    Universe,
    Mids,
    Account,
    Orders,
    Ledger,
    Fills,
    Twaps,
    Limits,
    Approval,
    BookFills,
    Fundings,
}

impl Task {
    pub(super) fn lane(self) -> Lane {
        match self {
            Task::Mids => Lane::Prices,
            Task::Account => Lane::Account,
            Task::Orders => Lane::Orders,
            Task::Mode | Task::Universe | Task::Ledger => Lane::Basis,
            _ => Lane::Beside,
        }
    }

    /// Whether it is for the record alone: it goes when nothing else needs the room.
    pub(super) fn is_for_the_book(self) -> bool {
        matches!(self, Task::BookFills | Task::Fundings)
    }

    /// Whether it waits until account and orders were seen: at a small share it would take their weight.
    pub(super) fn is_for_later(self) -> bool {
        self.is_for_the_book() || matches!(self, Task::Role | Task::Limits | Task::Approval)
    }
}
