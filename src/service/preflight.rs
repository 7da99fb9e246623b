//! The start up to its key: everything that can refuse a start without the key is settled first.

use std::io::ErrorKind;
use std::net::TcpListener;

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::bootstrap::is_role_known;
use super::venue_io::api_wallet_check::{self, NotTheAgent, Owner};
use super::venue_io::spent_weight::SpentWeight;
use crate::base::address::Address;
use crate::base::denied::denied;
use crate::base::key::SecretKey;
use crate::faults::Faults;
use crate::home::{Config, Home};
use crate::journal::{self, OpenError, Opened, Options, Store};
use crate::venue::client::{Client, Timeouts};

/// Descriptors that the service may need: every connection with its way to a worker, journals, the venue.
const DESCRIPTORS: u64 = 1024;

/// Why a service did not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It did not start; exit status 2, and no supervisor should try again.
    #[error("{0}")]
    Refused(String),
    /// The same, for another service runs on the home's journal.
    #[error("{0}")]
    Held(String),
    /// It failed while running; exit status 1, to be started again into recovery.
    #[error("{0}")]
    Failed(String),
}

/// How the refusal of a listen address begins.
pub const NO_ADDRESS: &str = "cannot listen on";

/// The API wallet, which the service signs with.
#[derive(Debug)]
pub struct ApiWallet {
    /// Its key.
    pub key: SecretKey,
    /// The address that approved it, as the venue says: the account or its owner; none where it has not answered yet.
    pub master: Option<Address>,
}

/// How long the venue may take to say whether a key is the account's API wallet, before the start goes on without.
const CHECK: Timeouts = Timeouts { connect_ms: 2_000, call_ms: 5_000 };

/// The same of a wallet that an earlier start was told of: what is held waits for it, and it is asked about again later.
const CHECK_KNOWN: Timeouts = Timeouts { connect_ms: 1_000, call_ms: 1_000 };

/// A start that only a key is missing from: the journal is verified and locked, the port is taken.
pub struct PreflightedService {
    pub(super) home: Home,
    pub(super) config: Config,
    pub(super) store: Store,
    pub(super) opened: Opened,
    pub(super) listener: TcpListener,
    pub(super) client: Client,
    /// Makes steps fail, in builds that can.
    pub(super) faults: Faults,
}

impl PreflightedService {
    /// Settles all that needs no key. `config` has what the command line overrode (listen address, IP share) in place.
    ///
    /// # Errors
    /// [`RunError::Refused`]: a journal that is damaged or missing, a port that is taken, too few open files allowed.
    /// [`RunError::Held`]: another service runs on it. [`RunError::Failed`]: a disk without room for the journal's files, so that it is tried again.
    pub fn new(home: Home, config: Config) -> Result<Self, RunError> {
        allow_descriptors().map_err(RunError::Refused)?;
        home.make_run_dir().map_err(|error| RunError::Refused(error.to_string()))?;
        let dir = home.journal_dir(config.mode, config.account);
        let faults = Faults::of_home(home.dir());
        let owner = journal_owner(&config);
        let (fallback, clients) = (config.journal_fallback.clone(), config.auth.clients.len());
        let witness = Some(home.journal_witness(config.mode, config.account));
        let options = Options { fallback, witness, clients, faults: faults.clone(), owner };
        let (store, opened) = journal::open(&dir, &options).map_err(|error| match error {
            error if error.is_for_want_of_room() => RunError::Failed(error.to_string()),
            error @ OpenError::Locked { .. } => RunError::Held(error.told(config.mode.name())),
            error => RunError::Refused(error.told(config.mode.name())),
        })?;
        match home.kill_file().make_ready() {
            Ok(()) => {}
            // Made as soon as there is room: who starts on a full disk needs a guard most.
            Err(error) if matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => {}
            Err(error) => {
                let why = if error.kind() == ErrorKind::PermissionDenied {
                    denied(home.dir(), &error)
                } else {
                    error.to_string()
                };
                let folder = home.dir().display();
                return Err(RunError::Refused(format!("the kill file cannot be made ready in {folder}: {why}")));
            }
        }
        let listener = TcpListener::bind(config.listen);
        let listener = listener.map_err(|error| {
            RunError::Refused(format!(
                "{NO_ADDRESS} {}: {error}; --listen 127.0.0.1:PORT names another address for one start, before SVC_GUARD_LISTEN \
                 and the config, and `svc-guard config set listen 127.0.0.1:PORT` keeps it where neither is given",
                config.listen
            ))
        })?;
        let client = Client::with_faults(config.venue_url(), Timeouts::default(), faults.clone());
        let client = client.map_err(|error| RunError::Refused(error.to_string()))?;
        Ok(Self { home, config, store, opened, listener, client, faults })
    }

    /// Asks the venue whether `wallet` is an API wallet of the account or of its owner, and of which. Where earlier starts
    /// took more than half of the minute's weight, and the config names the wallet, the start goes on without: what is left
    /// is for what it must see, and the wallet is asked about later.
    ///
    /// # Errors
    /// [`NotTheAgent`].
    pub fn check_wallet(&self, wallet: Address) -> Result<Owner, NotTheAgent> {
        if self.config.api_wallet == Some(wallet) && SpentWeight::of(&self.home).is_over_half() {
            let text = "earlier starts took more than half of the minute's weight; it is asked about later";
            return Err(NotTheAgent::NoAnswer(text.to_owned()));
        }
        let is_named = self.config.api_wallet == Some(wallet);
        let is_known = is_named && (self.config.api_wallet_owner.is_some() || is_role_known(&self.opened));
        let client = Client::new(self.config.venue_url(), if is_known { CHECK_KNOWN } else { CHECK });
        let client = client.map_err(|error| NotTheAgent::NoAnswer(error.to_string()))?;
        let ask: api_wallet_check::Ask = &|question| client.info(question).map_err(|error| error.to_string());
        api_wallet_check::check_role_surely(ask, self.config.account, wallet)
    }

    /// The config it starts with.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }
}

/// The owner that a journal must name.
#[must_use]
pub fn journal_owner(config: &Config) -> Vec<(&'static str, String)> {
    vec![
        ("account", config.account.to_string()),
        ("mode", config.mode.name().to_owned()),
        ("account_network", config.account_network.name().to_owned()),
    ]
}

/// Raises the limit on descriptors: the HTTP workers' listener would not survive without any left.
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
