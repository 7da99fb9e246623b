//! The decision loop without the rest of the service.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::bounded;

use super::*;
use crate::base::address::Address;
use crate::faults::Faults;
use crate::guard::{Config, Mode};
use crate::rules::Rules;
use crate::service::metrics::Metrics;
use crate::service::notify::Notify;
use crate::service::ring::Ring;
use crate::service::sender;
use crate::venue::signing::Source;

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
        kill_file: "/nowhere/kill".to_owned(),
        venue_url: "http://127.0.0.1:1".to_owned(),
    }
}

/// A loop whose journal has room for one batch, with its own ends.
fn desk() -> (Desk, Sender<Message>, Receiver<Batch<Release>>) {
    let ((inbox, messages), (journal, batches)) = (bounded(INBOX), bounded(1));
    let ((sends, _), (reads, _), (stopped, _)) = (sender::queues(), bounded(64), bounded(1));
    let releaser = Releaser {
        ring: Arc::new(Ring::default()),
        sends,
        inbox: inbox.clone(),
        stopped,
        behind: Mutex::default(),
        metrics: Arc::new(Metrics::new(0, "paper")),
        faults: Faults::default(),
    };
    let desk = Desk {
        guard: Guard::new(config(), 0),
        inbox: messages,
        journal,
        health: Arc::default(),
        releaser,
        reads,
        ledger: Arc::new(Mutex::new(Ledger::new(1_200))),
        kill_file: KillFile::new("/nowhere/kill".into()),
        waiting: HashMap::new(),
        last_request: 0,
        backlog: VecDeque::new(),
        checkpoint_seq: 0,
        ticked_ms: 0,
        waits: Waits::new(Notify::default()),
        watchdog: Notify::default().watchdog(),
        stop_by_ms: None,
    };
    (desk, inbox, batches)
}

/// The disk takes nothing until its queue has been full for a while.
#[test]
fn a_slow_disk_does_not_cost_the_last_events_of_a_stop() {
    let (desk, inbox, batches) = desk();
    let disk = thread::spawn(move || {
        let patience = Instant::now() + Duration::from_secs(60);
        while !batches.is_full() && Instant::now() < patience {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(200));
        let kinds = batches.iter().flat_map(|batch| batch.after.events).map(|event| event.kind);
        kinds.collect::<Vec<_>>()
    });
    inbox.send(Message::Input(Input::Stop { reason: "SIGTERM".to_owned() })).unwrap();
    desk.run().unwrap();
    assert_eq!(disk.join().unwrap().last(), Some(&"stopped"));
}
