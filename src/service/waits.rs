//! Tells the log and the service manager what a service that is not well waits for, and when it is well again.

use super::log::{self, Level};
use super::notify::Notify;

/// A start has this long before a word is said.
const FIRST_MS: u64 = 3_000;
/// How often a change is looked for, and how often the same is said again.
const LOOK_MS: u64 = 10_000;
const AGAIN_MS: u64 = 60_000;

/// What was said last, and when.
#[derive(Default)]
pub(super) struct Waits {
    said: Vec<String>,
    said_ms: u64,
    look_ms: Option<u64>,
    notify: Notify,
}

impl Waits {
    /// Nothing was said yet.
    pub(super) fn new(notify: Notify) -> Self {
        Self { notify, ..Self::default() }
    }

    /// Has a look when one is due.
    pub(super) fn look(&mut self, now_ms: u64, problems: impl FnOnce() -> Vec<String>) {
        match self.look_ms {
            None => self.look_ms = Some(now_ms.saturating_add(FIRST_MS)),
            Some(look_ms) if look_ms <= now_ms => {
                self.look_ms = Some(now_ms.saturating_add(LOOK_MS));
                if let Some((level, line)) = self.news(now_ms, problems()) {
                    self.notify.status(&line);
                    log::line(level, line);
                }
            }
            Some(_) => {}
        }
    }

    fn news(&mut self, now_ms: u64, problems: Vec<String>) -> Option<(Level, String)> {
        if problems == self.said && (problems.is_empty() || now_ms < self.said_ms.saturating_add(AGAIN_MS)) {
            return None;
        }
        self.said_ms = now_ms;
        self.said = problems;
        Some(match self.said.as_slice() {
            [] => (Level::Info, "all is well again".to_owned()),
            problems => (Level::Warning, format!("waiting: {}", problems.join("; "))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_told_once_a_minute_and_so_is_its_end() {
        let mut waits = Waits::default();
        let away = || vec!["the venue is away".to_owned()];
        assert_eq!(waits.news(0, Vec::new()), None);
        assert_eq!(waits.news(1, away()), Some((Level::Warning, "waiting: the venue is away".to_owned())));
        assert_eq!(waits.news(60_000, away()), None);
        assert!(waits.news(60_001, away()).is_some());
        assert_eq!(waits.news(60_002, Vec::new()), Some((Level::Info, "all is well again".to_owned())));
        assert_eq!(waits.news(999_999, Vec::new()), None);
    }
}
