//! One line to the venue: a socket while somebody wants one, and pauses between sockets.

use crate::feed::{Backoff, Heartbeat, Rolling};

/// A socket that nobody needs is kept for so long: who comes back finds it. It is kept longer where few new ones may be opened, so
/// that who comes and goes does not use them up.
const IDLE_MS: u64 = 5_000;
/// A socket that was open for so long served well.
const SERVED_MS: u64 = 30_000;

/// The number of the line that is the guard's own socket. What the guard listens to comes on it, whoever asks for it, and nothing
/// is sent: it needs none of what follows here.
pub const OWN_LINE: usize = usize::MAX;

/// A line.
#[derive(Debug)]
pub(super) struct Line {
    state: State,
    backoff: Backoff,
    /// When a socket was last tried for, and whether none opened.
    tried_ms: u64,
    has_failed: bool,
}

#[derive(Debug)]
enum State {
    /// No socket until this moment.
    Waiting {
        until_ms: u64,
    },
    Connecting,
    Open {
        heartbeat: Heartbeat,
        since_ms: u64,
        wanted_ms: u64,
        /// Whether the venue said anything.
        is_heard: bool,
        /// Whether it was asked to.
        is_probed: bool,
    },
}

/// What the line needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    Nothing,
    Connect,
    Ping,
    /// It is of no more use.
    Close,
}

impl Line {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: State::Waiting { until_ms: 0 }, backoff: Backoff::new(seed), tried_ms: 0, has_failed: false }
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, State::Open { .. })
    }

    pub(super) fn is_connecting(&self) -> bool {
        matches!(self.state, State::Connecting)
    }

    pub(super) fn opened(&mut self, now_ms: u64) {
        let (heartbeat, is_heard, is_probed) = (Heartbeat::new(now_ms), false, false);
        self.state = State::Open { heartbeat, since_ms: now_ms, wanted_ms: now_ms, is_heard, is_probed };
    }

    /// Something came.
    pub(super) fn heard(&mut self) {
        if let State::Open { is_heard, .. } = &mut self.state {
            *is_heard = true;
        }
    }

    pub(super) fn is_heard(&self) -> bool {
        matches!(self.state, State::Open { is_heard: true, .. })
    }

    /// Whether the venue is to be asked for something that it always answers, once a socket.
    pub(super) fn probe(&mut self) -> bool {
        let State::Open { is_probed, .. } = &mut self.state else { return false };
        !std::mem::replace(is_probed, true)
    }

    pub(super) fn pong(&mut self) {
        if let State::Open { heartbeat, .. } = &mut self.state {
            heartbeat.pong();
        }
    }

    /// There is no socket; another is tried for after a pause.
    pub(super) fn lost(&mut self, now_ms: u64) {
        self.has_failed = self.is_connecting();
        if let State::Open { since_ms, .. } = self.state
            && now_ms.saturating_sub(since_ms) >= SERVED_MS
        {
            self.backoff.reset();
        }
        self.state = State::Waiting { until_ms: now_ms.saturating_add(self.backoff.next_ms()) };
    }

    /// What is due, where somebody wants the line or nobody does. So many of the new sockets that there may be are for other lines.
    pub(super) fn need(&mut self, is_wanted: bool, connections: &mut Rolling, others: usize, now_ms: u64) -> Need {
        match &mut self.state {
            State::Waiting { until_ms } => {
                if !is_wanted || now_ms < *until_ms || connections.room(now_ms) <= others {
                    return Need::Nothing;
                }
                // In vain it is tried for all through the minute, and not at its beginning alone.
                let is_early = now_ms.saturating_sub(self.tried_ms) < connections.pace_ms();
                if self.has_failed && is_early && !connections.is_half_free(now_ms) {
                    return Need::Nothing;
                }
                connections.take(now_ms);
                self.tried_ms = now_ms;
                self.state = State::Connecting;
                Need::Connect
            }
            State::Connecting => Need::Nothing,
            State::Open { heartbeat, wanted_ms, .. } => {
                if is_wanted {
                    *wanted_ms = now_ms;
                }
                let is_idle = now_ms.saturating_sub(*wanted_ms) >= IDLE_MS && connections.is_half_free(now_ms);
                if heartbeat.is_dead(now_ms) || is_idle {
                    return Need::Close;
                }
                if heartbeat.is_due(now_ms) { Need::Ping } else { Need::Nothing }
            }
        }
    }
}
