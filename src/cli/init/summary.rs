//! Everything that a set-up will write, told before it does.

use std::path::Path;

use super::answers::KeyStoreChoice;
use crate::base::address::Address;
use crate::base::mode::Mode;
use crate::home::{Config, Home};
use crate::rules::Rules;

pub(super) fn text(
    home: &Home,
    config: &Config,
    key: Option<Address>,
    store: KeyStoreChoice,
    client_key_out: Option<&Path>,
) -> String {
    let wallet = key.map_or_else(|| "none".to_owned(), |key| key.to_string());
    let cap = config.equity_cap.map_or_else(|| "none".to_owned(), |cap| format!("{cap} USDC"));
    format!(
        "\nTo be set up in {}:\n  mode        {}\n  account     {} on {}\n  API wallet  {wallet}\n  equity cap  {cap}\n  \
         listen      {}\n  ip share    {} ({} weight a minute)\n  rules       {}\n{}To be written:\n{}",
        home.dir().display(),
        config.mode,
        config.account,
        config.account_network,
        config.listen,
        config.ip_share,
        config.ip_share.budget_per_minute(),
        config.rules.to_code(),
        changed(&config.rules),
        written(home, config, key.map(|_| store), client_key_out),
    )
}

/// The rules that are not as by default, in words.
fn changed(rules: &Rules) -> String {
    let pairs = rules.describe().into_iter().zip(Rules::default().describe());
    let lines: String = pairs
        .filter(|(rule, default)| rule.value != default.value)
        .map(|(rule, _)| {
            format!("              {}: {}{}\n", rule.key, rule.words, if rule.looser { " (looser)" } else { "" })
        })
        .collect();
    if lines.is_empty() { "              every rule as by default\n".to_owned() } else { lines }
}

/// The files, each with what it holds.
fn written(home: &Home, config: &Config, key: Option<KeyStoreChoice>, client_key_out: Option<&Path>) -> String {
    let mut lines = vec![format!("{}  the config", home.config_file().display())];
    match key {
        Some(KeyStoreChoice::File) => lines.push(format!("{}  the API wallet's key", home.key_file().display())),
        Some(KeyStoreChoice::HostCreds) => {
            lines.push(format!("{}  the API wallet's key, sealed for this host", home.sealed_key_file().display()));
        }
        Some(KeyStoreChoice::Auto) => lines.push(format!(
            "{}  the API wallet's key, sealed for this host where that can be done, else in {}",
            home.sealed_key_file().display(),
            home.key_file().display()
        )),
        None => {}
    }
    match client_key_out {
        Some(file) => lines.push(format!("{}  the client key", file.display())),
        None => lines.push("no file  the client key, which is shown once".to_owned()),
    }
    if config.mode != Mode::Mainnet {
        let journal = home.journal_dir(config.mode, config.account);
        lines.push(format!("{}  the risk journal, where there is none yet", journal.display()));
    }
    lines.push(format!("{}.ready  an empty kill file, for a full disk", home.kill_file().path().display()));
    lines.into_iter().map(|line| format!("  {line}\n")).collect()
}
