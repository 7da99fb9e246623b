//! Shared by the threads of a service, and how each of them is made from it.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded};
use signal_hook::iterator::Signals;

use super::bootstrap::source;
use super::decision_loop::Surroundings;
use super::equity_keeper::EquityKeeper;
use super::inbox_places::{INBOX, InboxPlaces};
use super::kill_to_write::KillToWrite;
use super::message::{Message, OwnSocket};
use super::metrics::Metrics;
use super::on_commit::{AfterCommit, CommitHandler};
use super::preflight::ApiWallet;
use super::relay_hub::RelayHub;
use super::reporting::health_report::HealthReport;
use super::reporting::level::Level;
use super::reporting::log;
use super::reporting::notify::Notify;
use super::reporting::recent_events::RecentEvents;
use super::server::authenticate::Authenticator;
use super::server::gate::{Limits, Slots};
use super::server::handlers::Handlers;
use super::server::info_proxy::InfoProxy;
use super::thread::{DEATHS, Death, spawn, spawn_refusing};
use super::triggers;
use super::turned_away::TurnedAway;
use super::venue_io::api_wallet_check;
use super::venue_io::carried::{Carried, Known};
use super::venue_io::feed_link::FeedLink;
use super::venue_io::feed_thread::FeedThread;
use super::venue_io::intervals::Intervals;
use super::venue_io::poller::{Poller, SteadyClients};
use super::venue_io::read_board::ReadBoard;
use super::venue_io::read_task::Lane;
use super::venue_io::relay_line::RelayLine;
use super::venue_io::send_queue::{self, QueuedSends, SendQueue};
use super::venue_io::sender::{self, Sending};
use super::venue_io::spent_weight::SpentWeight;
use super::venue_io::venue_access::VenueAccess;
use super::venue_io::venue_reads::VenueReader;
use crate::base::address::Address;
use crate::base::clock::now_ms;
use crate::base::key::SecretKey;
use crate::base::kill_watch::KillWatch;
use crate::base::origin::Origin;
use crate::base::sync::lock;
use crate::equity::Ring;
use crate::faults::{Faults, Step};
use crate::feed::{self, Feed};
use crate::guard::{AlertCode, Input};
use crate::home::{Config, Home};
use crate::journal::{History, Journal, Lookup, Store};
use crate::relay;
use crate::venue::client::Client;
use crate::venue::weight::Priority;
use crate::venue::weight_ledger::Ledger;

/// Frames of the guard's own socket that wait for their way to clients at most.
pub(super) const PASSED: usize = 4_096;
/// Batches that wait for the journal's thread at most.
const JOURNAL_QUEUE: usize = 1024;

/// Shared state, and the ends of channels that many send on.
pub(super) struct ServiceContext {
    venue: VenueAccess,
    pub(super) recent_events: Arc<RecentEvents>,
    equity: Arc<EquityKeeper>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) turned_away: Arc<TurnedAway>,
    pub(super) inbox: Sender<Message>,
    pub(super) sends: SendQueue,
    pub(super) reads: Arc<ReadBoard>,
    feed: Arc<FeedLink>,
    pub(super) relay: Arc<RelayHub>,
    /// What wakes each of its lines' threads.
    nudged: Vec<Receiver<()>>,
    pub(super) shut_down: Sender<()>,
    pub(super) deaths: Sender<Death>,
    /// Makes steps fail, in builds that can.
    /// Written when a client pulls the switch.
    kill_file: Arc<KillToWrite>,
    pub(super) faults: Faults,
}

/// The ends of channels that the main thread receives on.
pub(super) struct Ends {
    /// The last event is on disk.
    pub(super) shut_down: Receiver<()>,
    pub(super) deaths: Receiver<Death>,
}

/// The ends of channels that one thread or kind of thread receives on. Whoever sends learns that it is gone from its end
/// being dropped, so nobody else may keep one.
pub(super) struct WorkEnds {
    pub(super) messages: Receiver<Message>,
    pub(super) queued_sends: QueuedSends,
}

