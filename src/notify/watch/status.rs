//! The status: alerts, limits nearly used, the wallet's end, and what no event has told yet.

use std::collections::BTreeMap;

use rust_decimal::{Decimal, dec};

use super::commands::Guard;
use super::{Watch, alert_words};
use crate::notify::notice::{Notice, Severity};
use crate::notify::words::{count, shown, time};
use crate::record::status::{Headroom, Status, VenueStatus};

/// Days before the end of the wallet's approval at which it is told.
const WALLET_DAYS: [u64; 4] = [1, 3, 7, 30];
const DAY_MS: u64 = 86_400_000;
/// A limit is nearly used from this part of it on, and no longer below that one.
const NEAR: (Decimal, Decimal) = (dec!(0.9), dec!(0.8));
/// The alert that tells of the wallet's end in the last week: it is told from the status, a month before.
const WALLET_ALERT: &str = "api_wallet_expiring";

impl Watch {
    /// Takes a status in, after the events that came with it.
    pub(in crate::notify) fn status(&mut self, status: &Status) {
        let now_ms = status.at_ms;
        self.same_guard(status);
        match &status.killed {
            Some(reason) if !self.lasts("kill") => self.killed(reason, now_ms),
            Some(_) => {}
            None => self.end("kill", now_ms),
        }
        self.risk_state(&status.risk.state, status.risk.details.as_ref(), now_ms);
        self.alerts(status);
        self.confirm_flat(status);
        self.wallet(status);
        status.headroom.iter().filter(|row| row.unit != "times").for_each(|row| self.limit(row, now_ms));
        self.weight(&status.venue, now_ms);
    }

    fn same_guard(&mut self, status: &Status) {
        let guard = Guard {
            account: status.account.to_string(),
            mode: status.mode.to_string(),
            kill_file: shown(&status.kill_file),
        };
        let is_other =
            !self.guard.account.is_empty() && (&self.guard.account, &self.guard.mode) != (&guard.account, &guard.mode);
        if is_other {
            let happened = format!("It was {}, and now {} answers there.", self.guard.name(), guard.name());
            let notice = Notice::once("status", "guard_changed", Severity::Warning, "Another guard answers");
            let todo = "Nothing, if you set it up anew. Otherwise look at what listens there.";
            self.tell(notice.words(happened, "The notifier goes on with this one.", todo).at(status.at_ms));
        }
        self.guard = guard;
    }

    fn alerts(&mut self, status: &Status) {
        let mut standing: BTreeMap<String, Notice> = BTreeMap::new();
        for alert in status.alerts.iter().filter(|alert| alert.code != WALLET_ALERT) {
            let words = alert_words(&alert.code);
            let coin = status.positions.iter().map(|position| &position.coin);
            let about = coin.into_iter().find(|coin| alert.text.contains(&format!(" in {coin} ")));
            let notice = Notice::once("status", &shown(&alert.code), words.severity, words.title);
            let notice =
                notice.words(shown(&alert.text), words.did, words.todo).about(about.cloned().unwrap_or_default());
            standing.entry(notice.topic()).or_insert(notice.at(alert.since_ms.unwrap_or(status.at_ms)));
        }
        let is_alert = |notice: &Notice| notice.kind == "status" && notice.code != "weight_spent";
        let gone = self.open.iter().filter(|(topic, notice)| is_alert(notice) && !standing.contains_key(*topic));
        let gone: Vec<String> = gone.map(|(topic, _)| topic.clone()).collect();
        gone.iter().for_each(|topic| self.end(topic, status.at_ms));
        standing.into_values().for_each(|notice| self.begin(notice));
    }

    fn wallet(&mut self, status: &Status) {
        let Some(until_ms) = status.api_wallet_valid_until else { return };
        let left_ms = until_ms.saturating_sub(status.at_ms);
        let Some(days) = WALLET_DAYS.into_iter().find(|days| left_ms <= days * DAY_MS) else { return };
        if self.wallet.is_some_and(|(told_ms, told)| told_ms == until_ms && told <= days) {
            return;
        }
        self.wallet = Some((until_ms, days));
        let severity = match days {
            30 => Severity::Info,
            1 => Severity::Critical,
            _ => Severity::Warning,
        };
        let left = count(usize::try_from(left_ms.div_ceil(DAY_MS)).unwrap_or(0), "day");
        let happened = format!("The venue takes its signature until {}: {left} from now at most.", time(until_ms));
        let did = "Until then nothing changes. After it nothing can be sent: no stop, no close, no exit.";
        let todo = format!(
            "Approve a new API wallet at the venue, install its key ({}), and restart the service.",
            self.guard.command("key check --key-stdin")
        );
        let notice = Notice::once("status", "wallet_ending", severity, "API wallet's approval ends soon");
        self.tell(notice.words(happened, did, todo).at(status.at_ms));
    }

    /// One rule's limit. What is used comes and goes, so its end is not told.
    fn limit(&mut self, row: &Headroom, now_ms: u64) {
        let (Some(used), Some(limit)) = (row.used, row.limit) else { return };
        let over = |part: Decimal| limit > Decimal::ZERO && used >= limit.saturating_mul(part);
        if !over(NEAR.1) {
            self.near.remove(row.rule.as_ref());
        }
        if !over(NEAR.0) || !self.near.insert(row.rule.to_string()) {
            return;
        }
        let coin = row.coin.as_ref().map_or_else(String::new, |coin| format!(" in {}", shown(coin)));
        let unit = if row.unit == "usdc" { "USDC" } else { "orders" };
        let happened = format!("{}{coin}: {used} of {limit} {unit} are used.", shown(&row.rule));
        let notice = Notice::once("status", "limit_near", Severity::Info, "A limit is nearly used");
        let did = "Beyond it entries are cut or refused; exits pass.";
        self.tell(notice.words(happened, did, "Nothing, if the bot means it.").about(row.rule.as_ref()).at(now_ms));
    }

    fn weight(&mut self, venue: &VenueStatus, now_ms: u64) {
        let (used, most) = (Decimal::from(venue.weight_used), Decimal::from(venue.weight_per_minute));
        if most.is_zero() || used < most.saturating_mul(NEAR.1) {
            self.end("weight_spent", now_ms);
        } else if used >= most.saturating_mul(dec!(0.95)) {
            let happened = format!("{used} of {most} of the minute's request budget at the venue are used.");
            let notice =
                Notice::once("status", "weight_spent", Severity::Warning, "Request budget of the minute is spent");
            let did = "The guard's own reads, stops and closes keep a part to themselves; the bot's requests wait.";
            let todo = "Slow the bot down. Where other programs of this machine use the venue, set ip_share.";
            self.begin(notice.words(happened, did, todo).at(now_ms));
        }
    }
}
