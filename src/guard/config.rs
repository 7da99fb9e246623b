//! The core's settings: plain values, checked by whoever read them.

use std::collections::BTreeSet;
use std::fmt;

use rust_decimal::Decimal;

use crate::base::address::Address;
use crate::base::shell::{confirmation, for_home};
use crate::rules::Rules;
use crate::venue::signing::Source;

/// Where orders go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Nowhere: decisions are recorded, nothing is sent.
    Paper,
    /// The venue's test network.
    Testnet,
    /// The venue's main network.
    Mainnet,
}

impl Mode {
    /// The mode's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Mode::Paper => "paper",
            Mode::Testnet => "testnet",
            Mode::Mainnet => "mainnet",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The core's settings.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where orders go.
    pub mode: Mode,
    /// The account guarded.
    pub account: Address,
    /// OrderOwner account is read, and whose markets apply.
    pub account_network: Source,
    /// The API wallet's address; none in paper mode.
    pub api_wallet: Option<Address>,
    /// Addresses whose requests are judged.
    pub clients: BTreeSet<Address>,
    /// Veto what was signed for the other network.
    pub require_network: bool,
    /// The owner's rules.
    pub rules: Rules,
    /// Equity above this does not count, USDC.
    pub equity_cap: Option<Decimal>,
    /// An account read older than this is stale.
    pub account_max_age_ms: u64,
    /// A price read older than this is stale.
    pub prices_max_age_ms: u64,
    /// A mark at the mid that was read longer ago is read again before an entry is judged by it.
    pub marks_max_age_ms: u64,
    /// A read of the open orders older than this is stale.
    pub orders_max_age_ms: u64,
    /// Whether the venue's live feed is listened to.
    pub feed: bool,
    /// The guard's part of the weight that the venue gives the address each minute.
    pub weight_per_minute: u32,
    /// Path of the kill file, for the status.
    pub kill_file: String,
    /// A number of this life, for the status: whoever reads it knows which home's guard answers.
    pub life: String,
    /// The venue's URL, for the status.
    pub venue_url: String,
}

impl Config {
    /// A text with each of its commands for this home: typed without it, it would act on another one.
    pub(crate) fn typed(&self, text: &str) -> String {
        let home = self.kill_file.rsplit_once('/').map_or("", |(home, _)| home);
        for_home(text, home, "")
    }

    /// What goes before a command that mainnet asks a person's word for.
    pub(crate) fn confirmation(&self) -> String {
        if self.mode == Mode::Mainnet { confirmation(self.account) } else { String::new() }
    }

    /// The equity that percentages are taken of.
    #[must_use]
    pub fn base_equity(&self, equity: Decimal) -> Decimal {
        self.equity_cap.map_or(equity, |cap| cap.min(equity)).max(Decimal::ZERO)
    }
}
