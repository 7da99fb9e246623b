//! The two ways a command speaks: its result on standard output, everything else on standard error.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

use nix::fcntl::{FcntlArg, OFlag, fcntl};

use super::refusal::Refusal;
use super::{environment, here};
use crate::base::clock::now_ms;
use crate::base::log_line::{Level, Reader};
use crate::base::text::{lines, without_keys};

/// Prints a command's result: on standard error where standard output is closed, for it may be of what was changed.
pub(super) fn print(text: &str) -> Result<(), Refusal> {
    if !is_writable() {
        return Err(Refusal::Closed);
    }
    if is_closed() {
        say(&format!("standard output is closed: {}", text.trim_end()));
        return Ok(());
    }
    let mut out = std::io::stdout().lock();
    let printed = out.write_all(lines(&here::exact(text)).as_bytes()).and_then(|()| out.flush());
    printed.map_err(unwritten)
}

/// The refusal of a standard output that did not take what was written.
pub(super) fn unwritten(error: io::Error) -> Refusal {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Refusal::ReaderGone,
        _ => Refusal::Io("write to standard output", error),
    }
}

/// Prints what was asked for and nothing else: where nobody can have it, nothing was done.
pub(super) fn answer(text: &str) -> Result<(), Refusal> {
    if is_writable() { print(text) } else { Err(Refusal::Closed) }
}

/// Refuses a standard output that cannot be written, which the system's runtime takes for one that can. One that was closed looks
/// as one that a program led nowhere: what will be missed is said then.
pub(super) fn check_open() -> Result<(), Refusal> {
    if !is_writable() {
        return Err(Refusal::Closed);
    }
    if is_closed() {
        say("warning: standard output is closed, so nobody sees the answer; send it to a file with > FILE");
    }
    Ok(())
}

fn access() -> OFlag {
    fcntl(std::io::stdout(), FcntlArg::F_GETFL).map_or(OFlag::O_ACCMODE, OFlag::from_bits_retain) & OFlag::O_ACCMODE
}

fn is_writable() -> bool {
    [OFlag::O_WRONLY, OFlag::O_RDWR].contains(&access())
}

/// Whether standard output was closed at the start: the system's runtime opened /dev/null in its place, to be read too, as nobody
/// does who sends a result there.
fn is_closed() -> bool {
    leads_to_null() && access() == OFlag::O_RDWR
}

/// Whether what is printed reaches anybody.
pub(super) fn is_seen() -> bool {
    is_writable() && !leads_to_null()
}

fn leads_to_null() -> bool {
    let null = std::fs::metadata("/dev/null").map(|null| (null.dev(), null.ino(), null.rdev()));
    let out = std::io::stdout().as_fd().try_clone_to_owned().and_then(|out| File::from(out).metadata());
    let out = out.map(|out| (out.dev(), out.ino(), out.rdev()));
    matches!((null, out), (Ok(null), Ok(out)) if null == out)
}

/// Prints what became of a change that stays; where that cannot be printed, the refusal says what was done.
pub(super) fn report(text: &str, done: &str) -> Result<(), Refusal> {
    print(text).map_err(|refusal| Refusal::Untold(done.to_owned(), refusal.to_string()))
}

/// Warns, in the form of the log that the lines of a service go to.
pub(super) fn warn(text: &str) {
    let reader = Reader::of_stderr(environment::journal_stream().as_deref());
    let text = lines(&without_keys(&here::exact(text)));
    _ = writeln!(std::io::stderr(), "{}", reader.line(Level::Warning, "svc-guard", &text, now_ms()));
}

/// Says something to the person on standard error. A closed one is ignored: there is nobody left to tell.
pub(super) fn say(text: &str) {
    _ = writeln!(std::io::stderr(), "svc-guard: {}", lines(&without_keys(&here::exact(text))));
}
