//! Answers from flags and variables alone.

use super::super::refusal::Refusal;
use super::super::{key_stdin, mainnet, wallet};
use super::answers::{Answers, Args};
use crate::base::mode::Mode;
use crate::home::{Home, LoadedConfig};

pub(super) fn answers(given: Args, found: &LoadedConfig, home: &Home) -> Result<Answers, Refusal> {
    let mode = given.network.unwrap_or(Mode::Paper);
    let needed = [
        (given.rules.is_none(), "--rules sr1_... (or @FILE, SVC_GUARD_RULES)"),
        (given.account.is_none(), "--account 0x... (SVC_GUARD_ACCOUNT)"),
    ];
    let missing: Vec<&str> = needed.into_iter().filter(|(is_missing, _)| *is_missing).map(|(_, flag)| flag).collect();
    let (Some(rules), Some(account)) = (given.rules.clone(), given.account) else {
        return Err(Refusal::Given(format!("init --non-interactive needs {}", missing.join(" and "))));
    };
    let mut config = given.config(mode, account, rules, found);
    given.idle(mode)?;
    let is_key_given = given.key_stdin || given.no_key;
    match mode {
        Mode::Mainnet => mainnet::check_set_up(&config, given.confirm_mainnet, is_key_given)?,
        Mode::Testnet if !is_key_given => {
            let text = "testnet and mainnet need the API wallet's key on standard input (--key-stdin < FILE), or --no-key to \
                        store none";
            return Err(Refusal::Flags(text));
        }
        Mode::Paper if given.key_stdin => {
            return Err(Refusal::Flags("paper mode uses no API wallet key; leave out --key-stdin"));
        }
        Mode::Paper | Mode::Testnet => {}
    }
    // Everything else is checked before a key is taken in.
    config.check(&home.config_file()).map_err(Refusal::Config)?;
    let api_wallet = if given.key_stdin { Some(key_stdin::read()?) } else { None };
    if let Some(key) = &api_wallet {
        config.api_wallet_owner = Some(wallet::check(&config, found.clients(), key.address())?);
    }
    Ok(Answers { config, api_wallet, client_key_out: given.client_key_out })
}
