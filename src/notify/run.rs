//! The notifier at work: the main thread looks at the guard and decides, a thread a target tells, one keeps the state, one
//! calls the heartbeat's URL. None of them waits for another but for a moment at the state.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};

use super::config::Config;
use super::follow::{Followed, OwnGuard};
use super::forms::Teller;
use super::guard_look::{GuardLook, guard_url};
use super::intake::{Intake, Past, look};
use super::keep::{Keep, KeepError};
use super::log::Log;
use super::office::Office;
use super::pulse;
use super::secrets::{SecretError, Secrets};
use super::shared::Shared;
use super::teller;
use super::watch::Guard;
use super::wishes::Wishes;
use super::words::count;
use crate::base::clock::{steady_ms, wall_ms};
use crate::base::log_line::{Level, Reader};
use crate::base::sync::lock;
use crate::faults::{Faults, Step};

/// Between two looks at the guard.
const LOOK_EVERY: Duration = Duration::from_millis(1_500);
/// How soon the end is noticed.
const TICK: Duration = Duration::from_millis(100);
/// Between two tries to write the state where the disk refuses.
const KEEP_AGAIN: Duration = Duration::from_secs(5);
/// How long a message that is on its way has at the end.
const GRACE_MS: u64 = 3_000;
/// How long the end of the programs that still run may take.
const LAST_MS: u64 = 2_000;
/// Between two writes of it.
const KEEP_PAUSE: Duration = Duration::from_millis(50);

/// The settings of a notifier.
pub struct Options {
    /// Whom to tell.
    pub config: Config,
    /// The guard's base URL.
    pub guard: String,
    /// Which guard the home's config says that it is.
    pub expected: Option<Guard>,
    /// Where it answers by now, and whether an answer is its, unless its URL was named.
    pub own: Option<Box<dyn OwnGuard>>,
    /// The folder of the state.
    pub state: PathBuf,
    /// The folder of the service manager's credentials.
    pub credentials: Option<PathBuf>,
    /// Whether a secret may be readable by others of the same container.
    pub in_container: bool,
    /// Who reads the log.
    pub reader: Reader,
    /// The way to what is gone from the guard's memory.
    pub past: Past,
}

/// Why the notifier does not run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The guard's URL is refused.
    #[error("the guard's URL {0:?} must be http://HOST:PORT on loopback, such as http://127.0.0.1:8547")]
    Guard(String),
    /// A secret cannot be had.
    #[error("{0}")]
    Secret(SecretError),
    /// The state cannot be kept.
    #[error("{0}")]
    Keep(KeepError),
    /// The system grants no thread, or no signals.
    #[error("cannot start: {0}")]
    System(io::Error),
    /// A thread is gone, without which somebody is told nothing: the next start has all of them (its name).
    #[error("{0} broke off")]
    Died(String),
    /// Targets did not take the message of a test (how many).
    #[error("{0} of the targets did not take it")]
    NotTaken(usize),
}

impl RunError {
    /// Whether it may be otherwise at the next start, though nobody has done anything: a disk may be full.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        use io::ErrorKind::{InvalidInput, IsADirectory, NotADirectory, NotFound, PermissionDenied};
        let stays = [InvalidInput, IsADirectory, NotADirectory, NotFound, PermissionDenied];
        match self {
            Self::Guard(_) | Self::Secret(_) | Self::Keep(KeepError::Busy(_) | KeepError::File(_)) => false,
            Self::Keep(KeepError::Io(_, _, error)) => !stays.contains(&error.kind()),
            Self::System(_) | Self::Died(_) | Self::NotTaken(_) => true,
        }
    }
}

