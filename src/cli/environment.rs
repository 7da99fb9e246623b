//! The environment variables, all of them: no other file of this program reads one, but for `$HOME` behind `~`.
//!
//! A flag wins over its variable; an empty variable counts as unset.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::refusal::Refusal;
use super::rules_place::Place;
use super::rules_source;
use crate::base::address::Address;
use crate::base::files::in_own_folder;
use crate::base::ip_share::IpShare;
use crate::base::mode::Mode;
use crate::base::text::short;
use crate::home::{parse_address, parse_listen};
use crate::rules::Rules;
use crate::service::Asked;

fn variable(name: &'static str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

fn parsed<T>(
    flag: Option<T>,
    name: &'static str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, Refusal> {
    match (flag, variable(name)) {
        (Some(flag), _) => Ok(Some(flag)),
        (None, None) => Ok(None),
        (None, Some(value)) => {
            let text = value.to_str().ok_or_else(|| "must be UTF-8 text".to_owned());
            let given = || short(&value.to_string_lossy());
            text.and_then(parse).map(Some).map_err(|expected| Refusal::Variable(name, given(), expected))
        }
    }
}

/// `--home` or `SVC_GUARD_HOME`.
pub(super) fn home(flag: Option<PathBuf>) -> Option<PathBuf> {
    flag.or_else(|| variable("SVC_GUARD_HOME").map(PathBuf::from))
}

/// `--rules` or `SVC_GUARD_RULES`, read.
pub(super) fn rules(flag: Option<String>) -> Result<Option<Rules>, Refusal> {
    let place = if flag.is_some() { Place::Flag } else { Place::Variable };
    let given = parsed(flag, "SVC_GUARD_RULES", |text| Ok(text.to_owned()))?;
    given.map(|given| rules_source::read(&given, place)).transpose()
}

/// `--account` or `SVC_GUARD_ACCOUNT`.
pub(super) fn account(flag: Option<Address>) -> Result<Option<Address>, Refusal> {
    parsed(flag, "SVC_GUARD_ACCOUNT", parse_address)
}

/// `--network` or `SVC_GUARD_NETWORK`.
pub(super) fn network(flag: Option<Mode>) -> Result<Option<Mode>, Refusal> {
    parsed(flag, "SVC_GUARD_NETWORK", str::parse)
}

/// `--listen` or `SVC_GUARD_LISTEN`.
pub(super) fn listen(flag: Option<SocketAddr>) -> Result<Option<SocketAddr>, Refusal> {
    parsed(flag, "SVC_GUARD_LISTEN", parse_listen)
}

/// `--ip-share` or `SVC_GUARD_IP_SHARE`.
pub(super) fn ip_share(flag: Option<IpShare>) -> Result<Option<IpShare>, Refusal> {
    parsed(flag, "SVC_GUARD_IP_SHARE", |text| IpShare::parse(text).map_err(|error| error.to_string()))
}

/// `--key-file` or `SVC_GUARD_KEY_FILE`.
pub(super) fn key_file(flag: Option<PathBuf>) -> Option<PathBuf> {
    let named = flag.or_else(|| variable("SVC_GUARD_KEY_FILE").map(PathBuf::from));
    named.map(|file| in_own_folder(file, std::env::home_dir))
}

/// Whether `SVC_GUARD_KEY_FILE` names a key's file.
pub(super) fn names_key_file() -> bool {
    variable("SVC_GUARD_KEY_FILE").is_some()
}

/// `--container` or `SVC_GUARD_CONTAINER`.
pub(super) fn container(flag: bool) -> Result<Option<bool>, Refusal> {
    parsed(flag.then_some(true), "SVC_GUARD_CONTAINER", |text| match text {
        "1" | "true" | "yes" => Ok(true),
        "0" | "false" | "no" => Ok(false),
        _ => Err("must be 1, true, yes, 0, false or no".to_owned()),
    })
}

/// Whether sudo started this program: it says who called it.
pub(super) fn is_by_sudo() -> bool {
    variable("SUDO_USER").is_some()
}

/// `SVC_MAINNET_CONFIRM`: the account's address, said by a person at every mainnet start.
pub(super) fn mainnet_confirm() -> Result<Option<Address>, Refusal> {
    parsed(None, "SVC_MAINNET_CONFIRM", parse_address)
}

/// The service manager's own variables: `NOTIFY_SOCKET`, and `WATCHDOG_USEC` where `WATCHDOG_PID` means
/// this process. A value that cannot be read was not meant for this program.
pub(super) fn service_manager() -> Asked {
    let number = |name| variable(name).and_then(|value| value.to_str()?.parse::<u64>().ok());
    let is_ours = variable("WATCHDOG_PID").is_none() || number("WATCHDOG_PID") == Some(std::process::id().into());
    let watchdog = number("WATCHDOG_USEC").filter(|usec| is_ours && *usec > 0).map(Duration::from_micros);
    Asked { socket: variable("NOTIFY_SOCKET"), watchdog, journal: journal_stream() }
}

/// `JOURNAL_STREAM`: what the service manager connected to its journal.
pub(super) fn journal_stream() -> Option<OsString> {
    variable("JOURNAL_STREAM")
}

/// `CREDENTIALS_DIRECTORY`: the folder of the credentials that the service manager passes on.
pub(super) fn credentials() -> Option<PathBuf> {
    variable("CREDENTIALS_DIRECTORY").map(PathBuf::from)
}
