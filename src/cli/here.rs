//! Commands as a person can type them for the home at hand: where one was named, by flag or variable, every command that
//! a text suggests names it too. Without it the suggestion would act on another home.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::base::files::{in_own_folder, whole_path};
use crate::base::shell::word;

/// What goes between the program's name and a command; empty for the default home.
static FLAGS: OnceLock<String> = OnceLock::new();

/// The command without those flags, as it was typed.
static COMMAND: OnceLock<String> = OnceLock::new();

/// How a command is given a key.
const KEY_IN: &str = " < FILE";

/// Takes in the command line as it was typed. Called once, before anything is said.
pub(super) fn typed(words: &[OsString]) {
    _ = COMMAND.set(command(words.iter().cloned()));
    _ = FLAGS.set(flags(words.iter().cloned(), std::env::var_os("SVC_GUARD_HOME")));
}

/// The command that takes the API wallet's key: the one that was typed, where it reads one.
pub(super) fn with_key() -> String {
    let typed = COMMAND.get().filter(|command| command.ends_with(KEY_IN));
    typed.cloned().unwrap_or_else(|| format!("key replace --key-stdin{KEY_IN}"))
}

/// A text whose command ends in dots, which stand for the one that was typed, with that one.
pub(super) fn whole(text: &str) -> String {
    let command = COMMAND.get().filter(|command| !command.is_empty());
    command.map_or_else(|| text.to_owned(), |command| text.replacen(" ...`", &format!(" {command}`"), 1))
}

/// The words behind the program's name, without those that name home and config.
pub(super) fn behind(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words = words.skip(1);
    let mut kept = Vec::new();
    while let Some(typed) = words.next() {
        match typed.to_string_lossy().as_ref() {
            "--home" | "--config" => _ = words.next(),
            flag if flag.starts_with("--home=") || flag.starts_with("--config=") => {}
            _ => kept.push(typed),
        }
    }
    kept
}

/// The same as one command.
pub(super) fn command(words: impl Iterator<Item = OsString>) -> String {
    let words = behind(words);
    let reads = words.iter().any(|word| word == "--key-stdin");
    let line = words.iter().map(word).collect::<Vec<_>>().join(" ");
    // A redirection is no word of the command, and the key is read from it all the same.
    if reads { format!("{line}{KEY_IN}") } else { line }
}

/// A text with the commands in its backticks made exact.
pub(super) fn exact(text: &str) -> String {
    with(text, FLAGS.get().map_or("", String::as_str))
}

fn with(text: &str, flags: &str) -> String {
    if flags.is_empty() {
        return text.to_owned();
    }
    let mut parts = text.split('`').peekable();
    let mut exact = parts.next().unwrap_or_default().to_owned();
    while let Some(part) = parts.next() {
        exact.push('`');
        // A backtick may be a path's own: only what reads as a command, with another one behind it, is one.
        let is_command = parts.peek().is_some() && part.starts_with(|first: char| first.is_ascii_alphanumeric());
        // Where another home is meant, the text says which.
        if is_command && !part.contains("--home") {
            push_command(&mut exact, part, flags);
        } else {
            exact.push_str(part);
        }
    }
    exact
}

/// The program's name, where it is a word of a command that goes on.
const NAME: &str = "svc-guard ";

/// Adds a command, with the flags behind the program's name wherever it is called, and nowhere else: not in a path.
fn push_command(text: &mut String, command: &str, flags: &str) {
    let (mut is_quoted, mut is_escaped, mut is_word, mut rest) = (false, false, true, command);
    while let Some(letter) = rest.chars().next() {
        let called = rest.strip_prefix(NAME).filter(|_| is_word && !is_quoted);
        if let Some(behind) =
            called.filter(|behind| behind.starts_with(|next: char| next.is_ascii_alphabetic() || next == '-'))
        {
            text.push_str(&format!("{NAME}{flags} "));
            rest = behind;
            continue;
        }
        is_quoted ^= letter == '\'' && !is_escaped;
        is_escaped = letter == '\\' && !is_quoted && !is_escaped;
        is_word = letter == ' ';
        text.push(letter);
        rest = rest.get(letter.len_utf8()..).unwrap_or_default();
    }
}

/// Whether the command line, as it was typed, is one that pulls the kill switch.
pub(super) fn is_kill(words: impl Iterator<Item = OsString>) -> bool {
    let mut words = words.skip(1);
    while let Some(word) = words.next() {
        match word.to_string_lossy().as_ref() {
            // One dash is too few, and what was meant is clear.
            "--home" | "--config" | "-home" | "-config" => _ = words.next(),
            flag if flag.starts_with('-') => {}
            command => return command == "kill",
        }
    }
    false
}

