//! Counts connections and the requests at work, so that both stay bounded and a shutdown can wait for the latter.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::base::sync::lock;

#[derive(Debug, Default)]
struct Counts {
    open: usize,
    at_work: usize,
    shutting_down: bool,
}

/// The places there are.
#[derive(Debug)]
pub(in crate::service) struct Slots {
    counts: Mutex<Counts>,
    idle: Condvar,
    most: usize,
    unreserved: usize,
}

/// One connection's place; free again when dropped.
#[derive(Debug)]
pub(in crate::service) struct Slot {
    slots: Arc<Slots>,
    is_reserved: bool,
}

/// One request at work; done when dropped.
pub(super) struct AtWork<'a>(&'a Slots);

impl Slots {
    /// `most` places, the last `reserved` of them reserved.
    pub(in crate::service) fn new(most: usize, reserved: usize) -> Self {
        Self { counts: Mutex::default(), idle: Condvar::new(), most, unreserved: most.saturating_sub(reserved) }
    }

    /// The connections there may be.
    pub(in crate::service) fn most(&self) -> usize {
        self.most
    }

    /// How many connections there are, and how many requests are at work.
    pub(in crate::service) fn taken(&self) -> (usize, usize) {
        let counts = self.lock();
        (counts.open, counts.at_work)
    }

    /// A place for a new connection, or `None` when all are taken.
    pub(super) fn enter(self: &Arc<Self>) -> Option<Slot> {
        let mut counts = self.lock();
        if counts.open >= self.most {
            return None;
        }
        let is_reserved = counts.open >= self.unreserved;
        counts.open = counts.open.saturating_add(1);
        Some(Slot { slots: Arc::clone(self), is_reserved })
    }

    /// Marks a request as at work, or `None` once the shutdown has begun.
    pub(super) fn begin(&self) -> Option<AtWork<'_>> {
        let mut counts = self.lock();
        if counts.shutting_down {
            return None;
        }
        counts.at_work = counts.at_work.saturating_add(1);
        Some(AtWork(self))
    }

    /// Lets no request begin any more and waits for those at work; false when some are left after `grace`.
    pub(super) fn shut_down(&self, grace: Duration) -> bool {
        let mut counts = self.lock();
        counts.shutting_down = true;
        let waited = self.idle.wait_timeout_while(counts, grace, |counts| counts.at_work > 0);
        waited.unwrap_or_else(PoisonError::into_inner).0.at_work == 0
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        lock(&self.counts)
    }
}

impl Slot {
    /// Whether this is one of the last places: there a connection has one request, soon, and no upgrade, so that these
    /// places come free again whatever holds the others.
    pub(super) fn is_reserved(&self) -> bool {
        self.is_reserved
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut counts = self.slots.lock();
        counts.open = counts.open.saturating_sub(1);
    }
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        let mut counts = self.0.lock();
        counts.at_work = counts.at_work.saturating_sub(1);
        if counts.at_work == 0 {
            self.0.idle.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_places_are_reserved_and_come_free() {
        let slots = Arc::new(Slots::new(3, 1));
        let (first, second, third) = (slots.enter().unwrap(), slots.enter().unwrap(), slots.enter().unwrap());
        assert_eq!([&first, &second, &third].map(Slot::is_reserved), [false, false, true]);
        assert!(slots.enter().is_none());
        drop(first);
        assert!(slots.enter().unwrap().is_reserved());
        drop(third);
        assert!(!slots.enter().unwrap().is_reserved());
        drop(second);
    }

    #[test]
    fn a_shutdown_lets_nothing_begin_and_waits_for_what_has() {
        let slots = Arc::new(Slots::new(1, 0));
        let at_work = slots.begin().unwrap();
        assert!(!slots.shut_down(Duration::from_millis(1)));
        assert!(slots.begin().is_none());
        let waiting = Arc::clone(&slots);
        let shutdown = std::thread::spawn(move || waiting.shut_down(Duration::from_secs(60)));
        drop(at_work);
        assert!(shutdown.join().unwrap());
    }
}
