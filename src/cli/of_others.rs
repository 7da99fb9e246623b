//! Flags of other programs, and of other commands of this one, each with the whole command that does what they were typed for. What
//! else was typed stays in it.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::here;
use super::refusal::Refusal;
use super::renamed_commands::Named;
use crate::base::mode::Mode;
use crate::base::shell::{confirmation, word as shell_word};
use crate::base::text::{short, without_keys};
use crate::home::{DEFAULT_LISTEN, likely_listen, parse_address};

const CONFIRMATIONS: [&str; 3] = ["--confirm-mainnet", "--confirm-account", "--confirm"];
const KEYS: [&str; 3] = ["--key-file", "--keyfile", "--wallet-key-file"];
const STORES: [&str; 3] = ["--store", "--key-store", "--keystore"];
const YES: [&str; 5] = ["-y", "--yes", "--assume-yes", "--no-input", "--batch"];
const URLS: [&str; 5] = ["--url", "--guard", "--base-url", "--endpoint", "--server"];
const MODES: [&str; 3] = ["--network", "--mode", "--net"];
const HOSTS: [&str; 3] = ["--bind", "--address", "--host"];
const PORTS: [&str; 2] = ["--port", "-p"];

/// The refusal of such a flag.
pub(super) fn flag(error: &clap::Error, words: &[String], home: impl Fn() -> Option<Named>) -> Option<Refusal> {
    let named = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) if error.kind() == ErrorKind::UnknownArgument => word.as_str(),
        _ => return None,
    };
    let flag = named.split('=').next().unwrap_or(named);
    let is = |known: &[&str]| known.contains(&flag);
    let typed: Vec<&str> = words.iter().map(String::as_str).collect();
    let mode = || home().and_then(|home| home.mode);
    let told = match typed.as_slice() {
        ["run" | "journal-init" | "journal-resume", ..] if is(&CONFIRMATIONS) => confirmed(words, flag, mode()),
        ["init", ..] if is(&KEYS) => {
            let (rest, file) = without(words, flag);
            key_of_init(rest, file.as_deref())
        }
        ["init", rest @ ..] if !flag.starts_with('-') && rest.contains(&"--key-stdin") => {
            key_of_init(without(words, flag).0, Some(flag))
        }
        ["init", ..] if is(&YES) => {
            let line = line(&unasked(alone(words, flag)));
            format!("every answer is taken from the flags by `svc-guard {line}`")
        }
        ["key", command @ ("replace" | "check"), ..] if is(&STORES) => format!(
            "a key is kept as the one before it: `svc-guard key {command} --key-stdin < FILE`{}",
            if *command == "replace" { ", or with --no-store nowhere" } else { "" }
        ),
        ["mcp" | "notify", ..] if is(&URLS) => {
            let (mut rest, url) = without(words, flag);
            rest.extend(["--guard-url".to_owned(), url.unwrap_or_else(|| "URL".to_owned())]);
            format!("the guard's URL is given by `svc-guard {}`", line(&rest))
        }
        ["notify", second, ..] if is(&["--test"]) && *second != "test" => {
            let mut rest = alone(words, flag);
            rest.insert(1, "test".to_owned());
            format!("a message to each target is sent by `svc-guard {}`", line(&rest))
        }
        ["check-config", ..] if is(&MODES) => {
            format!("the config has one mode, which it prints: `svc-guard {}`", line(&without(words, flag).0))
        }
        ["run" | "health", ..] if is(&HOSTS) || is(&PORTS) => {
            format!("`svc-guard {}` names the address", line(&listening(words, mode())))
        }
        ["run", ..] => starts(words, flag, mode())?,
        _ => return None,
    };
    Some(Refusal::Given(without_keys(&format!("{:?} is not taken there; {told}", short(named)))))
}

/// The words as they are typed into a shell.
fn line(words: &[String]) -> String {
    here::command(["svc-guard"].into_iter().chain(words.iter().map(String::as_str)).map(OsString::from))
}

/// The words without a flag that takes no value.
fn alone(words: &[String], flag: &str) -> Vec<String> {
    words.iter().filter(|word| *word != flag).cloned().collect()
}

/// The words without a flag and its value, and that value.
fn without(words: &[String], flag: &str) -> (Vec<String>, Option<String>) {
    let (mut rest, mut value) = (Vec::new(), None);
    let mut words = words.iter().peekable();
    while let Some(typed) = words.next() {
        match typed.split_once('=').unwrap_or((typed, "")) {
            (name, "") if name == flag => {
                let next = words.next_if(|next| flag.starts_with('-') && !next.starts_with('-')).cloned();
                value = value.or(next);
            }
            (name, inline) if name == flag => value = value.or(Some(inline.to_owned())),
            _ => rest.push(typed.clone()),
        }
    }
    (rest, value)
}

