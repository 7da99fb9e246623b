//! Secrets that stand in a text in another form: base64 of any kind, hex or percent signs, alone or with more around them.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Shortest secret that is looked for: a shorter one stands in every text by chance.
pub(super) const LEAST_SECRET: usize = 6;
/// What stands in its place.
pub(super) const LEFT_OUT: &str = "[left out]";

/// What a text in base64 lacks or has at its end says nothing of what is in it.
const LAX: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_decode_padding_mode(DecodePaddingMode::Indifferent);
const BASE64: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LAX);

/// The text without the words that hold one of these secrets in another form.
pub(super) fn left_out(text: &str, secrets: &[String]) -> String {
    let secrets: Vec<&[u8]> =
        secrets.iter().filter(|secret| secret.len() >= LEAST_SECRET).map(|secret| secret.as_bytes()).collect();
    if secrets.is_empty() {
        return text.to_owned();
    }
    let is_held = |bytes: &[u8]| secrets.iter().any(|secret| bytes.windows(secret.len()).any(|part| part == *secret));
    let text =
        without(text, |letter| letter.is_ascii_graphic(), |word| word.contains('%') && is_held(&unescaped(word)));
    let is_digit = |letter: char| letter.is_ascii_alphanumeric() || "+/-_".contains(letter);
    without(&text, is_digit, |word| {
        (0..4).any(|skipped| is_held(&from_base64(word, skipped)) || is_held(&from_hex(word, skipped)))
    })
}

/// The text without the runs of such letters that hold something.
fn without(text: &str, is_of_run: impl Fn(char) -> bool, holds: impl Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let begin = rest.find(&is_of_run).unwrap_or(rest.len());
        let (before, from) = rest.split_at(begin);
        let end = from.find(|letter| !is_of_run(letter)).unwrap_or(from.len());
        let (run, after) = from.split_at(end);
        out.push_str(before);
        out.push_str(if holds(run) { LEFT_OUT } else { run });
        rest = after;
    }
    out
}

/// The bytes of a run's letters of base64 behind the first few: it may have begun with others.
fn from_base64(word: &str, skipped: usize) -> Vec<u8> {
    let plain: String = word
        .chars()
        .skip(skipped)
        .map(|letter| match letter {
            '-' => '+',
            '_' => '/',
            letter => letter,
        })
        .collect();
    // One letter too many tells nothing.
    let whole = if plain.len() % 4 == 1 { plain.len().saturating_sub(1) } else { plain.len() };
    BASE64.decode(plain.get(..whole).unwrap_or_default()).unwrap_or_default()
}

fn from_hex(word: &str, skipped: usize) -> Vec<u8> {
    let digits: Vec<u32> = word.chars().skip(skipped).map_while(|letter| letter.to_digit(16)).collect();
    let pairs = digits.chunks_exact(2).filter_map(|pair| pair.iter().copied().reduce(|high, low| high * 16 + low));
    pairs.filter_map(|byte| u8::try_from(byte).ok()).collect()
}

/// What a word with percent signs stands for.
fn unescaped(word: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::with_capacity(word.len()), word.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|code| u8::from_str_radix(str::from_utf8(code).ok()?, 16).ok());
        match code.filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE};

    use super::left_out;

    #[test]
    fn a_secret_is_left_out_in_every_form() {
        let secrets = ["pass?>word~1".to_owned()];
        let around = ["", "a", "ab", "user\0", "\0user@x.example\0"];
        for before in around {
            for after in around {
                let whole = format!("{before}{}{after}", secrets[0]);
                let hex: String = whole.bytes().map(|byte| format!("{byte:02X}")).collect();
                let percent: String = whole.bytes().map(|byte| format!("%{byte:02x}")).collect();
                for form in [
                    encode(&STANDARD, &whole),
                    encode(&STANDARD_NO_PAD, &whole),
                    encode(&URL_SAFE, &whole),
                    hex,
                    percent,
                ] {
                    for text in
                        [format!("535 bad {form} here"), format!("AUTH={form}"), format!("<{form}>"), form.clone()]
                    {
                        let said = left_out(&text, &secrets);
                        assert!(
                            said.contains("[left out]") && !said.contains(form.get(2..12).unwrap()),
                            "{text}: {said}"
                        );
                    }
                }
            }
        }
        let plain = "535 5.7.8 Error: authentication failed: UGFzc3dvcmQ6 (see https://x.example/50%25)";
        assert_eq!(left_out(plain, &secrets), plain, "nothing of it is secret");
    }

    fn encode(engine: &impl base64::Engine, text: &str) -> String {
        engine.encode(text)
    }
}
