//! Why a command refuses: one reason, with the way out.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::kill_typed::Typed;
use super::kill_ways::{Runs, Ways, by_client, unheard, way_to_pull};
use super::mainnet_gap::MainnetGap;
use super::rules_place::Place;
use super::{here, kept_aside, reached, rule_offered};
use crate::base::address::Address;
use crate::base::files::FileError;
use crate::base::mode::Mode;
use crate::base::shell::{place, word};
use crate::base::text::{holds_key, without_keys};
use crate::home::{CREDENTIAL, ConfigError, HomeError, KeyFileError};
use crate::journal::{JournalError, OpenError};
use crate::mcp::UrlError;
use crate::rules::RulesError;
use crate::service::RunError;
use crate::service::api_wallet_check::NotTheAgent;
use crate::venue::client::SHARE_OF_MANY;

/// A refusal of a command.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    /// The home cannot be used.
    #[error("{}", here::whole(&.0.to_string()))]
    Home(HomeError),
    /// The path of the home, of its config or of a key's new file cannot be typed (the path, why, what names another).
    #[error(
        "the path {0} {1}, so no command that names it could be typed again; give the folder a name that can be typed (mv \
         moves it), or name another with {2}"
    )]
    NotText(String, &'static str, &'static str),
    /// A secret that is shown once would be shown to nobody (what it is).
    #[error(
        "standard output is closed, cannot be written or leads to /dev/null, so nobody would see {0}, which is shown once; nothing was done. Run \
         it on a terminal, or `svc-guard {1}` writes the key to a new file"
    )]
    Unseen(&'static str, &'static str),
    /// What was asked for would be seen by nobody.
    #[error("standard output cannot be written, so nobody would see the answer; send it to a file with > FILE")]
    Closed,
    /// Whoever read the answer has gone, and has what was wanted.
    #[error("whoever read standard output has gone")]
    ReaderGone,
    /// The config cannot be used.
    #[error("{0}")]
    Config(ConfigError),
    /// The rules cannot be used.
    #[error("{0}: {1}")]
    Rules(String, RulesError),
    /// What is given for rules is no code (what it is, where).
    #[error(
        "{name}: {0:?} is no code, which starts with sr1_; {way}", name = .1.name(), way = way_to_rules(.0, *.1)
    )]
    NoCode(String, Place),
    /// An @ with no file's name behind it (where).
    #[error(
        "{name}: no file is named behind the @; the one with your table of rules is given so: {way}, and @/dev/null is every default",
        name = .0.name(), way = .0.with("@my-rules.toml")
    )]
    NoFileNamed(Place),
    /// A file cannot be used.
    #[error("{0}")]
    File(FileError),
    /// There is no file with rules where one was named.
    #[error(
        "there is no file {0}; --rules @FILE and `svc-guard config set rules @FILE` take a table of rules as guard.toml(5) \
         lists them, and @/dev/null is every default"
    )]
    NoRulesFile(PathBuf),
    /// A journal cannot be started or read (why, its mode).
    #[error("{}", .0.told(.1.name()))]
    Journal(OpenError, Mode),
    /// Something was done, and the report of it could not be written (what, why).
    #[error("{0}; only the report of it is missing: {1}")]
    Untold(String, String),
    /// A journal cannot be written.
    #[error("nothing was written: {0}")]
    NotWritten(Arc<JournalError>),
    /// The account's equity could not be read (what happened).
    #[error("the account's equity could not be read: {0}; try again")]
    NoEquity(String),
    /// A key cannot be read.
    #[error("{0}")]
    Key(KeyFileError),
    /// The venue does not know the key as the account's API wallet.
    #[error("{0}")]
    Agent(NotTheAgent),
    /// Neither the venue nor the config knows the key (its address, what happened).
    #[error(
        "nobody says that {0} is the account's API wallet: the config names none, and the venue could not be asked: {1}; \
         try again, or record it with `svc-guard key check --key-stdin < FILE` when the venue answers"
    )]
    NotVouched(Address, String),
    /// The system refused (what was tried).
    #[error("cannot {0}: {1}")]
    Io(&'static str, io::Error),
    /// An environment variable's value cannot stand (its name, what it is, what is expected).
    #[error("the environment variable {0}: {1:?} {2}")]
    Variable(&'static str, String, String),
    /// There is no set-up yet, and what would make one was not given (the home).
    #[error(
        "{0} {what}: set it up with `svc-guard init`, or give --rules sr1_... (SVC_GUARD_RULES) and --account 0x... \
         (SVC_GUARD_ACCOUNT) to set paper mode up now; --home DIR names another home, or its place of today where it was moved",
        what = if .0.exists() { "is empty" } else { "does not exist" }
    )]
    Empty(PathBuf),
    /// The home holds no key for a mode that needs one (the file, the mode, the wallet where it is known).
    #[error(
        "{0} does not exist, and {1} needs the API wallet's key{of}: {aside}store it with `svc-guard key replace --key-stdin < FILE`, \
         or give it at this start with --key-stdin or --key-file FILE", of = of_wallet(*.2), aside = kept_aside::way_back(.0, *.2)
    )]
    NoKeyFile(PathBuf, Mode, Option<Address>),
    /// There is no set-up yet.
    #[error("{0} {why}; `svc-guard init` makes one, --home DIR names another home", why = no_set_up(.0))]
    NotSetUp(PathBuf),
    /// There is a set-up already (where, its mode).
    #[error(
        "{0} holds a set-up already; `svc-guard config set --help` tells how one value of it is changed{key}, and --force sets \
         up anew over it, with a new client key", key = of_key(*.1)
    )]
    SetUpAlready(PathBuf, Mode),
    /// Another command changed the config meanwhile.
    #[error(
        "{0} was changed by another command meanwhile, and nothing was set up; look at it with `svc-guard check-config`"
    )]
    ChangedMeanwhile(PathBuf),
    /// A file that the set-up would write stands there already.
    #[error("{0} stands there already; move it away, or --force keeps it aside under another name")]
    KeyStands(PathBuf),
    /// Flags are missing or do not fit each other; the text says which and what to do.
    #[error("{0}")]
    Flags(&'static str),
    /// The same where the text names what was given.
    #[error("{0}")]
    Given(String),
    /// A value cannot stand (the value, why).
    #[error("{0:?} {1}")]
    Value(String, String),
    /// A person wants to go to the question before. Never told: the questions take it.
    #[error("there is no question before this one")]
    Back,
    /// The command line cannot be read (what is wrong with it).
    #[error("{0}; --help shows what is allowed")]
    Usage(String),
    /// A key was typed on the command line (the flag).
    #[error("there is no {0}: {TYPED_KEY}")]
    KeyTyped(String),
    /// A name that does not exist, and its replacement.
    #[error("there is no `{0}`; use {1}")]
    NoSuchName(String, String),
    /// No mode is asked for, and the config's is not the default (which, what starts it).
    #[error("the config's mode is {0}, and without --network only paper mode starts; `{1}` starts it")]
    ModeNotNamed(Mode, String),
    /// The mode asked for is not the config's (asked, configured, the home, what starts it).
    #[error(
        "--network {0} (SVC_GUARD_NETWORK) is not the config's mode: {home} is set up for {1}, and `{3}` starts it; --home DIR \
         names another home, and `svc-guard --home DIR init --network {0}` sets one up",
        home = place(.2)
    )]
    OtherMode(Mode, Mode, PathBuf, String),
    /// The set-up has other rules than those given now.
    #[error(
        "{0} has other rules than --rules (SVC_GUARD_RULES) gives; leave them out, or change them with `svc-guard config \
         set rules CODE`"
    )]
    OtherRules(PathBuf),
    /// The set-up guards another account than the one given now (configured, given).
    #[error(
        "this home guards the account {0}, not {1} (--account, SVC_GUARD_ACCOUNT); each account needs its own home"
    )]
    OtherAccount(Address, Address),
    /// The key's address is not the configured API wallet's (found, configured, the home's own file where it is that one's).
    #[error(
        "the key {of_file}is that of {0}, but the config's api_wallet is {1}; give that one's key, or `svc-guard key replace --key-stdin < {file}` takes this one from now on",
        of_file = .2.as_ref().map_or_else(String::new, |file| format!("in {} ", place(file))),
        file = .2.as_ref().map_or_else(|| "FILE".to_owned(), word)
    )]
    OtherKey(Address, Address, Option<PathBuf>),
    /// The key is a client's, and was given as the API wallet's.
    #[error(
        "the key is that of {0}, a client of this home: a bot signs its requests to the guard with it. Never approve it at the \
         venue: the bot would trade past the guard then, and no rule would bind it. The API wallet is a key of its own, which no \
         bot has: approve a new one at the venue, and give that one's key in FILE: `svc-guard {command}`",
        command = here::with_key()
    )]
    ClientKey(Address),
    /// The key is the account's own.
    #[error(
        "the key is that of {0}, which the config names as the account itself; if {0} is your API wallet, the account is \
         another one: `svc-guard --home DIR init` sets another home up for the main account that approved it, and `svc-guard \
         init --force` this one anew; if it is the account, keep its key away from here, approve an API wallet at the venue, \
         which cannot withdraw, and store its key by `svc-guard key replace --key-stdin < FILE`"
    )]
    OwnKey(Address),
    /// Mainnet is not to be had (what does not happen, everything that is missing).
    #[error("{0}; missing: {gaps}", gaps = list(.1))]
    Mainnet(&'static str, Vec<MainnetGap>),
    /// The key cannot be sealed for this host (why).
    #[error("--key-store host-creds: {0}; --key-store file keeps the key in a file that only its owner can read")]
    NotSealed(String),
    /// The earlier key is sealed for this host, and the new one cannot be (why, the sealed key's file).
    #[error(
        "the key there is sealed for this host, and this one could not be: {0}; nothing is changed. As root `systemd-creds \
         encrypt --name={credential} FILE {sealed}` seals it, and then `svc-guard key replace --key-stdin --no-store < FILE` \
         records its address",
        credential = CREDENTIAL, sealed = word(.1)
    )]
    NotSealedAnew(String, PathBuf),
    /// The key is sealed, and cannot be opened here (the file, the mode, why).
    #[error(
        "the API wallet's key is sealed for this host and cannot be opened: {2}; root opens it with `systemd-creds decrypt \
         --name={credential} {file} - | svc-guard run --network {1} --key-stdin`",
        credential = CREDENTIAL, file = word(.0)
    )]
    Sealed(PathBuf, Mode, String),
    /// The kill switch could not be pulled (its file, why, the guards that may be meant).
    #[error(
        "the kill switch is NOT pulled: cannot write {file}: {1}; {way}", file = place(.0), way = way_to_pull(.0, .1, .2)
    )]
    NotPulled(PathBuf, io::Error, Ways),
    /// The disk of the kill file hangs (the file, the process that waits for it, where its guard answers).
    #[error(
        "the kill switch is NOT pulled: the disk of {home} does not answer. {file} is written as soon as it does: process {1} waits for that. {way}",
        home = place(.0.parent().unwrap_or(.0)), file = place(.0), way = by_client(.2.as_deref())
    )]
    DiskHangs(PathBuf, u32, Option<String>),
    /// A command line that was to pull the kill switch cannot be read (why, the kill that was typed).
    #[error(
        "the kill switch is NOT pulled by this: {0}. `svc-guard {kill}` pulls it{wait}", kill = .1.words(),
        wait = if .1.wait.is_some() { "" } else { "; with --wait SECONDS at its end it waits until all is closed" }
    )]
    KillNotRead(String, Typed),
    /// The same where it is not certain which guard's switch was meant (why it cannot be read, why it is not certain).
    #[error("the kill switch is NOT pulled by this: {0}; {unsure}", unsure = unsure(.1))]
    KillOfWhich(String, String),
    /// The kill switch is pulled, and no running guard looks at it (the file, that it is pulled, where one does run, what starts
    /// one that sends).
    #[error(
        "{1}, but no guard runs on this home: no running guard reads {file}, and nothing is closed by it now; it holds at the \
         next start. {way}", file = place(.0), way = unheard(.2, .3.as_deref())
    )]
    Unheard(PathBuf, String, Runs, Option<String>),
    /// The service is not healthy, or not there.
    #[error("{0}")]
    Unhealthy(String),
    /// The system chooses the guard's port at its start, and none is seen to run (its listen address).
    #[error(
        "where the guard answers is not known: its config says {0}, so {chosen}, and none is seen to run on this home; start \
         it, name it with --guard-url http://HOST:PORT, or {way}",
        chosen = reached::CHOSEN, way = reached::way_to_a_port(*.0)
    )]
    PortUnknown(SocketAddr),
    /// A guard's URL that the MCP server does not call (the URL, why).
    #[error("--guard-url {0:?} {1}")]
    GuardUrl(String, UrlError),
    /// The MCP server does not serve.
    #[error("{0}")]
    Mcp(crate::mcp::RunError),
    /// There is no file that says whom to tell.
    #[error("{0} does not exist; write it as notify.toml(5) shows{example}, or name another one with --file FILE", example = example(.0))]
    NoNotifyConfig(PathBuf),
    /// Whom to tell cannot be read (the file, all that is wrong).
    #[error("{0}: {1}")]
    NotifyConfig(PathBuf, String),
    /// The notifier does not run, or a target did not take a test.
    #[error("{0}")]
    Notify(crate::notify::RunError),
    /// The service ended with an error.
    #[error("{0}")]
    Run(RunError),
}

