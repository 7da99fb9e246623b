//! Slack: an incoming webhook. `&`, `<` and `>` are escaped, so that no text mentions anybody or becomes a link under another
//! name, markup is off, and no address in it is called for a preview.
//! <https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks>,
//! <https://docs.slack.dev/messaging/unfurling-links-in-messages>

use serde_json::json;

use super::http::Post;
use super::telegram::escaped;
use crate::notify::message::Message;
use crate::notify::words::within;

/// A text is cut by the service at 40,000 characters; nobody reads so many.
const MAX_BYTES: usize = 8_000;
const MAX_TITLE: usize = 240;

pub(super) fn post(message: &Message, url: &str) -> Post {
    let title = escaped(&within(&message.subject(), MAX_TITLE));
    let body = escaped(&message.body_within(MAX_BYTES, |text| escaped(text).len()));
    let text = format!("{title}\n{body}");
    Post::json(url, json!({"text": text, "mrkdwn": false, "unfurl_links": false, "unfurl_media": false}))
}