impl ServiceContext {
    pub(super) fn new(
        config: &Config,
        client: Client,
        home: &Home,
        faults: Faults,
        reads: Arc<ReadBoard>,
    ) -> (Self, Ends, WorkEnds) {
        let (inbox, messages) = bounded(INBOX);
        let (sends, queued_sends) = send_queue::queues(config.auth.clients.len());
        let (shut_down, shut_down_end) = bounded(1);
        let (deaths, deaths_end) = bounded(DEATHS);
        let metrics = Arc::new(Metrics::new(now_ms(), config.mode.name()).of(config.account, config.venue_url()));
        let venue = VenueAccess {
            client: Arc::new(client),
            budget: Arc::new(Mutex::new(Ledger::new(config.ip_share.budget_per_minute(), &config.auth.clients))),
            cache: Arc::default(),
            metrics: Arc::clone(&metrics),
            faults: faults.clone(),
        };
        let (relay, nudged) = RelayHub::new(relay::Config {
            account: config.account,
            clients: config.auth.clients.clone(),
            limits: relay::Limits::for_budget(config.ip_share.budget_per_minute()),
            seed: now_ms(),
        });
        let (recent_events, turned_away, feed) = (Arc::default(), Arc::default(), Arc::default());
        let equity = Arc::new(EquityKeeper::new(Ring::at(home.equity_file(config.mode, config.account))));
        let kill_file = Arc::new(KillToWrite::new(home.kill_file(), faults.clone()));
        let context = Self {
            venue,
            recent_events,
            equity,
            metrics,
            turned_away,
            inbox,
            sends,
            reads,
            feed,
            relay,
            nudged,
            shut_down,
            deaths,
            kill_file,
            faults,
        };
        let ends = Ends { shut_down: shut_down_end, deaths: deaths_end };
        (context, ends, WorkEnds { messages, queued_sends })
    }

    fn commit_handler(&self) -> CommitHandler {
        CommitHandler {
            recent_events: Arc::clone(&self.recent_events),
            sends: self.sends.clone(),
            inbox: self.inbox.clone(),
            shut_down: self.shut_down.clone(),
            refused: Mutex::default(),
            turned_away: Arc::clone(&self.turned_away),
            metrics: Arc::clone(&self.metrics),
            kill_file: Arc::clone(&self.kill_file),
            faults: self.faults.clone(),
        }
    }

    pub(super) fn start_journal(&self, mut store: Store) -> io::Result<(Journal<AfterCommit>, JoinHandle<()>)> {
        let (handler, metrics) = (self.commit_handler(), Arc::clone(&self.metrics));
        store.on_commit(move |commit| metrics.commit(commit));
        let handler = Arc::new(handler);
        let before = Arc::clone(&handler);
        let on_begin = move |after: &AfterCommit| before.on_begin(after);
        let on_commit = move |after: AfterCommit, written| handler.on_commit(after, &written);
        let (journal, writer, disk) = store.writer(JOURNAL_QUEUE, on_begin, on_commit);
        if let Some(disk) = disk {
            spawn("journal-disk", &self.deaths, move || {
                disk.run();
                Ok(())
            })?;
        }
        let thread = spawn("journal", &self.deaths, move || {
            writer.run();
            Ok(())
        })?;
        Ok((journal, thread))
    }

    pub(super) fn surroundings(
        &self,
        inbox: Receiver<Message>,
        passed: Sender<OwnSocket>,
        notify: &Notify,
    ) -> Surroundings {
        Surroundings {
            inbox,
            commit_handler: self.commit_handler(),
            reads: Arc::clone(&self.reads),
            feed: Arc::clone(&self.feed),
            passed,
            budget: Arc::clone(&self.venue.budget),
            subscriptions: self.relay.counts(),
            equity: Arc::clone(&self.equity),
            health_report: HealthReport::new(notify.clone()),
            watchdog: notify.watchdog(),
        }
    }

    /// Takes over the answer of the start's check of the API wallet, and books its weight, which was spent without the budget.
    pub(super) fn vouched_for(&self, account: Address, master: Address) {
        let weight = api_wallet_check::check_weight(account, master);
        self.venue.charge(Priority::Read, weight);
        self.acts_for(account, master);
    }

