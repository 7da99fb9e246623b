//! Named threads whose death is heard.
//!
//! Every thread of the service is started here, those of other rooms too: they hand out the work, and the service gives it a
//! thread. One that panics or ends with an error says so on a bounded channel, and the service ends: a guard with a part
//! missing must not look alive. A thread that ends as it should reports nothing. What a thread does may not enter.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{Builder, JoinHandle};

use crossbeam_channel::Sender;

use crate::base::text::cut;

/// The end of a thread that should have gone on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("thread {thread} died: {reason}")]
pub(super) struct Death {
    /// Name of the thread.
    pub(super) thread: String,
    /// The cause.
    pub(super) reason: String,
    /// Whether a start must be refused for it: it would end in the same way every time.
    pub(super) is_refusal: bool,
}

/// Why a thread ended that should have gone on.
#[derive(Debug)]
pub(super) enum ThreadEnd {
    /// It failed; the service is started again.
    Failed(String),
    /// The service cannot run as it is set up.
    Refused(String),
}

impl From<String> for ThreadEnd {
    fn from(reason: String) -> Self {
        ThreadEnd::Failed(reason)
    }
}

/// Room for this many deaths is enough: the first one ends the service.
pub(super) const DEATHS: usize = 16;

const REASON_CHARS: usize = 200;

/// Starts a thread with the default stack.
///
/// # Errors
/// The system's reason when it grants no thread.
pub(super) fn spawn<F>(name: &str, deaths: &Sender<Death>, work: F) -> io::Result<JoinHandle<()>>
where
    F: FnOnce() -> Result<(), String> + Send + 'static,
{
    start(Builder::new(), name, deaths, || work().map_err(ThreadEnd::Failed))
}

/// The same for a thread that may find that the service must not run.
///
/// # Errors
/// The system's reason when it grants no thread.
pub(super) fn spawn_refusing<F>(name: &str, deaths: &Sender<Death>, work: F) -> io::Result<JoinHandle<()>>
where
    F: FnOnce() -> Result<(), ThreadEnd> + Send + 'static,
{
    start(Builder::new(), name, deaths, work)
}

/// Starts a thread with a stack of this many bytes, for the many that do little.
///
/// # Errors
/// The system's reason when it grants no thread.
pub(super) fn spawn_small<F>(
    name: &str,
    stack_bytes: usize,
    deaths: &Sender<Death>,
    work: F,
) -> io::Result<JoinHandle<()>>
where
    F: FnOnce() -> Result<(), String> + Send + 'static,
{
    start(Builder::new().stack_size(stack_bytes), name, deaths, || work().map_err(ThreadEnd::Failed))
}

fn start<F>(builder: Builder, name: &str, deaths: &Sender<Death>, work: F) -> io::Result<JoinHandle<()>>
where
    F: FnOnce() -> Result<(), ThreadEnd> + Send + 'static,
{
    let deaths = deaths.clone();
    let thread = name.to_owned();
    builder.name(name.to_owned()).spawn(move || {
        let ended = catch_unwind(AssertUnwindSafe(work));
        let ended = ended.unwrap_or_else(|panic| Err(ThreadEnd::Failed(panic_text(panic.as_ref()))));
        if let Err(end) = ended {
            let (reason, is_refusal) = match end {
                ThreadEnd::Failed(reason) => (reason, false),
                ThreadEnd::Refused(reason) => (reason, true),
            };
            // A full channel means that the service is ending over an earlier death already.
            let _ = deaths.try_send(Death { thread, reason: cut(&reason, REASON_CHARS), is_refusal });
        }
    })
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text =
        panic.downcast_ref::<&str>().map(|text| (*text).to_owned()).or_else(|| panic.downcast_ref::<String>().cloned());
    format!("panicked: {}", text.as_deref().unwrap_or("no text"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossbeam_channel::bounded;

    #[test]
    fn panic_and_error_are_heard_and_a_good_end_is_not() {
        let (deaths, heard) = bounded(DEATHS);
        spawn("fine", &deaths, || Ok(())).unwrap().join().unwrap();
        assert!(heard.is_empty());
        spawn("late", &deaths, || Err("no more work".to_owned())).unwrap().join().unwrap();
        spawn_small("burst", 64 * 1024, &deaths, || panic!("at {}", 7)).unwrap().join().unwrap();
        let texts: Vec<String> = heard.try_iter().map(|death| death.to_string()).collect();
        assert_eq!(texts, ["thread late died: no more work", "thread burst died: panicked: at 7"]);
    }

    #[test]
    fn a_full_channel_blocks_no_dying_thread() {
        let (deaths, heard) = bounded(1);
        for _ in 0..3 {
            spawn("one", &deaths, || Err("x".repeat(10_000))).unwrap().join().unwrap();
        }
        let reasons: Vec<usize> = heard.try_iter().map(|death| death.reason.len()).collect();
        assert_eq!(reasons, [REASON_CHARS]);
    }
}
