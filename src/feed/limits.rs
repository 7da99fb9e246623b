//! The venue's limits of the socket: they are an address's, and this guard has a share of them.
//!
//! Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits>: 30 new connections and 2000
//! messages a minute, 1000 subscriptions. Most is left to others: what clients subscribe to, and whoever else is there.

use std::collections::VecDeque;

use crate::base::ip_share::IP_BUDGET;

const MINUTE_MS: u64 = 60_000;
/// Of the venue's 30 a minute.
const CONNECTIONS: u32 = 20;
/// Of the venue's 2000 a minute: more than subscribing to everything on a new socket takes.
const MESSAGES: u32 = 500;
/// Two subscriptions each, of the venue's 1000.
const MARKETS: u32 = 100;

/// The limits of one guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// New connections a minute.
    pub connections: usize,
    /// Messages sent a minute.
    pub messages: usize,
    /// Markets watched at a time.
    pub markets: usize,
}

impl Limits {
    /// The limits of a share that has so much weight a minute.
    #[must_use]
    pub fn for_budget(budget: u32) -> Self {
        let share = |whole: u32| {
            let part = u64::from(whole).saturating_mul(u64::from(budget)).div_euclid(u64::from(IP_BUDGET));
            usize::try_from(part).unwrap_or_default().max(1)
        };
        Self { connections: share(CONNECTIONS), messages: share(MESSAGES), markets: share(MARKETS) }
    }
}

/// So many a minute, whichever minute is looked at.
#[derive(Debug)]
pub(crate) struct Rolling {
    most: usize,
    taken_ms: VecDeque<u64>,
}

impl Rolling {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, taken_ms: VecDeque::new() }
    }

    /// How many more may be taken now.
    pub(crate) fn room(&mut self, now_ms: u64) -> usize {
        self.most.saturating_sub(self.taken(now_ms))
    }

    /// Whether more than half may be taken now.
    pub(crate) fn is_half_free(&mut self, now_ms: u64) -> bool {
        self.room(now_ms) > self.most.div_euclid(2)
    }

    /// How far apart the second half of a minute's is taken, where it is to last until there are new ones.
    pub(crate) fn pace_ms(&self) -> u64 {
        let second_half = self.most.saturating_sub(self.most.div_euclid(2)).saturating_add(1);
        MINUTE_MS.div_euclid(u64::try_from(second_half).unwrap_or(u64::MAX))
    }

    /// How many were taken in the last minute, of the newest that count: as many as may be.
    pub(crate) fn taken(&mut self, now_ms: u64) -> usize {
        while self.taken_ms.front().is_some_and(|taken_ms| taken_ms.saturating_add(MINUTE_MS) <= now_ms) {
            self.taken_ms.pop_front();
        }
        self.taken_ms.len()
    }

    /// Counts what another one has taken as taken here.
    pub(crate) fn take_over(&mut self, other: Self) {
        self.taken_ms.extend(other.taken_ms);
        self.taken_ms.make_contiguous().sort_unstable();
        let over = self.taken_ms.len().saturating_sub(self.most);
        self.taken_ms.drain(..over);
    }

    /// Takes one, whether there is room or not. With as many newer ones there is no room either way, so an older one is
    /// forgotten: who takes without end costs no memory.
    pub(crate) fn take(&mut self, now_ms: u64) {
        self.taken_ms.push_back(now_ms);
        while self.taken_ms.len() > self.most {
            self.taken_ms.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_every_limit() {
        let limits = |connections, messages, markets| Limits { connections, messages, markets };
        assert_eq!(Limits::for_budget(1_200), limits(20, 500, 100));
        assert_eq!(Limits::for_budget(150), limits(2, 62, 12));
        assert_eq!(Limits::for_budget(0), limits(1, 1, 1));
    }

    #[test]
    fn no_minute_has_more() {
        let mut rolling = Rolling::new(2);
        assert_eq!(rolling.room(1_000), 2);
        rolling.take(1_000);
        rolling.take(31_000);
        assert_eq!([rolling.room(31_000), rolling.room(60_999)], [0, 0]);
        assert_eq!(rolling.room(61_000), 1);
        rolling.take(61_000);
        assert_eq!([rolling.room(90_999), rolling.room(91_000), rolling.room(200_000)], [0, 1, 2]);
    }

    #[test]
    fn the_second_half_is_paced() {
        let mut rolling = Rolling::new(8);
        assert_eq!((rolling.pace_ms(), Rolling::new(1).pace_ms()), (12_000, 30_000));
        (0..3).for_each(|now_ms| rolling.take(now_ms));
        assert!(rolling.is_half_free(3));
        rolling.take(3);
        assert!(!rolling.is_half_free(3) && rolling.is_half_free(60_000));
    }

    #[test]
    fn who_takes_without_end_costs_no_memory() {
        let mut rolling = Rolling::new(2);
        (0..1_000).for_each(|now_ms| rolling.take(now_ms));
        assert_eq!((rolling.taken_ms.len(), rolling.room(60_997)), (2, 0));
        assert_eq!([rolling.room(60_998), rolling.room(60_999)], [1, 2]);
    }
}
