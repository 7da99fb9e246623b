//! The status: limits nearly used, the wallet's end, and what no event has told yet.

use std::collections::BTreeMap;

use rust_decimal::{Decimal, dec};

use super::Watch;
use super::alert_words::DECIDE;
use super::commands::Guard;
use crate::base::amount::cents;
use crate::base::moment::utc;
use crate::notify::notice::{Notice, Severity};
use crate::notify::words::{count, shown};
use crate::record::status::{Headroom, Status, VenueStatus};

/// Days before the end of the wallet's approval at which it is told, beside the end itself.
const WALLET_DAYS: [u64; 4] = [1, 3, 7, 30];
const DAY_MS: u64 = 86_400_000;
/// A limit is nearly used from this part of it on, and no longer below that one.
const NEAR: (Decimal, Decimal) = (dec!(0.9), dec!(0.8));
/// Whether it is of the notifier's own seeing, and no word of one guard's.
fn is_own(notice: &Notice) -> bool {
    ["notifier", "health"].contains(&notice.kind.as_str())
}

/// What the guard does beyond a limit of losses.
fn beyond_loss(sends: bool, until: &str) -> String {
    let closes = if sends { "Beyond it everything is closed" } else { "Beyond it nothing is closed (paper mode)" };
    format!("{closes}, and entries are refused {until}.")
}

impl Watch {
    /// Takes a status in, after the events that came with it. One that was made before the last of them that changed the kill
    /// switch or the risk state would end what that has just begun; the next one comes in a moment.
    pub(in crate::notify) fn status(&mut self, status: &Status) {
        let now_ms = status.at_ms;
        self.is_another(status);
        if self.is_of_before(status) {
            return;
        }
        let last = status.last_event.as_ref();
        let last = last.and_then(|event| Some((event.get("seq")?.as_u64()?, event.get("at_ms")?.as_u64()?)));
        self.mark = self.mark.or_else(|| last.filter(|(seq, _)| self.cursor == Some(*seq)));
        match &status.killed {
            Some(reason) if !self.lasts("kill") => self.killed(reason, now_ms),
            Some(_) => {}
            None => self.end("kill", now_ms),
        }
        self.risk_state(&status.risk.state, status.risk.details.as_ref(), now_ms);
        self.alerts(status);
        self.closing(status);
        self.wallet(status);
        let rows =
            status.headroom.iter().filter(|row| row.unit != "times" && !is_halted_by(&status.risk.state, &row.rule));
        rows.for_each(|row| self.limit(row, now_ms));
        self.weight(&status.venue, now_ms);
    }

    fn is_of_before(&self, status: &Status) -> bool {
        let Some((seq, at_ms)) = self.ruled else { return false };
        let last = status.last_event.as_ref().and_then(|event| event.get("seq")?.as_u64());
        last.map_or(status.at_ms < at_ms, |last| last < seq)
    }

    /// Whether another guard answers now than before. Then its events are read on from its newest one, and what lasted at the
    /// one before is not known to last here, or to be over.
    pub(in crate::notify) fn is_another(&mut self, status: &Status) -> bool {
        let guard = Guard {
            account: status.account.to_string(),
            mode: status.mode.to_string(),
            kill_file: shown(&status.kill_file),
        };
        // What a home's config says is no word of a guard's.
        let is_heard = self.cursor.is_some() && !self.guard.account.is_empty();
        let is_other = is_heard && (&self.guard.account, &self.guard.mode) != (&guard.account, &guard.mode);
        if is_other {
            let (own, others) = std::mem::take(&mut self.open).into_iter().partition(|(_, notice)| is_own(notice));
            let lasted: BTreeMap<String, Notice> = others;
            let lasted: Vec<&str> = lasted.values().map(|notice| notice.title.as_str()).collect();
            let lasted = if lasted.is_empty() {
                String::new()
            } else {
                format!(" Last heard of the one before: {}.", shown(&lasted.join("; ")))
            };
            let happened = format!("It was {}, and now {} answers there.{lasted}", self.guard.name(), guard.name());
            let notice = Notice::once("status", "guard_changed", Severity::Warning, "Another guard answers");
            let todo = "Nothing, if you set it up anew. Otherwise look at what listens there.";
            let before = std::mem::take(self);
            *self = Self { open: own, counts: before.counts, summary_round: before.summary_round, ..Self::default() };
            (self.reach, self.made) = (before.reach, before.made);
            let did = "The notifier goes on with what this one does from now on.";
            self.tell(notice.words(happened, did, todo).at(status.at_ms));
        }
        self.guard = guard;
        is_other
    }

