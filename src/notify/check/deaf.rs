//! Targets that could never be told anything: what they name and what they leave out let nothing through.

use std::collections::BTreeMap;

use crate::notify::config::{Config, Target};
use crate::notify::notice::Severity;
use crate::notify::wishes::{Key, Wishes};
use crate::notify::{alert_codes, alert_words};
use Severity::{Critical, Info, Warning};

/// The codes of what is told, beside those of alerts and of refused requests: each with its kind and the most that it matters.
pub(super) const TOLD: &[(&str, &str, Severity)] = &[
    ("close_refused", "sent", Warning),
    ("error", "error", Warning),
    ("flat", "status", Critical),
    ("flat_ended", "status", Critical),
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

/// Everything that may be told.
fn all<'a>(refusals: &[&'a str]) -> impl Iterator<Item = Told<'a>> {
    let own = TOLD.iter().map(|(code, kind, severity)| Told { code, kind, severity: *severity });
    let alerts = alert_codes().map(|code| Told { code, kind: "status", severity: alert_words(code).severity });
    let refused = refusals.iter().map(|code| Told { code, kind: "decision", severity: Info });
    own.chain(alerts).chain(refused)
}

/// The kind under which a code is told, of one that is.
pub(super) fn kind_of(code: &str, refusals: &[&str]) -> Option<&'static str> {
    all(refusals).find(|told| told.code == code).map(|told| told.kind)
}

/// What has to change for a target to be told of something: whether nothing of the file itself, which must ask for the summary where
/// it is that, and which keys of the target.
type Changes = (bool, Vec<Key>);

/// These changes in words.
fn words((has_summary, keys): &Changes, told: Told<'_>) -> String {
    let is_alone = *has_summary && keys.len() == 1;
    let summary = (!has_summary).then(|| "set summary = \"07:00\" at the top of the file".to_owned());
    let keys = keys.iter().map(|key| match key {
        Key::Without => format!("take {:?} out of without", told.code),
        Key::Kinds => format!("name the kind {:?} in kinds", told.kind),
        Key::Codes if is_alone => format!("name a code such as {:?} in codes, or leave codes out", told.code),
        Key::Codes => format!("name a code such as {:?} in codes", told.code),
        Key::Least => format!("set least to {:?}", told.severity.name()),
    });
    summary.into_iter().chain(keys).collect::<Vec<_>>().join(" and ")
}

/// Why a target is never told anything, and the fewest changes after which it is; its names are known ones.
pub(super) fn deaf(config: &Config, target: &Target, refusals: &[&str]) -> Option<String> {
    let wishes = Wishes::of(target);
    let mut ways: BTreeMap<Changes, Told<'_>> = BTreeMap::new();
    for told in all(refusals) {
        let keys = wishes.kept_by(told.kind, told.code, told.severity).collect();
        ways.entry((told.kind != "summary" || config.summary.is_some(), keys)).or_insert(told);
    }
    let count = |(has_summary, keys): &Changes| keys.len().saturating_add(usize::from(!has_summary));
    let fewest = ways.keys().map(count).min().filter(|fewest| *fewest > 0)?;
    let given = [
        ("least", target.least > Info),
        ("kinds", !target.kinds.is_empty()),
        ("codes", !target.codes.is_empty()),
        ("without", !target.without.is_empty()),
    ];
    let given: Vec<&str> = given.into_iter().filter(|(_, is_given)| *is_given).map(|(key, _)| key).collect();
    let ways = ways.iter().filter(|(changes, _)| count(changes) == fewest);
    let ways: Vec<String> = ways.map(|(changes, told)| words(changes, *told)).collect();
    let (given, ways) = (given.join(" and "), ways.join(", or "));
    Some(format!("it could never be told anything, for its {given} let nothing through: {ways}"))
}
