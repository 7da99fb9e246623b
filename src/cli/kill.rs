//! `kill`: pulls the kill switch, and says what became of it.

use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::kill_disk::NotPlaced;
use super::kill_told::{Seen, Watcher, left, unknown};
use super::kill_typed::Typed;
use super::kill_ways::{Runs, Ways};
use super::output::{report, say};
use super::refusal::Refusal;
use super::start_again::silent;
use super::{kill_disk, kill_elsewhere, values, waiting};
use crate::base::moment::iso;
use crate::base::shell::{place, word};
use crate::base::text::short;
use crate::guard::AlertCode;
use crate::home::Home;
use crate::record::status::Status;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Why: one line, at most 200 characters (the rest is cut)
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = values::reason)]
    reason: String,
    /// Wait until the guard says that no position, no order and no TWAP order is left, for so long at most
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = values::USUAL_WAIT, value_parser = values::seconds)]
    wait: Option<u16>,
}

impl Args {
    fn typed(&self) -> Typed {
        Typed { reason: Some(self.reason.clone()), wait: self.wait }
    }
}

/// A running guard says within this that it has heard.
const HEARD_WITHIN: Duration = Duration::from_secs(2);
/// A guard whose home was taken away marks the folder in its place within this.
const MARKED_WITHIN: Duration = Duration::from_secs(3);
/// Between two looks for that.
const MARK_EVERY: Duration = Duration::from_secs(1);
/// How long a guard that does not answer is asked before its home is looked at again.
const LOOK_AGAIN: Duration = Duration::from_secs(3);

/// Nothing held and nothing resting, in words.
const NOTHING: &str = "0 positions, 0 orders";

/// Most alerts that are told of where it does not get flat.
const MOST_ALERTS: usize = 3;

pub(super) fn run(args: &Args, home: &Home, is_home_named: bool) -> Result<(), Refusal> {
    let (kill, typed) = (home.kill_file(), args.typed());
    if let Some(other) = kill_disk::of_config(home).filter(|_| !is_home_named) {
        let (told, doubt) = kill_elsewhere::of_which(home, &other, |dir| typed.command(dir));
        return Err(Refusal::KillOfWhich(told, doubt));
    }
    if let Some(told) = kill_disk::doubtful_config(home).filter(|_| !is_home_named) {
        let own = typed.command(home.dir());
        return Err(Refusal::KillOfWhich(told, format!("`{own}` is for the default home")));
    }
    let placed = kill_disk::pull(home, &args.reason);
    let (seen, watcher) = found(home, placed.is_ok());
    let (placed, is_kept) = match placed {
        Ok(placed) => placed,
        Err(NotPlaced::Late(waiting)) => return late(home, &watcher, args, waiting),
        Err(NotPlaced::Refused(error)) => {
            let runs = Runs { homes: kill_disk::elsewhere(home), typed };
            let is_gone = error.kind() == io::ErrorKind::NotFound;
            let alone = watcher.answers().filter(|_| is_gone).map(str::to_owned);
            let url = watcher.url().map(str::to_owned);
            return Err(Refusal::NotPulled(kill.path().to_owned(), error, Ways { url, runs, alone }));
        }
    };
    let reason = &placed.reason;
    let found = if placed.before { "The kill switch was pulled before" } else { "The kill switch is pulled" };
    // A guard whose folder was taken away looks at the path of another one that stands there by now.
    if seen.watched == Some(false) && watcher.answers().is_none() {
        let found = if placed.before { "the kill switch was pulled before" } else { "the kill switch is pulled" };
        return Err(unheard(home, format!("{found} ({reason})"), typed, seen));
    }
    let done = format!("the kill switch is pulled ({reason})");
    report(&format!("{found}: {reason}\n"), &done)?;
    if !is_kept {
        say(&format!(
            "warning: the disk of {} does not answer: after a power cut the kill file may be gone",
            place(home.dir())
        ));
    }
    let heard = watcher.until(HEARD_WITHIN, |status| status.killed.is_some() && tells_what_is_left(&watcher, status));
    let told = told(
        home,
        &watcher,
        &heard,
        args.wait.is_none().then(|| silent(Some(reason), seen.again.as_ref(), seen.has_no_config)),
    );
    report(&format!("{told}\n{}\n", release(kill.path(), placed.is_folder)), &done)?;
    // A person in a hurry names no home, and may mean another guard than the default home's.
    let going_on = kill_elsewhere::not_killed(&kill_disk::others(home), &typed);
    if !going_on.is_empty() {
        report(&going_on, &done)?;
    }
    match (args.wait, heard) {
        (Some(_), Ok(status)) if status.mode == "paper" => Ok(()),
        (Some(seconds), _) => wait(home, &watcher, seconds, &Said { done: &done, typed: &typed }),
        (None, _) => Ok(()),
    }
}

