//! Commands of this program in a text, as a person types them into a shell: each names the home that it is for, since
//! without it it would act on another one.

use std::fmt::Display;
use std::path::Path;

/// How a command of this program begins.
const PROGRAM: &str = "svc-guard ";
/// The variable in which a person says the account again, before a command that mainnet asks it for.
const CONFIRMATION: &str = "SVC_MAINNET_CONFIRM=";

/// What goes before a command that mainnet asks a person's word for: the account's address said again.
#[must_use]
pub fn confirmation(account: impl Display) -> String {
    format!("{CONFIRMATION}{account} ")
}

/// A word of a shell, quoted where it has to be: a path, or what stands in its place. Bytes that are no text, and those that
/// control a terminal, stand as bash, zsh and ksh read them.
#[must_use]
pub fn word(text: impl AsRef<Path>) -> String {
    let Some(text) = typeable(text.as_ref()) else { return by_bytes(text.as_ref()) };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:@%,=".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// A path that a person can type as it is shown.
fn typeable(path: &Path) -> Option<&str> {
    path.to_str().filter(|text| !text.contains(char::is_control))
}

/// A text with the bytes of each control character as numbers.
#[must_use]
pub fn numbered(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() {
            letter.to_string().bytes().for_each(|byte| shown.push_str(&format!("\\x{byte:02x}")));
        } else {
            shown.push(letter);
        }
    }
    shown
}

fn by_bytes(path: &Path) -> String {
    let mut word = "$'".to_owned();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        word.push_str(&numbered(&chunk.valid().replace('\\', r"\\").replace('\'', r"\'")));
        chunk.invalid().iter().for_each(|byte| word.push_str(&format!("\\x{byte:02x}")));
    }
    word + "'"
}

/// A path in a sentence: as it is, and as a word of a shell where that cannot be typed.
#[must_use]
pub fn place(path: &Path) -> String {
    typeable(path).map_or_else(|| by_bytes(path), str::to_owned)
}

/// A text with each of its commands for this home, and behind these words, such as `sudo -u NAME `; one for another home stays
/// as it is. Without a home it is not known for which.
#[must_use]
pub fn for_home(text: &str, home: &str, before: &str) -> String {
    let flag = if home.is_empty() { String::new() } else { format!("--home {} ", word(home)) };
    let mut parts = text.split('`');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push('`');
        let (confirmation, command) = confirmed(part);
        let words = command.strip_prefix(PROGRAM).map(|words| words.strip_prefix(flag.as_str()).unwrap_or(words));
        match words.filter(|words| !words.starts_with("--home ")) {
            Some(words) => out.push_str(&format!("{before}{confirmation}{PROGRAM}{flag}{words}")),
            None => out.push_str(part),
        }
    }
    out
}

/// A command, apart from the person's word before it.
fn confirmed(command: &str) -> (&str, &str) {
    let end = command.strip_prefix(CONFIRMATION).and_then(|rest| rest.find(' ')).unwrap_or_default();
    if end == 0 { ("", command) } else { command.split_at(CONFIRMATION.len().saturating_add(end).saturating_add(1)) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn a_command_is_for_its_home_once() {
        let text = "run `svc-guard health`, then `svc-guard --home /other kill`; svc-guard tells, `sudo x`";
        let said = for_home(text, "/my home", "");
        assert_eq!(
            said,
            "run `svc-guard --home '/my home' health`, then `svc-guard --home /other kill`; svc-guard tells, `sudo x`"
        );
        assert_eq!(for_home(&said, "/my home", ""), said);
        let by_another = for_home(&said, "/my home", "sudo -u it ");
        assert!(by_another.starts_with("run `sudo -u it svc-guard --home '/my home' health`, then"), "{by_another}");
        assert_eq!(for_home(text, "", ""), text);
        let confirmed = format!("run `{}svc-guard journal-resume`", confirmation("0x11"));
        assert_eq!(
            for_home(&confirmed, "/h", "sudo -u it "),
            "run `sudo -u it SVC_MAINNET_CONFIRM=0x11 svc-guard --home /h journal-resume`"
        );
    }

    #[test]
    fn a_word_is_one_word() {
        for (text, expected) in
            [("/a-b_c", "/a-b_c"), ("/a b", "'/a b'"), ("/it's", r"'/it'\''s'"), ("", "''"), ("/a$b", "'/a$b'")]
        {
            assert_eq!(word(text), expected);
        }
        let bytes = Path::new(std::ffi::OsStr::from_bytes(b"/b\xffa d/it's\\x"));
        assert_eq!(
            (word(bytes), place(bytes)),
            (r"$'/b\xffa d/it\'s\\x'".to_owned(), r"$'/b\xffa d/it\'s\\x'".to_owned())
        );
        assert_eq!(place(Path::new("/a b")), "/a b");
        let controls = Path::new("/a\u{1b}[31m\nb\u{9b}");
        assert_eq!(word(controls), r"$'/a\x1b[31m\x0ab\xc2\x9b'");
        assert_eq!(place(controls), word(controls));
    }
}
