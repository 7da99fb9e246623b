//! Words of a command that a person is told to type.

use std::path::Path;

/// A path as one word of a shell, quoted where it has to be.
#[must_use]
pub fn word(path: &Path) -> String {
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

    #[test]
    fn a_path_is_one_word() {
        for (path, expected) in [
            ("/a/b-1.toml", "/a/b-1.toml"),
            ("/sp ace", "'/sp ace'"),
            ("/it's", r"'/it'\''s'"),
            ("", "''"),
            ("/a$b", "'/a$b'"),
        ] {
            assert_eq!(word(Path::new(path)), expected);
        }
    }
}
