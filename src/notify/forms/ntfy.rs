//! ntfy: a message published as JSON to the server's root, which takes any letter where headers take ASCII alone.
//! <https://docs.ntfy.sh/publish/#publish-as-json>

use serde_json::json;

use super::http::Post;
use crate::notify::message::Message;
use crate::notify::notice::Severity;
use crate::notify::words::within;

/// A longer message becomes an attachment, which is not what a phone shows: 4,096 bytes.
const MAX_BYTES: usize = 4_000;
const MAX_TITLE: usize = 240;

pub(super) fn post(message: &Message, url: &str, topic: &str, token: Option<&str>) -> Post {
    let (priority, tag) = match message.severity() {
        _ if message.is_good() => (3, "white_check_mark"),
        Severity::Critical => (5, "rotating_light"),
        Severity::Warning => (4, "warning"),
        Severity::Info => (3, "information_source"),
    };
    let body = json!({
        "topic": topic,
        "title": within(&message.subject(), MAX_TITLE),
        "message": message.body_within(MAX_BYTES, str::len),
        "priority": priority,
        "tags": [tag],
    });
    Post::json(url, body).bearer(token)
}