/// The home as it looks, and its guard. One whose home was taken away looks once in a while whether a folder stands in its place, which
/// has no config yet.
fn found(home: &Home, is_placed: bool) -> (Seen, Watcher) {
    let begun = Instant::now();
    loop {
        let seen = kill_disk::look(home);
        let watcher = Watcher::of(home, &seen);
        let may_come = is_placed && seen.has_no_config && seen.watched == Some(false);
        if !may_come || begun.elapsed() >= MARKED_WITHIN || watcher.answers().is_some() {
            return (seen, watcher);
        }
        sleep(MARK_EVERY);
    }
}

/// The disk did not take the file, and may do so when nobody asks any more. A guard that is killed all the same, which sees
/// its folder as gone or was told by a client, is heard.
fn late(home: &Home, watcher: &Watcher, args: &Args, waiting: u32) -> Result<(), Refusal> {
    let refusal = Refusal::DiskHangs(home.kill_file().path().to_owned(), waiting, watcher.url().map(str::to_owned));
    let heard = watcher.until(Duration::ZERO, |_| true);
    let Some(reason) = heard.as_ref().ok().and_then(|status| status.killed.clone()) else { return Err(refusal) };
    let done = format!("the guard is killed ({reason})");
    report(
        &format!("The kill file waits for its disk, which hangs. The guard is killed all the same: {reason}\n"),
        &done,
    )?;
    report(&format!("{}\n", told(home, watcher, &heard, None)), &done)?;
    let said = Said { done: &done, typed: &args.typed() };
    args.wait.map_or(Ok(()), |seconds| wait(home, watcher, seconds, &said))
}

/// What was not read yet since the service started, where nothing of it is known either.
fn unread(status: &Status) -> Option<&'static str> {
    let venue = &status.venue;
    if venue.account_age_ms.is_none() {
        return Some("what is held");
    }
    // A guard before this one tells no age of the orders, and a position that is closed says enough.
    let is_told = status.closing.as_ref().is_some_and(|closing| closing.checked_ms.is_some());
    (venue.orders_age_ms.is_none() && !is_told && left(status) == NOTHING).then_some("what rests")
}

/// When a guard saw that everything is closed, by reads since it was killed, and nothing has shown since.
fn was_flat(status: &Status) -> Option<u64> {
    status.closing.as_ref().filter(|closing| closing.flat).and_then(|closing| closing.checked_ms)
}

/// Whether a killed guard's answer says what it closes, or by reads since the kill that there is nothing. One that shows
/// nothing by older reads may not have seen a fill of just now.
fn tells_what_is_left(watcher: &Watcher, status: &Status) -> bool {
    let is_said = status.mode == "paper" || unread(status).is_some();
    is_said || left(status) != NOTHING || was_flat(status).is_some() || watcher.is_flat(status)
}

/// The answer of the guard to a kill, in words, with whose guard it is; where there is none, what is left.
fn told(home: &Home, watcher: &Watcher, heard: &Result<Status, String>, silent: Option<String>) -> String {
    let status = match heard {
        Ok(status) => status,
        Err(why) => {
            let silent = silent.map_or_else(String::new, |silent| format!(": {silent}"));
            return format!(
                "a guard runs on this home, and did not say within 2 s what it does ({why}){silent}\nThe home is {}",
                place(home.dir())
            );
        }
    };
    let became = if status.killed.is_none() {
        "the guard answers, and has not taken it in yet".to_owned()
    } else if status.mode == "paper" {
        format!("killed; paper mode sends nothing: {} stay", left(status))
    } else if let Some(unread) = unread(status) {
        format!("killed; {unread} was not read yet since the service started: it is closed once it is")
    } else if watcher.is_flat(status) {
        "killed; nothing is held and nothing rests".to_owned()
    } else if let Some(at_ms) = was_flat(status).filter(|_| left(status) == NOTHING) {
        format!("killed, and flat at {}: nothing was held and nothing rested", iso(at_ms))
    } else if left(status) == NOTHING {
        "killed; nothing was held and nothing rested when that was read last: the guard reads it again, and --wait waits for it"
            .to_owned()
    } else {
        format!("killed; closing {}", left(status))
    };
    let (mode, dir) = (short(&status.mode), place(home.dir()));
    format!("{became}\nThis is the {mode} guard of account {}, home {dir}", status.account)
}

/// How a person releases it.
fn release(file: &Path, is_folder: bool) -> String {
    let remove = if is_folder {
        format!("remove the folder {}: `rm -r {}`", place(file), word(file))
    } else {
        format!("remove {}", place(file))
    };
    let and = if is_folder { "," } else { "" };
    format!("Only a person releases it: {remove}{and} and restart the service.")
}

/// What is said where nobody sees that everything is closed: what was done, and what was typed.
struct Said<'a> {
    done: &'a str,
    typed: &'a Typed,
}

