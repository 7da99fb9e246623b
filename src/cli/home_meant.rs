//! The home and the config that a command line was to name where it cannot be read: a flag for them that is misspelt, a folder
//! without its flag. A command that a text proposes without them would act on another home, and pull another guard's switch.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::Command;

use super::here;
use crate::base::text::{nearest, short};

/// Other names for the home and for the config, in small letters and with `_` for dashes.
const HOMES: &[&str] = &[
    "dir",
    "directory",
    "folder",
    "datadir",
    "data_dir",
    "homedir",
    "home_dir",
    "guard_home",
    "svc_guard_home",
    "basedir",
];
const CONFIGS: &[&str] = &["cfg", "configuration", "configfile", "config_file", "settings"];
/// Letters that stand for a folder or a file with other programs.
const LETTERS: [&str; 5] = ["C", "D", "c", "d", "f"];
/// Words before a command that are no home.
const OURS: &[&str] = &[
    "svc-guard",
    "sudo",
    "guard",
    "help",
    "please",
    "paper",
    "testnet",
    "mainnet",
    "set",
    "get",
    "show",
    "list",
    "journal",
    "rules",
];
/// A home has one of these.
const SIGNS: [&str; 3] = ["guard.toml", "journals", "kill.ready"];

/// A command line with home and config named as they were meant.
pub(super) struct Meant {
    pub(super) words: Vec<OsString>,
    /// The first word that was read as a flag for them, and is none.
    pub(super) misspelt: Option<String>,
    /// Why it is not certain which home or config is meant.
    pub(super) doubt: Option<String>,
}

/// Reads a command line that the parser refused; its first word is the program.
pub(super) fn read(program: &Command, typed: &[OsString]) -> Meant {
    let mut reader = Reader {
        program,
        rest: typed.get(1..).unwrap_or_default(),
        has_command: false,
        meant: Meant { words: typed.iter().take(1).cloned().collect(), misspelt: None, doubt: None },
    };
    while let Some(word) = reader.next() {
        if word == "--" {
            reader.meant.words.push(word);
            break;
        }
        let shown = word.to_string_lossy().into_owned();
        match dashes(&shown) {
            Some((dashes, name)) => reader.flag(&word, dashes, name),
            None => reader.word(word, &shown),
        }
    }
    let rest = reader.rest.to_vec();
    let mut meant = reader.meant;
    meant.words.extend(rest);
    if let Some((flag, [one, other])) = here::twice(meant.words.iter().cloned()) {
        meant.doubt.get_or_insert_with(|| format!("{flag} may be {} or {}", one.display(), other.display()));
    }
    meant
}

