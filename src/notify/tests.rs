//! Everything that is ever told, each by what brings it about: under which names, and in which three parts.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::config::Config;
use super::draft::Pace;
use super::hours::Clock;
use super::notice::{Notice, Severity, Turn};
use super::office::Office;
use super::watch::{Seen, Watch, alert_codes};
use super::wishes::Wishes;
use crate::record::event::Event;
use crate::record::status::Status;

const NOW: u64 = 1_800_000_000_000;
const DAY: u64 = 86_400_000;

/// Which guard is told of.
#[derive(Clone, Copy)]
pub(super) struct Of {
    mode: &'static str,
    kill_file: &'static str,
}

/// How commands of this program begin behind its name.
const COMMANDS: [&str; 9] = ["check", "config", "health", "init", "journal", "key", "kill", "report", "run"];

const OWN: Of = Of { mode: "testnet", kill_file: "/home/me/g/kill" };

/// A watch of a guard, and how many events it has had.
struct Told {
    of: Of,
    watch: Watch,
    seq: u64,
}

impl Told {
    #[allow(clippy::needless_pass_by_value, reason = "a test reads better with its JSON in place")]
    fn status(&self, changes: Value) -> Status {
        let mut whole = json!({
            "schema": 1, "mode": self.of.mode, "account": "0x1111111111111111111111111111111111111111",
            "kill_file": self.of.kill_file, "at_ms": NOW + self.seq, "risk": {"state": "active"}, "killed": null,
            "positions": [], "open_orders": [], "alerts": [], "venue": {"account_age_ms": 100}
        });
        whole.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        serde_json::from_value(whole).unwrap()
    }

    fn shows(&mut self, changes: Value) {
        let status = self.status(changes);
        self.watch.status(&status);
    }

    #[allow(clippy::needless_pass_by_value, reason = "a test reads better with its JSON in place")]
    fn event(&mut self, body: Value) {
        self.seq += 1;
        let mut whole = json!({"seq": self.seq, "at_ms": NOW + self.seq});
        whole.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        self.watch.event(&Event::of(&whole).unwrap());
    }

    fn sends(&self) -> bool {
        self.of.mode != "paper"
    }

    fn flattens(&mut self) {
        let sent = self.sends();
        self.event(json!({"kind": "flatten", "reason": "kill switch: x", "actions": [{}], "sent": sent}));
    }

    fn protects(&mut self, problems: &Value) {
        let sent = self.sends();
        self.event(json!({"kind": "protect", "coins": ["ETH"], "actions": [{}], "sent": sent, "problems": problems}));
    }

    /// The venue's answer to the last event.
    fn is_answered(&mut self, ok: bool) {
        let (decision, reply) = (self.seq, if ok { json!({"status": "ok"}) } else { json!({"status": "err"}) });
        self.event(json!({"kind": "sent", "decision": decision, "index": 0, "ok": ok, "reply": reply}));
    }

    fn summarises(&mut self) {
        assert!(self.watch.summary_due(Clock::default(), 0, NOW - DAY).is_none());
        let due = self.watch.summary_due(Clock::default(), 0, NOW).unwrap();
        let status = self.status(json!({}));
        self.watch.summarise(Some(&status), due, Err("it is busy"), NOW);
    }
}

