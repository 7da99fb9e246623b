//! The config of a home that is set up: read, or held under a lock while it is changed.

use std::fs;
use std::path::PathBuf;

use super::refusal::Refusal;
use crate::base::address::Address;
use crate::home::{Config, Home, HomeLock, LoadedConfig, add_client, load};

/// The config of a home that is set up.
pub(super) fn configured(home: &Home) -> Result<Config, Refusal> {
    match load(&home.config_file(), &home.trusted()).map_err(Refusal::Config)? {
        LoadedConfig::SetUp(config) => Ok(*config),
        LoadedConfig::NotSetUp(_) => Err(Refusal::NotSetUp(home.config_file())),
    }
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

    /// Lists a client in the config.
    pub(super) fn add_client(&self, client: Address) -> Result<(), Refusal> {
        add_client(&self.path, &self.text, client).map_err(Refusal::Config)
    }
}
