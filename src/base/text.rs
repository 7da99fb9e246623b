//! Foreign text made safe to show: one line, bounded, nothing that could pass for something else.
//!
//! Four strengths: [`lines`] for what is told in several lines, [`one_line`] for places that only must not break a line,
//! [`printable`] where control characters have no business at all, [`visible`] where also what hides or reorders text must go (people and agents read it).

/// Most characters of [`short`].
const SHORT: usize = 64;

/// Quotes, as a person types them, and as a text that was pasted has them.
pub const QUOTES: [char; 6] = ['"', '\'', '“', '”', '‘', '’'];

/// Hex digits of a key, or of one of which the beginning or the end is missing.
const KEY_DIGITS: usize = 60;
/// Most hex digits in a row that are shown: those of an address.
const MOST_DIGITS: usize = 40;

/// Said in the place of what may be a key.
const AS_OF_A_KEY: &str = "as of a key";

/// Letters of the shortest name that is known with one of them wrong.
const SHORTEST: usize = 3;

/// `text` with each control character as a space, cut to `most` characters.
#[must_use]
pub fn one_line(text: &str, most: usize) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).take(most).collect()
}

/// `text` without control characters, cut to `most` characters.
#[must_use]
pub fn printable(text: &str, most: usize) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(most).collect()
}

/// `text` in its lines, without any other control character.
#[must_use]
pub fn lines(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control() || matches!(letter, '\n' | '\t')).collect()
}

/// `text` on one line without characters that do not show, cut to `most` characters and then ended with `…`.
#[must_use]
pub fn visible(text: &str, most: usize) -> String {
    ellipsis(text.chars().filter_map(seen), most)
}

/// The start of a text that came from outside, short enough for an error line: at most 64 characters, then `…`. What may
/// be a key in it is left out.
#[must_use]
pub fn short(text: &str) -> String {
    start(text, SHORT)
}

/// The same with another length.
#[must_use]
pub fn start(text: &str, most: usize) -> String {
    ellipsis(without_keys(text).chars(), most)
}

/// `text` without what may be a key or most of one: whoever gave it where it does not belong must not find it in a log
/// too. To be asked before a text is cut, for of a key that is cut too much is left.
#[must_use]
pub fn without_keys(text: &str) -> String {
    let (mut told, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(|letter: char| letter.is_ascii_hexdigit()) {
        let (before, found) = rest.split_at(at);
        let end = found.find(|letter: char| !letter.is_ascii_hexdigit()).unwrap_or(found.len());
        let (digits, after) = found.split_at(end);
        told.push_str(before);
        if digits.len() <= MOST_DIGITS {
            told.push_str(digits);
        } else {
            told.truncate(told.strip_suffix("0x").map_or(told.len(), str::len));
            let what = if digits.len() < KEY_DIGITS { "more than an address has" } else { AS_OF_A_KEY };
            told.push_str(&format!("({} hex digits, {what})", digits.len()));
        }
        rest = after;
    }
    told.push_str(rest);
    told
}

/// The way out of a line of a file with quotes that are none to a program.
#[must_use]
pub fn pasted_quotes(line: &str) -> Option<&'static str> {
    let is_pasted = line.contains(['“', '”', '„', '‘', '’']);
    is_pasted.then_some("the quotes are the curly ones of a text that was pasted: write straight ones there, \" or '")
}

/// Whether a text holds what may be a key.
#[must_use]
pub fn holds_key(text: &str) -> bool {
    without_keys(text).contains(AS_OF_A_KEY)
}

/// The one of these names that was meant by one that is none of them: written in capitals, with dashes, as more than one, or with
/// a letter wrong.
#[must_use]
pub fn nearest<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.trim().to_lowercase().replace(['-', ' '], "_");
    let wrong = |name: &str| strsim::damerau_levenshtein(&typed, name);
    let (letters, name) = known.map(|name| (wrong(name), name)).min_by_key(|(letters, _)| *letters)?;
    // Of a short name most of it would be another one.
    let most = if name.len() < SHORTEST { 0 } else { name.len().div_euclid(4).max(1) };
    (letters <= most).then_some(name)
}

/// The first `most` characters of `text`.
#[must_use]
pub fn cut(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

fn ellipsis(letters: impl Iterator<Item = char>, most: usize) -> String {
    let mut shown = String::new();
    for (count, letter) in letters.enumerate() {
        if count >= most {
            shown.push('…');
            break;
        }
        shown.push(letter);
    }
    shown
}

/// A letter as it may be shown: white space of any kind as a space, what does not show not at all.
fn seen(letter: char) -> Option<char> {
    let hides = matches!(u32::from(letter),
        0x00AD | 0x034F | 0x061C | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180B..=0x180F | 0x2800 | 0x3164 | 0xFFA0
        | 0x1D173..=0x1D17A | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0xFE00..=0xFE0F | 0xFEFF
        | 0xFFF9..=0xFFFB | 0xE0000..=0xE0FFF);
    match letter {
        '\n' | '\r' | '\t' => Some(' '),
        _ if letter.is_control() || hides => None,
        _ => Some(letter),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_strength_takes_out_what_it_promises() {
        let text = "a\nb\u{1b}[2J\u{200b}c";
        assert_eq!(one_line(text, 99), "a b [2J\u{200b}c");
        assert_eq!(printable(text, 99), "ab[2J\u{200b}c");
        assert_eq!(lines("a\n\tb\u{1b}[2J\r\u{9b}\u{7f}c"), "a\n\tb[2Jc");
        assert_eq!(visible(text, 99), "a b[2Jc");
    }

    #[test]
    fn every_text_is_bounded_in_characters() {
        let text = "é".repeat(100);
        assert_eq!(one_line(&text, 64).chars().count(), 64);
        assert_eq!(printable(&text, 64).chars().count(), 64);
        assert_eq!(cut(&text, 64).chars().count(), 64);
        assert_eq!(visible(&text, 64), format!("{}…", "é".repeat(64)));
        assert_eq!(short(&text), format!("{}…", "é".repeat(64)));
        assert_eq!(short("all of it"), "all of it");
    }

    #[test]
    fn what_may_be_a_key_is_left_out_before_a_text_is_cut() {
        let address = format!("0x{}", "a1".repeat(20));
        assert_eq!(without_keys(&format!("x = \"{address}\"")), format!("x = \"{address}\""));
        for (digits, prefix) in [(41, ""), (63, "0x"), (64, "0x"), (64, ""), (130, "0x")] {
            let key = format!("{prefix}{}", "F".repeat(digits));
            let what = if digits == 41 { "more than an address has" } else { "as of a key" };
            let left = format!("({digits} hex digits, {what})");
            assert_eq!(without_keys(&key), left);
            assert_eq!(short(&format!("\"{key}\"")), format!("\"{left}\""));
            assert_eq!(without_keys(&format!("é{key}, 0x12 and {key}é")), format!("é{left}, 0x12 and {left}é"));
        }
    }
}
