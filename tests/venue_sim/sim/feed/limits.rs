//! The venue's limits on sockets: how many, how many new ones, how many messages. All come from one IP here.

use super::super::engine::settings::Settings;
use super::super::weights::Weights;
use serde_json::{Value, json};

/// What the last minute has seen.
#[derive(Default)]
pub(crate) struct Limits {
    opened: Weights,
    messages: Weights,
    /// Posts that wait for their answer.
    posts: u64,
    refused: Refused,
}

/// What was refused because of a limit since the venue started.
#[derive(Clone, Copy, Default, Debug)]
struct Refused {
    connections: u64,
    messages: u64,
    posts: u64,
}

impl Limits {
    /// Whether one more socket may be opened beside `open`.
    pub(crate) fn admits_socket(&mut self, settings: &Settings, now_ms: u64, open: usize) -> bool {
        let open = u64::try_from(open).unwrap_or(u64::MAX);
        let fits = settings.feed_connections.is_none_or(|most| open < most);
        let admitted = fits && self.opened.spend(now_ms, 1, settings.feed_new_connections);
        if !admitted {
            self.refused.connections = self.refused.connections.saturating_add(1);
        }
        admitted
    }

    pub(crate) fn admits_message(&mut self, settings: &Settings, now_ms: u64) -> bool {
        let admitted = self.messages.spend(now_ms, 1, settings.feed_messages);
        if !admitted {
            self.refused.messages = self.refused.messages.saturating_add(1);
        }
        admitted
    }

    /// Counts a post that waits for its answer, if one more may.
    pub(crate) fn begin_post(&mut self, settings: &Settings) -> bool {
        let admitted = settings.feed_posts.is_none_or(|most| self.posts < most);
        if admitted {
            self.posts = self.posts.saturating_add(1);
        } else {
            self.refused.posts = self.refused.posts.saturating_add(1);
        }
        admitted
    }

    pub(crate) fn end_post(&mut self) {
        self.posts = self.posts.saturating_sub(1);
    }

    pub(crate) fn show(&mut self, now_ms: u64) -> Value {
        json!({
            "opened_last_minute": self.opened.used(now_ms), "messages_last_minute": self.messages.used(now_ms),
            "posts_waiting": self.posts,
            "refused": {"connections": self.refused.connections, "messages": self.refused.messages,
                "posts": self.refused.posts},
        })
    }
}
