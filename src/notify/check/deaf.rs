//! Targets that could never be told anything: what they name and what they leave out let nothing through.

use crate::notify::config::{Config, Target};
use crate::notify::desk::Wishes;
use crate::notify::notice::Severity;
use crate::notify::{alert_codes, alert_words};
use Severity::{Critical, Info, Warning};

/// The codes of what is told, beside those of alerts and of refused requests: each with its kind and the most that it matters.
pub(super) const TOLD: &[(&str, &str, Severity)] = &[
    ("close_refused", "sent", Warning),
    ("error", "error", Warning),
    ("flat", "status", Critical),
    ("flat_unconfirmed", "status", Critical),
    ("flatten", "flatten", Critical),
    ("flatten_again", "flatten", Warning),
    ("guard_changed", "status", Warning),
    ("halted_for_day", "risk", Critical),
    ("journal_changed", "notifier", Warning),
    ("kill", "kill", Critical),
    ("left_out", "notifier", Warning),
    ("limit_near", "status", Info),
    ("missed", "notifier", Warning),
    ("restarted", "started", Warning),
    ("service_stopped", "stopped", Warning),
    ("started", "started", Info),
    ("state_not_kept", "notifier", Warning),
    ("state_unread", "notifier", Warning),
    ("stop_not_possible", "protect", Warning),
    ("stop_placed", "protect", Info),
    ("stop_refused", "sent", Warning),
    ("stopped", "risk", Critical),
    ("summary", "summary", Info),
    ("unreachable", "health", Critical),
    ("unwell", "health", Critical),
    ("wallet_ending", "status", Critical),
    ("weight_spent", "status", Warning),
];

/// What may be told under one code.
#[derive(Clone, Copy)]
struct Told<'a> {
    code: &'a str,
    kind: &'static str,
    severity: Severity,
}

/// Everything that may be told by a config like this one.
fn all<'a>(config: &Config, refusals: &[&'a str]) -> Vec<Told<'a>> {
    let own = TOLD.iter().map(|(code, kind, severity)| Told { code, kind, severity: *severity });
    let alerts = alert_codes().map(|code| Told { code, kind: "status", severity: alert_words(code).severity });
    let refused = refusals.iter().map(|code| Told { code, kind: "decision", severity: Info });
    let has_summary = config.summary.is_some();
    own.chain(alerts).chain(refused).filter(|told| has_summary || told.kind != "summary").collect()
}

/// Why a target is never told anything, and the keys that would change it; its names are known ones.
pub(super) fn deaf(config: &Config, target: &Target, refusals: &[&str]) -> Option<String> {
    let all = all(config, refusals);
    let heard = |target: &Target| {
        let wishes = Wishes::of(target);
        all.iter().find(|told| wishes.want_of(told.kind, told.code, told.severity)).copied()
    };
    if heard(target).is_some() {
        return None;
    }
    let keys = [
        ("least", target.least > Info),
        ("kinds", !target.kinds.is_empty()),
        ("codes", !target.codes.is_empty()),
        ("without", !target.without.is_empty()),
    ];
    let keys: Vec<&str> = keys.into_iter().filter(|(_, is_given)| *is_given).map(|(key, _)| key).collect();
    let mut ways = Vec::new();
    if let Some(told) = heard(&Target { without: Vec::new(), ..target.clone() }) {
        ways.push(format!("take {:?} out of without", told.code));
    }
    let kinds = all.iter().map(|told| told.kind.to_owned()).collect();
    if let Some(told) = heard(&Target { kinds, ..target.clone() }) {
        ways.push(format!("name the kind {:?} in kinds", told.kind));
    }
    if let Some(told) = heard(&Target { codes: Vec::new(), ..target.clone() }) {
        ways.push(format!("name a code such as {:?} in codes, or leave codes out", told.code));
    }
    if let Some(told) = heard(&Target { least: Info, ..target.clone() }) {
        ways.push(format!("set least to {:?}", told.severity.name()));
    }
    if config.summary.is_none() && names_summary(target) {
        ways.push("set summary = \"07:00\" at the top of the file".to_owned());
    }
    let ways = if ways.is_empty() { "leave some of them out".to_owned() } else { ways.join(", or ") };
    Some(format!("it could never be told anything, for its {} let nothing through: {ways}", keys.join(" and ")))
}

fn names_summary(target: &Target) -> bool {
    target.kinds.iter().chain(&target.codes).any(|name| name == "summary")
}
