//! The checks before mainnet mode: each returns everything that is missing, at once.

use serde_json::Value;

use super::environment;
use super::mainnet_gap::MainnetGap;
use super::refusal::Refusal;
use crate::base::address::Address;
use crate::base::mode::Mode;
use crate::home::{Config, Home};
use crate::journal::{OpenError, read_risk};

/// Checks that a person has confirmed the account now.
pub(super) fn check_confirmed(config: &Config) -> Result<(), Refusal> {
    let confirmed = environment::mainnet_confirm()?;
    if confirmed == Some(config.account) {
        return Ok(());
    }
    Err(Refusal::Mainnet("the mainnet risk journal is left as it is", vec![not_confirmed(config, confirmed)]))
}

fn not_confirmed(config: &Config, said: Option<Address>) -> MainnetGap {
    MainnetGap::not_confirmed(config.account, said, environment::is_by_sudo())
}

/// Checks what setting mainnet up needs; the key itself only for whether it is to come.
pub(super) fn check_set_up(config: &Config, confirmed: Option<Address>, is_key_given: bool) -> Result<(), Refusal> {
    let looser = config.rules.looser_than_default();
    let needs = [
        (config.equity_cap.is_some(), MainnetGap::CapNotGiven),
        (looser.is_empty(), MainnetGap::LooserRules(looser)),
        (confirmed == Some(config.account), MainnetGap::set_up_not_confirmed(config.account, confirmed)),
        (is_key_given, MainnetGap::KeyNotGiven),
    ];
    let missing = needs.into_iter().filter(|(met, _)| !met).map(|(_, gap)| gap);
    let gaps: Vec<MainnetGap> = config.refuse_mainnet.iter().cloned().map(MainnetGap::Refused).chain(missing).collect();
    if gaps.is_empty() { Ok(()) } else { Err(Refusal::Mainnet(NOT_SET_UP, gaps)) }
}

/// The refusal of a set-up where mainnet is refused.
pub(super) fn refused(reason: &str) -> Refusal {
    Refusal::Mainnet(NOT_SET_UP, vec![MainnetGap::Refused(reason.to_owned())])
}

const NOT_SET_UP: &str = "mainnet is not set up";

/// Checks everything but the key itself and what only the venue knows.
pub(super) fn check(config: &Config, home: &Home, key_stdin: bool) -> Result<(), Refusal> {
    let confirmed = environment::mainnet_confirm()?;
    let looser = config.rules.looser_than_default();
    let needs = [
        (config.allow_mainnet, MainnetGap::NotAllowed),
        (config.equity_cap.is_some(), MainnetGap::NoEquityCap),
        (config.api_wallet.is_some(), MainnetGap::NoApiWallet),
        (looser.is_empty(), MainnetGap::LooserRules(looser)),
        (confirmed == Some(config.account), not_confirmed(config, confirmed)),
        (key_stdin, MainnetGap::KeyNotOnStdin),
    ];
    let missing = needs.into_iter().filter(|(met, _)| !met).map(|(_, gap)| gap);
    let refused = config.refuse_mainnet.iter().cloned().map(MainnetGap::Refused);
    let gaps: Vec<MainnetGap> = refused.chain(missing).chain(journal_gap(config, home)?).collect();
    if gaps.is_empty() { Ok(()) } else { Err(Refusal::Mainnet("mainnet does not start", gaps)) }
}

/// The gap that is left where no risk journal was started for mainnet and this account.
fn journal_gap(config: &Config, home: &Home) -> Result<Option<MainnetGap>, Refusal> {
    let mut lines = match read_risk(&home.journal_dir(Mode::Mainnet, config.account)) {
        Err(OpenError::NoRiskJournal(_)) => {
            let lost = MainnetGap::LostJournal(config.account, home.journal_dir(Mode::Mainnet, config.account));
            return Ok(Some(if home.has_written(Mode::Mainnet, config.account) {
                lost
            } else {
                MainnetGap::NoJournal(config.account)
            }));
        }
        lines => lines.map_err(|error| Refusal::Journal(error, Mode::Mainnet))?,
    };
    let first = lines.next().transpose().map_err(|error| Refusal::Journal(error, Mode::Mainnet))?.unwrap_or_default();
    // Damage is reported with its file, line and byte when the journal is verified.
    let Ok(record) = serde_json::from_str::<Value>(&first) else { return Ok(None) };
    let says = |key: &str| record.get(key).and_then(Value::as_str).unwrap_or("nothing").to_owned();
    if says("mode") == Mode::Mainnet.name() && says("account") == config.account.to_string() {
        return Ok(None);
    }
    Ok(Some(MainnetGap::OtherJournal(config.account, format!("{} and {}", says("mode"), says("account")))))
}