    /// Says whose API wallet signs: the decision loop takes it in before any request.
    pub(super) fn acts_for(&self, account: Address, master: Address) {
        let acts_for = Input::ActsFor(api_wallet_check::acts_for(account, master));
        let _is_there_room = self.inbox.try_send(Message::Input(acts_for));
    }

    /// Starts the threads that read; `steady` are the clients for what must be fresh.
    pub(super) fn start_poller(
        &self,
        account: Address,
        api_wallet: Option<&ApiWallet>,
        intervals: Intervals,
        steady: SteadyClients,
        carried: Arc<Carried>,
    ) -> io::Result<()> {
        let api_wallet = api_wallet.map(|wallet| wallet.key.address());
        let reader = |client| VenueReader { venue: self.venue.clone(), client, account, api_wallet };
        let poller = Arc::new(Poller {
            board: Arc::clone(&self.reads),
            steady: reader(Arc::new(steady.reads)),
            spot_balances: reader(Arc::new(steady.spot_balances)),
            beside: reader(Arc::clone(&self.venue.client)),
            carried,
            intervals,
            inbox: self.inbox.clone(),
        });
        for (lane, name, threads) in Lane::ALL {
            for _ in 0..threads {
                let poller = Arc::clone(&poller);
                spawn_refusing(name, &self.deaths, move || poller.run(lane))?;
            }
        }
        Ok(())
    }

    /// Starts the live feed.
    pub(super) fn listen(&self, config: &Config) -> io::Result<()> {
        let origin = Origin::parse(config.venue_url()).map_err(io::Error::other)?;
        let feed = Feed::new(feed::Config {
            account: config.account,
            limits: feed::Limits::for_budget(config.ip_share.budget_per_minute()),
            ruled_markets: config.rules.markets.names(),
            seed: now_ms(),
        });
        let (link, cache) = (Arc::clone(&self.feed), Arc::clone(&self.venue.cache));
        let thread = FeedThread::new(origin, feed, link, self.inbox.clone(), cache);
        spawn("feed", &self.deaths, move || thread.run()).map(drop)
    }

    /// Starts what clients subscribe to: the lines to the venue, and what they hear of the guard's own.
    pub(super) fn relay(&self, config: &Config, passed: Receiver<OwnSocket>) -> io::Result<()> {
        let hub = Arc::clone(&self.relay);
        spawn("relay-own", &self.deaths, move || {
            hub.pass_on(&passed);
            Ok(())
        })?;
        let origin = Origin::parse(config.venue_url()).map_err(io::Error::other)?;
        for (number, nudged) in self.nudged.iter().enumerate() {
            let (relay, link) = (Arc::clone(&self.relay), Arc::clone(&self.feed));
            let line = RelayLine::new(number, relay, link, origin.clone(), nudged.clone());
            spawn(&format!("relay-{number}"), &self.deaths, move || line.run())?;
        }
        Ok(())
    }

    pub(super) fn watch_kill_file(&self, home: &Home, address: Option<SocketAddr>) -> io::Result<()> {
        let (kill_file, left) = (home.kill_file(), home.address_file());
        let (inbox, faults, to_write) = (self.inbox.clone(), self.faults.clone(), Arc::clone(&self.kill_file));
        let (watch, spare) = (KillWatch::begin(kill_file.clone())?, kill_file);
        spawn("kill-ready", &self.deaths, move || {
            triggers::make_ready(&spare);
            Ok(())
        })?;
        let leave_word = move || triggers::leave_word(&left, address);
        let watching = move || triggers::kill_file(watch, leave_word, &to_write, &inbox, &faults);
        spawn("kill-file", &self.deaths, watching).map(drop)
    }

    /// Keeps what is spent for the next life.
    pub(super) fn keep_spent_weight(&self, file: SpentWeight, carried: Arc<Carried>) -> io::Result<()> {
        let (budget, faults) = (Arc::clone(&self.venue.budget), self.faults.clone());
        spawn("weight", &self.deaths, move || file.keep(&budget, &carried, &faults)).map(drop)
    }

