//! What mainnet mode needs before it starts, all of it at once.

use std::fmt;

use super::{Refusal, environment};
use crate::home::{Config, Home, Mode};
use crate::journal::read_risk;
use crate::venue::Address;

/// One thing that is missing.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Gap {
    /// The owner has said that mainnet must not start, and why.
    Refused(String),
    /// The config does not allow it.
    NotAllowed,
    /// The config has no equity cap.
    NoEquityCap,
    /// The config names no API wallet.
    NoApiWallet,
    /// These rules are looser than the defaults.
    LooserRules(Vec<&'static str>),
    /// No person has confirmed the account at this start (the account, what was said instead).
    NotConfirmed(Address, Option<Address>),
    /// There is no risk journal for mainnet and this account.
    NoJournal(Address),
    /// The key does not come on standard input.
    KeyNotOnStdin,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(reason) => write!(f, "the config refuses mainnet ({reason})"),
            Self::NotAllowed => f.write_str("allow_mainnet = true in the config"),
            Self::NoEquityCap => f.write_str("equity_cap in the config"),
            Self::NoApiWallet => f.write_str("api_wallet in the config"),
            Self::LooserRules(keys) => write!(f, "rules no looser than the defaults (looser: {})", keys.join(", ")),
            Self::NotConfirmed(account, None) => {
                write!(f, "SVC_MAINNET_CONFIRM={account}, set by a person at this start")
            }
            Self::NotConfirmed(account, Some(said)) => {
                write!(f, "SVC_MAINNET_CONFIRM must be the account {account}, not {said}")
            }
            Self::NoJournal(account) => {
                write!(f, "a risk journal for mainnet and {account} (`svc-guard journal-init --mode mainnet`)")
            }
            Self::KeyNotOnStdin => f.write_str("--key-stdin: on mainnet the key comes on standard input only"),
        }
    }
}

/// Checks that a person has confirmed the account now.
pub(super) fn check_confirmed(config: &Config) -> Result<(), Refusal> {
    let confirmed = environment::mainnet_confirm()?;
    if confirmed == Some(config.account) {
        return Ok(());
    }
    Err(Refusal::Mainnet(vec![Gap::NotConfirmed(config.account, confirmed)]))
}

/// Checks everything but the key itself and what only the venue knows.
pub(super) fn check(config: &Config, home: &Home, key_stdin: bool) -> Result<(), Refusal> {
    let confirmed = environment::mainnet_confirm()?;
    let looser = config.rules.looser_than_default();
    let journal = read_risk(&home.journal_dir(Mode::Mainnet, config.account));
    let mut gaps: Vec<Gap> = config.refuse_mainnet.iter().map(|reason| Gap::Refused(reason.clone())).collect();
    let mut need = |met: bool, gap: Gap| {
        if !met {
            gaps.push(gap);
        }
    };
    need(config.allow_mainnet, Gap::NotAllowed);
    need(config.equity_cap.is_some(), Gap::NoEquityCap);
    need(config.api_wallet.is_some(), Gap::NoApiWallet);
    need(looser.is_empty(), Gap::LooserRules(looser));
    need(confirmed == Some(config.account), Gap::NotConfirmed(config.account, confirmed));
    need(journal.is_ok(), Gap::NoJournal(config.account));
    need(key_stdin, Gap::KeyNotOnStdin);
    if gaps.is_empty() { Ok(()) } else { Err(Refusal::Mainnet(gaps)) }
}
