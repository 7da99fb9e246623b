//! Reading `guard.toml` from disk.

use std::path::Path;

use super::config::{ConfigError, Deployment, LoadedConfig};
use super::parse::parse;
use crate::base::files::{FileError, Why, read_trusted};

/// Largest `guard.toml`: the longest rules code and the longest lists fit many times.
const MAX_CONFIG_LEN: u64 = 256 * 1024;

/// Reads a config of one of the trusted users. No file is an empty home.
///
/// # Errors
/// When the file is refused, is not TOML, or holds keys that cannot stand (all named at once).
pub fn load(path: &Path, trusted: &[u32]) -> Result<LoadedConfig, ConfigError> {
    match read_trusted(path, trusted, MAX_CONFIG_LEN) {
        Ok(text) => parse(&text).map_err(|error| error.at(path)),
        Err(FileError { why: Why::Missing, .. }) => Ok(LoadedConfig::NotSetUp(Deployment::default())),
        Err(error) => Err(ConfigError::File(error)),
    }
}
