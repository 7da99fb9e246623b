//! `config get`: prints one configured value.

use clap::ValueEnum;

use super::configured::configured;
use super::output::answer;
use super::refusal::Refusal;
use crate::home::Home;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The value to print
    value: Wanted,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Wanted {
    /// The mode: paper, testnet or mainnet
    Network,
    /// The mode: paper, testnet or mainnet
    Mode,
    /// The account guarded
    Account,
    /// The listen address
    Listen,
    /// The rules as an sr1_ code
    Rules,
    /// The share of this machine's IP budget
    IpShare,
    /// USDC beyond which equity enlarges no limit, or none
    EquityCap,
}

pub(super) fn run(args: &Args, home: &Home) -> Result<(), Refusal> {
    let config = configured(home)?;
    let text = match args.value {
        Wanted::Network | Wanted::Mode => config.mode.to_string(),
        Wanted::Account => config.account.to_string(),
        Wanted::Listen => config.listen.to_string(),
        Wanted::Rules => config.rules.to_code(),
        Wanted::IpShare => config.ip_share.to_string(),
        Wanted::EquityCap => config.equity_cap.map_or_else(|| "none".to_owned(), |cap| cap.to_string()),
    };
    answer(&format!("{text}\n"))
}
