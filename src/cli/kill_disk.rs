//! The work of `kill` at the home's disk, in a process of its own: a disk that hangs holds whoever touches it, and a process
//! of which one thread is held there cannot end. So the command itself touches no disk, and can always say what became of it.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::configured::{configured, left};
use super::journal;
use super::kill_elsewhere::{self, Other};
use super::kill_told::{Seen, Watcher};
use super::start_again::again;
use super::{running_here, start};
use crate::base::kill_file::Pulled;
use crate::base::listening::listening;
use crate::base::mode::Mode;
use crate::base::shell;
use crate::home::Home;

/// Time for the disk to take the file.
const PULLED_WITHIN: Duration = Duration::from_secs(2);
/// Time to look at the home.
const SEEN_WITHIN: Duration = Duration::from_secs(1);
/// Time to look for another home, whose guard is asked too.
const FOUND_WITHIN: Duration = Duration::from_secs(5);

/// The first word of a command line that asks for one step. No person types it: it is no command, and stands on no page.
const CALL: &str = "kill-at-disk";

/// What is done there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The kill file is put into its place.
    Pull,
    /// The home is looked at.
    Look,
    /// Other homes with a guard are looked for.
    Elsewhere,
    /// The home that a config lies in which was named is looked at.
    OfConfig,
    /// Such a config is looked at.
    Config,
}

impl Step {
    const ALL: [(Self, &str); 5] = [
        (Self::Pull, "pull"),
        (Self::Look, "look"),
        (Self::Elsewhere, "elsewhere"),
        (Self::OfConfig, "of-config"),
        (Self::Config, "config"),
    ];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(step, _)| *step == self).map_or("", |(_, name)| name)
    }
}

/// The kill file in its place.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Placed {
    /// Whether it stood there before.
    pub(super) before: bool,
    /// The reason in it.
    pub(super) reason: String,
    /// Whether a folder stands under its name, which kills as well.
    pub(super) is_folder: bool,
}

/// Why the kill file is not in its place.
#[derive(Debug)]
pub(super) enum NotPlaced {
    /// The disk refused.
    Refused(io::Error),
    /// The disk does not answer; the process with this id waits for it.
    Late(u32),
}

/// An error on its way from one process to the other.
#[derive(Serialize, Deserialize)]
struct Failure {
    errno: Option<i32>,
    text: String,
}

/// Does the step that a command line asks for, where it asks for one.
pub(super) fn served(words: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let mut words = words.skip(1);
    words.next().filter(|word| word == CALL)?;
    let (step, reason, dir) = (words.next()?, words.next()?, words.next()?);
    let (step, _) = Step::ALL.into_iter().find(|(_, name)| step == *name)?;
    let home = Home::resolve(Some(dir.into()), words.next().map(PathBuf::from), false).ok()?;
    serve(step, &reason.to_string_lossy(), &home);
    Some(ExitCode::SUCCESS)
}

/// Does one step, and says in one line what came of it. Whoever asked may have gone: then it is done all the same.
fn serve(step: Step, reason: &str, home: &Home) {
    match step {
        Step::Pull => {
            let placed = place(home, reason);
            let is_placed = placed.is_ok();
            tell(&placed.map_err(|error| failure(&error)));
            // What stands in the home's place may hold whoever opens it: a pipe for ever.
            if is_placed {
                home.kill_file().keep();
            }
        }
        Step::Look => tell(&see(home)),
        Step::Elsewhere => {
            let bytes = |(home, is_pulled): Other| (home.into_os_string().into_vec(), is_pulled);
            tell(&find(home).into_iter().map(bytes).collect::<Vec<_>>());
        }
        Step::OfConfig => tell(&kill_elsewhere::of_config(home).map(|dir| dir.into_os_string().into_vec())),
        Step::Config => tell(&doubt(home)),
    }
}

