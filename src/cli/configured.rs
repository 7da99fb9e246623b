//! The config of a home that is set up: read, or held under a lock while it is changed.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::refusal::Refusal;
use crate::base::address::Address;
use crate::base::disk_fault::folder_in_the_way;
use crate::base::files::read_trusted;
use crate::home::{Config, Home, HomeError, HomeLock, LoadedConfig, add_client, load, put_back};

/// Longest file with an address.
const MAX_ADDRESS: u64 = 100;

/// What the config of a home holds.
pub(super) fn loaded(home: &Home) -> Result<LoadedConfig, Refusal> {
    let is_file = || home.dir().is_file();
    load(&home.config_file(), &home.trusted()).map_err(|error| match is_file() {
        true => Refusal::Home(HomeError::AFile(home.dir().to_owned())),
        false if home.named_config().is_none() && home.config_file().is_dir() => {
            Refusal::Given(folder_in_the_way(&home.config_file()))
        }
        false => Refusal::Config(error),
    })
}

/// The config of a home that is set up.
pub(super) fn configured(home: &Home) -> Result<Config, Refusal> {
    match loaded(home)? {
        LoadedConfig::SetUp(config) => Ok(*config),
        LoadedConfig::NotSetUp(_) => Err(Refusal::NotSetUp(home.config_file())),
    }
}

/// The word that the last service of this home left of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Left {
    /// Where it said that it listens.
    pub(super) address: SocketAddr,
    /// The number of its life, which its status tells too; a service before this version left none.
    pub(super) life: Option<String>,
}

/// What that says.
pub(super) fn left(home: &Home) -> Option<Left> {
    let text = read_trusted(&home.address_file(), &home.trusted(), MAX_ADDRESS).ok()?;
    let mut words = text.split_whitespace();
    Some(Left { address: words.next()?.parse().ok()?, life: words.next().map(str::to_owned) })
}

/// A config that no other command changes while this lives.
pub(super) struct LockedConfig {
    pub(super) config: Config,
    pub(super) path: PathBuf,
    pub(super) text: String,
    _lock: HomeLock,
}

impl LockedConfig {
    /// Locks the home and reads its config.
    pub(super) fn open(home: &Home) -> Result<Self, Refusal> {
        home.require_own().map_err(Refusal::Home)?;
        let lock = home.lock().map_err(Refusal::Home)?;
        let config = configured(home)?;
        let path = home.config_file();
        // The same file was read and judged just now, under the lock.
        let text = fs::read_to_string(&path).map_err(|error| Refusal::Io("read the config", error))?;
        Ok(Self { config, path, text, _lock: lock })
    }

    /// Takes a change back whose result could not be told, for this reason; where that fails, the refusal says so.
    pub(super) fn undone(&self, refusal: &Refusal) -> Refusal {
        match put_back(&self.path, &self.text) {
            Ok(()) => Refusal::Given(format!("{refusal}; nothing is changed")),
            Err(error) => {
                let done = format!("{} is changed, and could not be put back ({error})", self.path.display());
                Refusal::Untold(done, refusal.to_string())
            }
        }
    }

    /// Lists a client in the config.
    pub(super) fn add_client(&self, client: Address) -> Result<(), Refusal> {
        add_client(&self.path, &self.text, client).map_err(Refusal::Config)
    }
}
