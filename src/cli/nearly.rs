//! A command line with a word that is nearly right: a command misspelt, a flag of another program, a word without its flag. Each is
//! told with the whole command that was meant, and what else was typed stays in it.

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::refusal::Refusal;
use super::renamed_commands::{self, Named};
use super::{of_journals, slips};
use crate::base::clock::now_ms;
use crate::base::ip_share::IpShare;
use crate::base::mode::Mode;
use crate::base::shell::word;
use crate::base::text::{nearest, short, without_keys};
use crate::home::{DEFAULT_LISTEN, likely_listen, likely_usdc};

/// The commands with their groups, and names that are none and have an answer of their own.
const COMMANDS: &[(&str, &[&str], &[&str])] = &[
    (
        "",
        &[
            "init",
            "config",
            "key",
            "pair",
            "client",
            "run",
            "health",
            "journal-init",
            "journal-resume",
            "journal-show",
            "report",
            "check-config",
            "mcp",
            "notify",
        ],
        &["status", "positions", "events", "decisions", "logs", "version", "resume", "start", "restart", "flatten"],
    ),
    ("client", &["add"], &["list", "show", "revoke", "remove", "delete", "create", "rotate", "replace"]),
    ("config", &["get", "set"], &["list", "show", "print", "edit", "change"]),
    ("key", &["check", "replace"], &["rotate", "show", "list", "change"]),
    ("notify", &["test"], &[]),
];

/// The values that `config get` prints; those that `config set` changes come first.
const VALUES: [&str; 7] = ["rules", "listen", "ip_share", "equity_cap", "network", "mode", "account"];
const SETTABLE: usize = 4;

/// A command that was misspelt.
pub(super) fn command(
    program: &Command,
    error: &clap::Error,
    words: &[String],
    home: impl Fn() -> Option<Named>,
) -> Option<Refusal> {
    let name = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(name)) if error.kind() == ErrorKind::InvalidSubcommand => name.as_str(),
        _ => return None,
    };
    let place = words.iter().position(|word| word == name)?;
    let group = place.checked_sub(1).and_then(|before| words.get(before)).map_or("", String::as_str);
    let (_, real, answered) = COMMANDS.iter().find(|(known, ..)| *known == group)?;
    if let Some(value) = nearest(name, VALUES.into_iter()).filter(|_| group == "config") {
        return Some(Refusal::NoSuchName(format!("config {name}"), format!("`svc-guard config get {value}`")));
    }
    if let Some(line) = of_config(name, words).filter(|_| group.is_empty()) {
        return Some(Refusal::NoSuchName(name.to_owned(), format!("`svc-guard {}`", completed(program, &line, None))));
    }
    let meant = nearest(name, real.iter().chain(*answered).copied())?;
    if answered.contains(&meant) {
        let group = Some(group).filter(|group| !group.is_empty());
        return renamed_commands::command(group, meant, home);
    }
    let mut line = words.to_vec();
    *line.get_mut(place)? = meant.to_owned();
    let typed = [group, name].join(" ");
    let mode = home().and_then(|home| home.mode);
    Some(Refusal::NoSuchName(typed.trim().to_owned(), format!("`svc-guard {}`", completed(program, &line, mode))))
}

/// The command about the config that a line means which begins with what stands behind `config`.
fn of_config(name: &str, words: &[String]) -> Option<Vec<String>> {
    let config = "config".to_owned();
    if ["get", "set"].contains(&name) {
        return Some([&[config], words].concat());
    }
    let value = VALUES.into_iter().find(|value| name.replace('-', "_") == *value)?;
    let verb = if words.len() > 1 && VALUES.iter().take(SETTABLE).any(|known| *known == value) { "set" } else { "get" };
    let behind = words.get(1..).filter(|_| verb == "set").unwrap_or_default();
    Some([&[config, verb.to_owned(), value.to_owned()], behind].concat())
}

/// A word that the command does not take there and that nearly stands for one that it takes.
pub(super) fn flag(
    program: &Command,
    error: &clap::Error,
    words: &[String],
    mode: impl FnOnce() -> Option<Mode>,
) -> Option<Refusal> {
    if !matches!(error.kind(), ErrorKind::UnknownArgument | ErrorKind::InvalidValue) {
        return None;
    }
    let named =
        [ContextKind::InvalidValue, ContextKind::InvalidArg].into_iter().find_map(|kind| match error.get(kind) {
            Some(ContextValue::String(word)) => Some(word.as_str()),
            _ => None,
        });
    let typed: Vec<&str> = words.iter().map(String::as_str).collect();
    let told = match typed.as_slice() {
        ["config", verb @ ("get" | "set"), rest @ ..] => value(verb, rest)?,
        [command @ ("report" | "journal-show" | "journal-init" | "journal-resume"), rest @ ..] => {
            let line = of_journals::rewritten(command, rest)?;
            if is_unknown(program, &line) {
                return None;
            }
            let whole = completed(program, &line, mode());
            match named.filter(|typed| of_journals::is_no_format(error, typed)) {
                Some(_) => format!("the formats are table, csv and json, as in `svc-guard {whole}`"),
                None => format!("`svc-guard {whole}` is meant"),
            }
        }
        _ => return None,
    };
    let given = short(named.unwrap_or_default());
    Some(Refusal::Given(without_keys(&format!("{given:?} is not taken there; {told}"))))
}

