//! How much a line of the log matters.

pub use crate::base::log_line::Level;
