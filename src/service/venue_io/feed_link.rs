//! The way from the decision loop to the live feed's thread. The newest of a kind takes the place of the one before, so that
//! nothing piles up and nobody waits.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::base::clock::now_ms;
use crate::base::sync::lock;
use crate::feed;
use crate::guard::FeedCommand;

/// What waits for the feed's thread.
#[derive(Debug, Default)]
pub(in crate::service) struct FeedLink {
    waiting: Mutex<Waiting>,
    /// By how much the venue's clock is ahead of the machine's.
    venue_ahead_ms: AtomicI64,
}

#[derive(Debug, Default)]
struct Waiting {
    universe: Option<BTreeSet<String>>,
    wanted: Option<BTreeSet<String>>,
    read: Option<u64>,
    distrusted: Option<&'static str>,
}

impl FeedLink {
    /// Leaves something for the thread.
    pub(in crate::service) fn leave(&self, command: FeedCommand) {
        let mut waiting = lock(&self.waiting);
        match command {
            FeedCommand::Universe(coins) => waiting.universe = Some(coins),
            FeedCommand::Wanted(coins) => waiting.wanted = Some(coins),
            FeedCommand::BaselineRead(socket) => waiting.read = Some(socket),
            FeedCommand::Distrust(reason) => waiting.distrusted = Some(reason),
            // Told to who reads.
            FeedCommand::Pace(_) => {}
        }
    }

    /// What was left, in the order in which it counts.
    pub(super) fn take(&self) -> impl Iterator<Item = feed::Input> + use<> {
        let Waiting { universe, wanted, read, distrusted } = std::mem::take(&mut *lock(&self.waiting));
        let distrusted = distrusted.map(feed::Input::Distrusted);
        let markets = [universe.map(feed::Input::Universe), wanted.map(feed::Input::Wanted)];
        let read = read.map(|socket| feed::Input::BaselineRead { socket });
        distrusted.into_iter().chain(markets.into_iter().flatten()).chain(read)
    }

    /// Says what the venue's time is.
    pub(in crate::service) fn set_venue_ms(&self, venue_ms: Option<u64>) {
        let signed = |ms: u64| i64::try_from(ms).unwrap_or(i64::MAX);
        let ahead_ms = venue_ms.map_or(0, |venue_ms| signed(venue_ms).saturating_sub(signed(now_ms())));
        self.venue_ahead_ms.store(ahead_ms, Ordering::Relaxed);
    }

    /// The venue's time as well as it is known.
    pub(super) fn venue_ms(&self) -> u64 {
        now_ms().saturating_add_signed(self.venue_ahead_ms.load(Ordering::Relaxed))
    }
}
