//! `key replace`: another API wallet's key in the place of the one that ended or was lost, kept as that one was kept. Clients,
//! rules and journals stay.

use super::configured::LockedConfig;
use super::output::{report, say};
use super::refusal::Refusal;
use super::set_up::{Stored, replace_by_none, replace_key};
use super::start::{self, KeyPlace};
use super::{key_stdin, wallet};
use crate::base::address::Address;
use crate::base::kill_watch::KillWatch;
use crate::base::mode::Mode;
use crate::base::shell::word;
use crate::home::{CREDENTIAL, Config, Home, replace_api_wallet, seal_for_host};

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
    let owner = wallet::check_for_home(config, address)?;
    let record = || replace_api_wallet(&locked.path, &locked.text, address, owner).map_err(Refusal::Config);
    let before = config.api_wallet.filter(|before| *before != address);
    let kept = if args.no_store { KeyPlace::Nowhere } else { KeyPlace::of(home, config) };
    let stored = match kept {
        KeyPlace::Sealed => {
            let sealed = seal_for_host(&key);
            Some(Stored::HostCreds(sealed.map_err(|why| Refusal::NotSealedAnew(why, home.sealed_key_file()))?))
        }
        // No start on mainnet reads a file: where none stands already, none is left lying open.
        KeyPlace::Nowhere if args.no_store || config.mode == Mode::Mainnet => None,
        KeyPlace::Nowhere | KeyPlace::File => Some(Stored::File(key)),
    };
    let place = match &stored {
        None => {
            replace_by_none(home, address, record)?.iter().for_each(|note| say(note));
            "its key is stored nowhere".to_owned()
        }
        Some(stored) => {
            let (path, notes) = replace_key(home, stored, record)?;
            notes.iter().for_each(|note| say(note));
            format!("its key in {}", path.display())
        }
    };
    let earlier = before.map_or_else(String::new, |before| {
        // Where that cannot be seen one may run.
        earlier(before, KillWatch::is_watched(&home.kill_file()) != Some(false))
    });
    let done = format!("The API wallet is {address} from now on, {place}");
    let next = next_start(home, config, stored.is_some());
    report(&format!("{done}\n{next}\n{earlier}"), &done)
}

/// What to do with the earlier wallet. The guard that runs could neither cover nor close anything without it.
fn earlier(wallet: Address, may_run: bool) -> String {
    if may_run {
        format!(
            "A guard that runs signs with the key that it was started with until it is started again: do that first, and then take \
             the approval of the earlier one, {wallet}, back at the venue.\n"
        )
    } else {
        format!("The earlier one, {wallet}, is used no more: take its approval back at the venue.\n")
    }
}

/// How the next start gets the key.
fn next_start(home: &Home, config: &Config, is_stored: bool) -> String {
    let sealed = home.sealed_key_file();
    if is_stored && (config.mode == Mode::Testnet || start::is_packaged(home)) {
        "A running service takes it at its next start.".to_owned()
    } else if is_stored {
        format!("A running service takes it at its next start: `{}`", start::command(home, config))
    } else if sealed.symlink_metadata().is_ok() {
        let path = word(&sealed);
        format!(
            "The next start takes the sealed key, which must be this one by then: as root \
             `systemd-creds encrypt --name={CREDENTIAL} FILE {path}` seals it."
        )
    } else {
        format!("The next start takes it on standard input: `{}`", start::with_key(config))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wallet_that_a_running_guard_signs_with_is_ended_last() {
        let wallet = Address([1; 20]);
        assert!(
            earlier(wallet, true).contains("until it is started again: do that first, and then take the approval of")
        );
        assert!(earlier(wallet, false).contains("is used no more: take its approval back"));
    }
}
