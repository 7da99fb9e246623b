//! Rules from the command line: a code, or `@FILE` with a TOML table.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::PathBuf;

use super::init::expanded;
use super::refusal::Refusal;
use super::rules_place::Place;
use super::slips::check_no_key;
use crate::base::files::{FileError, Why};
use crate::base::text::QUOTES;
use crate::rules::{CODE_PREFIX, Rules};

/// Largest file of rules: a full list of the longest coins fits many times.
const MAX_FILE_LEN: u64 = 64 * 1024;

/// Reads rules that were given there.
pub(super) fn read(given: &str, place: Place) -> Result<Rules, Refusal> {
    // A file of an environment, and a paste, keep the quotes that a shell takes off.
    let given = given.trim().trim_matches(QUOTES);
    check_no_key(place.name(), given)?;
    let refused = |error| Refusal::Rules(place.name().to_owned(), error);
    match given.strip_prefix('@') {
        Some("") => Err(Refusal::NoFileNamed(place)),
        Some(path) => {
            let text = read_text(expanded(path))?;
            // What `config get rules` prints may stand in a file as well, and the table under a header of its own.
            let read = match text.trim() {
                code if code.starts_with(CODE_PREFIX) => Rules::from_code(code),
                _ => Rules::from_toml(&headed(&text).unwrap_or(text)),
            };
            read.map_err(|error| Refusal::Rules(format!("{} {given}", place.name()), error))
        }
        None if !given.starts_with(CODE_PREFIX) => Err(Refusal::NoCode(given.to_owned(), place)),
        None => Rules::from_code(given).map_err(refused),
    }
}

/// The rules of a file in which they all stand under `[rules]`.
fn headed(text: &str) -> Option<String> {
    let whole: toml::Table = text.parse().ok()?;
    let rules = whole.get("rules").filter(|_| whole.len() == 1)?.as_table()?;
    Some(rules.to_string())
}

fn read_text(path: PathBuf) -> Result<String, Refusal> {
    let mut bytes = Vec::new();
    let read = File::open(&path).and_then(|file| file.take(MAX_FILE_LEN.saturating_add(1)).read_to_end(&mut bytes));
    let text = match read {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(Refusal::NoRulesFile(path)),
        Err(error) if error.kind() == ErrorKind::IsADirectory => Err(Why::NotAFile),
        Err(error) => Err(Why::Io("read", error)),
        Ok(_) if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_FILE_LEN => Err(Why::TooLarge(MAX_FILE_LEN)),
        Ok(_) => String::from_utf8(bytes).map_err(|error| Why::not_text(&error)),
    };
    text.map_err(|why| Refusal::File(FileError { path, why }))
}
