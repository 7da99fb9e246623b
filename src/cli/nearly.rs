//! A command line with a word that is nearly right: a command misspelt, a flag of another program, a word without its flag. Each is
//! told with the whole command that was meant, and what else was typed stays in it.

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::refusal::Refusal;
use super::renamed_commands::{self, Named};
use super::slips;
use crate::base::clock::now_ms;
use crate::base::day::{Day, day_of};
use crate::base::ip_share::IpShare;
use crate::base::mode::Mode;
use crate::base::shell::word;
use crate::base::text::{nearest, short, without_keys};
use crate::home::{likely_listen, likely_usdc};

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
            let line = rewritten(command, rest)?;
            format!("`svc-guard {}` is meant", completed(program, &line, mode()))
        }
        ["run" | "health", ..] => of_a_server(&typed, named.unwrap_or_default())?,
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

/// The words of a command about a journal as it takes them; none where nothing in them is known for something else.
fn rewritten(command: &str, rest: &[&str]) -> Option<Vec<String>> {
    let (mut line, mut is_other) = (vec![command.to_owned()], false);
    let rest_has_note = rest.iter().any(|word| word.starts_with("--note"));
    let mut rest = rest.iter().copied().peekable();
    while let Some(typed) = rest.next() {
        let (flag, inline) = typed.split_once('=').map_or((typed, None), |(flag, value)| (flag, Some(value)));
        let is_report = command == "report";
        let is_change = matches!(command, "journal-init" | "journal-resume");
        let before = line.len();
        let mut value = || inline.or_else(|| rest.next_if(|next| !next.starts_with("--")));
        match flag {
            "--since" | "--start" | "--after" | "--begin" if is_report => {
                put(&mut line, "--from", value().unwrap_or("DATE"));
            }
            "--until" | "--till" | "--end" | "--before" if is_report => {
                put(&mut line, "--to", value().unwrap_or("DATE"));
            }
            "--json" | "--csv" | "--table" if is_report => put(&mut line, "--format", flag.trim_start_matches('-')),
            "--market" | "--markets" | "--coin" | "--coins" | "--symbol" if is_report => {
                value();
                put(&mut line, "--by", "market");
            }
            "--client" | "--clients" | "--bot" if is_report => {
                value();
                put(&mut line, "--by", "client");
            }
            "--by" if is_report => {
                let given = value().unwrap_or_default();
                put(&mut line, flag, row(given));
                is_other |= row(given) != given;
                continue;
            }
            "--format" if is_report => {
                let given = value().unwrap_or_default();
                let meant = format(given);
                put(&mut line, flag, meant);
                is_other |= meant != given;
                continue;
            }
            "--reason" | "--message" | "--why" | "--comment" if is_change => {
                put(&mut line, "--note", value().unwrap_or("TEXT"));
            }
            "--network" | "--net" => put(&mut line, "--mode", value().unwrap_or("MODE")),
            mode if mode.parse::<Mode>().is_ok() => put(&mut line, "--mode", mode),
            "--fills" if is_report => {
                line.push(typed.to_owned());
                continue;
            }
            "table" | "csv" | "json" if is_report => put(&mut line, "--format", flag),
            note if is_change && !note.starts_with('-') && !rest_has_note => put(&mut line, "--note", typed),
            day if is_report && day.parse::<Day>().is_ok() => {
                put(&mut line, "--from", day);
                put(&mut line, "--to", day);
            }
            _ => {
                line.push(typed.to_owned());
                // A flag's own value is no word without its flag.
                line.extend(rest.next_if(|next| typed.starts_with("--") && !next.starts_with("--")).map(str::to_owned));
                continue;
            }
        }
        is_other |= line.len() > before;
    }
    is_other.then_some(line)
}

fn put(line: &mut Vec<String>, flag: &str, value: &str) {
    line.extend([flag.to_owned(), value.to_owned()]);
}

/// The format that was meant: what a spreadsheet opens is csv.
fn format(typed: &str) -> &'static str {
    let is_sheet =
        ["xls", "ods", "excel", "tsv", "sheet"].into_iter().any(|sheet| typed.to_lowercase().starts_with(sheet));
    let named = || nearest(typed, ["table", "csv", "json"].into_iter()).unwrap_or("table");
    if is_sheet { "csv" } else { named() }
}

/// What a row of the report stands for, by another word for it.
fn row(typed: &str) -> &str {
    match typed {
        "coin" | "coins" | "markets" | "symbol" | "symbols" | "asset" | "assets" => "market",
        "days" | "daily" | "date" => "day",
        "clients" | "bot" | "bots" => "client",
        typed => typed,
    }
}

/// The command with a value in the place of one that cannot be, for flags whose value can be told.
pub(super) fn corrected(error: &clap::Error, words: &[String]) -> Option<String> {
    let of = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let is_of_value = matches!(error.kind(), ErrorKind::ValueValidation | ErrorKind::InvalidValue);
    let given = of(ContextKind::InvalidValue).filter(|_| is_of_value)?;
    let flag = of(ContextKind::InvalidArg)?.split(' ').next()?;
    let possible = match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(names)) => names.as_slice(),
        _ => &[],
    };
    let likely = match flag {
        "--listen" => likely_listen(given).to_string(),
        "--ip-share" => IpShare::likely(given).to_string(),
        "--equity-cap" => likely_usdc(given)?.digits,
        "--from" | "--to" => day(given, now_ms())?.to_string(),
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
    Some(line.iter().map(word).collect::<Vec<_>>().join(" "))
}

/// The day that was meant by a word, or by one that is written with other marks between its parts.
fn day(typed: &str, now_ms: u64) -> Option<Day> {
    match typed.to_lowercase().as_str() {
        "today" | "now" => Some(day_of(now_ms)),
        "yesterday" => Some(day_of(now_ms).preceding()),
        other => other.replace(['/', '.', '_'], "-").parse().ok(),
    }
}

/// Flags that other servers take.
fn of_a_server(words: &[&str], named: &str) -> Option<String> {
    let (flag, inline) = named.split_once('=').map_or((named, None), |(flag, value)| (flag, Some(value)));
    let command = words.first()?;
    match flag {
        "--foreground" | "--fg" | "--no-daemon" | "--nodaemon" if *command == "run" => {
            Some("it runs at its terminal until SIGTERM or Ctrl-C without it: leave it out".to_owned())
        }
        "--port" | "-p" | "--bind" | "--address" | "--host" => {
            let given = inline.or_else(|| words.iter().skip_while(|word| **word != flag).nth(1).copied());
            let listen = likely_listen(given.unwrap_or_default());
            Some(format!("`svc-guard {command} --listen {listen}` names the address"))
        }
        _ => None,
    }
}

/// A command line with what it still lacks, as it is typed into a shell.
fn completed(program: &Command, words: &[String], mode: Option<Mode>) -> String {
    let line = |words: &[String]| words.iter().map(word).collect::<Vec<_>>().join(" ");
    let parsed = |words: &[String]| {
        program.clone().try_get_matches_from(["svc-guard"].into_iter().chain(words.iter().map(String::as_str)))
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
