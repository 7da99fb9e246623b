//! The config of a home that is set up: read, or held under a lock while it is changed.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;

use super::refusal::Refusal;
use crate::base::address::Address;
use crate::base::disk_fault::folder_in_the_way;
use crate::base::files::read_trusted;
use crate::base::kill_watch::KillWatch;
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

/// Where the service that runs on this home listens, as it left word; none where none runs, or that cannot be seen. The
/// config may have changed since its start, and a flag may have named another address.
pub(super) fn running(home: &Home) -> Option<SocketAddr> {
    is_running(home).then(|| left(home)).flatten()
}

/// Whether a service is seen to run on this home.
pub(super) fn is_running(home: &Home) -> bool {
    KillWatch::is_watched(&home.kill_file()) == Some(true)
}

/// Where the last service of this home said that it listens.
pub(super) fn left(home: &Home) -> Option<SocketAddr> {
    read_trusted(&home.address_file(), &home.trusted(), MAX_ADDRESS).ok()?.trim().parse().ok()
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
