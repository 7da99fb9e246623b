//! Changing a `guard.toml` that a person may have written: only the one value moves, comments and order stay.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use super::config::{Config, ConfigError, LoadedConfig};
use super::parse::{ParseError, parse};
use super::render::{list, quoted, render};
use crate::base::address::Address;
use crate::base::files::{Replace, Staged, write_whole};
use crate::rules::{Problem, Problems};

/// Mode of a config: anyone may read it, its owner writes it.
const CONFIG_MODE: u32 = 0o644;

impl Config {
    /// Writes the whole config beside `path`, to be put there later.
    ///
    /// # Errors
    /// When keys disagree with each other, or the file cannot be written.
    pub fn stage(&self, path: &Path) -> Result<Staged, ConfigError> {
        self.check(path)?;
        Staged::new(path, render(self).as_bytes(), CONFIG_MODE).map_err(ConfigError::File)
    }

    /// Checks what [`Config::stage`] would check, without writing.
    ///
    /// # Errors
    /// When keys disagree with each other.
    pub fn check(&self, path: &Path) -> Result<(), ConfigError> {
        match parse(&render(self)) {
            Ok(LoadedConfig::SetUp(read)) if *read == *self => Ok(()),
            Ok(_) => Err(not_kept().at(path)),
            Err(error) => Err(error.at(path)),
        }
    }
}

/// Adds a client's address to `[auth] clients` of the config at `path`, whose text is `text`.
///
/// # Errors
/// When the address cannot stand there, or the file cannot be written; what was there stays then.
pub fn add_client(path: &Path, text: &str, client: Address) -> Result<(), ConfigError> {
    edit(
        path,
        text,
        |config| config.auth.clients.push(client),
        |config, ()| {
            let clients = list(&config.auth.clients);
            match Clients::of(text) {
                Some(there) => there.with(text, client).unwrap_or_else(|| replaced(text, there.span, &clients)),
                None => format!("{}\n\n[auth]\nclients = {clients}\n", text.trim_end()),
            }
        },
    )
}

/// Records the API wallet's address and its owner's in the config at `path`, whose text is `text`.
///
/// # Errors
/// When an address cannot stand there, or the file cannot be written; what was there stays then.
pub fn set_api_wallet(path: &Path, text: &str, api_wallet: Address, owner: Address) -> Result<(), ConfigError> {
    edit(
        path,
        text,
        |config| {
            let keys = [
                ("api_wallet", config.api_wallet.replace(api_wallet), api_wallet),
                ("api_wallet_owner", config.api_wallet_owner.replace(owner), owner),
            ];
            keys.into_iter().filter(|(_, before, _)| before.is_none()).map(|(key, _, new)| (key, new)).collect()
        },
        // Keys at the very start are top-level keys, whatever follows.
        |_, new: Vec<(&str, Address)>| {
            let lines = new.into_iter().map(|(key, address)| format!("{key} = {}\n", quoted(address)));
            lines.chain([text.to_owned()]).collect()
        },
    )
}

/// Records another API wallet and its owner in the place of those in the config at `path`, whose text is `text`.
///
/// # Errors
/// When an address cannot stand there, or the file cannot be written; what was there stays then.
pub fn replace_api_wallet(path: &Path, text: &str, api_wallet: Address, owner: Address) -> Result<(), ConfigError> {
    edit(
        path,
        text,
        |config| (config.api_wallet, config.api_wallet_owner) = (Some(api_wallet), Some(owner)),
        |_, ()| {
            let text = with_value(text, "api_wallet_owner", Some(&owner.to_string()));
            with_value(&text, "api_wallet", Some(&api_wallet.to_string()))
        },
    )
}

/// Gives a top-level key of the config at `path`, whose text is `text`, another value, so that it says what `new` says;
/// none takes the key out.
///
/// # Errors
/// When the value cannot stand there, or the file cannot be written; what was there stays then.
pub fn set_value(path: &Path, text: &str, key: &str, value: Option<&str>, new: Config) -> Result<(), ConfigError> {
    edit(path, text, |config| **config = new, |_, ()| with_value(text, key, value))
}

