//! The journals on disk: chained lines, one writer with group commit, the index. Knows no verdict and no venue.
//!
//! A journal's folder holds the events of its whole life by UTC day, the risk journal, and beside them what can be made
//! again: the redo file, the reserve, the index. Nothing that was confirmed is ever written over, and nothing that is not as it was
//! written is passed over: a person looks at it.
//!
//! * [`create_risk`] starts a journal, [`open`] locks and verifies it. [`Store::writer`] and [`History`] are the work of
//!   two threads, which their owner starts; [`Batch`]es sent to the [`Journal::queue`] are released when they are on disk.
//! * [`Lookup`], [`read_risk`], [`read_days`] and [`reached`] read beside the writer and never hold it up.
//!
//! What keeps a line from being lost or doubled:
//!
//! 1. A batch is confirmed after `fdatasync` of each file it touches, and, for a new file, of the folder.
//! 2. The events of a batch are on disk before its risk records: no checkpoint names events that are not there.
//! 3. A file that once failed to be written or synced is left; the next one's first line says where the journal
//!    continues from, and repeats what was not confirmed.
//! 4. A killed process leaves at most one batch unfinished, and `tail.redo` holds it whole.

mod backlog;
mod batch;
mod carry;
mod chain;
mod disk;
mod error;
mod folder;
mod folders;
mod health;
mod history;
mod in_place;
mod index;
mod lock;
mod lookup;
mod mark;
mod open;
mod reader;
mod redo;
mod reserve;
mod seen;
mod segment;
mod space;
mod store;
mod stored;
mod tail;
#[cfg(test)]
mod tests;
mod unindexed;
mod vouch;
mod witness;
mod writer;

pub use batch::{Batch, Line, MAX_BATCH, RiskLine, Worth};
pub use chain::{Chain, LineFault, MAX_LINE, seal};
pub use disk::Disk;
pub use error::{Damage, FORGETS, JournalError, LookupError, OpenError, What};
pub use health::{Condition, Health};
pub use history::History;
pub use lookup::{Lookup, MAX_DECISIONS};
pub use open::{LastEvents, Opened, Options, check_risk, create_risk, open};
pub use reader::{Before, ChainedLine, ChainedLines, StoredLines, read_days, read_events, read_risk};
pub use redo::{Reached, reached};
pub use store::{Commit, Store};
pub use stored::StoredEvent;
pub use writer::{Journal, Writer};
