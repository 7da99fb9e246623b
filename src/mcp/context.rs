//! The context of every tool call: the client of the guard, the client key, and the requirements that the guard must meet.
//!
//! Before each trade the guard is checked against those requirements anew: another one may listen there by now.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::guard_client::GuardClient;
use super::outcome::{Kind, Outcome, Retry, Rule};
use super::owner_rules::{OwnerRules, ReadRules};
use super::recent_actions::RecentActions;
use super::run_error::RunError;
use super::status::Status;
use crate::base::address::Address;
use crate::base::clock::now_ms;
use crate::base::key::SecretKey;
use crate::base::kill_file::KillFile;
use crate::base::mode::Mode;
use crate::base::sync::lock;
use crate::base::text::visible;
use crate::venue::market::{Market, Universe};

/// Requirements that the guard must meet, set by the person who starts this server.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct GuardRequirements {
    /// The mode it must run in.
    pub(super) network: Option<Mode>,
    /// The account it must guard; required on mainnet.
    pub(super) account: Option<Address>,
    /// Who signs the requests: never the guard's own API wallet, nor the account.
    pub(super) signer: Option<Address>,
}

impl GuardRequirements {
    /// Checks a guard.
    ///
    /// # Errors
    /// The requirement that is not met, in words.
    pub(super) fn check(&self, status: &Status) -> Result<(), String> {
        let (mode, account) = (status.mode(), status.account());
        if let Some(wanted) = self.network.filter(|wanted| *wanted != mode) {
            return Err(format!("the guard runs in {mode} mode, and --network asks for {wanted}"));
        }
        let own = [status.known().api_wallet, Some(account)];
        if let Some(signer) = self.signer.filter(|signer| own.contains(&Some(*signer))) {
            return Err(RunError::NoClientKey(signer).to_string());
        }
        match self.account {
            Some(wanted) if wanted != account => {
                Err(format!("the guard guards the account {account}, and --confirm-account names {wanted}"))
            }
            None if mode == Mode::Mainnet => Err(format!(
                "the guard runs in mainnet mode, which asks for --confirm-account with its account, {account}"
            )),
            _ => Ok(()),
        }
    }
}

/// The state that tool calls share.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) guard: GuardClient,
    /// `None` for a server that only reads.
    pub(super) key: Option<SecretKey>,
    pub(super) requirements: GuardRequirements,
    /// And whether a guard looks for it, as far as can be seen.
    pub(super) kill_file: Option<(KillFile, bool)>,
    /// The guard's home by the command line.
    home: Option<PathBuf>,
    read_rules: ReadRules,
    /// The kill file that the guard watches, by its last status, if it had any; none before the first one.
    watched: Mutex<Option<Option<String>>>,
    /// Trades in progress, by the agent's names for them.
    busy: Mutex<BTreeSet<String>>,
    last_nonce: AtomicU64,
    pub(super) recent: RecentActions,
    /// Ids of markets never change; new ones are read when asked for.
    universe: Mutex<Option<Arc<Universe>>>,
}

impl Context {
    pub(super) fn new(
        guard: GuardClient,
        key: Option<SecretKey>,
        requirements: GuardRequirements,
        kill_file: Option<(KillFile, bool)>,
        home: Option<PathBuf>,
        read_rules: ReadRules,
    ) -> Self {
        Self {
            guard,
            key,
            requirements,
            kill_file,
            home,
            read_rules,
            watched: Mutex::default(),
            busy: Mutex::default(),
            last_nonce: AtomicU64::new(0),
            recent: RecentActions::default(),
            universe: Mutex::default(),
        }
    }

    /// Remembers what is needed when the guard does not answer.
    pub(super) fn remember(&self, status: &Status) {
        *lock(&self.watched) = Some(status.kill_file().map(str::to_owned));
    }

    /// The kill file that the guard watches, where it said so.
    pub(super) fn watched_kill_file(&self) -> Option<String> {
        lock(&self.watched).clone().flatten()
    }

    /// Whether the guard has answered once.
    pub(super) fn has_seen_guard(&self) -> bool {
        lock(&self.watched).is_some()
    }

    /// The guard's home, by what it said or else by the command line; empty where nobody knows.
    pub(super) fn home(&self) -> String {
        let watched = self.watched_kill_file().map(PathBuf::from);
        let home = watched.as_deref().and_then(Path::parent).or(self.home.as_deref());
        home.and_then(Path::to_str).unwrap_or_default().to_owned()
    }