    fn wallet(&mut self, status: &Status) {
        let Some(until_ms) = status.api_wallet_valid_until else { return };
        let left_ms = until_ms.saturating_sub(status.at_ms);
        let Some(days) = [0].into_iter().chain(WALLET_DAYS).find(|days| left_ms <= days * DAY_MS) else { return };
        if self.wallet.is_some_and(|(told_ms, told)| told_ms == until_ms && told <= days) {
            return;
        }
        self.wallet = Some((until_ms, days));
        let severity = match days {
            30 => Severity::Info,
            0 | 1 => Severity::Critical,
            _ => Severity::Warning,
        };
        let left = count(usize::try_from(left_ms.div_ceil(DAY_MS)).unwrap_or(0), "day");
        let (title, happened, did) = match left_ms {
            0 => (
                "API wallet's approval has ended",
                format!("The venue took its signature until {}.", utc(until_ms)),
                "Nothing can be sent: no stop, no close, no exit. Stops that rest at the venue stay.",
            ),
            _ => (
                "API wallet's approval ends soon",
                format!("The venue takes its signature until {}: {left} from now at most.", utc(until_ms)),
                "Until then nothing changes. After it nothing can be sent: no stop, no close, no exit.",
            ),
        };
        let todo = format!(
            "Approve a new API wallet at the venue, give the guard its key from a file of mode 0600 ({}), and then {}.",
            self.guard.command("key replace --key-stdin < FILE"),
            self.guard.service("restart")
        );
        let notice = Notice::once("status", "wallet_ending", severity, title);
        self.tell(notice.words(happened, did, todo).at(status.at_ms));
    }

    /// One rule's limit. What is used comes and goes, so its end is not told.
    fn limit(&mut self, row: &Headroom, now_ms: u64) {
        let (Some(used), Some(limit)) = (row.used, row.limit) else { return };
        let over = |part: Decimal| limit > Decimal::ZERO && used >= limit.saturating_mul(part);
        // The row is that of the market nearest to its limit: all are below where this one is.
        let of_rule = format!("{}/", row.rule);
        if !over(NEAR.1) {
            self.near.retain(|near| !near.starts_with(&of_rule));
        }
        let market = row.coin.as_deref().map(shown).unwrap_or_default();
        if !over(NEAR.0) || !self.near.insert(of_rule + &market) {
            return;
        }
        let coin = row.coin.as_ref().map_or_else(String::new, |coin| format!(" in {}", shown(coin)));
        let unit = if row.unit == "usdc" { "USDC" } else { "orders" };
        let amount = |amount: Decimal| if row.unit == "usdc" { cents(amount) } else { amount.to_string() };
        let happened = format!("{}{coin}: {} of {} {unit} are used.", shown(&row.rule), amount(used), amount(limit));
        let notice = Notice::once("status", "limit_near", Severity::Info, "A limit is nearly used");
        let (did, todo) = match row.rule.as_ref() {
            "daily_loss" => (beyond_loss(self.guard.sends(), "until the UTC day ends"), DECIDE),
            "drawdown" => (beyond_loss(self.guard.sends(), "until a person resumes"), DECIDE),
            _ => ("Beyond it entries are cut or refused; exits pass.".to_owned(), "Nothing, if the bot means it."),
        };
        let todo = self.guard.todo(todo);
        self.tell(notice.words(happened, did, todo).about(format!("{} {market}", row.rule).trim()).at(now_ms));
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

/// Whether the halt of this rule's limit lasts in this state of the risk: then nothing is near any more.
pub(super) fn is_halted_by(state: &str, rule: &str) -> bool {
    rule == "daily_loss" && state != "active" || rule == "drawdown" && state == "stopped"
}
