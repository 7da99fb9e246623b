//! Whether guard and notifier are well, and the URL that is called while they are: whoever waits for it in vain outside
//! knows that the whole machine may be gone.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::forms::http::{agent, failure};
use super::log::Log;
use crate::base::clock::steady_ms;
use crate::base::log_line::Level;
use crate::base::sync::lock;

/// How long one look at a guard that is well counts: a loop that hangs stops the heartbeat too.
const FRESH_MS: u64 = 20_000;
/// How long a target may take nothing before the notifier counts as unwell.
const DEAF_MS: u64 = 600_000;
/// After a call that failed.
const AGAIN_MS: u64 = 15_000;
const TICK: Duration = Duration::from_millis(250);
const CALL: Duration = Duration::from_secs(15);

/// What is known of how well both are. All times are of the clock that never steps.
#[derive(Debug, Default)]
pub(super) struct Pulse {
    /// When the guard was last seen to be well, 0 for never.
    guard_ms: AtomicU64,
    /// Since when the state is not on disk, 0 while it is.
    unkept_ms: AtomicU64,
    /// Since when targets take nothing.
    deaf: Mutex<BTreeMap<String, u64>>,
}

impl Pulse {
    /// The guard was looked at.
    pub(super) fn guard(&self, is_well: bool) {
        self.guard_ms.store(if is_well { steady_ms() } else { 0 }, Ordering::Relaxed);
    }

    /// The state was written, or could not be.
    pub(super) fn kept(&self, is_kept: bool) {
        let since = if is_kept { 0 } else { steady_ms() };
        if is_kept || self.unkept_ms.load(Ordering::Relaxed) == 0 {
            self.unkept_ms.store(since, Ordering::Relaxed);
        }
    }

    /// A target took a message, or did not.
    pub(super) fn heard(&self, name: &str, took: bool) {
        let mut deaf = lock(&self.deaf);
        if took {
            deaf.remove(name);
        } else {
            deaf.entry(name.to_owned()).or_insert_with(steady_ms);
        }
    }

    /// Nothing waits for a target now: it is not known to take nothing.
    pub(super) fn rests(&self, name: &str) {
        lock(&self.deaf).remove(name);
    }

    /// Whether no target to which something is due has taken nothing for too long.
    fn hears(&self, now_ms: u64) -> bool {
        lock(&self.deaf).values().all(|since| now_ms.saturating_sub(*since) < DEAF_MS)
    }

    fn is_well(&self) -> bool {
        let now = steady_ms();
        let guard_ms = self.guard_ms.load(Ordering::Relaxed);
        let heard = self.hears(now);
        guard_ms > 0 && now.saturating_sub(guard_ms) < FRESH_MS && self.unkept_ms.load(Ordering::Relaxed) == 0 && heard
    }
}

/// Calls the URL every so often while all is well.
pub(super) fn start(url: String, every: Duration, pulse: Arc<Pulse>, log: Log) -> io::Result<()> {
    let every_ms = u64::try_from(every.as_millis()).unwrap_or(u64::MAX);
    let beat = move || {
        let (agent, mut next_ms, mut failed) = (agent(CALL), 0, false);
        loop {
            std::thread::sleep(TICK);
            if steady_ms() < next_ms || !pulse.is_well() {
                continue;
            }
            let why = match agent.get(&url).call() {
                Ok(answer) if answer.status().is_success() => None,
                Ok(answer) => Some(format!("answers HTTP {}", answer.status().as_u16())),
                Err(error) => Some(failure(&error)),
            };
            next_ms = steady_ms().saturating_add(if why.is_none() { every_ms } else { every_ms.min(AGAIN_MS) });
            match &why {
                Some(why) if !failed => log.line(Level::Warning, &format!("the heartbeat's URL {why}")),
                None if failed => log.line(Level::Info, "the heartbeat's URL answers again"),
                _ => {}
            }
            failed = why.is_some();
        }
    };
    std::thread::Builder::new().name("heartbeat".to_owned()).spawn(beat).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_deaf_only_while_something_waits_for_it() {
        let pulse = Pulse::default();
        let later = steady_ms() + 2 * DEAF_MS;
        pulse.heard("phone", false);
        assert!(pulse.hears(steady_ms()), "it may take the next");
        assert!(!pulse.hears(later), "ten minutes without a yes");
        pulse.rests("phone");
        assert!(pulse.hears(later), "quiet hours have begun, and nothing is tried");
        pulse.heard("phone", false);
        pulse.heard("phone", true);
        assert!(pulse.hears(later));
    }
}
