//! The two triggers from outside: the kill file, which pulls the kill switch, and signals, which end the service.

use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::base::kill_file::KillFile;
use crate::faults::{Faults, Step};
use crate::guard::Input;
use crate::service::message::Message;
use crate::service::reporting::level::Level;
use crate::service::reporting::log;

/// How often the kill file is looked for: simple, and right on every kind of mount.
const EVERY: Duration = Duration::from_millis(50);

/// Watches the kill file until it is there, and writes it for a client that pulled the switch: the reasons come by `pulls`.
/// The latch is the core's: what happens to the file then changes nothing.
///
/// # Errors
/// When the decision loop is gone.
pub(super) fn kill_file(
    file: &KillFile,
    pulls: &Receiver<String>,
    inbox: &Sender<Message>,
    faults: &Faults,
) -> Result<(), String> {
    let reason = loop {
        faults.pass(Step::KillFileLook).map_err(|error| error.to_string())?;
        match file.is_pulled() {
            Ok(false) => match pulls.recv_timeout(EVERY) {
                Ok(reason) => pull(file, &reason, faults),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(EVERY),
            },
            Ok(true) => break file.reason(),
            // A switch that cannot be seen counts as pulled.
            Err(error) => break format!("the kill file cannot be looked for: {error}"),
        }
    };
    let input = Input::Kill { reason, by: None, write_file: false, request: None };
    inbox.send(Message::Input(input)).map_err(|_| "the decision loop is gone".to_owned())
}

fn pull(file: &KillFile, reason: &str, faults: &Faults) {
    if let Err(error) = faults.pass(Step::KillFileWrite).and_then(|()| file.pull(reason)) {
        let text = format_args!("the kill file could not be written, the switch is pulled all the same: {error}");
        log::line(Level::Error, text);
    }
}

/// Waits for the signal that ends the service; its name.
#[must_use]
pub(super) fn wait_for(signals: &mut Signals) -> Option<&'static str> {
    signals.forever().next().map(|signal| match signal {
        SIGINT => "SIGINT",
        SIGTERM => "SIGTERM",
        _ => "a signal",
    })
}

/// Takes over the signals that end the service.
///
/// # Errors
/// The system's.
pub(super) fn signals() -> std::io::Result<Signals> {
    Signals::new([SIGINT, SIGTERM])
}
