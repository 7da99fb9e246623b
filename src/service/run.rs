//! A service's life: its threads started, the server opened; then a signal or a death, and the shutdown.

use std::fmt::Display;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, bounded, select};
use signal_hook::iterator::Signals;

use super::bootstrap::{intervals, is_role_known, restored_guard};
use super::decision_loop::DecisionLoop;
use super::decision_loop::backlog::Backlog;
use super::message::Message;
use super::on_commit::AfterCommit;
use super::preflight::{ApiWallet, PreflightedService, RunError};
use super::reporting::level::Level;
use super::reporting::log;
use super::reporting::notify::{Asked, Notify};
use super::server::gate::Limits;
use super::server::reports::ReportSource;
use super::server::{Server, ServerSetup};
use super::service_context::{Ends, PASSED, ServiceContext, WorkEnds};
use super::thread::{Death, spawn};
use super::triggers;
use super::venue_io::carried::Carried;
use super::venue_io::intervals::Intervals;
use super::venue_io::poller::{SPOT_BALANCES, STEADY, SteadyClients, first_reads};
use super::venue_io::spent_weight::SpentWeight;
use crate::base::address::Address;
use crate::base::log_line::Reader;
use crate::guard::{Guard, Input};
use crate::home::{Config, Home};
use crate::journal::{History, Journal};
use crate::venue::client::Client;

/// How long requests at work may take once the shutdown has begun.
const GRACE: Duration = Duration::from_secs(5);
/// The loop hears of it after one request at most, waits for sends as long as they may take, and then for the disk.
const ENDED_BY: Duration = Duration::from_secs(15);

impl PreflightedService {
    /// Runs the service until a signal ends it, signing with the API wallet's key (paper mode has none), logging lines of
    /// up to `most`, and sending the service manager the messages that it asked for.
    ///
    /// # Errors
    /// [`RunError::Refused`] when it does not start, [`RunError::Failed`] when it ends otherwise than by a signal, which is
    /// logged.
    pub fn run(self, api_wallet: Option<ApiWallet>, most: Level, manager: &Asked) -> Result<(), RunError> {
        log::begin(Reader::of_stderr(manager.journal.as_deref()), &self.home);
        let notify = Notify::open(manager);
        let ended = self.run_logged(api_wallet, most, &notify);
        if let Err(error @ RunError::Failed(_)) = &ended {
            log::line(Level::Error, error);
        }
        log::flush();
        ended
    }

    fn run_logged(self, api_wallet: Option<ApiWallet>, most: Level, notify: &Notify) -> Result<(), RunError> {
        let Self { home, mut config, store, opened, listener, client, faults } = self;
        let recorded_owner = recorded_owner(&config, api_wallet.as_ref());
        // A config may leave the wallet to the key.
        config.api_wallet = api_wallet.as_ref().map(|wallet| wallet.key.address()).or(config.api_wallet);
        let signals =
            triggers::signals().map_err(|error| RunError::Refused(format!("signals cannot be taken: {error}")))?;
        let intervals = intervals(&config);
        let unchecked = api_wallet.as_ref().map(|wallet| wallet.master.is_none());
        let reads = first_reads(unchecked, intervals, config.ip_share.budget_per_minute());
        let client_of = |timeouts| {
            let client = Client::with_faults(config.venue_url(), timeouts, faults.clone());
            client.map_err(|error| RunError::Refused(error.to_string()))
        };
        let steady = SteadyClients { reads: client_of(STEADY)?, spot_balances: client_of(SPOT_BALANCES)? };
        let spent = SpentWeight::of(&home);
        if spent.is_over_half() && (recorded_owner.is_some() || is_role_known(&opened)) {
            reads.ask_about_the_wallet_later();
        }
        let carried = Arc::new(Carried::of(&home, &config));
        let known = carried.recall().filter(|_| spent.is_over_half());
        let (context, ends, work_ends) = ServiceContext::new(&config, client, &home, faults, reads);
        context.recall(&spent, known, carried.last_account.recall());
        context.metrics.begin_at(opened.last_seq);
        log::start(most, &context.deaths, context.faults.clone()).map_err(failed)?;
        match api_wallet.as_ref().map(|wallet| (wallet.master, recorded_owner)) {
            Some((Some(master), _)) => context.vouched_for(config.account, master),
            // The poller goes on asking; what is held must not wait for that.
            Some((None, Some(owner))) if !is_role_known(&opened) => context.acts_for(config.account, owner),
            _ => {}
        }
        let guard = restored_guard(&home, &config, intervals, &opened, &context.recent_events)
            .map_err(|error| RunError::Refused(error.to_string()))?;
        context.reads.note_recorded(guard.recorded_mode());
        let (journal, writer) = context.start_journal(store).map_err(failed)?;
        let start = Start {
            home: &home,
            config: &config,
            api_wallet,
            intervals,
            steady,
            carried,
            guard,
            history: opened.history,
            listener,
            work_ends,
            notify,
        };
        let ended = context.serve(start, &journal, &ends, signals);
        drop(journal);
        if ended.is_ok() {
            // Not after a death: the writer ends after the decision loop, and that may never come.
            let _its_death_was_heard = writer.join();
        }
        ended
    }
}

/// The owner of this API wallet as `init` or `key check` heard it from the venue, where the config says it.
fn recorded_owner(config: &Config, api_wallet: Option<&ApiWallet>) -> Option<Address> {
    let is_named = api_wallet.is_some_and(|wallet| config.api_wallet == Some(wallet.key.address()));
    config.api_wallet_owner.filter(|_| is_named)
}

