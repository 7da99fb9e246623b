//! `init`: sets a home up, by questions on a terminal or from its flags, and says what to do next.

mod ask;
mod flags;
mod report;
mod rules;

use crate::base::ip_share::IpShare;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::ValueEnum;
use rust_decimal::Decimal;

use super::set_up::{SetUp, Stored};
use super::terminal::Terminal;
use super::{Refusal, environment, rules_source, values};
use crate::base::address::Address;
use crate::base::key::SecretKey;
use crate::base::mode::{Mode, Network};
use crate::home::{
    Config, Deployment, Home, KeyStore, LoadedConfig, load, parse_address, parse_listen, parse_usdc, seal_for_host,
};
use crate::rules::Rules;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Ask on the terminal (the default)
    #[arg(long, conflicts_with = "non_interactive")]
    interactive: bool,
    /// Take every answer from the flags and the key from standard input
    #[arg(long)]
    non_interactive: bool,
    /// The rules: an sr1_ code, or @FILE with a TOML table [env: SVC_GUARD_RULES]
    #[arg(long, value_name = "sr1_...")]
    rules: Option<String>,
    /// The account guarded [env: SVC_GUARD_ACCOUNT]
    #[arg(long, value_name = "0x...", value_parser = parse_address)]
    account: Option<Address>,
    /// The mode [default: paper] [env: SVC_GUARD_NETWORK]
    #[arg(long, value_name = "MODE", value_parser = values::mode())]
    network: Option<Mode>,
    /// Paper mode: the network whose account is read [default: mainnet]
    #[arg(long, value_name = "NETWORK", value_parser = values::network())]
    account_network: Option<Network>,
    /// Mainnet: the account's address once more
    #[arg(long, value_name = "0x...", value_parser = parse_address)]
    confirm_mainnet: Option<Address>,
    /// USDC beyond which equity does not enlarge any limit
    #[arg(long, value_name = "USDC", value_parser = parse_usdc)]
    equity_cap: Option<Decimal>,
    /// Read the API wallet's key from standard input
    #[arg(long, conflicts_with = "no_key")]
    key_stdin: bool,
    /// Store no API wallet key
    #[arg(long)]
    no_key: bool,
    /// The listen address [default: 127.0.0.1:8547]
    #[arg(long, value_name = "L", value_parser = parse_listen)]
    listen: Option<SocketAddr>,
    /// Share of this machine's IP budget, 1/N for N services [default: 1] [env: SVC_GUARD_IP_SHARE]
    #[arg(long, value_name = "S", value_parser = values::ip_share)]
    ip_share: Option<IpShare>,
    /// Where the API wallet's key is kept
    #[arg(long, value_name = "STORE", value_enum, default_value_t = KeyStoreChoice::Auto)]
    key_store: KeyStoreChoice,
    /// Set up anew over an earlier set-up
    #[arg(long)]
    force: bool,
    /// Write the client key to a new file instead of showing it
    #[arg(long, value_name = "FILE")]
    client_key_out: Option<PathBuf>,
    /// Mainnet must not be set up or start here, and why
    #[arg(long, value_name = "REASON")]
    refuse_mainnet: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum KeyStoreChoice {
    /// Sealed for this host where systemd-creds works, else a file
    Auto,
    /// A file in the home, readable by its owner only
    File,
    /// Sealed for this host by systemd-creds
    HostCreds,
}

/// What flags and variables say; what they leave open is asked for, or has its default.
struct Given {
    rules: Option<Rules>,
    account: Option<Address>,
    network: Option<Mode>,
    account_network: Option<Network>,
    confirm_mainnet: Option<Address>,
    equity_cap: Option<Decimal>,
    key_stdin: bool,
    no_key: bool,
    key_store: KeyStoreChoice,
    listen: Option<SocketAddr>,
    ip_share: Option<IpShare>,
    client_key_out: Option<PathBuf>,
    refuse_mainnet: Option<String>,
}

/// What was settled.
struct Answers {
    config: Config,
    /// The API wallet's key, checked with the venue.
    api_wallet: Option<SecretKey>,
    /// File for the client key, which is shown otherwise.
    client_key_out: Option<PathBuf>,
}

