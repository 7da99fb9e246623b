//! What mainnet mode needs before it starts, all of it at once.

use std::fmt;

use serde_json::Value;

use super::{Refusal, environment};
use crate::base::address::Address;
use crate::base::mode::Mode;
use crate::home::{Config, Home};
use crate::journal::{OpenError, read_risk};

/// One thing that is missing.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Gap {
    /// The owner has said that mainnet must not start, and why.
    Refused(String),
    /// The config does not allow it.
    NotAllowed,
    /// The config has no equity cap.
    NoEquityCap,
    /// The set-up is given no equity cap.
    CapNotGiven,
    /// The set-up is not confirmed (the account, what was said instead).
    SetUpNotConfirmed(Address, Option<Address>),
    /// The config names no API wallet.
    NoApiWallet,
    /// These rules are looser than the defaults.
    LooserRules(Vec<&'static str>),
    /// No person has confirmed the account at this start (the account, what was said instead).
    NotConfirmed(Address, Option<Address>),
    /// There is no risk journal for mainnet and this account.
    NoJournal(Address),
    /// The risk journal that stands there was started for something else (the account, what it says).
    OtherJournal(Address, String),
    /// The key does not come on standard input.
    KeyNotOnStdin,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(reason) => write!(f, "mainnet is refused here ({reason})"),
            Self::NotAllowed => f.write_str("allow_mainnet = true in the config"),
            Self::NoEquityCap => f.write_str("equity_cap in the config"),
            Self::NoApiWallet => f.write_str("api_wallet in the config"),
            Self::LooserRules(keys) => write!(f, "rules no looser than the defaults (looser: {})", keys.join(", ")),
            Self::CapNotGiven => f.write_str("--equity-cap USDC: equity beyond it enlarges no limit"),
            Self::SetUpNotConfirmed(account, None) => {
                write!(f, "--confirm-mainnet {account}: the account's address once more")
            }
            Self::SetUpNotConfirmed(account, Some(said)) => {
                write!(f, "--confirm-mainnet must be the account {account}, not {said}")
            }
            Self::NotConfirmed(account, None) => {
                write!(f, "SVC_MAINNET_CONFIRM={account}, set by a person at this start")
            }
            Self::NotConfirmed(account, Some(said)) => {
                write!(f, "SVC_MAINNET_CONFIRM must be the account {account}, not {said}")
            }
            Self::NoJournal(account) => {
                write!(f, "a risk journal for mainnet and {account} (`svc-guard journal-init --mode mainnet`)")
            }
            Self::OtherJournal(account, says) => {
                write!(f, "a risk journal for mainnet and {account}: the one there was started for {says}")
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
    Err(Refusal::Mainnet(
        "the mainnet risk journal is left as it is",
        vec![Gap::NotConfirmed(config.account, confirmed)],
    ))
}

/// Checks what setting mainnet up needs besides a key.
pub(super) fn check_set_up(config: &Config, confirmed: Option<Address>) -> Result<(), Refusal> {
    let looser = config.rules.looser_than_default();
    let needs = [
        (config.equity_cap.is_some(), Gap::CapNotGiven),
        (looser.is_empty(), Gap::LooserRules(looser)),
        (confirmed == Some(config.account), Gap::SetUpNotConfirmed(config.account, confirmed)),
    ];
    let missing = needs.into_iter().filter(|(met, _)| !met).map(|(_, gap)| gap);
    let gaps: Vec<Gap> = config.refuse_mainnet.iter().cloned().map(Gap::Refused).chain(missing).collect();
    if gaps.is_empty() { Ok(()) } else { Err(Refusal::Mainnet(NOT_SET_UP, gaps)) }
}

/// The refusal of a set-up where mainnet is refused.
pub(super) fn refused(reason: &str) -> Refusal {
    Refusal::Mainnet(NOT_SET_UP, vec![Gap::Refused(reason.to_owned())])
}

const NOT_SET_UP: &str = "mainnet is not set up";

/// Checks everything but the key itself and what only the venue knows.
pub(super) fn check(config: &Config, home: &Home, key_stdin: bool) -> Result<(), Refusal> {
    let confirmed = environment::mainnet_confirm()?;
    let looser = config.rules.looser_than_default();
    let needs = [
        (config.allow_mainnet, Gap::NotAllowed),
        (config.equity_cap.is_some(), Gap::NoEquityCap),
        (config.api_wallet.is_some(), Gap::NoApiWallet),
        (looser.is_empty(), Gap::LooserRules(looser)),
        (confirmed == Some(config.account), Gap::NotConfirmed(config.account, confirmed)),
        (key_stdin, Gap::KeyNotOnStdin),
    ];
    let missing = needs.into_iter().filter(|(met, _)| !met).map(|(_, gap)| gap);
    let refused = config.refuse_mainnet.iter().cloned().map(Gap::Refused);
    let gaps: Vec<Gap> = refused.chain(missing).chain(journal_gap(config, home)?).collect();
    if gaps.is_empty() { Ok(()) } else { Err(Refusal::Mainnet("mainnet does not start", gaps)) }
}

/// What is missing of a risk journal that was started for mainnet and this account.
fn journal_gap(config: &Config, home: &Home) -> Result<Option<Gap>, Refusal> {
    let mut lines = match read_risk(&home.journal_dir(Mode::Mainnet, config.account)) {
        Err(OpenError::NoRiskJournal(_)) => return Ok(Some(Gap::NoJournal(config.account))),
        lines => lines.map_err(Refusal::Journal)?,
    };
    let first = lines.next().transpose().map_err(Refusal::Journal)?.unwrap_or_default();
    // Damage is told with its file, line and byte when the journal is verified.
    let Ok(record) = serde_json::from_str::<Value>(&first) else { return Ok(None) };
    let says = |key: &str| record.get(key).and_then(Value::as_str).unwrap_or("nothing").to_owned();
    if says("mode") == Mode::Mainnet.name() && says("account") == config.account.to_string() {
        return Ok(None);
    }
    Ok(Some(Gap::OtherJournal(config.account, format!("{} and {}", says("mode"), says("account")))))
}
