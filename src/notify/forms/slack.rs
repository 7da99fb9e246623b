//! Slack: an incoming webhook. `&`, `<` and `>` are escaped, so that no text mentions anybody or becomes a link, and markup
//! is off. <https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks>

use serde_json::json;

use super::http::Post;
use super::telegram::escaped;
use crate::notify::message::Message;
use crate::notify::words::within;

/// A text is cut by the service at 40,000 characters; nobody reads so many.
const MAX_BYTES: usize = 8_000;

pub(super) fn post(message: &Message, url: &str) -> Post {
    let text = format!("{}\n{}", message.subject(), message.body());
    Post::json(url, json!({"text": escaped(&within(&text, MAX_BYTES)), "mrkdwn": false}))
}
