//! The steps at which a disk, a venue or the process itself can fail, and the switchboard that makes them do so in tests.
//!
//! Every step of the program that a recovery must survive is named here and nowhere else, so that a test can walk them
//! all. Only test builds and builds with the feature `faults` carry the switchboard; elsewhere every step is nothing
//! at all.

#[cfg(feature = "faults")]
mod script;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

#[cfg(feature = "faults")]
pub use script::{SCRIPT, clock_offset_ms};

/// Names every step once: a step that is added is in the list.
macro_rules! steps {
    ($($(#[$doc:meta])* $step:ident = $name:literal,)+) => {
        /// A step that can fail.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Step { $($(#[$doc])* $step,)+ }

        impl Step {
            /// All steps: first those of a batch's way to disk, then those of an action's way to the venue, then the threads'.
            pub const ALL: &'static [Step] = &[$(Step::$step,)+];

            /// The name that scripts know it by.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Step::$step => $name,)+ }
            }
        }
    };
}

steps! {
    /// Writing the batch to `tail.redo`.
    RedoWrite = "redo_write",
    /// Creating a file of events.
    EventsCreate = "events_create",
    /// Writing events.
    EventsWrite = "events_write",
    /// Syncing events.
    EventsSync = "events_sync",
    /// Making a new file of events durable in its folder.
    EventsFolderSync = "events_folder_sync",
    /// Creating a file of the risk journal.
    RiskCreate = "risk_create",
    /// Writing risk records.
    RiskWrite = "risk_write",
    /// Syncing risk records.
    RiskSync = "risk_sync",
    /// Making a new file of the risk journal durable in its folder.
    RiskFolderSync = "risk_folder_sync",
    /// Allocating the reserve file.
    ReserveCreate = "reserve_create",
    /// Writing a file of the index.
    IndexWrite = "index_write",
    /// After the last sync, before anybody is told.
    Release = "release",
    /// Before a waiting client is answered.
    Answer = "answer",
    /// A sender has taken an action; nothing of it has left.
    SendTaken = "send_taken",
    /// The action is signed; nothing of it has left.
    SendSigned = "send_signed",
    /// The action was written to the venue; no answer was read.
    SendWritten = "send_written",
    /// The venue's answer was read; nobody was told.
    SendAnswered = "send_answered",
    /// Before the venue is asked something.
    Ask = "ask",
    /// The question was written to the venue; no answer was read.
    AskWritten = "ask_written",
    /// The kill file is about to be written for a client.
    KillFileWrite = "kill_file_write",
    /// A request came to a worker.
    Request = "request",
    /// The decision loop's next turn.
    Decide = "decide",
    /// The poller's next turn.
    Poll = "poll",
    /// The kill file is looked for.
    KillFileLook = "kill_file_look",
}

/// What is to happen at a step.
#[cfg(any(test, feature = "faults"))]
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
#[cfg(any(test, feature = "faults"))]
pub type Switch = std::sync::Arc<dyn Fn(Step) -> Option<Fault> + Send + Sync>;

/// The switchboard. The default one lets everything pass.
#[derive(Clone, Default)]
pub struct Faults {
    #[cfg(any(test, feature = "faults"))]
    switch: Option<Switch>,
}

impl std::fmt::Debug for Faults {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Faults")
    }
}

impl Faults {
    /// A switchboard that asks `switch` at each step.
    #[cfg(any(test, feature = "faults"))]
    #[must_use]
    pub fn new(switch: Switch) -> Faults {
        Faults { switch: Some(switch) }
    }

    /// The switchboard of a running program: in fault builds it follows the script in its home.
    #[must_use]
    pub(crate) fn of_home(home: &std::path::Path) -> Faults {
        #[cfg(feature = "faults")]
        return Faults::new(script::follow(home));
        #[cfg(not(feature = "faults"))]
        {
            let _unused = home;
            Faults::default()
        }
    }

    /// Says what this thread is busy with from now on: the type of an action or a question.
    #[inline]
    pub(crate) fn about(&self, what: &str) {
        #[cfg(feature = "faults")]
        script::about(what);
        #[cfg(not(feature = "faults"))]
        let _unused = what;
    }

    /// Passes a step that is not a write.
    pub(crate) fn pass(&self, step: Step) -> io::Result<()> {
        self.fire(step, None)
    }

    /// Writes all bytes at `offset`.
    pub(crate) fn write(&self, step: Step, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.fire(step, Some((file, bytes, offset)))?;
        file.write_all_at(bytes, offset)
    }

    #[cfg(not(any(test, feature = "faults")))]
    #[inline]
    fn fire(&self, _: Step, _: Option<(&File, &[u8], u64)>) -> io::Result<()> {
        Ok(())
    }

    #[cfg(any(test, feature = "faults"))]
    fn fire(&self, step: Step, write: Option<(&File, &[u8], u64)>) -> io::Result<()> {
        let Some(fault) = self.switch.as_ref().and_then(|switch| switch(step)) else { return Ok(()) };
        if let (Fault::Fail { after, .. } | Fault::Kill { after }, Some((file, bytes, offset))) = (fault, write) {
            file.write_all_at(bytes.get(..after).unwrap_or(bytes), offset)?;
        }
        match fault {
            Fault::Fail { errno, .. } => Err(io::Error::from_raw_os_error(errno)),
            Fault::Kill { .. } => Err(nix::sys::signal::raise(nix::sys::signal::Signal::SIGKILL)
                .map_or_else(Into::into, |()| io::Error::other("killed"))),
            Fault::Delay { ms } => {
                std::thread::sleep(std::time::Duration::from_millis(ms));
                Ok(())
            }
            Fault::Panic => std::panic::resume_unwind(Box::new(format!("a fault was asked for at {}", step.name()))),
        }
    }
}
