//! The decision loop without the rest of the service.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::bounded;

use super::uncovered::{CHECKPOINT_BYTES, CHECKPOINT_EVENTS};
use super::*;
use crate::base::address::Address;
use crate::base::kill_file::KillFile;
use crate::equity::Ring;
use crate::faults::Faults;
use crate::guard::{Config, Mode, RequestBody, Urgency};
use crate::rules::Rules;
use crate::service::kill_to_write::KillToWrite;
use crate::service::metrics::Metrics;
use crate::service::reporting::notify::Notify;
use crate::service::reporting::recent_events::RecentEvents;
use crate::service::venue_io::intervals::Intervals;
use crate::service::venue_io::poller::first_reads;
use crate::service::venue_io::send_queue::{self, QueuedSends};
use crate::venue::signing::{Source, Terms};

fn config() -> Config {
    Config {
        mode: Mode::Paper,
        account: Address([0xac; 20]),
        account_network: Source::Testnet,
        api_wallet: None,
        clients: BTreeSet::new(),
        require_network: false,
        rules: Rules::default(),
        equity_cap: None,
        account_max_age_ms: 5_000,
        prices_max_age_ms: 5_000,
        marks_max_age_ms: 30_000,
        orders_max_age_ms: 15_000,
        feed: false,
        weight_per_minute: 1_200,
        kill_file: "/nowhere/kill".to_owned(),
        life: String::new(),
        venue_url: "http://127.0.0.1:1".to_owned(),
    }
}

/// A loop whose journal has room for one batch, with its own ends.
fn decision_loop() -> (DecisionLoop, Sender<Message>, Receiver<Batch<AfterCommit>>, QueuedSends) {
    let ((inbox, messages), (journal, batches)) = (bounded(INBOX), bounded(1));
    let ((sends, queued), (shut_down, _)) = (send_queue::queues(1), bounded(1));
    let intervals = Intervals::for_budget(1_200);
    let commit_handler = CommitHandler {
        recent_events: Arc::new(RecentEvents::default()),
        sends,
        inbox: inbox.clone(),
        shut_down,
        refused: Mutex::default(),
        turned_away: Arc::default(),
        metrics: Arc::new(Metrics::new(0, "paper")),
        kill_file: Arc::new(KillToWrite::new(KillFile::new("/nowhere/kill".into()), Faults::default())),
        faults: Faults::default(),
    };
    let around = Surroundings {
        inbox: messages,
        commit_handler,
        feed: Arc::default(),
        passed: bounded(1).0,
        reads: first_reads(None, intervals, 1_200),
        budget: Arc::new(Mutex::new(Ledger::new(1_200, []))),
        subscriptions: Arc::default(),
        equity: Arc::new(EquityKeeper::new(Ring::at("/nowhere/equity".into()))),
        health_report: HealthReport::default(),
        watchdog: Notify::default().watchdog(),
    };
    let backlog = Backlog::new(journal, bounded(1).0);
    let decision_loop = DecisionLoop::new(Guard::new(config(), 0), backlog, Arc::default(), around);
    (decision_loop, inbox, batches, queued)
}

/// The disk takes nothing until its queue has been full for a while.
#[test]
fn a_slow_disk_does_not_cost_the_last_events_of_a_shutdown() {
    let (decision_loop, inbox, batches, _queued) = decision_loop();
    let disk = thread::spawn(move || {
        let patience = Instant::now() + Duration::from_secs(60);
        while !batches.is_full() && Instant::now() < patience {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(200));
        let kinds = batches.iter().flat_map(|batch| batch.after.events).map(|event| event.kind);
        kinds.collect::<Vec<_>>()
    });
    inbox.send(Message::Input(Input::Shutdown { reason: "SIGTERM".to_owned() })).unwrap();
    decision_loop.run().unwrap();
    assert_eq!(disk.join().unwrap().last(), Some(&"stopped"));
}

/// Who was not heard when the time of a shutdown is over is told so: nobody waits for an answer that never comes.
#[test]
fn whoever_is_left_at_the_end_is_answered() {
    let (mut decision_loop, inbox, batches, _queued) = decision_loop();
    let (asked, answers): (Vec<Message>, Vec<_>) = (0..4)
        .map(|n| {
            let (reply, answer) = Responder::channel(Instant::now());
            let (received, unparsed, text) = (None, String::new(), "no JSON".to_owned());
            let body = RequestBody::Malformed { received, unparsed, text, http_status: 422 };
            let message = match n {
                3 => Message::Kill { reason: "late".to_owned(), by: Address([1; 20]), reply },
                _ => Message::Exchange { via: guard::Via::Http, body, place: None, reply },
            };
            (message, answer)
        })
        .unzip();
    asked.into_iter().for_each(|message| inbox.send(message).unwrap());
    decision_loop.shutdown_by_ms = Some(0);
    let disk = thread::spawn(move || batches.iter().count());
    decision_loop.run().unwrap();
    assert!(disk.join().unwrap() > 0);
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.recv().unwrap().http_status).collect();
    assert_eq!(statuses, [503, 503, 503, 504], "the kill was heard first, and no disk has taken that");
}

