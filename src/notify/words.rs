//! Texts from outside made fit for a message: bounded, on one line, without keys and tokens.

mod encoded;
mod escapes;
mod keys;
mod vocabulary;

use crate::base::text::visible;
pub(super) use encoded::LEAST_SECRET;
use encoded::LEFT_OUT;
pub(super) use keys::without_keys;

/// Letters of a secret that are enough to be a part of it.
const LEAST_PIECE: usize = 12;

/// Most characters of what one notice says in one of its parts.
const MOST: usize = 700;
/// Most bytes of a line, and of what a target said.
const MOST_SAID: usize = 1_000;
const MOST_HEARD: usize = 400;

/// A text of the guard, a client or the venue, as it may stand in a message.
pub(super) fn shown(text: &str) -> String {
    // What does not show goes first: between two digits it would hide that they are a row.
    visible(&without_keys(&visible(text, usize::MAX)), MOST)
}

/// The text without these secrets, in whatever form, and without what could be a key.
pub(super) fn redacted(text: &str, secrets: &[String]) -> String {
    let mut text = without_keys(text);
    for secret in secrets.iter().filter(|secret| secret.len() >= LEAST_SECRET) {
        if text.contains(secret.as_str()) {
            text = text.replace(secret.as_str(), LEFT_OUT);
        }
        // A URL's host is no secret, and the parts of it that are are among these by themselves.
        if !secret.contains("://") {
            without_pieces(&mut text, secret);
        }
    }
    encoded::left_out(&text, secrets)
}

/// Leaves pieces of a secret out: a service that knows a token by its first letters says those. Without a digit it may be a word.
fn without_pieces(text: &mut String, secret: &str) {
    let is_telling = |piece: &&str| piece.bytes().any(|byte| byte.is_ascii_digit()) && !piece.contains('/');
    for start in 0..secret.len() {
        let Some(piece) = secret.get(start..start.saturating_add(LEAST_PIECE)).filter(is_telling) else { continue };
        while let Some(at) = text.find(piece) {
            let alike = text.bytes().skip(at).zip(secret.bytes().skip(start)).take_while(|(one, other)| one == other);
            let end = at.saturating_add(alike.count());
            let end = (at..=end).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(end);
            text.replace_range(at..end, LEFT_OUT);
        }
    }
}

/// What a target said, as far as it may be repeated: the words of services, bounded. It may say again whatever it was sent.
pub(super) fn heard(text: &str) -> String {
    match vocabulary::known(text) {
        Some(words) => within(&words, MOST_HEARD),
        None if text.is_empty() => String::new(),
        None => format!("{}, none of them in words that are repeated", count(text.len(), "byte")),
    }
}

/// A line for the log or a terminal: without these secrets, and bounded once they are gone.
pub(super) fn said(text: &str, secrets: &[String]) -> String {
    within(&redacted(text, secrets), MOST_SAID)
}

/// The first `most` bytes of a text, cut between two letters and ended with `…` where something is missing.
pub(super) fn within(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let room = most.saturating_sub('…'.len_utf8());
    let end = (0..=room).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}…", text.get(..end).unwrap_or_default())
}

/// The text cut until `cost`, which its letters add up to, is `most`, as [`within`] cuts.
pub(super) fn fitting(text: &str, most: usize, cost: impl Fn(&str) -> usize) -> String {
    let mut cut = text.to_owned();
    let mut room = text.len();
    while cost(&cut) > most && room > 0 {
        room = room.saturating_sub(cost(&cut).saturating_sub(most).div_ceil(2).max(1));
        cut = within(text, room);
    }
    cut
}

/// A count with its noun: `1 position`, `2 positions`.
pub(super) fn count(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_secrets_are_left_out_and_addresses_stay() {
        let key = "0123456789abcdef".repeat(4);
        assert_eq!(without_keys(&format!("key 0x{key}, end")), "key 0x[left out], end");
        assert_eq!(without_keys(&key), "[left out]");
        let address = format!("0x{}", "ab".repeat(20));
        assert_eq!(without_keys(&address), address);
        let secrets = ["hunter22".to_owned(), "a".to_owned()];
        assert_eq!(redacted("the token hunter22 is bad", &secrets), "the token [left out] is bad");
    }

    #[test]
    fn a_piece_of_a_secret_is_left_out_and_words_are_not() {
        let secrets = ["tk_Fake7FakeFake37Fake29", "hooks/notifications/T0001", "https://bot7.example.org:8443/x"];
        let secrets = secrets.map(str::to_owned);
        for (said, told) in [
            ("user:tk_Fake7FakeF", "user:[left out]"),
            ("ends in Fake37Fake29.", "ends in [left out]."),
            ("é tk_Fake7Fakeé tk_Fake7Fake", "é [left out]é [left out]"),
            ("tk_Fake7Fak", "tk_Fake7Fak"),
            ("no notifications here", "no notifications here"),
            ("https://bot7.example.org:8443 said no", "https://bot7.example.org:8443 said no"),
        ] {
            assert_eq!(redacted(said, &secrets), told);
        }
    }

    #[test]
    fn no_half_of_a_secret_is_left_where_a_text_is_cut() {
        let secrets = ["hookSecretAbCdEfGh1234".to_owned()];
        for before in 0..MOST_SAID + 10 {
            let line = said(&format!("{} {}", "x".repeat(before), secrets[0]), &secrets);
            assert!(!line.contains("hook") && line.len() <= MOST_SAID, "{line}");
        }
    }

    #[test]
    fn what_a_target_says_is_bounded_and_told_to_be_there() {
        assert_eq!(heard("no such token: hunter22x"), "no such token …");
        assert_eq!(heard("Bearer x"), "8 bytes, none of them in words that are repeated");
        assert_eq!(heard(""), "");
        assert!(heard(&"too long ".repeat(500)).len() <= MOST_HEARD);
    }

    #[test]
    fn a_text_is_one_line_and_bounded() {
        assert_eq!(shown("a\nb\u{1b}[31m\u{202e}c"), "a b[31mc");
        assert_eq!(shown(&"x".repeat(5_000)).chars().count(), MOST + 1);
        for most in 0..12 {
            let cut = within("aé€😀aé€😀", most);
            assert!(cut.len() <= most.max('…'.len_utf8()), "{most}: {cut}");
        }
        assert_eq!(within("short", 5), "short");
    }

    #[test]
    fn a_time_and_a_count_read_as_people_write_them() {
        assert_eq!([count(0, "order"), count(1, "order"), count(2, "order")], ["0 orders", "1 order", "2 orders"]);
    }
}
