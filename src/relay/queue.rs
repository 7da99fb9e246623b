//! One client's frames that wait: bounded, with the newest state in the place of an older one.

use std::collections::{BTreeMap, VecDeque};

use super::frame::Frame;
use crate::base::address::Address;

/// Which feed.
pub(super) type FeedId = u64;

/// A client's part in a feed: under its own address where it asked for the account under that. Each has frames of its own.
pub(super) type Part = (FeedId, Option<Address>);

/// Frames that may wait.
pub(super) const MOST_FRAMES: usize = 2_048;
/// Bytes that may wait. They are shared: many clients that wait for one frame wait for the same bytes.
pub(super) const MOST_BYTES: usize = 8 * 1024 * 1024;

/// Frames in their order.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: VecDeque<(Option<Part>, Frame)>,
    /// How many frames ever left it: the number of the first that waits.
    left: usize,
    /// The numbers of the states that wait.
    states: BTreeMap<Part, usize>,
    bytes: usize,
}

/// What became of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Put {
    Waits,
    /// An older state is gone.
    Replaced,
    /// There is no room: the client reads too slowly.
    Full,
}

impl Queue {
    /// Bytes that wait.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a frame that counts whatever comes after it.
    pub(super) fn event(&mut self, frame: Frame) -> Put {
        self.put(None, frame)
    }

    /// Adds the state of a feed, or puts it where an older one waits.
    pub(super) fn state(&mut self, feed: Part, frame: Frame) -> Put {
        let place = self.states.get(&feed).and_then(|number| number.checked_sub(self.left));
        let Some((_, old)) = place.and_then(|place| self.waiting.get_mut(place)) else {
            return self.put(Some(feed), frame);
        };
        self.bytes = self.bytes.saturating_sub(old.len()).saturating_add(frame.len());
        *old = frame;
        if self.bytes > MOST_BYTES { Put::Full } else { Put::Replaced }
    }

    /// What waits of this feed stays as it is, and what comes after stands behind what is put in meanwhile.
    pub(super) fn settle(&mut self, feed: Part) {
        self.states.remove(&feed);
    }

    /// Takes frames of about so many bytes, one at least.
    pub(super) fn take(&mut self, most_bytes: usize) -> Vec<Frame> {
        let (mut frames, mut bytes) = (Vec::new(), 0_usize);
        while bytes < most_bytes
            && let Some((feed, frame)) = self.waiting.pop_front()
        {
            if let Some(feed) = feed
                && self.states.get(&feed) == Some(&self.left)
            {
                self.states.remove(&feed);
            }
            self.left = self.left.wrapping_add(1);
            self.bytes = self.bytes.saturating_sub(frame.len());
            bytes = bytes.saturating_add(frame.len());
            frames.push(frame);
        }
        frames
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    fn put(&mut self, feed: Option<Part>, frame: Frame) -> Put {
        let bytes = self.bytes.saturating_add(frame.len());
        if self.waiting.len() >= MOST_FRAMES || bytes > MOST_BYTES {
            return Put::Full;
        }
        if let Some(feed) = feed {
            self.states.insert(feed, self.left.wrapping_add(self.waiting.len()));
        }
        self.bytes = bytes;
        self.waiting.push_back((feed, frame));
        Put::Waits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relay::frame::Memory;

    fn frame(text: &str) -> Frame {
        Memory::default().frame(text)
    }

    fn take(queue: &mut Queue) -> Vec<String> {
        queue.take(usize::MAX).iter().map(|frame| frame.to_string()).collect()
    }

    #[test]
    fn the_newest_state_wins_and_events_all_stay() {
        let mut queue = Queue::default();
        for (feed, text) in [(Some(1), "a"), (None, "b"), (Some(2), "c"), (Some(1), "d"), (None, "e")] {
            let _put = match feed {
                Some(feed) => queue.state((feed, None), frame(text)),
                None => queue.event(frame(text)),
            };
        }
        assert_eq!(take(&mut queue), ["d", "b", "c", "e"]);
        assert_eq!(queue.state((1, None), frame("f")), Put::Waits);
        queue.settle((1, None));
        assert_eq!(queue.state((1, None), frame("g")), Put::Waits);
        assert_eq!(queue.state((1, None), frame("h")), Put::Replaced);
        assert_eq!((queue.take(1).len(), take(&mut queue), queue.is_empty()), (1, vec!["h".to_owned()], true));
    }

    #[test]
    fn frames_and_bytes_have_an_end() {
        let mut queue = Queue::default();
        assert!((0..MOST_FRAMES).all(|_| queue.event(frame("e")) == Put::Waits));
        assert_eq!(queue.event(frame("e")), Put::Full);
        assert_eq!(queue.take(1).len(), 1);
        assert_eq!(queue.event(frame("e")), Put::Waits);
        let mut queue = Queue::default();
        let half = frame(&"x".repeat(MOST_BYTES / 2));
        assert_eq!([queue.state((1, None), half.clone()), queue.event(half.clone())], [Put::Waits; 2]);
        assert_eq!([queue.event(frame("e")), queue.state((1, None), half)], [Put::Full, Put::Replaced]);
    }
}
