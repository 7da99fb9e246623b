//! Answers from flags and variables alone.

use super::super::refusal::Refusal;
use super::super::{key_stdin, mainnet, wallet};
use super::answers::{Answers, Args};
use crate::base::mode::Mode;
use crate::home::{Deployment, Home};

pub(super) fn answers(given: Args, deployment: Deployment, home: &Home) -> Result<Answers, Refusal> {
    let mode = given.network.unwrap_or(Mode::Paper);
    let needed = "init --non-interactive needs --rules sr1_... (or @FILE, SVC_GUARD_RULES) and --account 0x... \
                  (SVC_GUARD_ACCOUNT)";
    let rules = given.rules.clone().ok_or(Refusal::Flags(needed))?;
    let account = given.account.ok_or(Refusal::Flags(needed))?;
    let mut config = given.config(mode, account, rules, deployment);
    fitting(mode, &given)?;
    if mode == Mode::Mainnet {
        mainnet::check_set_up(&config, given.confirm_mainnet)?;
    }
    // Everything else is checked before a key is taken in.
    config.check(&home.config_file()).map_err(Refusal::Config)?;
    let api_wallet = if given.key_stdin { Some(key_stdin::read()?) } else { None };
    if let Some(key) = &api_wallet {
        config.api_wallet_owner = Some(wallet::check(&config, key.address())?);
    }
    Ok(Answers { config, api_wallet, client_key_out: given.client_key_out })
}

/// Refuses flags that do not go with the mode.
fn fitting(mode: Mode, given: &Args) -> Result<(), Refusal> {
    let text = match mode {
        Mode::Paper if given.key_stdin => "paper mode uses no API wallet key; leave out --key-stdin",
        Mode::Testnet | Mode::Mainnet if !given.key_stdin && !given.no_key => {
            "testnet and mainnet need the API wallet's key on standard input (--key-stdin), or --no-key to store none"
        }
        _ => return given.idle(mode),
    };
    Err(Refusal::Flags(text))
}