impl Refusal {
    /// Whether the service's log has it already.
    pub(super) fn is_logged(&self) -> bool {
        matches!(self, Self::Run(RunError::Failed(_)))
    }

    /// The exit status: 2, but for ill health, a kill that nobody heard, a change that could not be reported, a test message
    /// that was not taken, and a service that failed while running or a notifier whose disk takes nothing, which are 1.
    pub(super) fn exit_code(&self) -> u8 {
        match self {
            Self::Unhealthy(_)
            | Self::Unheard(..)
            | Self::DiskHangs(..)
            | Self::Untold(..)
            | Self::Run(RunError::Failed(_)) => 1,
            Self::Notify(error) if error.may_pass() => 1,
            _ => 2,
        }
    }
}

/// What was meant by rules that are no code: one rule with its value, or else a file.
fn way_to_rules(typed: &str, place: Place) -> String {
    let is_default = ["", "default", "defaults", "all", "none"].contains(&typed.trim().to_ascii_lowercase().as_str());
    if is_default {
        let one = if place == Place::Set {
            format!("; one rule is changed by {}", place.with("stop=1.5"))
        } else {
            String::new()
        };
        return format!(
            "every default is given as {}, a file with a table of rules as @FILE{one}",
            place.with("@/dev/null")
        );
    }
    match rule_offered::meant(typed).map(|change| (place, change)) {
        Some((Place::Set, change)) => {
            format!("one rule is changed with an = between it and its value: {}", place.with(&word(change)))
        }
        Some((_, change)) if !change.ends_with("=VALUE") => format!(
            "all rules are given there together; {} begins with every default, and then `svc-guard config set rules {}` \
             changes that one",
            place.with("@/dev/null"),
            word(change)
        ),
        _ => {
            let file = place.with(&format!("@{}", word(typed)));
            format!("a file with a table of rules is given with an @ before it: {file}")
        }
    }
}

