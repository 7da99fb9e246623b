//! `key check`: checks with the venue that a key is an API wallet of the configured account, and records its address when
//! the config names none. The key itself is neither stored nor shown.

use super::configured::LockedConfig;
use super::output::print;
use super::refusal::Refusal;
use super::set_up::SignalsBlocked;
use super::{key_stdin, wallet};
use crate::base::mode::Mode;
use crate::home::{Home, set_api_wallet};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Read the key from standard input
    #[arg(long, required = true)]
    key_stdin: bool,
}

pub(super) fn run(_args: &Args, home: &Home) -> Result<(), Refusal> {
    let locked = LockedConfig::open(home)?;
    let config = &locked.config;
    if config.mode == Mode::Paper {
        return Err(Refusal::Flags(
            "paper mode uses no API wallet key; `svc-guard --home DIR init` sets another home up for testnet or mainnet",
        ));
    }
    let key = key_stdin::read()?;
    let owner = wallet::check_for_home(config, key.address())?;
    let mut whole = None;
    let recorded = match config.api_wallet {
        Some(configured) if configured != key.address() => {
            return Err(Refusal::OtherKey(key.address(), configured, None));
        }
        Some(_) if config.api_wallet_owner == Some(owner) => "",
        _ => {
            whole = Some(SignalsBlocked::new());
            set_api_wallet(&locked.path, &locked.text, key.address(), owner).map_err(Refusal::Config)?;
            "; recorded as api_wallet in the config"
        }
    };
    let told = print(&format!("{} is an API wallet of {}{recorded}\n", key.address(), config.account));
    let told = told.map_err(|refusal| if recorded.is_empty() { refusal } else { locked.undone(&refusal) });
    drop(whole);
    told
}
