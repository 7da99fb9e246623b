//! `kill`: pulls the kill switch, and says what became of it.

use std::time::Duration;

use super::kill_told::{Watcher, left, unknown};
use super::output::report;
use super::refusal::Refusal;
use super::waiting;
use crate::base::kill_file::Pulled;
use crate::base::kill_watch::KillWatch;
use crate::base::shell::place;
use crate::home::Home;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Why: one line, at most 200 characters (the rest is cut)
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Wait until the guard says that no position, no order and no TWAP order is left, for so long at most
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "60", value_parser = seconds)]
    wait: Option<u16>,
}

/// Reads the value of `--wait`.
fn seconds(typed: &str) -> Result<u16, String> {
    typed.parse().map_err(|_| "must be whole seconds, 65535 at most, such as 60".to_owned())
}

/// A running guard says within this that it has heard.
const HEARD_WITHIN: Duration = Duration::from_secs(2);

/// Most alerts that are told of where it does not get flat.
const MOST_ALERTS: usize = 3;

pub(super) fn run(args: &Args, home: &Home) -> Result<(), Refusal> {
    let kill = home.kill_file();
    let path = place(kill.path());
    let pulled = kill.pull(&args.reason).map_err(|error| {
        let runs = Watcher::of(home).elsewhere(home).filter(|other| other != home.dir());
        Refusal::NotPulled(kill.path().to_owned(), error, runs)
    })?;
    let watcher = Watcher::of(home);
    let found = match pulled {
        Pulled::Now => "The kill switch is pulled",
        Pulled::Before => "The kill switch was pulled before",
    };
    if KillWatch::is_watched(&kill) == Some(false) {
        return Err(Refusal::Unheard(kill.path().to_owned(), kill.reason(), watcher.elsewhere(home)));
    }
    let done = format!("the kill switch is pulled ({})", kill.reason());
    report(&format!("{found}: {}\n", kill.reason()), &done)?;
    let heard = watcher.until(HEARD_WITHIN, |status| status.killed.is_some());
    let told = match &heard {
        Ok(status) if status.killed.is_none() => "the guard answers, and has not taken it in yet".to_owned(),
        Ok(status) if status.mode == "paper" => format!("killed; paper mode sends nothing: {} stay", left(status)),
        Ok(status) if status.venue.account_age_ms.is_none() => {
            "killed; what is held was not read yet since the service started: it is closed once it is".to_owned()
        }
        Ok(status) if watcher.is_flat(status) => "killed; nothing is held and nothing rests".to_owned(),
        Ok(status) => format!("killed; closing {}", left(status)),
        Err(why) => format!("a guard runs on this home, and did not say within 2 s what it does ({why})"),
    };
    report(&format!("{told}\nOnly a person releases it: remove {path} and restart the service.\n"), &done)?;
    match (args.wait, heard) {
        (Some(_), Ok(status)) if status.mode == "paper" => Ok(()),
        (Some(seconds), _) => wait(home, &watcher, seconds, &done),
        (None, _) => Ok(()),
    }
}

/// Waits until everything is closed. That it is not, or cannot be seen, is no failure of the kill, and is told as one.
fn wait(home: &Home, watcher: &Watcher, seconds: u16, done: &str) -> Result<(), Refusal> {
    let patience = watcher.rest(Duration::from_secs(seconds.into()));
    let answer =
        waiting::with_progress("everything to be closed", || watcher.until(patience, |status| watcher.is_flat(status)));
    match answer {
        Ok(status) if watcher.is_flat(&status) => report(&format!("flat: {}\n", left(&status)), done),
        Ok(status) => {
            let alerts = status.alerts.iter().take(MOST_ALERTS).map(|alert| alert.text.clone());
            let why: String = unknown(&status).into_iter().chain(alerts).map(|text| format!("; {text}")).collect();
            Err(Refusal::Unhealthy(format!("not flat after {seconds} s: {} left{why}", left(&status))))
        }
        Err(_) if KillWatch::is_watched(&home.kill_file()) == Some(false) => {
            let kill = home.kill_file();
            Err(Refusal::Unheard(kill.path().to_owned(), kill.reason(), watcher.elsewhere(home)))
        }
        Err(why) => Err(Refusal::Unhealthy(format!("whether it is flat cannot be seen after {seconds} s: {why}"))),
    }
}
