//! The book of money of days that have ended, in words: pure, from the guard's own report.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::base::day::Day;
use crate::notify::words::{count, shown};

/// Tokens of fees that are named at most.
const MOST_TOKENS: usize = 8;

/// A report of the guard's, as far as it is told.
#[derive(Debug, Default, Deserialize)]
pub(in crate::notify) struct Report {
    total: Total,
    #[serde(default)]
    recorded_from: Option<String>,
    #[serde(default)]
    recorded_to: Option<String>,
    #[serde(default)]
    missing_events: u64,
    #[serde(default)]
    unreadable_lines: u64,
    #[serde(default)]
    changed_lines: u64,
    #[serde(default)]
    doubled_lines: u64,
    #[serde(default)]
    book_lacks: u64,
}

/// The figures of all of the days: null where nothing was recorded that could tell. Amounts stay the texts that they are.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Total {
    net: Option<String>,
    net_why: Option<String>,
    fees: Option<String>,
    fees_in: BTreeMap<String, Option<String>>,
    funding: Option<String>,
    volume: Option<String>,
    fills: Option<u64>,
    stops_fired: Option<u64>,
    halts: Option<u64>,
    vetoed: Option<u64>,
}

/// Days as they are told: UTC, whatever the local time of the summary.
pub(super) fn named(from: Day, to: Day) -> String {
    if from == to { format!("{to} (UTC)") } else { format!("{from} to {to} (UTC)") }
}

impl Report {
    /// What it says of these days. What was not recorded is no 0, and it is said why it was not.
    pub(super) fn words(&self, from: Day, to: Day) -> String {
        let total = &self.total;
        let number = |count: Option<u64>| count.map(|count| count.to_string());
        let usdc = |amount: &Option<String>| amount.as_deref().map(|amount| format!("{} USDC", shown(amount)));
        let figures = [
            ("net", usdc(&total.net)),
            ("fees", total.fees.as_deref().map(|fees| shown(fees) + &self.other_fees())),
            ("funding", total.funding.as_deref().map(shown)),
            ("volume", total.volume.as_deref().map(shown)),
            ("fills", number(total.fills)),
            ("stops fired", number(total.stops_fired)),
            ("halts", number(total.halts)),
            ("decisions vetoed", number(total.vetoed)),
        ];
        let told = figures.iter().filter_map(|(name, figure)| Some(format!("{name} {}", figure.as_ref()?)));
        let told: Vec<String> = told.collect();
        let lacking = figures.iter().filter(|(_, figure)| figure.is_none()).map(|(name, _)| *name);
        let lacking: Vec<&str> = lacking.collect();
        let mut parts = Vec::new();
        if !told.is_empty() {
            parts.push(format!("{}.", told.join(", ")));
        }
        if !lacking.is_empty() {
            parts.push(format!("Not recorded: {}, because {}.", lacking.join(", "), self.why_not(from)));
        }
        parts.extend(self.caveats(from));
        format!("{}: {}", named(from, to), parts.join(" "))
    }

    /// Fees that are part of no sum in USDC.
    fn other_fees(&self) -> String {
        let fees = self.total.fees_in.iter().filter_map(|(token, fee)| Some((shown(token), shown(fee.as_deref()?))));
        fees.take(MOST_TOKENS).map(|(token, fee)| format!(" and {fee} {token}")).collect()
    }

    /// Why something is not recorded: a book is kept by a guard that writes, and from some moment on.
    fn why_not(&self, from: Day) -> String {
        if let Some(why) = &self.total.net_why {
            return shown(why);
        }
        let wrote = self.total.vetoed.is_some();
        match (wrote, &self.recorded_from, &self.recorded_to) {
            (true, Some(begun), _) => format!("the book of money begins at {}", shown(begun)),
            (true, None, _) => "the guard kept no book of money then".to_owned(),
            (false, _, None) => "the journal holds nothing of before".to_owned(),
            (false, _, Some(ended)) if is_before(ended, from) => format!("the journal ends at {}", shown(ended)),
            (false, ..) => "the guard wrote nothing then, or the journal's files of that time are gone".to_owned(),
        }
    }

    /// What to bear in mind with the figures.
    fn caveats(&self, from: Day) -> Vec<String> {
        let mut caveats = Vec::new();
        let begun = self.recorded_from.as_deref().filter(|begun| self.total.fills.is_some() && !is_before(begun, from));
        caveats
            .extend(begun.map(|begun| format!("The book begins at {}: what was before is not in it.", shown(begun))));
        let missing = usize::try_from(self.missing_events.saturating_add(self.unreadable_lines)).unwrap_or(usize::MAX);
        if missing > 0 {
            caveats.push(format!("In the journal {} missing or unreadable, and not in these figures.", is(missing)));
        }
        if self.changed_lines > 0 || self.doubled_lines > 0 {
            caveats.push("Lines of the journal were changed or stand twice: do not rely on these figures.".to_owned());
        }
        if self.book_lacks > 0 {
            caveats.push("The guard told that rows may be missing in the book.".to_owned());
        }
        caveats
    }
}

fn is(events: usize) -> String {
    format!("{} {}", count(events, "event"), if events == 1 { "is" } else { "are" })
}

/// Whether a moment, as reports write them, is of a day before this one. What is no moment is of none.
fn is_before(moment: &str, day: Day) -> bool {
    moment.get(..10).and_then(|name| name.parse::<Day>().ok()).is_some_and(|of| of < day)
}
