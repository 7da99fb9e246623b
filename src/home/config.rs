//! `guard.toml` as typed values.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use rust_decimal::Decimal;

use crate::base::address::Address;
use crate::base::files::FileError;
use crate::base::ip_share::IpShare;
use crate::base::mode::{Mode, Network};
use crate::base::named_enum;
use crate::base::origin::Origin;
use crate::rules::{Problems, Rules};

/// The listen address of a config that names none.
pub const DEFAULT_LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8547);

/// The venue's API (its documentation, "API").
const MAINNET_URL: &str = "https://api.hyperliquid.xyz";
/// The venue's test network API (its documentation, "API").
const TESTNET_URL: &str = "https://api.hyperliquid-testnet.xyz";

named_enum! {
    /// Where the API wallet's key is kept.
    KeyStore {
        /// In the home, readable by its owner only.
        File = "file",
        /// Encrypted for this host and handed to the service by the service manager.
        HostCreds = "host-creds",
    }
}

/// The whole of `guard.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// What the service does with what it allows.
    pub mode: Mode,
    /// The account guarded.
    pub account: Address,
    /// The network whose account is read.
    pub account_network: Network,
    /// Address of the API wallet that signs to the venue.
    pub api_wallet: Option<Address>,
    /// The address that approved it, as the venue said when it was checked: the account, or its master or leader.
    pub api_wallet_owner: Option<Address>,
    /// Where the service listens.
    pub listen: SocketAddr,
    /// Share of this machine's IP budget at the venue.
    pub ip_share: IpShare,
    /// Whether mainnet mode may start at all.
    pub allow_mainnet: bool,
    /// Why mainnet mode must not start, when the owner said so.
    pub refuse_mainnet: Option<String>,
    /// USDC beyond which equity does not enlarge any limit.
    pub equity_cap: Option<Decimal>,
    /// The owner's rules.
    pub rules: Rules,
    /// Where the API wallet's key is kept.
    pub key_store: KeyStore,
    /// Folder on another disk that takes the journal over when the home's fails.
    pub journal_fallback: Option<PathBuf>,
    /// Who may send requests.
    pub auth: Auth,
    /// Keys of the place of deployment.
    pub deployment: Deployment,
}

/// `[auth]`: who may send requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Auth {
    /// Addresses of the client keys accepted.
    pub clients: Vec<Address>,
    /// Whether a request signed for another network than the account's is refused.
    pub require_network: bool,
}

/// Keys that belong to the place of deployment and stand before any set-up: a `guard.toml` with nothing else is an empty
/// home.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deployment {
    /// `[venue] url`: another address than the network's own.
    pub venue_url: Option<Origin>,
    /// `[watch]`: how often the account is read.
    pub watch: Watch,
    /// `Host` names accepted besides loopback and the listen address.
    pub allowed_hosts: Vec<String>,
}

/// `[watch]`: how the account is seen. Intervals in milliseconds; `None` is what the IP share allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    /// Between two reads of the mids and marks. Range 50 to 10000.
    pub prices_ms: Option<u32>,
    /// Between two reads of the account. Range 50 to 10000.
    pub account_ms: Option<u32>,
    /// Between two reads of the open orders. Range 50 to 30000.
    pub open_orders_ms: Option<u32>,
}

impl Config {
    /// A config with nothing but what every one needs.
    #[must_use]
    pub fn new(mode: Mode, account: Address, rules: Rules, deployment: Deployment) -> Self {
        Self {
            mode,
            account,
            account_network: mode.default_network(),
            api_wallet: None,
            api_wallet_owner: None,
            listen: DEFAULT_LISTEN,
            ip_share: IpShare::WHOLE,
            allow_mainnet: false,
            refuse_mainnet: None,
            equity_cap: None,
            rules,
            key_store: KeyStore::File,
            journal_fallback: None,
            auth: Auth::default(),
            deployment,
        }
    }

    /// Base URL of the venue's API, without a slash at its end.
    #[must_use]
    pub fn venue_url(&self) -> &str {
        self.deployment.venue_url.as_ref().map_or(api_url(self.account_network), Origin::as_str)
    }
}

/// The venue's own address on a network.
fn api_url(network: Network) -> &'static str {
    match network {
        Network::Testnet => TESTNET_URL,
        Network::Mainnet => MAINNET_URL,
    }
}

/// The content of a `guard.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadedConfig {
    /// No set-up yet: no file, or one with the deployment's keys only.
    NotSetUp(Deployment),
    /// A set-up.
    SetUp(Box<Config>),
}

impl LoadedConfig {
    /// What stands there before any set-up, and stays over all of them.
    #[must_use]
    pub fn deployment(&self) -> &Deployment {
        match self {
            Self::NotSetUp(deployment) => deployment,
            Self::SetUp(config) => &config.deployment,
        }
    }

    /// The clients that are accepted.
    #[must_use]
    pub fn clients(&self) -> &[Address] {
        match self {
            Self::NotSetUp(_) => &[],
            Self::SetUp(config) => &config.auth.clients,
        }
    }
}

/// Why a config is refused.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is refused.
    #[error("{0}")]
    File(FileError),
    /// A change of it cannot be written.
    #[error("{0}; nothing is changed")]
    Unwritten(FileError),
    /// The file is not TOML (the parser's message and the line).
    #[error("{0} is not valid TOML: {1}")]
    Toml(PathBuf, String),
    /// These keys cannot stand.
    #[error("{0}: {1}")]
    Problems(PathBuf, Problems),
}
