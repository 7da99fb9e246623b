//! Which markets' money is USDC. The dexes of others settle in a token of their own, whose worth the journal does not tell; a
//! fill there pays its fee in that token.

use std::collections::BTreeSet;

use super::figures::USDC;

/// Dexes that are remembered: more than there are.
const MOST: usize = 1_000;

/// Dexes that settle in another token.
#[derive(Debug, Default)]
pub(super) struct Collateral(BTreeSet<String>);

impl Collateral {
    /// Takes in a fill's market and the token of its fee; whether its amounts are in USDC.
    pub(super) fn of_fill(&mut self, coin: &str, fee_token: &str) -> bool {
        let Some((dex, _)) = coin.split_once(':') else { return true };
        if fee_token != USDC && self.0.len() < MOST {
            self.0.insert(dex.to_owned());
        }
        fee_token == USDC && self.is_usdc(coin)
    }

    /// Whether what is paid in this market is USDC, as far as its fills told.
    pub(super) fn is_usdc(&self, coin: &str) -> bool {
        coin.split_once(':').is_none_or(|(dex, _)| !self.0.contains(dex))
    }
}
