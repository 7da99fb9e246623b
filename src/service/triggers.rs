//! The two triggers from outside: the kill file, which pulls the kill switch, and signals, which end the service.

use std::time::Duration;

use crossbeam_channel::Sender;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::base::kill_file::KillFile;
use crate::base::kill_watch::KillWatch;
use crate::faults::{Faults, Step};
use crate::guard::{AlertCode, Input};
use crate::service::kill_to_write::KillToWrite;
use crate::service::message::Message;
use crate::service::reporting::level::Level;
use crate::service::reporting::log;

/// How often the kill file is looked for.
const EVERY_MS: u8 = 50;

/// How often the spare kill file is tried again.
const MAKE_EVERY: Duration = Duration::from_secs(5);

/// Watches the kill file until it is there, and its folder for good. The latch is the core's: what happens to the file
/// then changes nothing.
///
/// # Errors
/// When the decision loop is gone.
pub(super) fn kill_file(
    mut watch: KillWatch,
    to_write: &KillToWrite,
    inbox: &Sender<Message>,
    faults: &Faults,
) -> Result<(), String> {
    let tell = |input| inbox.send(Message::Input(input)).map_err(|_| "the decision loop is gone".to_owned());
    let (mut is_pulled, mut was_there, mut told, mut is_first) = (false, false, None, true);
    loop {
        faults.pass(Step::KillFileLook).map_err(|error| error.to_string())?;
        if !is_pulled && let Some(reason) = watch.pulled().or_else(|| was_there.then(|| watch.reason())) {
            is_pulled = true;
            tell(match is_first {
                true => Input::KilledBefore { reason },
                false => Input::Kill { reason, by: None, write_file: false, request: None },
            })?;
        }
        is_first = false;
        let problem = watch.problem();
        if problem != told {
            let text = problem.as_ref().map(|problem| {
                format!("a kill file may not be seen where people put it: {problem}; put the folder back and restart")
            });
            tell(Input::Concern { code: AlertCode::HomeGone, text })?;
            told = problem;
        }
        watch.mark();
        to_write.try_again();
        was_there = watch.wait(EVERY_MS);
    }
}

/// Makes the spare kill file, as soon as the disk has room for it.
pub(super) fn make_ready(kill_file: &KillFile) {
    let mut is_told = false;
    while let Err(error) = kill_file.make_ready() {
        if !std::mem::replace(&mut is_told, true) {
            let text =
                "the spare kill file cannot be made, and a kill needs room for its reason until it is: make space";
            log::line(Level::Warning, format_args!("{text} ({error})"));
        }
        std::thread::sleep(MAKE_EVERY);
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
