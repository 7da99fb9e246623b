//! The commands that a person types for this guard: its home, its mode and its unit, as far as they are known.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// The home of the packaged service, and the folder of the homes of further ones.
const PACKAGED: &str = "/var/lib/svc-guard";

/// Which guard it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::notify) struct Guard {
    /// The account.
    pub(in crate::notify) account: String,
    /// `paper`, `testnet` or `mainnet`.
    pub(in crate::notify) mode: String,
    /// Its kill file.
    pub(in crate::notify) kill_file: String,
}

impl Guard {
    /// Whether what it decides reaches the venue.
    pub(super) fn sends(&self) -> bool {
        self.mode != "paper"
    }

    fn home(&self) -> &str {
        Path::new(&self.kill_file).parent().and_then(Path::to_str).unwrap_or_default()
    }

    /// The name of its unit, where its home is one of the package's.
    fn unit(&self) -> Option<String> {
        match self.home().strip_prefix(PACKAGED)? {
            "" => Some("svc-guard".to_owned()),
            rest => {
                rest.strip_prefix("/guards/").filter(|name| !name.contains('/')).map(|name| format!("svc-guard@{name}"))
            }
        }
    }

    /// A command of this program for this home.
    pub(super) fn command(&self, words: &str) -> String {
        let sudo = if self.unit().is_some() { "sudo -u svc-guard " } else { "" };
        let home = if self.home().is_empty() { String::new() } else { format!(" --home {}", quoted(self.home())) };
        format!("{sudo}svc-guard{home} {words}")
    }

    /// A text with each of its commands as a person types it for this home.
    pub(super) fn typed(&self, text: &str) -> String {
        let (program, here) = ("`svc-guard ", format!("`{} ", self.command("").trim_end()));
        text.replace(program, &here)
    }

    /// How it is started, stopped or restarted (the verb).
    pub(super) fn service(&self, verb: &str) -> String {
        match self.unit() {
            Some(unit) => format!("sudo systemctl {verb} {unit}"),
            None if self.mode.is_empty() => format!("{verb} `svc-guard run`"),
            None => format!("{verb} `{}`", self.command(&format!("run --network {}", self.mode))),
        }
    }

    /// How a kill is released.
    pub(super) fn release(&self) -> String {
        let sudo = if self.unit().is_some() { "sudo " } else { "" };
        format!("{sudo}rm {} and then {}", quoted(&self.kill_file), self.service("restart"))
    }

    /// How a drawdown halt is cleared.
    pub(super) fn resume(&self) -> String {
        let confirm =
            if self.mode == "mainnet" { " (with SVC_MAINNET_CONFIRM set to the account's address)" } else { "" };
        let command = self.command(&format!("journal-resume --mode {} --note \"why it may go on\"", self.mode));
        format!("{}, then {command}{confirm}, then {}", self.service("stop"), self.service("start"))
    }

    /// The name of its journal's folder.
    pub(in crate::notify) fn journal(&self) -> String {
        format!("{}-{}", self.mode, self.account)
    }

    /// Its name for people: the account, shortened, and the mode.
    pub(in crate::notify) fn name(&self) -> String {
        let account = &self.account;
        let short = match (account.get(..6), account.get(account.len().saturating_sub(4)..)) {
            (Some(start), Some(end)) if account.len() > 12 => format!("{start}…{end}"),
            _ => account.clone(),
        };
        format!("{short} {}", self.mode).trim().to_owned()
    }
}

/// A word of a shell.
fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-@+".contains(letter);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(kill_file: &str, mode: &str) -> Guard {
        let account = "0x1111111111111111111111111111111111111111".to_owned();
        Guard { account, mode: mode.to_owned(), kill_file: kill_file.to_owned() }
    }

    #[test]
    fn commands_are_for_this_home_and_unit() {
        let own = guard("/home/me/my guard/kill", "testnet");
        assert_eq!(own.command("health"), "svc-guard --home '/home/me/my guard' health");
        assert_eq!(own.service("start"), "start `svc-guard --home '/home/me/my guard' run --network testnet`");
        let packaged = guard("/var/lib/svc-guard/kill", "mainnet");
        assert_eq!(packaged.release(), "sudo rm /var/lib/svc-guard/kill and then sudo systemctl restart svc-guard");
        assert!(
            packaged
                .resume()
                .contains("sudo -u svc-guard svc-guard --home /var/lib/svc-guard journal-resume --mode mainnet")
        );
        assert!(packaged.resume().contains("SVC_MAINNET_CONFIRM"));
        let second = guard("/var/lib/svc-guard/guards/b/kill", "paper");
        assert_eq!(second.service("stop"), "sudo systemctl stop svc-guard@b");
        assert_eq!(guard("/var/lib/svc-guards/kill", "paper").unit(), None);
        assert_eq!(Guard::default().command("health"), "svc-guard health");
        assert_eq!(own.name(), "0x1111…1111 testnet");
    }
}
