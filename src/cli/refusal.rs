//! Why a command refuses: one reason, with the way out.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::mainnet::Gap;
use crate::base::address::Address;
use crate::base::files::FileError;
use crate::home::{CREDENTIAL, ConfigError, HomeError, KeyFileError, Mode};
use crate::journal::{JournalError, OpenError};
use crate::mcp::UrlError;
use crate::rules::RulesError;
use crate::service::RunError;
use crate::service::api_wallet_check::NotTheAgent;

/// A refusal of a command.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The home cannot be used.
    Home(HomeError),
    /// The config cannot be used.
    Config(ConfigError),
    /// The rules cannot be used.
    Rules(RulesError),
    /// A file cannot be used.
    File(FileError),
    /// A journal cannot be started or read.
    Journal(OpenError),
    /// A journal cannot be written.
    NotWritten(Arc<JournalError>),
    /// The venue did not say what the account is worth (what happened).
    NoEquity(String),
    /// A key cannot be read.
    Key(KeyFileError),
    /// The venue does not know the key as the account's API wallet.
    Agent(NotTheAgent),
    /// Neither the venue nor the config knows the key (its address, what happened).
    NotVouched(Address, String),
    /// The system refused (what was tried).
    Io(&'static str, io::Error),
    /// An environment variable's value cannot stand (its name, what is expected).
    Variable(&'static str, String),
    /// There is no set-up yet.
    NotSetUp(PathBuf),
    /// There is a set-up already.
    SetUpAlready(PathBuf),
    /// A file that the set-up would write stands there already.
    KeyStands(PathBuf),
    /// Flags are missing or do not fit each other; the text says which and what to do.
    Flags(&'static str),
    /// The command line cannot be read (what is wrong with it).
    Usage(String),
    /// A name that does not exist, and its replacement.
    NoSuchName(String, &'static str),
    /// The mode asked for is not the config's (asked, configured).
    OtherMode(Option<Mode>, Mode),
    /// The set-up has other rules than those given now.
    OtherRules(PathBuf),
    /// The set-up guards another account than the one given now (configured, given).
    OtherAccount(Address, Address),
    /// The key's address is not the configured API wallet's (found, configured).
    OtherKey(Address, Address),
    /// The key is the account's own.
    OwnKey(Address),
    /// Mainnet is not to be had (what does not happen, everything that is missing).
    Mainnet(&'static str, Vec<Gap>),
    /// The key cannot be sealed for this host (why).
    NotSealed(String),
    /// The key is sealed, and cannot be opened here (the file, the mode, why).
    Sealed(PathBuf, Mode, String),
    /// The kill switch could not be pulled.
    NotPulled(PathBuf, io::Error),
    /// The service is not healthy, or not there.
    Unhealthy(String),
    /// A guard's URL that the MCP server does not call (the URL, why).
    GuardUrl(String, UrlError),
    /// The MCP server does not serve.
    Mcp(crate::mcp::RunError),
    /// The service ended with an error.
    Run(RunError),
}

impl Refusal {
    /// Whether the service's log was told of it.
    pub(super) fn is_logged(&self) -> bool {
        matches!(self, Self::Run(RunError::Failed(_)))
    }

    /// The exit status: 2, but for ill health and for a service that failed while running, which are 1.
    pub(super) fn exit_code(&self) -> u8 {
        match self {
            Self::Unhealthy(_) | Self::Run(RunError::Failed(_)) => 1,
            _ => 2,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Home(error) => error.fmt(f),
            Self::Config(error) => error.fmt(f),
            Self::Rules(error) => write!(f, "--rules: {error}"),
            Self::File(error) => error.fmt(f),
            Self::Journal(error) => error.fmt(f),
            Self::NotWritten(error) => write!(f, "nothing was written: {error}"),
            Self::NoEquity(what) => write!(f, "the account's equity could not be read: {what}; try again"),
            Self::Key(error) => error.fmt(f),
            Self::Agent(error) => error.fmt(f),
            Self::NotVouched(wallet, what) => write!(
                f,
                "nobody says that {wallet} is the account's API wallet: the config names none, and the venue could not be \
                 asked: {what}; try again, or record it with `svc-guard key check` when the venue answers"
            ),
            Self::Io(what, error) => write!(f, "cannot {what}: {error}"),
            Self::Variable(name, expected) => write!(f, "the environment variable {name} {expected}"),
            Self::NotSetUp(path) => {
                write!(
                    f,
                    "{} holds no set-up; `svc-guard init` makes one, --home DIR names another home",
                    path.display()
                )
            }
            Self::SetUpAlready(path) => {
                write!(f, "{} holds a set-up already; --force sets up anew over it", path.display())
            }
            Self::KeyStands(path) => write!(
                f,
                "{} stands there already; move it away, or --force keeps it aside under another name",
                path.display()
            ),
            Self::Flags(text) => f.write_str(text),
            Self::Usage(text) => write!(f, "{text}; --help shows what is allowed"),
            Self::NoSuchName(name, instead) => write!(f, "there is no `{name}`; use {instead}"),
            Self::OtherMode(asked, configured) => other_mode(f, *asked, *configured),
            Self::OtherRules(path) => write!(
                f,
                "{} has other rules than --rules (SVC_GUARD_RULES) gives; leave them out, or set up anew with `svc-guard \
                 init --force`",
                path.display()
            ),
            Self::OtherAccount(configured, given) => write!(
                f,
                "this home guards the account {configured}, not {given} (--account, SVC_GUARD_ACCOUNT); each account needs \
                 its own home"
            ),
            Self::OtherKey(found, configured) => {
                write!(f, "the key is that of {found}, but the config's api_wallet is {configured}; give the right key")
            }
            Self::OwnKey(account) => write!(
                f,
                "the key is the account's own ({account}); the guard takes an API wallet's key only, which cannot withdraw"
            ),
            Self::NotSealed(why) => write!(
                f,
                "--key-store host-creds: {why}; --key-store file keeps the key in a file that only its owner can read"
            ),
            Self::Sealed(path, mode, why) => write!(
                f,
                "the API wallet's key is sealed for this host and cannot be opened: {why}; root opens it with \
                 `systemd-creds decrypt --name={CREDENTIAL} {path} - | svc-guard run --network {mode} --key-stdin`",
                path = path.display()
            ),
            Self::Mainnet(what, gaps) => {
                write!(f, "{what}; missing: ")?;
                gaps.iter()
                    .enumerate()
                    .try_for_each(|(place, gap)| write!(f, "{}{gap}", if place == 0 { "" } else { "; " }))
            }
            Self::NotPulled(path, error) => {
                write!(f, "the kill switch is NOT pulled: cannot write {}: {error}", path.display())
            }
            Self::Unhealthy(problem) => f.write_str(problem),
            Self::GuardUrl(url, error) => write!(f, "--guard-url {url:?} {error}"),
            Self::Mcp(error) => error.fmt(f),
            Self::Run(error) => error.fmt(f),
        }
    }
}

fn other_mode(f: &mut fmt::Formatter<'_>, asked: Option<Mode>, configured: Mode) -> fmt::Result {
    match asked {
        None => write!(
            f,
            "the config's mode is {configured}, and without --network only paper mode starts; add --network {configured}"
        ),
        Some(asked) => write!(
            f,
            "--network {asked} (SVC_GUARD_NETWORK) is not the config's mode, {configured}; set up anew with `svc-guard init` \
             to change it"
        ),
    }
}
