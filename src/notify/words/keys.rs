//! Digits that could be a key, in one row or broken into groups: by blanks, lines, colons or dashes.

use super::encoded::LEFT_OUT;

/// Hex digits in a row that could be a key: no address, order id or hash of a rule is that long.
const KEY_DIGITS: usize = 64;
/// Letters that may stand between two groups of a key, and how many of them.
const BETWEEN: [char; 8] = [':', '-', ',', '.', '_', '|', '/', '\''];
const MOST_BETWEEN: usize = 3;
/// Digits without a letter among them that are a number of their own, and no group of a key.
const NUMBER: usize = 11;
/// Digits of an address, and of a byte or two, behind their `0x`.
const ADDRESS: usize = 40;
const SHORT: usize = 4;

/// The text with every run of digits that could be a key left out.
pub(in crate::notify) fn without_keys(text: &str) -> String {
    without_broken(&without_whole(text))
}

fn without_whole(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut run = String::new();
    for letter in text.chars().chain(std::iter::once('\0')) {
        if letter.is_ascii_hexdigit() {
            run.push(letter);
            continue;
        }
        if run.len() >= KEY_DIGITS {
            out.push_str(LEFT_OUT);
        } else {
            out.push_str(&run);
        }
        run.clear();
        if letter != '\0' {
            out.push(letter);
        }
    }
    out
}

/// Groups of digits that follow one another.
#[derive(Default)]
struct Groups<'t> {
    /// The text from the first of them to the last.
    text: &'t str,
    digits: String,
}

impl Groups<'_> {
    /// Numbers alone are no key: one of 64 digits has letters.
    fn is_key(&self) -> bool {
        let has = |is_one: fn(&u8) -> bool| self.digits.bytes().any(|digit| is_one(&digit));
        self.digits.len() >= KEY_DIGITS && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
    }

    fn shown(&self) -> &str {
        if self.is_key() { LEFT_OUT } else { self.text }
    }
}

fn without_broken(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut groups, mut groups_at) = (Groups::default(), 0);
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let begin = rest.find(|letter: char| letter.is_alphanumeric()).unwrap_or(rest.len());
        let (between, from) = rest.split_at(begin);
        let word = from.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
        let end = at.saturating_add(begin).saturating_add(word.len());
        let group = digits(word);
        let goes_on = !groups.digits.is_empty() && group.is_some_and(|(_, begins)| !begins) && is_between(between);
        if !goes_on {
            out.push_str(groups.shown());
            out.push_str(between);
            groups = Groups::default();
            groups_at = at.saturating_add(begin);
        }
        groups.text = text.get(groups_at..end).unwrap_or_default();
        match group {
            Some((digits, _)) => groups.digits.push_str(digits),
            None => {
                out.push_str(word);
                groups = Groups::default();
                groups_at = end;
            }
        }
        at = end;
    }
    out + groups.shown()
}

fn is_between(text: &str) -> bool {
    text.chars().count() <= MOST_BETWEEN
        && text.chars().all(|letter| letter.is_whitespace() || BETWEEN.contains(&letter))
}

/// The digits of a word that may be a group of a key, and whether it can only be the first.
fn digits(word: &str) -> Option<(&str, bool)> {
    let plain = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"));
    let digits = plain.unwrap_or(word);
    let is_hex = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let is_number = digits.len() >= NUMBER && digits.bytes().all(|digit| digit.is_ascii_digit());
    let is_address = plain.is_some() && digits.len() == ADDRESS;
    (is_hex && !is_number && !is_address).then_some((digits, plain.is_some() && digits.len() > SHORT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_left_out_also_in_groups_and_numbers_stay() {
        let key = "0123456789abcdef".repeat(4);
        let groups = |size: usize, between: &str| {
            let parts: Vec<&str> = (0..64).step_by(size).map(|at| &key[at..at + size]).collect();
            parts.join(between)
        };
        for text in [
            groups(2, ":"),
            groups(2, " "),
            groups(4, " "),
            groups(8, "-"),
            groups(16, ", "),
            groups(32, "\r\n"),
            groups(32, "\n"),
            format!("0x{}", groups(32, " ")),
            groups(2, " 0x"),
            key.clone(),
        ] {
            let said = without_keys(&format!("the key {text} is bad"));
            assert!(said.contains("[left out]") && !said.contains("cd"), "{text}: {said}");
            assert!(said.starts_with("the key ") && said.ends_with(" is bad"), "{said}");
        }
        // One digit fewer is none.
        let short = groups(8, "-")[1..].to_owned();
        let address = format!("0x{}", "ab1".repeat(14).get(..40).unwrap());
        let cloid = format!("0x{}", "ab1".repeat(11).get(..32).unwrap());
        for text in [
            short,
            format!("{address}, {address}, {address}"),
            format!("{cloid} {cloid}"),
            "123456789012, 123456789013, 123456789014, 123456789015, 123456789016, 123456789017 a bad face".to_owned(),
            "2027-01-15 08:00:00 ".repeat(8),
            "0.1, 0.25, 1000.5, 42 ".repeat(20),
            "é 12 ü ab".to_owned(),
            String::new(),
        ] {
            assert_eq!(without_keys(&text), text);
        }
    }
}
