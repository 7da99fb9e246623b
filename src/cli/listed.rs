//! The markets that the rules name, beside those that the venue lists: the venue tells large letters from small ones, and
//! a rule that names none of its markets allows no entry.

use serde_json::json;

use crate::home::Config;
use crate::venue::client::{Client, Timeouts};
use crate::venue::market::Universe;

/// A line for each market of the rules that the venue does not list. Nothing is asked where the rules name none.
pub(super) fn warnings(config: &Config) -> Vec<String> {
    let names = config.rules.markets.names();
    if names.is_empty() {
        return Vec::new();
    }
    match listed(config) {
        Ok(listed) => names.iter().filter_map(|name| warning(&listed, name)).collect(),
        Err(error) => vec![format!("Not compared with the venue's markets: {error}")],
    }
}

fn listed(config: &Config) -> Result<Universe, String> {
    let client = Client::new(config.venue_url(), Timeouts::default()).map_err(|error| error.to_string())?;
    let meta = client.info(&json!({"type": "meta", "dex": ""})).map_err(|error| error.to_string())?;
    Universe::from_meta(&meta)
}

fn warning(listed: &Universe, name: &str) -> Option<String> {
    let what = match listed.by_coin(name) {
        Some(market) if market.is_delisted => "which the venue does not trade any more",
        Some(_) => return None,
        None => "which is no core perp of the venue",
    };
    let meant = listed.iter().find(|market| market.coin != name && market.coin.eq_ignore_ascii_case(name));
    let meant = meant.map_or_else(String::new, |market| format!("; it lists {}", market.coin));
    Some(format!("Warning: markets names {name}, {what}, so it allows no entry by that name{meant}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_market_that_is_not_listed_as_it_is_written_is_warned_of() {
        let market = |name: &str, is_delisted: bool| json!({"name": name, "szDecimals": 2, "maxLeverage": 5, "isDelisted": is_delisted});
        let meta = json!({"universe": [market("BTC", false), market("kPEPE", false), market("OLD", true)]});
        let listed = Universe::from_meta(&meta).unwrap();
        assert_eq!(warning(&listed, "BTC"), None);
        assert_eq!(warning(&listed, "kPEPE"), None);
        let said = warning(&listed, "btc").unwrap();
        assert!(said.contains("markets names btc, which is no core perp") && said.ends_with("it lists BTC"), "{said}");
        let said = warning(&listed, "NONE").unwrap();
        assert!(said.ends_with("so it allows no entry by that name"), "{said}");
        assert!(warning(&listed, "OLD").unwrap().contains("does not trade any more"));
    }
}
