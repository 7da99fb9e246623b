//! Why a read brought nothing, and which reads have brought nothing for how long. One that the guard's own share of the venue's
//! budget put off was never asked: it waits, and that is no failure unless it lasts.

use std::collections::BTreeMap;

use crate::venue::weight::Denied;

/// A read may be put off for so long before a person hears of it: the minute's weight is free again after one.
const PATIENCE_MS: u64 = 120_000;

/// Why a read brought nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ReadError {
    /// There is no room for the question yet.
    #[error("{0}")]
    PutOff(Denied),
    /// It was asked in vain, or can never be asked.
    #[error("{0}")]
    Failed(String),
}

impl From<String> for ReadError {
    fn from(text: String) -> Self {
        Self::Failed(text)
    }
}

impl From<Denied> for ReadError {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Wait { .. } => Self::PutOff(denied),
            Denied::TooHeavy { .. } => Self::Failed(denied.to_string()),
        }
    }
}

/// What a person should hear of a read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum News {
    /// It brings nothing.
    Trouble(String),
    /// It works again, after that was told.
    Works,
}

/// Reads that brought nothing at their last try.
#[derive(Debug, Default)]
pub(super) struct Failing(BTreeMap<&'static str, Since>);

#[derive(Debug)]
struct Since {
    at_ms: u64,
    /// The last try was in vain, and not only put off.
    is_failed: bool,
    is_told: bool,
}

impl Failing {
    /// Takes in how a read went: what there is to tell of it, once for as long as it lasts.
    pub(super) fn note(&mut self, name: &'static str, problem: Option<&ReadError>, now_ms: u64) -> Option<News> {
        let Some(problem) = problem else {
            return self.0.remove(name).filter(|since| since.is_told).map(|_| News::Works);
        };
        let since = self.0.entry(name).or_insert(Since { at_ms: now_ms, is_failed: false, is_told: false });
        since.is_failed = matches!(problem, ReadError::Failed(_));
        let waited_ms = now_ms.saturating_sub(since.at_ms);
        if since.is_told || !since.is_failed && waited_ms < PATIENCE_MS {
            return None;
        }
        since.is_told = true;
        Some(News::Trouble(match problem {
            ReadError::Failed(text) => format!("reading the {name} fails: {text}"),
            ReadError::PutOff(denied) => {
                format!("reading the {name} has waited for {} minutes: {denied}", waited_ms / 60_000)
            }
        }))
    }

    /// Whether the last read of this was asked in vain.
    pub(super) fn is_failing(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|since| since.is_failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put_off() -> ReadError {
        Denied::Wait { ms: 43_000 }.into()
    }

    fn failed() -> ReadError {
        "HTTP 502".to_owned().into()
    }

    fn trouble(news: Option<News>) -> String {
        match news {
            Some(News::Trouble(text)) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_the_own_budget_puts_off_is_told_when_it_lasts_and_as_waiting() {
        let mut failing = Failing::default();
        for now_ms in [0, 10_000, 119_999] {
            assert_eq!(failing.note("fills", Some(&put_off()), now_ms), None, "{now_ms}");
            assert!(!failing.is_failing("fills"));
        }
        let told = trouble(failing.note("fills", Some(&put_off()), 120_000));
        assert!(told.starts_with("reading the fills has waited for 2 minutes: the venue's budget"), "{told}");
        assert_eq!(failing.note("fills", Some(&put_off()), 130_000), None, "once");
        assert_eq!(failing.note("fills", None, 140_000), Some(News::Works));
        // Each wait counts by itself, and one that was not told of has no end to tell.
        assert_eq!(failing.note("fills", Some(&put_off()), 150_000), None);
        assert_eq!(failing.note("fills", None, 160_000), None);
    }

    #[test]
    fn what_is_asked_in_vain_is_told_at_once_and_once() {
        let mut failing = Failing::default();
        assert_eq!(failing.note("role", Some(&put_off()), 0), None);
        assert_eq!(trouble(failing.note("role", Some(&failed()), 1)), "reading the role fails: HTTP 502");
        assert!(failing.is_failing("role"));
        assert_eq!(failing.note("role", Some(&failed()), 2), None);
        assert_eq!(failing.note("role", Some(&put_off()), 200_000), None, "told already");
        assert!(!failing.is_failing("role"));
        assert_eq!(failing.note("role", None, 200_001), Some(News::Works));
        // What can never be asked waits for nothing.
        let heavy = ReadError::from(Denied::TooHeavy { weight: 40, most: 20 });
        let told = trouble(failing.note("ledger", Some(&heavy), 3));
        assert!(told.starts_with("reading the ledger fails: weight 40"), "{told}");
    }
}
