//! The switchboard: asked at each step, it lets the step pass or makes it fail.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

#[cfg(any(test, feature = "faults"))]
use super::fault::{Fault, Switch};
#[cfg(feature = "faults")]
use super::script;
use super::step::Step;

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
