//! Lives under load that end by SIGKILL at random moments.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::http::Connection;
use crate::signing::{BTC, ETH, limit, place, signed};
use crate::stand::{Mode, Stand, until};
use crate::truth::{self, Ends};

const RULES: &str = "orders_per_minute = 1200\nopen_orders = 1000\nduplicate_window = \"0\"\n";
const WATCH: &str = "prices_ms = 400\naccount_ms = 250\nopen_orders_ms = 700\n";
/// Lives in the test command, and of one home: the venue remembers no more requests than so many make.
const LIVES: u64 = 32;
const OF_ONE_HOME: u64 = 8;
const BOTS: u64 = 3;
/// An action's expiry with its margin, twice over.
const PATIENCE: Duration = Duration::from_secs(180);

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// One bot: entries that rest and entries that fill, modifies, cancels, until the service is gone.
fn trade(stand: &Stand, seed: u64, told: &Mutex<Vec<u64>>, is_over: &AtomicBool) {
    let mut dice = Dice(seed);
    let Ok(mut connection) = Connection::try_open(stand.address()) else { return };
    let mut resting: Vec<Value> = Vec::new();
    while !is_over.load(Ordering::SeqCst) {
        let (is_buy, far) = (dice.roll(2) == 0, 1 + dice.roll(400));
        let px = if is_buy { 59_900 - far } else { 60_100 + far };
        let action = match (dice.roll(6), resting.pop()) {
            (0, _) => place(&limit(BTC, is_buy, if is_buy { "60050" } else { "59950" }, "0.0003")),
            (1, _) => place(&limit(ETH, is_buy, if is_buy { "2505" } else { "2495" }, "0.008")),
            (2, Some(oid)) => json!({"type": "cancel", "cancels": [{"a": BTC, "o": oid}]}),
            (3, Some(oid)) => {
                json!({"type": "modify", "oid": oid, "order": limit(BTC, is_buy, &px.to_string(), "0.0003")})
            }
            _ => place(&limit(BTC, is_buy, &px.to_string(), "0.0003")),
        };
        let body = signed(&stand.client, &action);
        // The connection ends with the service.
        let Ok(response) = connection.post("/exchange", &body.to_string()) else { return };
        let reply = response.json();
        resting.extend(reply.pointer("/response/data/statuses/0/resting/oid").cloned());
        told.lock().unwrap().extend(reply["guard"]["seq"].as_u64());
    }
}

/// Waits until every action has its end. Where hundreds of newer nonces hide an old one, only its expiry settles it.
fn settled(stand: &Stand, seed: u64) {
    let begun = Instant::now();
    loop {
        let events = stand.on_disk();
        let open = truth::open_ends(&events);
        if open.is_empty() {
            return;
        }
        if begun.elapsed() >= PATIENCE {
            // What is open, the noops that burn its nonce, and what became of those.
            let mut about: BTreeSet<u64> = open.iter().map(|(seq, _)| *seq).collect();
            let mut told = Vec::new();
            for event in &events {
                let mut names = ["seq", "decision", "intent", "of"].into_iter().filter_map(|key| event[key].as_u64());
                let text = event["text"].as_str().unwrap_or_default();
                let tells_why = || about.iter().any(|seq| text.contains(&format!("intent {seq} ")));
                if names.any(|seq| about.contains(&seq)) || tells_why() {
                    about.extend(event["seq"].as_u64());
                    told.push(event.to_string());
                }
            }
            panic!("home {seed}: no end of {open:?}:\n{}", told.join("\n"));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Some lives of one home; each goes on from the disk of the last.
fn live(seed: u64, lives: u64) -> (Ends, usize) {
    let mut dice = Dice(seed);
    let mut stand = Stand::set_up_watching(Mode::Testnet, RULES, WATCH);
    stand.venue.setting("weight_limit", Value::Null).unwrap();
    let told = Mutex::new(Vec::new());
    for life in 0..lives {
        stand.launch();
        let slow =
            json!({"op": "fault", "on": "exchange", "kind": "delay", "times": 1_000_000, "ms": 3 + dice.roll(30)});
        let lost = json!({"op": "fault", "on": "exchange", "kind": "stall", "times": 1 + dice.roll(2)});
        stand.venue.control(&json!([lost, slow])).unwrap();
        let (is_over, pid) = (AtomicBool::new(false), i32::try_from(stand.pid()).unwrap());
        let until_ms = 150 + dice.roll(1_800);
        std::thread::scope(|scope| {
            for bot in 0..BOTS {
                let (stand, told, is_over) = (&stand, &told, &is_over);
                let seed = dice.roll(1 << 30) + bot;
                scope.spawn(move || trade(stand, seed, told, is_over));
            }
            std::thread::sleep(Duration::from_millis(until_ms));
            nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), Signal::SIGKILL).unwrap();
            is_over.store(true, Ordering::SeqCst);
        });
        stand.kill();
        stand.venue.control(&json!({"op": "clear"})).unwrap();
        let on_disk = stand.on_disk();
        let last = on_disk.last().map_or(0, |event| event["seq"].as_u64().unwrap());
        let lost = told.lock().unwrap().iter().find(|seq| **seq > last).copied();
        assert_eq!(lost, None, "life {life} of {seed}: a client was told of a decision that is not on disk");
    }
    stand.start();
    settled(&stand, seed);
    until("every position to be covered", || truth::bare(&stand.venue.truth()).is_none().then_some(()));
    let unrecorded = || truth::unrecorded(&stand.on_disk(), &stand.venue.truth());
    until("the fills on record", || (unrecorded() == 0).then_some(()));
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0), "{}", stand.log());
    let (events, truth) = (stand.on_disk(), stand.venue.truth());
    // The next start verifies every line.
    stand.launch();
    truth::hold_fills(&events, &truth);
    (truth::hold(&events, &truth), truth["requests"].as_array().unwrap().len())
}

#[test]
fn lives_that_end_at_random_moments_lose_and_double_nothing() {
    let lives = std::env::var("FAULT_LIVES").map_or(LIVES, |text| text.parse().unwrap());
    let homes = lives.div_ceil(OF_ONE_HOME);
    let (next, all) = (AtomicU64::new(0), Mutex::new((Ends::new(), 0)));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let home = next.fetch_add(1, Ordering::SeqCst);
                    if home >= homes {
                        return;
                    }
                    let (ends, requests) = live(home + 1, OF_ONE_HOME);
                    let mut all = all.lock().unwrap();
                    ends.into_iter().for_each(|(end, count)| *all.0.entry(end).or_default() += count);
                    all.1 += requests;
                }
            });
        }
    });
    let (ends, requests) = all.into_inner().unwrap();
    println!(
        "{} lives in {homes} homes; {requests} requests at the venue; actions ended: {ends:?}",
        homes * OF_ONE_HOME
    );
    assert!(ends.get("happened").is_some_and(|count| *count > 0), "{ends:?}");
}
