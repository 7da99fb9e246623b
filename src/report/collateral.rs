//! Which markets' money is USDC. The dexes of others settle in a token of their own, whose worth the journal does not tell: a fill
//! there pays its fee in it. A pair of tokens may be priced in another one than USDC: who sells pays the fee in that.

use std::collections::BTreeMap;

use super::figures::USDC;
use crate::record::money::Fill;

/// Purses that are remembered: more than there are.
const MOST: usize = 4_096;

/// Purses whose token was told, and whether it is USDC alone.
#[derive(Debug, Default)]
pub(super) struct Collateral(BTreeMap<String, bool>);

/// What a market's money counts under: its dex, or the pair of tokens that it is. None for the core perps, which settle in USDC.
pub(super) fn purse_of(coin: &str) -> Option<&str> {
    coin.split_once(':').map(|(dex, _)| dex).or(is_pair(coin).then_some(coin))
}

fn is_pair(name: &str) -> bool {
    name.starts_with('@') || name.contains('/')
}

impl Collateral {
    /// Takes in what a fill tells.
    pub(super) fn see(&mut self, fill: &Fill) {
        let Some(purse) = purse_of(&fill.coin) else { return };
        // Who buys a token pays in that token.
        if is_pair(purse) && fill.side != "sell" {
            return;
        }
        let is_usdc = fill.fee_token == USDC;
        if let Some(told) = self.0.get_mut(purse) {
            *told &= is_usdc;
        } else if self.0.len() < MOST {
            self.0.insert(purse.to_owned(), is_usdc);
        }
    }

    /// Whether what came of a purse is USDC. Of a pair that nothing was sold in only the volume is at stake: nothing is won by
    /// buying.
    pub(super) fn is_usdc(&self, purse: &str) -> bool {
        let by_name = purse.split_once('/').map(|(_, quote)| quote == USDC);
        self.0.get(purse).copied().or(by_name).unwrap_or(is_pair(purse))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_purse_is_what_its_fills_pay_in() {
        let mut seen = Collateral::default();
        for (coin, side, fee_token) in [
            ("ETH", "sell", "HYPE"),
            ("PURR/USDC", "buy", "PURR"),
            ("HYPE/UBTC", "buy", "HYPE"),
            ("@107", "buy", "HYPE"),
            ("@150", "sell", "USDH"),
            ("@150", "buy", "X"),
            ("abc:GOLD", "buy", "USDH"),
            ("abc:OIL", "sell", "USDC"),
            ("xyz:GOLD", "buy", "USDC"),
        ] {
            let (coin, fee_token) = (coin.to_owned(), fee_token.to_owned());
            seen.see(&Fill { coin, side: side.into(), fee_token, ..Fill::default() });
        }
        let usdc = ["PURR/USDC", "@107", "xyz"].map(|purse| seen.is_usdc(purse));
        let others = ["HYPE/UBTC", "@150", "abc", "never", "(others)"].map(|purse| seen.is_usdc(purse));
        assert_eq!((usdc, others), ([true; 3], [false; 5]));
        assert_eq!(["ETH", "xyz:GOLD", "@107", "A/B"].map(purse_of), [None, Some("xyz"), Some("@107"), Some("A/B")]);
    }
}
