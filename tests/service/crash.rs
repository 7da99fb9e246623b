//! Journal first: the service is killed in the middle of its work, again and again, and nothing that it told anybody
//! or sent anywhere is missing from its disk.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::http::Connection;
use crate::signing::{BTC, ETH, limit, place, signed};
use crate::stand::{Mode, Stand, until};

/// Enough entries for a round of all bots.
const RULES: &str = "orders_per_minute = 1000\nopen_orders = 500\nduplicate_window = \"0\"\n";
const BOTS: usize = 4;
/// Answers after which each life ends: early, in the middle of a burst, late.
const LIVES: [usize; 6] = [1, 7, 23, 40, 61, 90];

/// A request that was answered: its body and its decision's number.
type Answered = (Value, u64);

fn work(stand: &Stand, bot: usize, done: &AtomicUsize, answered: &Mutex<Vec<Answered>>, asked: &Mutex<Vec<Value>>) {
    let mut connection = Connection::open(stand.address());
    for turn in 0_usize.. {
        let action = match turn % 3 {
            0 => place(&limit(BTC, true, &format!("{}", 50_000 + bot * 1_000 + turn), "0.0002")),
            1 => place(&limit(ETH, true, &format!("{}", 2_000 + bot * 10 + turn), "0.006")),
            _ => json!({"type": "noop"}),
        };
        let body = signed(&stand.client, &action);
        asked.lock().unwrap().push(body.clone());
        // The connection ends with the service.
        let Ok(response) = connection.post("/exchange", &body.to_string()) else { return };
        let seq = response.json()["guard"]["seq"].as_u64().unwrap_or_else(|| panic!("{response:?}"));
        answered.lock().unwrap().push((body, seq));
        done.fetch_add(1, Ordering::SeqCst);
    }
}

/// One life of the service: killed once `answers` requests were answered.
fn live_and_die(stand: &mut Stand, answers: usize) -> (Vec<Answered>, Vec<Value>) {
    let (done, answered, asked) = (AtomicUsize::new(0), Mutex::default(), Mutex::default());
    let pid = nix::unistd::Pid::from_raw(i32::try_from(stand.pid()).unwrap());
    std::thread::scope(|scope| {
        for bot in 0..BOTS {
            let (stand, done, answered, asked) = (&*stand, &done, &answered, &asked);
            scope.spawn(move || work(stand, bot, done, answered, asked));
        }
        while done.load(Ordering::SeqCst) < answers {
            std::hint::spin_loop();
        }
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
    });
    stand.kill();
    (answered.into_inner().unwrap(), asked.into_inner().unwrap())
}

/// The nonces under which the service's events named what it was about to send.
fn named(on_disk: &[Value]) -> BTreeSet<u64> {
    on_disk
        .iter()
        .filter_map(|event| event["nonces"].as_array())
        .flatten()
        .map(|nonce| nonce.as_u64().unwrap())
        .collect()
}

/// The actions that an event named and of which no later one tells what became of them. `done` tells that what has no
/// `sent` event was not sent, which is no end for what the venue did get.
fn open_ends(on_disk: &[Value], venue_saw: &[Value]) -> Vec<(u64, usize)> {
    let mut open = Vec::new();
    for event in on_disk.iter().filter(|event| event["nonces"].is_array()) {
        let seq = &event["seq"];
        let of = |kind: &str, field: &str| -> Vec<&Value> {
            on_disk.iter().filter(|event| event["kind"] == kind && event[field] == *seq).collect()
        };
        let (sent, recovered, done) = (of("sent", "decision"), of("recovered", "intent"), of("done", "intent"));
        for (index, nonce) in event["nonces"].as_array().unwrap().iter().enumerate() {
            let named = |ends: &[&Value]| ends.iter().any(|end| end["index"] == json!(index));
            let ordered = |seen: &Value| seen["nonce"] == *nonce && seen["type"] == "order";
            let not_sent = !done.is_empty() && !venue_saw.iter().any(ordered);
            if !named(&sent) && !named(&recovered) && !not_sent {
                open.push((seq.as_u64().unwrap(), index));
            }
        }
    }
    open
}

/// What is said to have happened did, and what is said not to have happened did not.
fn tell_the_truth(on_disk: &[Value], venue_saw: &[Value]) {
    let mut outcomes = BTreeMap::new();
    for event in on_disk.iter().filter(|event| event["kind"] == "recovered") {
        let named = on_disk.iter().find(|named| named["seq"] == event["intent"]).unwrap();
        let nonce = &named["nonces"][usize::try_from(event["index"].as_u64().unwrap()).unwrap()];
        let taken = venue_saw.iter().find(|seen| seen["nonce"] == *nonce && seen["verdict"] == "applied");
        let happened = taken.is_some_and(|seen| seen["action"] == event["action"]);
        let outcome = event["outcome"].as_str().unwrap();
        // A noop whose nonce is taken by another noop cannot be told from the other: neither does anything.
        if event["action"]["type"] != "noop" {
            match outcome {
                "happened" => assert!(happened, "{event}"),
                "did_not_happen" => assert!(!happened, "{event}"),
                // A setting that is as it was wanted, whoever set it.
                "moot" if event["action"]["type"] == "updateLeverage" => {}
                other => panic!("an order's end is {other}: {event}"),
            }
        }
        assert!(event["evidence"].as_array().is_some_and(|evidence| !evidence.is_empty()), "{event}");
        *outcomes.entry(outcome.to_owned()).or_insert(0) += 1;
    }
    assert!(outcomes.get("happened").is_some_and(|count| *count >= LIVES.len()), "{outcomes:?}");
}

