//! A service's life: its threads started, the door opened; then a signal or a death, and the way down.

use std::fmt::Display;
use std::net::TcpListener;
use std::time::Duration;

use crossbeam_channel::{Receiver, select};
use signal_hook::iterator::Signals;

use super::door::Door;
use super::gate::Limits;
use super::log::{self, Level};
use super::message::Message;
use super::notify::{Asked, Notify};
use super::plan::{ApiWallet, Prepared, RunError};
use super::poller::Intervals;
use super::release::Release;
use super::sender::ToSend;
use super::shared::{Ends, Shared};
use super::thread::{Death, spawn};
use super::wake::{checkpoint_seq, intervals, wake};
use super::watch;
use crate::guard::{Guard, Input, Read};
use crate::home::{Config, Home};
use crate::journal::{History, Journal};

/// How long requests at work may take after a stop.
const GRACE: Duration = Duration::from_secs(5);

impl Prepared {
    /// Runs the service until a signal ends it, signing with the API wallet's key (paper mode has none), logging lines of
    /// up to `most`, and telling the service manager what it asked for.
    ///
    /// # Errors
    /// [`RunError::Refused`] when it does not start, [`RunError::Failed`] when it ends otherwise than by a signal; of that
    /// the log was told.
    pub fn run(self, api_wallet: Option<ApiWallet>, most: Level, manager: &Asked) -> Result<(), RunError> {
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

        let (journal, writer) = shared.start_journal(store).map_err(failed)?;
        let seq = checkpoint_seq(&opened);
        let start = Start {
            home: &home,
            config: &config,
            api_wallet,
            intervals,
            guard,
            seq,
            history: opened.history,
            listener,
        };
        let ended = shared.serve(start, &journal, ends, signals, notify);
        drop(journal);
        if ended.is_ok() {
            // Not after a death: the writer ends after the decision loop, and that may never come.
            let _its_death_was_heard = writer.join();
        }
        ended
    }
}

/// What a start has in hand once the journal's thread is there.
struct Start<'a> {
    home: &'a Home,
    config: &'a Config,
    api_wallet: Option<ApiWallet>,
    intervals: Intervals,
    guard: Guard,
    /// The last event that a checkpoint covers.
    seq: u64,
    history: History,
    listener: TcpListener,
}

fn failed(error: impl Display) -> RunError {
    RunError::Failed(format!("a thread or listener was refused: {error}"))
}

/// Waits for a signal, or for the first thread that dies.
fn wait(signal: &Receiver<Option<&'static str>>, deaths: &Receiver<Death>) -> Result<&'static str, String> {
    select! {
        recv(signal) -> name => Ok(name.ok().flatten().unwrap_or("a signal")),
        recv(deaths) -> death => Err(death.map_or_else(|_| "a thread died".to_owned(), |death| death.to_string())),
    }
}

impl Shared {
    /// Opens the door, and serves until a signal or a death.
    fn serve(
        &self,
        start: Start<'_>,
        journal: &Journal<Release>,
        ends: Ends,
        signals: Signals,
        notify: &Notify,
    ) -> Result<(), RunError> {
        let Ends { messages, to_send, wanted, stopped, deaths } = ends;
        let (mode, account) = (start.config.mode, start.config.account);
        let opened = self.open(start, journal, messages, &to_send, wanted, notify);
        let ready = opened.and_then(|door| Ok((door, self.wait_for_signals(signals).map_err(failed)?)));
        let (door, signal) = ready.inspect_err(|error| {
            notify.stopping(&error.to_string());
            self.give_up(&error.to_string(), &stopped);
        })?;
        let version = env!("CARGO_PKG_VERSION");
        let text = format!("{version} {mode} for account {account} listening on http://{}", door.address());
        log::line(Level::Info, &text);
        notify.ready(&text);
        let end = wait(&signal, &deaths);
        notify.stopping(end.as_ref().map_or_else(String::as_str, |_| "what is on its way is waited for"));
        self.end(end, door, &stopped, &deaths)
    }

    /// Starts every thread, the door's last.
    fn open(
        &self,
        start: Start<'_>,
        journal: &Journal<Release>,
        messages: Receiver<Message>,
        to_send: &ToSend,
        wanted: Receiver<Read>,
        notify: &Notify,
    ) -> Result<Door, RunError> {
        let Start { home, config, api_wallet, intervals, guard, seq, history, listener } = start;
        let desk = self.desk(guard, journal, home, seq, messages, notify);
        spawn("decide", &self.deaths, move || desk.run()).map_err(failed)?;
        let poller = self.poller(config, api_wallet.as_ref(), intervals, wanted);
        spawn("poll", &self.deaths, move || poller.run()).map_err(failed)?;
        self.watch_kill_file(home).map_err(failed)?;
        if let Some(wallet) = api_wallet {
            self.start_senders(wallet.key, config, to_send).map_err(failed)?;
        }
        self.start_history(history).map_err(failed)?;
        let limits = Limits::default();
        let routes = self.routes(config, journal, limits);
        let hosts = &config.deployment.allowed_hosts;
        Door::open(listener, hosts, &home.run_dir(), limits, routes, &self.deaths).map_err(failed)
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
                self.give_up(&death, stopped);
                Err(RunError::Failed(death))
            }
        }
    }

    /// The way down when something is broken: the last event is written if it can be.
    fn give_up(&self, reason: &str, stopped: &Receiver<()>) {
        let stop = Message::Input(Input::Stop { reason: reason.to_owned() });
        let _ = self.inbox.send_timeout(stop, Duration::from_secs(1));
        let _ = stopped.recv_timeout(Duration::from_secs(1));
    }

    /// The way down: nothing new, what is at work ends, the last event goes to disk.
    fn stop(&self, signal: &str, stopped: &Receiver<()>, deaths: &Receiver<Death>) -> Result<(), RunError> {
        log::line(Level::Info, format_args!("stopping on {signal}: what is on its way is waited for"));
        let asked = self.inbox.send_timeout(Message::Input(Input::Stop { reason: signal.to_owned() }), GRACE);
        if asked.is_ok() && stopped.recv_timeout(GRACE + Duration::from_secs(1)).is_ok() {
            return Ok(());
        }
        let died = deaths.try_recv().ok().map(|death| death.to_string());
        Err(RunError::Failed(died.unwrap_or_else(|| "the last event was not written in time".to_owned())))
    }
}
