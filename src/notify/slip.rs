//! Which words of a file may be repeated: names and slips of known words. Any other may be a token that stands where a name
//! belongs, and a refusal ends in logs and in questions to others.

use crate::base::text::{short, visible};

/// Letters that a word may differ by from the one that was meant: two, and one of three.
const MOST_SLIPS: usize = 2;
const LETTERS_A_SLIP: usize = 3;
/// Longest word of small letters that no secret is as short as.
const SHORT: usize = 10;
/// Shortest run of letters and digits that looks drawn by lot, and the shortest of any kind that is no word.
const DRAWN: usize = 14;
const NO_WORD: usize = 22;
/// What is said of a word that is not repeated.
const HIDDEN: &str = "what may be a secret, and so is not repeated,";

/// The known word that was meant, where this one is nearly it.
pub(super) fn meant<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let slips = |known: &&str| slips(word, known);
    let nearest = known.into_iter().min_by_key(slips)?;
    (slips(&nearest) <= MOST_SLIPS.min(nearest.len() / LETTERS_A_SLIP)).then_some(nearest)
}

/// A word that is none of the known ones, in quotes; not repeated where it may be a secret.
pub(super) fn unknown<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    let is_plain = word.len() <= SHORT && word.bytes().all(|letter| letter.is_ascii_lowercase() || letter == b'_');
    if is_plain || meant(word, known).is_some() { format!("{:?}", visible(word, NO_WORD)) } else { HIDDEN.to_owned() }
}

/// What was given as a name or a value, in quotes; not repeated where it may be a secret.
pub(super) fn given(text: &str) -> String {
    if may_be_secret(text) { HIDDEN.to_owned() } else { format!("{:?}", short(text)) }
}

/// Whether a text has a part that looks drawn by lot. Long words of a language have no digits, and capitals at their start; of groups
/// joined by dashes, as those of a UUID, those that have count as one part.
pub(super) fn may_be_secret(text: &str) -> bool {
    let parts = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    let joined = text.split(|letter: char| !letter.is_ascii_alphanumeric() && !['-', '_'].contains(&letter));
    parts.into_iter().any(|part| part.len() >= NO_WORD || (part.len() >= DRAWN && is_mixed(part)))
        || joined.into_iter().any(|joined| {
            joined.split(['-', '_']).filter(|group| is_mixed(group)).map(str::len).sum::<usize>() >= DRAWN
        })
}

fn is_mixed(part: &str) -> bool {
    part.bytes().any(|letter| letter.is_ascii_digit()) || part.bytes().skip(1).any(|letter| letter.is_ascii_uppercase())
}

/// Letters to put in, take out or change until one word is the other.
fn slips(word: &str, known: &str) -> usize {
    // Whatever is much longer is no slip.
    if word.len() > known.len().saturating_add(MOST_SLIPS) {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=known.len()).collect();
    for (line, letter) in word.bytes().enumerate() {
        let mut before = line;
        let mut left = line.saturating_add(1);
        for (place, of_known) in row.iter_mut().zip([None].into_iter().chain(known.bytes().map(Some))) {
            let above = *place;
            let Some(of_known) = of_known else {
                *place = left;
                continue;
            };
            let changed = before.saturating_add(usize::from(letter != of_known));
            left = changed.min(above.saturating_add(1)).min(left.saturating_add(1));
            (before, *place) = (above, left);
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_counted_as_they_are_made() {
        for (word, known, count) in [
            ("kill", "kill", 0),
            ("kil", "kill", 1),
            ("killl", "kill", 1),
            ("kiil", "kill", 1),
            ("tokn", "token", 1),
            ("tkoen", "token", 2),
            ("", "url", 3),
            ("abc", "", usize::MAX),
            ("paswort", "password", 2),
        ] {
            assert_eq!(slips(word, known), count, "{word} {known}");
        }
        assert_eq!(meant("tokn", ["name", "token"]), Some("token"));
        assert_eq!(meant("urk", ["url"]), Some("url"));
        assert_eq!((meant("xyz", ["url"]), meant("hunter22", ["name", "token"])), (None, None));
    }

    #[test]
    fn what_may_be_a_secret_is_not_repeated() {
        for token in [
            "123456789:AAFakeFake0123456789fakefakefakefak",
            "xoxb-00000000001-00000000002-FakeFakeFake3FakeFakeFak",
            "tk_Fake7FakeFake37Fake29FakeFake2",
            "https://hooks.slack.com/services/T00000000/B00000000/FakeFakeFakeFakeFakeFake",
            "hunter22hunter22",
            "https://hc-ping.com/550e8400-e29b-41d4-a716-446655440000",
            "550e8400-e29b-41d4-a716-446655440000",
            "abcdefghijklmnopqrstuvwxyz",
        ] {
            assert!(!unknown(token, ["name"]).contains(&token[token.len() - 6..]), "{token}");
            assert!(!given(token).contains(&token[token.len() - 6..]), "{token}");
        }
        assert!(!unknown("hunter22", ["name"]).contains("hunter22"));
        assert!(!unknown("abcdefghijklmnop", ["name"]).contains("abcdef"));
        for plain in [
            "2",
            "7:00pm",
            "night",
            "22:00-22:00",
            "phone-of-Anna-2",
            "2027-01-15 2",
            "https://guard.example:8547",
            "Europe/Berlin",
        ] {
            assert_eq!(given(plain), format!("{plain:?}"));
        }
    }
}
