//! Secrets that stand in a text in another form: base64 of any kind, hex, percent signs, the escapes of JSON or of HTML, alone
//! or with more around them, and one form within another.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::escapes::{self, backslash, entity, percent};

/// Shortest secret that is looked for: a shorter one stands in every text by chance.
pub(in crate::notify) const LEAST_SECRET: usize = 6;
/// What stands in its place.
pub(super) const LEFT_OUT: &str = "[left out]";

/// What may stand between two pairs of hex digits.
const PAIRS: [char; 2] = [':', '-'];
/// Escapes within escapes that are undone.
const MOST_LAYERS: usize = 3;

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
    let is_digit = |letter: char| letter.is_ascii_alphanumeric() || "+/-_".contains(letter);
    let text = without(text, is_digit, |word| is_coded(word, &secrets));
    let is_pair = |letter: char| letter.is_ascii_hexdigit() || PAIRS.contains(&letter);
    let text = without(&text, is_pair, |word| is_coded(word, &secrets));
    let holds = |word: &str| is_held(word.as_bytes(), &secrets) || is_escaped(word, &secrets, MOST_LAYERS);
    without(&text, |letter| letter.is_ascii_graphic(), holds)
}

/// In large letters or small ones: a server may write what it was given in its own.
fn is_held(bytes: &[u8], secrets: &[&[u8]]) -> bool {
    secrets.iter().any(|secret| bytes.windows(secret.len()).any(|part| part.eq_ignore_ascii_case(secret)))
}

/// Whether letters of base64, of base32 or of hex hold one.
fn is_coded(word: &str, secrets: &[&[u8]]) -> bool {
    (0..4).any(|skipped| is_held(&from_base64(word, skipped), secrets) || is_held(&from_hex(word, skipped), secrets))
        || (0..8).any(|skipped| is_held(&from_base32(word, skipped), secrets))
}

/// Whether a word holds one once its escapes are undone, one kind after another: a JSON text may stand in a JSON text, and
/// base64 in a URL.
fn is_escaped(word: &str, secrets: &[&[u8]], layers: usize) -> bool {
    let Some(layers) = layers.checked_sub(1) else { return false };
    [percent, backslash, entity].into_iter().any(|escape| {
        let plain = escapes::undone(word, escape);
        let text = String::from_utf8_lossy(&plain);
        *word != *text
            && (is_held(&plain, secrets)
                || text.split(|letter: char| !letter.is_ascii_graphic()).any(|part| is_coded(part, secrets))
                || is_escaped(&text, secrets, layers))
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

fn from_base32(word: &str, skipped: usize) -> Vec<u8> {
    let digits = word.chars().skip(skipped).map_while(|letter| match letter.to_ascii_uppercase() {
        letter @ 'A'..='Z' => Some(u16::try_from(u32::from(letter)).ok()? - u16::from(b'A')),
        letter @ '2'..='7' => Some(u16::try_from(u32::from(letter)).ok()? - u16::from(b'2') + 26),
        _ => None,
    });
    let (mut bytes, mut held, mut bits) = (Vec::new(), 0_u16, 0_u8);
    for digit in digits {
        (held, bits) = ((held << 5 | digit) & 0xfff, bits + 5);
        if bits >= 8 {
            bits -= 8;
            bytes.extend(u8::try_from(held >> bits & 0xff));
        }
    }
    bytes
}

fn from_hex(word: &str, skipped: usize) -> Vec<u8> {
    let letters = word.chars().filter(|letter| !PAIRS.contains(letter)).skip(skipped);
    let digits: Vec<u32> = letters.map_while(|letter| letter.to_digit(16)).collect();
    let pairs = digits.chunks_exact(2).filter_map(|pair| pair.iter().copied().reduce(|high, low| high * 16 + low));
    pairs.filter_map(|byte| u8::try_from(byte).ok()).collect()
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
                    base32(&whole),
                    base32(&whole).to_ascii_lowercase(),
                    percent.to_ascii_uppercase(),
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

    /// As servers echo what they were given: `serde_json` and PHP, Go's and Python's writers of HTML, openssl's hex.
    #[test]
    fn a_secret_is_left_out_in_the_escapes_of_json_and_html() {
        let secret = "zQ7\"<w/x+y=k\\p&9'%41";
        let secrets = [secret.to_owned()];
        let json = serde_json::to_string(secret).unwrap();
        let all = |form: fn(u8) -> String| secret.bytes().map(form).collect::<String>();
        let html = secret.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;").replace('\'', "&#39;");
        let base64 = encode(&STANDARD, secret);
        for form in [
            json.clone(),
            json.replace('/', "\\/"),
            json.replace('<', "\\u003c").replace('&', "\\u0026"),
            serde_json::to_string(&json).unwrap(),
            html.clone(),
            serde_json::to_string(&html).unwrap(),
            html.replace("&quot;", "&#x22;").replace("&#39;", "&apos;"),
            all(|byte| format!("&#{byte};")),
            all(|byte| format!("\\u{byte:04X}")),
            all(|byte| format!("\\x{byte:02x}")),
            all(|byte| format!("{byte:02x}:")),
            all(|byte| format!("-{byte:02X}")),
            base64.replace('/', "\\/"),
            base64.replace('+', "%2B").replace('/', "%2f").replace('=', "%3D"),
        ] {
            for text in [format!("403 <<{form}>> here"), format!("bad:{form}"), form.clone()] {
                let said = left_out(&text, &secrets);
                assert!(said.contains("[left out]") && !said.contains(&form[4..14]), "{text}: {said}");
            }
        }
        let plain = "a\\nb &lt;b&gt; \\u00e9 &#8364; &unknown; \\uZZ 12:34:56 0a-bc %zz \\";
        assert_eq!(left_out(plain, &secrets), plain, "nothing of it is secret");
    }

    /// A server that folds letters writes the secret's own in another case, with percent signs or without.
    #[test]
    fn a_secret_is_left_out_in_large_letters_and_in_small_ones() {
        let secrets = ["pAss?>Word~1".to_owned()];
        for form in ["pass?>word~1", "PASS?>WORD~1", "pass%3f%3eword%7e1", "PASS%3F%3EWORD%7E1", "pass&#63;&gt;word~1"]
        {
            let said = left_out(&format!("403 {form}, sent by x"), &secrets);
            assert!(said.starts_with("403 [left out]") && said.ends_with("sent by x"), "{form}: {said}");
        }
    }

    /// RFC 4648, without its padding.
    fn base32(text: &str) -> String {
        let bits: String = text.bytes().map(|byte| format!("{byte:08b}")).collect();
        let digits = bits.as_bytes().chunks(5).map(|five| {
            let five = format!("{:0<5}", std::str::from_utf8(five).unwrap());
            let digit = usize::from_str_radix(&five, 2).unwrap();
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[digit] as char
        });
        digits.collect()
    }

    fn encode(engine: &impl base64::Engine, text: &str) -> String {
        engine.encode(text)
    }
}
