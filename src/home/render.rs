//! Writing `guard.toml`: every key that differs from its default, and the few that every owner looks for.

use std::fmt::{Display, Write};

use toml::Value;

use super::config::{Config, Deployment};

/// First line of a config that this program wrote.
pub(super) const HEADER: &str =
    "# Read at start; a change takes effect after a restart. `svc-guard check-config` checks it.\n";

/// The config as text; [`super::parse::parse`] reads it back to an equal value.
pub(super) fn render(config: &Config) -> String {
    let mut out = String::from(HEADER);
    text(&mut out, "mode", config.mode);
    text(&mut out, "account", config.account);
    text(&mut out, "account_network", config.account_network);
    if let Some(api_wallet) = config.api_wallet {
        text(&mut out, "api_wallet", api_wallet);
    }
    if let Some(owner) = config.api_wallet_owner {
        text(&mut out, "api_wallet_owner", owner);
    }
    text(&mut out, "listen", config.listen);
    text(&mut out, "ip_share", config.ip_share);
    bare(&mut out, "allow_mainnet", config.allow_mainnet);
    if let Some(reason) = &config.refuse_mainnet {
        text(&mut out, "refuse_mainnet", reason);
    }
    if let Some(cap) = config.equity_cap {
        text(&mut out, "equity_cap", cap);
    }
    text(&mut out, "rules", config.rules.to_code());
    text(&mut out, "key_store", config.key_store);
    if let Some(folder) = &config.journal_fallback {
        text(&mut out, "journal_fallback", folder.display());
    }
    let Deployment { venue_url, watch, allowed_hosts } = &config.deployment;
    if !allowed_hosts.is_empty() {
        bare(&mut out, "allowed_hosts", list(allowed_hosts));
    }
    out.push_str("\n[auth]\n");
    bare(&mut out, "clients", list(&config.auth.clients));
    bare(&mut out, "require_network", config.auth.require_network);
    if let Some(url) = venue_url {
        out.push_str("\n[venue]\n");
        text(&mut out, "url", url);
    }
    let intervals =
        [("prices_ms", watch.prices_ms), ("account_ms", watch.account_ms), ("open_orders_ms", watch.open_orders_ms)];
    if intervals.iter().any(|(_, interval)| interval.is_some()) {
        out.push_str("\n[watch]\n");
    }
    for (key, interval) in intervals {
        if let Some(interval) = interval {
            bare(&mut out, key, interval);
        }
    }
    out
}

/// A list of texts, one a line: the form in which a person adds and removes.
pub(super) fn list<T: Display>(items: &[T]) -> String {
    let lines: String = items.iter().map(|item| format!("    {},\n", quoted(item))).collect();
    if lines.is_empty() { "[]".to_owned() } else { format!("[\n{lines}]") }
}

/// A value as TOML text.
pub(super) fn quoted(value: impl Display) -> String {
    Value::String(value.to_string()).to_string()
}

fn text(out: &mut String, key: &str, value: impl Display) {
    bare(out, key, quoted(value));
}

fn bare(out: &mut String, key: &str, value: impl Display) {
    // Writing to a String cannot fail.
    _ = writeln!(out, "{key} = {value}");
}
