//! The owner's home: its paths and permissions, `guard.toml`, key files and the pairing code.
//!
//! Knows no thread and no venue call. A file that others on the machine could have planted (a symbolic link, a pipe, a
//! file of another owner) is refused here, before anything reads it.

mod account_mark;
mod address;
mod config;
mod container;
mod directory;
mod edit;
mod host_creds;
mod keys;
mod known_keys;
mod listen;
mod load;
mod pairing;
mod parse;
mod render;
mod taken;

pub use account_mark::AccountMark;
pub use address::parse_address;
pub use config::{Auth, Config, ConfigError, DEFAULT_LISTEN, Deployment, KeyStore, LoadedConfig, Watch};
pub use container::in_container;
pub use directory::{Home, HomeError, HomeLock, system_home};
pub use edit::{add_client, put_back, replace_api_wallet, set_api_wallet, set_value};
pub use host_creds::{CREDENTIAL, open_sealed, seal_for_host};
pub use keys::{
    KeyFileError, KeyReading, generate_key, read_key, read_key_file, write_key_file, write_sealed_key_file,
};
pub use listen::{likely_listen, parse_listen};
pub use load::load;
pub use pairing::{PAIRING_PREFIX, Pairing};
pub(crate) use pairing::{base_url, local_url};
pub use parse::{likely_usdc, parse_usdc};

#[cfg(test)]
mod tests;
