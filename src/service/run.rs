//! A service's life: journals verified, threads started, the port opened; then a signal or a death, and the way down.

use std::collections::{HashMap, VecDeque};
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, select};
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::desk::Desk;
use super::gate::{Gate, Hosts, Limits, Setup, Upgrades};
use super::http::routes::ROUTES;
use super::http::types::Request;
use super::http::{self, Workers};
use super::intake::Intake;
use super::message::{INBOX, Message};
use super::plan::{Plan, RunError};
use super::poller::{self, Intervals, Poller};
use super::questions::{ERRAND_THREADS, ERRANDS, Questions, run_errands};
use super::release::{Release, Releaser};
use super::ring::Ring;
use super::routes::Routes;
use super::sender::{self, SENDERS, Sending, ToSend};
use super::thread::{DEATHS, Death, spawn};
use super::ws::Sockets;
use super::{log, watch, ws};
use crate::faults::Faults;
use crate::guard::{self, Guard, Input};
use crate::home::{Config, Mode, Network};
use crate::journal::{self, Journal, Opened, Options};
use crate::venue::client::{Client, Timeouts};
use crate::venue::signing::Source;
use crate::venue::weight::Ledger;

/// Batches that wait for the journal's thread at most.
const JOURNAL_QUEUE: usize = 1024;
/// How long requests at work may take after a stop.
const GRACE: Duration = Duration::from_secs(5);
/// A read is stale after so many of its intervals, but not before [`LEAST_AGE_MS`].
const STALE_INTERVALS: u64 = 3;
const LEAST_AGE_MS: u64 = 5_000;

/// How often it is looked whether the journal's thread lives.
const LOOK: Duration = Duration::from_millis(250);

/// Descriptors that the service may need: every connection with its way to a worker, journals, the venue.
const DESCRIPTORS: u64 = 1024;

/// Runs the service until a signal ends it.
///
/// # Errors
/// [`RunError::Refused`] when it does not start, [`RunError::Failed`] when it ends otherwise than by a signal.
pub fn run(plan: Plan) -> Result<(), RunError> {
    let Plan { home, config, api_wallet, .. } = plan;
    let refused = |what: &str, error: &dyn std::fmt::Display| RunError::Refused(format!("{what}: {error}"));
    let mut signals = watch::signals().map_err(|error| refused("signals cannot be taken", &error))?;

    allow_descriptors().map_err(RunError::Refused)?;
    let dir = home.journal_dir(config.mode, config.account);
    let faults = Faults::of_home(home.dir());
    let owner = journal_owner(&config);
    let options = Options { fallback: config.journal_fallback.clone(), faults: faults.clone(), owner };
    let (store, opened) = journal::open(&dir, &options).map_err(|error| RunError::Refused(error.to_string()))?;
    home.kill_file().make_ready().map_err(|error| refused("the kill file cannot be made ready", &error))?;
    let listener = TcpListener::bind(config.listen)
        .map_err(|error| refused(&format!("cannot listen on {}", config.listen), &error))?;
    let client = Arc::new(
        Client::with_faults(config.venue_url(), Timeouts::default(), faults.clone())
            .map_err(|error| RunError::Refused(error.to_string()))?,
    );

    let budget = config.ip_share.budget_per_minute();
    let intervals = intervals(&config, budget);
    let ledger = Arc::new(Mutex::new(Ledger::new(budget)));
    let ring = Arc::new(Ring::default());
    let guard = wake(&config, &home.kill_file().path().display().to_string(), intervals, &opened, &ring);

    let (inbox, messages) = bounded(INBOX);
    let (sends, to_send) = sender::queues();
    let (reads, wanted) = bounded(poller::QUEUE);
    let (stopped_tx, stopped) = bounded(1);
    let (deaths_tx, deaths) = bounded(DEATHS);
    let failed = |error: std::io::Error| RunError::Failed(format!("a thread or listener was refused: {error}"));

    let releaser = || Releaser {
        ring: Arc::clone(&ring),
        sends: sends.clone(),
        inbox: inbox.clone(),
        stopped: stopped_tx.clone(),
        behind: std::sync::Mutex::default(),
        faults: faults.clone(),
    };
    let on_disk = releaser();
    let journal: Journal<Release> = store
        .start(JOURNAL_QUEUE, move |release: Release, written| on_disk.release(release, &written))
        .map_err(failed)?;
    let queue = journal.queue().ok_or_else(|| RunError::Failed("the journal's thread ended at once".to_owned()))?;

    let desk = Desk {
        guard,
        inbox: messages,
        journal: queue,
        health: journal.health(),
        releaser: releaser(),
        reads,
        ledger: Arc::clone(&ledger),
        kill_file: home.kill_file(),
        waiting: HashMap::new(),
        last_request: 0,
        backlog: VecDeque::new(),
        checkpoint_seq: checkpoint_seq(&opened),
        ticked_ms: 0,
        stop_by_ms: None,
    };
    spawn("decide", &deaths_tx, move || desk.run()).map_err(failed)?;
    let questions =
        Arc::new(Questions::new(Arc::clone(&client), Arc::clone(&ledger), config.account, config.auth.clients.clone()));
    let poller = Poller {
        client: Arc::clone(&client),
        ledger: Arc::clone(&ledger),
        questions: Arc::clone(&questions),
        account: config.account,
        api_wallet: api_wallet.as_ref().map(crate::venue::signing::SecretKey::address),
        intervals,
        wanted,
        inbox: inbox.clone(),
        faults: faults.clone(),
    };
    spawn("poll", &deaths_tx, move || poller.run()).map_err(failed)?;
    let (kill_file, kill_inbox, looking) = (home.kill_file(), inbox.clone(), faults.clone());
    spawn("kill-file", &deaths_tx, move || watch::kill_file(&kill_file, &kill_inbox, &looking)).map_err(failed)?;
    if let Some(key) = api_wallet {
        let questions = Arc::clone(&questions);
        let sending =
            Sending { key, source: source(config.account_network), client, questions, ledger, faults: faults.clone() };
        start_senders(sending, &to_send, &inbox, &deaths_tx).map_err(failed)?;
    }
    let history = opened.history;
    spawn("history", &deaths_tx, move || {
        history.verify(&AtomicBool::new(false)).or_else(|error| {
            log::line(format_args!("an older day of the journal is damaged: {error}"));
            Ok(())
        })
    })
    .map_err(failed)?;

    let routes = Routes {
        intake: Intake::new(config.auth.clients.iter().copied().collect()),
        inbox: inbox.clone(),
        ring,
        lookup: journal.lookup(),
        questions,
        faults,
    };
    let door = open_door(listener, &config, &home.run_dir(), routes, &deaths_tx).map_err(failed)?;
    log::line(format_args!(
        "{} {} for account {} listening on http://{}",
        env!("CARGO_PKG_VERSION"),
        config.mode,
        config.account,
        door.gate.address()
    ));

    let (signal_tx, signal) = bounded(1);
    spawn("signals", &deaths_tx, move || {
        // The main thread may be on its way down already.
        let _ = signal_tx.try_send(watch::wait_for(&mut signals));
        Ok(())
    })
    .map_err(failed)?;
    match wait(&signal, &deaths, || journal.is_alive()) {
        Ok(name) => stop(name, door, &inbox, &stopped, &deaths),
        Err(death) => {
            let _ = inbox.try_send(Message::Input(Input::Stop { reason: death.clone() }));
            let _ = stopped.recv_timeout(Duration::from_secs(1));
            Err(RunError::Failed(death))
        }
    }
}

