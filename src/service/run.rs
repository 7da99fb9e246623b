//! A service's life: its threads started, the door opened; then a signal or a death, and the way down.

use std::collections::{HashMap, VecDeque};
use std::fmt::Display;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, select};

use super::agent;
use super::clock::{now_ms, steady_ms};
use super::desk::Desk;
use super::door::Door;
use super::gate::{Limits, Slots};
use super::intake::Intake;
use super::log::{self, Level};
use super::message::{INBOX, Message};
use super::metrics::Metrics;
use super::plan::{ApiWallet, Prepared, RunError};
use super::poller::{self, Intervals, Poller};
use super::questions::Questions;
use super::release::{Release, Releaser};
use super::ring::Ring;
use super::routes::Routes;
use super::sender::{self, SENDERS, Sending, Sends, ToSend};
use super::thread::{DEATHS, Death, spawn};
use super::waits::Waits;
use super::wake::{checkpoint_seq, intervals, source, wake};
use super::watch;
use crate::faults::Faults;
use crate::guard::{Guard, Input, Read};
use crate::home::{Config, Home};
use crate::journal::{History, Journal, Store};
use crate::venue::Address;
use crate::venue::client::Client;
use crate::venue::signing::SecretKey;
use crate::venue::weight::{Ledger, Priority};

/// Batches that wait for the journal's thread at most.
const JOURNAL_QUEUE: usize = 1024;
/// How long requests at work may take after a stop.
const GRACE: Duration = Duration::from_secs(5);
/// How often it is looked whether the journal's thread lives.
const LOOK: Duration = Duration::from_millis(250);

impl Prepared {
    /// Runs the service until a signal ends it, signing with the API wallet's key (paper mode has none) and
    /// logging lines of up to `most`.
    ///
    /// # Errors
    /// [`RunError::Refused`] when it does not start, [`RunError::Failed`] when it ends otherwise than by a signal; of that
    /// the log was told.
    pub fn run(self, api_wallet: Option<ApiWallet>, most: Level) -> Result<(), RunError> {
        let ended = self.run_logged(api_wallet, most);
        if let Err(error @ RunError::Failed(_)) = &ended {
            log::line(Level::Error, error);
        }
        log::flush();
        ended
    }

    fn run_logged(self, api_wallet: Option<ApiWallet>, most: Level) -> Result<(), RunError> {
        let Self { home, mut config, store, opened, listener, client, faults } = self;
        // A config may leave the wallet to the key.
        config.api_wallet = api_wallet.as_ref().map(|wallet| wallet.key.address()).or(config.api_wallet);
        let signals =
            watch::signals().map_err(|error| RunError::Refused(format!("signals cannot be taken: {error}")))?;
        let intervals = intervals(&config);
        let (shared, ends) = Shared::new(&config, client, faults);
        shared.metrics.begin_at(opened.last_seq);
        log::start(most, &shared.deaths).map_err(failed)?;
        if let Some(master) = api_wallet.as_ref().and_then(|wallet| wallet.master) {
            shared.vouched_for(config.account, master);
        }
        let guard = wake(&home, &config, intervals, &opened, &shared.ring);

        let journal = shared.start_journal(store).map_err(failed)?;
        let desk = shared.desk(guard, &journal, &home, checkpoint_seq(&opened), ends.messages)?;
        spawn("decide", &shared.deaths, move || desk.run()).map_err(failed)?;
        let poller = shared.poller(&config, api_wallet.as_ref(), intervals, ends.wanted);
        spawn("poll", &shared.deaths, move || poller.run()).map_err(failed)?;
        shared.watch_kill_file(&home).map_err(failed)?;
        if let Some(wallet) = api_wallet {
            shared.start_senders(wallet.key, &config, &ends.to_send).map_err(failed)?;
        }
        shared.verify_history(opened.history).map_err(failed)?;
        let limits = Limits::default();
        let routes = shared.routes(&config, &journal, limits);
        let hosts = &config.deployment.allowed_hosts;
        let door = Door::open(listener, hosts, &home.run_dir(), limits, routes, &shared.deaths).map_err(failed)?;
        let (version, mode, account) = (env!("CARGO_PKG_VERSION"), config.mode, config.account);
        let text = format_args!("{version} {mode} for account {account} listening on http://{}", door.address());
        log::line(Level::Info, text);
        let signal = shared.wait_for_signals(signals).map_err(failed)?;
        let end = wait(&signal, &ends.deaths, || journal.is_alive());
        shared.end(end, door, &ends.stopped, &ends.deaths)
    }
}

