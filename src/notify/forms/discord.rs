//! Discord: a webhook. Nobody is mentioned whatever the text says, and its markup is escaped.
//! <https://discord.com/developers/docs/resources/webhook#execute-webhook>

use serde_json::json;

use super::http::Post;
use crate::notify::message::Message;
use crate::notify::words::within;

/// A content has 2,000 characters at most. What is escaped is one more.
const MAX_BYTES: usize = 1_900;
const MAX_TITLE: usize = 240;
/// `SUPPRESS_EMBEDS`: no preview of what looks like a link.
const NO_PREVIEW: u32 = 4;

pub(super) fn post(message: &Message, url: &str) -> Post {
    let cost = |text: &str| escaped(text).len();
    let title = escaped(&within(&message.subject(), MAX_TITLE));
    let body = message.body_within(MAX_BYTES.saturating_sub(title.len()), cost);
    let content = format!("{title}\n{}", escaped(&body));
    // With `wait` the answer comes when the message is there.
    let joint = if url.contains('?') { '&' } else { '?' };
    let body = json!({"content": content, "allowed_mentions": {"parse": []}, "flags": NO_PREVIEW});
    Post::json(format!("{url}{joint}wait=true"), body)
}

/// A text that no letter of is markup.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if "\\*_~`|>#[]<:@-".contains(letter) {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}