/// Waits for a signal, or for the first thread that dies. The journal's own speaks to nobody: it is looked at.
fn wait(
    signal: &Receiver<Option<&'static str>>,
    deaths: &Receiver<Death>,
    is_journal_alive: impl Fn() -> bool,
) -> Result<&'static str, String> {
    loop {
        select! {
            recv(signal) -> name => return Ok(name.ok().flatten().unwrap_or("a signal")),
            recv(deaths) -> death => {
                return Err(death.map_or_else(|_| "a thread died".to_owned(), |death| death.to_string()));
            }
            default(LOOK) => if !is_journal_alive() {
                return Err("thread journal died".to_owned());
            },
        }
    }
}

/// Raises the limit on descriptors: the HTTP workers' listener does not survive running out of them.
fn allow_descriptors() -> Result<(), String> {
    let failed = |error: nix::errno::Errno| format!("the limit on open files cannot be read or raised: {error}");
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).map_err(failed)?;
    if soft >= DESCRIPTORS {
        return Ok(());
    }
    if hard < DESCRIPTORS {
        return Err(format!("only {hard} files may be open at once; allow {DESCRIPTORS} (ulimit -n, LimitNOFILE=)"));
    }
    setrlimit(Resource::RLIMIT_NOFILE, DESCRIPTORS, hard).map_err(failed)
}

/// The way down: nothing new, what is at work ends, the last event goes to disk.
fn stop(
    signal: &str,
    door: Door,
    inbox: &Sender<Message>,
    stopped: &Receiver<()>,
    deaths: &Receiver<Death>,
) -> Result<(), RunError> {
    log::line(format_args!("stopping on {signal}"));
    let asked = inbox.send(Message::Input(Input::Stop { reason: signal.to_owned() }));
    if asked.is_err() || stopped.recv_timeout(GRACE + Duration::from_secs(1)).is_err() {
        let why =
            deaths.try_recv().map_or_else(|_| "the last event was not written in time".to_owned(), |d| d.to_string());
        return Err(RunError::Failed(why));
    }
    door.sockets_stopping.store(true, Ordering::SeqCst);
    if door.gate.stop(GRACE) {
        door.workers.stop();
    }
    Ok(())
}

/// The public listener and the workers behind it.
struct Door {
    gate: Gate,
    workers: Workers,
    /// Has WebSocket connections close.
    sockets_stopping: Arc<AtomicBool>,
    /// Keeps the way to the workers' socket open, where its path is too long to be named.
    _run_dir: Option<std::fs::File>,
}

