//! A webhook that takes JSON: the message's parts, each under its name. `notify.toml(5)` lists them.

use super::http::Post;
use crate::notify::message::Message;

pub(super) fn post(message: &Message, url: &str, token: Option<&str>) -> Post {
    Post::json(url, message.json()).bearer(token)
}
