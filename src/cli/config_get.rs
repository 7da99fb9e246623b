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
}

pub(super) fn run(args: &Args, home: &Home) -> Result<(), Refusal> {
    let config = configured(home)?;
    let text = match args.value {
        Wanted::Network | Wanted::Mode => config.mode.to_string(),
        Wanted::Account => config.account.to_string(),
        Wanted::Listen => config.listen.to_string(),
        Wanted::Rules => config.rules.to_code(),
    };
    answer(&format!("{text}\n"))
}
