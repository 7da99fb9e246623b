//! The last events in memory, for clients that poll `GET /guard/events`.

use std::collections::VecDeque;
use std::sync::Mutex;

use crate::base::sync::lock;

/// Events kept.
const KEPT: usize = 1000;
/// The same as the length of their texts: batches of a thousand orders must not fill the memory.
const KEPT_BYTES: usize = 16 * 1024 * 1024;
/// Length of one answer. As many are made at once as there are HTTP workers, and some more wait for slow readers.
const ANSWER_BYTES: usize = 1024 * 1024;
/// Room for the members of an answer beside its events.
const HEAD_BYTES: usize = 256;

/// The last events, oldest first. Only events that are on disk enter.
#[derive(Debug, Default)]
pub(in crate::service) struct RecentEvents(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    events: VecDeque<(u64, String)>,
    bytes: usize,
}

impl Kept {
    fn push(&mut self, event: (u64, String)) {
        self.bytes = self.bytes.saturating_add(event.1.len());
        self.events.push_back(event);
        while self.events.len() > KEPT || self.bytes > KEPT_BYTES {
            let Some((_, text)) = self.events.pop_front() else { return };
            self.bytes = self.bytes.saturating_sub(text.len());
        }
    }
}

impl RecentEvents {
    /// Adds events by number; they come in order.
    pub(in crate::service) fn push(&self, events: impl IntoIterator<Item = (u64, String)>) {
        let mut kept = lock(&self.0);
        events.into_iter().for_each(|event| kept.push(event));
    }

    /// The events after `since` as the body of `GET /guard/events`: at most `limit` of them and 1 MiB, but at least one.
    /// A client that is given fewer asks on from the last one.
    #[must_use]
    pub(in crate::service) fn after(&self, since: u64, limit: usize) -> String {
        let kept = &lock(&self.0).events;
        let number =
            |event: Option<&(u64, String)>| event.map_or_else(|| "null".to_owned(), |(seq, _)| seq.to_string());
        let (oldest, last) = (number(kept.front()), number(kept.back()));
        let mut bytes = HEAD_BYTES;
        let fits = |text: &&str| {
            let is_first = bytes == HEAD_BYTES;
            // With its comma.
            bytes = bytes.saturating_add(text.len()).saturating_add(1);
            is_first || bytes <= ANSWER_BYTES
        };
        let texts = kept.iter().filter(|(seq, _)| *seq > since).take(limit).map(|(_, text)| text.as_str());
        let texts: Vec<&str> = texts.take_while(fits).collect();
        let length = texts.iter().map(|text| text.len().saturating_add(1)).sum::<usize>();
        // In one piece, and as long as it gets: an answer is not held twice.
        let mut body = String::with_capacity(length.saturating_add(HEAD_BYTES));
        body.push_str(&format!(r#"{{"schema":1,"oldest":{oldest},"last":{last},"events":["#));
        for (number, text) in texts.into_iter().enumerate() {
            body.push_str(if number == 0 { "" } else { "," });
            body.push_str(text);
        }
        body.push_str("]}");
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_thousand_are_kept_oldest_first() {
        let recent = RecentEvents::default();
        assert_eq!(recent.after(0, 10), r#"{"schema":1,"oldest":null,"last":null,"events":[]}"#);
        recent.push((1..=1001).map(|seq| (seq, seq.to_string())));
        assert_eq!(recent.after(998, 10), r#"{"schema":1,"oldest":2,"last":1001,"events":[999,1000,1001]}"#);
        assert_eq!(recent.after(0, 2), r#"{"schema":1,"oldest":2,"last":1001,"events":[2,3]}"#);
    }

    #[test]
    fn long_events_fill_neither_memory_nor_an_answer() {
        let recent = RecentEvents::default();
        let mib = |seq: u64| (seq, format!("\"{}\"", "x".repeat(1024 * 1024 - 2)));
        recent.push((1..=17).map(mib));
        let told = |since| serde_json::from_str::<serde_json::Value>(&recent.after(since, 1000)).unwrap();
        let answer = told(0);
        assert_eq!((answer["oldest"].as_u64(), answer["last"].as_u64()), (Some(2), Some(17)));
        assert_eq!(answer["events"].as_array().unwrap().len(), 1);
        // Cut to the size, commas and head included.
        let small = |seq: u64| (seq, format!("\"{}\"", "x".repeat(16 * 1024 - 3)));
        let many = RecentEvents::default();
        many.push((1..=1000).map(small));
        assert!(many.after(0, 1000).len() <= ANSWER_BYTES);
        assert_eq!(told(16)["events"].as_array().unwrap().len(), 1);
        // One that is longer than an answer should be is shown all the same.
        recent.push([(18, format!("\"{}\"", "x".repeat(9 * 1024 * 1024)))]);
        assert_eq!(told(17)["events"].as_array().unwrap().len(), 1);
        recent.push((19..=2000).map(|seq| (seq, seq.to_string())));
        assert_eq!(told(0)["oldest"], 1001);
    }
}