#[test]
fn whatever_was_told_or_sent_is_on_disk() {
    let mut stand = Stand::set_up(Mode::Testnet, RULES);
    // Six lives in a minute read more than the venue gives one address, which is not what this is about.
    stand.venue.setting("weight_limit", Value::Null).unwrap();
    let mut told: BTreeMap<u64, u64> = BTreeMap::new();
    let mut all_asked = Vec::new();
    for answers in LIVES {
        stand.forget_spent_weight();
        stand.start();
        // Some orders are done and never answered, and all answers are late: each death finds actions on their way.
        let stall = json!({"op": "fault", "on": "order", "kind": "stall", "times": 2});
        let late = json!({"op": "fault", "on": "exchange", "kind": "delay", "times": 1_000_000, "ms": 5});
        stand.venue.control(&json!([stall, late])).unwrap();
        let (answered, asked) = live_and_die(&mut stand, answers);
        stand.venue.control(&json!({"op": "clear"})).unwrap();
        assert!(answered.len() >= answers);

        // As the crash left it, before anything could be completed.
        let on_disk = stand.on_disk();
        let decisions: BTreeMap<u64, u64> = on_disk
            .iter()
            .filter(|event| event["kind"] == "decision")
            .map(|event| (event["seq"].as_u64().unwrap(), event["nonce"].as_u64().unwrap()))
            .collect();
        told.extend(answered.iter().map(|(body, seq)| (*seq, body["nonce"].as_u64().unwrap())));
        for (seq, nonce) in &told {
            assert_eq!(decisions.get(seq), Some(nonce), "decision {seq} was answered and is not on disk");
        }
        let named = named(&on_disk);
        let saw = stand.venue_saw();
        for request in &saw {
            // Only a noop may use a nonce again: that is how it is found out whether the first one arrived. It may be the
            // quicker one, while that was still on its way.
            let is_same = |other: &&Value| other["nonce"] == request["nonce"] && other["action"] == request["action"];
            let is_once = request["type"] == "noop" || saw.iter().filter(is_same).count() == 1;
            assert!(request["verdict"] != "bad_nonce" || is_once, "sent again: {request}");
            let nonce = request["nonce"].as_u64().unwrap();
            assert!(named.contains(&nonce), "the venue got {request}, which no event on disk names");
        }
        let seqs: Vec<u64> = on_disk.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
        assert_eq!(seqs, (1..=u64::try_from(seqs.len()).unwrap()).collect::<Vec<_>>(), "numbers go on without a gap");
        all_asked.extend(asked);
    }

    // The next life verifies the chain, goes on where the last one ended, and knows every nonce that was used.
    let before = stand.on_disk();
    stand.forget_spent_weight();
    stand.start();
    let decisions = before.iter().filter(|event| event["kind"] == "decision");
    let used: BTreeSet<u64> = decisions.filter_map(|event| event["nonce"].as_u64()).collect();
    let seen = stand.venue_saw().len();
    let mut refused = 0;
    for body in all_asked.iter().filter(|body| used.contains(&body["nonce"].as_u64().unwrap())) {
        let reply = stand.post("/exchange", body).json();
        let code = reply["guard"]["code"].as_str().unwrap();
        assert!(["nonce_reused", "nonce_out_of_window"].contains(&code), "{reply}");
        refused += 1;
    }
    assert!(refused >= told.len(), "{refused} requests were sent again, {} had been answered", told.len());
    let again = stand.venue_saw();
    let doubled = again[seen..].iter().filter(|request| request["type"] == "order").count();
    assert_eq!(doubled, 0, "nothing is placed twice");
    let started = stand.on_disk().into_iter().nth(before.len()).unwrap();
    assert_eq!(started["seq"].as_u64().unwrap(), u64::try_from(before.len()).unwrap() + 1);
    for (seq, nonce) in &told {
        let found = stand.get(&format!("/guard/decision?nonce={nonce}")).json();
        assert_eq!(found["decisions"][0]["decision"]["seq"], json!(seq));
    }
    until("every action to have an end", || open_ends(&stand.on_disk(), &stand.venue_saw()).is_empty().then_some(()));
    tell_the_truth(&stand.on_disk(), &stand.venue_saw());
    until("a service that trades", || (stand.send(&json!({"type": "noop"}))["status"] == "ok").then_some(()));
}
