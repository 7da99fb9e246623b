//! The kill file that stands for a client's kill. The switch is pulled at once, and released by a restart where no file stands: so a
//! disk that refuses the file is tried again until it has it, and one that hangs is waited for beside what closes.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crossbeam_channel::bounded;

use super::reporting::level::Level;
use super::reporting::log;
use crate::base::kill_file::KillFile;
use crate::base::sync::lock;
use crate::faults::{Faults, Step};

/// How long what closes waits for the file: a restart right after that knows of the switch by the file alone.
const PATIENCE: Duration = Duration::from_secs(2);

/// The kill file, and the reason that is still to be written to it.
#[derive(Debug)]
pub(super) struct KillToWrite {
    file: KillFile,
    faults: Faults,
    owed: Mutex<Option<String>>,
}

impl KillToWrite {
    /// Nothing is to be written yet.
    pub(super) fn new(file: KillFile, faults: Faults) -> Self {
        Self { file, faults, owed: Mutex::default() }
    }

    /// Writes it now, or later where that fails. A disk that hangs is left to a thread of its own, which ends when it answers.
    pub(super) fn write(self: &Arc<Self>, reason: &str) {
        let (told, done) = bounded(1);
        let (writing, text) = (Arc::clone(self), reason.to_owned());
        let write = move || {
            writing.write_or_owe(&text);
            // Nobody may wait any more.
            _ = told.send(());
        };
        match std::thread::Builder::new().name("kill-write".to_owned()).spawn(write) {
            Ok(_) => drop(done.recv_timeout(PATIENCE)),
            Err(_) => self.write_or_owe(reason),
        }
    }

    fn write_or_owe(&self, reason: &str) {
        if let Err(error) = self.pull(reason) {
            *lock(&self.owed) = Some(reason.to_owned());
            let text = "the kill file could not be written, and is tried again; the switch is pulled all the same";
            log::line(Level::Error, format_args!("{text}: {error}"));
        }
    }

    /// Writes what could not be written before.
    pub(super) fn try_again(&self) {
        let Some(reason) = lock(&self.owed).clone() else { return };
        if self.pull(&reason).is_ok() {
            *lock(&self.owed) = None;
            log::line(Level::Info, "the kill file is written now");
        }
    }

    fn pull(&self, reason: &str) -> io::Result<()> {
        self.faults.pass(Step::KillFileWrite)?;
        self.file.pull(reason).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_written_is_written_once_it_can_be() {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().join("home");
        let file = KillFile::new(home.join("kill"));
        let kill = Arc::new(KillToWrite::new(file.clone(), Faults::default()));
        kill.try_again();
        kill.write("enough");
        kill.try_again();
        std::fs::create_dir(&home).unwrap();
        assert!(!file.is_pulled().unwrap());
        kill.try_again();
        assert_eq!(file.reason(), "enough");
        // Once is enough: who removes it then has released it.
        std::fs::remove_file(file.path()).unwrap();
        kill.try_again();
        assert!(!file.is_pulled().unwrap());
    }
}
