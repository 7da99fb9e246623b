//! Names that do not exist, each with what a person wants instead.

use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::refusal::Refusal;
use crate::base::mode::Mode;
use crate::base::shell::{place, word};

/// The home that was named, as far as it is known.
pub(super) struct Named {
    pub(super) mode: Option<Mode>,
    pub(super) config: PathBuf,
    pub(super) kill_file: PathBuf,
    /// Where its guard answers, or the usual place.
    pub(super) url: String,
    /// Whom its notifier tells.
    pub(super) targets: Vec<String>,
}

/// The refusal for a name that does not exist, when it is one that a person may look for; the words are those typed, the home is
/// the one that was named.
pub(super) fn replacement(
    error: &clap::Error,
    words: &[String],
    home: impl FnOnce() -> Option<Named>,
) -> Option<Refusal> {
    let named = |kind| match error.get(kind) {
        Some(ContextValue::String(name)) => Some(name.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let name = named(ContextKind::InvalidSubcommand)?;
            let group = words.first().map(String::as_str).filter(|group| *group != name);
            let behind = words.get(1).filter(|word| group.is_none() && !word.starts_with('-')).map(String::as_str);
            let known = behind.filter(|behind| in_group(name, behind).is_some());
            match known {
                Some(behind) => command(Some(name), behind, home),
                None => command(group, name, home),
            }
        }
        ErrorKind::UnknownArgument => flag(named(ContextKind::InvalidArg)?),
        _ => None,
    }
}

/// Words for going on after a halt.
const RESUMES: [&str; 4] = ["resume", "unpause", "unhalt", "rearm"];

/// The installed service's way beside a person's own.
const INSTALLED: &str = "for the installed service";

/// The refusal of a command of this name, which there is not, where what does it is known.
pub(super) fn command(group: Option<&str>, name: &str, home: impl FnOnce() -> Option<Named>) -> Option<Refusal> {
    let (name, instead) = match group {
        None => alone(name)?,
        Some(group) => (format!("{group} {name}"), in_group(group, name)?),
    };
    let home = home();
    // What a kill stopped is cleared by no command.
    let is_killed = || home.as_ref().is_some_and(|home| home.kill_file.symlink_metadata().is_ok());
    let instead = if RESUMES.contains(&name.as_str()) && is_killed() { alone("unkill")?.1 } else { instead };
    let known = |shown: fn(&Named) -> String, unknown: &str| home.as_ref().map_or_else(|| unknown.to_owned(), shown);
    let mode = home.as_ref().and_then(|home| home.mode);
    // A file that is not there names nobody, and is changed by no editor.
    if let Some(home) = home.as_ref().filter(|home| instead.contains("{config}") && !home.config.exists()) {
        let none = Refusal::NotSetUp(home.config.clone());
        return Some(Refusal::Given(format!("there is no `{name}`, and {none}")));
    }
    let instead = instead
        .replace("{url}", &known(|home| home.url.clone(), "http://127.0.0.1:8547"))
        .replace("{config}", &known(|home| place(&home.config), "guard.toml"))
        .replace("{kill}", &known(removable, "FILE"));
    let instead = match mode {
        Some(mode) => instead.replace("MODE", mode.name()),
        None if instead.contains("MODE") => format!("{instead}, where MODE is paper, testnet or mainnet"),
        None => instead,
    };
    Some(Refusal::NoSuchName(name, instead))
}

/// The kill file as it is removed: a folder under its name pulls the switch as well.
fn removable(home: &Named) -> String {
    let file = word(&home.kill_file);
    if home.kill_file.is_dir() { format!("-r {file}") } else { file }
}

