//! Recovery: the state made again from the journal at a start, and what must be carried over.

mod book;
pub(crate) mod checkpoint;
pub(crate) mod open_intents;
pub(crate) mod risk;
