//! Names that do not exist, each with what a person wants instead.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::refusal::Refusal;
use crate::base::mode::Mode;

/// The refusal for a name that does not exist, when it is one that a person may look for; in a home of this mode, where that is
/// known.
pub(super) fn replacement(error: &clap::Error, mode: Option<Mode>) -> Option<Refusal> {
    let named = |kind| match error.get(kind) {
        Some(ContextValue::String(name)) => Some(name.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => command(named(ContextKind::InvalidSubcommand)?, mode),
        ErrorKind::UnknownArgument => flag(named(ContextKind::InvalidArg)?),
        _ => None,
    }
}

fn command(name: &str, mode: Option<Mode>) -> Option<Refusal> {
    let (name, instead) = match name {
        "status" => ("status", "`GET /guard/status` on the service's address"),
        "resume" => ("resume", "`svc-guard journal-resume --mode MODE --note TEXT`"),
        "journal" => ("journal show", "`svc-guard journal-show --mode MODE`"),
        "rules" => ("rules export", "`svc-guard config get rules`"),
        "guard-mcp" => ("guard-mcp", "`svc-guard mcp`"),
        "start" => (
            "start",
            "`svc-guard run --network MODE`, or `systemctl start \
             svc-guard` for the installed service",
        ),
        "stop" => ("stop", "Ctrl-C or SIGTERM, or `systemctl stop svc-guard` for the installed service"),
        "restart" => (
            "restart",
            "`svc-guard run --network MODE` again, or `systemctl restart \
             svc-guard` for the installed service",
        ),
        "release" | "unkill" => ("release of the kill switch", "a person's hand: remove the kill file, and restart"),
        "setup" | "set-up" => ("setup", "`svc-guard init`"),
        "list" => ("client list", "`clients` under [auth] in guard.toml"),
        "revoke" => {
            ("client revoke", "guard.toml: remove the address from `clients` under [auth], then restart the service")
        }
        _ => return None,
    };
    let instead = match mode {
        Some(mode) => instead.replace("MODE", mode.name()),
        None if instead.contains("MODE") => format!("{instead}, where MODE is paper, testnet or mainnet"),
        None => instead.to_owned(),
    };
    Some(Refusal::NoSuchName(name.to_owned(), instead))
}

/// A key on the command line is known to everybody on the machine by now, and the person must hear it.
fn flag(name: &str) -> Option<Refusal> {
    ["--key", "--private-key", "--secret-key", "--secret", "--api-key", "--api-wallet-key", "--wallet-key"]
        .contains(&name)
        .then(|| Refusal::KeyTyped(name.to_owned()))
}
