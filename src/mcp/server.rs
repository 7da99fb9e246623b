//! The server: one thread reads lines, a worker each runs a tool call, one thread writes the answers, and nobody waits for
//! anybody. So neither a call that hangs nor a client that reads no answers holds up the kill switch.

use crate::base::text::visible;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use zeroize::Zeroizing;

use super::context::{Context, GuardRequirements};
use super::dispatch::{Call, Step, step};
use super::guard_client::{GuardCallError, GuardClient, GuardUrl, KILL_MS, UrlError};
use super::sanitize;
use super::status::Status;
use super::wire::{self, INVALID_REQUEST, RpcError};
use crate::base::address::Address;
use crate::base::key::SecretKey;
use crate::base::kill_file::KillFile;
use crate::base::mode::Mode;

/// Longest line taken; the largest sensible call is under 2 KiB.
const MAX_LINE: usize = 256 * 1024;
/// Longest line that can hold a key.
const MAX_KEY_LINE: usize = 200;
/// Calls under way at one time.
const MAX_CALLS: usize = 16;
/// Room that is kept for pulling the kill switch.
const MAX_KILLS: usize = 4;
/// Answers that wait for the client to read them.
const MAX_UNREAD: usize = 256;
/// How long a client may read nothing while that many wait; after that it counts as gone.
const UNREAD_PATIENCE: Duration = Duration::from_secs(5);
/// How long answers may still take when the client has closed its side.
const GRACE: Duration = Duration::from_secs(1);
/// How long a kill under way may: asked of a guard that hangs, and then written as a file.
const KILL_GRACE: Duration = Duration::from_millis(KILL_MS + 1_000);
/// Lines that are still looked through for a kill once nobody reads answers any more.
const LAST_LINES: usize = 4096;

/// How a server is set up.
#[derive(Debug)]
pub struct Options {
    /// Where the guard is.
    pub guard: GuardUrl,
    /// The client key; with none the server only reads.
    pub key: Key,
    /// The mode that the guard must run in.
    pub network: Option<Mode>,
    /// The account that the guard must guard.
    pub account: Option<Address>,
    /// The kill file to write where the guard does not take a kill.
    pub kill_file: Option<KillFile>,
}

/// Where the client key comes from.
#[derive(Debug)]
pub enum Key {
    /// There is none: nothing that writes is served.
    None,
    /// Read already.
    Given(SecretKey),
    /// The first line of standard input.
    FirstLine,
}

/// Why a server does not start or go on.
#[derive(Debug)]
pub enum RunError {
    /// The first line of standard input is no key.
    NotAKey,
    /// The guard is not the one that was asked for.
    OtherGuard(String),
    /// The guard's URL cannot be used.
    Url(UrlError),
    /// Standard input cannot be read.
    Input(io::Error),
    /// No thread can be had that writes the answers.
    Thread(io::Error),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAKey => f.write_str(
                "--key-stdin: the first line of standard input is no key: 0x and 64 hex digits are expected",
            ),
            Self::OtherGuard(why) => f.write_str(why),
            Self::Url(error) => write!(f, "--guard-url {error}"),
            Self::Input(error) => write!(f, "cannot read standard input: {error}"),
            Self::Thread(error) => write!(f, "cannot start a thread: {error}"),
        }
    }
}

impl std::error::Error for RunError {}

/// Serves until standard input ends.
///
/// # Errors
/// The [`RunError`], before anything is served but for one of standard input.
pub fn run(options: Options) -> Result<(), RunError> {
    // A descriptor of our own, unbuffered: a key must not stay behind in a buffer that is shared.
    let mut input = File::from(io::stdin().as_fd().try_clone_to_owned().map_err(RunError::Input)?);
    let key = match options.key {
        Key::None => None,
        Key::Given(key) => Some(key),
        Key::FirstLine => Some(first_line(&mut input)?),
    };
    let link = GuardClient::new(&options.guard).map_err(RunError::Url)?;
    let requirements = GuardRequirements { network: options.network, account: options.account };
    let context = Context::new(link, key, requirements, options.kill_file);
    check_guard(&context)?;
    serve(BufReader::new(input), context)
}

