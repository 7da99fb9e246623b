//! What the threads of a service share, and how each of them is made from it.

use crate::base::sync::lock;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded};
use signal_hook::iterator::Signals;

use super::agent;
use super::desk::Desk;
use super::gate::{Limits, Slots};
use super::intake::Intake;
use super::log::{self, Level};
use super::message::{INBOX, Message};
use super::metrics::Metrics;
use super::notify::Notify;
use super::plan::ApiWallet;
use super::poller::{self, Intervals, Poller};
use super::questions::Questions;
use super::release::{Release, Releaser};
use super::ring::Ring;
use super::routes::Routes;
use super::sender::{self, SENDERS, Sending, Sends, ToSend};
use super::thread::{DEATHS, Death, spawn};
use super::waits::Waits;
use super::wake::source;
use super::watch;
use crate::base::address::Address;
use crate::base::clock::{now_ms, steady_ms};
use crate::base::key::SecretKey;
use crate::faults::Faults;
use crate::guard::{Guard, Input, Read};
use crate::home::{Config, Home};
use crate::journal::{History, Journal, Store};
use crate::venue::client::Client;
use crate::venue::weight::{Ledger, Priority};

/// Batches that wait for the journal's thread at most.
const JOURNAL_QUEUE: usize = 1024;

/// What the threads share, and the ends of channels that many send on.
pub(super) struct Shared {
    pub(super) client: Arc<Client>,
    pub(super) ledger: Arc<Mutex<Ledger>>,
    pub(super) questions: Arc<Questions>,
    pub(super) ring: Arc<Ring>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) inbox: Sender<Message>,
    pub(super) sends: Sends,
    pub(super) reads: Sender<Read>,
    pub(super) stopped: Sender<()>,
    pub(super) deaths: Sender<Death>,
    /// Makes steps fail, in builds that can.
    pub(super) faults: Faults,
}

/// The ends of channels that one thread receives on.
pub(super) struct Ends {
    pub(super) messages: Receiver<Message>,
    pub(super) to_send: ToSend,
    pub(super) wanted: Receiver<Read>,
    pub(super) stopped: Receiver<()>,
    pub(super) deaths: Receiver<Death>,
}

impl Shared {
    pub(super) fn new(config: &Config, client: Client, faults: Faults) -> (Self, Ends) {
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

    pub(super) fn releaser(&self) -> Releaser {
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

    pub(super) fn start_journal(&self, mut store: Store) -> io::Result<(Journal<Release>, JoinHandle<()>)> {
        let (on_disk, metrics) = (self.releaser(), Arc::clone(&self.metrics));
        store.on_commit(move |commit| metrics.commit(commit));
        let release = move |release: Release, written| on_disk.release(release, &written);
        let (journal, writer) = store.writer(JOURNAL_QUEUE, release);
        let thread = spawn("journal", &self.deaths, move || {
            writer.run();
            Ok(())
        })?;
        Ok((journal, thread))
    }

    pub(super) fn desk(
        &self,
        guard: Guard,
        journal: &Journal<Release>,
        home: &Home,
        checkpoint_seq: u64,
        messages: Receiver<Message>,
        notify: &Notify,
    ) -> Desk {
        Desk {
            guard,
            inbox: messages,
            journal: journal.queue(),
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
            waits: Waits::new(notify.clone()),
            watchdog: notify.watchdog(),
            stop_by_ms: None,
        }
    }

    /// The venue has said at the start whose the API wallet is: that was paid for, and need not be asked again.
    pub(super) fn vouched_for(&self, account: Address, master: Address) {
        let weight = agent::check_weight(account, master);
        lock(&self.ledger).charge(Priority::Read, weight, steady_ms());
        // The first message of all; the decision loop takes it in before any request.
        let _is_there_room = self.inbox.try_send(Message::Input(Input::ActsFor(agent::acts_for(account, master))));
    }

    pub(super) fn poller(
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

    pub(super) fn watch_kill_file(&self, home: &Home) -> io::Result<()> {
        let (kill_file, inbox, faults) = (home.kill_file(), self.inbox.clone(), self.faults.clone());
        spawn("kill-file", &self.deaths, move || watch::kill_file(&kill_file, &inbox, &faults)).map(drop)
    }

    pub(super) fn start_senders(&self, key: SecretKey, config: &Config, queue: &ToSend) -> io::Result<()> {
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

    /// Verifies the days behind the last checkpoint, and keeps the journal's index whole, beside the work.
    pub(super) fn start_history(&self, history: History) -> io::Result<()> {
        let work = move || {
            history.run(|error| {
                log::line(Level::Error, format_args!("an older day of the journal is damaged: {error}"));
            });
            Ok(())
        };
        spawn("history", &self.deaths, work).map(drop)
    }

    pub(super) fn routes(&self, config: &Config, journal: &Journal<Release>, limits: Limits) -> Routes {
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

    pub(super) fn wait_for_signals(&self, mut signals: Signals) -> io::Result<Receiver<Option<&'static str>>> {
        let (told, signal) = bounded(1);
        let wait = move || {
            // The main thread may be on its way down already.
            let _ = told.try_send(watch::wait_for(&mut signals));
            Ok(())
        };
        spawn("signals", &self.deaths, wait).map(|_| signal)
    }
}
