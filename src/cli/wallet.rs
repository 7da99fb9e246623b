//! The API wallet's key checked with the venue while a person waits.

use super::output::say;
use super::refusal::Refusal;
use super::waiting;
use crate::base::address::Address;
use crate::base::clock::now_ms;
use crate::base::day::day_of;
use crate::home::Config;
use crate::service::api_wallet_check::{self, Approved, NotTheAgent};

/// From this long before its end an approval is called short.
const SHORT_MS: u64 = 7 * 86_400_000;

/// The same for a home that is set up already: its account is not named anew with the key.
pub(super) fn check_for_home(config: &Config, wallet: Address) -> Result<Address, Refusal> {
    if wallet == config.account { Err(Refusal::OwnKey(wallet)) } else { check(config, &config.auth.clients, wallet) }
}

/// Refuses a key that is one of these clients': approved at the venue, it would let its bot trade past the guard.
pub(super) fn check_no_client(clients: &[Address], wallet: Address) -> Result<(), Refusal> {
    if clients.contains(&wallet) { Err(Refusal::ClientKey(wallet)) } else { Ok(()) }
}

/// Checks that the venue knows the key of address `wallet` as an API wallet that may act for the config's account, and that it is
/// none of the home's clients; whose it is.
pub(super) fn check(config: &Config, clients: &[Address], wallet: Address) -> Result<Address, Refusal> {
    check_no_client(clients, wallet)?;
    let asked = waiting::with_progress(&format!("the venue at {}", config.venue_url()), || {
        api_wallet_check::check(&api_wallet_check::client(config.venue_url())?, config.account, wallet, now_ms())
    });
    let Approved { owner, until_ms } = asked.map_err(|refused: NotTheAgent| Refusal::Agent(refused))?;
    if let Some(doubt) = owner.doubt(config.account, wallet) {
        say(&format!("warning: {doubt}"));
    }
    if let Some(until_ms) = until_ms.filter(|until_ms| *until_ms <= now_ms().saturating_add(SHORT_MS)) {
        say(&format!(
            "warning: the approval of the API wallet {wallet} ends on {} (UTC); approve a new one at the venue before that",
            day_of(until_ms)
        ));
    }
    Ok(owner.master)
}
