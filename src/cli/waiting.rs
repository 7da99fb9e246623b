//! Tells a person at a terminal what a command waits for, when it takes long.

use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use super::output::say;

/// A wait shorter than this is not worth a word; longer ones are reported again as often.
const LONG: Duration = Duration::from_secs(2);

/// Does `work`, and says every two seconds that it waits for `what`.
pub(super) fn with_progress<T>(what: &str, work: impl FnOnce() -> T) -> T {
    if !std::io::stderr().is_terminal() {
        return work();
    }
    let (done, waits) = channel::<()>();
    thread::scope(|scope| {
        let teller = move || {
            let mut waited = Duration::ZERO;
            while waits.recv_timeout(LONG) == Err(RecvTimeoutError::Timeout) {
                waited = waited.saturating_add(LONG);
                say(&format!("waiting for {what} ({} s)", waited.as_secs()));
            }
        };
        // Without a thread nothing is reported, and the work is done all the same.
        _ = thread::Builder::new().spawn_scoped(scope, teller);
        let result = work();
        drop(done);
        result
    })
}
