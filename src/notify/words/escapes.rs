//! Escapes and the letters that they stand for: percent signs of URLs, backslashes of JSON and of programs, entities of HTML.

/// What the escape at the start of a text stands for, and how long it is; `None` where there is none.
pub(super) type Escape = fn(&str) -> Option<(char, usize)>;

/// Bytes of an entity behind its `&`.
const LONGEST_NAME: usize = 10;

/// A text with the escapes of one kind undone.
pub(super) fn undone(text: &str, escape: Escape) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some(first) = rest.chars().next() {
        let (letter, length) = escape(rest).unwrap_or((first, first.len_utf8()));
        bytes.extend(letter.encode_utf8(&mut [0; 4]).bytes());
        rest = rest.get(length..).unwrap_or_default();
    }
    bytes
}

/// `%41`.
pub(super) fn percent(text: &str) -> Option<(char, usize)> {
    let digits = text.strip_prefix('%')?.get(..2)?;
    Some((coded(digits, 16)?, 3))
}

/// `\"`, `\/`, `\u0041`, `\x41`.
pub(super) fn backslash(text: &str) -> Option<(char, usize)> {
    let after = text.strip_prefix('\\')?;
    let letter = after.chars().next()?;
    let digits = match letter {
        'u' => after.get(1..5),
        'x' => after.get(1..3),
        _ => return letter.is_ascii_punctuation().then_some((letter, 2)),
    };
    let digits = digits?;
    Some((coded(digits, 16)?, digits.len().saturating_add(2)))
}

/// `&lt;`, `&#60;`, `&#x3c;`.
pub(super) fn entity(text: &str) -> Option<(char, usize)> {
    let after = text.strip_prefix('&')?;
    let name = after.get(..after.bytes().take(LONGEST_NAME).position(|letter| letter == b';')?)?;
    let letter = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "sol" => '/',
        "bsol" => '\\',
        "plus" => '+',
        "equals" => '=',
        _ => {
            let digits = name.strip_prefix('#')?;
            match digits.strip_prefix(['x', 'X']) {
                Some(digits) => coded(digits, 16)?,
                None => coded(digits, 10)?,
            }
        }
    };
    Some((letter, name.len().saturating_add(2)))
}

/// The letter of a number; a number alone, without a sign.
fn coded(digits: &str, radix: u32) -> Option<char> {
    let is_number = digits.chars().all(|letter| letter.is_digit(radix));
    char::from_u32(u32::from_str_radix(digits, radix).ok().filter(|_| is_number)?)
}
