//! The last events in memory, for those who poll.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Events kept.
const KEPT: usize = 1000;

/// The last events, oldest first. Only events that are on disk enter.
#[derive(Debug, Default)]
pub(super) struct Ring(Mutex<VecDeque<(u64, String)>>);

impl Ring {
    /// Adds events by number; they come in order.
    pub(super) fn push(&self, events: impl IntoIterator<Item = (u64, String)>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(events);
        let over = kept.len().saturating_sub(KEPT);
        kept.drain(..over);
    }

    /// The events after `since`, at most `limit` of them, as the body of `GET /guard/events`.
    #[must_use]
    pub(super) fn after(&self, since: u64, limit: usize) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number =
            |event: Option<&(u64, String)>| event.map_or_else(|| "null".to_owned(), |(seq, _)| seq.to_string());
        let (oldest, last) = (number(kept.front()), number(kept.back()));
        let texts = kept.iter().filter(|(seq, _)| *seq > since).take(limit).map(|(_, text)| text.as_str());
        let events = texts.collect::<Vec<_>>().join(",");
        format!(r#"{{"schema":1,"oldest":{oldest},"last":{last},"events":[{events}]}}"#)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_thousand_are_kept_oldest_first() {
        let ring = Ring::default();
        assert_eq!(ring.after(0, 10), r#"{"schema":1,"oldest":null,"last":null,"events":[]}"#);
        ring.push((1..=1001).map(|seq| (seq, seq.to_string())));
        assert_eq!(ring.after(998, 10), r#"{"schema":1,"oldest":2,"last":1001,"events":[999,1000,1001]}"#);
        assert_eq!(ring.after(0, 2), r#"{"schema":1,"oldest":2,"last":1001,"events":[2,3]}"#);
    }
}