/// A value of the config that was misspelt, or typed as a flag.
fn value(verb: &str, rest: &[&str]) -> Option<String> {
    let (first, behind) = rest.split_first()?;
    let (name, inline) = first
        .trim_start_matches('-')
        .split_once('=')
        .map_or((first.trim_start_matches('-'), None), |(name, value)| (name, Some(value)));
    let known = VALUES.iter().copied().take(if verb == "set" { SETTABLE } else { VALUES.len() });
    let meant = nearest(name, known)?;
    // What is wrong stands behind the value: without it the command would do more than was asked for, or less.
    if *first == meant && behind.len() > 1 {
        return None;
    }
    if verb == "get" {
        return Some(format!("`svc-guard config get {meant}` is meant"));
    }
    let value = inline.or(behind.first().copied()).map_or_else(|| "VALUE".to_owned(), word);
    Some(format!("`svc-guard config set {meant} {value}` is meant"))
}

/// A day, where nothing tells which one was meant.
const A_DAY: &str = "2026-01-31";

/// Values that are put right in one command at most.
const MOST_VALUES: usize = 4;

/// The command with a value in the place of each that cannot be, for flags whose value can be told.
pub(super) fn corrected(
    program: &Command,
    error: &clap::Error,
    words: &[String],
    mode: Option<Mode>,
) -> Option<String> {
    let mut line = one_corrected(error, words)?;
    for _ in 0..MOST_VALUES {
        let words = ["svc-guard"].into_iter().chain(line.iter().map(String::as_str));
        match program.clone().try_get_matches_from(words) {
            Err(error) if is_of_value(&error) => line = one_corrected(&error, &line)?,
            _ => break,
        }
    }
    Some(completed(program, &line, mode))
}

fn is_of_value(error: &clap::Error) -> bool {
    matches!(error.kind(), ErrorKind::ValueValidation | ErrorKind::InvalidValue)
}

fn one_corrected(error: &clap::Error, words: &[String]) -> Option<Vec<String>> {
    let of = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let given = of(ContextKind::InvalidValue).filter(|_| is_of_value(error))?;
    let flag = of(ContextKind::InvalidArg)?.split(' ').next()?;
    let possible = match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(names)) => names.as_slice(),
        _ => &[],
    };
    let likely = match flag {
        "--listen" => likely_listen(given, DEFAULT_LISTEN).to_string(),
        "--ip-share" => IpShare::likely(given, None).to_string(),
        "--equity-cap" => likely_usdc(given)?.digits,
        "--from" | "--to" => of_journals::day(given, now_ms()).map_or_else(|| A_DAY.to_owned(), |day| day.to_string()),
        _ => nearest(given, possible.iter().map(String::as_str))?.to_owned(),
    };
    let inline = format!("{flag}={given}");
    let place = words
        .iter()
        .position(|word| *word == inline)
        .or_else(|| words.windows(2).position(|pair| pair == [flag, given]).map(|before| before.saturating_add(1)))?;
    let mut line = words.to_vec();
    let slot = line.get_mut(place)?;
    *slot = if *slot == inline { format!("{flag}={likely}") } else { likely };
    Some(line)
}

/// Whether something else in the line is no word of the command's, which the parser names.
fn is_unknown(program: &Command, words: &[String]) -> bool {
    let read = program.clone().try_get_matches_from(["svc-guard"].into_iter().chain(words.iter().map(String::as_str)));
    read.is_err_and(|error| error.kind() == ErrorKind::UnknownArgument)
}

/// A command line with what it still lacks, as it is typed into a shell.
fn completed(program: &Command, words: &[String], mode: Option<Mode>) -> String {
    let line = |words: &[String]| words.iter().map(word).collect::<Vec<_>>().join(" ");
    // What stands for a day is put in by the person.
    let day = |word: &'_ String| if word == of_journals::DATE { A_DAY.to_owned() } else { word.clone() };
    let parsed = |words: &[String]| {
        program.clone().try_get_matches_from(["svc-guard".to_owned()].into_iter().chain(words.iter().map(day)))
    };
    let Err(error) = parsed(words) else { return line(words) };
    // What was typed stays in it where the mode is all that it lacks.
    let with_mode = mode.zip(words.split_first()).map(|(mode, (command, rest))| {
        [&[command.clone(), "--mode".to_owned(), mode.name().to_owned()], rest].concat()
    });
    if let Some(whole) = with_mode.filter(|words| parsed(words).is_ok()) {
        return line(&whole);
    }
    slips::whole(program, &error, words, mode).unwrap_or_else(|| line(words))
}
