//! The command that starts the service of a home: with its mode, and on mainnet with a person's word and the key; and where
//! the key of a home is kept, which decides how that command gets it.

use std::path::Path;

use crate::base::mode::Mode;
use crate::base::packaged::unit_of;
use crate::base::shell::{confirmation, word};
use crate::home::{CREDENTIAL, Config, Home, KeyStore};

/// Where the API wallet's key of a home is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyPlace {
    /// In a file that only its owner can read.
    File,
    /// Sealed for this host, by this program or by a person's hand.
    Sealed,
    /// Nowhere: it is handed to each start.
    Nowhere,
}

impl KeyPlace {
    /// As the home's files say. On mainnet no file beside a sealed key counts: a start reads none.
    pub(super) fn of(home: &Home, config: &Config) -> Self {
        let stands = |path: &Path| path.symlink_metadata().is_ok();
        let (is_open, is_sealed) = (stands(&home.key_file()), stands(&home.sealed_key_file()));
        match config.key_store {
            KeyStore::HostCreds => Self::Sealed,
            KeyStore::File if is_sealed && (config.mode == Mode::Mainnet || !is_open) => Self::Sealed,
            KeyStore::File if is_open => Self::File,
            KeyStore::File => Self::Nowhere,
        }
    }
}

/// The command as it is typed; `FILE` stands for a file with the API wallet's key where the home holds none.
pub(super) fn command(home: &Home, config: &Config) -> String {
    let mode = config.mode;
    if let Some(unit) = unit(home) {
        return format!("sudo systemctl enable --now {unit}");
    }
    match (mode, KeyPlace::of(home, config)) {
        (Mode::Paper, _) => "svc-guard run".to_owned(),
        (Mode::Testnet, KeyPlace::File) => format!("svc-guard run --network {mode}"),
        (_, KeyPlace::File) => format!("{} < {}", on_stdin(config), word(home.key_file())),
        (_, KeyPlace::Sealed) => {
            let sealed = word(home.sealed_key_file());
            format!("systemd-creds decrypt --name={CREDENTIAL} {sealed} - | {}", on_stdin(config))
        }
        (_, KeyPlace::Nowhere) => with_key(config),
    }
}

/// The command with a key that the home does not hold.
pub(super) fn with_key(config: &Config) -> String {
    format!("{} < FILE", on_stdin(config))
}

/// A text with its commands made whole that mainnet asks a person's word for, and the key.
pub(super) fn confirmed(text: &str, home: &Home, config: &Config) -> String {
    const RUN: &str = "svc-guard run --network mainnet";
    let needs_word = |part: &str| {
        ["svc-guard journal-init ", "svc-guard journal-resume "].iter().any(|command| part.starts_with(command))
    };
    let word = confirmation(config.account);
    let parts = text.split('`').enumerate().map(|(place, part)| match part {
        _ if place % 2 == 0 => part.to_owned(),
        RUN => command(home, config),
        part if needs_word(part) => format!("{word}{part}"),
        part if part.starts_with("svc-guard run ") && part.contains(" --network mainnet") => {
            let key = if part.contains(" --key-") { "" } else { " --key-stdin < FILE" };
            format!("{word}{part}{key}")
        }
        part => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("`")
}

/// Whether the home is one of the package's, which a unit starts.
pub(super) fn is_packaged(home: &Home) -> bool {
    unit(home).is_some()
}

/// The unit that starts this home's guard. An image, which says so, has none, though its home is the package's.
pub(super) fn unit(home: &Home) -> Option<String> {
    let is_image = || {
        std::env::var_os("SVC_GUARD_CONTAINER").is_some_and(|said| ["1", "true", "yes"].iter().any(|yes| said == *yes))
    };
    unit_of(home.dir()).filter(|_| !is_image())
}

fn on_stdin(config: &Config) -> String {
    let confirm = match config.mode {
        Mode::Mainnet => confirmation(config.account),
        _ => String::new(),
    };
    format!("{confirm}svc-guard run --network {} --key-stdin", config.mode)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::address::Address;
    use crate::base::packaged::SERVICE_HOME;
    use crate::home::Deployment;
    use crate::rules::Rules;

    #[test]
    fn the_package_s_home_is_started_by_its_unit_in_every_mode() {
        for mode in [Mode::Paper, Mode::Testnet, Mode::Mainnet] {
            let config = Config::new(mode, Address([1; 20]), Rules::default(), Deployment::default());
            let at = |dir: &str| command(&Home::resolve(Some(dir.into()), None, true).unwrap(), &config);
            assert_eq!(at(SERVICE_HOME), "sudo systemctl enable --now svc-guard");
            assert_eq!(at("/var/lib/svc-guard/guards/eth"), "sudo systemctl enable --now svc-guard@eth");
            assert!(at("/var/lib/svc-guard-2").contains("svc-guard run"), "{mode}");
        }
    }
}
