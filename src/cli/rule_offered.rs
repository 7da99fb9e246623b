//! The change of one rule that is offered in the place of one that cannot be. It is typed without a thought, so it is taken as it
//! stands, and but for what was surely asked for it is never looser than the value of now.

use rust_decimal::Decimal;

use super::one_rule::{ALL, default, shown, with};
use crate::base::amount::{parse_setting, to_wire};
use crate::base::plain_number;
use crate::base::shell::word;
use crate::base::text::{QUOTES, nearest};
use crate::rules::{Described, Rules, Unit};

/// What a coin's name has behind it elsewhere, and is none of the venue's coins.
const TAILS: [&str; 4] = ["PERP", "USD", "USDC", "USDT"];

/// The command that is offered: what was typed in a form that is taken; or else the nearest value that is no looser than that, nor
/// than the one of now; or else the one of now. Where that is no limit at all, how a value is written.
pub(super) fn command(now: &Rules, key: &str, typed: &str, may: impl Fn(&Rules) -> bool) -> String {
    match value(now, key, typed, may) {
        Some(value) => {
            let is_now = now.describe().iter().any(|rule| rule.key == key && shown(rule) == value);
            let kept = if is_now { ", its value of now" } else { "" };
            format!("`svc-guard config set rules {}`{kept}", word(format!("{key}={value}")))
        }
        None if key == "markets" => {
            format!("`svc-guard config set rules {key}=COINS` with your coins in the place of COINS, as in BTC,ETH")
        }
        None => format!(
            "`svc-guard config set rules {key}=NUMBER` with your number in the place of NUMBER, in plain digits as in 1000"
        ),
    }
}

fn value(now: &Rules, key: &str, typed: &str, may: impl Fn(&Rules) -> bool) -> Option<String> {
    let described = now.describe();
    let rule = described.iter().find(|rule| rule.key == key)?;
    let rules = |value: &str| with(&described, key, value).ok().filter(|rules| may(rules));
    let read = reading(rule, typed);
    if let Some((read, rules)) = read.as_ref().and_then(|read| Some((read, rules(read)?))) {
        // The venue writes its coins in capitals.
        let coins = rules.markets.likely().filter(|_| key == "markets");
        return Some(coins.unwrap_or_else(|| read.clone()));
    }
    let is_stricter = |value: &String| rules(value).is_some_and(|rules| rules.looser_than(now).is_empty());
    let near = read.and_then(|read| Rules::near(key, parse_setting(&read)?));
    near.filter(is_stricter)
        .or_else(|| Some(shown(rule)).filter(|now| !rule.is_optional || now != "none"))
        .filter(|value| key != "markets" || value != ALL)
}

/// The reason for refusing a name that is no rule's, with the change that was meant.
pub(super) fn instead(typed: &str, value: &str) -> String {
    // A name that goes on behind a rule's, such as stop-loss, means that rule.
    let begun = || Rules::keys().filter(|key| typed.to_lowercase().starts_with(key)).max_by_key(|key| key.len());
    match nearest(typed, Rules::keys()).or_else(begun) {
        Some(key) => {
            let change = word(format!("{key}={}", taken(key, value)));
            format!("is not a rule, and {key} is one: `svc-guard config set rules {change}`")
        }
        None => format!("is not a rule; the rules are {}", Rules::keys().collect::<Vec<_>>().join(", ")),
    }
}

/// `stop=3`, where that is what was typed with something else between the rule and its value, or with nothing else.
pub(super) fn meant(typed: &str) -> Option<String> {
    let keys = Rules::default().describe().into_iter().map(|rule| rule.key);
    let typed = typed.trim();
    // Of two names that begin alike the longer one is meant.
    let key = keys.filter(|key| typed.starts_with(key)).max_by_key(|key| key.len())?;
    let rest = typed.strip_prefix(key)?;
    let value = rest.trim_start_matches(|letter: char| letter == ':' || letter == '=' || letter.is_whitespace());
    let is_apart = value.len() < rest.len() || rest.is_empty();
    is_apart.then(|| format!("{key}={}", if value.is_empty() { "VALUE".to_owned() } else { taken(key, value) }))
}

/// A value in a form that is taken, where it is only written otherwise; else as it was typed.
fn taken(key: &str, typed: &str) -> String {
    let described = Rules::default().describe();
    let is_taken = |value: &str| with(&described, key, value).is_ok();
    let read = || described.iter().find(|rule| rule.key == key).and_then(|rule| reading(rule, typed));
    let other = if is_taken(typed) { None } else { read().filter(|read| is_taken(read)) };
    other.unwrap_or_else(|| typed.trim().to_owned())
}

/// What was surely meant: a number in plain digits, coins with commas between them.
fn reading(rule: &Described, typed: &str) -> Option<String> {
    let bare = typed.trim().trim_matches(QUOTES).trim();
    if bare.eq_ignore_ascii_case("default") {
        return Some(default(rule.key));
    }
    if rule.unit == Unit::Coins { coins(bare) } else { number(rule.unit, bare) }
}

fn number(unit: Unit, bare: &str) -> Option<String> {
    // An amount of money is no number of a rule that takes none.
    if unit != Unit::Usdc && (bare.contains('$') || bare.to_ascii_uppercase().contains("USD")) {
        return None;
    }
    let bare = unit.forms().iter().find_map(|form| bare.strip_suffix(form)).unwrap_or(bare).trim();
    let plain = |text: &str| match parse_setting(text) {
        Some(number) => Some(number),
        None => parse_setting(&plain_number::meant(text)?.digits),
    };
    let thousands = || {
        let digits = bare.strip_suffix(['k', 'K']).filter(|_| unit == Unit::Usdc)?;
        plain(digits.trim())?.checked_mul(Decimal::ONE_THOUSAND)
    };
    plain(bare).or_else(thousands).map(to_wire)
}

fn coins(bare: &str) -> Option<String> {
    // Another place's market, or a spot one, is no coin of another name.
    if bare.contains([':', '@']) {
        return None;
    }
    let parts = bare.split(|mark: char| !mark.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    let mut named: Vec<&str> = Vec::new();
    for part in parts {
        if !(named.contains(&part) || !named.is_empty() && TAILS.contains(&part.to_ascii_uppercase().as_str())) {
            named.push(part);
        }
    }
    match named.as_slice() {
        [] => None,
        [one] if one.eq_ignore_ascii_case(ALL) => Some(ALL.to_owned()),
        [one] if one.eq_ignore_ascii_case("none") => None,
        several if several.iter().any(|coin| coin.eq_ignore_ascii_case(ALL)) => None,
        several => Some(several.join(",")),
    }
}