/// The text with a top-level key's value replaced, added at its start, or its line taken out.
fn with_value(text: &str, key: &str, value: Option<&str>) -> String {
    let found = toml::from_str::<BTreeMap<String, Spanned<toml::Value>>>(text).ok();
    let span = found.and_then(|keys| keys.get(key).map(Spanned::span));
    match (span, value) {
        (Some(span), Some(value)) => replaced(text, span, &quoted(value)),
        // Keys at the very start are top-level keys, whatever follows.
        (None, Some(value)) => format!("{key} = {}\n{text}", quoted(value)),
        (Some(span), None) => {
            let start =
                text.get(..span.start).and_then(|before| before.rfind('\n')).map_or(0, |end| end.saturating_add(1));
            let rest = text.get(span.end..).and_then(|after| after.find('\n'));
            let end = rest.map_or(text.len(), |end| span.end.saturating_add(end).saturating_add(1));
            replaced(text, start..end, "")
        }
        (None, None) => text.to_owned(),
    }
}

/// Makes a change to the typed config and to its text, and keeps the text only where it says the same; where it does
/// not (an unusual way of writing the table), the whole config is written anew.
fn edit<T>(
    path: &Path,
    text: &str,
    change: impl FnOnce(&mut Box<Config>) -> T,
    write: impl FnOnce(&Config, T) -> String,
) -> Result<(), ConfigError> {
    let mut config = match parse(text).map_err(|error| error.at(path))? {
        LoadedConfig::SetUp(config) => config,
        LoadedConfig::NotSetUp(_) => return Err(not_kept().at(path)),
    };
    let what = change(&mut config);
    config.check(path)?;
    let changed = write(&config, what);
    let kept = matches!(parse(&changed), Ok(LoadedConfig::SetUp(read)) if read == config);
    store(path, &if kept { changed } else { render(&config) })
}

/// Writes the text that stood at `path` before a change.
///
/// # Errors
/// When it cannot be written; the changed one stays then.
pub fn put_back(path: &Path, text: &str) -> Result<(), ConfigError> {
    store(path, text)
}

/// Who could not read the file before cannot afterwards.
fn store(path: &Path, text: &str) -> Result<(), ConfigError> {
    let mode = fs::metadata(path).map_or(CONFIG_MODE, |file| file.permissions().mode() & CONFIG_MODE);
    write_whole(path, text.as_bytes(), mode, Replace::Yes).map_err(ConfigError::Unwritten)
}

/// Where the list of clients stands in the text.
struct Clients {
    span: Range<usize>,
    /// Where its last one stands.
    last: Option<Range<usize>>,
}

impl Clients {
    fn of(text: &str) -> Option<Clients> {
        #[derive(Deserialize)]
        struct Auth {
            clients: Spanned<Vec<Spanned<String>>>,
        }
        #[derive(Deserialize)]
        struct Outline {
            auth: Auth,
        }
        let Outline { auth } = toml::from_str::<Outline>(text).ok()?;
        Some(Clients { span: auth.clients.span(), last: auth.clients.get_ref().last().map(Spanned::span) })
    }

    /// The text with one more behind the last one, on a line of its own where the list goes on behind that line: a person's
    /// words beside the others stay where they are.
    fn with(&self, text: &str, client: Address) -> Option<String> {
        let last = self.last.as_ref()?;
        let (before, behind) = (text.get(..last.end)?, text.get(last.end..self.span.end.checked_sub(1)?)?);
        let new = quoted(client);
        if !behind.contains('\n') {
            return Some(replaced(text, last.end..last.end, &format!(", {new}")));
        }
        let indent =
            text.get(..last.start)?.rsplit('\n').next().filter(|start| start.trim().is_empty()).unwrap_or("    ");
        let comma = if behind.trim_start().starts_with(',') { "" } else { "," };
        let (behind, rest) = (behind.trim_end(), text.get(self.span.end..)?);
        Some(format!("{before}{comma}{behind}\n{indent}{new},\n]{rest}"))
    }
}

fn replaced(text: &str, span: Range<usize>, with: &str) -> String {
    let before = text.get(..span.start).unwrap_or_default();
    let after = text.get(span.end..).unwrap_or_default();
    format!("{before}{with}{after}")
}

fn not_kept() -> ParseError {
    let allowed = "cannot be written so that it reads back the same; write the file by hand".to_owned();
    ParseError::Problems(Problems(vec![Problem { key: "guard.toml".to_owned(), value: String::new(), allowed }]))
}