struct Reader<'a> {
    program: &'a Command,
    rest: &'a [OsString],
    has_command: bool,
    meant: Meant,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<OsString> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first.clone())
    }

    /// The word behind a flag, if it may be its value.
    fn value(&mut self) -> Option<OsString> {
        let is_value = self.rest.first().is_some_and(|next| dashes(&next.to_string_lossy()).is_none());
        if is_value { self.next() } else { None }
    }

    fn flag(&mut self, word: &OsStr, dashes: &str, name: &str) {
        let (name, inline) = apart(self.program, dashes, name);
        let exact = if dashes == "--" { ["home", "config"].into_iter().find(|known| *known == name) } else { None };
        if let Some(known) = exact.or_else(|| like(self.program, dashes, name)) {
            let value = inline.or_else(|| self.value()).filter(|value: &OsString| !value.is_empty());
            match value {
                Some(value) if self.is_command_behind(&value) => self.place(word, exact.is_none(), known, value),
                _ => self.doubt(format!("{} has no value", short(&word.to_string_lossy()))),
            }
            return;
        }
        self.meant.words.push(word.to_owned());
        let (is_known, takes_value) = option(self.program, name).map_or((false, false), |takes| (true, takes));
        if is_known {
            let value = if takes_value && inline.is_none() { self.value() } else { None };
            self.meant.words.extend(value);
            return;
        }
        let next = || self.rest.first().filter(|next| self::dashes(&next.to_string_lossy()).is_none()).cloned();
        let Some(value) = inline.or_else(next) else { return };
        if is_folder(&value) || dashes == "-" && LETTERS.contains(&name) {
            let (flag, value) = (short(&word.to_string_lossy()), short(&value.to_string_lossy()));
            self.doubt(format!("{flag} {value} may stand for one"));
        }
    }

    /// Names the home or the config as it is named rightly.
    fn place(&mut self, word: &OsStr, is_misspelt: bool, known: &str, value: OsString) {
        if is_misspelt {
            self.meant.misspelt.get_or_insert_with(|| short(&word.to_string_lossy()));
        }
        self.meant.words.extend([format!("--{known}").into(), value]);
    }

    /// Whether a value leaves a command to the line: one that is named as a command may be that.
    fn is_command_behind(&self, value: &OsStr) -> bool {
        let is_command = |word: &OsStr| self.program.find_subcommand(word).is_some();
        self.has_command || !is_command(value) || self.rest.iter().any(|word| is_command(word))
    }

    fn word(&mut self, word: OsString, shown: &str) {
        let is_command = self.program.find_subcommand(&word).is_some();
        let is_before = !self.has_command && !is_command && self.names_command_next();
        if is_before && (is_folder(&word) || shown.contains('/')) {
            self.meant.misspelt.get_or_insert_with(|| short(shown));
            self.meant.words.extend(["--home".into(), word]);
            return;
        }
        if is_before && !is_of_ours(shown) || is_home(&word) {
            self.doubt(format!("{} may be a home", short(shown)));
        }
        self.has_command |= is_command;
        self.meant.words.push(word);
    }

    fn names_command_next(&self) -> bool {
        self.rest.first().is_some_and(|next| self.program.find_subcommand(next).is_some())
    }

    fn doubt(&mut self, why: String) {
        self.meant.doubt.get_or_insert(why);
    }
}

/// The dashes before a flag, of whichever kind, and its name.
fn dashes(word: &str) -> Option<(&str, &str)> {
    let is_dash = |letter: char| letter == '-' || matches!(u32::from(letter), 0x2010..=0x2015 | 0x2212);
    let name = word.trim_start_matches(is_dash);
    let before = word.strip_suffix(name).filter(|before| !before.is_empty() && !name.is_empty())?;
    Some((before, name))
}

/// A flag's name and the value that is written into the same word: behind a `=`, or behind the one letter of `-Hk1`.
fn apart<'a>(program: &Command, dashes: &str, name: &'a str) -> (&'a str, Option<OsString>) {
    match name.split_once('=') {
        Some((name, value)) => (name, Some(value.into())),
        None if dashes == "-"
            && name.len() > 1
            && name.starts_with(['H', 'C'])
            && like(program, dashes, name).is_none() =>
        {
            let (letter, value) = name.split_at(1);
            (letter, Some(value.into()))
        }
        None => (name, None),
    }
}

/// The flag for home or config that a name was meant for.
fn like(program: &Command, dashes: &str, name: &str) -> Option<&'static str> {
    if dashes == "-" && name == "H" {
        return Some("home");
    }
    // One letter more or less would be another flag.
    if name.chars().count() < 2 || dashes == "--" && option(program, name).is_some() {
        return None;
    }
    let plain = name.to_lowercase().replace('-', "_");
    let is_near = |known: &str| known.starts_with(&plain) || nearest(&plain, [known].into_iter()).is_some();
    if is_near("home") || HOMES.contains(&plain.as_str()) {
        Some("home")
    } else if is_near("config") || CONFIGS.contains(&plain.as_str()) {
        Some("config")
    } else {
        None
    }
}

/// Whether an option of any command has a value; none where no command has it.
fn option(program: &Command, name: &str) -> Option<bool> {
    let own = program.get_arguments().find(|argument| argument.get_long() == Some(name));
    let found = own.map(|argument| argument.get_action().takes_values());
    found.or_else(|| program.get_subcommands().find_map(|command| option(command, name)))
}

/// Words that are typed before a command, and are no home.
fn is_of_ours(word: &str) -> bool {
    word.contains('=') || OURS.contains(&word.to_lowercase().as_str())
}

fn is_folder(word: &OsStr) -> bool {
    Path::new(word).is_dir()
}

fn is_home(word: &OsStr) -> bool {
    is_folder(word) && SIGNS.iter().any(|sign| Path::new(word).join(sign).exists())
}
