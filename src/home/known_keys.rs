//! The keys of `guard.toml` by their tables, and the words about one that is none of them: what was likely meant, and where it
//! belongs.

use toml::Value;

use crate::base::text::{holds_key, nearest};
use crate::rules::Rules;

/// Every key, by the table it stands in; described in the manual page `guard.toml(5)`, which a test holds to this list.
pub(super) const KEYS: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "mode",
            "account",
            "account_network",
            "api_wallet",
            "api_wallet_owner",
            "listen",
            "ip_share",
            "allow_mainnet",
            "refuse_mainnet",
            "equity_cap",
            "rules",
            "key_store",
            "journal_fallback",
            "allowed_hosts",
        ],
    ),
    ("auth", &["clients", "require_network"]),
    ("venue", &["url"]),
    ("watch", &["prices_ms", "account_ms", "open_orders_ms"]),
];

/// Names under which a person may put a key into the file.
const SECRETS: [&str; 8] =
    ["key", "private_key", "secret", "secret_key", "api_key", "api_wallet_key", "client_key", "wallet_key"];

/// Said of what may be a key, wherever it stands in the file.
pub(super) const NO_KEY: &str = "no key stands in guard.toml, which everybody on the machine may read: take it out, approve a new API wallet at \
                                 the venue in its place, and `svc-guard key replace --key-stdin < FILE` stores that one's key";

/// What is to be done about a key that there is not, in the table of this name.
pub(super) fn unknown(table: &str, key: &str, value: &Value) -> String {
    let named = value.as_str().is_some_and(|_| SECRETS.contains(&key.to_lowercase().replace('-', "_").as_str()));
    if named || holds_key(key) || value.as_str().is_some_and(holds_key) {
        return NO_KEY.to_owned();
    }
    if let Value::Table(_) = value {
        return no_table(table, key);
    }
    if let Some((home, _)) = KEYS.iter().find(|(_, keys)| keys.contains(&key)) {
        return elsewhere(home, key);
    }
    let own = KEYS.iter().filter(|(name, _)| *name == table).flat_map(|(_, keys)| keys.iter().copied());
    if let Some(meant) = nearest(key, own) {
        return format!("is not a key of guard.toml(5); {meant} is one");
    }
    if let Some(rule) = nearest(key, Rules::keys()) {
        return format!(
            "is one of the rules, which stand together in the code behind rules; remove it here, and `svc-guard config set \
             rules {rule}=VALUE` changes it there"
        );
    }
    let others = KEYS.iter().flat_map(|(name, keys)| keys.iter().map(move |key| (*name, *key)));
    match nearest(key, others.clone().map(|(_, key)| key)) {
        Some(meant) => others.filter(|(_, key)| *key == meant).map(|(home, key)| elsewhere(home, key)).collect(),
        None => "is not a key of guard.toml(5); remove it or correct its spelling".to_owned(),
    }
}

/// Where a key belongs that stands in another table.
fn elsewhere(home: &str, key: &str) -> String {
    match home {
        "" => format!("does not belong there: {key} stands at the top of the file, before the first line in brackets"),
        home => format!("does not belong there: {key} stands under a line [{home}]"),
    }
}

fn no_table(table: &str, key: &str) -> String {
    let tables = KEYS.iter().map(|(name, _)| *name).filter(|name| !name.is_empty());
    match nearest(key, tables).filter(|_| table.is_empty()) {
        Some(meant) => format!("is not a table of guard.toml(5); [{meant}] is one"),
        None => "is not a table of guard.toml(5); remove it or correct its spelling".to_owned(),
    }
}
