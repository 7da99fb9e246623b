//! The rules, chosen by a person: each in words with its default, changed one by one or given as a whole.

use super::super::one_rule::{self, default, several, shown};
use super::super::refusal::Refusal;
use super::super::rule_offered::meant;
use super::super::rules_place::Place;
use super::super::rules_source;
use super::super::terminal::{BACK, Terminal};
use super::new_file;
use crate::base::mode::Mode;
use crate::base::text::nearest;
use crate::rules::{Described, Rules};

/// Asks until the rules are as they are wanted.
pub(super) fn choose(terminal: &Terminal, mode: Mode, rules: &mut Rules) -> Result<(), Refusal> {
    terminal.say("\nThe rules that every request is held to, each with its default:\n")?;
    show(terminal, rules)?;
    loop {
        let question = "Rule to change (or RULE=VALUE), sr1_... code or @FILE to take instead, or Enter to keep these";
        let answer = terminal.ask(question, Some("keep"))?;
        let changed = match answer.as_str() {
            "keep" => match refused_by(mode, rules) {
                None => return Ok(()),
                Some(why) => Err(why),
            },
            code if code.starts_with("sr1_") => {
                rules_source::read(code, Place::Flag).map_err(|refusal| refusal.to_string())
            }
            file if file.starts_with('@') => {
                let path = new_file::expanded(file.trim_start_matches('@'));
                rules_source::read(&format!("@{}", path.display()), Place::Flag).map_err(|refusal| refusal.to_string())
            }
            set if set.contains('=') => one(rules, set),
            // As the command line takes it: `stop 3`, `stop: 3%`.
            set if meant(set).is_some_and(|change| !change.ends_with("=VALUE")) => {
                one(rules, &meant(set).unwrap_or_default())
            }
            key => match change(terminal, rules, key) {
                // From a rule's value back to the list of rules.
                Err(Refusal::Back) => continue,
                changed => changed?,
            },
        };
        match changed {
            Ok(changed) => {
                *rules = changed;
                show(terminal, rules)?;
            }
            Err(why) => terminal.say(&format!("  {why}\n"))?,
        }
    }
}

/// Why these rules cannot stand in this mode.
fn refused_by(mode: Mode, rules: &Rules) -> Option<String> {
    let looser = rules.looser_than_default();
    let refused = mode == Mode::Mainnet && !looser.is_empty();
    let changes = looser.iter().map(|key| format!("{key}={}", default(key)));
    refused.then(|| {
        format!(
            "mainnet takes no rule looser than the defaults; change {}: the loosest that it takes is {}",
            looser.join(", "),
            changes.collect::<Vec<_>>().join(", then ")
        )
    })
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

/// The rules with one changed as `config set` takes it, `RULE=VALUE`.
fn one(rules: &Rules, set: &str) -> Result<Rules, String> {
    let changes = several(set);
    if !changes.is_empty() {
        return Err(format!("{set} is more than one rule; one at a time: {}", changes.join(", then ")));
    }
    let (key, value) = set.split_once('=').unwrap_or((set, ""));
    let (key, described) = (key.trim(), rules.describe());
    if described.iter().any(|rule| rule.key == key) { with(&described, key, value) } else { Err(no_rule(key)) }
}

/// The rules with one value as typed, where `default` is the rule's own.
fn with(described: &[Described], key: &str, typed: &str) -> Result<Rules, String> {
    let own = typed.trim().eq_ignore_ascii_case("default").then(|| default(key));
    one_rule::with(described, key, own.as_deref().unwrap_or(typed)).map_err(|why| match one_rule::before(key, &why) {
        Some(other) => format!("{why}; change {other} first"),
        None => why,
    })
}

/// What is typed instead of a word that is no rule, and was typed for something else.
fn word(typed: &str) -> Option<&'static str> {
    Some(match typed.to_ascii_lowercase().as_str() {
        "done" | "ok" | "yes" | "y" | "save" | "finish" | "next" | "continue" => {
            "Enter alone keeps these rules and goes on"
        }
        "quit" | "exit" | "q" | "cancel" | "abort" => "Ctrl-D leaves, and nothing is set up then",
        "undo" | "revert" => {
            "a rule is changed again by RULE=VALUE, and RULE=default takes its default; `back` goes to the question before"
        }
        "reset" | "default" | "defaults" => "RULE=default takes the default of a rule, @/dev/null every default",
        _ => return None,
    })
}

fn no_rule(key: &str) -> String {
    if let Some(way) = word(key) {
        return format!("{key} is not a rule; {way}");
    }
    let is_file = key.contains(['.', '/']);
    let way = match nearest(key, Rules::keys()) {
        _ if is_file => format!("a file with rules is given as @{key}"),
        Some(meant) => format!("{meant} is one"),
        None => "name one of those listed".to_owned(),
    };
    format!("{key} is not a rule; {way}")
}

/// Asks for a new value of one rule until there is one that can be; or says why it is no rule.
fn change(terminal: &Terminal, rules: &Rules, key: &str) -> Result<Result<Rules, String>, Refusal> {
    let described = rules.describe();
    let Some(rule) = described.iter().find(|rule| rule.key == key) else {
        return Ok(Err(no_rule(key)));
    };
    let (now, question) = (shown(rule), format!("{key}: {}; new value", rule.words));
    let read = |typed: &str| match described.iter().find(|rule| rule.key == typed) {
        // Any word could be a market's name: another rule's is none.
        Some(other) => Err(format!("is a rule, and no value of {key}; `{BACK}` first, then {}", other.key)),
        None => with(&described, key, typed),
    };
    terminal.ask_for(&question, Some(&now), read).map(Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mainnet_takes_no_looser_rule() {
        let looser = with(&Rules::default().describe(), "leverage", "6").unwrap();
        assert!(
            refused_by(Mode::Mainnet, &looser)
                .unwrap()
                .ends_with("change leverage: the loosest that it takes is leverage=5")
        );
        assert_eq!(refused_by(Mode::Testnet, &looser), None);
        assert_eq!(refused_by(Mode::Mainnet, &Rules::default()), None);
    }
}
