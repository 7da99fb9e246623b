//! Requirements of mainnet mode that are not met, each with what to give.

use std::path::PathBuf;

use super::one_rule::shown;
use crate::base::address::Address;
use crate::journal::FORGETS;
use crate::rules::Rules;

/// One requirement that is not met.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum MainnetGap {
    /// The owner has said that mainnet must not start, and why.
    #[error("mainnet is refused here ({0})")]
    Refused(String),
    /// The config does not allow it.
    #[error("allow_mainnet = true in the config")]
    NotAllowed,
    /// The config has no equity cap.
    #[error("equity_cap in the config (`svc-guard config set equity_cap USDC`)")]
    NoEquityCap,
    /// The set-up is given no equity cap.
    #[error("--equity-cap USDC: equity beyond it enlarges no limit")]
    CapNotGiven,
    /// The set-up is given no key, nor told that there is none yet.
    #[error("--key-stdin < FILE: the API wallet's key on standard input, or --no-key to store none")]
    KeyNotGiven,
    /// The set-up is not confirmed (the account).
    #[error("--confirm-mainnet {0}: the account's address once more")]
    SetUpNotConfirmed(Address),
    /// The set-up is confirmed for something else (the account, what was said instead).
    #[error("--confirm-mainnet must be the account {0}, not {1}")]
    SetUpConfirmedOther(Address, Address),
    /// The config names no API wallet.
    #[error("api_wallet in the config (`svc-guard key check --key-stdin < FILE` records it)")]
    NoApiWallet,
    /// These rules are looser than the defaults.
    #[error("rules no looser than the defaults (looser: {})", looser(.0))]
    LooserRules(Vec<&'static str>),
    /// No person has confirmed the account at this start (the account).
    #[error("SVC_MAINNET_CONFIRM={0}, set by a person at this start")]
    NotConfirmed(Address),
    /// The same where sudo started the command, which hands on no variable that stands before it (the account).
    #[error(
        "SVC_MAINNET_CONFIRM={0}, set by a person at this start: sudo keeps a variable that stands before it to itself, so it stands \
         behind it, `sudo SVC_MAINNET_CONFIRM={0} ...`"
    )]
    NotConfirmedBySudo(Address),
    /// Another account was confirmed at this start (the account, what was said instead).
    #[error("SVC_MAINNET_CONFIRM must be the account {0}, not {1}")]
    ConfirmedOther(Address, Address),
    /// There is no risk journal for mainnet and this account.
    #[error(
        "a risk journal for mainnet and {0} (`SVC_MAINNET_CONFIRM={0} svc-guard journal-init --mode mainnet --note TEXT`)"
    )]
    NoJournal(Address),
    /// The one that a guard of this home wrote is gone (the account, its folder).
    #[error(
        "the risk journal for mainnet and {0} that a guard of this home wrote in {folder}: bring that folder back \
         (`SVC_MAINNET_CONFIRM={0} svc-guard journal-init --mode mainnet --note TEXT` starts a new one, which {FORGETS})",
        folder = .1.display()
    )]
    LostJournal(Address, PathBuf),
    /// The risk journal that stands there was started for something else (the account, what it says).
    #[error("a risk journal for mainnet and {0}: the one there was started for {1}")]
    OtherJournal(Address, String),
    /// The key does not come on standard input.
    #[error("--key-stdin: on mainnet the key comes on standard input only")]
    KeyNotOnStdin,
}

/// The rules with the loosest value that each may have.
fn looser(keys: &[&str]) -> String {
    let defaults = Rules::default().describe();
    let told = defaults.iter().filter(|rule| keys.contains(&rule.key));
    told.map(|rule| format!("{}, whose default is {}", rule.key, shown(rule))).collect::<Vec<_>>().join("; ")
}

impl MainnetGap {
    /// A start that is not confirmed for the account, but perhaps for another; whether sudo started it.
    pub(super) fn not_confirmed(account: Address, said: Option<Address>, is_by_sudo: bool) -> Self {
        match said {
            Some(said) => Self::ConfirmedOther(account, said),
            None if is_by_sudo => Self::NotConfirmedBySudo(account),
            None => Self::NotConfirmed(account),
        }
    }

    /// A set-up that is not confirmed for the account, but perhaps for another.
    pub(super) fn set_up_not_confirmed(account: Address, said: Option<Address>) -> Self {
        said.map_or(Self::SetUpNotConfirmed(account), |said| Self::SetUpConfirmedOther(account, said))
    }
}
