//! A fault: what is to happen at a step.

use super::step::Step;

/// What is to happen at a step.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// Of a write, only the first bytes reach the file; then this error number. Other steps fail at once.
    Fail {
        /// Bytes written before the error.
        after: usize,
        /// The error number.
        errno: i32,
    },
    /// Of a write, only the first bytes reach the file; then the process is killed.
    Kill {
        /// Bytes written before the kill.
        after: usize,
    },
    /// The step waits, and goes on.
    Delay {
        /// For so long, milliseconds.
        ms: u64,
    },
    /// The thread panics.
    Panic,
}

/// Asked at each step; see [`Fault`].
pub type Switch = std::sync::Arc<dyn Fn(Step) -> Option<Fault> + Send + Sync>;
