//! How the guard that runs on a home is ended, whatever it hangs in, and started again as it was.

use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::configured::left;
use super::running_here::{by_journal, by_mark, started_for};
use super::start::{command, unit};
use crate::base::packaged::unit_of;
use crate::base::shell::{place, word};
use crate::home::{Config, Home};

/// The way, in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Again {
    pub(super) way: String,
    /// Whether the next start, by the config as it is, goes on with what this one guards.
    pub(super) is_same: bool,
}

/// The way for this home, where its guard can be seen from here.
pub(super) fn again(home: &Home, config: &Config) -> Option<Again> {
    let same = |way: String| Some(Again { way, is_same: true });
    if let Some(unit) = unit(home) {
        return same(format!("`sudo systemctl restart {unit}` starts it anew"));
    }
    if unit_of(home.dir()).is_some() {
        return same("restart its container".to_owned());
    }
    let own = by_journal(home, Some(config));
    let pid = own.or_else(|| by_mark(home))?;
    let journal = home.journal_dir(config.mode, config.account);
    let run = run_of(pid, home, config);
    if own.is_some() {
        return same(format!("`kill -9 {pid}` ends it, and `{run}` starts it again"));
    }
    if let Some(other) = started_for(pid, home, config) {
        let way = format!(
            "`kill -9 {pid}` ends it; it was started for {other}, and {} says otherwise by now, so that no start by that closes what it \
             holds: put that back first",
            place(&home.config_file())
        );
        return Some(Again { way, is_same: false });
    }
    same(format!(
        "`kill -9 {pid}` ends it, and `{run}` starts it again once its journal, which was moved away, stands at {} again",
        place(&journal)
    ))
}

/// What is left where a guard runs and does not answer: to wait for it, where nobody does yet who kills for a reason, and to start it anew.
pub(super) fn silent(reason: Option<&str>, again: Option<&Again>, has_no_config: bool) -> String {
    let wait = reason.map_or_else(String::new, |reason| {
        format!("`svc-guard kill --reason {} --wait` waits until it says that all is closed; ", word(reason))
    });
    let way = match again {
        Some(again) => &again.way,
        // It alone can still close what it holds.
        None if has_no_config => {
            "do not end it: this home has no config any more, and no start on it closes what that one holds"
        }
        None => "end it and start it again",
    };
    let is_started = again.map_or(!has_no_config, |again| again.is_same);
    let then = if is_started { ": it starts killed and closes everything then" } else { "" };
    format!("{wait}where it hangs, {way}{then}. What cannot wait is closed at the venue's own page")
}

/// The command that starts a guard as that process was started.
fn run_of(pid: u32, home: &Home, config: &Config) -> String {
    let mut given = given_to(pid);
    let has = |given: &[(&str, String)], wanted: &str| given.iter().any(|(name, _)| *name == wanted);
    let listen = left(home).map(|left| left.address).filter(|address| *address != config.listen);
    if let Some(address) = listen.filter(|_| config.listen.port() != 0 && !has(&given, "--listen")) {
        given.push(("--listen", address.to_string()));
    }
    let flags: String = given.iter().map(|(name, value)| format!(" {}", flag(name, value))).collect();
    if has(&given, "--key-file") {
        return format!("svc-guard run{flags} --network {}", config.mode);
    }
    command(home, config).replacen("svc-guard run", &format!("svc-guard run{flags}"), 1)
}

fn flag(name: &str, value: &str) -> String {
    if value.is_empty() { name.to_owned() } else { format!("{name} {}", word(value)) }
}

/// What a start was given beside the config, as its process's variables and command line say, each with its value.
fn given_to(pid: u32) -> Vec<(&'static str, String)> {
    const KEPT: [(&str, &str); 4] = [
        ("--listen", "SVC_GUARD_LISTEN"),
        ("--ip-share", "SVC_GUARD_IP_SHARE"),
        ("--key-file", "SVC_GUARD_KEY_FILE"),
        ("--container", ""),
    ];
    let of = |what: &str| fs::read(format!("/proc/{pid}/{what}")).unwrap_or_default();
    let words = |bytes: Vec<u8>| -> Vec<String> {
        bytes.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
    };
    let (line, variables) = (words(of("cmdline")), words(of("environ")));
    let value = |name: &str, variable: &str| {
        let place = line.iter().position(|word| word == name);
        let behind = place.map(|place| if name == "--container" { None } else { line.get(place + 1) });
        let joined = || line.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('=').map(str::to_owned));
        let named =
            || variables.iter().find_map(|word| word.strip_prefix(variable)?.strip_prefix('=').map(str::to_owned));
        behind
            .map(|value| value.cloned().unwrap_or_default())
            .or_else(joined)
            .or_else(|| named().filter(|value| !value.is_empty()))
    };
    let absolute = |file: String| {
        let folder = fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
        folder.join(PathBuf::from(file)).display().to_string()
    };
    let given = KEPT.into_iter().filter_map(|(name, variable)| Some((name, value(name, variable)?)));
    given.map(|(name, value)| if name == "--key-file" { (name, absolute(value)) } else { (name, value) }).collect()
}
