//! How the guard's picture of the account stands to what this server did. The picture is as old as the guard's last read,
//! and an agent that has just bought must find what it holds; so a tool may wait for a newer one. It waits only where one
//! is about to come: not once the reads are known to fail, and for an exit no longer than it must.

use std::time::{Duration, Instant};

use super::context::Context;
use super::outcome::Outcome;
use super::status::Status;

/// How long a newer picture is waited for; past that the guard itself calls its own stale.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// How long an exit waits that could go as it is. The guard reads the account at once after each send, so what takes
/// longer is a read that fails.
pub(super) const EXIT_PATIENCE: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// For what was done longer ago than this no newer picture is waited for: the guard has other troubles.
const ACT_SEEN: Duration = Duration::from_secs(15);

/// The guard's status, and whether it can be gone by.
#[derive(Debug, Clone)]
pub(super) struct Snapshot {
    pub(super) status: Status,
    asset: Option<u32>,
    /// It does not show what this server did last.
    is_behind: bool,
    /// A newer one may come soon.
    may_catch_up: bool,
}

impl Snapshot {
    /// Whether the account may look otherwise by now.
    pub(super) fn is_old(&self) -> bool {
        self.is_behind || self.status.is_stale()
    }

    /// What is to be said about an old picture.
    pub(super) fn caution(&self) -> Option<String> {
        if !self.is_old() {
            return None;
        }
        let age = self.status.age_ms().map_or_else(
            || "The guard has not read the account yet".to_owned(),
            |age_ms| format!("The guard last read the account {} s ago", age_ms / 1_000),
        );
        let lacks = match (self.is_behind, self.asset) {
            (false, _) => "its reads fail now, so the account may look otherwise",
            (true, Some(_)) => "before your last trade in this market, so what that did may be missing",
            (true, None) => "before what you did last, so that may be missing",
        };
        Some(format!("{age}: {lacks}."))
    }
}

impl Context {
    /// The status of a guard that is as demanded, held against what this server did in one market, or in all.
    ///
    /// # Errors
    /// As [`Context::admit`].
    pub(super) fn snapshot(&self, asset: Option<u32>) -> Result<Snapshot, Outcome> {
        // Taken before the status is asked for, so that a read that began before the act is never taken for a newer one.
        let since = self.recent.since(asset);
        let status = self.admit()?;
        let age = status.age_ms().map(Duration::from_millis);
        let is_behind = since.zip(age).is_some_and(|(since, age)| age >= since);
        let may_catch_up = is_behind && !status.is_stale() && since.is_some_and(|since| since < ACT_SEEN);
        Ok(Snapshot { status, asset, is_behind, may_catch_up })
    }

    /// Waits for a picture that shows what this server did, for as long as one is about to come and `patience` lasts.
    ///
    /// # Errors
    /// As [`Context::admit`].
    pub(super) fn await_newer(
        &self,
        mut picture: Snapshot,
        patience: impl Fn(&Status) -> Duration,
    ) -> Result<Snapshot, Outcome> {
        let begun = Instant::now();
        while picture.may_catch_up && begun.elapsed() < patience(&picture.status) {
            std::thread::sleep(LOOK_EVERY);
            picture = self.snapshot(picture.asset)?;
        }
        Ok(picture)
    }

    /// As [`Context::admit`], and in sight of all that this server did, where that can be had.
    ///
    /// # Errors
    /// As [`Context::admit`].
    pub(super) fn fresh_snapshot(&self) -> Result<Snapshot, Outcome> {
        self.await_newer(self.snapshot(None)?, |_| PATIENCE)
    }
}
