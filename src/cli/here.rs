//! Commands as a person can type them for the home at hand: where one was named, by flag or variable, every command that
//! a text suggests names it too. Without it the suggestion would act on another home.

use std::ffi::OsString;
use std::path::Path;
use std::sync::OnceLock;

/// What goes between the program's name and a command; empty for the default home.
static FLAGS: OnceLock<String> = OnceLock::new();

/// Takes in the command line as it was typed. Called once, before anything is said.
pub(super) fn typed(words: impl Iterator<Item = OsString>) {
    _ = FLAGS.set(flags(words, std::env::var_os("SVC_GUARD_HOME")));
}

/// A text with the commands in its backticks made exact.
pub(super) fn exact(text: &str) -> String {
    with(text, FLAGS.get().map_or("", String::as_str))
}

fn with(text: &str, flags: &str) -> String {
    if flags.is_empty() {
        return text.to_owned();
    }
    let parts = text.split('`').enumerate();
    let commands = parts.map(|(place, part)| {
        // Where another home is meant, the text says which.
        if place % 2 == 1 && !part.contains("--home") {
            part.replace("svc-guard ", &format!("svc-guard {flags} "))
        } else {
            part.to_owned()
        }
    });
    commands.collect::<Vec<_>>().join("`")
}

/// Whether the command line, as it was typed, is one that pulls the kill switch.
pub(super) fn is_kill(words: impl Iterator<Item = OsString>) -> bool {
    let mut words = words.skip(1);
    while let Some(word) = words.next() {
        match word.to_string_lossy().as_ref() {
            "--home" | "--config" => _ = words.next(),
            flag if flag.starts_with('-') => {}
            command => return command == "kill",
        }
    }
    false
}

/// The flags that name the home and the config, as absolute paths: a suggestion may be typed elsewhere.
fn flags(words: impl Iterator<Item = OsString>, variable: Option<OsString>) -> String {
    let mut words = words.skip(1);
    let (mut home, mut config) = (variable.filter(|home| !home.is_empty()), None);
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
    let named = [("--home", home), ("--config", config)].into_iter();
    let named = named.filter_map(|(flag, path)| Some((flag, std::path::absolute(path?).ok()?)));
    named.map(|(flag, path)| format!("{flag} {}", word(&path))).collect::<Vec<_>>().join(" ")
}

/// A path as one word of a shell.
pub(super) fn word(path: &Path) -> String {
    let text = path.to_string_lossy();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:@%,=".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
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
        assert_eq!(word(Path::new("/it's")), r"'/it'\''s'");
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
