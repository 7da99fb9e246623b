//! How the service speaks of itself: the log, the events that clients poll, the service manager, the health report.
//!
//! Nothing here decides anything, and nobody waits for a reader.

mod event_log_format;
pub(super) mod health_report;
pub(super) mod level;
pub(super) mod log;
pub(super) mod notify;
pub(super) mod recent_events;
mod warning_report;
