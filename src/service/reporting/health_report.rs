//! Reports to the log and the service manager what keeps the service from being healthy, and when it is healthy again; and to
//! the log what a person should look at all the same.

use super::level::Level;
use super::log;
use super::notify::Notify;
use super::warning_report::WarningReport;
use crate::record::status::Alert;

/// A start has this long before the first report.
const FIRST_MS: u64 = 3_000;
/// How often a change is looked for, and how often the same is reported again.
const CHECK_MS: u64 = 10_000;
const AGAIN_MS: u64 = 60_000;

/// The last report, and when it was made.
#[derive(Default)]
pub(in crate::service) struct HealthReport {
    reported: Vec<String>,
    reported_ms: u64,
    check_ms: Option<u64>,
    warnings: WarningReport,
    notify: Notify,
}

impl HealthReport {
    /// Nothing reported yet.
    pub(in crate::service) fn new(notify: Notify) -> Self {
        Self { notify, ..Self::default() }
    }

    /// Checks and reports when that is due.
    pub(in crate::service) fn report_if_due(&mut self, now_ms: u64, found: impl FnOnce() -> (Vec<String>, Vec<Alert>)) {
        match self.check_ms {
            None => self.check_ms = Some(now_ms.saturating_add(FIRST_MS)),
            Some(check_ms) if check_ms <= now_ms => {
                self.check_ms = Some(now_ms.saturating_add(CHECK_MS));
                let (problems, warnings) = found();
                if let Some((level, line)) = self.change(now_ms, problems) {
                    self.notify.status(&line);
                    log::line(level, line);
                }
                for (level, line) in self.warnings.lines(now_ms, &warnings) {
                    log::line(level, line);
                }
            }
            Some(_) => {}
        }
    }

    fn change(&mut self, now_ms: u64, problems: Vec<String>) -> Option<(Level, String)> {
        if problems == self.reported && (problems.is_empty() || now_ms < self.reported_ms.saturating_add(AGAIN_MS)) {
            return None;
        }
        self.reported_ms = now_ms;
        self.reported = problems;
        Some(match self.reported.as_slice() {
            [] => (Level::Info, "all is well again".to_owned()),
            problems => (Level::Warning, format!("waiting: {}", problems.join("; "))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_reported_once_a_minute_and_so_is_its_end() {
        let mut report = HealthReport::default();
        let away = || vec!["the venue is away".to_owned()];
        assert_eq!(report.change(0, Vec::new()), None);
        assert_eq!(report.change(1, away()), Some((Level::Warning, "waiting: the venue is away".to_owned())));
        assert_eq!(report.change(60_000, away()), None);
        assert!(report.change(60_001, away()).is_some());
        assert_eq!(report.change(60_002, Vec::new()), Some((Level::Info, "all is well again".to_owned())));
        assert_eq!(report.change(999_999, Vec::new()), None);
    }
}
