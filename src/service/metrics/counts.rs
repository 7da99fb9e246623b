//! The counters of the service, and how each thing that happens is counted.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::histogram::{Counter, Histogram};
use crate::base::address::Address;
use crate::guard::{Code, Decided, Verdict};
use crate::journal::Commit;
use crate::record::event::KINDS;
use crate::venue::client::{CallError, RawAnswer};

/// Calls to the venue, by label: an action, each question of the guard, and all questions of clients.
pub(super) const CALLS: [&str; 16] = [
    EXCHANGE,
    "userRole",
    "userAbstraction",
    "meta",
    "allMids",
    "clearinghouseState",
    "spotClearinghouseState",
    "frontendOpenOrders",
    "userNonFundingLedgerUpdates",
    "twapHistory",
    "userRateLimit",
    "extraAgents",
    "orderStatus",
    "activeAssetData",
    PASSED_THROUGH,
    OTHER,
];
/// The call that sends an action.
const EXCHANGE: &str = "exchange";
/// The call that asks what a client asked.
const PASSED_THROUGH: &str = "passed_through";
/// A call that has no name above.
const OTHER: &str = "other";

/// How a call to the venue ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Answered,
    RateLimited,
    Refused,
    Garbage,
    NoAnswer,
    NotSent,
}

impl Outcome {
    pub(super) const ALL: [Self; 6] =
        [Self::Answered, Self::RateLimited, Self::Refused, Self::Garbage, Self::NoAnswer, Self::NotSent];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::RateLimited => "rate_limited",
            Self::Refused => "refused",
            Self::Garbage => "garbage",
            Self::NoAnswer => "no_answer",
            Self::NotSent => "not_sent",
        }
    }

    fn of(error: &CallError) -> Self {
        match error {
            CallError::NotSent(_) => Self::NotSent,
            CallError::NoAnswer(_) => Self::NoAnswer,
            CallError::RateLimited => Self::RateLimited,
            CallError::Refused { .. } => Self::Refused,
            CallError::Garbage(_) => Self::Garbage,
        }
    }

    /// Whether the venue said anything.
    fn is_answer(self) -> bool {
        !matches!(self, Self::NoAnswer | Self::NotSent)
    }
}

/// Everything that is counted.
#[derive(Debug)]
pub(in crate::service) struct Metrics {
    /// When the service started, UTC ms.
    pub(super) started_ms: u64,
    pub(super) mode: &'static str,
    pub(super) account: String,
    /// The venue's host, with its port where it has one.
    pub(super) venue: String,
    /// In the order of [`KINDS`].
    pub(super) events: [Counter; KINDS.len()],
    /// In the order of [`Code::ALL`], each by [`Verdict::ALL`].
    pub(super) decisions: Vec<[Counter; Verdict::ALL.len()]>,
    /// In the order of [`CALLS`], each by [`Outcome::ALL`].
    pub(super) calls: [[Counter; Outcome::ALL.len()]; CALLS.len()],
    /// The last event on disk.
    pub(super) last_seq: AtomicU64,
    pub(super) journal_lines: Counter,
    pub(super) journal_bytes: Counter,
    pub(super) journal_failures: Counter,
    /// Requests that were turned away undecided: the guard was busy.
    pub(in crate::service) busy: Counter,
    /// Requests that were turned away undecided: too many without a client.
    pub(in crate::service) unsigned: Counter,
    pub(super) decision: Histogram,
    pub(super) send: Histogram,
    pub(super) read: Histogram,
    pub(super) commit: Histogram,
}

impl Metrics {
    /// Nothing counted yet, in a service of this mode that started at `started_ms`, UTC.
    pub(in crate::service) fn new(started_ms: u64, mode: &'static str) -> Self {
        Self {
            started_ms,
            mode,
            account: String::new(),
            venue: String::new(),
            events: Default::default(),
            decisions: Code::ALL.iter().map(|_| Default::default()).collect(),
            calls: Default::default(),
            last_seq: 0.into(),
            journal_lines: Counter::default(),
            journal_bytes: Counter::default(),
            journal_failures: Counter::default(),
            busy: Counter::default(),
            unsigned: Counter::default(),
            decision: Histogram::default(),
            send: Histogram::default(),
            read: Histogram::default(),
            commit: Histogram::default(),
        }
    }