    /// The guard's status.
    ///
    /// # Errors
    /// `unavailable` where it does not answer.
    pub(super) fn status(&self) -> Result<Status, Outcome> {
        let status = self.guard.get("/guard/status").map_err(|error| Outcome::unreachable(&error))?;
        Status::read(status).ok_or_else(|| {
            let text = "Nothing was done: what answers at the guard's address is no guard of this version. A person must \
                        look at --guard-url.";
            Outcome::new(Kind::Unavailable, Retry::Later, text)
        })
    }

    /// The status of a guard that meets the requirements.
    ///
    /// # Errors
    /// As [`Context::status`], and where the guard does not meet the requirements.
    pub(super) fn admit(&self) -> Result<Status, Outcome> {
        let status = self.status()?;
        self.remember(&status);
        self.requirements.check(&status).map_err(|why| {
            let text = format!("Nothing was done: {why}. A person must set this server up anew.");
            Outcome::new(Kind::Unavailable, Retry::Never, text)
        })?;
        Ok(status)
    }

    /// The owner's rules, as the status has them; `None` where they cannot be read.
    pub(super) fn rules(&self, status: &Status) -> Option<OwnerRules> {
        (self.read_rules)(status.rules_code())
    }

    /// A market by its name, in any case of letters where that names one only.
    ///
    /// # Errors
    /// `invalid` where the venue lists none, `unavailable` where the list cannot be had.
    pub(super) fn market(&self, coin: &str) -> Result<Market, Outcome> {
        let kept = lock(&self.universe).clone();
        if let Some(market) = kept.as_deref().and_then(|universe| find(universe, coin)) {
            return Ok(market);
        }
        let universe = self.universe()?;
        find(&universe, coin).ok_or_else(|| {
            let rule = Rule { id: "market_unknown".to_owned(), limit: None, observed: Some(coin.to_owned()) };
            let text = format!("The venue lists no perpetual named {coin}. Nothing was sent; correct the name.");
            Outcome::invalid(rule, text)
        })
    }

    /// The markets as the venue lists them now.
    ///
    /// # Errors
    /// `unavailable` where the list cannot be had.
    pub(super) fn universe(&self) -> Result<Arc<Universe>, Outcome> {
        let meta = self.guard.info(&json!({"type": "meta"})).map_err(|error| Outcome::unreachable(&error))?;
        let universe = Universe::from_meta(&meta).map_err(|why| {
            let text = format!("Nothing was done: the list of markets cannot be read ({}).", visible(&why, 100));
            Outcome::new(Kind::Unavailable, Retry::Later, text)
        })?;
        let universe = Arc::new(universe);
        *lock(&self.universe) = Some(Arc::clone(&universe));
        Ok(universe)
    }

    /// The markets as they were last listed; read now if they never were.
    ///
    /// # Errors
    /// As [`Context::universe`].
    pub(super) fn known_universe(&self) -> Result<Arc<Universe>, Outcome> {
        let kept = lock(&self.universe).clone();
        kept.map_or_else(|| self.universe(), Ok)
    }

    /// The mids of all markets.
    ///
    /// # Errors
    /// `unavailable` where they cannot be had.
    pub(super) fn mids(&self) -> Result<Value, Outcome> {
        self.guard.info(&json!({"type": "allMids"})).map_err(|error| Outcome::unreachable(&error))
    }

    /// Marks a trade as in progress until the mark is dropped; `None` where it is already.
    pub(super) fn begin(&self, client_id: &str) -> Option<InProgress<'_>> {
        let is_new = lock(&self.busy).insert(client_id.to_owned());
        is_new.then(|| InProgress { context: self, client_id: client_id.to_owned() })
    }

    /// A nonce: the time, and above every other of this process.
    pub(super) fn nonce(&self) -> u64 {
        let now = now_ms();
        let next = |last: u64| now.max(last.saturating_add(1));
        let before = self.last_nonce.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |last| Some(next(last)));
        next(before.unwrap_or_default())
    }
}

/// The mark of a trade in progress.
#[derive(Debug)]
pub(super) struct InProgress<'a> {
    context: &'a Context,
    client_id: String,
}

impl Drop for InProgress<'_> {
    fn drop(&mut self) {
        lock(&self.context.busy).remove(&self.client_id);
    }
}

fn find(universe: &Universe, coin: &str) -> Option<Market> {
    let mut alike = universe.iter().filter(|market| market.coin.eq_ignore_ascii_case(coin));
    let only = match (alike.next(), alike.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    };
    universe.by_coin(coin).or(only).cloned()
}