/// The home and the config that were named.
pub(super) fn named(words: impl Iterator<Item = OsString>) -> (Option<PathBuf>, Option<PathBuf>) {
    let mut words = words.skip(1);
    let (mut home, mut config) = (None, None);
    while let Some(word) = words.next() {
        let shown = word.to_string_lossy();
        match shown.split_once('=').unwrap_or((&shown, "")) {
            ("--home", "") => home = words.next(),
            ("--config", "") => config = words.next(),
            ("--home", dir) => home = Some(dir.into()),
            ("--config", file) => config = Some(file.into()),
            _ => {}
        }
    }
    (home.map(PathBuf::from), config.map(PathBuf::from))
}

/// A flag for the home or the config that was given twice with different values, and these: the later one would win without a word.
pub(super) fn twice(words: impl Iterator<Item = OsString>) -> Option<(&'static str, [PathBuf; 2])> {
    let mut words = words.skip(1).take_while(|word| word != "--");
    let mut seen: [(&'static str, Option<OsString>); 2] = [("--home", None), ("--config", None)];
    while let Some(word) = words.next() {
        let shown = word.to_string_lossy();
        let (flag, value) = shown.split_once('=').map_or((&*shown, None), |(flag, value)| (flag, Some(value.into())));
        let Some((flag, before)) = seen.iter_mut().find(|(known, _)| *known == flag) else { continue };
        let value = value.or_else(|| words.next())?;
        match before.replace(value.clone()) {
            Some(before) if before != value => return Some((flag, [before.into(), value.into()])),
            _ => {}
        }
    }
    None
}

/// The flags that name the home and the config, as absolute paths: a suggestion may be typed elsewhere.
fn flags(words: impl Iterator<Item = OsString>, variable: Option<OsString>) -> String {
    let (home, config) = named(words);
    let home = home.or(variable.filter(|home| !home.is_empty()).map(PathBuf::from));
    let named = [("--home", home), ("--config", config)].into_iter();
    let whole = |path| whole_path(&in_own_folder(path, std::env::home_dir)).ok();
    let named = named.filter_map(|(flag, path)| Some((flag, whole(path?)?)));
    named.map(|(flag, path)| format!("{flag} {}", word(&path))).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(line: &str, variable: Option<&str>) -> String {
        flags(line.split(' ').map(OsString::from), variable.map(OsString::from))
    }

    #[test]
    fn a_home_that_was_named_stands_in_every_command() {
        assert_eq!(typed("svc-guard init", None), "");
        assert_eq!(typed("svc-guard init", Some("/a b")), "--home '/a b'");
        assert_eq!(typed("svc-guard init --home /x", Some("/y")), "--home /x");
        assert_eq!(typed("svc-guard --home=/x --config /c init", None), "--home /x --config /c");
        let said = with("run `svc-guard init`, not svc-guard run; `A=1 svc-guard run`", "--home /x");
        assert_eq!(said, "run `svc-guard --home /x init`, not svc-guard run; `A=1 svc-guard --home /x run`");
        assert_eq!(with("`svc-guard init`", ""), "`svc-guard init`");
    }

    #[test]
    fn a_path_in_a_text_is_left_as_it_is() {
        for (text, expected) in [
            ("run `chmod go-w '/svc-guard copy/guard.toml'`", "run `chmod go-w '/svc-guard copy/guard.toml'`"),
            ("/svc-guard copy/x is not there", "/svc-guard copy/x is not there"),
            (
                "/x`z.toml is not there; `svc-guard init` makes one",
                "/x`z.toml is not there; `svc-guard --home /x init` makes one",
            ),
            (r"`chmod go-w '/it'\''s svc-guard x'`", r"`chmod go-w '/it'\''s svc-guard x'`"),
            ("`systemctl stop svc-guard && true`", "`systemctl stop svc-guard && true`"),
            (
                "`a '/svc-guard b' - | svc-guard run < '/svc-guard c'`",
                "`a '/svc-guard b' - | svc-guard --home /x run < '/svc-guard c'`",
            ),
        ] {
            assert_eq!(with(text, "--home /x"), expected);
        }
    }

    #[test]
    fn what_was_typed_can_be_typed_again() {
        let words = ["svc-guard", "--home", "/x", "kill", "--config=/c", "--reason", "it is wrong"];
        assert_eq!(command(words.into_iter().map(OsString::from)), "kill --reason 'it is wrong'");
        assert_eq!(command(["svc-guard"].into_iter().map(OsString::from)), "");
    }

    #[test]
    fn a_kill_is_known_by_its_place() {
        for (line, expected) in [
            ("svc-guard kill", true),
            ("svc-guard --home kill kill --reason", true),
            ("svc-guard --home=/x --what kill --reason", true),
            ("svc-guard journal-init --note kill", false),
            ("svc-guard --home kill", false),
            ("svc-guard", false),
        ] {
            assert_eq!(is_kill(line.split(' ').map(OsString::from)), expected, "{line}");
        }
    }
}