/// Puts the kill file into its place, within two seconds. Whether the disk is known to keep it stands beside it.
pub(super) fn pull(home: &Home, reason: &str) -> Result<(Placed, bool), NotPlaced> {
    let until = Instant::now().checked_add(PULLED_WITHIN);
    // Where no process is to be had, the file is not left unwritten for it.
    let directly = || {
        let placed = place(home, reason).map_err(NotPlaced::Refused)?;
        home.kill_file().keep();
        Ok((placed, true))
    };
    let Ok(mut helper) = Helper::start(home, Step::Pull, reason) else { return directly() };
    let told = helper.told::<Result<Placed, Failure>>(until).map_err(|Late| NotPlaced::Late(helper.child.id()))?;
    match told {
        None => directly(),
        Some(Err(failure)) => Err(NotPlaced::Refused(error(failure))),
        Some(Ok(placed)) => Ok((placed, helper.has_ended(until))),
    }
}

/// Looks at the home; nothing is seen where its disk does not answer.
pub(super) fn look(home: &Home) -> Seen {
    asked(home, Step::Look, SEEN_WITHIN).unwrap_or_else(|| Some(see(home))).unwrap_or_default()
}

/// Other homes, of guards that run and that a person may have meant, each with whether its switch is pulled.
pub(super) fn others(home: &Home) -> Vec<Other> {
    let found = asked::<Vec<(Vec<u8>, bool)>>(home, Step::Elsewhere, FOUND_WITHIN);
    let path = |(bytes, is_pulled)| (PathBuf::from(OsString::from_vec(bytes)), is_pulled);
    found.map_or_else(|| find(home), |found| found.unwrap_or_default().into_iter().map(path).collect())
}

/// The home of another guard, which the config that was named lies in. Where its disk does not answer, the home is what counts.
pub(super) fn of_config(home: &Home) -> Option<PathBuf> {
    home.named_config()?;
    let found = asked::<Option<Vec<u8>>>(home, Step::OfConfig, SEEN_WITHIN);
    let path = |bytes| PathBuf::from(OsString::from_vec(bytes));
    found.map_or_else(|| kill_elsewhere::of_config(home), |found| found.flatten().map(path))
}

/// Why the config that was named, which lies in no home that is known, does not say which one is meant. Where its disk does not answer,
/// the home is what counts.
pub(super) fn doubtful_config(home: &Home) -> Option<String> {
    home.named_config()?;
    let found = asked::<Option<String>>(home, Step::Config, SEEN_WITHIN);
    found.map_or_else(|| doubt(home), Option::flatten)
}

/// Those that may be meant: the ones that go on, rather than those that are killed already.
pub(super) fn elsewhere(home: &Home) -> Vec<PathBuf> {
    let (killed, alive): (Vec<Other>, Vec<Other>) = others(home).into_iter().partition(|(_, is_pulled)| *is_pulled);
    let meant = if alive.is_empty() { killed } else { alive };
    meant.into_iter().map(|(home, _)| home).collect()
}

/// The end of a refusal where this home's guard finds no address, or does not answer there: another home's may hang at it.
pub(super) fn beside(home: &Home, health: &str) -> String {
    others(home).first().map_or_else(String::new, |(other, _)| {
        format!(
            "; a guard runs on {}, and `svc-guard --home {} {health}` tells of that one",
            shell::place(other),
            shell::word(other)
        )
    })
}

/// The answer of a step that changes nothing: none where no process is to be had, and none in it where it comes too late.
fn asked<T: DeserializeOwned>(home: &Home, step: Step, patience: Duration) -> Option<Option<T>> {
    let mut helper = Helper::start(home, step, "").ok()?;
    match helper.told(Instant::now().checked_add(patience)) {
        Ok(told) => told.map(Some),
        Err(Late) => Some(None),
    }
}

fn place(home: &Home, reason: &str) -> io::Result<Placed> {
    let kill = home.kill_file();
    let before = kill.place(reason)? == Pulled::Before;
    Ok(Placed { before, reason: kill.reason(), is_folder: kill.path().is_dir() })
}

