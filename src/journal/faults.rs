//! The steps at which a disk can fail or a process can die, and the switchboard that makes them do so in tests.
//! Only test builds and builds with the feature `faults` carry the switchboard; elsewhere every step is nothing at all.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A step of journaling that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Writing the batch to `tail.redo`.
    RedoWrite,
    /// Creating a file of events.
    EventsCreate,
    /// Writing events.
    EventsWrite,
    /// Syncing events.
    EventsSync,
    /// Making a new file of events durable in its folder.
    EventsFolderSync,
    /// Creating a file of the risk journal.
    RiskCreate,
    /// Writing risk records.
    RiskWrite,
    /// Syncing risk records.
    RiskSync,
    /// Making a new file of the risk journal durable in its folder.
    RiskFolderSync,
    /// Allocating the reserve file.
    ReserveCreate,
    /// Writing a file of the index.
    IndexWrite,
    /// After the last sync, before anybody is told.
    Release,
}

impl Step {
    /// All steps, in the order of a batch.
    pub const ALL: [Step; 12] = [
        Step::RedoWrite,
        Step::EventsCreate,
        Step::EventsWrite,
        Step::EventsSync,
        Step::EventsFolderSync,
        Step::RiskCreate,
        Step::RiskWrite,
        Step::RiskSync,
        Step::RiskFolderSync,
        Step::ReserveCreate,
        Step::IndexWrite,
        Step::Release,
    ];
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

impl Faults {
    /// A switchboard that asks `switch` at each step.
    #[cfg(any(test, feature = "faults"))]
    pub fn new(switch: Switch) -> Faults {
        Faults { switch: Some(switch) }
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
        let (Fault::Fail { after, .. } | Fault::Kill { after }) = fault;
        if let Some((file, bytes, offset)) = write {
            file.write_all_at(bytes.get(..after).unwrap_or(bytes), offset)?;
        }
        match fault {
            Fault::Fail { errno, .. } => Err(io::Error::from_raw_os_error(errno)),
            Fault::Kill { .. } => Err(nix::sys::signal::raise(nix::sys::signal::Signal::SIGKILL)
                .map_or_else(Into::into, |()| io::Error::other("killed"))),
        }
    }
}
