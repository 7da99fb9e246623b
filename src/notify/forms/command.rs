//! A program of this machine: the message as JSON on its standard input. Its exit status 0 is a yes.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

use super::answer::Answer;
use crate::notify::message::Message;

/// How long it may take.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);
/// The search path that it is given; nothing else of this process's environment is passed on.
pub(in crate::notify) const SEARCH_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

pub(super) fn run(words: &[String], message: &Message, is_closing: &AtomicBool) -> Answer {
    run_within(words, message, PATIENCE, is_closing)
}

fn run_within(words: &[String], message: &Message, patience: Duration, is_closing: &AtomicBool) -> Answer {
    let Some((program, arguments)) = words.split_first() else {
        return Answer::Later("there is no program".to_owned(), None);
    };
    let mut command = Command::new(program);
    command.args(arguments).env_clear().env("PATH", SEARCH_PATH).current_dir("/").process_group(0);
    let started = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) => return Answer::Later(format!("{program} cannot be started: {error}"), None),
    };
    if let Some(mut input) = child.stdin.take() {
        // A few KiB at most, which a pipe holds. A program that reads nothing has its reasons.
        _ = input.write_all(format!("{}\n", message.json()).as_bytes());
    }
    match ended(&mut child, patience, is_closing) {
        Some(status) if status.success() => Answer::Taken,
        Some(status) => Answer::Later(format!("{program} ended with {status}"), None),
        None if is_closing.load(Ordering::Relaxed) => {
            Answer::Later(format!("{program} was ended with the notifier"), None)
        }
        None => Answer::Later(format!("{program} was ended: it took over {} s", patience.as_secs()), None),
    }
}

/// How it ended; `None` where it had to be ended. What it started in its group is ended with it either way.
fn ended(child: &mut Child, patience: Duration, is_closing: &AtomicBool) -> Option<ExitStatus> {
    let begun = Instant::now();
    let pid = i32::try_from(child.id()).ok().map(Pid::from_raw);
    let mut has_ended = false;
    while !has_ended && begun.elapsed() < patience && !is_closing.load(Ordering::Relaxed) {
        has_ended = pid.is_none_or(has_exited);
        if !has_ended {
            std::thread::sleep(PAUSE);
        }
    }
    // It was not waited for yet, so its number is still that of its group and of no other.
    _ = pid.map(|group| killpg(group, Signal::SIGKILL));
    _ = child.kill();
    let status = child.wait().ok();
    status.filter(|_| has_ended)
}

/// Whether it has exited; whoever waits for it still can.
fn has_exited(pid: Pid) -> bool {
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    !matches!(waitid(Id::Pid(pid), flags), Ok(WaitStatus::StillAlive))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notify::notice::{Notice, Severity};
    use crate::notify::watch::Guard;

    fn said(words: &[&str], patience: Duration) -> Answer {
        let notice = Notice::once("kill", "kill", Severity::Critical, "Kill switch pulled");
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        run_within(&words, &Message::of(&notice, &Guard::default(), &[]), patience, &AtomicBool::new(false))
    }

    #[test]
    fn the_message_is_on_its_input_and_its_exit_is_the_answer() {
        let patience = Duration::from_secs(30);
        assert_eq!(said(&["/bin/sh", "-c", "grep -q '\"code\":\"kill\"'"], patience), Answer::Taken);
        assert_eq!(said(&["/bin/sh", "-c", "test -z \"$HOME$USER\""], patience), Answer::Taken, "no environment");
        assert!(matches!(said(&["/bin/sh", "-c", "exit 3"], patience), Answer::Later(why, None) if why.contains("3")));
        assert!(
            matches!(said(&["/nowhere/at/all"], patience), Answer::Later(why, None) if why.contains("cannot be started"))
        );
    }

    #[test]
    fn one_that_runs_at_the_end_is_ended_with_the_notifier() {
        let notice = Notice::once("kill", "kill", Severity::Critical, "Kill switch pulled");
        let message = Message::of(&notice, &Guard::default(), &[]);
        let words = ["/bin/sh", "-c", "sleep 1000 & wait"].map(str::to_owned);
        let closing = AtomicBool::new(true);
        let answer = run_within(&words, &message, Duration::from_secs(1_000), &closing);
        assert!(matches!(answer, Answer::Later(why, None) if why.contains("with the notifier")));
    }

    #[test]
    fn one_that_hangs_is_ended_with_what_it_started() {
        let hangs = said(&["/bin/sh", "-c", "sleep 1000 & wait"], Duration::from_millis(200));
        assert!(matches!(hangs, Answer::Later(why, None) if why.contains("was ended")));
    }

    /// Whether a process runs; one that has ended and that nobody has waited for yet does not.
    fn runs(pid: &str) -> bool {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        state.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
    }

    #[test]
    fn one_that_ends_leaves_nothing_of_its_group_behind() {
        let folder = tempfile::tempdir().unwrap();
        for (end, name) in [("exit 0", "well"), ("exit 3", "ill")] {
            let file = folder.path().join(name);
            let script = format!("sleep 1000 & echo $! > {}; {end}", file.display());
            let answer = said(&["/bin/sh", "-c", &script], Duration::from_secs(30));
            assert_eq!(answer == Answer::Taken, end == "exit 0", "{answer:?}");
            let left = std::fs::read_to_string(&file).unwrap();
            let begun = Instant::now();
            while runs(left.trim()) && begun.elapsed() < Duration::from_secs(20) {
                std::thread::sleep(PAUSE);
            }
            assert!(!runs(left.trim()), "{end}: {left}");
        }
    }
}
