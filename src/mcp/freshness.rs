//! Whether the guard's picture of the account shows the last actions of this server yet. The picture is as old as the
//! guard's last read, and an agent that has just bought must find its position in it; so a tool may wait for a newer one.
//! It waits only where one is about to come: not once the reads are known to fail, and for an exit no longer than it must.

use std::time::{Duration, Instant};

use super::context::Context;
use super::outcome::Outcome;
use super::status::Status;

/// Longest wait for a newer picture; past that the guard itself calls its picture stale.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// Longest wait of an exit that could go as it is. The guard reads the account at once after each send, so what takes
/// longer is a read that fails.
pub(super) const EXIT_PATIENCE: Duration = Duration::from_secs(2);
/// Between two reads of the status.
const POLL: Duration = Duration::from_millis(50);
/// An action longer ago than this is not waited for: the guard has other troubles then.
const MAX_ACTION_AGE: Duration = Duration::from_secs(15);

/// The guard's status, and whether it shows this server's last actions.
#[derive(Debug, Clone)]
pub(super) struct Snapshot {
    pub(super) status: Status,
    asset: Option<u32>,
    /// It does not show the last action yet.
    is_behind: bool,
    /// A newer one is about to come.
    may_catch_up: bool,
}

impl Snapshot {
    /// Whether the account may look different by now.
    pub(super) fn is_old(&self) -> bool {
        self.is_behind || self.status.is_stale()
    }

    /// The caution that goes with an old picture.
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
    /// The guard's status, compared with this server's last action in one market, or in all.
    ///
    /// # Errors
    /// As [`Context::admit`].
    pub(super) fn snapshot(&self, asset: Option<u32>) -> Result<Snapshot, Outcome> {
        // Taken before the status is asked for, so that a read that began before the act is never taken for a newer one.
        let since = self.recent.since(asset);
        let status = self.admit()?;
        let age = status.age_ms().map(Duration::from_millis);
        let is_behind = since.zip(age).is_some_and(|(since, age)| age >= since);
        let may_catch_up = is_behind && !status.is_stale() && since.is_some_and(|since| since < MAX_ACTION_AGE);
        Ok(Snapshot { status, asset, is_behind, may_catch_up })
    }

    /// Waits for a picture that shows the last action, as long as one is about to come and `patience` lasts.
    ///
    /// # Errors
    /// As [`Context::admit`].
    pub(super) fn await_newer(
        &self,
        mut snapshot: Snapshot,
        patience: impl Fn(&Status) -> Duration,
    ) -> Result<Snapshot, Outcome> {
        let begun = Instant::now();
        while snapshot.may_catch_up && begun.elapsed() < patience(&snapshot.status) {
            std::thread::sleep(POLL);
            snapshot = self.snapshot(snapshot.asset)?;
        }
        Ok(snapshot)
    }

    /// As [`Context::admit`], with a picture that shows all actions of this server where one can be had.
    ///
    /// # Errors
    /// As [`Context::admit`].
    pub(super) fn fresh_snapshot(&self) -> Result<Snapshot, Outcome> {
        self.await_newer(self.snapshot(None)?, |_| PATIENCE)
    }
}