    /// The same for this account, at the venue of this URL.
    pub(in crate::service) fn of(self, account: Address, venue_url: &str) -> Self {
        let behind = venue_url.split_once("://").map_or(venue_url, |(_, behind)| behind);
        let authority = behind.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default();
        Self { account: account.to_string(), venue: host.to_owned(), ..self }
    }

    /// An event is on disk.
    pub(in crate::service) fn event(&self, seq: u64, kind: &str) {
        self.last_seq.fetch_max(seq, Ordering::Relaxed);
        if let Some(counter) = index_of(&KINDS, &kind).and_then(|index| self.events.get(index)) {
            counter.add();
        }
    }

    /// The decision on a request that was received then is on disk.
    pub(in crate::service) fn decision(&self, decided: Decided, received: Option<Instant>) {
        let of_code = index_of(Code::ALL, &decided.code).and_then(|index| self.decisions.get(index));
        let counter = of_code.zip(index_of(&Verdict::ALL, &decided.verdict)).and_then(|(of, index)| of.get(index));
        if let Some(counter) = counter {
            counter.add();
        }
        if let Some(received) = received {
            self.decision.observe(received.elapsed());
        }
    }

    /// An action whose event was on disk then has its answer, or has none.
    pub(in crate::service) fn sent<T>(&self, on_disk: Instant, answer: &Result<T, CallError>) {
        let outcome = answer.as_ref().map_or_else(Outcome::of, |_| Outcome::Answered);
        self.call(EXCHANGE, outcome);
        if outcome.is_answer() {
            self.send.observe(on_disk.elapsed());
        }
    }

    /// Asks the venue, and counts the question.
    pub(in crate::service) fn read<T>(
        &self,
        kind: &str,
        ask: impl FnOnce() -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        self.timed(kind, ask, |_| Outcome::Answered)
    }

    /// Asks the venue in a client's words, and counts the question.
    pub(in crate::service) fn pass_through(
        &self,
        ask: impl FnOnce() -> Result<RawAnswer, CallError>,
    ) -> Result<RawAnswer, CallError> {
        self.timed(PASSED_THROUGH, ask, |answer| match answer.status {
            200 => Outcome::Answered,
            429 => Outcome::RateLimited,
            _ => Outcome::Refused,
        })
    }

    fn timed<T>(
        &self,
        kind: &str,
        ask: impl FnOnce() -> Result<T, CallError>,
        how: impl FnOnce(&T) -> Outcome,
    ) -> Result<T, CallError> {
        let begun = Instant::now();
        let answer = ask();
        let outcome = answer.as_ref().map_or_else(Outcome::of, how);
        self.call(kind, outcome);
        if outcome.is_answer() {
            self.read.observe(begun.elapsed());
        }
        answer
    }

    fn call(&self, kind: &str, outcome: Outcome) {
        let of_kind = self.calls.get(index_of(&CALLS, &kind).unwrap_or(CALLS.len().saturating_sub(1)));
        let counter = of_kind.zip(index_of(&Outcome::ALL, &outcome)).and_then(|(of, index)| of.get(index));
        if let Some(counter) = counter {
            counter.add();
        }
    }

    /// The journal wrote, or failed to.
    pub(in crate::service) fn commit(&self, commit: Commit) {
        self.journal_lines.add_many(commit.lines as u64);
        self.journal_bytes.add_many(commit.bytes as u64);
        if commit.is_whole {
            self.commit.observe(commit.took);
        } else {
            self.journal_failures.add();
        }
    }

    /// The last event on disk, where an earlier life wrote it.
    pub(in crate::service) fn begin_at(&self, seq: u64) {
        self.last_seq.fetch_max(seq, Ordering::Relaxed);
    }
}

