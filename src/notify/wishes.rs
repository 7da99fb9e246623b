//! The wishes of a target: which notices, and how often. Pure. The notices it has had are the desk's.

use std::collections::BTreeMap;

use super::config::Target;
use super::hours::{Clock, Hours, span_ms};
use super::notice::{Notice, Severity};

/// How long what is not critical is not told again, where the target does not say.
const COOLDOWN_MS: u64 = 300_000;
/// How often what lasts is told again, where the target does not say.
const REPEAT_MS: [(&str, u64); 7] = [
    ("kill", 3_600_000),
    ("halted_for_day", 3_600_000),
    ("stopped", 3_600_000),
    ("uncovered", 300_000),
    ("not_flat", 300_000),
    ("unreachable", 600_000),
    ("unwell", 1_800_000),
];

/// A key of a target that may keep it from hearing of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    /// What it leaves out.
    Without,
    /// The kinds of what it hears of.
    Kinds,
    /// The codes of it.
    Codes,
    /// The least that it hears of.
    Least,
}

/// A target's wishes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wishes {
    least: Severity,
    kinds: Vec<String>,
    codes: Vec<String>,
    without: Vec<String>,
    quiet: Option<Hours>,
    cooldown: BTreeMap<String, u64>,
    repeat: BTreeMap<String, u64>,
}

impl Wishes {
    pub(super) fn of(target: &Target) -> Self {
        let spans = |table: &BTreeMap<String, String>| {
            table.iter().filter_map(|(code, text)| Some((code.clone(), span_ms(text)?))).collect()
        };
        Self {
            least: target.least,
            kinds: target.kinds.clone(),
            codes: target.codes.clone(),
            without: target.without.clone(),
            quiet: target.quiet.as_deref().and_then(Hours::parse),
            cooldown: spans(&target.cooldown),
            repeat: spans(&target.repeat),
        }
    }

    /// Whether the target wants to hear of it. Refused requests are many: only who names their kind hears of them.
    pub(super) fn want(&self, notice: &Notice) -> bool {
        self.want_of(&notice.kind, &notice.code, notice.severity)
    }

    /// The same of what is told by these names.
    pub(super) fn want_of(&self, kind: &str, code: &str, severity: Severity) -> bool {
        self.kept_by(kind, code, severity).next().is_none()
    }

    /// Which of its keys keep it from hearing of what is told by these names.
    pub(super) fn kept_by(&self, kind: &str, code: &str, severity: Severity) -> impl Iterator<Item = Key> {
        let names = |list: &[String], name: &str| list.iter().any(|listed| listed == name);
        let is_kind = if self.kinds.is_empty() { kind != "decision" } else { names(&self.kinds, kind) };
        let is_code = self.codes.is_empty() || names(&self.codes, code);
        let keys = [
            (Key::Without, names(&self.without, code)),
            (Key::Kinds, !is_kind),
            (Key::Codes, !is_code),
            (Key::Least, severity < self.least),
        ];
        keys.into_iter().filter(|(_, keeps)| *keeps).map(|(key, _)| key)
    }

    /// Whether what is not critical waits now.
    pub(super) fn is_quiet(&self, clock: Clock, now_ms: u64) -> bool {
        self.quiet.is_some_and(|hours| hours.holds(clock, now_ms))
    }

    /// How long the topic of a notice is not told again.
    pub(super) fn cooldown_ms(&self, notice: &Notice) -> u64 {
        let said = self.cooldown.get(&notice.code).or_else(|| self.cooldown.get("default"));
        match said {
            Some(span) => *span,
            None if notice.is_urgent() || notice.kind == "summary" => 0,
            None => COOLDOWN_MS,
        }
    }

    /// How often what lasts is told again.
    pub(super) fn repeat_ms(&self, code: &str) -> Option<u64> {
        let said = self.repeat.get(code).copied();
        let span = said.or_else(|| REPEAT_MS.iter().find(|(known, _)| *known == code).map(|(_, span)| *span));
        span.filter(|span| *span > 0)
    }
}