/// The parts of a service that are there once the journal's thread is.
struct Start<'a> {
    home: &'a Home,
    config: &'a Config,
    api_wallet: Option<ApiWallet>,
    intervals: Intervals,
    steady: SteadyClients,
    carried: Arc<Carried>,
    guard: Guard,
    history: History,
    listener: TcpListener,
    work_ends: WorkEnds,
    notify: &'a Notify,
}

fn failed(error: impl Display) -> RunError {
    RunError::Failed(format!("a thread or listener was refused: {error}"))
}

fn end_by(death: Option<Death>) -> RunError {
    match death {
        Some(death) if death.is_refusal => RunError::Refused(death.reason),
        Some(death) => RunError::Failed(death.to_string()),
        None => RunError::Failed("a thread died".to_owned()),
    }
}

/// Waits for a signal, or for the first thread that dies.
fn wait(signal: &Receiver<Option<&'static str>>, deaths: &Receiver<Death>) -> Result<&'static str, RunError> {
    select! {
        recv(signal) -> name => match name {
            Ok(name) => Ok(name.unwrap_or("a signal")),
            // Who waits for signals is gone, and its death is about to be told.
            Err(_) => Err(end_by(deaths.recv_timeout(Duration::from_secs(1)).ok())),
        },
        recv(deaths) -> death => Err(end_by(death.ok())),
    }
}

impl ServiceContext {
    /// Opens the server, and serves until a signal or a death.
    fn serve(
        &self,
        start: Start<'_>,
        journal: &Journal<AfterCommit>,
        ends: &Ends,
        signals: Signals,
    ) -> Result<(), RunError> {
        let (mode, account, notify) = (start.config.mode, start.config.account, start.notify);
        let opened = self.open(start, journal);
        let ready = opened.and_then(|server| Ok((server, self.wait_for_signals(signals).map_err(failed)?)));
        let (server, signal) = ready.inspect_err(|error| {
            notify.shutting_down(&error.to_string());
            self.give_up(&error.to_string(), ends);
        })?;
        let version = env!("CARGO_PKG_VERSION");
        let text = format!("{version} {mode} for account {account} listening on http://{}", server.address());
        log::line(Level::Info, &text);
        notify.ready(&text);
        let end = wait(&signal, &ends.deaths);
        let waits = "what is on its way is waited for".to_owned();
        notify.shutting_down(&end.as_ref().map_or_else(ToString::to_string, |_| waits));
        self.end(end, server, ends)
    }

    /// Starts every thread, the server's last.
    fn open(&self, start: Start<'_>, journal: &Journal<AfterCommit>) -> Result<Server, RunError> {
        let Start { home, config, api_wallet, intervals, steady, carried, guard, history, listener, .. } = start;
        let WorkEnds { messages, queued_sends } = start.work_ends;
        let (pass, passed) = bounded(PASSED);
        let surroundings = self.surroundings(messages, pass, start.notify);
        let backlog = Backlog::new(journal.queue(), journal.call());
        let decision_loop = DecisionLoop::new(guard, backlog, journal.health(), surroundings);
        spawn("decide", &self.deaths, move || decision_loop.run()).map_err(failed)?;
        self.start_poller(config.account, api_wallet.as_ref(), intervals, steady, Arc::clone(&carried))
            .map_err(failed)?;
        self.listen(config).map_err(failed)?;
        self.watch_kill_file(home, listener.local_addr().ok()).map_err(failed)?;
        self.keep_spent_weight(SpentWeight::of(home), carried).map_err(failed)?;
        self.keep_equity().map_err(failed)?;
        if let Some(wallet) = api_wallet {
            self.start_senders(wallet.key, config, &queued_sends).map_err(failed)?;
        }
        self.start_history(history).map_err(failed)?;
        self.relay(config, passed).map_err(failed)?;
        let limits = Limits::default();
        let setup = ServerSetup {
            listener,
            allowed_hosts: &config.deployment.allowed_hosts,
            run_dir: &home.run_dir(),
            limits,
            handlers: self.handlers(config, journal.lookup(), limits),
            info: self.info_proxy(config),
            relay: Arc::clone(&self.relay),
            reports: ReportSource {
                dir: home.journal_dir(config.mode, config.account),
                mode: config.mode.name().to_owned(),
                account: config.account.to_string(),
            },
        };
        Server::open(setup, &self.deaths).map_err(failed)
    }

    /// Comes down as the end asks for: in order on a signal, as far as it goes on a death.
    fn end(&self, end: Result<&'static str, RunError>, server: Server, ends: &Ends) -> Result<(), RunError> {
        match end {
            Ok(signal) => {
                self.shut_down(signal, ends)?;
                server.close(GRACE);
                Ok(())
            }
            Err(error) => {
                self.give_up(&error.to_string(), ends);
                Err(error)
            }
        }
    }

    /// The shutdown when something is broken: the last event is written if it can be.
    fn give_up(&self, reason: &str, ends: &Ends) {
        let shutdown = Message::Input(Input::Shutdown { reason: reason.to_owned() });
        let _ = self.inbox.send_timeout(shutdown, Duration::from_secs(1));
        let _ = ends.shut_down.recv_timeout(Duration::from_secs(1));
    }

    /// The shutdown in order: nothing new, requests and sends at work end, the last event goes to disk.
    fn shut_down(&self, signal: &str, ends: &Ends) -> Result<(), RunError> {
        log::line(Level::Info, format_args!("stopping on {signal}: what is on its way is waited for"));
        let asked = self.inbox.send_timeout(Message::Input(Input::Shutdown { reason: signal.to_owned() }), GRACE);
        if asked.is_ok() && ends.shut_down.recv_timeout(ENDED_BY).is_ok() {
            return Ok(());
        }
        let died = ends.deaths.try_recv().ok().map(|death| death.to_string());
        Err(RunError::Failed(died.unwrap_or_else(|| "the last event was not written in time".to_owned())))
    }
}