/// How mainnet is confirmed: by a variable before the command, which a person types.
fn confirmed(words: &[String], flag: &str, mode: Option<Mode>) -> String {
    let (rest, account) = without(words, flag);
    let (command, rest) = rest.split_first().map_or(("run", &[][..]), |(command, rest)| (command.as_str(), rest));
    if let Some(mode @ (Mode::Paper | Mode::Testnet)) = mode {
        let line = line(&[&[command.to_owned()], rest].concat());
        let way = if command == "run" { format!(": `svc-guard {line}`") } else { "; leave it out".to_owned() };
        return format!("only mainnet is confirmed, and this home is set up for {mode}{way}");
    }
    // The start says the rest, as the home needs it.
    let (rest, _) = if command == "run" { without(rest, "--network") } else { (rest.to_vec(), None) };
    let named: &[String] = if command == "run" { &["--network".to_owned(), "mainnet".to_owned()] } else { &[] };
    let has_mode = command == "run" || rest.iter().any(|word| word.starts_with("--mode"));
    let of_journal: &[String] = if has_mode { &[] } else { &["--mode".to_owned(), "mainnet".to_owned()] };
    let reads = |word: &String| command == "run" && word == "--key-stdin";
    let rest: Vec<String> = rest.into_iter().filter(|word| !reads(word)).collect();
    let mut line = line(&[&[command.to_owned()], named, of_journal, &rest].concat());
    if !rest.iter().any(|word| word.starts_with("--note")) && command != "run" {
        line.push_str(" --note TEXT");
    }
    let by = "the confirmation is given by the environment, before the command";
    match mode {
        Some(_) => format!("{by}: `svc-guard {line}`"),
        None => {
            let account = account.and_then(|account| parse_address(&account).ok());
            let account = account.map_or_else(|| "0x...".to_owned(), |account| account.to_string());
            let key = if command == "run" { " --key-stdin < FILE" } else { "" };
            format!("{by}: `{}svc-guard {line}{key}`", confirmation(account))
        }
    }
}

/// A set-up without questions: the flags that it needs, where they are not there.
fn unasked(mut words: Vec<String>) -> Vec<String> {
    words.retain(|word| word != "--interactive");
    for (flag, value) in [("--non-interactive", None), ("--account", Some("0x...")), ("--rules", Some("@/dev/null"))] {
        if !words.iter().any(|word| word.split('=').next() == Some(flag)) {
            words.extend([Some(flag), value].into_iter().flatten().map(str::to_owned));
        }
    }
    words
}

/// How a set-up is given the API wallet's key.
fn key_of_init(words: Vec<String>, file: Option<&str>) -> String {
    let mut words = unasked(words);
    words.retain(|word| word != "--key-stdin");
    let file = file.map_or_else(|| "FILE".to_owned(), shell_word);
    format!(
        "the file with the key is given by `svc-guard {} --key-stdin < {file}`; without --non-interactive the key is asked for and not shown",
        line(&words)
    )
}

/// The words with the address that other servers' flags name, and with the mode that a start needs.
fn listening(words: &[String], mode: Option<Mode>) -> Vec<String> {
    let take = |words: Vec<String>, flags: &[&str]| {
        flags.iter().fold((words, None), |(words, found), flag| {
            let (words, value) = without(&words, flag);
            (words, found.or(value))
        })
    };
    let (rest, host) = take(words.to_vec(), &HOSTS);
    let (rest, port) = take(rest, &PORTS);
    let (mut rest, _) = without(&rest, "--listen");
    let given = match (host, port) {
        (Some(host), Some(port)) => format!("{}:{port}", likely_listen(&host, DEFAULT_LISTEN).ip()),
        (host, port) => host.or(port).unwrap_or_default(),
    };
    let listen = given.parse().unwrap_or_else(|_| likely_listen(&given, DEFAULT_LISTEN));
    let is_run = rest.first().is_some_and(|command| command == "run");
    let has_mode = rest.iter().any(|word| word.starts_with("--network"));
    if let Some(mode) = mode.filter(|mode| is_run && !has_mode && *mode != Mode::Paper) {
        rest.extend(["--network".to_owned(), mode.name().to_owned()]);
    }
    rest.extend(["--listen".to_owned(), listen.to_string()]);
    rest
}

/// A start in a mode that was typed as a word or a flag of its own: a home has one mode.
fn starts(words: &[String], flag: &str, own: Option<Mode>) -> Option<String> {
    let (rest, value) =
        if ["--mode", "--net"].contains(&flag) { without(words, flag) } else { (alone(words, flag), None) };
    let mode: Mode = value.as_deref().unwrap_or_else(|| flag.trim_start_matches('-')).parse().ok()?;
    let (mut rest, _) = without(&rest, "--network");
    rest.extend(["--network".to_owned(), own.unwrap_or(mode).name().to_owned()]);
    let starts = format!("`svc-guard {}`", line(&rest));
    Some(match own.filter(|own| *own != mode) {
        None => format!("the mode is named by {starts}"),
        // One that is named so would be refused here.
        Some(own) => {
            let named = if mode == Mode::Paper {
                String::new()
            } else {
                format!(" and the mode by `svc-guard run --network {mode}`")
            };
            format!(
                "this home is set up for {own}, and {starts} starts it; another home, which is set up for {mode}, is named by --home DIR\
                 {named}"
            )
        }
    })
}
