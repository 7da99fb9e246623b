//! `completions`: a shell's completions of this command line, for those who package it.

use clap::{Command, ValueEnum};
use clap_complete::{Shell, generate};

use super::output::print;
use super::refusal::Refusal;

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
    let script = String::from_utf8_lossy(&script);
    // The generator gives each command one name where it moves to it and another where it stands, for a program with a
    // dash in its name (https://github.com/clap-rs/clap/issues/6421): nothing would be completed after the first word.
    print(&script.replace("svc__subcmd__guard", "svc__guard"))
}
