//! `run`: reads the flags, decides whether the service may start, takes the key in, and starts it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use nix::unistd::Uid;

use super::configured::loaded;
use super::output::{say, warn};
use super::refusal::Refusal;
use super::set_up::SetUp;
use super::{environment, key_stdin, kill_disk, mainnet, running_here, start, unread_key, values, waiting, wallet};
use crate::base::address::Address;
use crate::base::files::{FileError, Why};
use crate::base::ip_share::IpShare;
use crate::base::key::SecretKey;
use crate::base::mode::Mode;
use crate::home::{
    AccountMark, Config, Deployment, Home, KeyFileError, KeyReading, KeyStore, LoadedConfig, in_container, open_sealed,
    parse_address, parse_listen, read_key_file,
};
use crate::rules::Rules;
use crate::service::api_wallet_check::NotTheAgent;
use crate::service::{ApiWallet, Level, NO_ADDRESS, PreflightedService, RunError};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The mode, which must be the config's [default: paper] [env: SVC_GUARD_NETWORK]
    #[arg(long, value_name = "MODE", value_parser = values::mode())]
    network: Option<Mode>,
    /// The listen address [default: the config's] [env: SVC_GUARD_LISTEN]
    #[arg(long, value_name = "L", value_parser = parse_listen)]
    listen: Option<SocketAddr>,
    /// Share of this machine's IP budget, 1/N for N services [default: the config's] [env: SVC_GUARD_IP_SHARE]
    #[arg(long, value_name = "S", value_parser = values::ip_share)]
    ip_share: Option<IpShare>,
    /// Read the API wallet's key from standard input
    #[arg(long, conflicts_with = "key_file")]
    key_stdin: bool,
    /// Testnet: file with the API wallet's key [env: SVC_GUARD_KEY_FILE]
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// The service runs in a container [env: SVC_GUARD_CONTAINER]
    #[arg(long)]
    container: bool,
    /// Empty home: the rules to set paper mode up with [env: SVC_GUARD_RULES]
    #[arg(long = "rules", value_name = "sr1_...")]
    rules_text: Option<String>,
    #[arg(skip)]
    rules: Option<Rules>,
    /// Empty home: the account to set paper mode up with [env: SVC_GUARD_ACCOUNT]
    #[arg(long, value_name = "0x...", value_parser = parse_address)]
    account: Option<Address>,
    /// Log everything, allowed requests and sends too
    #[arg(long, short, conflicts_with = "quiet")]
    verbose: bool,
    /// Log warnings and errors only
    #[arg(long, short)]
    quiet: bool,
}

impl Args {
    /// With what the variables add, and the rules read.
    fn completed(mut self) -> Result<Self, Refusal> {
        self.rules = environment::rules(self.rules_text.take())?;
        self.network = environment::network(self.network)?;
        self.listen = environment::listen(self.listen)?;
        self.ip_share = environment::ip_share(self.ip_share)?;
        // A key named by flag is meant; the variable is for where none is.
        self.key_file = if self.key_stdin { None } else { environment::key_file(self.key_file) };
        self.container = in_container(environment::container(self.container)?, Path::new("/"));
        self.account = environment::account(self.account)?;
        Ok(self)
    }
}