fn index_of<T: PartialEq>(all: &[T], one: &T) -> Option<usize> {
    all.iter().position(|other| other == one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metrics() -> Metrics {
        Metrics::new(1_795_211_345_678, "paper")
    }

    fn page(metrics: &Metrics) -> String {
        String::from_utf8(metrics.page(None, &crate::relay::Counts::default(), (0, 0), 0)).unwrap()
    }

    fn value(metrics: &Metrics, sample: &str) -> Option<String> {
        page(metrics).lines().find_map(|line| Some(line.strip_prefix(sample)?.strip_prefix(' ')?.to_owned()))
    }

    #[test]
    fn every_code_is_counted_by_itself() {
        let metrics = metrics();
        for (index, code) in Code::ALL.iter().enumerate() {
            let decided = Decided { request: 0, verdict: Verdict::Veto, code: *code, is_exit: false, client: None };
            (0..=index).for_each(|_| metrics.decision(decided, None));
        }
        for (index, code) in Code::ALL.iter().enumerate() {
            let sample = format!("svc_guard_decisions_total{{verdict=\"veto\",code=\"{code}\"}}");
            assert_eq!(value(&metrics, &sample), Some((index + 1).to_string()), "{sample}");
        }
        assert_eq!(value(&metrics, "svc_guard_decision_duration_seconds_count").unwrap(), "0");
        let decided =
            Decided { request: 0, verdict: Verdict::Allow, code: Code::Allowed, is_exit: false, client: None };
        metrics.decision(decided, Some(Instant::now()));
        assert_eq!(value(&metrics, "svc_guard_decision_duration_seconds_count").unwrap(), "1");
    }

    /// Nothing that comes from outside makes a series of its own.
    #[test]
    fn what_has_no_name_adds_no_series() {
        let metrics = metrics();
        let before = page(&metrics).lines().count();
        for n in 0..1_000 {
            let kind = format!("odd\"}} {n}\n");
            metrics.event(n, &kind);
            assert_eq!(metrics.read(&kind, || Ok(n)), Ok(n));
            let lost = metrics.read(&kind, || Err::<(), _>(CallError::NoAnswer(kind.clone())));
            assert!(lost.is_err());
        }
        assert_eq!(page(&metrics).lines().count(), before);
        let calls = |outcome| {
            value(&metrics, &format!("svc_guard_venue_calls_total{{kind=\"other\",outcome=\"{outcome}\"}}")).unwrap()
        };
        assert_eq!((calls("answered"), calls("no_answer")), ("1000".to_owned(), "1000".to_owned()));
        assert_eq!(value(&metrics, "svc_guard_venue_read_duration_seconds_count").unwrap(), "1000", "answers only");
    }

    #[test]
    fn a_commit_that_failed_is_no_time_but_a_failure() {
        let metrics = metrics();
        let commit = |lines, is_whole| Commit { lines, bytes: 100 * lines, is_whole, ..Commit::default() };
        metrics.commit(commit(3, true));
        metrics.commit(commit(1, false));
        let told = ["lines_total", "bytes_total", "failures_total", "commit_duration_seconds_count"]
            .map(|name| value(&metrics, &format!("svc_guard_journal_{name}")).unwrap());
        assert_eq!(told, ["4", "400", "1", "1"]);
    }

    #[test]
    fn the_venue_is_named_by_its_host_alone() {
        for (url, host) in [
            ("https://api.venue.example", "api.venue.example"),
            ("http://127.0.0.1:8000/", "127.0.0.1:8000"),
            ("https://me:secret@venue.example/path?a#b", "venue.example"),
        ] {
            let metrics = metrics().of(Address([0x11; 20]), url);
            let labels = format!("account=\"{}\",venue=\"{host}\"", Address([0x11; 20]));
            let sample =
                format!("svc_guard_build_info{{version=\"{}\",mode=\"paper\",{labels}}}", env!("CARGO_PKG_VERSION"));
            assert_eq!(value(&metrics, &sample).as_deref(), Some("1"), "{url}");
        }
    }

    /// The rest of the page shows that the decision loop does not answer.
    #[test]
    fn a_page_without_the_loop_has_its_counters() {
        let metrics = metrics();
        assert_eq!(value(&metrics, "svc_guard_decision_loop_up").unwrap(), "0");
        assert_eq!(value(&metrics, "process_start_time_seconds").unwrap(), "1795211345.678");
        assert_eq!(value(&metrics, "svc_guard_equity_usdc"), None, "not known is not zero");
        assert_eq!(value(&metrics, "svc_guard_kill_latched"), None);
    }
}
