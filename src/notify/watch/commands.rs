//! The commands that a person types for this guard: its home, its mode and its unit, as far as they are known.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::base::packaged::{SERVICE_HOME, unit_of};
use crate::base::shell::{confirmation, for_home, word};

/// Which guard it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Guard {
    /// The account.
    pub account: String,
    /// `paper`, `testnet` or `mainnet`.
    pub mode: String,
    /// Its kill file.
    pub kill_file: String,
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
        unit_of(Path::new(self.home()))
    }

    /// What goes before a command that acts on the home as its owner.
    fn sudo(&self) -> &'static str {
        if self.unit().is_some() { "sudo -u svc-guard " } else { "" }
    }

    /// What a person says again before each command that mainnet asks it for.
    fn confirmation(&self) -> String {
        if self.mode == "mainnet" { confirmation(&self.account) } else { String::new() }
    }

    /// A command of this program for this home, behind a word of a person's where there is one.
    fn program(&self, confirmation: &str, words: &str) -> String {
        let home = if self.home().is_empty() { String::new() } else { format!(" --home {}", word(self.home())) };
        format!("{}{confirmation}svc-guard{home} {words}", self.sudo())
    }

    /// A command of this program for this home.
    pub(super) fn command(&self, words: &str) -> String {
        self.program("", words)
    }

    /// A text with each of its commands as a person types it for this home.
    pub(super) fn typed(&self, text: &str) -> String {
        for_home(text, self.home(), self.sudo())
    }

    /// What a person has to do, with each of its commands, and each way to stop or restart the service, as typed for this guard.
    pub(super) fn todo(&self, text: &str) -> String {
        let way = |verb: &str| self.service(verb);
        self.typed(text).replace("{stop}", &way("stop")).replace("{restart}", &way("restart"))
    }

    /// A way of the package's service, beside that of an image's: both have one home, and the status does not tell which it is.
    fn or_container(&self, way: String, in_container: &str) -> String {
        if self.home() == SERVICE_HOME { format!("{way} (in a container instead: {in_container})") } else { way }
    }

    /// How it is started, stopped or restarted (the verb).
    pub(super) fn service(&self, verb: &str) -> String {
        self.or_container(self.alone(verb), &format!("{verb} the container"))
    }

    fn alone(&self, verb: &str) -> String {
        match self.unit() {
            Some(unit) if self.mode == "mainnet" && verb != "stop" => {
                let file = format!("/run/svc-guard/{}", unit.replacen("svc-guard", "confirm", 1));
                format!(
                    "sudo systemctl {verb} {unit} (after a reboot confirm it first: echo {} | sudo tee {file})",
                    self.confirmation().trim_end()
                )
            }
            Some(unit) => format!("sudo systemctl {verb} {unit}"),
            None if self.mode.is_empty() => format!("{verb} `svc-guard run`"),
            None if self.mode == "mainnet" && verb != "stop" => {
                let run = self.program(&self.confirmation(), "run --network mainnet --key-stdin < FILE");
                format!("{verb} `{run}`, where FILE holds the API wallet's key")
            }
            None => format!("{verb} `{}`", self.command(&format!("run --network {}", self.mode))),
        }
    }

    /// Where its log is read.
    pub(super) fn log(&self) -> String {
        match self.unit() {
            Some(unit) => self.or_container(format!("sudo journalctl -u {unit}"), "its own log"),
            None => format!("what `{}` printed", self.command("run")),
        }
    }

    /// How a kill is released.
    pub(super) fn release(&self) -> String {
        let sudo = if self.unit().is_some() { "sudo " } else { "" };
        let way = format!("{sudo}rm {} and then {}", word(&self.kill_file), self.alone("restart"));
        self.or_container(way, "remove that file from its volume and restart the container")
    }

    /// How a drawdown halt is cleared.
    pub(super) fn resume(&self) -> String {
        let words = format!("journal-resume --mode {} --note \"why it may go on\"", self.mode);
        let command = self.program(&self.confirmation(), &words);
        let way = format!("{}, then {command}, then {}", self.alone("stop"), self.alone("start"));
        self.or_container(way, "stop it, run the journal-resume in one with its volume, start it")
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
        let packaged = guard("/var/lib/svc-guard/kill", "testnet");
        assert!(
            packaged
                .release()
                .starts_with("sudo rm /var/lib/svc-guard/kill and then sudo systemctl restart svc-guard (in")
        );
        assert!(packaged.resume().contains(
            "sudo -u svc-guard svc-guard --home /var/lib/svc-guard journal-resume --mode testnet --note \"why"
        ));
        let second = guard("/var/lib/svc-guard/guards/b/kill", "paper");
        assert_eq!(second.service("stop"), "sudo systemctl stop svc-guard@b");
        assert_eq!(guard("/var/lib/svc-guards/kill", "paper").unit(), None);
        assert_eq!(Guard::default().command("health"), "svc-guard health");
        assert_eq!(own.name(), "0x1111…1111 testnet");
    }

    /// A start on mainnet wants the person's word and the key; typed without them it is refused.
    #[test]
    fn a_mainnet_guard_is_started_by_what_is_told() {
        let confirm = "SVC_MAINNET_CONFIRM=0x1111111111111111111111111111111111111111";
        let own = guard("/home/me/g/kill", "mainnet");
        let run = format!("`{confirm} svc-guard --home /home/me/g run --network mainnet --key-stdin < FILE`");
        assert!(own.service("start").starts_with(&format!("start {run}")), "{}", own.service("start"));
        assert!(own.release().contains(&format!("rm /home/me/g/kill and then restart {run}")), "{}", own.release());
        assert_eq!(own.service("stop"), "stop `svc-guard --home /home/me/g run --network mainnet`");
        let resume = format!(", then {confirm} svc-guard --home /home/me/g journal-resume --mode mainnet --note \"");
        assert!(own.resume().contains(&resume), "{}", own.resume());
        for (home, file) in [("", "confirm"), ("/guards/b", "confirm@b")] {
            let packaged = guard(&format!("/var/lib/svc-guard{home}/kill"), "mainnet");
            let told = packaged.service("start");
            assert!(told.contains(&format!("echo {confirm} | sudo tee /run/svc-guard/{file})")), "{told}");
            let resume =
                format!("sudo -u svc-guard {confirm} svc-guard --home /var/lib/svc-guard{home} journal-resume");
            assert!(packaged.resume().contains(&resume), "{}", packaged.resume());
        }
    }

    /// The image's home is the package's: nothing in the status says which of them it is, so both are told.
    #[test]
    fn a_home_that_an_image_may_have_is_not_told_of_systemctl_alone() {
        let either = guard("/var/lib/svc-guard/kill", "paper");
        for told in [either.service("start"), either.release(), either.resume()] {
            assert!(told.contains("sudo systemctl ") && told.contains("in a container instead: "), "{told}");
        }
        for home in ["/home/me/g", "/var/lib/svc-guard/guards/b"] {
            let known = guard(&format!("{home}/kill"), "paper");
            for told in [known.service("start"), known.release(), known.resume()] {
                assert!(!told.contains("container"), "{told}");
            }
        }
    }
}
