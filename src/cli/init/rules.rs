//! The rules, chosen by a person: each in words with its default, changed one by one or given as a whole.

use serde_json::Value;

use super::super::refusal::Refusal;
use super::super::rules_source;
use super::super::terminal::Terminal;
use crate::base::mode::Mode;
use crate::rules::{Described, Rules};

/// Asks until the rules are as they are wanted.
pub(super) fn choose(terminal: &Terminal, mode: Mode) -> Result<Rules, Refusal> {
    let mut rules = Rules::default();
    terminal.say("\nThe rules that every request is held to, each with its default:\n")?;
    show(terminal, &rules)?;
    loop {
        let question = "Rule to change, sr1_... code or @FILE to take instead, or Enter to keep these";
        let answer = terminal.ask(question, Some("keep"))?;
        let changed = match answer.as_str() {
            "keep" => match refused_by(mode, &rules) {
                None => return Ok(rules),
                Some(why) => Err(why),
            },
            whole if whole.starts_with("sr1_") || whole.starts_with('@') => {
                rules_source::read(whole).map_err(|refusal| refusal.to_string())
            }
            key => change(terminal, &rules, key)?,
        };
        match changed {
            Ok(changed) => {
                rules = changed;
                show(terminal, &rules)?;
            }
            Err(why) => terminal.say(&format!("  {why}\n"))?,
        }
    }
}

/// Why these rules cannot stand in this mode.
fn refused_by(mode: Mode, rules: &Rules) -> Option<String> {
    let looser = rules.looser_than_default();
    let refused = mode == Mode::Mainnet && !looser.is_empty();
    refused.then(|| format!("mainnet takes no rule looser than the defaults; change {}", looser.join(", ")))
}

fn show(terminal: &Terminal, rules: &Rules) -> Result<(), Refusal> {
    let defaults = Rules::default().describe();
    for (rule, default) in rules.describe().iter().zip(&defaults) {
        let note = match (rule.value == default.value, rule.looser) {
            (true, _) => String::new(),
            (false, true) => format!("  (default {}; this is looser)", default.value),
            (false, false) => format!("  (default {})", default.value),
        };
        terminal.say(&format!("  {:<18}{}{note}\n", rule.key, rule.words))?;
    }
    Ok(())
}

/// Asks for a new value of one rule.
fn change(terminal: &Terminal, rules: &Rules, key: &str) -> Result<Result<Rules, String>, Refusal> {
    let described = rules.describe();
    let Some(rule) = described.iter().find(|rule| rule.key == key) else {
        return Ok(Err(format!("{key} is not a rule; name one of those listed")));
    };
    let now = shown(rule);
    let answer = terminal.ask(&format!("{key}: {}; new value", rule.words), Some(&now))?;
    Ok(with(&described, key, &answer))
}

/// A rule's value as a person types it.
fn shown(rule: &Described) -> String {
    match serde_json::from_str(&rule.value) {
        Ok(Value::Null) => "none".to_owned(),
        Ok(Value::String(text)) => text,
        Ok(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        _ => rule.value.clone(),
    }
}

/// The rules with one value as typed: a number, `all` or coins with commas between them, `none` for no limit.
fn with(described: &[Described], key: &str, typed: &str) -> Result<Rules, String> {
    let mut table = toml::Table::new();
    for rule in described.iter().filter(|rule| rule.key != key) {
        // Every rule's value but "no limit", which is that of a key left out, is a TOML value too.
        if let Ok(value) = serde_json::from_str::<Value>(&rule.value).map(toml::Value::try_from)
            && let Ok(value) = value
        {
            table.insert(rule.key.to_owned(), value);
        }
    }
    if typed != "none" {
        let whole = typed.parse::<i64>().map(toml::Value::Integer);
        let text = || toml::Value::String(typed.to_owned());
        let coins = || typed.split(',').map(|coin| toml::Value::String(coin.trim().to_owned())).collect();
        let value = if key == "markets" && typed != "all" {
            toml::Value::Array(coins())
        } else {
            whole.unwrap_or_else(|_| text())
        };
        table.insert(key.to_owned(), value);
    }
    Rules::from_toml(&table.to_string()).map_err(|error| error.to_string())
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
    fn a_value_that_cannot_be_says_what_can() {
        for (key, value, said) in [
            ("leverage", "0", "1 to 100"),
            ("collar", "much", "0.01 to 50"),
            ("markets", "BTC, BTC", "different coins"),
        ] {
            let refused = typed(&Rules::default(), key, value).unwrap_err();
            assert!(refused.contains(key) && refused.contains(said), "{refused}");
        }
    }

    #[test]
    fn mainnet_takes_no_looser_rule() {
        let looser = typed(&Rules::default(), "leverage", "6").unwrap();
        assert!(refused_by(Mode::Mainnet, &looser).unwrap().ends_with("change leverage"));
        assert_eq!(refused_by(Mode::Testnet, &looser), None);
        assert_eq!(refused_by(Mode::Mainnet, &Rules::default()), None);
    }
}