/// With no place for a sender and none in its own inbox, the loop tells the core by itself that an action was not sent.
#[test]
fn a_full_send_queue_holds_up_no_decision() {
    let (mut decision_loop, inbox, _batches, _queued) = decision_loop();
    let action = || SendAction {
        intent: 1,
        index: 0,
        action: serde_json::json!({"type": "noop"}),
        terms: Terms { nonce: 1, vault: None, expires_after_ms: None },
        batch_len: 1,
        urgency: Urgency::Own,
        client: None,
    };
    (0..QUEUE).for_each(|_| decision_loop.send(action()));
    while inbox.try_send(Message::Input(Input::Tick)).is_ok() {}
    decision_loop.send(action());
    assert_eq!(decision_loop.around.commit_handler.sends.lengths()[0], QUEUE);
}

#[test]
fn a_checkpoint_is_due_by_number_by_size_and_at_both_ends_of_a_life() {
    let record = |kind: &'static str, length: usize| {
        let keys = crate::record::event::Keys::default();
        guard::Record { text: "x".repeat(length), seq: 1, kind, keys, decided: None }
    };
    let due_after = |kind, length| {
        let mut uncovered = Uncovered::default();
        (1..=CHECKPOINT_EVENTS).find(|_| uncovered.add(&[record(kind, length)], day_of(0)))
    };
    assert_eq!(due_after("decision", 8), Some(CHECKPOINT_EVENTS));
    assert_eq!(due_after("decision", CHECKPOINT_BYTES), Some(1));
    assert_eq!(due_after("decision", CHECKPOINT_BYTES - 1), Some(2));
    assert_eq!((due_after("started", 8), due_after("stopped", 8)), (Some(1), Some(1)));
    // With the first events of a day, and not before there are any: a start then needs no file of the day before.
    let (first, next) = (day_of(86_399_999), day_of(86_400_000));
    let mut uncovered = Uncovered::default();
    let due = [(1, first), (0, next), (1, next), (1, next)].map(|(count, day)| {
        let records: Vec<_> = (0..count).map(|_| record("decision", 8)).collect();
        uncovered.add(&records, day)
    });
    assert_eq!(due, [false, false, true, false]);
}

/// What the journal's thread sees of the disk is an alert and ill health, and goes with it.
#[test]
fn a_disk_that_is_nearly_full_is_told_of_until_there_is_room() {
    let (mut decision_loop, _inbox, _batches, _queued) = decision_loop();
    let is_told = |decision_loop: &DecisionLoop| {
        let health = decision_loop.guard.health(now_ms());
        let alerts = decision_loop.guard.gauges(now_ms()).alerts;
        let is_told = alerts.iter().any(|alert| alert == "disk_low");
        assert_eq!(health.problems.iter().any(|text| text == "12 MiB free"), is_told);
        is_told
    };
    for (text, is_low) in [(None, false), (Some("12 MiB free"), true), (None, false)] {
        decision_loop.health.set_low_space(text.map(str::to_owned));
        decision_loop.journal_health();
        assert_eq!(is_told(&decision_loop), is_low);
    }
}

/// A call to the disk that never comes back fails by no error.
#[test]
fn a_disk_that_hangs_is_told_of_until_it_answers() {
    let (mut decision_loop, _inbox, _batches, _queued) = decision_loop();
    let hangs = |decision_loop: &mut DecisionLoop| {
        decision_loop.journal_health();
        let is_ill = decision_loop.guard.health(now_ms()).problems.iter().any(|text| text.contains("does not answer"));
        assert_eq!(decision_loop.guard.journal_problem().is_some(), is_ill);
        is_ill
    };
    let now_steady_ms = steady_ms();
    decision_loop.health.set_at_disk(true);
    assert!(!hangs(&mut decision_loop));
    let for_ms = |later_ms: u64| decision_loop.health.at_disk_for_ms(now_steady_ms + later_ms);
    assert!((4_000..=5_000).contains(&for_ms(5_000)));
    decision_loop.health.set_at_disk_since(now_steady_ms.saturating_sub(HANGS_AFTER_MS));
    assert!(hangs(&mut decision_loop));
    decision_loop.health.set_at_disk(false);
    assert!(!hangs(&mut decision_loop));
    assert_eq!(decision_loop.health.at_disk_for_ms(steady_ms()), 0);
}