pub(super) fn run(args: Args, home: &Home) -> Result<(), Refusal> {
    let most = match (args.verbose, args.quiet) {
        (true, _) => Level::Detail,
        (_, true) => Level::Warning,
        _ => Level::Info,
    };
    let args = args.completed()?;
    let mut warnings = Vec::new();
    let mut config = config(&args, home, &mut warnings)?;
    home.require_own().map_err(Refusal::Home)?;
    match args.network {
        None if config.mode != Mode::Paper => {
            return Err(Refusal::ModeNotNamed(config.mode, start::command(home, &config)));
        }
        Some(network) if network != config.mode => {
            let start = start::command(home, &config);
            return Err(Refusal::OtherMode(network, config.mode, home.dir().to_owned(), start));
        }
        _ => {}
    }
    config.listen = args.listen.unwrap_or(config.listen);
    config.ip_share = args.ip_share.unwrap_or(config.ip_share);
    if !config.listen.ip().is_loopback() {
        warnings.push(format!("listening on {}, which other machines may reach", config.listen));
    }
    if Uid::effective().is_root() && !args.container {
        warnings.push(
            "running as root, which a guard has no need of; give it a user of its own, as its package does".to_owned(),
        );
    }
    if config.mode == Mode::Mainnet {
        mainnet::check(&config, home, args.key_stdin)?;
    }
    // A key on standard input is gone once read: what can be refused without it is refused before. A file can be read
    // again, and one that is refused leaves nothing behind when it comes first.
    let from_file = if args.key_stdin { None } else { api_wallet(&args, &config, home, &mut warnings)? };
    let refused = |error| with_the_kill(home, Refusal::Run(error));
    let prepared = PreflightedService::new(home.clone(), config).map_err(|error| match error {
        RunError::Refused(why) if why.starts_with(NO_ADDRESS) => {
            let whose =
                running_here::told(home).map_or_else(|| kill_disk::beside(home, "health"), |told| format!("; {told}"));
            refused(RunError::Refused(format!("{why}{whose}")))
        }
        RunError::Refused(why) => {
            let whose = running_here::told(home).map_or_else(String::new, |told| format!("; {told}"));
            refused(RunError::Refused(format!("{why}{whose}")))
        }
        error => refused(error),
    })?;
    running_here::refuse_beside(home)?;
    // Held until the service ends. What paper sends goes nowhere.
    let mark = (prepared.config().mode != Mode::Paper).then(|| AccountMark::take(prepared.config()));
    if mark.as_ref().is_some_and(AccountMark::is_taken) {
        warnings.push(format!(
            "a guard runs on this machine that guards {} at this venue already, on another home: two guards of one account work against \
             each other; the list of this machine's processes shows both",
            prepared.config().account
        ));
    }
    let key = if args.key_stdin { api_wallet(&args, prepared.config(), home, &mut warnings)? } else { from_file };
    let api_wallet = key.map(|key| known_to_the_venue(key, &prepared, &mut warnings)).transpose()?;
    warnings.iter().for_each(|warning| warn(warning));
    prepared.run(api_wallet, most, &environment::service_manager()).map_err(refused)
}

/// A start that is refused, with the pulled kill switch that waits for it: what is open stays open meanwhile.
fn with_the_kill(home: &Home, refusal: Refusal) -> Refusal {
    let kill = home.kill_file();
    // Where another guard runs on it, that one closes.
    if refusal.is_logged() || matches!(refusal, Refusal::Run(RunError::Held(_))) || !kill.is_pulled().unwrap_or(false) {
        return refusal;
    }
    Refusal::Given(format!(
        "{refusal}. The kill switch of this home is pulled ({}), and nothing is closed before a guard runs on it: what cannot \
         wait is closed at the venue's own page",
        kill.reason()
    ))
}

/// The home's config; an empty home is set up for paper mode first where the rules and the account are given.
fn config(args: &Args, home: &Home, warnings: &mut Vec<String>) -> Result<Config, Refusal> {
    match loaded(home)? {
        LoadedConfig::SetUp(config) => {
            if args.rules.as_ref().is_some_and(|rules| *rules != config.rules) {
                return Err(Refusal::OtherRules(home.config_file()));
            }
            match args.account.filter(|account| *account != config.account) {
                Some(account) => Err(Refusal::OtherAccount(config.account, account)),
                None => Ok(*config),
            }
        }
        LoadedConfig::NotSetUp(deployment) => set_up(args, home, deployment, warnings),
    }
}

