//! The command line: one file a command; every refusal exits with 2 and its reason on standard error.
//!
//! A command reads its flags and variables, decides whether it may start, and calls the room that does the work: rules,
//! files and the service stand in rooms of their own.

mod check_config;
mod client_add;
mod completions;
mod config_get;
mod config_set;
mod configured;
mod environment;
mod equity;
mod explain;
mod health;
mod here;
mod home_meant;
mod init;
mod journal;
mod kept_aside;
mod key_check;
mod key_replace;
mod key_stdin;
mod kill;
mod kill_disk;
mod kill_elsewhere;
mod kill_place;
mod kill_told;
mod kill_typed;
mod kill_ways;
mod listed;
mod local_http;
mod mainnet;
mod mainnet_gap;
#[cfg(test)]
mod manual_page;
mod mcp;
mod misplaced;
mod nearly;
mod not_kept;
mod notify;
mod of_journals;
mod of_others;
mod one_rule;
mod output;
mod own_guard;
mod pair;
mod print_beside;
mod reached;
mod read_ahead;
mod refusal;
mod renamed_commands;
mod report;
mod rule_offered;
mod rules_place;
mod rules_source;
mod run;
mod running_here;
mod set_up;
mod slips;
mod start;
mod start_again;
mod terminal;
mod unread_key;
mod unread_line;
mod usage;
mod values;
mod waiting;
mod wallet;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use output::{say, unwritten};
use refusal::Refusal;

use crate::home::Home;

/// A guard between a trading bot and its venue: judges every request against its owner's rules.
#[derive(Debug, Parser)]
#[command(name = "svc-guard", version, arg_required_else_help = true)]
struct Cli {
    /// Home: config, journals, key file [default: ~/.svc-guard] [env: SVC_GUARD_HOME]
    #[arg(long, global = true, value_name = "DIR")]
    home: Option<PathBuf>,
    /// Another config file than guard.toml in the home
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Set the guard up: rules, account, mode, keys
    #[command(after_help = "Example: svc-guard --home ~/eth init")]
    Init(init::Args),
    /// Read the configuration, or change a value of it
    #[command(subcommand, arg_required_else_help = false)]
    Config(ConfigCommand),
    /// Check the API wallet's key, or put another in its place
    #[command(subcommand, arg_required_else_help = false)]
    Key(KeyCommand),
    /// Make a new client key (shown once) and a new pairing code
    #[command(after_help = "Example: svc-guard pair")]
    Pair,
    /// Keep the clients
    #[command(subcommand, arg_required_else_help = false)]
    Client(ClientCommand),
    /// Run the service until SIGTERM or Ctrl-C
    #[command(after_help = "Example: svc-guard run --network testnet")]
    Run(run::Args),
    /// Exit 0 when the service is healthy
    #[command(after_help = "Example: svc-guard health --url http://127.0.0.1:8547")]
    Health(health::Args),
    /// Start a risk journal at the account's equity now
    #[command(after_help = "Example: svc-guard journal-init --mode testnet --note 'first start'")]
    JournalInit(journal::ChangeArgs),
    /// Clear a drawdown halt after a person's review, with the service stopped
    #[command(after_help = "Example: svc-guard journal-resume --mode testnet --note 'looked into it'")]
    JournalResume(journal::ChangeArgs),
    /// Print the risk journal's records, one JSON line each
    #[command(after_help = "Example: svc-guard journal-show --mode testnet")]
    JournalShow(journal::ShowArgs),
    /// Sum up what the bot did with the money, and the guard with the bot
    #[command(after_help = "Example: svc-guard report --mode testnet --from 2026-11-01 --to 2026-11-30")]
    Report(report::Args),
    /// Pull the kill switch
    #[command(after_help = "Example: svc-guard kill --reason 'wrong size' --wait 60")]
    Kill(kill::Args),
    /// Check the config and print its rules
    #[command(after_help = "Example: svc-guard check-config --explain")]
    CheckConfig(check_config::Args),
    /// Serve AI agents over standard input and output, trading through a guard on this machine
    #[command(after_help = "Example: svc-guard mcp --key-file agent.key --guard-url http://127.0.0.1:8547")]
    Mcp(mcp::Args),
    /// Tell the owner what happens: by webhook, phone, chat, mail or a command
    #[command(after_help = "Example: svc-guard notify --file notify.toml")]
    Notify(notify::Args),
    /// Print a shell's completions of this command line
    #[command(hide = true)]
    Completions(completions::Args),
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Print one configured value
    #[command(after_help = "Example: svc-guard config get rules")]
    Get(config_get::Args),
    /// Change one value; everything else stays
    #[command(after_help = "Example: svc-guard config set rules stop=1.5")]
    Set(config_set::Args),
}

