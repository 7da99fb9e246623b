//! The venue's answers: a subscription began, ended or was refused, and who is told of it.

use super::feed::{Feed, Phase};
use super::heard::quoted;
use super::kind::Manner;
use super::queue::FeedId;
use super::room::Relay;
use super::subscription::respelled;

impl Relay {
    /// The venue holds it: who waits for that is told.
    pub(super) fn held(&mut self, line: usize, id: FeedId, said: &str, now_ms: u64) {
        let Some(feed) = self.feeds.get_mut(&id).filter(|feed| feed.line == line) else { return };
        match feed.phase {
            Phase::Asked { .. } => feed.begin(now_ms),
            // It has told something already.
            Phase::Held => {}
            Phase::Unasked | Phase::Ending { .. } => return,
        }
        said.clone_into(&mut feed.said);
        if feed.is_stale {
            return;
        }
        // Where all have left meanwhile it still has to be ended.
        if !feed.holders.is_empty() || feed.is_own() {
            self.todo.remove(&id);
        }
        self.tell_all(id, now_ms);
    }

    /// The venue holds it since it was asked for before, and begins it no second time: who waits for a first frame that is not here
    /// has it once it began anew.
    fn was_held(&mut self, line: usize, id: FeedId, said: &str, now_ms: u64) {
        let Some(feed) = self.feeds.get_mut(&id).filter(|feed| feed.line == line) else { return };
        let is_asked = matches!(feed.phase, Phase::Asked { .. });
        let has_first = feed.manner() == Manner::Events || feed.has_first && feed.can_begin(now_ms);
        feed.is_stale |= is_asked && !feed.is_own() && !has_first;
        self.held(line, id, said, now_ms);
    }

    /// The venue holds it no longer: it is over, or begins anew for who wants it.
    pub(super) fn ended(&mut self, line: usize, id: FeedId) {
        let Some(feed) = self.feeds.get_mut(&id).filter(|feed| feed.line == line) else { return };
        if !matches!(feed.phase, Phase::Ending { .. }) {
            return;
        }
        if feed.holders.is_empty() {
            return self.end(id);
        }
        feed.forget();
        self.todo.insert(id);
    }

    /// The venue refuses something: by its words what they quote, else the one that it can be about.
    pub(super) fn refused(&mut self, line: usize, text: &str, now_ms: u64) {
        let quoted = quoted(text).and_then(|(of, is_end)| Some((*self.ids.get(&of.normal())?, is_end)));
        let is_asked = |feed: &Feed| feed.line == line && matches!(feed.phase, Phase::Asked { .. });
        if let Some((id, is_end)) = quoted {
            let said = text.split_once(": ").map_or("", |(_, said)| said);
            if text.starts_with("Already subscribed: ") {
                self.was_held(line, id, said, now_ms);
            } else if text.starts_with("Already unsubscribed: ") {
                self.ended(line, id);
            } else if !is_end && self.feeds.get(&id).is_some_and(is_asked) {
                self.refuse_all(id, text);
            }
        } else if text.starts_with("Cannot track more than ") {
            let is_of_users = text.ends_with(" users.");
            let is_meant = |feed: &Feed| is_asked(feed) && (!is_of_users || self.is_of_new_user(feed));
            let turn = |feed: &Feed| if let Phase::Asked { turn, .. } = feed.phase { turn } else { 0 };
            let meant = self.feeds.iter().filter(|(_, feed)| is_meant(feed));
            let first = meant.min_by_key(|(_, feed)| turn(feed)).map(|(id, _)| *id);
            match first {
                Some(id) if is_of_users => self.refuse_all(id, text),
                // Most likely what was asked for first: the venue is told to end it, in case that it holds it.
                Some(id) => self.tell_refused(id, text),
                None => {}
            }
        }
    }

    /// Nobody can have it.
    pub(super) fn refuse_all(&mut self, id: FeedId, text: &str) {
        self.tell_refused(id, text);
        self.end(id);
    }

    /// Takes it from all that have it, and tells them why.
    pub(super) fn tell_refused(&mut self, id: FeedId, text: &str) {
        let Some(feed) = self.feeds.get_mut(&id) else { return };
        let user = feed.subscription.user;
        for ((client, own), holder) in std::mem::take(&mut feed.holders) {
            self.clients.settle(client, (id, own));
            let text = respelled(text, user, holder.spelled.as_deref());
            self.refuse(client, &text);
            // Who asked again meanwhile is refused as often, as at the venue, but for what it was told of already.
            self.refuse_again(client, holder.again, &text);
        }
    }
}
