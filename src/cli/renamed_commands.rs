//! Names that do not exist, each with what a person wants instead.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::refusal::Refusal;

/// The refusal for a name that does not exist, when it is one that a person may look for.
pub(super) fn replacement(error: &clap::Error) -> Option<Refusal> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let (name, instead) = match name.as_str() {
        "status" => ("status", "`GET /guard/status` on the service's address"),
        "resume" => ("resume", "`svc-guard journal-resume`"),
        "journal" => ("journal show", "`svc-guard journal-show`"),
        "rules" => ("rules export", "`svc-guard config get rules`"),
        "guard-mcp" => ("guard-mcp", "`svc-guard mcp`"),
        "list" => ("client list", "`clients` under [auth] in guard.toml"),
        "revoke" => {
            ("client revoke", "guard.toml: remove the address from `clients` under [auth], then restart the service")
        }
        _ => return None,
    };
    Some(Refusal::NoSuchName(name.to_owned(), instead))
}