#[derive(Debug, Subcommand)]
enum KeyCommand {
    /// Check with the venue that a key is an API wallet of the configured account
    #[command(after_help = "Example: svc-guard key check --key-stdin < FILE")]
    Check(key_check::Args),
    /// Put another API wallet's key in the place of the one there; everything else stays
    #[command(after_help = "Example: svc-guard key replace --key-stdin < FILE")]
    Replace(key_replace::Args),
}

#[derive(Debug, Subcommand)]
enum ClientCommand {
    /// Write a new client key to a new file that only its owner can read
    #[command(after_help = "Example: svc-guard client add --out second.key")]
    Add(client_add::Args),
}

/// Runs the program's command line.
pub fn main() -> ExitCode {
    if let Some(done) = kill_disk::served(std::env::args_os()) {
        return done;
    }
    let typed: Vec<OsString> = std::env::args_os().collect();
    let done = match Cli::try_parse() {
        Ok(cli) => {
            here::typed(&typed);
            match here::twice(typed.iter().cloned()) {
                Some((flag, values)) => {
                    Err(unread_line::two_places(matches!(cli.command, Command::Kill(_)), flag, &values))
                }
                None => cli.run(),
            }
        }
        Err(error) if usage::is_answer(&error) && unread_line::one_dash(&Cli::command(), &typed).is_none() => {
            let code = ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
            match error.print().and_then(|()| std::io::stdout().flush()) {
                Ok(()) => {
                    // Who types both may be in a hurry, and must not think that it was pulled.
                    if here::is_kill(typed.iter().cloned()) && slips::has_reason(&slips::words(typed.into_iter())) {
                        say(
                            "the kill switch is NOT pulled: this is its help; the same command without --help pulls it",
                        );
                    }
                    return code;
                }
                Err(error) => Err(unwritten(error)),
            }
        }
        Err(error) => Err(unread_line::refusal(&Cli::command(), error, &typed)),
    };
    match done {
        Ok(()) | Err(Refusal::ReaderGone) => ExitCode::SUCCESS,
        Err(refusal) => {
            // A failure while running is in the log already; writing it again could block on a reader.
            if !refusal.is_logged() {
                let words = slips::words(typed.into_iter());
                say(&usage::shown(&refusal::told(&refusal.to_string(), &words)));
            }
            ExitCode::from(refusal.exit_code())
        }
    }
}

impl Cli {
    fn run(self) -> Result<(), Refusal> {
        // An agent's client starts `mcp` in an environment that nobody watches, so it reads none of it.
        let from_system = matches!(self.command, Command::Mcp(_));
        let dir = if from_system { self.home } else { environment::home(self.home) };
        let is_named = dir.is_some();
        let home = Home::resolve(dir, self.config, from_system).map_err(Refusal::Home)?;
        check_place(&home, &self.command)?;
        match self.command {
            Command::Init(args) => init::run(args, &home),
            Command::Config(ConfigCommand::Get(args)) => config_get::run(&args, &home),
            Command::Config(ConfigCommand::Set(args)) => config_set::run(&args, &home),
            Command::Key(KeyCommand::Replace(args)) => key_replace::run(&args, &home),
            Command::Key(KeyCommand::Check(args)) => key_check::run(&args, &home),
            Command::Pair => pair::run(&home),
            Command::Client(ClientCommand::Add(args)) => client_add::run(&args, &home),
            Command::Run(args) => run::run(args, &home),
            Command::Health(args) => health::run(args, &home, is_named),
            Command::JournalInit(args) => journal::init(&args, &home),
            Command::JournalResume(args) => journal::resume(&args, &home),
            Command::JournalShow(args) => journal::show(&args, &home),
            Command::Report(args) => report::run(&args, &home),
            Command::Kill(args) => kill::run(&args, &home, is_named),
            Command::CheckConfig(args) => check_config::run(&args, &home),
            Command::Mcp(args) => mcp::run(&args, &home, is_named),
            Command::Notify(args) => notify::run(args, &home),
            Command::Completions(args) => completions::run(&args, &mut Cli::command()),
        }
    }
}