/// Refuses a guard that is another than asked for. One that does not answer may come later, and is checked then.
fn check_guard(context: &Context) -> Result<(), RunError> {
    let other = |why: String| Err(RunError::OtherGuard(why));
    let found = match context.guard.probe() {
        Ok(found) => found,
        Err(error @ GuardCallError::Refused(400..=499, ..)) => {
            return other(format!("what answers at the guard's address is no guard: {error}"));
        }
        Err(error) => {
            log(&format!("{error}; serving all the same, each call asks it again"));
            return Ok(());
        }
    };
    let Some(status) = Status::read(found) else {
        return other("what answers at the guard's address is no guard of this version".to_owned());
    };
    context.requirements.check(&status).or_else(other)?;
    context.has_seen(&status);
    if let (Some(named), Some(own)) = (&context.kill_file, status.kill_file())
        && named.path() != Path::new(own)
    {
        let (named, own) = (named.path().display(), visible(own, sanitize::MAX_TEXT));
        log(&format!("warning: --kill-file is {named}, and the guard watches {own}"));
    }
    Ok(())
}

/// The key in the first line, read byte by byte so that nothing behind it is taken.
fn first_line(input: &mut impl Read) -> Result<SecretKey, RunError> {
    let mut line = Zeroizing::new(Vec::with_capacity(MAX_KEY_LINE));
    let mut byte = Zeroizing::new([0_u8; 1]);
    loop {
        match input.read(byte.as_mut_slice()) {
            Ok(0) => break,
            Ok(_) if byte.first() == Some(&b'\n') => break,
            Ok(_) if line.len() >= MAX_KEY_LINE => return Err(RunError::NotAKey),
            Ok(_) => line.extend_from_slice(byte.as_slice()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(RunError::Input(error)),
        }
    }
    let text = std::str::from_utf8(&line).map_err(|_| RunError::NotAKey)?;
    SecretKey::parse(text).map_err(|_| RunError::NotAKey)
}

/// What the reader and the workers share.
struct Shared {
    context: Context,
    /// Set when nobody listens any more.
    deaf: AtomicBool,
    /// To the thread that writes; nothing at all is the last.
    answers: Sender<Option<String>>,
    calls: AtomicUsize,
    kills: AtomicUsize,
}

fn serve(mut input: BufReader<File>, context: Context) -> Result<(), RunError> {
    let read_only = context.key.is_none();
    let (answers, unread) = bounded(MAX_UNREAD);
    let (calls, kills) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let shared = Arc::new(Shared { context, deaf: AtomicBool::new(false), answers, calls, kills });
    // Each worker holds an end; when the last one is gone, all have answered. The writer has one of its own.
    let (working, ended) = bounded::<()>(0);
    let (writing, written) = bounded::<()>(0);
    let writer = move || {
        let _writing = writing;
        write_answers(&unread);
    };
    std::thread::Builder::new().name("answers".to_owned()).spawn(writer).map_err(RunError::Thread)?;
    let mut last_lines = LAST_LINES;
    loop {
        if shared.is_deaf() {
            // A kill that is written already is still pulled; nothing else is begun, and nothing new is waited for.
            last_lines = last_lines.saturating_sub(1);
            if last_lines == 0 || !is_more(&input) {
                break;
            }
        }
        let line = match read_line(&mut input).map_err(RunError::Input)? {
            Line::End => break,
            Line::TooLong => {
                let text = format!("a line is over {MAX_LINE} bytes");
                shared.say(wire::error(None, &RpcError::new(INVALID_REQUEST, text)));
                continue;
            }
            Line::Whole(line) => line,
        };
        match step(&line, read_only) {
            Step::Call(call) if call.is_kill() || !shared.is_deaf() => start(&shared, call, working.clone()),
            Step::Reply(reply) => shared.say(reply),
            Step::Call(_) | Step::Nothing => {}
        }
    }
    drop(working);
    // Disconnected when all are done, a time-out when one hangs: the process ends either way.
    let _ = ended.recv_timeout(GRACE);
    shared.wait_for_kills();
    let _ = shared.answers.send_timeout(None, GRACE);
    let _ = written.recv_timeout(GRACE);
    Ok(())
}

/// Writes answers as they come. One that cannot be written ends it: nobody is there to hear.
fn write_answers(unread: &Receiver<Option<String>>) {
    while let Ok(Some(mut line)) = unread.recv() {
        line.push('\n');
        let mut out = io::stdout().lock();
        if out.write_all(line.as_bytes()).and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}

/// Runs a call on a thread of its own, where there is room.
fn start(shared: &Arc<Shared>, call: Call, working: Sender<()>) {
    let is_kill = call.is_kill();
    let (count, most) = if is_kill { (&shared.kills, MAX_KILLS) } else { (&shared.calls, MAX_CALLS) };
    let took =
        count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |now| (now < most).then_some(now.saturating_add(1)));
    if took.is_err() {
        shared.say(call.refused());
        return;
    }
    let refusal = call.refused();
    let worker = Arc::clone(shared);
    let run = move || {
        let _working = working;
        let reply = call.run(&worker.context);
        let count = if is_kill { &worker.kills } else { &worker.calls };
        count.fetch_sub(1, Ordering::SeqCst);
        worker.say(reply);
    };
    if std::thread::Builder::new().name("call".to_owned()).spawn(run).is_err() {
        count.fetch_sub(1, Ordering::SeqCst);
        shared.say(refusal);
    }
}

impl Shared {
    /// Hands a line to the writer. Where it takes none nobody is there to hear, and nothing more is begun.
    fn say(&self, line: String) {
        if self.is_deaf() {
            return;
        }
        if self.answers.send_timeout(Some(line), UNREAD_PATIENCE).is_err() {
            self.deaf.store(true, Ordering::SeqCst);
        }
    }
}

impl Shared {
    fn is_deaf(&self) -> bool {
        self.deaf.load(Ordering::SeqCst)
    }

    /// An agent that goes away in the middle of pulling the kill switch has pulled it.
    fn wait_for_kills(&self) {
        let until = Instant::now() + KILL_GRACE;
        while self.kills.load(Ordering::SeqCst) > 0 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Whether something was written that is not read yet.
fn is_more(input: &BufReader<File>) -> bool {
    let mut watched = [PollFd::new(input.get_ref().as_fd(), PollFlags::POLLIN)];
    !input.buffer().is_empty() || poll(&mut watched, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
}

/// A line of input.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    Whole(Vec<u8>),
    /// Passed over to its end.
    TooLong,
    End,
}

/// Reads a line of at most [`MAX_LINE`] bytes; blank ones are passed over. What follows the last line end counts too.
fn read_line(input: &mut impl BufRead) -> io::Result<Line> {
    loop {
        let mut line = Vec::new();
        let limit = u64::try_from(MAX_LINE).unwrap_or(u64::MAX).saturating_add(1);
        if input.by_ref().take(limit).read_until(b'\n', &mut line)? == 0 {
            return Ok(Line::End);
        }
        if line.last() != Some(&b'\n') && line.len() > MAX_LINE {
            skip_line(input)?;
            return Ok(Line::TooLong);
        }
        while line.last().is_some_and(u8::is_ascii_whitespace) {
            line.pop();
        }
        if !line.is_empty() {
            return Ok(Line::Whole(line));
        }
    }
}

/// Passes over the rest of a line without keeping it.
fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let (used, is_end) = match buffer.iter().position(|byte| *byte == b'\n') {
            Some(end) => (end.saturating_add(1), true),
            None => (buffer.len(), buffer.is_empty()),
        };
        input.consume(used);
        if is_end {
            return Ok(());
        }
    }
}

/// Says something on standard error; a closed one is nobody to tell.
pub(super) fn log(text: &str) {
    _ = writeln!(io::stderr(), "svc-guard mcp: {text}");
}
