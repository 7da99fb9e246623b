//! The words that are repeated of a target's answer: those in which services, proxies and mail servers say what is wrong.
//!
//! A target may say again whatever it was sent, in any form of letters and numbers that there is, and no list of forms would be
//! whole. So only what stands here is shown; what stands in no such list cannot be a secret.

use std::collections::BTreeSet;

/// In small letters.
const WORDS: &str = "
    a about accept accepted access account action activity address after again all allowed already an and any api app application archived
    are argument as at attachments attempts auth authenticate authenticated authentication authorization authorized available
    backend bad banned base be because been before being blocked body bot bots box bucket busy but by
    can cannot certificate change channel characters chat check client close closed code command commands configuration connect
    connected connection content could crashed credentials current currently
    daily data database deactivated deadline declined deferred delete deleted delivered delivery denied description disabled does
    domain down due
    elsewhere empty enabled encoding encryption end enough entities entity entry error errors exceeded exist exists expected expired
    failed failure false few fewer field fields filter find for forbidden form format found from full
    gateway general get global go gone greylisted group
    handshake has have header headers helo host http https
    id if in incompatible incomplete incorrect info inform insufficient interaction internal invalid io is issuer it
    json
    key kicked
    large later least length less like limit limited limits line link list local lock locked login long longer looks
    mail mailbox many markup match maximum mechanism member memory message messages method mismatch missing more most moved must
    name network new no none not nothing null number
    of off offline ok on only open operation or order other out over own owner
    page parameters parse parsing password path payload peer per permanent permission permissions permitted please policy port post
    posting private problem prohibited protocol proxy publish
    queue queued quota
    rate reached read reason recipient recipients refused reject rejected relay relaying request requested requests require required
    requires reserved resource response restricted retry
    secure security see send sender sending sent server service session shut site size slow some soon spam ssl starttls state status
    stopped storage storm such supergroup support supported suspended system
    table team temporarily temporary terminated text than that the then there this throttled time timed timeout title tls to token tokens
    too topic transaction transient transport true try type
    unable unauthorized unavailable undeliverable unexpected unknown unroutable unsupported until up upgraded upstream url use used
    user username users
    valid value verification verify version via violation virtual
    wait was way webhook were when while with without word words wrong
    yet you your
    zone";
/// Marks that stay between two such words; any other is a blank.
const BETWEEN: [&str; 10] = [" ", "_", "-", ".", "/", "'", ", ", ". ", ": ", "; "];
/// Numbers that are shown: of one digit, and of three where it may be a status. In more of them a secret could be written.
const MOST_NUMBERS: usize = 5;
/// In the place of all other words.
const OTHERS: char = '…';

/// What of a target's words may be repeated; nothing where none of them may.
pub(super) fn known(text: &str) -> Option<String> {
    let words: BTreeSet<&str> = WORDS.split_ascii_whitespace().collect();
    let (mut told, mut numbers, mut is_any) = (String::new(), 0_usize, false);
    let mut rest = text;
    while let Some(at) = rest.find(char::is_alphanumeric) {
        let (between, from) = rest.split_at(at);
        let (word, after) = from.split_at(from.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(from.len()));
        rest = after;
        let is_number = is_status(word) && numbers < MOST_NUMBERS;
        let shown = if is_number { Some(word.to_owned()) } else { plain(word).filter(|word| is_of(&words, word)) };
        if shown.is_none() && told.ends_with(OTHERS) {
            continue;
        }
        let is_after_word = shown.is_some() && !told.ends_with(OTHERS);
        let mark = BETWEEN.iter().find(|mark| is_after_word && **mark == between).map_or(" ", |mark| mark);
        told.push_str(if told.is_empty() { "" } else { mark });
        numbers = numbers.saturating_add(usize::from(is_number));
        is_any |= shown.is_some();
        told.push_str(&shown.unwrap_or_else(|| OTHERS.to_string()));
    }
    is_any.then_some(told)
}

