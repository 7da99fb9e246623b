//! Targets and names that could never be told anything: keys that let nothing through, names that another key of the target keeps back, and a
//! summary that no target hears.

use std::collections::BTreeMap;

use crate::notify::config::{Config, Target};
use crate::notify::notice::Severity;
use crate::notify::wishes::{Key, Wishes};
use crate::notify::{alert_codes, alert_words};
use Severity::{Critical, Info, Warning};

/// The codes of what is told, beside those of alerts and of refused requests: each with its kind and the most that it matters.
pub(super) const TOLD: &[(&str, &str, Severity)] = &[
    ("alerts_more", "status", Critical),
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

/// Every code of what may be told.
pub(super) fn codes<'a>(refusals: &[&'a str]) -> impl Iterator<Item = &'a str> {
    all(refusals).map(|told| told.code)
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

/// The part of the file itself in which nothing has to change for something to be told.
fn is_asked_for(config: &Config, told: Told<'_>) -> bool {
    told.kind != "summary" || config.summary.is_some()
}

/// Why a target is never told anything, and the fewest changes after which it is; its names are known ones.
pub(super) fn deaf(config: &Config, target: &Target, refusals: &[&str]) -> Option<String> {
    let wishes = Wishes::of(target);
    let mut ways: BTreeMap<Changes, Told<'_>> = BTreeMap::new();
    for told in all(refusals) {
        let keys = wishes.kept_by(told.kind, told.code, told.severity).collect();
        ways.entry((is_asked_for(config, told), keys)).or_insert(told);
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

/// The names in a target's codes and kinds that it is never told by, each with why and what to change. A code that it leaves out as
/// well is none: that was said by name.
pub(super) fn in_vain(config: &Config, target: &Target, refusals: &[&str]) -> Vec<String> {
    let wishes = Wishes::of(target);
    let mut problems = Vec::new();
    let known: Vec<Told<'_>> = all(refusals).collect();
    for told in target.codes.iter().filter_map(|code| known.iter().find(|told| told.code == code)) {
        let keys: Vec<Key> = wishes.kept_by(told.kind, told.code, told.severity).collect();
        let asked = is_asked_for(config, *told);
        if !keys.contains(&Key::Without) && (!asked || !keys.is_empty()) {
            let way = words(&(asked, keys), *told);
            problems.push(format!("codes: {:?} could never be told: {way}, or take it out of codes", told.code));
        }
    }
    for kind in &target.kinds {
        let of_kind = known.iter().filter(|told| told.kind == kind);
        let Some(most) = of_kind.max_by_key(|told| told.severity) else { continue };
        let (asked, is_kept) = (is_asked_for(config, *most), most.severity < target.least);
        if !asked || is_kept {
            let way = words(&(asked, is_kept.then_some(Key::Least).into_iter().collect()), *most);
            problems.push(format!("kinds: {kind:?} could never be told: {way}, or take it out of kinds"));
        }
    }
    problems
}

/// Why a summary that the file asks for is told to nobody, and what to change in each target for it.
pub(super) fn unheard_summary(config: &Config, refusals: &[&str]) -> Option<String> {
    let summary = all(refusals).find(|told| told.kind == "summary").filter(|_| config.summary.is_some())?;
    let ways = config.target.iter().map(|target| {
        let keys: Vec<Key> = Wishes::of(target).kept_by(summary.kind, summary.code, summary.severity).collect();
        (!keys.is_empty()).then(|| format!("in target {:?} {}", target.name, words(&(true, keys), summary)))
    });
    let ways: Vec<String> = ways.collect::<Option<_>>()?;
    (!ways.is_empty())
        .then(|| format!("summary is set, and no target is told it: {}, or take summary out", ways.join(", or ")))
}
