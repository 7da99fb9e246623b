//! Holds the manual page `svc-guard(1)` to the command line that it describes.

use std::collections::BTreeSet;

use clap::{Command, CommandFactory};

use super::Cli;

const PAGE: &str = include_str!("../../man/svc-guard.1");

/// Text without its macros: `.BI \-\-home " DIR"` is `--home DIR`.
fn plain(line: &str) -> String {
    let words = line.trim_start_matches(".BI ").trim_start_matches(".BR ").trim_start_matches(".B ").replace('"', "");
    words.replace("\\-", "-").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The page's part under a heading, up to the next of its kind.
fn section(macro_name: &str, name: &str) -> String {
    let heading = format!("\n{macro_name} {name}\n");
    let (_, rest) = PAGE.split_once(&heading).unwrap_or_else(|| panic!("no {macro_name} {name}"));
    let rest = format!("\n{rest}");
    let end = rest.find("\n.SH ").into_iter().chain(rest.find("\n.SS ")).min();
    rest[..end.unwrap_or(rest.len())].to_owned()
}

/// The entries of a part: their heads and texts.
fn entries(part: &str) -> Vec<(String, String)> {
    let split = part.split("\n.TP\n").skip(1).map(|entry| entry.split_once('\n').unwrap());
    split.map(|(head, body)| (plain(head), body.lines().map(plain).collect::<Vec<_>>().join(" "))).collect()
}

/// Every command that does something, by the words that name it.
fn leaves(command: &Command, name: &str, found: &mut Vec<(String, Command)>) {
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
        let name = format!("{name} {}", sub.get_name()).trim().to_owned();
        leaves(sub, &name, found);
        if !sub.is_subcommand_required_set() {
            found.push((name, sub.clone()));
        }
    }
}

fn all_leaves() -> Vec<(String, Command)> {
    let mut found = Vec::new();
    leaves(&Cli::command(), "", &mut found);
    found
}

/// The flags of a command as the page names them, with their help.
fn flags(command: &Command) -> Vec<(String, String)> {
    let own = command
        .get_arguments()
        .filter(|arg| !arg.is_positional() && arg.get_id() != "help" && arg.get_id() != "version");
    own.map(|arg| {
        let short = arg.get_short().map_or_else(String::new, |short| format!("-{short} , "));
        let value = match arg.get_value_names().filter(|_| arg.get_action().takes_values()) {
            Some([value]) => format!(" {value}"),
            _ => String::new(),
        };
        (format!("{short}--{}{value}", arg.get_long().unwrap()), arg.get_help().unwrap().to_string())
    })
    .collect()
}

/// The text between `[name: ` and `]` in a flag's help.
fn said<'a>(help: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = help.split_once(&format!("[{name}: "))?;
    Some(rest.split_once(']').unwrap().0)
}

#[test]
fn every_command_and_flag_is_on_the_page() {
    let commands = all_leaves();
    assert!(commands.len() >= 13, "{}", commands.len());
    for (name, command) in &commands {
        let listed = entries(&section(".SS", &name.replace('-', "\\-")));
        let known = flags(command);
        let heads = |list: &[(String, String)]| list.iter().map(|(head, _)| head.clone()).collect::<Vec<_>>();
        assert_eq!(heads(&listed), heads(&known), "{name}");
        for ((flag, text), (_, help)) in listed.iter().zip(&known) {
            for (kind, before) in [("env", "nvironment"), ("default", "efault")] {
                let Some(value) = said(help, kind).filter(|value| *value != "the config's") else { continue };
                assert!(text.contains(before) && text.contains(value), "{name} {flag}: no {kind} {value} in {text}");
            }
        }
    }
}

#[test]
fn no_command_of_the_page_is_missing() {
    let known: BTreeSet<String> = all_leaves().into_iter().map(|(name, _)| name).collect();
    let (_, part) = PAGE.split_once("\n.SH COMMANDS\n").unwrap();
    let part = &part[..part.find("\n.SH ").unwrap()];
    let listed: BTreeSet<String> =
        part.lines().filter_map(|line| line.strip_prefix(".SS ")).map(|name| name.replace("\\-", "-")).collect();
    assert_eq!(listed, known);
}

#[test]
fn every_variable_is_on_the_page() {
    let source = include_str!("environment.rs");
    let known: BTreeSet<&str> =
        source.split('"').filter(|text| text.starts_with("SVC_") && !text.contains(' ')).collect();
    let listed = entries(&section(".SH", "ENVIRONMENT"));
    assert_eq!(listed.iter().map(|(head, _)| head.as_str()).collect::<BTreeSet<_>>(), known);
    assert_eq!(known.len(), 9);
}

#[test]
fn the_values_of_config_get_are_on_the_page() {
    let leaf = all_leaves().into_iter().find(|(name, _)| name == "config get").unwrap().1;
    let part = plain(&section(".SS", "config get"));
    for value in leaf.get_positionals().flat_map(clap::Arg::get_possible_values) {
        assert!(part.contains(value.get_name()), "{}", value.get_name());
    }
}
