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
use super::render::{HEADER, list, quoted, render};
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
        Staged::new(path, render(self).as_bytes(), mode_at(path)).map_err(ConfigError::File)
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
        |config, ()| with_client(text, client, &list(&config.auth.clients)),
    )
}

/// The ways to write one client more into the text, of which one says what is meant, whatever the table looks like.
fn with_client(text: &str, client: Address, clients: &str) -> Vec<String> {
    if let Some(there) = Clients::of(text) {
        return there.with(text, client).into_iter().chain([replaced(text, there.span, clients)]).collect();
    }
    let line = format!("clients = {clients}\n");
    let headers = text.split_inclusive('\n').scan(0_usize, |end, line| {
        *end = end.saturating_add(line.len());
        let plain: String = line.split('#').next().unwrap_or_default().split_whitespace().collect();
        Some((plain, *end))
    });
    let header = headers.filter(|(line, _)| line == "[auth]").map(|(_, end)| end).next();
    let feed = if text.ends_with('\n') { "" } else { "\n" };
    let under = header.map(|end| {
        let feed = if end == text.len() { feed } else { "" };
        replaced(text, end..end, &format!("{feed}{line}"))
    });
    // What is at the very start is at the top, whatever follows.
    under.into_iter().chain([format!("auth.{line}{text}"), format!("{}\n\n[auth]\n{line}", text.trim_end())]).collect()
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
        |_, new: Vec<(&str, Address)>| {
            let lines: String =
                new.into_iter().map(|(key, address)| format!("{key} = {}\n", quoted(address))).collect();
            vec![at_top(text, &lines)]
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
            vec![with_value(&text, "api_wallet", Some(&api_wallet.to_string()))]
        },
    )
}

/// Gives a top-level key of the config at `path`, whose text is `text`, another value, so that it says what `new` says;
/// none takes the key out.
///
/// # Errors
/// When the value cannot stand there, or the file cannot be written; what was there stays then.
pub fn set_value(path: &Path, text: &str, key: &str, value: Option<&str>, new: Config) -> Result<(), ConfigError> {
    edit(path, text, |config| **config = new, |_, ()| vec![with_value(text, key, value)])
}

/// The text with a top-level key's value replaced, added at its start, or its line taken out.
fn with_value(text: &str, key: &str, value: Option<&str>) -> String {
    let found = toml::from_str::<BTreeMap<String, Spanned<toml::Value>>>(text).ok();
    let span = found.and_then(|keys| keys.get(key).map(Spanned::span));
    match (span, value) {
        (Some(span), Some(value)) => replaced(text, span, &quoted(value)),
        (None, Some(value)) => at_top(text, &format!("{key} = {}\n", quoted(value))),
        (Some(span), None) => {
            let start =
                text.get(..span.start).and_then(|before| before.rfind('\n')).map_or(0, |end| end.saturating_add(1));
            let behind = text.get(span.end..).unwrap_or_default();
            let line = behind.split_inclusive('\n').next().unwrap_or_default();
            let end = span.end.saturating_add(line.len());
            // What its owner noted beside it is not the program's to drop.
            replaced(text, start..end, line.find('#').and_then(|note| line.get(note..)).unwrap_or_default())
        }
        (None, None) => text.to_owned(),
    }
}

/// The text with lines at its top, where they are top-level keys, whatever follows: below its first comment, which says what the
/// whole file is, where that ends with an empty line or is the one that this program writes.
fn at_top(text: &str, lines: &str) -> String {
    let first: usize = text.split_inclusive('\n').take_while(|line| line.starts_with('#')).map(str::len).sum();
    let behind = text.get(first..).unwrap_or_default();
    let is_whole = text.get(..first).is_some_and(|comment| comment.ends_with('\n'));
    let empty = behind.split_inclusive('\n').next().filter(|line| line.trim().is_empty() && line.ends_with('\n'));
    let end = match empty {
        Some(empty) if is_whole => first.saturating_add(empty.len()),
        _ if text.starts_with(HEADER) => HEADER.len(),
        _ => 0,
    };
    replaced(text, end..end, lines)
}

/// Makes a change to the typed config and to its text, in several ways, and keeps the first text that says the same; where none
/// does (an unusual way of writing the table), the whole config is written anew.
fn edit<T>(
    path: &Path,
    text: &str,
    change: impl FnOnce(&mut Box<Config>) -> T,
    write: impl FnOnce(&Config, T) -> Vec<String>,
) -> Result<(), ConfigError> {
    let mut config = match parse(text).map_err(|error| error.at(path))? {
        LoadedConfig::SetUp(config) => config,
        LoadedConfig::NotSetUp(_) => return Err(not_kept().at(path)),
    };
    let what = change(&mut config);
    config.check(path)?;
    let says_it = |text: &String| matches!(parse(text), Ok(LoadedConfig::SetUp(read)) if read == config);
    let changed = write(&config, what).into_iter().find(says_it);
    store(path, &changed.unwrap_or_else(|| render(&config)))
}

/// Writes the text that stood at `path` before a change.
///
/// # Errors
/// When it cannot be written; the changed one stays then.
pub fn put_back(path: &Path, text: &str) -> Result<(), ConfigError> {
    store(path, text)
}

/// The mode of a config that takes the place of this one: who could not read the file before cannot afterwards.
fn mode_at(path: &Path) -> u32 {
    fs::metadata(path).map_or(CONFIG_MODE, |file| file.permissions().mode() & CONFIG_MODE)
}

fn store(path: &Path, text: &str) -> Result<(), ConfigError> {
    write_whole(path, text.as_bytes(), mode_at(path), Replace::Yes).map_err(ConfigError::Unwritten)
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
        let close = self.span.end.checked_sub(1)?;
        let (last, new) = (self.last.clone(), quoted(client));
        let end = last.as_ref().map_or(self.span.start.saturating_add(1), |last| last.end);
        let behind = text.get(end..close)?;
        if !behind.contains('\n') {
            return last.map(|last| replaced(text, last.end..last.end, &format!(", {new}")));
        }
        let line = last.and_then(|last| text.get(..last.start)?.rsplit('\n').next());
        let indent = line.filter(|start| start.trim().is_empty()).unwrap_or("    ");
        // Words may stand between the last one and its comma.
        let is_apart = self.last.is_none() || without_comments(behind).trim_start().starts_with(',');
        let comma = if is_apart { "" } else { "," };
        let (before, behind, rest) = (text.get(..end)?, behind.trim_end(), text.get(self.span.end..)?);
        Some(format!("{before}{comma}{behind}\n{indent}{new},\n]{rest}"))
    }
}

/// Lines of a list without what is said beside them: an address holds no `#`.
fn without_comments(lines: &str) -> String {
    lines.lines().map(|line| line.split('#').next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
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