fn is_of(words: &BTreeSet<&str>, word: &str) -> bool {
    words.contains(word.to_ascii_lowercase().as_str())
}

/// A word as it is shown. Of which letters are large says nothing but that it begins a sentence.
fn plain(word: &str) -> Option<String> {
    let (first, others) = word.split_at_checked(1)?;
    Some(format!("{first}{}", others.to_ascii_lowercase()))
}

fn is_status(word: &str) -> bool {
    word.bytes().all(|digit| digit.is_ascii_digit())
        && (word.len() == 1 || (word.len() == 3 && word.starts_with(['4', '5'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_services_say_of_a_trouble_is_shown() {
        for (said, told) in [
            (
                r#"{"ok":false,"error_code":401,"description":"Unauthorized"}"#,
                "ok false error_code 401 description Unauthorized",
            ),
            ("invalid_token", "invalid_token"),
            (
                "permanent error (535): 5.7.8 Error: authentication failed: UGFzc3dvcmQ6",
                "permanent error 535 5.7.8 Error: authentication failed …",
            ),
            (
                "550 5.1.1 <bob@m.example>: Recipient address rejected: User unknown",
                "550 5.1.1 … Recipient address rejected: User unknown",
            ),
            (r#"{"message": "Unknown Webhook", "code": 10015}"#, "message Unknown Webhook code …"),
            ("<html><head><title>502 Bad Gateway</title></head>", "… title 502 Bad Gateway title …"),
            ("SPAM", "Spam"),
        ] {
            assert_eq!(known(said).as_deref(), Some(told), "{said}");
        }
        for none in ["", "éè", "hunter22", "\u{200b}--", "tk_Fake7"] {
            assert_eq!(known(none), None, "{none}");
        }
    }

    /// Whatever form a secret is given, none of it is among the words.
    #[test]
    fn nothing_of_a_secret_is_shown_in_any_form() {
        const SECRET: &str = "tk_Correct7Horse9Battery535";
        let words: BTreeSet<&str> = WORDS.split_ascii_whitespace().collect();
        let turned = |letter: char, first: u8| char::from((letter as u8 - first + 13) % 26 + first);
        let rot13 = SECRET.chars().map(|letter| match letter {
            'a'..='z' => turned(letter, b'a'),
            'A'..='Z' => turned(letter, b'A'),
            letter => letter,
        });
        let wide = SECRET.chars().filter_map(|letter| char::from_u32(u32::from(letter) + 0xfee0));
        let each = |form: fn(u8) -> String, between: &str| SECRET.bytes().map(form).collect::<Vec<_>>().join(between);
        let forms = [
            SECRET.to_owned(),
            rot13.collect(),
            wide.collect(),
            SECRET.chars().rev().collect(),
            "9jqo^BlbD-BleB1DJ+*+F(f,q/0JhKF<GL>Cj@.4Gp$d7F!".to_owned(),
            each(|byte| byte.to_string(), " "),
            each(|byte| format!("{byte:03o}"), "\\"),
            each(|byte| format!("{byte:b}"), " "),
            each(|byte| char::from(byte).to_string(), " "),
            each(|byte| char::from(byte).to_string(), "\u{200b}"),
            each(|byte| format!("&#{byte};"), ""),
        ];
        for form in forms {
            let told = known(&format!("Unauthorized: {form}")).unwrap();
            let mut rest: Vec<&str> = told.split(|letter: char| !letter.is_alphanumeric()).collect();
            rest.retain(|word| !word.is_empty() && !is_of(&words, word));
            assert!(rest.len() <= MOST_NUMBERS && rest.iter().all(|word| is_status(word)), "{form}: {told}");
        }
    }

    #[test]
    fn the_words_are_small_and_stand_once() {
        let all: Vec<&str> = WORDS.split_ascii_whitespace().collect();
        assert!(all.iter().all(|word| word.bytes().all(|letter| letter.is_ascii_lowercase())));
        assert!(all.is_sorted() && all.windows(2).all(|pair| pair[0] != pair[1]), "{all:?}");
    }
}