    /// Keeps the equity of each minute, beside the work.
    pub(super) fn keep_equity(&self) -> io::Result<()> {
        let (equity, faults) = (Arc::clone(&self.equity), self.faults.clone());
        let work = move || {
            faults.about("equity");
            faults.pass(Step::Aside).map_err(|error| error.to_string())?;
            equity.run()
        };
        spawn("equity", &self.deaths, work).map(drop)
    }

    /// Books what the last lives spent, leaves word of what this start will, and goes by what they have read.
    pub(super) fn recall(&self, file: &SpentWeight, known: Option<Known>, last_account: Option<Input>) {
        let mut budget = lock(&self.venue.budget);
        file.recall(&mut budget);
        file.foresee(&budget, known.is_some());
        known.into_iter().for_each(|known| known.tell(&self.reads, &self.inbox));
        _ = last_account.map(|input| self.inbox.try_send(Message::Input(input)));
    }

    pub(super) fn start_senders(&self, key: SecretKey, config: &Config, queue: &QueuedSends) -> io::Result<()> {
        let (source, venue) = (source(config.account_network), self.venue.clone());
        let sending = Arc::new(Sending { key, source, venue });
        for number in 0..=send_queue::client_senders(config.auth.clients.len()) {
            let (sending, queue, inbox) = (Arc::clone(&sending), queue.clone(), self.inbox.clone());
            // The first is kept for the guard's own: clients' slow sends can hold up all others.
            let only_own = number == 0;
            spawn(&format!("send-{number}"), &self.deaths, move || sender::run(&sending, &queue, only_own, &inbox))?;
        }
        Ok(())
    }

    /// Verifies the days behind the last checkpoint, and keeps the journal's index whole, beside the work.
    pub(super) fn start_history(&self, history: History) -> io::Result<()> {
        let (inbox, faults) = (self.inbox.clone(), self.faults.clone());
        let work = move || {
            faults.about("history");
            faults.pass(Step::Aside).map_err(|error| error.to_string())?;
            history.run(|damage| {
                let code = AlertCode::JournalDamaged;
                let text = damage.map(|error| format!("an older day of the journal is damaged: {error}"));
                match &text {
                    Some(text) => log::line(Level::Error, text),
                    None => log::line(Level::Info, "the journal's older days are whole again"),
                }
                let told = text.clone().map(Input::Trouble);
                for input in told.into_iter().chain([Input::Concern { code, text }]) {
                    // Nobody is left to tell where the loop is gone.
                    let _told = inbox.send(Message::Input(input));
                }
            });
            Ok(())
        };
        spawn("history", &self.deaths, work).map(drop)
    }

    pub(super) fn handlers(&self, config: &Config, lookup: Lookup, limits: Limits) -> Handlers {
        Handlers {
            authenticator: Authenticator::new(
                config.auth.clients.iter().copied().collect(),
                config.account,
                config.api_wallet,
            ),
            inbox: self.inbox.clone(),
            recent_events: Arc::clone(&self.recent_events),
            lookup,
            equity: Arc::clone(&self.equity),
            inbox_places: Arc::new(InboxPlaces::new(config.auth.clients.len())),
            turned_away: Arc::clone(&self.turned_away),
            metrics: Arc::clone(&self.metrics),
            subscriptions: self.relay.counts(),
            slots: Arc::new(Slots::new(&limits, config.auth.clients.len())),
            faults: self.faults.clone(),
        }
    }

    pub(super) fn info_proxy(&self, config: &Config) -> InfoProxy {
        InfoProxy {
            venue: self.venue.clone(),
            account: config.account,
            clients: config.auth.clients.clone(),
            strangers: Mutex::default(),
        }
    }

    pub(super) fn wait_for_signals(&self, mut signals: Signals) -> io::Result<Receiver<Option<&'static str>>> {
        let (received, signal) = bounded(1);
        let faults = self.faults.clone();
        let wait = move || {
            faults.about("signals");
            faults.pass(Step::Aside).map_err(|error| error.to_string())?;
            // The main thread may be on its way down already.
            let _ = received.try_send(triggers::wait_for(&mut signals));
            Ok(())
        };
        spawn("signals", &self.deaths, wait).map(|_| signal)
    }
}