/// A config by which this home's guard has run leaves no doubt, whatever other names it has.
fn doubt(home: &Home) -> Option<String> {
    let has_run = || configured(home).is_ok_and(|config| home.journal_dir(config.mode, config.account).is_dir());
    kill_elsewhere::doubtful_config(home).filter(|_| !has_run())
}

fn see(home: &Home) -> Seen {
    let config = configured(home).ok();
    let start = config.as_ref().filter(|config| config.mode != Mode::Paper).map(|config| start::command(home, config));
    let watched = running_here::is_watched(home);
    let again = config.as_ref().filter(|_| watched == Some(true)).and_then(|config| again(home, config));
    let hindrance =
        config.as_ref().filter(|_| watched == Some(false)).and_then(|config| journal::hindrance(home, config));
    let (left, listen) = (left(home), config.map(|config| config.listen));
    let silent = watched == Some(true) && left.is_none();
    let found = running_here::by_mark(home).filter(|_| silent).map(listening).unwrap_or_default();
    let has_no_config =
        home.config_file().symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    Seen { watched, left, listen, found, start, has_no_config, again, hindrance }
}

fn find(home: &Home) -> Vec<Other> {
    kill_elsewhere::running(home, Watcher::of(home, &see(home)).answering())
}

fn failure(error: &io::Error) -> Failure {
    Failure { errno: error.raw_os_error(), text: error.to_string() }
}

fn error(failure: Failure) -> io::Error {
    failure.errno.map_or_else(|| io::Error::other(failure.text), io::Error::from_raw_os_error)
}

fn tell(told: &impl Serialize) {
    let line = serde_json::to_string(told).map_err(io::Error::from);
    _ = line.and_then(|line| writeln!(io::stdout(), "{line}"));
}

/// The disk did not answer in time.
struct Late;

/// This program once more, for one step.
struct Helper {
    child: Child,
    told: ChildStdout,
    bytes: Vec<u8>,
}

impl Helper {
    /// Starts it: from the program that runs, whatever stands at its path by now. It holds nothing that whoever called this
    /// command waits for, and no signal of that one's terminal ends it before the disk has answered.
    fn start(home: &Home, step: Step, reason: &str) -> io::Result<Self> {
        let mut me = Command::new("/proc/self/exe");
        me.arg0("svc-guard").args([CALL, step.name(), reason]).arg(home.dir()).args(home.named_config());
        let piped = me.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        let mut child = piped.spawn()?;
        let told = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self { child, told, bytes: Vec::new() })
    }

    /// Its line, or none where it ended without one.
    fn told<T: DeserializeOwned>(&mut self, until: Option<Instant>) -> Result<Option<T>, Late> {
        let is_line = |bytes: &[u8]| bytes.contains(&b'\n');
        while !is_line(&self.bytes) {
            if self.read(until)? == 0 {
                return Ok(None);
            }
        }
        let line = self.bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        Ok(serde_json::from_slice(line).ok())
    }

    /// Whether it ends in time.
    fn has_ended(&mut self, until: Option<Instant>) -> bool {
        loop {
            match self.read(until) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(Late) => return false,
            }
        }
    }

    /// Reads what is there, as soon as something is: how much, 0 at its end.
    fn read(&mut self, until: Option<Instant>) -> Result<usize, Late> {
        loop {
            let rest = until.map(|until| until.saturating_duration_since(Instant::now())).unwrap_or_default();
            let ms = PollTimeout::try_from(rest).unwrap_or(PollTimeout::ZERO);
            let mut waited = [PollFd::new(self.told.as_fd(), PollFlags::POLLIN)];
            let is_there = poll(&mut waited, ms).unwrap_or_default() > 0;
            if !is_there && rest.is_zero() {
                return Err(Late);
            }
            if is_there {
                let mut part = [0; 1024];
                let read = self.told.read(&mut part).unwrap_or_default();
                self.bytes.extend_from_slice(part.get(..read).unwrap_or_default());
                return Ok(read);
            }
        }
    }
}
