//! Telegram: `sendMessage` of a bot, as HTML with `&`, `<` and `>` escaped, and nobody mentioned.
//! <https://core.telegram.org/bots/api#sendmessage>

use serde_json::json;

use super::http::Post;
use crate::notify::message::Message;
use crate::notify::notice::Severity;
use crate::notify::words::within;

/// The service's own server.
pub(super) const SERVER: &str = "https://api.telegram.org";
/// A text has 4,096 characters at most, after its entities are parsed.
const MAX_BODY: usize = 3_600;
const MAX_TITLE: usize = 240;
/// Shows nothing, and is no letter of a name.
const WORD_JOINER: char = '\u{2060}';

pub(super) fn post(message: &Message, url: &str, token: &str, chat: &str) -> Post {
    let title = escaped(&unmentioned(&within(&message.subject(), MAX_TITLE)));
    let body = escaped(&unmentioned(&message.body_within(MAX_BODY, |text| unmentioned(text).len())));
    let request = json!({
        "chat_id": chat,
        "text": format!("<b>{title}</b>\n{body}"),
        "parse_mode": "HTML",
        "disable_notification": message.severity() == Severity::Info,
        "link_preview_options": {"is_disabled": true},
    });
    Post::json(format!("{}/bot{token}/sendMessage", url.trim_end_matches('/')), request)
}

/// A text that calls nobody: the service makes a mention of a name behind an `@`, where no letter goes before. One within a word
/// stays as it is, for a command may hold it.
fn unmentioned(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_word = false;
    for letter in text.chars() {
        out.push(letter);
        if letter == '@' && !is_word {
            out.push(WORD_JOINER);
        }
        is_word = letter.is_alphanumeric() || letter == '_';
    }
    out
}

/// A text that no letter of is markup. Slack asks for the same three.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
