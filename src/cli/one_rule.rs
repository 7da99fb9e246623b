//! One rule of a set, shown and changed as a person writes it: `6`, `6%`, `"6"`, `BTC, ETH`, `none`.

use serde_json::Value;

use crate::rules::{Described, Rules, RulesError};

/// A rule's value as a person types it.
pub(super) fn shown(rule: &Described) -> String {
    match serde_json::from_str(&rule.value) {
        Ok(Value::Null) => "none".to_owned(),
        Ok(Value::String(text)) => text,
        Ok(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        _ => rule.value.clone(),
    }
}

/// The rules with one value as typed: a number with or without its unit, `all` or coins with commas between them, `none`
/// for no limit.
pub(super) fn with(described: &[Described], key: &str, typed: &str) -> Result<Rules, String> {
    let mut table = toml::Table::new();
    for rule in described.iter().filter(|rule| rule.key != key) {
        // Every rule's value but "no limit", which is that of a key left out, is a TOML value too.
        if let Ok(value) = serde_json::from_str::<Value>(&rule.value).map(toml::Value::try_from)
            && let Ok(value) = value
        {
            table.insert(rule.key.to_owned(), value);
        }
    }
    let typed = plain(key, typed);
    if typed != "none" {
        let whole = typed.parse::<i64>().map(toml::Value::Integer);
        let coins = || typed.split(',').map(|coin| toml::Value::String(coin.trim().to_owned())).collect();
        let value = if key == "markets" && typed != "all" {
            toml::Value::Array(coins())
        } else {
            whole.unwrap_or_else(|_| toml::Value::String(typed.to_owned()))
        };
        table.insert(key.to_owned(), value);
    }
    let form = if key == "markets" { "; several stand with commas between them, as in markets=ETH,BTC" } else { "" };
    let plain = |error: RulesError| error.to_string().replace("a decimal in quotes", "a decimal");
    Rules::from_toml(&table.to_string()).map_err(|error| format!("{}{form}", plain(error)))
}

/// A value without the quotes and the unit that a person may put around it.
fn plain<'a>(key: &str, typed: &'a str) -> &'a str {
    let bare = typed.trim().trim_matches(['"', '\'']).trim();
    if key == "markets" {
        return bare;
    }
    let number = ["%", "USDC", "usdc", "x", "×", "s"].iter().find_map(|unit| bare.strip_suffix(unit)).unwrap_or(bare);
    number.trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(rules: &Rules, key: &str, value: &str) -> Result<Rules, String> {
        with(&rules.describe(), key, value)
    }

    #[test]
    fn a_value_is_read_as_a_person_types_it() {
        let mut expected = Rules::default();
        let mut rules = typed(&expected, "leverage", "3").unwrap();
        expected.leverage = 3;
        assert_eq!(rules, expected);
        rules = typed(&rules, "collar", "0.25").unwrap();
        rules = typed(&rules, "order_value", "5000").unwrap();
        rules = typed(&rules, "markets", "BTC, ETH").unwrap();
        let described: Vec<(&str, String)> = rules.describe().iter().map(|rule| (rule.key, shown(rule))).collect();
        for (key, value) in [("collar", "0.25"), ("order_value", "5000"), ("markets", "BTC, ETH"), ("leverage", "3")] {
            assert!(described.contains(&(key, value.to_owned())), "{key}");
        }
        rules = typed(&rules, "order_value", "none").unwrap();
        rules = typed(&rules, "markets", "all").unwrap();
        rules = typed(&rules, "collar", "0.5").unwrap();
        assert_eq!(rules, expected);
        // Left as it is shown, a rule stays what it is.
        for rule in rules.describe() {
            assert_eq!(typed(&rules, rule.key, &shown(&rule)).as_ref(), Ok(&rules), "{}", rule.key);
        }
    }

    #[test]
    fn units_and_quotes_are_understood() {
        let rules = Rules::default();
        let same = |key, forms: &[&str]| {
            let first = typed(&rules, key, forms[0]).unwrap();
            assert!(forms.iter().all(|form| typed(&rules, key, form).as_ref() == Ok(&first)), "{forms:?}");
        };
        same("stop", &["3", "3%", "3 %", "\"3\"", "\"3%\"", " 3 "]);
        same("order_value", &["500", "500 USDC", "'500'"]);
        same("leverage", &["3", "3x"]);
        same("duplicate_window", &["2", "2s", "2 s"]);
    }

    #[test]
    fn a_value_that_cannot_be_says_what_can() {
        for (key, value, said) in [
            ("leverage", "0", "1 to 100"),
            ("collar", "much", "0.01 to 50"),
            ("markets", "BTC, BTC", "different coins"),
        ] {
            let refused = typed(&Rules::default(), key, value).unwrap_err();
            assert!(refused.contains(key) && refused.contains(said) && !refused.contains("in quotes"), "{refused}");
        }
    }
}
