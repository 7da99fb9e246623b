//! A config beside what the venue knows: the rules in USDC, at an equity; and what is wrong with the account and the markets.

use rust_decimal::Decimal;

use super::listed;
use crate::base::amount::{cents, percent_of};
use crate::home::Config;
use crate::service::api_wallet_check;

/// What a rule comes to, where it is a part of the equity.
pub(super) fn priced(config: &Config, key: &str, equity: Decimal) -> Option<String> {
    let base = base(config, equity);
    let rules = &config.rules;
    let percent = match key {
        "daily_loss" => rules.daily_loss,
        "drawdown" => rules.drawdown,
        "exposure" => rules.exposure,
        "loss_per_trade" => rules.loss_per_trade,
        "open_risk" => rules.open_risk,
        "position" => rules.position,
        // What the largest position loses there.
        "stop" | "max_stop" => {
            let distance = if key == "stop" { rules.stop } else { rules.max_stop };
            let largest = percent_of(base, rules.position);
            return Some(format!("{} USDC of a position at its limit", cents(percent_of(largest, distance))));
        }
        _ => return None,
    };
    Some(format!("{} USDC", cents(percent_of(base, percent))))
}

/// The equity that limits are taken of.
pub(super) fn base(config: &Config, equity: Decimal) -> Decimal {
    config.equity_cap.map_or(equity, |cap| equity.min(cap)).max(Decimal::ZERO)
}

/// A line for what the venue knows otherwise than the config: the account, and the markets that its rules name.
pub(super) fn warnings(config: &Config) -> Vec<String> {
    let client = api_wallet_check::client(config.venue_url()).map_err(|error| error.to_string());
    let doubt = client.and_then(|client| api_wallet_check::account_doubt(&client, config.account));
    let account = match doubt {
        Ok(doubt) => doubt.map(|doubt| format!("Warning: {doubt}")),
        Err(error) => Some(format!("Not asked whether the venue knows the account: {error}")),
    };
    account.into_iter().chain(listed::warnings(config)).collect()
}

#[cfg(test)]
mod tests {
    use rust_decimal::dec;

    use super::*;
    use crate::base::address::Address;
    use crate::base::mode::Mode;
    use crate::home::Deployment;
    use crate::rules::Rules;

    #[test]
    fn limits_are_of_the_equity_or_of_the_cap_where_that_is_less() {
        let config = Config::new(Mode::Paper, Address([1; 20]), Rules::default(), Deployment::default());
        let at = |config: &Config, key| priced(config, key, dec!(10000));
        assert_eq!(at(&config, "daily_loss").as_deref(), Some("500.00 USDC"));
        assert_eq!(at(&config, "stop").as_deref(), Some("200.00 USDC of a position at its limit"));
        assert_eq!(at(&config, "leverage"), None);
        let capped = Config { equity_cap: Some(dec!(1000)), ..config };
        assert_eq!(at(&capped, "daily_loss").as_deref(), Some("50.00 USDC"));
        assert_eq!(priced(&capped, "daily_loss", dec!(-5)).as_deref(), Some("0.00 USDC"));
    }
}
