//! Whether the other end of the socket is there. A half-open one looks like a quiet market to everything but a ping.
//! Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/websocket/timeouts-and-heartbeats>.

/// The venue closes a socket on which it sent nothing for a minute; data and pongs count.
const PING_MS: u64 = 10_000;
const PONG_MS: u64 = 5_000;

/// Pings and what came of them.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    /// When the last ping went out, or the socket opened.
    pinged_ms: u64,
    is_waiting: bool,
}

impl Heartbeat {
    pub(crate) fn new(now_ms: u64) -> Self {
        Self { pinged_ms: now_ms, is_waiting: false }
    }

    /// Whether a ping is due, which goes out then.
    pub(crate) fn is_due(&mut self, now_ms: u64) -> bool {
        let is_due = !self.is_waiting && now_ms.saturating_sub(self.pinged_ms) >= PING_MS;
        if is_due {
            *self = Self { pinged_ms: now_ms, is_waiting: true };
        }
        is_due
    }

    pub(crate) fn pong(&mut self) {
        self.is_waiting = false;
    }

    /// Whether the answer to a ping is missing.
    pub(crate) fn is_dead(&self, now_ms: u64) -> bool {
        self.is_waiting && now_ms.saturating_sub(self.pinged_ms) >= PONG_MS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ping_every_ten_seconds_and_an_answer_within_five() {
        let mut heartbeat = Heartbeat::new(0);
        assert!(!heartbeat.is_due(9_999) && heartbeat.is_due(10_000) && !heartbeat.is_due(10_000));
        assert!(!heartbeat.is_dead(14_999));
        heartbeat.pong();
        assert!(!heartbeat.is_dead(15_000) && !heartbeat.is_due(19_999));
        assert!(heartbeat.is_due(20_000) && heartbeat.is_dead(25_000) && !heartbeat.is_due(40_000));
    }
}
