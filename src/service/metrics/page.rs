//! The page: every metric, with its help. `svc-guard-events(5)` lists them, and a test holds it to what is served.

use std::fmt::Display;
use std::sync::atomic::Ordering;

use super::counts::{CALLS, Metrics, Outcome};
use super::histogram::Histogram;
use super::text::{Family, Kind, Page, seconds_of_ms};
use crate::guard::{AlertCode, Code, Gauges, Money, OWNERS, RISK_STATES, Verdict};
use crate::journal::Condition;
use crate::record::event::KINDS;
use crate::record::status::IfAway;
use crate::relay;
use crate::venue::weight::Priority;
use Kind::{Counter, Gauge};
use rust_decimal::Decimal;

/// The figures of the moment, from the decision loop.
#[derive(Debug)]
pub(in crate::service) struct Now {
    /// The core's.
    pub(in crate::service) guard: Gauges,
    /// The journal's condition.
    pub(in crate::service) journal: Condition,
    /// Batches that the journal's queue has no room for.
    pub(in crate::service) backlog: usize,
    /// Each queue's name, length and capacity.
    pub(in crate::service) queues: [(&'static str, usize, usize); 5],
    /// Weight that the budget has in a minute, and what of it was used.
    pub(in crate::service) weight: (u32, u32),
    /// Weight ever spent, by who spent it.
    pub(in crate::service) spent: Vec<(Priority, u64)>,
}

impl Metrics {
    /// The page. Where the decision loop did not answer its part has no samples. Of the `most` connections there may be some
    /// are open, and so many requests are at work.
    pub(in crate::service) fn page(
        &self,
        now: Option<&Now>,
        subscriptions: &relay::Counts,
        taken: (usize, usize),
        most: usize,
    ) -> Vec<u8> {
        let mut page = Page::default();
        self.process(&mut page, now.is_some());
        self.decided(&mut page);
        self.journal(&mut page, now);
        self.venue(&mut page, now);
        account(&mut page, now.map(|now| &now.guard));
        queues(&mut page, now);
        connections(&mut page, taken, most);
        subscribed(&mut page, subscriptions);
        page.into_bytes()
    }

    fn decided(&self, page: &mut Page) {
        let help = "Decisions on disk, by verdict and reason code.";
        let mut family = page.family("svc_guard_decisions_total", Counter, help);
        for (code, counters) in Code::ALL.iter().zip(&self.decisions) {
            for (verdict, counter) in Verdict::ALL.into_iter().zip(counters) {
                let count = counter.get();
                // A pair that never comes is left out until it does.
                if count > 0 || verdict == Verdict::of(*code) {
                    family.sample(&[("verdict", verdict.name()), ("code", code.as_str())], count);
                }
            }
        }
        let help = "Requests to /exchange turned away without a decision.";
        let mut family = page.family("svc_guard_requests_refused_total", Counter, help);
        family.sample(&[("reason", "busy")], self.busy.get());
        family.sample(&[("reason", "rate_limited")], self.unsigned.get());
        let help = "From a request read whole to its decision on disk.";
        self.decision.put(page, "svc_guard_decision_duration_seconds", help);
        let help = "From an action's event on disk to the venue's answer, where one came.";
        self.send.put(page, "svc_guard_send_duration_seconds", help);
    }

    fn journal(&self, page: &mut Page, now: Option<&Now>) {
        let mut family = page.family("svc_guard_events_total", Counter, "Events on disk, by kind.");
        KINDS.iter().zip(&self.events).for_each(|(kind, count)| family.sample(&[("kind", kind)], count.get()));
        let last_seq = Some(self.last_seq.load(Ordering::Relaxed));
        page.single("svc_guard_journal_last_seq", Gauge, "Number of the last event on disk.", last_seq);
        let lines = Some(self.journal_lines.get());
        page.single("svc_guard_journal_lines_total", Counter, "Lines put on disk, events and risk records.", lines);
        page.single("svc_guard_journal_bytes_total", Counter, "Bytes of these lines.", Some(self.journal_bytes.get()));
        let failures = Some(self.journal_failures.get());
        page.single("svc_guard_journal_failures_total", Counter, "Commits that the disk refused.", failures);
        let help = "One commit: its writes and fdatasyncs.";
        self.commit.put(page, "svc_guard_journal_commit_duration_seconds", help);
        let is = |condition| now.map(|now| u8::from(now.journal == condition));
        let help = "Whether the last commit is not on disk.";
        page.single("svc_guard_journal_failing", Gauge, help, is(Condition::Failing));
        let help = "Whether the journal lives on its reserve or in its fallback folder.";
        page.single("svc_guard_journal_degraded", Gauge, help, is(Condition::Degraded));
        let help = "Batches that wait for room in the journal's queue.";
        page.single("svc_guard_journal_backlog_batches", Gauge, help, now.map(|now| now.backlog));
    }

    fn venue(&self, page: &mut Page, now: Option<&Now>) {
        let help = "Calls to the venue, by what was called and how it ended.";
        let mut family = page.family("svc_guard_venue_calls_total", Counter, help);
        for (kind, counters) in CALLS.into_iter().zip(&self.calls) {
            for (outcome, counter) in Outcome::ALL.into_iter().zip(counters) {
                family.sample(&[("kind", kind), ("outcome", outcome.name())], counter.get());
            }
        }
        let help = "From a question to the venue to its answer, where one came.";
        self.read.put(page, "svc_guard_venue_read_duration_seconds", help);
        let help = "Weight spent of the venue's request budget, by what it was spent on.";
        let mut family = page.family("svc_guard_venue_weight_spent_total", Counter, help);
        for (priority, spent) in now.iter().flat_map(|now| &now.spent) {
            family.sample(&[("priority", priority.name())], spent);
        }
        let help = "Weight used in the last minute.";
        page.single("svc_guard_venue_weight_used", Gauge, help, now.map(|now| now.weight.1));
        let help = "Weight that this service may use in a minute.";
        page.single("svc_guard_venue_weight_limit", Gauge, help, now.map(|now| now.weight.0));
    }
}

impl Histogram {
    fn put(&self, page: &mut Page, name: &'static str, help: &str) {
        self.write(&mut page.family(name, Kind::Histogram, help));
    }
}

fn account(page: &mut Page, guard: Option<&Gauges>) {
    states(page, guard);
    money(page, &guard.map_or_else(Money::default, |guard| guard.money));
    let mut family = page.family("svc_guard_read_age_seconds", Gauge, "Age of what was last read of the venue.");
    let ages = guard.map(|guard| [guard.account_age_ms, guard.prices_age_ms, guard.orders_age_ms]);
    for (read, age_ms) in ["account", "prices", "orders"].into_iter().zip(ages.into_iter().flatten()) {
        if let Some(age_ms) = age_ms {
            family.sample(&[("read", read)], seconds_of_ms(age_ms));
        }
    }
    let feed = guard.and_then(|guard| guard.feed.as_ref());
    let help =
        "Whether the venue's live feed proves all that the guard goes by; no sample where it is not listened to.";
    page.single("svc_guard_feed_proved", Gauge, help, feed.map(|feed| u8::from(feed.proved)));
    let help = "Sockets of the live feed that opened.";
    page.single("svc_guard_feed_sockets_total", Counter, help, feed.map(|feed| feed.sockets));
    let help = "Frames of the live feed that came.";
    page.single("svc_guard_feed_frames_total", Counter, help, feed.map(|feed| feed.frames));
    let help = "Times that reads showed something else than the live feed told.";
    page.single("svc_guard_feed_differences_total", Counter, help, feed.map(|feed| feed.differences));
    let help = "Fills that the live feed missed.";
    page.single("svc_guard_feed_missed_total", Counter, help, feed.map(|feed| feed.missed));
    let help = "When the API wallet's approval ends, seconds since 1970; no sample where the venue does not say.";
    let until_ms = guard.and_then(|guard| guard.api_wallet_valid_until_ms);
    page.single("svc_guard_api_wallet_end_timestamp_seconds", Gauge, help, until_ms.map(seconds_of_ms));
    let help = "How far this machine's clock is ahead of the venue's at least, by its last answer; behind is negative.";
    let offset_ms = guard.and_then(|guard| guard.clock_offset_ms);
    let offset = offset_ms.map(|offset_ms| Decimal::new(offset_ms, 3).normalize());
    page.single("svc_guard_clock_offset_seconds", Gauge, help, offset);
    page.single("svc_guard_positions", Gauge, "Positions held.", guard.map(|guard| guard.positions));
    let help = "Positions that market stops do not cover in full.";
    page.single("svc_guard_positions_uncovered", Gauge, help, guard.map(|guard| guard.uncovered));
    let away = |pick: fn(&IfAway) -> Decimal| Some(pick(guard?.if_away.as_ref()?).normalize());
    let help = "Lost at most at the stops that the venue holds, if the guard goes away.";
    page.single("svc_guard_if_away_loss_usdc", Gauge, help, away(|left| left.loss));
    let help = "Held, or held once every open entry has filled, without a stop at the venue.";
    page.single("svc_guard_if_away_without_stop_usdc", Gauge, help, away(|left| left.without_stop));
    let mut family = page.family("svc_guard_open_orders", Gauge, "Open orders, by whose they are.");
    if let Some(guard) = guard {
        counted(&mut family, "owner", &OWNERS, &guard.order_owners);
    }
    let help = "What the book of money is off by; no sample where it cannot be compared.";
    let off = guard.and_then(|guard| guard.book_difference).map(|off| off.normalize());
    page.single("svc_guard_book_difference_usdc", Gauge, help, off);
    let help = "Times that the book did not add up.";
    page.single("svc_guard_book_discrepancies_total", Counter, help, guard.map(|guard| guard.book_discrepancies));
    let help = "Intents with actions still to send or to be answered.";
    page.single("svc_guard_intents_open", Gauge, help, guard.map(|guard| guard.intents));
    let help = "Actions without an answer, being settled.";
    page.single("svc_guard_actions_in_doubt", Gauge, help, guard.map(|guard| guard.in_doubt));
}

fn states(page: &mut Page, guard: Option<&Gauges>) {
    let mut family = page.family("svc_guard_risk_state", Gauge, "1 for the risk state that is, 0 for the others.");
    for (state, guard) in RISK_STATES.into_iter().flat_map(|state| guard.map(|guard| (state, guard))) {
        family.sample(&[("state", state)], u8::from(guard.risk_state == state));
    }
    let is = |pick: fn(&Gauges) -> bool| guard.map(|guard| u8::from(pick(guard)));
    let help = "Whether the kill switch is pulled.";
    page.single("svc_guard_kill_latched", Gauge, help, is(|guard| guard.is_killed));
    let help = "Whether nothing keeps the guard from being healthy.";
    page.single("svc_guard_healthy", Gauge, help, is(|guard| guard.is_healthy));
    let mut family = page.family("svc_guard_alerts", Gauge, "Alerts that stand, by code.");
    if let Some(guard) = guard {
        let codes: Vec<&str> = guard.alerts.iter().map(String::as_str).collect();
        let known: Vec<&str> = AlertCode::ALL.iter().map(|code| code.as_str()).collect();
        counted(&mut family, "code", &known, &codes);
    }
}

/// How often each of `all` is among `found`.
fn counted(family: &mut Family<'_>, label: &str, all: &[&str], found: &[&str]) {
    for name in all {
        family.sample(&[(label, name)], found.iter().filter(|other| *other == name).count());
    }
}

fn money(page: &mut Page, money: &Money) {
    for (name, help, amount) in [
        ("svc_guard_equity_usdc", "The account's equity.", money.equity),
        ("svc_guard_day_pnl_usdc", "Profit since the day's start; a loss is negative.", money.day_pnl),
        ("svc_guard_daily_loss_limit_usdc", "The day's loss that stops the day.", money.daily_loss_limit),
        ("svc_guard_drawdown_usdc", "What was lost since the highest equity.", money.drawdown),
        ("svc_guard_drawdown_limit_usdc", "The drawdown that halts.", money.drawdown_limit),
        ("svc_guard_open_risk_usdc", "What is lost if every stop is hit.", money.open_risk),
        ("svc_guard_open_risk_limit_usdc", "The open risk there may be.", money.open_risk_limit),
        ("svc_guard_exposure_usdc", "Gross exposure.", money.exposure),
        ("svc_guard_exposure_limit_usdc", "The gross exposure there may be.", money.exposure_limit),
    ] {
        page.single(name, Gauge, help, amount.map(|amount| amount.normalize()));
    }
}

fn queues(page: &mut Page, now: Option<&Now>) {
    let queues = || now.iter().flat_map(|now| now.queues);
    let mut family = page.family("svc_guard_queue_length", Gauge, "What waits in each queue.");
    queues().for_each(|(queue, length, _)| family.sample(&[("queue", queue)], length));
    let mut family = page.family("svc_guard_queue_capacity", Gauge, "What each queue has room for.");
    queues().for_each(|(queue, _, capacity)| family.sample(&[("queue", queue)], capacity));
}

fn connections(page: &mut Page, (open, at_work): (usize, usize), most: usize) {
    let mut single = |name, help, value: &dyn Display| page.single(name, Gauge, help, Some(value));
    single(
        "svc_guard_connections",
        "Connections that have a place, WebSockets among them; one that has said nothing yet has none.",
        &open,
    );
    single("svc_guard_connections_limit", "The connections there may be.", &most);
    single("svc_guard_requests_at_work", "HTTP requests that wait for their answer.", &at_work);
}

fn subscribed(page: &mut Page, counts: &relay::Counts) {
    for (name, help, count) in [
        ("svc_guard_subscribers", "Connections that subscribe.", counts.clients),
        ("svc_guard_subscriptions", "Subscriptions of clients.", counts.held),
        ("svc_guard_subscriptions_at_venue", "Subscriptions at the venue for them, each once.", counts.subscriptions),
        ("svc_guard_subscription_sockets", "Sockets to the venue that are open for them.", counts.open),
    ] {
        page.single(name, Gauge, help, Some(count));
    }
    let mut family =
        page.family("svc_guard_relayed_frames_total", Counter, "Frames of subscriptions, by what became of them.");
    for (fate, count) in [
        ("came", counts.frames),
        ("passed", counts.passed),
        ("replaced", counts.replaced),
        ("unusable", counts.unusable),
    ] {
        family.sample(&[("fate", fate)], count);
    }
    let help = "Subscriptions that were refused.";
    page.single("svc_guard_subscriptions_refused_total", Counter, help, Some(counts.refused));
    let help = "Clients closed because they read too slowly.";
    page.single("svc_guard_slow_subscribers_total", Counter, help, Some(counts.slow));
}