/// How a file of targets is begun, where the package's example is there.
fn example(file: &Path) -> String {
    let example = Path::new(NOTIFY_EXAMPLE);
    if !example.is_file() {
        return String::new();
    }
    format!(", begin with the example by `cp {NOTIFY_EXAMPLE} {}`", word(file))
}

/// Targets to start from, of the package.
const NOTIFY_EXAMPLE: &str = "/usr/share/doc/svc-guard/examples/notify.toml";

/// What is wrong with a config that sets nothing up.
fn no_set_up(config: &Path) -> &'static str {
    match config.parent() {
        _ if config.exists() => "holds no set-up",
        Some(home) if home != Path::new("") && !home.exists() => {
            "does not exist, nor does its folder; where that was moved, --home names its place of today"
        }
        _ => "does not exist",
    }
}

/// The wallet that a key is of, where that is known.
fn of_wallet(wallet: Option<Address>) -> String {
    wallet.map_or_else(String::new, |wallet| format!(", that of {wallet}"))
}

/// How the key of a set-up is changed, where its mode has one.
fn of_key(mode: Mode) -> &'static str {
    if mode == Mode::Paper { "" } else { ", `svc-guard key replace --key-stdin < FILE` changes the key" }
}

/// Said of what may be a key, wherever it stands on the command line.
const TYPED_KEY: &str = "what is typed there stands in the shell's history and in the list of processes; if it was a key, approve a new API \
                         wallet at the venue in its place, and give that one's with --key-stdin < FILE";

/// A refusal of a command of these words: one with a key among them tells what that means, whatever it was refused for.
pub(super) fn told(refusal: &str, words: &[String]) -> String {
    // A home that is being set up has no share yet to be looked at and changed.
    let refusal = match words.first().map(String::as_str) {
        Some("init") => {
            refusal.replace(SHARE_OF_MANY, "it takes more in a minute, and --ip-share 1/2 sets up for a part of them")
        }
        _ => refusal.to_owned(),
    };
    match words.iter().find(|word| holds_key(word)) {
        Some(typed) if !refusal.contains(TYPED_KEY) => {
            format!("{refusal}; a key may stand in {}: {TYPED_KEY}", without_keys(typed))
        }
        _ => refusal,
    }
}

/// Asks which home is meant: a command that is proposed would act on one of them, perhaps the wrong one.
pub(super) fn unsure(why: &str) -> String {
    format!(
        "which home is meant is not certain: {why}; name it by --home DIR, and another config than its guard.toml by --config FILE, \
         right behind the program's name"
    )
}

/// All of them in one line.
fn list(gaps: &[MainnetGap]) -> String {
    gaps.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
