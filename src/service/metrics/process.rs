//! The process: what runs here, since when, and what it takes of the machine.

use std::fs;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use rust_decimal::Decimal;

use super::counts::Metrics;
use super::text::{Kind, Page, seconds_of_ms};
use Kind::{Counter, Gauge};

impl Metrics {
    /// Puts it on the page; whether the decision loop answered.
    pub(super) fn process(&self, page: &mut Page, is_up: bool) {
        let help = "What runs here, for which account and venue; always 1.";
        let labels = [
            ("version", env!("CARGO_PKG_VERSION")),
            ("mode", self.mode),
            ("account", self.account.as_str()),
            ("venue", self.venue.as_str()),
        ];
        page.family("svc_guard_build_info", Gauge, help).sample(&labels, 1);
        let started = Some(seconds_of_ms(self.started_ms));
        page.single("process_start_time_seconds", Gauge, "When the service started, seconds since 1970.", started);
        page.single("process_resident_memory_bytes", Gauge, "Resident memory.", resident_bytes());
        page.single("process_cpu_seconds_total", Counter, "Time of a processor spent, user and system.", cpu_seconds());
        page.single("process_open_fds", Gauge, "Open file descriptors.", open_fds());
        let help = "Whether the decision loop answered this scrape; without it what it knows has no samples.";
        page.single("svc_guard_decision_loop_up", Gauge, help, Some(u8::from(is_up)));
    }
}

/// `None` where the system does not say, here and below.
fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = resident.trim().strip_suffix(" kB")?.parse().ok()?;
    kib.checked_mul(1024)
}

fn cpu_seconds() -> Option<Decimal> {
    let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
    let micros = usage.user_time().num_microseconds().checked_add(usage.system_time().num_microseconds())?;
    Some(Decimal::new(micros, 6).normalize())
}

/// Without the one that looks.
fn open_fds() -> Option<usize> {
    fs::read_dir("/proc/self/fd").ok()?.count().checked_sub(1)
}
