//! One rule of a set, shown and changed as a person writes it: `6`, `6%`, `"6"`, `BTC, ETH`, `none`.

use serde_json::Value;

use crate::base::plain_number;
use crate::base::shell::word;
use crate::base::text::QUOTES;
use crate::rules::{Described, Rules, RulesError, Unit};

/// A rule's value as a person types it.
pub(super) fn shown(rule: &Described) -> String {
    match serde_json::from_str(&rule.value) {
        Ok(Value::Null) => "none".to_owned(),
        Ok(Value::String(text)) => text,
        Ok(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        _ => rule.value.clone(),
    }
}

/// The rules with one value as typed: a number with or without the rule's unit, `all` or coins with commas between them,
/// `none` where the rule can be no limit.
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
    let rule = described.iter().find(|rule| rule.key == key);
    let typed = rule.map_or(Ok(typed), |rule| plain(rule, typed))?;
    if typed != NONE {
        let whole = typed.parse::<i64>().map(toml::Value::Integer);
        let coins = || typed.split(',').map(|coin| toml::Value::String(coin.trim().to_owned())).collect();
        let value = if key == "markets" && typed != ALL {
            toml::Value::Array(coins())
        } else {
            whole.unwrap_or_else(|_| toml::Value::String(typed.to_owned()))
        };
        table.insert(key.to_owned(), value);
    }
    let form = if key == "markets" { "; several stand with commas between them, as in markets=ETH,BTC" } else { "" };
    let plain = |error: RulesError| error.to_string().replace("a decimal in quotes", "a decimal");
    Rules::from_toml(&table.to_string()).map_err(|error| {
        let why = plain(error);
        let way = way(typed);
        format!("{why}{form}{way}")
    })
}

/// The number in plain digits, where that is all that is wrong.
fn way(typed: &str) -> String {
    plain_number::meant(typed).map_or_else(String::new, |plain| format!("; {plain}"))
}

/// The rule that has to change before this one, where its value was refused for that.
pub(super) fn before(key: &str, why: &str) -> Option<&'static str> {
    let other = if key == "stop" { "max_stop" } else { "stop" };
    why.contains("must not be wider than max_stop").then_some(other)
}

/// A word to who names coins that are likely none of the venue's, and so allow nothing.
pub(super) fn doubt(rules: &Rules) -> Option<String> {
    let meant = rules.markets.likely()?;
    let change = word(format!("markets={meant}"));
    Some(format!(
        "A coin that the venue does not have allows nothing: `svc-guard config set rules {change}` names them in capitals."
    ))
}

/// Each rule that changes, before and after.
pub(super) fn in_words(before: &Rules, after: &Rules) -> Vec<String> {
    let looser = after.looser_than(before);
    let pairs = before.describe().into_iter().zip(after.describe());
    let changed = pairs.filter(|(before, after)| before.value != after.value);
    let told = changed.flat_map(|(before, after)| {
        let way = if looser.contains(&after.key) { "looser" } else { "stricter" };
        [format!("{:<18}before  {}", before.key, before.words), format!("{:<18}after   {}  ({way})", "", after.words)]
    });
    told.collect()
}

/// The changes of several rules that were typed as one: `stop=3` and `max_stop=4` of `stop=3,max_stop=4`. Nothing where it is one.
pub(super) fn several(typed: &str) -> Vec<String> {
    let described = Rules::default().describe();
    let is_rule =
        |part: &str| part.split_once('=').is_some_and(|(key, _)| described.iter().any(|rule| rule.key == key));
    let mut changes: Vec<String> = Vec::new();
    for part in typed.split([',', ';', ' ']).filter(|part| !part.is_empty()) {
        match changes.last_mut() {
            Some(last) if !is_rule(part) => last.push_str(&format!(",{part}")),
            _ if is_rule(part) => changes.push(part.to_owned()),
            _ => return Vec::new(),
        }
    }
    if changes.len() > 1 { changes } else { Vec::new() }
}

/// Every coin.
pub(super) const ALL: &str = "all";
/// No limit.
const NONE: &str = "none";

/// A value without the quotes and the rule's unit that a person may put around it. Another unit means another rule, and
/// `none` something that this one has not: both are refused.
fn plain<'a>(rule: &Described, typed: &'a str) -> Result<&'a str, String> {
    let (key, bare) = (rule.key, typed.trim().trim_matches(QUOTES).trim());
    let bare = if bare.eq_ignore_ascii_case(NONE) { NONE } else { bare };
    if bare == NONE && !rule.is_optional {
        let default = default(key);
        return Err(format!("{key} is never {NONE}; {key}={default} is the default"));
    }
    if rule.unit == Unit::Coins {
        // What is written so could be a coin, and whoever writes it means them all.
        let is_all = bare.eq_ignore_ascii_case(ALL) && bare != ALL;
        return if is_all { Err(format!("{key}: {ALL} is written in small letters: {key}={ALL}")) } else { Ok(bare) };
    }
    let stripped = |unit: Unit| unit.forms().iter().find_map(|form| bare.strip_suffix(form)).map(str::trim);
    if let Some(number) = stripped(rule.unit) {
        return Ok(number);
    }
    let other = Unit::WRITTEN.into_iter().find(|unit| stripped(*unit).is_some_and(is_number));
    other.map_or(Ok(bare), |other| {
        let default = default(key);
        Err(format!("{key} takes {}, not {}; {key}={default} is the default", rule.unit.name(), other.name()))
    })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || b".,+-".contains(&byte))
}

/// A rule's default as a person types it.
pub(super) fn default(key: &str) -> String {
    Rules::default().describe().iter().find(|rule| rule.key == key).map(shown).unwrap_or_default()
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
    fn the_unit_of_another_rule_is_refused() {
        for (key, value, said) in [
            ("daily_loss", "50 USDC", "daily_loss takes percent, not USDC; daily_loss=5 is the default"),
            ("loss_per_trade", "20usdc", "takes percent, not USDC"),
            ("order_value", "50%", "order_value takes USDC, not percent; order_value=none is the default"),
            ("stop", "3s", "takes percent, not seconds"),
            ("leverage", "3 %", "leverage takes times, x, not percent"),
            ("duplicate_window", "2x", "takes seconds, not times"),
            ("open_orders", "5%", "open_orders takes a number without a unit, not percent; open_orders="),
        ] {
            let refused = typed(&Rules::default(), key, value).unwrap_err();
            assert!(refused.contains(said), "{refused}");
        }
    }

    #[test]
    fn none_is_no_default() {
        let mut rules = typed(&Rules::default(), "markets", "ETH").unwrap();
        rules = typed(&rules, "daily_loss", "3").unwrap();
        for rule in rules.describe().iter().filter(|rule| rule.key != "order_value") {
            let refused = typed(&rules, rule.key, "none").unwrap_err();
            assert!(refused.starts_with(&format!("{} is never none; {}=", rule.key, rule.key)), "{refused}");
            let way = refused.split("; ").nth(1).unwrap().split(" is the default").next().unwrap();
            let (key, value) = way.split_once('=').unwrap();
            assert!(typed(&rules, key, value).is_ok(), "{way}");
        }
        assert!(typed(&rules, "markets", "none").unwrap_err().contains("markets=all is the default"));
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