/// Whether the home's path can stand in a command: what could not be typed again would name another folder, and one in the place of a
/// kill file would pull another home's switch once it is made. A guard that runs is killed and asked wherever it is.
fn check_place(home: &Home, command: &Command) -> Result<(), Refusal> {
    let (dir, config) = (home.dir().to_owned(), home.config_file());
    let is_health = matches!(command, Command::Health(_));
    if is_health && config.exists() || matches!(command, Command::Kill(_)) {
        return Ok(());
    }
    let is_used = || dir.join("guard.toml").exists();
    if let Some(meant) = kill_elsewhere::pulled_by_folder(&dir).filter(|_| !is_used()) {
        let told = here::whole(&kill_elsewhere::no_place_of_a_home(&dir, meant));
        return Err(if is_health { Refusal::Unhealthy(told) } else { Refusal::Given(told) });
    }
    let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
    slips::check_no_key("--home", &name)?;
    let is_text = [dir, config].iter().try_for_each(|path| usage::check_text(path, "--home DIR"));
    if is_health { is_text.map_err(|why| Refusal::Unhealthy(why.to_string())) } else { is_text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// Whoever asks a command for help sees it used once, as it is taken.
    #[test]
    fn every_command_shows_an_example_that_is_taken() {
        fn each(command: &clap::Command, path: &str) {
            for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
                let path = format!("{path} {}", sub.get_name());
                if sub.is_subcommand_required_set() {
                    each(sub, &path);
                    continue;
                }
                let help = sub.get_after_help().unwrap_or_else(|| panic!("{path}")).to_string();
                let example = help.strip_prefix("Example: ").unwrap();
                let bare = example.split(" < ").next().unwrap().replace("'first start'", "x");
                let bare = bare.replace("'looked into it'", "x").replace("'wrong size'", "x");
                assert!(Cli::try_parse_from(bare.split(' ')).is_ok(), "{example}");
                let command = example.split(' ').filter(|word| !["--home", "~/eth"].contains(word));
                assert!(command.collect::<Vec<_>>().join(" ").starts_with(&format!("svc-guard{path}")), "{example}");
            }
        }
        each(&Cli::command(), "");
    }

    /// Each manual page has examples, and what they have a person type is taken.
    #[test]
    fn the_examples_of_the_manual_are_taken() {
        let mut typed = 0;
        for page in ["svc-guard.1", "guard.toml.5", "notify.toml.5", "svc-guard-events.5", "svc-guard-codes.7"] {
            let text = std::fs::read_to_string(format!("{}/man/{page}", env!("CARGO_MANIFEST_DIR"))).unwrap();
            let (_, rest) = text.split_once("\n.SH EXAMPLE").unwrap_or_else(|| panic!("{page}"));
            let examples = rest.split("\n.SH ").next().unwrap();
            let plain = examples.replace(" \\e\n", " ").replace("\\-", "-");
            let commands =
                plain.lines().filter(|line| line.starts_with("svc-guard ")).flat_map(|line| line.split(" && "));
            for command in commands {
                let bare = command.split(" < ").next().unwrap().replace("\"the feed is wrong\"", "x");
                let bare = bare.replace("0x...", "0x1111111111111111111111111111111111111111");
                assert!(Cli::try_parse_from(bare.split_whitespace()).is_ok(), "{page}: {command}");
                typed += 1;
            }
        }
        assert!(typed >= 9, "{typed}");
    }
}
