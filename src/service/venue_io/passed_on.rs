//! Frames of the guard's own socket that clients hear: the account's, as they came, from the first on once it is live. Until then they
//! wait, as the core waits for them.

use std::collections::VecDeque;

use crate::service::message::OwnSocket;
use crate::venue::stream::frame::{Frame, FrameError};
use crate::venue::stream::topic::Topic;

/// The channel of the account's events. Some of these are of no use to the guard.
const EVENTS: &str = "user";
/// Most text that waits, and for how many frames.
const MOST_BYTES: usize = 16 * 1024 * 1024;
const MOST_FRAMES: usize = 4_096;

/// The frames that wait, oldest first.
#[derive(Default)]
pub(super) struct PassedOn {
    waiting: VecDeque<Box<str>>,
    bytes: usize,
    was_live: bool,
}

impl PassedOn {
    /// Another socket is open.
    pub(super) fn begin(&mut self) {
        (self.bytes, self.waiting) = (0, VecDeque::new());
    }

    /// Keeps a frame that is for clients; whether there was room for it.
    pub(super) fn keep(&mut self, frame: &Result<Frame, FrameError>, text: String) -> bool {
        let is_for_clients = match frame {
            Ok(Frame::Acked { .. }) => true,
            Ok(Frame::Data(data)) => matches!(data.topic(), Topic::Account(_)),
            Ok(Frame::Other(channel)) => channel == EVENTS,
            _ => false,
        };
        if is_for_clients {
            self.bytes = self.bytes.saturating_add(text.len());
            self.waiting.push_back(text.into());
        }
        self.bytes <= MOST_BYTES && self.waiting.len() <= MOST_FRAMES
    }

    /// Gives what clients may hear now.
    pub(super) fn take(&mut self, is_live: bool) -> impl Iterator<Item = OwnSocket> + use<> {
        let turn = match (std::mem::replace(&mut self.was_live, is_live), is_live) {
            (false, true) => Some(OwnSocket::Live),
            (true, false) => Some(OwnSocket::Lost),
            _ => None,
        };
        let frames = if is_live { std::mem::take(&mut self.waiting) } else { VecDeque::new() };
        if is_live {
            self.bytes = 0;
        }
        turn.into_iter().chain(frames.into_iter().map(OwnSocket::Frame))
    }
}