pub(super) fn run(args: Args, home: &Home) -> Result<(), Refusal> {
    let terminal = if args.non_interactive { None } else { Some(terminal(&args)?) };
    let (force, key_store) = (args.force, args.key_store);
    let found = load(&home.config_file(), &home.trusted()).map_err(Refusal::Config)?;
    if matches!(found, LoadedConfig::SetUp(_)) && !force {
        return Err(Refusal::SetUpAlready(home.config_file()));
    }
    let mut given = Given::from(args)?;
    given.refuse_mainnet = given.refuse_mainnet.or_else(|| earlier_refusal(&found));
    let deployment = match &found {
        LoadedConfig::SetUp(config) => config.deployment.clone(),
        LoadedConfig::NotSetUp(deployment) => deployment.clone(),
    };
    let answers = match &terminal {
        Some(terminal) => ask::answers(terminal, given, deployment, home, &found)?,
        None => flags::answers(given, deployment, home)?,
    };
    let Answers { mut config, api_wallet, client_key_out } = answers;
    config.api_wallet = api_wallet.as_ref().map(SecretKey::address);
    let (stored, note) = api_wallet.map(|key| keep(key, key_store)).transpose()?.unzip();
    if let Some(stored) = &stored {
        config.key_store = stored.key_store();
    }
    let out = client_key_out.clone();
    let mut done = SetUp { home, config, found, stored, client_key_out, force }.run()?;
    done.notes.extend(note.flatten());
    report::report(home, &done, out)
}

/// The person to ask.
fn terminal(args: &Args) -> Result<Terminal, Refusal> {
    if args.key_stdin {
        return Err(Refusal::Flags(
            "--key-stdin goes with --non-interactive; on a terminal the key is asked for and not shown",
        ));
    }
    Terminal::open()?.ok_or(Refusal::Flags(
        "init asks on a terminal, and standard input or standard error is none; give the answers as flags with \
         --non-interactive",
    ))
}

/// Why an earlier set-up refused mainnet: setting up anew is no way around that.
fn earlier_refusal(found: &LoadedConfig) -> Option<String> {
    match found {
        LoadedConfig::SetUp(config) => config.refuse_mainnet.clone(),
        LoadedConfig::NotSetUp(_) => None,
    }
}

/// The form in which the key is kept, and a note where it is not the best one.
fn keep(key: SecretKey, choice: KeyStoreChoice) -> Result<(Stored, Option<String>), Refusal> {
    if choice == KeyStoreChoice::File {
        return Ok((Stored::File(key), None));
    }
    match seal_for_host(&key) {
        Ok(sealed) => Ok((Stored::HostCreds(sealed), None)),
        Err(why) if choice == KeyStoreChoice::HostCreds => Err(Refusal::NotSealed(why)),
        Err(why) => Ok((
            Stored::File(key),
            Some(format!("the API wallet's key is kept in a file, not sealed for this host: {why}")),
        )),
    }
}

impl Given {
    fn from(args: Args) -> Result<Self, Refusal> {
        let rules = environment::rules(args.rules)?;
        Ok(Self {
            rules: rules.as_deref().map(rules_source::read).transpose()?,
            account: environment::account(args.account)?,
            network: environment::network(args.network)?,
            account_network: args.account_network,
            confirm_mainnet: args.confirm_mainnet,
            equity_cap: args.equity_cap,
            key_stdin: args.key_stdin,
            no_key: args.no_key,
            key_store: args.key_store,
            listen: args.listen,
            ip_share: environment::ip_share(args.ip_share)?,
            client_key_out: args.client_key_out,
            refuse_mainnet: args.refuse_mainnet,
        })
    }

    /// Refuses flags that would have nothing to do in this mode, however the answers are given.
    fn idle(&self, mode: Mode) -> Result<(), Refusal> {
        let text = match mode {
            _ if self.key_store == KeyStoreChoice::HostCreds && (mode == Mode::Paper || self.no_key) => {
                "there is no API wallet key to keep, so --key-store host-creds has nothing to do; leave it out"
            }
            Mode::Paper | Mode::Testnet if self.confirm_mainnet.is_some() => {
                "--confirm-mainnet is for --network mainnet only; leave it out"
            }
            _ => return Ok(()),
        };
        Err(Refusal::Flags(text))
    }

    /// The config of these answers.
    fn config(&self, mode: Mode, account: Address, rules: Rules, deployment: Deployment) -> Config {
        let new = Config::new(mode, account, rules, deployment);
        Config {
            account_network: self.account_network.unwrap_or(new.account_network),
            listen: self.listen.unwrap_or(new.listen),
            ip_share: self.ip_share.unwrap_or(new.ip_share),
            // Set up for mainnet is allowed for mainnet: the gates stand before it.
            allow_mainnet: mode == Mode::Mainnet,
            refuse_mainnet: self.refuse_mainnet.clone(),
            equity_cap: self.equity_cap,
            key_store: KeyStore::File,
            ..new
        }
    }
}