/// What brings something about, by the code of what it brings.
type Cause = (&'static str, fn(&mut Told));

fn causes() -> Vec<Cause> {
    [of_halts(), of_orders(), of_lives(), of_looks()].concat()
}

/// Halts, and the closing that follows.
fn of_halts() -> Vec<Cause> {
    vec![
        ("kill", |told| told.event(json!({"kind": "kill", "reason": "x"}))),
        ("halted_for_day", |told| told.event(json!({"kind": "risk", "state": "halted_for_day"}))),
        ("stopped", |told| told.event(json!({"kind": "risk", "state": "stopped"}))),
        ("flatten", Told::flattens),
        ("flatten", |told| {
            let left = json!([{"coin": "X", "text": "dust"}]);
            told.event(json!({"kind": "flatten", "reason": "x", "sent": told.sends(), "problems": left}));
        }),
        ("flatten_again", |told| (0..2).for_each(|_| told.flattens())),
        ("flat", |told| {
            told.flattens();
            told.event(json!({"kind": "flat", "flatten": 1, "checked_ms": NOW}));
        }),
        ("flat_ended", |told| {
            told.flattens();
            told.event(json!({"kind": "flat", "flatten": 1, "checked_ms": NOW}));
            told.event(json!({"kind": "intent", "of": 1, "action": {"type": "order"}}));
        }),
        ("flat_unconfirmed", |told| {
            told.event(json!({"kind": "risk", "state": "stopped"}));
            told.event(json!({"kind": "risk", "state": "active"}));
        }),
    ]
}

/// The guard's own stops and closes.
fn of_orders() -> Vec<Cause> {
    vec![
        ("stop_placed", |told| {
            told.protects(&json!([]));
            told.is_answered(true);
        }),
        ("stop_not_possible", |told| told.protects(&json!([{"coin": "ETH", "text": "no price"}]))),
        ("stop_refused", |told| {
            told.protects(&json!([]));
            told.is_answered(false);
        }),
        ("close_refused", |told| {
            told.flattens();
            told.is_answered(false);
        }),
    ]
}

/// The guard's lives, and what it refuses.
fn of_lives() -> Vec<Cause> {
    vec![
        ("error", |told| told.event(json!({"kind": "error", "text": "x"}))),
        ("started", |told| {
            told.event(json!({"kind": "started", "version": "1", "account": "0x11", "mode": told.of.mode}));
        }),
        ("restarted", |told| {
            (0..2).for_each(|_| {
                told.event(json!({"kind": "started", "version": "1", "account": "0x11", "mode": told.of.mode}));
            });
        }),
        ("service_stopped", |told| told.event(json!({"kind": "stopped", "reason": "SIGTERM"}))),
        ("price_invalid", |told| {
            told.event(json!({"kind": "decision", "verdict": "veto", "code": "price_invalid", "text": "x"}));
        }),
    ]
}

/// What looks at it show, and the notifier's own troubles.
fn of_looks() -> Vec<Cause> {
    vec![
        ("unreachable", |told| {
            [0, 30_000].into_iter().for_each(|ms| told.watch.seen(&Seen::Away("x".to_owned()), (ms, ms), NOW));
        }),
        ("unwell", |told| {
            [0, 30_000].into_iter().for_each(|ms| told.watch.seen(&Seen::Unwell(vec!["x".to_owned()]), (ms, ms), NOW));
        }),
        ("wallet_ending", |told| {
            [30, 7, 3, 1, 0].into_iter().for_each(|days| {
                told.shows(json!({"at_ms": NOW + (40 - days) * DAY, "api_wallet_valid_until": NOW + 40 * DAY}));
            });
        }),
        ("limit_near", |told| {
            let rows = ["position", "daily_loss", "drawdown"]
                .map(|rule| json!({"rule": rule, "unit": "usdc", "used": "95", "limit": "100"}));
            told.shows(json!({"headroom": rows}));
        }),
        ("weight_spent", |told| told.shows(json!({"venue": {"weight_used": 1190, "weight_per_minute": 1200}}))),
        ("alerts_more", |told| {
            let alerts = (0..129).map(|coin| json!({"code": "uncovered", "text": "x", "about": format!("Z{coin}")}));
            told.shows(json!({"alerts": alerts.collect::<Vec<_>>()}));
        }),
        ("guard_changed", |told| told.shows(json!({"account": "0x2222222222222222222222222222222222222222"}))),
        ("journal_changed", |told| told.watch.begin_anew((3, 9), NOW)),
        ("missed", |told| {
            told.seq += 5;
            told.event(json!({"kind": "done"}));
        }),
        ("state_not_kept", |told| told.watch.state_kept(Some("no room"), NOW)),
        ("state_unread", |told| told.watch.state_unread("x", NOW)),
        ("summary", Told::summarises),
    ]
}

/// What a watch of this guard told, beside that something is over, when this was brought about.
fn brought(of: Of, cause: impl FnOnce(&mut Told)) -> Vec<Notice> {
    let mut told = Told { of, watch: Watch::default(), seq: 0 };
    told.watch.cursor = Some(0);
    told.shows(json!({}));
    assert_eq!(told.watch.take(), []);
    cause(&mut told);
    told.watch.take().into_iter().filter(|notice| notice.turn != Turn::Over).collect()
}

/// The messages that were left out, as a target is told.
fn left_out() -> Notice {
    let text = "[[target]]\nname = 'a'\nform = 'command'\nrun = ['x']";
    let config = Config::parse(text, &[]).unwrap();
    let wishes = BTreeMap::from([("a".to_owned(), Wishes::of(&config.target[0]))]);
    let mut office = Office::of(None, wishes, Clock::default());
    (0..500).for_each(|_| office.watch.tell_for_test(Notice::once("risk", "x", Severity::Info, "x").at(NOW)));
    office.file();
    office.next("a", Pace::Brisk, NOW).unwrap().notice
}

/// Everything that a watch of this guard tells, of whatever code.
fn every_of(of: Of) -> Vec<Notice> {
    let mut all: Vec<Notice> = causes().into_iter().flat_map(|(_, cause)| brought(of, cause)).collect();
    for code in alert_codes() {
        all.extend(brought(of, |told| told.shows(json!({"alerts": [{"code": code, "text": "x", "about": "ETH"}]}))));
    }
    all.push(left_out());
    all
}

/// The kind under which each code is really told, and the most that it really matters.
pub(super) fn told_by_code() -> BTreeMap<String, (String, Severity)> {
    let mut told: BTreeMap<String, (String, Severity)> = BTreeMap::new();
    for notice in every_of(OWN) {
        let known = told.entry(notice.code.clone()).or_insert((notice.kind.clone(), notice.severity));
        assert_eq!(known.0, notice.kind, "{notice:?}");
        known.1 = known.1.max(notice.severity);
    }
    told
}

#[test]
fn each_cause_is_told_under_its_code() {
    for (code, cause) in causes() {
        let codes: BTreeSet<String> = brought(OWN, cause).into_iter().map(|notice| notice.code).collect();
        assert!(codes.contains(code), "{code}: {codes:?}");
    }
}

/// What happened, what the guard did or does, and what a person has to do, with each command for this home.
#[test]
fn whatever_is_told_has_its_three_parts_and_commands_for_this_home() {
    let guards = [
        OWN,
        Of { mode: "paper", ..OWN },
        Of { mode: "mainnet", ..OWN },
        Of { mode: "mainnet", kill_file: "/var/lib/svc-guard/guards/b/kill" },
        Of { mode: "testnet", kill_file: "/var/lib/svc-guard/kill" },
    ];
    for of in guards {
        let home = of.kill_file.trim_end_matches("/kill");
        let mut with_command = BTreeSet::new();
        for notice in every_of(of) {
            for part in [&notice.title, &notice.happened, &notice.did, &notice.todo] {
                let words = part.trim_matches(|letter: char| !letter.is_alphanumeric());
                assert!(!words.is_empty() && !part.contains("  "), "{notice:?}");
            }
            for command in notice.todo.replace(home, "HOME").split("svc-guard ").skip(1) {
                // Another guard's home is the person's to name.
                let names_it = ["--home HOME ", "--home DIR "].iter().any(|named| command.starts_with(named));
                let is_of_none = COMMANDS.iter().any(|name| command.starts_with(name));
                assert!(names_it || !(is_of_none || command.starts_with("--home")), "{notice:?}");
            }
            let is_for_it = [home, "systemctl ", "journalctl "].iter().any(|word| notice.todo.contains(word));
            if is_for_it {
                with_command.insert(notice.code.clone());
            }
        }
        // Whatever this program or its service manager can do about it stands there as it is typed.
        for code in [
            "kill",
            "stopped",
            "service_stopped",
            "restarted",
            "unreachable",
            "unwell",
            "wallet_ending",
            "limit_near",
            "account_mode",
            "daily_loss_near",
            "drawdown_near",
            "home_gone",
            "markets_changed",
            "role_unread",
            "signer_unknown",
        ] {
            assert!(with_command.contains(code), "{code} of {}: {with_command:?}", of.kill_file);
        }
    }
}
