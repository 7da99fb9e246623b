//! Alerts of the status: each begins and ends by itself, also where several have one code and one name.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::status::is_halted_by;
use super::{Watch, alert_words};
use crate::notify::notice::{Notice, Severity};
use crate::notify::words::{count, shown};
use crate::record::status::Status;

/// The alert that tells of the wallet's end in the last week: it is told from the status, a month before.
const WALLET_ALERT: &str = "api_wallet_expiring";
/// Alerts that are told one by one at most; those beyond are told together.
pub(in crate::notify) const MAX_ALERTS: usize = 128;
/// Codes whose first alert is told whatever else stands, more than the guard has.
const MOST_CODES: usize = 128;
/// Those beyond, of one weight.
const MORE: &str = "alerts_more";
/// Of those beyond, so many are named.
const MOST_NAMED: usize = 5;
/// Behind a rule's name: the alert that its limit is near.
const NEAR: &str = "_near";
/// Notices of the status that last and are no alerts of it.
const NO_ALERTS: [&str; 2] = ["weight_spent", MORE];

impl Watch {
    /// Takes in which alerts stand.
    pub(super) fn alerts(&mut self, status: &Status) {
        let mut by_name: BTreeMap<String, Vec<Notice>> = BTreeMap::new();
        for alert in status.alerts.iter().filter(|alert| alert.code != WALLET_ALERT) {
            let words = alert_words(&alert.code);
            let about = alert.about.as_deref().map(shown).unwrap_or_default();
            let notice = Notice::once("status", &shown(&alert.code), words.severity, words.title).about(&about);
            let (happened, todo) = (self.guard.typed(&shown(&alert.text)), self.guard.todo(words.todo));
            let notice = notice.words(happened, words.did, todo).at(alert.since_ms.unwrap_or(status.at_ms));
            by_name.entry(notice.topic()).or_default().push(notice);
        }
        let mut standing: BTreeMap<String, Notice> = BTreeMap::new();
        for alerts in by_name.into_values() {
            standing.extend(self.told_apart(alerts).into_iter().map(|notice| (notice.topic(), notice)));
        }
        let gone = self.open.iter().filter(|(topic, notice)| is_alert(notice) && !standing.contains_key(*topic));
        let gone: Vec<(String, String)> = gone.map(|(topic, notice)| (topic.clone(), notice.code.clone())).collect();
        for (topic, code) in gone {
            let near = code.strip_suffix(NEAR);
            self.end_as(&topic, status.at_ms, near.is_some_and(|rule| is_halted_by(&status.risk.state, rule)));
        }
        self.begin_alerts(standing, status.at_ms);
    }

    /// Tells of alerts that are new, as long as there is room, which the gravest get first: what stands already keeps its place, or each
    /// would be told anew for ever. The first of a code always has room: many of one thing must not hide another.
    fn begin_alerts(&mut self, standing: BTreeMap<String, Notice>, now_ms: u64) {
        let told = self.open.values().filter(|notice| is_alert(notice));
        let room = MAX_ALERTS.saturating_sub(told.clone().count());
        let mut codes: BTreeSet<String> = told.map(|notice| notice.code.clone()).collect();
        let mut new: Vec<Notice> = standing.into_values().filter(|notice| !self.lasts(&notice.topic())).collect();
        new.sort_by_key(|notice| Reverse(notice.severity));
        let is_first = |notice: &Notice| codes.len() < MOST_CODES && codes.insert(notice.code.clone());
        let (mut new, mut others): (Vec<_>, Vec<_>) = new.into_iter().partition(is_first);
        let beyond = others.split_off(room.saturating_sub(new.len()).min(others.len()));
        new.append(&mut others);
        new.sort_by_key(Notice::topic);
        new.into_iter().for_each(|notice| self.begin(notice));
        for severity in [Severity::Critical, Severity::Warning, Severity::Info] {
            let beyond: Vec<&Notice> = beyond.iter().filter(|notice| notice.severity == severity).collect();
            let more = self.more(&beyond, severity).at(now_ms);
            if beyond.is_empty() { self.end(&more.topic(), now_ms) } else { self.begin(more) }
        }
    }

    /// The alerts of one weight that are not told one by one.
    fn more(&self, beyond: &[&Notice], severity: Severity) -> Notice {
        let names: Vec<String> = beyond.iter().take(MOST_NAMED).map(|notice| notice.topic()).collect();
        let and_so_on = if beyond.len() > names.len() { " and others" } else { "" };
        let happened = format!(
            "{} more than the {MAX_ALERTS} that are told one by one: {}{and_so_on}.",
            count(beyond.len(), "alert"),
            names.join(", ")
        );
        let title = format!("And {}", count(beyond.len(), "more alert"));
        let todo = self.guard.todo("Look at the guard's page, where all of them stand.");
        let did = "It goes on with all of them alike. One that lasts is told by itself as soon as another is over.";
        Notice::once("status", MORE, severity, title).about(severity.name()).words(happened, did, todo)
    }

    /// Alerts of one name, each under the number by which it was told when it began; a new one has the first that is free.
    /// What an alert says may change while it stands: it is known again by its words, else by its time, else by its place.
    fn told_apart(&self, alerts: Vec<Notice>) -> Vec<Notice> {
        let Some(first) = alerts.first().cloned() else { return alerts };
        let told = self.open.values().filter(|told| told.kind == first.kind && told.code == first.code);
        let mut told: BTreeMap<usize, &Notice> =
            told.filter_map(|told| Some((number(&told.about, &first.about)?, told))).collect();
        let taken: BTreeSet<usize> = told.keys().copied().collect();
        let mut free = (1..).filter(|number| !taken.contains(number));
        let mut known: BTreeMap<usize, usize> = BTreeMap::new();
        let is_same: [fn(&Notice, &Notice) -> bool; 3] =
            [|told, alert| told.happened == alert.happened, |told, alert| told.at_ms == alert.at_ms, |_, _| true];
        for is_same in is_same {
            for (place, alert) in alerts.iter().enumerate() {
                let found = told.iter().find(|(_, told)| is_same(told, alert)).map(|(number, _)| *number);
                if let Some(number) = found.filter(|_| !known.contains_key(&place)) {
                    told.remove(&number);
                    known.insert(place, number);
                }
            }
        }
        let numbers = (0..alerts.len()).map(|place| known.get(&place).copied().or_else(|| free.next()).unwrap_or(1));
        let numbers: Vec<usize> = numbers.collect();
        alerts.into_iter().zip(numbers).map(|(alert, number)| alert.about(numbered(&first.about, number))).collect()
    }
}

fn is_alert(notice: &Notice) -> bool {
    notice.kind == "status" && !NO_ALERTS.contains(&notice.code.as_str())
}

/// The name of one of several that have the same one.
fn numbered(about: &str, number: usize) -> String {
    if number == 1 { about.to_owned() } else { format!("{about} ({number})").trim().to_owned() }
}

/// Which of several by the name `about` goes by this one.
fn number(name: &str, about: &str) -> Option<usize> {
    if name == about {
        return Some(1);
    }
    let number = name.strip_prefix(about)?.trim_start().strip_prefix('(')?.strip_suffix(')')?;
    number.parse().ok().filter(|number| *number > 1)
}
