//! `completions`: a shell's completions of this command line, for those who package it.

use clap::{Command, ValueEnum};
use clap_complete::{Shell, generate};

use super::output::print;
use super::refusal::Refusal;
use crate::rules::Rules;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The shell
    shell: Wanted,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Wanted {
    /// The Bourne-again shell
    Bash,
    /// The Z shell
    Zsh,
    /// The friendly interactive shell
    Fish,
}

/// Prints the completions of `command`.
pub(super) fn run(args: &Args, command: &mut Command) -> Result<(), Refusal> {
    let shell = match args.shell {
        Wanted::Bash => Shell::Bash,
        Wanted::Zsh => Shell::Zsh,
        Wanted::Fish => Shell::Fish,
    };
    let mut script = Vec::new();
    generate(shell, command, "svc-guard", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    for Words { path, words } in named(command, &[]) {
        match args.shell {
            Wanted::Bash => script = once_in_bash(&script, &path, &words),
            Wanted::Fish => script.push_str(&in_fish(&path, &words)),
            Wanted::Zsh => {}
        }
    }
    if matches!(args.shell, Wanted::Zsh) {
        script = with_rules_in_zsh(&script);
    }
    if matches!(args.shell, Wanted::Fish) {
        // No word that stands alone names a file.
        script.push_str("complete -c svc-guard -f\n");
    }
    // The generator gives each command one name where it moves to it and another where it stands, for a program with a
    // dash in its name (https://github.com/clap-rs/clap/issues/6421): nothing would be completed after the first word.
    print(&script.replace("svc__subcmd__guard", "svc__guard"))
}

/// The command that changes a rule, behind whose word come the rules.
const SET: [&str; 2] = ["config", "set"];

/// A command that takes one of these words.
struct Words {
    path: Vec<String>,
    words: Vec<String>,
}

/// Every command that takes one of a few words.
fn named(command: &Command, path: &[String]) -> Vec<Words> {
    let mut found = Vec::new();
    for sub in command.get_subcommands() {
        let path = [path, &[sub.get_name().to_owned()]].concat();
        let words = sub.get_positionals().flat_map(clap::Arg::get_possible_values);
        let words: Vec<String> = words.map(|word| word.get_name().to_owned()).collect();
        found.extend(named(sub, &path));
        if !words.is_empty() {
            found.push(Words { path, words });
        }
    }
    found
}

/// `stop= leverage= ...`
fn rules() -> String {
    Rules::keys().map(|key| format!("{key}=")).collect::<Vec<_>>().join(" ")
}

/// The generator offers a command's words behind each of them again: there are the rules, or nothing.
fn once_in_bash(script: &str, path: &[String], words: &[String]) -> String {
    const CASES: &str = "            case \"${prev}\" in\n";
    let label: String = path.iter().map(|name| format!("__subcmd__{}", name.replace('-', "__"))).collect();
    // It names the program in two ways, see above.
    let labels = [format!("svc__guard{label})\n"), format!("svc__subcmd__guard{label})\n")];
    let Some(start) = labels.iter().find_map(|label| Some(script.find(label)?.saturating_add(label.len()))) else {
        return script.to_owned();
    };
    let Some(at) = script.get(start..).and_then(|rest| rest.find(CASES)).map(|at| start + at + CASES.len()) else {
        return script.to_owned();
    };
    let case = |words: &str, offered: &str| {
        format!(
            "                {words})\n                    {offered}\n                    return 0\n                    ;;\n"
        )
    };
    let mut cases = String::new();
    if path == SET {
        let offered =
            format!("COMPREPLY=( $(compgen -W \"{}\" -- \"${{cur}}\") ); compopt -o nospace 2>/dev/null", rules());
        cases.push_str(&case("rules", &offered));
    }
    let others: Vec<&str> = words.iter().map(String::as_str).filter(|word| path != SET || *word != "rules").collect();
    cases.push_str(&case(&others.join("|"), "COMPREPLY=()"));
    let (before, after) = script.split_at_checked(at).unwrap_or((script, ""));
    format!("{before}{cases}{after}")
}

/// The generator offers files for the new value of a rule.
fn with_rules_in_zsh(script: &str) -> String {
    const NAME: &str = "_svc_guard_new_value";
    let offers = format!("{NAME}() {{\n    [[ ${{words[CURRENT-1]}} == rules ]] && compadd -S '' -- {}\n}}\n", rules());
    let value = |line: &str| match line
        .strip_prefix("':value -- Its new value")
        .and_then(|rest| rest.strip_suffix(":_default' \\"))
    {
        Some(text) => format!("':value -- Its new value{text}:{NAME}' \\"),
        None => line.to_owned(),
    };
    let (first, rest) = script.split_once('\n').unwrap_or((script, ""));
    let rest: Vec<String> = rest.lines().map(value).collect();
    format!("{first}\n\n{offers}{}\n", rest.join("\n"))
}

/// The generator leaves a command's words out, so that files are offered in their place.
fn in_fish(path: &[String], words: &[String]) -> String {
    let begun = path.iter().enumerate().map(|(place, name)| match place {
        0 => format!("__fish_svc_guard_using_subcommand {name}"),
        _ => format!("__fish_seen_subcommand_from {name}"),
    });
    let begun = begun.collect::<Vec<_>>().join("; and ");
    let words = words.join(" ");
    let mut lines = format!(
        "complete -c svc-guard -n \"{begun}; and not __fish_seen_subcommand_from {words}\" -f -a \"{words}\"\n"
    );
    if path == SET {
        lines.push_str(&format!(
            "complete -c svc-guard -n \"{begun}; and __fish_seen_subcommand_from rules\" -f -a \"{}\"\n",
            rules()
        ));
    }
    lines
}