/// Runs until SIGTERM or SIGINT.
///
/// # Errors
/// The [`RunError`], before anything is told.
pub fn run(options: Options) -> Result<(), RunError> {
    let url = guard_url(&options.guard).ok_or_else(|| RunError::Guard(options.guard.clone()))?;
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGINT] {
        signal_hook::flag::register(signal, Arc::clone(&ended)).map_err(RunError::System)?;
    }
    let mut secrets = Secrets::new(options.credentials, options.in_container);
    let config = &options.config;
    let mut tellers = BTreeMap::new();
    for target in &config.target {
        let teller = Teller::of(target, &mut secrets).map_err(|error| RunError::Secret(error.of(&target.name)))?;
        tellers.insert(target.name.clone(), teller);
    }
    let heartbeat = secrets.url(config.heartbeat.as_ref()).map_err(RunError::Secret)?;
    let (keep, kept, unread) = Keep::open(&options.state).map_err(RunError::Keep)?;
    let log = Log::start(options.reader, secrets.texts()).map_err(RunError::System)?;
    secrets.warnings().iter().for_each(|warning| log.line(Level::Warning, warning));
    let wishes = config.target.iter().map(|target| (target.name.clone(), Wishes::of(target))).collect();
    let mut office = Office::of(kept, wishes, config.clock()).numbered_from(wall_ms());
    if let Some(why) = &unread {
        log.line(Level::Warning, &format!("{why}; what was told is not known"));
        office.watch.state_unread(why, wall_ms());
        office.file();
    }
    if let Some(expected) = options.expected {
        office.watch.expect(expected);
    }
    warn_of_gone(&office, &log);
    let shared = Arc::new(Shared {
        office: Mutex::new(office),
        news: Condvar::new(),
        is_dirty: AtomicBool::new(true),
        is_ending: AtomicBool::new(false),
        is_closing: AtomicBool::new(false),
        secrets: secrets.keys(),
        pulse: Arc::default(),
        log: log.clone(),
        faults: Faults::of_home(&options.state),
    });
    log.line(Level::Info, &format!("telling {} of the guard at {url}", names(&tellers)));
    let mut telling = Vec::new();
    for (name, teller) in tellers {
        let is_program = matches!(teller, Teller::Command(_));
        let thread = teller::start(name, teller, Arc::clone(&shared)).map_err(RunError::System)?;
        telling.push((is_program, thread));
    }
    if !heartbeat.is_empty() {
        let every = Duration::from_millis(config.beat_ms());
        pulse::start(heartbeat, every, Arc::clone(&shared.pulse), log.clone()).map_err(RunError::System)?;
    }
    let keeper = {
        let shared = Arc::clone(&shared);
        std::thread::Builder::new().name("keep".to_owned()).spawn(move || keep_state(&keep, &shared))
    };
    let keeper = keeper.map_err(RunError::System)?;
    let own = options.own.map(Followed::start).transpose().map_err(RunError::System)?;
    let intake = Intake { summary: config.summary_minute(), past: options.past, own, away: 0, unanswered_ms: None };
    let gone = || gone(&telling, &keeper);
    let is_over = || ended.load(Ordering::Relaxed) || gone().is_some();
    look_on(GuardLook::at(url), &shared, intake, &is_over);
    log.line(Level::Info, "stopping");
    let gone = gone();
    end(&shared, &telling);
    _ = keeper.join();
    gone.map_or(Ok(()), |name| Err(RunError::Died(name)))
}

/// Looks at the guard, wherever it answers, until the end.
fn look_on(mut guard: GuardLook, shared: &Shared, mut intake: Intake, is_over: &dyn Fn() -> bool) {
    while !is_over() {
        if let Some(now) = intake.own.as_ref().and_then(|followed| followed.another_than(guard.url())) {
            shared.log.line(Level::Info, &format!("the guard answers at {now} by now"));
            guard = GuardLook::at(now);
        }
        let is_to_rest = look(&guard, shared, &mut intake);
        if is_to_rest {
            pause(LOOK_EVERY, is_over);
        }
    }
}

/// A thread that has ended, which none does before the end.
fn gone(telling: &[(bool, JoinHandle<()>)], keeper: &JoinHandle<()>) -> Option<String> {
    let mut all = telling.iter().map(|(_, thread)| thread).chain([keeper]);
    let gone = all.find(|thread| thread.is_finished())?;
    Some(gone.thread().name().unwrap_or("a thread").to_owned())
}