/// Instead of a command of this name.
fn alone(name: &str) -> Option<(String, String)> {
    let (name, instead) = match name {
        "status" | "positions" | "orders" | "balance" | "equity" | "alerts" => {
            (name, "GET /guard/status: `curl -s {url}/guard/status`, or the page at {url}/".to_owned())
        }
        "events" | "decisions" => {
            (name, "GET /guard/events: `curl -s {url}/guard/events`, or the page at {url}/".to_owned())
        }
        "monitor" | "ui" | "gui" | "web" | "page" | "dashboard" | "panel" => {
            (name, "the page at {url}/, which a guard serves while it runs".to_owned())
        }
        "show" | "list" | "ls" => (
            name,
            "`svc-guard check-config` for what is configured, and the page at {url}/ for what happens".to_owned(),
        ),
        "check" | "validate" | "verify" => (name, "`svc-guard check-config`".to_owned()),
        "decision" => (name, "GET /guard/decision: `curl -s '{url}/guard/decision?nonce=N'`".to_owned()),
        "log" | "logs" => (name, format!("what `svc-guard run` printed, or `journalctl -u svc-guard` {INSTALLED}")),
        "version" => (name, "`svc-guard --version`".to_owned()),
        name if RESUMES.contains(&name) => (name, "`svc-guard journal-resume --mode MODE --note TEXT`".to_owned()),
        "reset" | "clear" => (
            name,
            "`svc-guard journal-resume --mode MODE --note TEXT`, which clears a drawdown halt with the service stopped, or \
             `svc-guard init --force`, which sets up anew"
                .to_owned(),
        ),
        "journal" => ("journal show", "`svc-guard journal-show --mode MODE`".to_owned()),
        "rules" => (name, "`svc-guard config get rules`".to_owned()),
        "guard-mcp" => (name, "`svc-guard mcp`".to_owned()),
        "start" => (name, format!("`svc-guard run --network MODE`, or `systemctl start svc-guard` {INSTALLED}")),
        "stop" => (name, format!("Ctrl-C or SIGTERM, or `systemctl stop svc-guard` {INSTALLED}")),
        "restart" => {
            (name, format!("`svc-guard run --network MODE` again, or `systemctl restart svc-guard` {INSTALLED}"))
        }
        "flatten" | "close" | "close-all" | "panic" | "halt" | "pause" | "emergency" => (
            name,
            "`svc-guard kill --reason TEXT`, which closes everything and opens nothing until a person releases it; nothing is \
             closed by this"
                .to_owned(),
        ),
        "release" | "unkill" => (
            name,
            "a person's hand, for no program releases the kill switch: remove the kill file, by `rm {kill}`, and restart the \
             service"
                .to_owned(),
        ),
        "setup" | "set-up" => (name, "`svc-guard init`".to_owned()),
        _ => return None,
    };
    Some((name.to_owned(), instead))
}

/// Instead of a word behind `client`, `config` or `key`.
fn in_group(group: &str, name: &str) -> Option<String> {
    Some(match (group, name) {
        ("client", "list" | "ls" | "show") => "`clients` under [auth] in {config}".to_owned(),
        ("client", "revoke" | "remove" | "rm" | "delete" | "del") => {
            "an editor: remove the address from `clients` under [auth] in {config}, then restart the service".to_owned()
        }
        ("client", "rotate" | "replace" | "renew" | "change") => {
            "`svc-guard client add --out FILE` for a new key, then an editor: remove the old address from `clients` under [auth] in \
             {config}, then restart the service"
                .to_owned()
        }
        ("client", "new" | "create") => "`svc-guard client add --out FILE`".to_owned(),
        ("config", "list" | "ls" | "show" | "print" | "view" | "cat") => {
            "`svc-guard check-config`, which prints {config} in words, or `svc-guard config get rules` for one value".to_owned()
        }
        ("config", "check" | "validate" | "verify" | "test") => "`svc-guard check-config`".to_owned(),
        ("config", "unset" | "remove" | "rm" | "delete" | "clear" | "reset") => {
            "`svc-guard config set equity_cap none` for no equity cap, which mainnet does not take; every other value is set to another \
             one: `svc-guard config set --help`"
                .to_owned()
        }
        ("config", "edit" | "change") => {
            "`svc-guard config set rules stop=1.5` for one value, or an editor on {config}, and then `svc-guard check-config`"
                .to_owned()
        }
        ("key", "add" | "set" | "new" | "rotate" | "change") => "`svc-guard key replace --key-stdin < FILE`".to_owned(),
        ("journal", "resume" | "reset" | "clear") => "`svc-guard journal-resume --mode MODE --note TEXT`".to_owned(),
        ("journal", "init" | "start" | "new") => "`svc-guard journal-init --mode MODE --note TEXT`".to_owned(),
        ("journal", "show" | "print" | "list") => "`svc-guard journal-show --mode MODE`".to_owned(),
        ("rules", "show" | "get" | "list" | "print" | "export") => "`svc-guard config get rules`".to_owned(),
        ("key", "show" | "list" | "ls" | "get") => {
            "`svc-guard key check --key-stdin < FILE`, which prints a key's address; no key is ever shown".to_owned()
        }
        _ => return None,
    })
}

/// A key on the command line is known to everybody on the machine by now, and the person must hear it.
fn flag(name: &str) -> Option<Refusal> {
    ["--key", "--private-key", "--secret-key", "--secret", "--api-key", "--api-wallet-key", "--wallet-key"]
        .contains(&name)
        .then(|| Refusal::KeyTyped(name.to_owned()))
}
