//! Whether anything of a secret may be left in a text of somebody who knows it, such as a target: whatever stands between its
//! letters, in most forms of letters and numbers, and in one form within another.
//!
//! It looks at letters and digits alone, so it says yes too often rather than too seldom; a text of which it says yes is not
//! shown.

use std::collections::BTreeSet;

use super::encoded::{from_base32, from_base64};
use super::escapes::{self, backslash, entity, percent};

/// Letters and digits of a secret in a row that are a part of it.
pub(in crate::notify) const LEAST_ROW: usize = 8;
type Row = [u8; LEAST_ROW];
/// Forms within forms that are undone.
const MOST_LAYERS: usize = 2;

/// Whether eight letters and digits in a row of one of these stand in the text.
pub(super) fn is_any_left(text: &str, secrets: &[String]) -> bool {
    let known: BTreeSet<Row> = secrets.iter().flat_map(|secret| rows(secret)).collect();
    !known.is_empty() && holds(text, &known, MOST_LAYERS)
}

/// Letters and digits alone, small.
fn letters(text: &str) -> Vec<u8> {
    text.bytes().filter(u8::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

fn rows(text: &str) -> Vec<Row> {
    letters(text).windows(LEAST_ROW).filter_map(|row| row.try_into().ok()).collect()
}

fn holds(text: &str, known: &BTreeSet<Row>, layers: usize) -> bool {
    let plain = undone(text);
    let readings = BTreeSet::from([text.to_owned(), without_tags(&plain), without_codes(&plain), plain]);
    readings.iter().any(|reading| rows(reading).iter().any(|row| known.contains(row)))
        || layers.checked_sub(1).is_some_and(|layers| {
            let inner: BTreeSet<String> = readings.iter().flat_map(|reading| decoded(reading)).collect();
            inner.iter().filter(|inner| inner.len() >= LEAST_ROW).any(|inner| holds(inner, known, layers))
        })
}

/// The text with its escapes undone: of URLs, of programs, of HTML, and of mail's lines.
fn undone(text: &str) -> String {
    let mut text = text.replace("=\r\n", "").replace("=\n", "");
    for escape in [percent, backslash, entity, quoted] {
        text = String::from_utf8_lossy(&escapes::undone(&text, escape)).into_owned();
    }
    text
}

/// `=41`, as mail writes it.
fn quoted(text: &str) -> Option<(char, usize)> {
    percent(&format!("%{}", text.strip_prefix('=')?.get(..2)?))
}

/// The text without what stands in angle brackets, and without entities that are not known.
fn without_tags(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(['<', '&']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let end = if from.starts_with('<') { '>' } else { ';' };
        rest = from
            .find(end)
            .and_then(|end| from.get(end.saturating_add(1)..))
            .unwrap_or_else(|| from.get(1..).unwrap_or_default());
    }
    out + rest
}

/// The text without the numbers that a mail server begins each line of its answer with.
fn without_codes(text: &str) -> String {
    text.split_ascii_whitespace().map(|word| word.trim_start_matches(|letter: char| letter.is_ascii_digit())).collect()
}

/// All that a text may stand for: base64, base32, and bytes as numbers.
fn decoded(text: &str) -> Vec<String> {
    let of_base64: String =
        text.chars().filter(|letter| letter.is_ascii_alphanumeric() || "+/-_".contains(*letter)).collect();
    let words = text.split_ascii_whitespace().filter(|word| word.len() >= LEAST_ROW);
    let mut all: Vec<Vec<u8>> = (0..4).map(|skipped| from_base64(&of_base64, skipped)).collect();
    all.extend((0..8).map(|skipped| from_base32(&of_base64, skipped)));
    for word in words {
        let word: String =
            word.chars().filter(|letter| letter.is_ascii_alphanumeric() || "+/-_".contains(*letter)).collect();
        all.extend((0..4).map(|skipped| from_base64(&word, skipped)));
    }
    let numbers: Vec<&str> = text.split(|letter: char| !letter.is_ascii_alphanumeric()).filter_map(number).collect();
    for (radix, longest) in [(10, 3), (8, 3)] {
        let bytes = numbers.iter().filter(|number| number.len() <= longest);
        all.push(bytes.filter_map(|number| u8::from_str_radix(number, radix).ok()).collect());
    }
    let digits: Vec<u8> = numbers
        .concat()
        .bytes()
        .filter_map(|digit| char::from(digit).to_digit(16))
        .filter_map(|digit| u8::try_from(digit).ok())
        .collect();
    for skipped in 0..2 {
        let pairs = digits.get(skipped..).unwrap_or_default().chunks_exact(2);
        let bytes: Vec<u8> = pairs.filter_map(|pair| Some(pair.first()? << 4 | pair.last()?)).collect();
        // A machine's words of two bytes may be written the other way round.
        for begin in 0..2 {
            let words = bytes.get(begin..).unwrap_or_default().chunks(2);
            all.push(words.flat_map(|word| word.iter().rev().copied()).collect());
        }
        all.push(bytes);
    }
    all.into_iter().map(|bytes| bytes.into_iter().map(char::from).collect()).collect()
}

/// The digits of a word that is a number, if it has the digits of hex alone.
fn number(word: &str) -> Option<&str> {
    let digits =
        ["0x", "0X", "x", "X", "u", "U"].into_iter().find_map(|begin| word.strip_prefix(begin)).unwrap_or(word);
    (!digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit())).then_some(digits)
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    const SECRET: &str = "tk_Correct7Horse9Battery";

    fn is_left(text: &str) -> bool {
        is_any_left(text, &[SECRET.to_owned()])
    }

    #[test]
    fn a_secret_is_found_in_pieces_and_in_forms_within_forms() {
        let base64 = |text: &str| STANDARD.encode(text);
        let each = |form: fn(u8) -> String, between: &str| SECRET.bytes().map(form).collect::<Vec<_>>().join(between);
        let hex = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
        let broken = |text: &str, size: usize, between: &str| {
            let parts: Vec<&str> =
                (0..text.len()).step_by(size).map(|at| &text[at..text.len().min(at + size)]).collect();
            parts.join(between)
        };
        let swapped: Vec<String> =
            SECRET.as_bytes().chunks(2).map(|pair| format!("{:02x}{:02x}", pair[1], pair[0])).collect();
        for (name, text) in [
            ("plain", SECRET.to_owned()),
            ("the first half in capitals", "TK_CORRECT7HOrse9Battery".to_owned()),
            ("a middle", "..orrect7H..".to_owned()),
            ("base64 twice", base64(&base64(SECRET))),
            ("base64 of hex", base64(&hex(SECRET))),
            ("pairs", each(|byte| format!("{byte:02x}"), " ")),
            ("0x", each(|byte| format!("{byte:#04x}"), ", ")),
            ("fours", broken(&hex(SECRET), 4, " ")),
            ("words of a machine", format!("0000000 {}", swapped.join(" "))),
            ("numbers", format!("[{}]", each(|byte| byte.to_string(), ","))),
            ("octal", each(|byte| format!("\\{byte:03o}"), "")),
            ("u", each(|byte| format!("\\u{{{byte:x}}}"), "")),
            ("entities", each(|byte| format!("&#{byte};"), "")),
            ("lines", format!("535-{}", broken(SECRET, 10, "\r\n535 "))),
            ("lines of lettre", format!("permanent error (535): {}", broken(SECRET, 10, " "))),
            ("wbr", broken(SECRET, 5, "<wbr>")),
            ("shy", broken(SECRET, 5, "&shy;")),
            ("quoted-printable", broken(SECRET, 5, "=\r\n")),
            ("quoted bytes", each(|byte| format!("={byte:02X}"), "")),
            ("strings", broken(SECRET, 4, "','")),
            ("base64 in lines", broken(&base64(&format!("\0user@m.example\0{SECRET}")), 20, "\r\n")),
            ("base64 behind codes", broken(&base64(&format!("\0u\0{SECRET}")), 16, "\r\n535 ")),
        ] {
            assert!(is_left(&format!("403 {text}")) && is_left(&text), "{name}: {text}");
        }
    }

    #[test]
    fn plain_answers_are_shown() {
        for text in [
            "invalid_token",
            "535 5.7.8 Error: authentication failed: UGFzc3dvcmQ6 (see https://x.example/50%25)",
            "{\"ok\":false,\"error_code\":401,\"description\":\"Unauthorized\"}",
            "said <b>so</b> at 2026-11-26T18:53:27Z, 0x1111111111111111111111111111111111111111",
            "",
        ] {
            assert!(!is_left(text), "{text}");
        }
        assert!(!is_any_left("anything", &[]));
    }
}