/// Waits until everything is closed. That it is not, or cannot be seen, is no failure of the kill, and is told as one.
fn wait(home: &Home, watcher: &Watcher, seconds: u16, said: &Said<'_>) -> Result<(), Refusal> {
    let Said { done, typed } = *said;
    let patience = Duration::from_secs(seconds.into());
    let answer = waiting::with_progress("everything to be closed", || until_flat(home, watcher, patience));
    match answer {
        Ok(status) if watcher.is_flat(&status) => report(&format!("flat: {}\n", left(&status)), done),
        Ok(status) => {
            let hindrances = status.closing.as_ref().map_or(&[][..], |closing| &closing.hindrances).iter().cloned();
            // That alert tells of these as well.
            let others = status.alerts.iter().filter(|alert| alert.code != AlertCode::NotFlat.as_str());
            let alerts = others.map(|alert| alert.text.clone());
            let told = hindrances.chain(alerts).take(MOST_ALERTS);
            let why: String = unknown(&status).into_iter().chain(told).map(|text| format!("; {text}")).collect();
            Err(Refusal::Unhealthy(format!("{}{why}", not_flat(&status, seconds))))
        }
        Err(why) => {
            let seen = kill_disk::look(home);
            if seen.watched == Some(false) {
                return Err(unheard(home, done.to_owned(), typed.clone(), seen));
            }
            let silent = silent(None, seen.again.as_ref(), seen.has_no_config);
            Err(Refusal::Unhealthy(format!("whether it is flat cannot be seen after {seconds} s: {why}; {silent}")))
        }
    }
}

/// The guard's last answer until it is flat, or why there is none. It may be ended meanwhile, as whoever waits is told, and started
/// again.
fn until_flat(home: &Home, watcher: &Watcher, patience: Duration) -> Result<Status, String> {
    let (mut renewed, mut is_blind) = (None, false);
    loop {
        let watcher = renewed.as_ref().unwrap_or(watcher);
        let answer = watcher.until(watcher.rest(patience).min(LOOK_AGAIN), |status| watcher.is_flat(status));
        let is_flat = answer.as_ref().is_ok_and(|status| watcher.is_flat(status));
        if is_flat || watcher.rest(patience).is_zero() {
            return answer;
        }
        // A disk that does not answer is not asked again and again.
        if answer.is_err() && !is_blind {
            let seen = kill_disk::look(home);
            (renewed, is_blind) = (watcher.renewed(home, &seen).or(renewed), seen.left.is_none());
        }
    }
}

/// That so much time was too little, in words. A guard that shows nothing may be flat: it only has not read that again yet.
fn not_flat(status: &Status, seconds: u16) -> String {
    let left = left(status);
    if let Some(unread) = unread(status) {
        return format!("after {seconds} s {unread} was not read yet since the service started");
    }
    if left == NOTHING {
        return format!(
            "after {seconds} s it is not sure yet that nothing is left: nothing was held and nothing rested when that was read last"
        );
    }
    format!("not flat after {seconds} s: {left} left")
}

/// The refusal where no running guard reads this home's kill file: that it is pulled, and what is left to do.
fn unheard(home: &Home, mut found: String, typed: Typed, seen: Seen) -> Refusal {
    if seen.has_no_config {
        let (dir, config) = (place(home.dir()), place(&home.config_file()));
        found.push_str(&format!(" in {dir}, which may not be the home that is meant: there is no {config}"));
    }
    if let Some(why) = &seen.hindrance {
        found.push_str(&format!(
            "; no guard of this home starts as it is ({why}), so that what is open stays open: what cannot wait is closed at the \
             venue's own page"
        ));
    }
    let runs = Runs { homes: kill_disk::elsewhere(home), typed };
    Refusal::Unheard(home.kill_file().path().to_owned(), found, runs, seen.start.filter(|_| seen.hindrance.is_none()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::address::Address;

    #[test]
    fn a_guard_that_shows_nothing_is_not_called_one_that_holds_something() {
        let status = |more: serde_json::Value| {
            let mut value =
                serde_json::json!({"schema": 1, "mode": "testnet", "account": Address([1; 20]), "alerts": []});
            value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            serde_json::from_value::<Status>(value).unwrap()
        };
        let unread = not_flat(&status(serde_json::json!({})), 7);
        assert_eq!(unread, "after 7 s what is held was not read yet since the service started");
        let none = not_flat(
            &status(
                serde_json::json!({"venue": {"account_age_ms": 5}, "closing": {"flat": false, "checked_ms": 5, "twaps": 0}}),
            ),
            7,
        );
        assert!(none.starts_with("after 7 s it is not sure yet") && !none.contains("not flat"), "{none}");
        let orders = not_flat(&status(serde_json::json!({"venue": {"account_age_ms": 5}, "closing": {"twaps": 0}})), 7);
        assert_eq!(orders, "after 7 s what rests was not read yet since the service started");
        let twap = not_flat(
            &status(
                serde_json::json!({"venue": {"account_age_ms": 5}, "closing": {"flat": false, "checked_ms": 5, "twaps": 1}}),
            ),
            7,
        );
        assert_eq!(twap, "not flat after 7 s: 0 positions, 0 orders, 1 TWAP order left");
    }
}
