//! The flags of a set-up, completed by variables and questions, and the answers they come to.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::ValueEnum;
use rust_decimal::Decimal;

use super::super::refusal::Refusal;
use super::super::{environment, values};
use crate::base::address::Address;
use crate::base::ip_share::IpShare;
use crate::base::key::SecretKey;
use crate::base::mode::{Mode, Network};
use crate::base::text::without_keys;
use crate::home::{Config, KeyStore, LoadedConfig, parse_address, parse_listen, parse_usdc};
use crate::rules::Rules;

#[derive(Clone, Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// Ask on the terminal (the default)
    #[arg(long, conflicts_with = "non_interactive")]
    pub(super) interactive: bool,
    /// Take every answer from the flags and the key from standard input
    #[arg(long)]
    pub(super) non_interactive: bool,
    /// The rules: an sr1_ code, or @FILE with a TOML table [env: SVC_GUARD_RULES]
    #[arg(long = "rules", value_name = "sr1_...")]
    rules_text: Option<String>,
    #[arg(skip)]
    pub(super) rules: Option<Rules>,
    /// The account guarded [env: SVC_GUARD_ACCOUNT]
    #[arg(long, value_name = "0x...", value_parser = parse_address)]
    pub(super) account: Option<Address>,
    /// The mode [default: paper] [env: SVC_GUARD_NETWORK]
    #[arg(long, value_name = "MODE", value_parser = values::mode())]
    pub(super) network: Option<Mode>,
    /// Paper mode: the network whose account is read [default: mainnet]
    #[arg(long, value_name = "NETWORK", value_parser = values::network())]
    pub(super) account_network: Option<Network>,
    /// Mainnet: the account's address once more
    #[arg(long, value_name = "0x...", value_parser = parse_address)]
    pub(super) confirm_mainnet: Option<Address>,
    /// USDC beyond which equity does not enlarge any limit
    #[arg(long, value_name = "USDC", value_parser = parse_usdc, allow_negative_numbers = true)]
    pub(super) equity_cap: Option<Decimal>,
    /// Read the API wallet's key from standard input
    #[arg(long, conflicts_with = "no_key")]
    pub(super) key_stdin: bool,
    /// Store no API wallet key
    #[arg(long)]
    pub(super) no_key: bool,
    /// The listen address [default: 127.0.0.1:8547]
    #[arg(long, value_name = "L", value_parser = parse_listen)]
    pub(super) listen: Option<SocketAddr>,
    /// Share of this machine's IP budget, 1/N for N services [default: 1] [env: SVC_GUARD_IP_SHARE]
    #[arg(long, value_name = "S", value_parser = values::ip_share)]
    pub(super) ip_share: Option<IpShare>,
    /// Where the API wallet's key is kept
    #[arg(long, value_name = "STORE", value_enum, default_value_t = KeyStoreChoice::Auto)]
    pub(super) key_store: KeyStoreChoice,
    /// Set up anew over an earlier set-up
    #[arg(long)]
    pub(super) force: bool,
    /// Write the client key to a new file instead of showing it
    #[arg(long, value_name = "FILE")]
    pub(super) client_key_out: Option<PathBuf>,
    /// Mainnet must not be set up or start here, and why
    #[arg(long, value_name = "REASON")]
    pub(super) refuse_mainnet: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum KeyStoreChoice {
    /// Sealed for this host where systemd-creds works, else a file
    Auto,
    /// A file in the home, readable by its owner only
    File,
    /// Sealed for this host by systemd-creds
    HostCreds,
}

/// Everything a set-up needs.
pub(super) struct Answers {
    pub(super) config: Config,
    /// The API wallet's key, checked with the venue.
    pub(super) api_wallet: Option<SecretKey>,
    /// File for the client key, which is shown otherwise.
    pub(super) client_key_out: Option<PathBuf>,
}

impl Args {
    /// With what the variables add, and the rules read; settings still open are asked for, or have their default.
    pub(super) fn completed(mut self) -> Result<Self, Refusal> {
        if self.refuse_mainnet.as_deref().is_some_and(|reason| without_keys(reason) != reason) {
            return Err(Refusal::Flags(
                "--refuse-mainnet holds over 40 hex digits, which may be a key, and is written into the config: leave them out; if it \
                 was a key, approve a new API wallet at the venue in its place",
            ));
        }
        self.rules = environment::rules(self.rules_text.take())?;
        self.account = environment::account(self.account)?;
        self.network = environment::network(self.network)?;
        self.ip_share = environment::ip_share(self.ip_share)?;
        Ok(self)
    }

    /// Refuses flags that would have nothing to do in this mode, however the answers are given.
    pub(super) fn idle(&self, mode: Mode) -> Result<(), Refusal> {
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

    /// The config of these answers, with what no answer changes as it was found. Where the journal goes on when its disk is full is
    /// kept for that journal alone: the files of two have the same names.
    pub(super) fn config(&self, mode: Mode, account: Address, rules: Rules, found: &LoadedConfig) -> Config {
        let new = Config::new(mode, account, rules, found.deployment().clone());
        let mut config = Config {
            account_network: self.account_network.unwrap_or(new.account_network),
            listen: self.listen.unwrap_or(new.listen),
            ip_share: self.ip_share.unwrap_or(new.ip_share),
            // Set up for mainnet is allowed for mainnet: the gates stand before it.
            allow_mainnet: mode == Mode::Mainnet,
            refuse_mainnet: self.refuse_mainnet.clone(),
            equity_cap: self.equity_cap,
            key_store: KeyStore::File,
            ..new
        };
        if let LoadedConfig::SetUp(earlier) = found {
            config.auth.require_network = earlier.auth.require_network;
            let owner = |config: &Config| (config.mode, config.account, config.account_network);
            if owner(earlier) == owner(&config) {
                config.journal_fallback.clone_from(&earlier.journal_fallback);
            }
        }
        config
    }
}