fn failed(error: impl Display) -> RunError {
    RunError::Failed(format!("a thread or listener was refused: {error}"))
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

/// What the threads share, and the ends of channels that many send on.
struct Shared {
    client: Arc<Client>,
    ledger: Arc<Mutex<Ledger>>,
    questions: Arc<Questions>,
    ring: Arc<Ring>,
    metrics: Arc<Metrics>,
    inbox: Sender<Message>,
    sends: Sends,
    reads: Sender<Read>,
    stopped: Sender<()>,
    deaths: Sender<Death>,
    /// Makes steps fail, in builds that can.
    faults: Faults,
}

/// The ends of channels that one thread receives on.
struct Ends {
    messages: Receiver<Message>,
    to_send: ToSend,
    wanted: Receiver<Read>,
    stopped: Receiver<()>,
    deaths: Receiver<Death>,
}

impl Shared {
    fn new(config: &Config, client: Client, faults: Faults) -> (Self, Ends) {
        let client = Arc::new(client);
        let ledger = Arc::new(Mutex::new(Ledger::new(config.ip_share.budget_per_minute())));
        let clients = config.auth.clients.clone();
        let metrics = Arc::new(Metrics::new(now_ms(), config.mode.name()));
        let counted = Arc::clone(&metrics);
        let questions = Questions::new(Arc::clone(&client), Arc::clone(&ledger), config.account, clients, counted);
        let (inbox, messages) = bounded(INBOX);
        let (sends, to_send) = sender::queues();
        let (reads, wanted) = bounded(poller::QUEUE);
        let (stopped_tx, stopped) = bounded(1);
        let (deaths_tx, deaths) = bounded(DEATHS);
        let shared = Self {
            client,
            ledger,
            questions: Arc::new(questions),
            ring: Arc::new(Ring::default()),
            metrics,
            inbox,
            sends,
            reads,
            stopped: stopped_tx,
            deaths: deaths_tx,
            faults,
        };
        (shared, Ends { messages, to_send, wanted, stopped, deaths })
    }

    fn releaser(&self) -> Releaser {
        Releaser {
            ring: Arc::clone(&self.ring),
            sends: self.sends.clone(),
            inbox: self.inbox.clone(),
            stopped: self.stopped.clone(),
            behind: Mutex::default(),
            metrics: Arc::clone(&self.metrics),
            faults: self.faults.clone(),
        }
    }

    fn start_journal(&self, mut store: Store) -> io::Result<Journal<Release>> {
        let (on_disk, metrics) = (self.releaser(), Arc::clone(&self.metrics));
        store.on_commit(move |commit| metrics.commit(commit));
        store.start(JOURNAL_QUEUE, move |release: Release, written| on_disk.release(release, &written))
    }

    fn desk(
        &self,
        guard: Guard,
        journal: &Journal<Release>,
        home: &Home,
        checkpoint_seq: u64,
        messages: Receiver<Message>,
    ) -> Result<Desk, RunError> {
        let queue = journal.queue().ok_or_else(|| RunError::Failed("the journal's thread ended at once".to_owned()))?;
        Ok(Desk {
            guard,
            inbox: messages,
            journal: queue,
            health: journal.health(),
            releaser: self.releaser(),
            reads: self.reads.clone(),
            ledger: Arc::clone(&self.ledger),
            kill_file: home.kill_file(),
            waiting: HashMap::new(),
            last_request: 0,
            backlog: VecDeque::new(),
            checkpoint_seq,
            ticked_ms: 0,
            waits: Waits::default(),
            stop_by_ms: None,
        })
    }

    /// The venue has said at the start whose the API wallet is: that was paid for, and need not be asked again.
    fn vouched_for(&self, account: Address, master: Address) {
        let weight = agent::check_weight(account, master);
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner).charge(Priority::Read, weight, steady_ms());
        // The first message of all; the decision loop takes it in before any request.
        let _is_there_room = self.inbox.try_send(Message::Input(Input::ActsFor(agent::acts_for(account, master))));
    }

    fn poller(
        &self,
        config: &Config,
        api_wallet: Option<&ApiWallet>,
        intervals: Intervals,
        wanted: Receiver<Read>,
    ) -> Poller {
        Poller {
            client: Arc::clone(&self.client),
            ledger: Arc::clone(&self.ledger),
            questions: Arc::clone(&self.questions),
            account: config.account,
            api_wallet: api_wallet.map(|wallet| wallet.key.address()),
            wallet_unchecked: api_wallet.is_some_and(|wallet| wallet.master.is_none()),
            intervals,
            wanted,
            inbox: self.inbox.clone(),
            metrics: Arc::clone(&self.metrics),
            faults: self.faults.clone(),
        }
    }

    fn watch_kill_file(&self, home: &Home) -> io::Result<()> {
        let (kill_file, inbox, faults) = (home.kill_file(), self.inbox.clone(), self.faults.clone());
        spawn("kill-file", &self.deaths, move || watch::kill_file(&kill_file, &inbox, &faults)).map(drop)
    }

    fn start_senders(&self, key: SecretKey, config: &Config, queue: &ToSend) -> io::Result<()> {
        let sending = Arc::new(Sending {
            key,
            source: source(config.account_network),
            client: Arc::clone(&self.client),
            questions: Arc::clone(&self.questions),
            ledger: Arc::clone(&self.ledger),
            metrics: Arc::clone(&self.metrics),
            faults: self.faults.clone(),
        });
        for number in 0..SENDERS {
            let (sending, queue, inbox) = (Arc::clone(&sending), queue.clone(), self.inbox.clone());
            // The first is kept for the guard's own: clients' slow sends can hold up all others.
            let only_own = number == 0;
            spawn(&format!("send-{number}"), &self.deaths, move || sender::run(&sending, &queue, only_own, &inbox))?;
        }
        Ok(())
    }

    /// Days behind the last checkpoint are verified beside the work.
    fn verify_history(&self, history: History) -> io::Result<()> {
        let verify = move || {
            history.verify(&AtomicBool::new(false)).or_else(|error| {
                log::line(Level::Error, format_args!("an older day of the journal is damaged: {error}"));
                Ok(())
            })
        };
        spawn("history", &self.deaths, verify).map(drop)
    }

    fn routes(&self, config: &Config, journal: &Journal<Release>, limits: Limits) -> Routes {
        Routes {
            intake: Intake::new(config.auth.clients.iter().copied().collect()),
            inbox: self.inbox.clone(),
            ring: Arc::clone(&self.ring),
            lookup: journal.lookup(),
            questions: Arc::clone(&self.questions),
            metrics: Arc::clone(&self.metrics),
            slots: Arc::new(Slots::new(limits.connections, limits.guests)),
            faults: self.faults.clone(),
        }
    }

    fn wait_for_signals(
        &self,
        mut signals: signal_hook::iterator::Signals,
    ) -> io::Result<Receiver<Option<&'static str>>> {
        let (told, signal) = bounded(1);
        let wait = move || {
            // The main thread may be on its way down already.
            let _ = told.try_send(watch::wait_for(&mut signals));
            Ok(())
        };
        spawn("signals", &self.deaths, wait).map(|_| signal)
    }

    /// Comes down as the end asks for: in order on a signal, as far as it goes on a death.
    fn end(
        &self,
        end: Result<&'static str, String>,
        door: Door,
        stopped: &Receiver<()>,
        deaths: &Receiver<Death>,
    ) -> Result<(), RunError> {
        match end {
            Ok(signal) => {
                self.stop(signal, stopped, deaths)?;
                door.close(GRACE);
                Ok(())
            }
            Err(death) => {
                let _ = self.inbox.try_send(Message::Input(Input::Stop { reason: death.clone() }));
                let _ = stopped.recv_timeout(Duration::from_secs(1));
                Err(RunError::Failed(death))
            }
        }
    }

    /// The way down: nothing new, what is at work ends, the last event goes to disk.
    fn stop(&self, signal: &str, stopped: &Receiver<()>, deaths: &Receiver<Death>) -> Result<(), RunError> {
        log::line(Level::Info, format_args!("stopping on {signal}: what is on its way is waited for"));
        let asked = self.inbox.send(Message::Input(Input::Stop { reason: signal.to_owned() }));
        if asked.is_ok() && stopped.recv_timeout(GRACE + Duration::from_secs(1)).is_ok() {
            return Ok(());
        }
        let died = deaths.try_recv().ok().map(|death| death.to_string());
        Err(RunError::Failed(died.unwrap_or_else(|| "the last event was not written in time".to_owned())))
    }
}