fn open_door(
    listener: TcpListener,
    config: &Config,
    run_dir: &std::path::Path,
    routes: Routes,
    deaths: &Sender<Death>,
) -> std::io::Result<Door> {
    let limits = Limits::default();
    let (socket, folder) = http::socket_path(run_dir, "http.sock")?;
    let routes = Arc::new(routes);
    let stopping = Arc::new(AtomicBool::new(false));
    let upgrades = open_sockets(&routes, &stopping, deaths)?;
    let handler: http::Handler = Arc::new(move |request: Request| routes.answer(&request));
    // As many workers as the gate lets in: no request waits for another client's.
    let workers = http::serve(&socket, limits.connections, &handler, deaths)?;
    let setup = Setup {
        limits,
        routes: ROUTES,
        hosts: Hosts::new(&config.deployment.allowed_hosts),
        workers: socket,
        upgrades,
    };
    Ok(Door { gate: Gate::open(listener, setup, deaths)?, workers, sockets_stopping: stopping, _run_dir: folder })
}

/// WebSocket connections, and the threads that ask questions for them.
fn open_sockets(routes: &Arc<Routes>, stopping: &Arc<AtomicBool>, deaths: &Sender<Death>) -> std::io::Result<Upgrades> {
    let (errands, waiting) = bounded(ERRANDS);
    for number in 0..ERRAND_THREADS {
        let (questions, waiting) = (Arc::clone(&routes.questions), waiting.clone());
        spawn(&format!("ask-{number}"), deaths, move || {
            run_errands(&questions, &waiting);
            Ok(())
        })?;
    }
    let sockets = Sockets { routes: Arc::clone(routes), errands, stopping: Arc::clone(stopping) };
    Ok(Arc::new(move |upgrade| ws::serve(&sockets, upgrade)))
}

fn start_senders(
    sending: Sending,
    queue: &ToSend,
    inbox: &Sender<Message>,
    deaths: &Sender<Death>,
) -> std::io::Result<()> {
    let sending = Arc::new(sending);
    for number in 0..SENDERS {
        let (sending, queue, inbox) = (Arc::clone(&sending), queue.clone(), inbox.clone());
        // The first is kept for the guard's own: clients' slow sends can hold up all others.
        let only_own = number == 0;
        spawn(&format!("send-{number}"), deaths, move || sender::run(&sending, &queue, only_own, &inbox))?;
    }
    Ok(())
}

/// The core, knowing what its journal knows.
fn wake(config: &Config, kill_file: &str, intervals: Intervals, opened: &Opened, ring: &Ring) -> Guard {
    let max_age = |interval_ms: u64| interval_ms.saturating_mul(STALE_INTERVALS).max(LEAST_AGE_MS);
    let settings = guard::Config {
        mode: match config.mode {
            Mode::Paper => guard::Mode::Paper,
            Mode::Testnet => guard::Mode::Testnet,
            Mode::Mainnet => guard::Mode::Mainnet,
        },
        account: config.account,
        account_network: source(config.account_network),
        api_wallet: config.api_wallet,
        clients: config.auth.clients.iter().copied().collect(),
        require_network: config.auth.require_network,
        rules: config.rules.clone(),
        equity_cap: config.equity_cap,
        account_max_age_ms: max_age(intervals.account_ms),
        prices_max_age_ms: max_age(intervals.prices_ms),
        kill_file: kill_file.to_owned(),
        venue_url: config.venue_url().to_owned(),
    };
    let mut guard = Guard::new(settings, opened.last_seq);
    opened.risk.iter().for_each(|record| guard.restore_risk(record));
    if let Some(checkpoint) = last_checkpoint(opened) {
        guard.restore_checkpoint(checkpoint);
    }
    opened.events.iter().for_each(|event| guard.restore(event));
    ring.push(opened.events.iter().filter_map(|event| Some((event.get("seq")?.as_u64()?, event.to_string()))));
    guard
}

/// What a journal must say of whom it is.
#[must_use]
pub fn journal_owner(config: &Config) -> Vec<(&'static str, String)> {
    vec![
        ("account", config.account.to_string()),
        ("mode", config.mode.name().to_owned()),
        ("account_network", config.account_network.name().to_owned()),
    ]
}

fn last_checkpoint(opened: &Opened) -> Option<&serde_json::Value> {
    opened.risk.iter().rev().find(|record| record.get("kind").is_some_and(|kind| kind == "checkpoint"))
}

fn checkpoint_seq(opened: &Opened) -> u64 {
    last_checkpoint(opened).and_then(|record| record.get("seq")?.as_u64()).unwrap_or_default()
}

fn intervals(config: &Config, budget: u32) -> Intervals {
    let afforded = Intervals::for_budget(budget);
    let watch = &config.deployment.watch;
    Intervals {
        prices_ms: watch.prices_ms.map_or(afforded.prices_ms, u64::from),
        account_ms: watch.account_ms.map_or(afforded.account_ms, u64::from),
        orders_ms: watch.open_orders_ms.map_or(afforded.orders_ms, u64::from),
    }
}

fn source(network: Network) -> Source {
    match network {
        Network::Testnet => Source::Testnet,
        Network::Mainnet => Source::Mainnet,
    }
}
