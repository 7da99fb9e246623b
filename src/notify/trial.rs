//! `notify test`: one message to each target, and what each answered.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use super::config::Config;
use super::forms::Teller;
use super::forms::answer::Answer;
use super::message::Message;
use super::notice::{Notice, Severity};
use super::run::RunError;
use super::secrets::Secrets;
use super::watch::Guard;
use super::words;
use crate::base::clock::wall_ms;

/// How long all targets have; each is asked beside the others.
const PATIENCE: Duration = Duration::from_secs(40);

/// Sends one message to each target and says of each, a line, what it answered.
///
/// # Errors
/// The [`RunError`]: a secret that cannot be had, or that a target did not take it.
pub fn trial(
    config: &Config,
    credentials: Option<PathBuf>,
    in_container: bool,
    mut say: impl FnMut(&str),
) -> Result<(), RunError> {
    let mut secrets = Secrets::new(credentials, in_container);
    let mut tellers = Vec::new();
    for target in &config.target {
        let teller = Teller::of(target, &mut secrets).map_err(|error| RunError::Secret(error.of(&target.name)))?;
        tellers.push((target.name.clone(), target.form.name(), teller));
    }
    secrets.url(config.heartbeat.as_ref()).map_err(RunError::Secret)?;
    secrets.warnings().iter().for_each(|warning| say(&format!("warning: {warning}")));
    let (secrets, keys) = (secrets.texts(), secrets.keys());
    let notice = Notice::once("notifier", "test", Severity::Info, "Test message").words(
        "Somebody ran svc-guard notify test.",
        "",
        "Nothing. This is where word of the guard arrives.",
    );
    let message = Message::of(&notice.at(wall_ms()), &Guard::default(), &keys);
    let (answers, told) = channel();
    let mut waiting = Vec::new();
    for (name, form, teller) in tellers {
        waiting.push((name.clone(), form));
        let (answers, message) = (answers.clone(), message.clone());
        let tell = move || drop(answers.send((name, teller.tell(&message, &AtomicBool::new(false)))));
        std::thread::Builder::new().spawn(tell).map_err(RunError::System)?;
    }
    let (all, mut taken, until) = (waiting.len(), 0, Instant::now() + PATIENCE);
    while !waiting.is_empty() {
        let Ok((name, answer)) = told.recv_timeout(until.saturating_duration_since(Instant::now())) else { break };
        let form = waiting.iter().position(|(waiting, _)| *waiting == name).map_or("", |place| waiting.remove(place).1);
        let said = match answer {
            Answer::Taken => {
                taken += 1;
                "took it".to_owned()
            }
            Answer::Partly(why) => format!("took it, but {why}"),
            Answer::Later(why, _) | Answer::Refused(why) => format!("did not: {why}"),
        };
        say(&words::said(&format!("{name} ({form}): {said}"), &secrets));
    }
    waiting.iter().for_each(|(name, form)| say(&format!("{name} ({form}): did not answer")));
    if taken == all { Ok(()) } else { Err(RunError::NotTaken(all - taken)) }
}
