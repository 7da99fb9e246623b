//! The two triggers from outside: the kill file, which pulls the kill switch, and signals, which end the service.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use crossbeam_channel::Sender;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::base::kill_file::KillFile;
use crate::base::kill_watch::KillWatch;
use crate::base::life;
use crate::base::unsynced::replace_unsynced;
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
/// then changes nothing. `leave_word` says where this guard answers, before the mark says that one runs here: whoever sees the
/// mark goes by the word.
///
/// # Errors
/// When the decision loop is gone.
pub(super) fn kill_file(
    mut watch: KillWatch,
    leave_word: impl FnOnce(),
    to_write: &KillToWrite,
    inbox: &Sender<Message>,
    faults: &Faults,
) -> Result<(), String> {
    let tell = |input| inbox.send(Message::Input(input)).map_err(|_| "the decision loop is gone".to_owned());
    let (mut is_pulled, mut was_there, mut told, mut is_first) = (false, false, None, true);
    let mut leave_word = Some(leave_word);
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
        leave_word.take().into_iter().for_each(|leave| leave());
        watch.mark();
        to_write.try_again();
        was_there = watch.wait(EVERY_MS);
    }
}

/// Says where this guard answers, and the number of its life, in the place of what an earlier one said: whoever pulls the switch
/// asks there what became of it, and goes by the config's address without it. Not synced: a start has better things to wait for.
pub(super) fn leave_word(file: &Path, address: Option<SocketAddr>) {
    let text = address.map(|address| format!("{address}\n{}\n", life::of_process())).unwrap_or_default();
    if replace_unsynced(file, text.as_bytes()).is_err() {
        _ = fs::remove_file(file);
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crossbeam_channel::bounded;

    use super::*;

    #[test]
    fn whoever_sees_that_a_guard_runs_finds_where_it_answers() {
        let home = tempfile::tempdir().unwrap();
        let (file, word) = (KillFile::new(home.path().join("kill")), home.path().join("listening"));
        fs::write(&word, "127.0.0.1:1\n").unwrap();
        let watch = KillWatch::begin(file.clone()).unwrap();
        let to_write = Arc::new(KillToWrite::new(file.clone(), Faults::default()));
        let (inbox, received) = bounded(1);
        drop(received);
        let address = "127.0.0.1:4000".parse().unwrap();
        let mut seen = None;
        let leave = || {
            seen = Some(KillWatch::is_watched(&file));
            leave_word(&word, Some(address));
            // The watch ends with its inbox.
            KillFile::new(home.path().join("kill")).pull("enough").unwrap();
        };
        kill_file(watch, leave, &to_write, &inbox, &Faults::default()).unwrap_err();
        assert_eq!(seen, Some(Some(false)));
        assert_eq!(fs::read_to_string(&word).unwrap(), format!("127.0.0.1:4000\n{}\n", life::of_process()));
    }
}
