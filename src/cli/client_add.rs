//! `client add`: a new client key in a new file, never shown.

use std::fs;
use std::path::PathBuf;

use super::{Refusal, configured, print};
use crate::base::address::Address;
use crate::home::{Config, Home, HomeLock, add_client, generate_key, write_key_file};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// New file for the key, readable by its owner only
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub(super) fn run(args: &Args, home: &Home) -> Result<(), Refusal> {
    let opened = open(home)?;
    let key = generate_key().map_err(|error| Refusal::Io("make a key", error))?;
    write_key_file(&args.out, &key).map_err(Refusal::File)?;
    if let Err(refusal) = opened.add(key.address()) {
        // A key that no guard accepts is of no use; what was refused leaves nothing behind.
        _ = fs::remove_file(&args.out);
        return Err(refusal);
    }
    print(&format!(
        "client key      in {}\nclient address  {}\nA running service accepts it after a restart.\n",
        args.out.display(),
        key.address(),
    ))
}

/// A set-up held for the time in which it is changed.
pub(super) struct Opened {
    pub(super) config: Config,
    pub(super) path: PathBuf,
    pub(super) text: String,
    _lock: HomeLock,
}

/// Takes hold of the home's set-up.
pub(super) fn open(home: &Home) -> Result<Opened, Refusal> {
    home.require_own().map_err(Refusal::Home)?;
    let lock = home.lock().map_err(Refusal::Home)?;
    let config = configured(home)?;
    let path = home.config_file();
    // The same file was read and judged just now, under the lock.
    let text = fs::read_to_string(&path).map_err(|error| Refusal::Io("read the config", error))?;
    Ok(Opened { config, path, text, _lock: lock })
}

impl Opened {
    /// Lists a client in the config.
    pub(super) fn add(&self, client: Address) -> Result<(), Refusal> {
        add_client(&self.path, &self.text, client).map_err(Refusal::Config)
    }
}
