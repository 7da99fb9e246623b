//! What a service is started with, after the command line has judged it.

use std::fmt;

use crate::home::{Config, Home};
use crate::venue::signing::SecretKey;

/// Everything a service needs to start.
#[derive(Debug)]
pub struct Plan {
    /// The home: journals, kill file, `run/`.
    pub home: Home,
    /// The config, with what the command line overrode (listen address, IP share) in place.
    pub config: Config,
    /// The API wallet's key; none in paper mode.
    pub api_wallet: Option<SecretKey>,
    /// Whether the service runs in a container.
    pub container: bool,
    /// What the person was warned about at start.
    pub warnings: Vec<String>,
}

/// Why a service did not run to its end.
#[derive(Debug)]
pub enum RunError {
    /// It did not start; exit status 2, and no supervisor should try again.
    Refused(String),
    /// It failed while running; exit status 1, to be started again into recovery.
    Failed(String),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(reason) | Self::Failed(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for RunError {}