/// Ends the targets' threads, each with whether it runs a program.
fn end(shared: &Shared, telling: &[(bool, JoinHandle<()>)]) {
    shared.is_ending.store(true, Ordering::Relaxed);
    shared.news.notify_all();
    // A target that is just being told may say yes in time, and is then not told again.
    let wait = |span_ms: u64, is_done: &dyn Fn() -> bool| {
        let until = steady_ms().saturating_add(span_ms);
        while steady_ms() < until && !is_done() {
            std::thread::sleep(KEEP_PAUSE);
        }
    };
    wait(GRACE_MS, &|| telling.iter().all(|(_, thread)| thread.is_finished()));
    shared.is_closing.store(true, Ordering::Relaxed);
    // A program that still runs is ended, with all that it started.
    wait(LAST_MS, &|| telling.iter().all(|(is_program, thread)| !is_program || thread.is_finished()));
}

fn names(tellers: &BTreeMap<String, Teller>) -> String {
    tellers.keys().cloned().collect::<Vec<_>>().join(", ")
}

fn pause(span: Duration, is_over: &dyn Fn() -> bool) {
    let until = steady_ms().saturating_add(u64::try_from(span.as_millis()).unwrap_or(0));
    while steady_ms() < until && !is_over() {
        std::thread::sleep(TICK);
    }
}

/// Writes the state whenever it is another one, until the end.
fn keep_state(keep: &Keep, shared: &Shared) {
    let mut failed: Option<String> = None;
    loop {
        let is_closing = shared.is_closing.load(Ordering::Relaxed);
        if shared.is_dirty.swap(false, Ordering::Relaxed) {
            let state = serde_json::to_vec(&*lock(&shared.office)).unwrap_or_default();
            shared.pass(Step::NotifyKeep);
            let why = keep.write(&state).err();
            shared.pass(Step::NotifyKept);
            shared.pulse.kept(why.is_none());
            if why.is_some() != failed.is_some() {
                said_of_state(shared, why.as_deref());
            }
            if why.is_some() {
                shared.is_dirty.store(true, Ordering::Relaxed);
                if !is_closing {
                    std::thread::sleep(KEEP_AGAIN);
                }
            }
            failed = why;
        }
        if is_closing {
            return;
        }
        std::thread::sleep(KEEP_PAUSE);
    }
}

/// Tells, once, that the state cannot be kept, and that it can again.
fn said_of_state(shared: &Shared, why: Option<&str>) {
    let now = wall_ms();
    let mut office = lock(&shared.office);
    office.watch.state_kept(why, now);
    office.file();
    drop(office);
    shared.news.notify_all();
    match why {
        Some(why) => shared.log.line(Level::Error, &format!("the state cannot be written: {why}")),
        None => shared.log.line(Level::Info, "the state is written again"),
    }
    shared.is_dirty.store(true, Ordering::Relaxed);
}

/// Says for which targets messages waited that the config does not name any more.
fn warn_of_gone(office: &Office, log: &Log) {
    for (name, waiting) in office.gone() {
        let waited = count(*waiting, "message");
        let text =
            format!("there is no target {name:?} any more, for which {waited} waited: a target is known by its name");
        log.line(Level::Warning, &text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_broke_off_is_found() {
        let ends = |name: &str, work: fn()| std::thread::Builder::new().name(name.to_owned()).spawn(work).unwrap();
        let lasting = || {
            ends("tell-a", || {
                loop {
                    std::thread::park();
                }
            })
        };
        let telling = [(false, lasting()), (true, lasting())];
        assert_eq!(gone(&telling, &lasting()), None);
        let broken = ends("tell-b", || std::panic::resume_unwind(Box::new("a library's fault")));
        let telling = [(false, lasting()), (false, broken)];
        while !telling[1].1.is_finished() {
            std::thread::yield_now();
        }
        assert_eq!(gone(&telling, &lasting()).as_deref(), Some("tell-b"));
    }

    #[test]
    fn what_may_be_otherwise_at_the_next_start_is_told_from_what_may_not() {
        let of = |kind: io::ErrorKind| RunError::Keep(KeepError::Io("make", PathBuf::new(), kind.into())).may_pass();
        assert!(of(io::ErrorKind::StorageFull) && of(io::ErrorKind::ReadOnlyFilesystem));
        assert!(!of(io::ErrorKind::PermissionDenied) && !of(io::ErrorKind::NotADirectory));
        assert!(RunError::Died("keep".to_owned()).may_pass() && !RunError::Guard("x".to_owned()).may_pass());
    }
}
