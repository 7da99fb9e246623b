//! The steps at which a disk, a venue or the process itself can fail, and the switchboard that makes them do so in tests.
//!
//! Every step of the program that a recovery must survive is named here and nowhere else, so that a test can walk them
//! all. Only test builds and builds with the feature `faults` carry the switchboard; elsewhere every step is nothing
//! at all.

#[cfg(any(test, feature = "faults"))]
mod fault;
#[cfg(feature = "faults")]
mod script;
mod step;
mod switchboard;

#[cfg(any(test, feature = "faults"))]
pub use fault::{Fault, Switch};
#[cfg(feature = "faults")]
pub use script::{SCRIPT, clock_offset_ms};
pub use step::Step;
pub use switchboard::Faults;
