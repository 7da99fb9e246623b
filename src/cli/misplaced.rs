//! A word that a command does not take there, with the whole command that does what it was typed for.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::refusal::Refusal;
use super::renamed_commands::Named;
use super::rule_offered;
use crate::base::mode::Mode;
use crate::base::shell::word as shell_word;
use crate::base::text::{nearest, short, without_keys};
use crate::rules::Rules;

/// The refusal of such a word, with the command that was meant.
pub(super) fn word(error: &clap::Error, words: &[String], home: impl Fn() -> Option<Named>) -> Option<Refusal> {
    let typed: Vec<&str> = words.iter().map(String::as_str).collect();
    let told = match (error.kind(), typed.as_slice()) {
        (ErrorKind::InvalidValue, ["config", "set", what, rest @ ..]) if is(error, what) => {
            elsewhere(what, rest.first().copied())
        }
        (ErrorKind::InvalidValue, ["config", "get", what, ..]) if is(error, what) => {
            return Some(Refusal::Usage(without_keys(&format!(
                "{:?} is none of the possible values: network, mode, account, listen, rules, ip_share, equity_cap; what else is \
                 configured stands in guard.toml, which `svc-guard check-config` reads",
                short(what)
            ))));
        }
        (ErrorKind::InvalidValue, ["completions", shell, ..]) if is(error, shell) => {
            format!("there are none for {:?}: `svc-guard completions bash`, zsh or fish", short(shell))
        }
        // One letter apart from a flag that there is: the parser names that.
        (ErrorKind::UnknownArgument, ["key", ..]) if nearest(named(error), ["__no_store"].into_iter()).is_some() => {
            return None;
        }
        (ErrorKind::UnknownArgument, ["client", "add", rest @ ..]) => in_its_place(error, rest, "client add --out"),
        (ErrorKind::UnknownArgument, ["key", "check", rest @ ..]) => {
            in_its_place(error, rest, "key check --key-stdin <")
        }
        (ErrorKind::UnknownArgument, ["key", "replace", rest @ ..]) => {
            in_its_place(error, rest, "key replace --key-stdin <")
        }
        (ErrorKind::UnknownArgument, ["check-config", word, ..])
            if nearest(word, ["explain"].into_iter()).is_some() =>
        {
            format!("{:?} is not taken there; `svc-guard check-config --explain` is meant", short(word))
        }
        (ErrorKind::UnknownArgument, ["check-config", file, ..]) if !file.starts_with('-') => {
            format!(
                "{:?} is not taken there; another config is named by `svc-guard --config {} check-config`",
                short(file),
                shell_word(file)
            )
        }
        (ErrorKind::ArgumentConflict, ["notify", rest @ ..]) if rest.contains(&"test") => {
            let rest = rest.iter().filter(|word| **word != "test").map(shell_word).collect::<Vec<_>>().join(" ");
            format!("what belongs to a test stands behind that word: `svc-guard notify test {rest}`")
        }
        (ErrorKind::UnknownArgument, ["notify", "test", rest @ ..]) if !named(error).starts_with('-') => {
            one_target(named(error), after(rest, "--file"), home)
        }
        (ErrorKind::UnknownArgument, ["notify", "test", rest @ ..]) if named(error) != "--" => {
            let file = after(rest, "--file").map_or_else(String::new, |file| format!(" --file {}", shell_word(file)));
            format!("{} is none of a test, which looks at no guard: `svc-guard notify test{file}`", named(error))
        }
        (ErrorKind::UnknownArgument, ["run", ..]) => background(error)?,
        (ErrorKind::UnknownArgument, ["init", rest @ ..]) => mode(error, rest)?,
        (ErrorKind::UnknownArgument, ["pair", rest @ ..]) if named(error).starts_with("--out") => {
            in_its_place(error, rest, "client add --out")
        }
        (ErrorKind::UnknownArgument, ["health", ..]) if ["--json", "--format"].contains(&named(error)) => {
            "`svc-guard health` says what is wrong and tells the rest by its exit status; GET /healthz answers in JSON"
                .to_owned()
        }
        _ => return None,
    };
    Some(Refusal::Given(without_keys(&told)))
}

/// A mode that was typed as a word or a flag of its own.
fn mode(error: &clap::Error, rest: &[&str]) -> Option<String> {
    let given = named(error);
    let name = if ["--mode", "--net"].contains(&given) { after(rest, given)? } else { given.trim_start_matches('-') };
    let mode: Mode = name.parse().ok()?;
    Some(format!(
        "{:?} is not taken there; the mode is named by `svc-guard init --network {}`",
        short(given),
        mode.name()
    ))
}

