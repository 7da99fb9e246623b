//! Commands of this program in a text, as a person types them into a shell: each names the home that it is for, since
//! without it it would act on another one.

use std::path::Path;

/// How a command of this program begins where a text suggests it.
const PROGRAM: &str = "`svc-guard ";

/// A word of a shell, quoted where it has to be: a path, or what stands in its place.
#[must_use]
pub fn word(text: impl AsRef<Path>) -> String {
    let text = text.as_ref().to_string_lossy();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:@%,=".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// A text with each of its commands for this home, and behind these words, such as `sudo -u NAME `; one for another home stays
/// as it is. Without a home it is not known for which.
#[must_use]
pub fn for_home(text: &str, home: &str, before: &str) -> String {
    let flag = if home.is_empty() { String::new() } else { format!("--home {} ", word(home)) };
    let mut parts = text.split(PROGRAM);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let words = if flag.is_empty() { part } else { part.strip_prefix(flag.as_str()).unwrap_or(part) };
        if words.starts_with("--home ") {
            out.push_str(PROGRAM);
            out.push_str(part);
        } else {
            out.push_str(&format!("`{before}{}{flag}{words}", PROGRAM.trim_start_matches('`')));
        }
    }
    out
}

#[cfg(test)]
mod tests {
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
    }

    #[test]
    fn a_word_is_one_word() {
        for (text, expected) in
            [("/a-b_c", "/a-b_c"), ("/a b", "'/a b'"), ("/it's", r"'/it'\''s'"), ("", "''"), ("/a$b", "'/a$b'")]
        {
            assert_eq!(word(text), expected);
        }
    }
}
