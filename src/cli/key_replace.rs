//! `key replace`: another API wallet's key in the place of the one that ended or was lost. Clients, rules and journals stay.

use super::configured::LockedConfig;
use super::output::{report, say};
use super::refusal::Refusal;
use super::set_up::{Stored, replace_key};
use super::{key_stdin, wallet};
use crate::base::mode::Mode;
use crate::home::{Home, KeyStore, replace_api_wallet, seal_for_host};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Read the key from standard input
    #[arg(long, required = true)]
    key_stdin: bool,
    /// Record its address only, and store no key
    #[arg(long)]
    no_store: bool,
}

pub(super) fn run(args: &Args, home: &Home) -> Result<(), Refusal> {
    let locked = LockedConfig::open(home)?;
    let config = &locked.config;
    if config.mode == Mode::Paper {
        return Err(Refusal::Flags(
            "paper mode uses no API wallet key; `svc-guard --home DIR init` sets another home up for testnet or mainnet",
        ));
    }
    let key = key_stdin::read()?;
    let address = key.address();
    let owner = wallet::check(config, address)?;
    let record = || replace_api_wallet(&locked.path, &locked.text, address, owner).map_err(Refusal::Config);
    let before = config.api_wallet.filter(|before| *before != address);
    let place = if args.no_store {
        record()?;
        "its key is stored nowhere".to_owned()
    } else {
        let stored = match config.key_store {
            KeyStore::File => Stored::File(key),
            KeyStore::HostCreds => Stored::HostCreds(seal_for_host(&key).map_err(Refusal::NotSealed)?),
        };
        let (path, notes) = replace_key(home, &stored, record)?;
        notes.iter().for_each(|note| say(note));
        format!("its key in {}", path.display())
    };
    let earlier = before.map_or_else(String::new, |before| {
        format!("The earlier one, {before}, is used no more: take its approval back at the venue.\n")
    });
    let done = format!("The API wallet is {address} from now on, {place}");
    report(&format!("{done}\n{earlier}A running service takes it at its next start.\n"), &done)
}