fn set_up(args: &Args, home: &Home, deployment: Deployment, warnings: &mut Vec<String>) -> Result<Config, Refusal> {
    if matches!(args.network, Some(Mode::Testnet | Mode::Mainnet)) {
        return Err(Refusal::NotSetUp(home.config_file()));
    }
    let (Some(rules), Some(account)) = (args.rules.clone(), args.account) else {
        return Err(Refusal::Empty(home.dir().to_owned()));
    };
    let client_key = home.client_key_file();
    let found = LoadedConfig::NotSetUp(deployment.clone());
    let config = Config::new(Mode::Paper, account, rules, deployment);
    let out = Some(client_key.clone());
    let set_up = SetUp { home, config, found, stored: None, client_key_out: out, force: false };
    set_up.run(|done| {
        warnings.extend(done.notes.iter().cloned());
        say(&format!("set up for paper; the client key of {} is in {}", done.client.address(), client_key.display()));
        Ok(())
    })
}

/// The API wallet's key, from where it was said to be. Paper mode reads none.
fn api_wallet(
    args: &Args,
    config: &Config,
    home: &Home,
    warnings: &mut Vec<String>,
) -> Result<Option<SecretKey>, Refusal> {
    if config.mode == Mode::Paper {
        if args.key_stdin || args.key_file.is_some() {
            warnings.push("paper mode reads no key; the one given is left unread".to_owned());
        }
        return Ok(None);
    }
    let key = if args.key_stdin {
        waiting::with_progress("the API wallet's key on standard input", key_stdin::read)?
    } else if args.key_file.is_none() && config.key_store == KeyStore::HostCreds {
        let sealed = home.sealed_key_file();
        open_sealed(&sealed).map_err(|why| Refusal::Sealed(sealed, config.mode, why))?
    } else {
        let path = args.key_file.clone().unwrap_or_else(|| home.key_file());
        let KeyReading { key, warning } = read_key_file(&path, args.container).map_err(|error| match error {
            KeyFileError::File(FileError { path, why: Why::Missing }) if args.key_file.is_none() => {
                Refusal::NoKeyFile(path, config.mode, config.api_wallet)
            }
            error => unread_key::refusal(error, args.key_file.is_some(), home),
        })?;
        warnings.extend(warning);
        key
    };
    if key.address() == config.account {
        return Err(Refusal::OwnKey(config.account));
    }
    wallet::check_no_client(&config.auth.clients, key.address())?;
    match config.api_wallet {
        Some(configured) if configured != key.address() => {
            let is_stored = !args.key_stdin && args.key_file.is_none() && config.key_store == KeyStore::File;
            Err(Refusal::OtherKey(key.address(), configured, is_stored.then(|| home.key_file())))
        }
        _ => Ok(Some(key)),
    }
}

/// The key, when the venue knows it as the account's API wallet. A venue that does not answer must not keep a guard from
/// coming back to the positions it guards: then the config's word counts, and the service goes on asking.
fn known_to_the_venue(
    key: SecretKey,
    prepared: &PreflightedService,
    warnings: &mut Vec<String>,
) -> Result<ApiWallet, Refusal> {
    let (wallet, config) = (key.address(), prepared.config());
    let venue = format!("the venue at {}", config.venue_url());
    match waiting::with_progress(&venue, || prepared.check_wallet(wallet)) {
        Ok(owner) => {
            warnings.extend(owner.doubt(config.account, wallet));
            Ok(ApiWallet { key, master: Some(owner.master) })
        }
        Err(NotTheAgent::NoAnswer(what)) if config.api_wallet == Some(wallet) => {
            warnings.push(format!(
                "the venue could not be asked about the API wallet {wallet}, which the config names: {what}"
            ));
            Ok(ApiWallet { key, master: None })
        }
        Err(NotTheAgent::NoAnswer(what)) => Err(Refusal::NotVouched(wallet, what)),
        Err(refused) => Err(Refusal::Given(format!(
            "{}; the key of one that is takes its place by `svc-guard key replace --key-stdin < FILE`",
            Refusal::Agent(refused)
        ))),
    }
}
