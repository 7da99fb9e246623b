//! A day in numbers, from one summary to the next.

use serde::{Deserialize, Serialize};

use crate::notify::notice::Severity;

/// Counters of a day.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Counts {
    pub(super) allowed: u64,
    pub(super) resized: u64,
    pub(super) vetoed: u64,
    pub(super) stops: u64,
    pub(super) closes: u64,
    pub(super) restarts: u64,
    warnings: u64,
    criticals: u64,
}

impl Counts {
    /// A request was decided; one event may tell of several.
    pub(super) fn decided(&mut self, verdict: &str, count: u64) {
        let counter = match verdict {
            "allow" => &mut self.allowed,
            "resize" => &mut self.resized,
            _ => &mut self.vetoed,
        };
        *counter = counter.saturating_add(count);
    }

    /// A notice was made.
    pub(super) fn told(&mut self, severity: Severity) {
        match severity {
            Severity::Info => {}
            Severity::Warning => self.warnings = self.warnings.saturating_add(1),
            Severity::Critical => self.criticals = self.criticals.saturating_add(1),
        }
    }

    /// In words.
    pub(super) fn words(&self) -> String {
        format!(
            "Requests: {} allowed, {} changed, {} refused. The guard placed stops {} times, closed everything {} times and \
             started {} times. Warnings: {}, critical: {}.",
            self.allowed,
            self.resized,
            self.vetoed,
            self.stops,
            self.closes,
            self.restarts,
            self.warnings,
            self.criticals
        )
    }
}