/// One of the targets, or another word, behind a test that goes to all of them.
fn one_target(typed: &str, file: Option<&str>, home: impl Fn() -> Option<Named>) -> String {
    let targets = home().filter(|_| file.is_none()).map(|home| home.targets).unwrap_or_default();
    let names = targets.iter().map(|name| format!("{:?}", short(name))).collect::<Vec<_>>().join(", ");
    let file = file.map_or_else(String::new, |file| format!(" --file {}", shell_word(file)));
    let typed = short(typed);
    let each = format!("`svc-guard notify test{file}` sends one message to each target");
    match targets.as_slice() {
        [] => format!("{typed:?} is not taken there: {each}, and no name is given"),
        all if all.contains(&typed) => format!("{typed:?} alone is not tested: {each}, and these are {names}"),
        _ => format!("there is no target {typed:?}; the targets are {names}, and {each}"),
    }
}

/// A wish to have the service behind the terminal, or before it.
fn background(error: &clap::Error) -> Option<String> {
    if ["--foreground", "--fg", "--no-daemon", "--nodaemon"].contains(&named(error)) {
        return Some(format!(
            "{:?} is not taken there; it runs at its terminal until SIGTERM or Ctrl-C without it: leave it out",
            named(error)
        ));
    }
    let wishes = ["-d", "-D", "-b", "--daemon", "--detach", "--background"];
    wishes.contains(&named(error)).then(|| {
        "it runs at its terminal until SIGTERM or Ctrl-C; the installed service runs behind it: `systemctl start svc-guard`"
            .to_owned()
    })
}

/// The word that the parser stumbled over.
fn named(error: &clap::Error) -> &str {
    let kinds = [ContextKind::InvalidArg, ContextKind::InvalidValue];
    let found = kinds.into_iter().find_map(|kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    });
    found.unwrap_or("--")
}

fn is(error: &clap::Error, word: &str) -> bool {
    matches!(error.get(ContextKind::InvalidValue), Some(ContextValue::String(value)) if value == word && !word.is_empty())
}

/// The value of a flag.
fn after<'a>(words: &[&'a str], flag: &str) -> Option<&'a str> {
    let spaced = || words.iter().skip_while(|word| **word != flag).nth(1).copied();
    words.iter().find_map(|word| word.strip_prefix(flag)?.strip_prefix('=')).or_else(spaced)
}

/// A file that was given without its flag, or behind one that the command has not.
fn in_its_place(error: &clap::Error, rest: &[&str], command: &str) -> String {
    let with_value = rest.iter().find_map(|word| word.strip_prefix("--")?.split_once('=')).map(|(_, file)| file);
    let file = after(rest, "--out").or(with_value).or_else(|| rest.iter().find(|word| !word.starts_with('-')).copied());
    let given = named(error).split('=').next().unwrap_or_default();
    let file = file.map_or_else(|| "FILE".to_owned(), shell_word);
    format!("{:?} is not taken there; a file is given by `svc-guard {command} {file}`", short(given))
}

/// What changes a value that `config set` does not.
fn elsewhere(what: &str, value: Option<&str>) -> String {
    let another = |of: &str, flag: &str, value: &str| {
        format!(
            "a home keeps its {of}: `svc-guard --home DIR init {flag} {value}` sets another home up, in the folder DIR"
        )
    };
    let way = match what {
        "network" | "mode" => {
            let mode = value.and_then(|value| value.parse::<Mode>().ok());
            another("mode", "--network", mode.map_or("MODE", Mode::name))
        }
        "account" => another("account", "--account", &shell_word(value.unwrap_or("0x..."))),
        "clients" | "client" => {
            "`svc-guard client add --out FILE` makes a new client; one is removed from `clients` in guard.toml by hand".to_owned()
        }
        "api_wallet" | "key" => "`svc-guard key replace --key-stdin < FILE` puts another key there".to_owned(),
        rule if nearest(rule.split('=').next().unwrap_or(rule), Rules::keys()).is_some() => {
            let (key, value) = rule.split_once('=').or(value.map(|value| (rule, value))).unwrap_or((rule, "VALUE"));
            return format!("{:?} {}", short(key), rule_offered::instead(key, value));
        }
        _ => "what else stands in the config is changed in guard.toml by hand, as guard.toml(5) tells, and then `svc-guard \
              check-config` reads it"
            .to_owned(),
    };
    format!("`config set` changes rules, listen, ip_share and equity_cap, not {:?}; {way}", short(what))
}
