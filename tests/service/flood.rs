//! A flood of requests that no client signed: slowed together, on disk at a bounded rate, and nobody's signed request
//! waits behind it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};
use svc_guard::base::key::SecretKey;

use crate::signing::signed;
use crate::stand::{Mode, Stand, until};
use crate::watched::Ends;

/// Who floods at once: more than may wait their turn, fewer than there are connections.
const FLOODERS: usize = 24;
/// One of these requests a turn.
const TURN_MS: u64 = 50;
/// So many may have been waiting when the first one was let through.
const WAITING: u64 = 16;
/// The flood goes on until so many were judged.
const JUDGED: usize = 60;
/// So many signed requests pass in that time at least; one that had to wait its turn among the others would have had
/// two or three turns.
const PASSED: usize = 15;

#[test]
fn a_flood_is_slowed_and_starves_no_client() {
    let stand = Stand::up(Mode::Paper, "");
    let stranger = SecretKey::parse(&format!("0x{}", "77".repeat(32))).unwrap();
    let (over, judged, turned_away) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let mut answered = 0;
    std::thread::scope(|scope| {
        let _ends = Ends(&over);
        for _ in 0..FLOODERS {
            scope.spawn(|| {
                let _ends = Ends(&over);
                let body = signed(&stranger, &json!({"type": "noop"})).to_string();
                let mut connection = stand.connect();
                while !over.load(Ordering::SeqCst) {
                    let response = connection.post("/exchange", &body).unwrap();
                    if response.status == 429 {
                        assert_eq!(response.json()["code"], "rate_limited", "{response:?}");
                        turned_away.fetch_add(1, Ordering::SeqCst);
                    } else {
                        assert_eq!(response.json()["guard"]["code"], "bad_signature", "{response:?}");
                        judged.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
        let mut connection = stand.connect();
        while judged.load(Ordering::SeqCst) < JUDGED && !over.load(Ordering::SeqCst) {
            let body = signed(&stand.client, &json!({"type": "noop"})).to_string();
            let reply = connection.post("/exchange", &body).unwrap();
            assert_eq!(reply.status, 200, "a client's request was not judged: {reply:?}");
            answered += 1;
        }
    });
    assert!(turned_away.load(Ordering::SeqCst) > 0, "the flood was no flood");
    assert!(answered >= PASSED, "only {answered} signed requests passed beside {JUDGED} unsigned ones");

    // Who was turned away is told of together, once a second.
    let is_told = |event: &Value| event["kind"] == "decision" && event["count"].is_u64();
    let turned_away = u64::try_from(turned_away.into_inner()).unwrap();
    let on_disk = until("all who were turned away", || {
        let events = stand.on_disk();
        let told = events.iter().filter(|event| is_told(event)).filter_map(|event| event["count"].as_u64());
        (told.sum::<u64>() == turned_away).then_some(events)
    });
    let told: Vec<&Value> = on_disk.iter().filter(|event| is_told(event)).collect();
    assert!(told.iter().all(|event| event["code"] == "bad_signature"), "{told:?}");
    let at_ms = |event: &Value| event["at_ms"].as_u64().unwrap();
    assert!(told.windows(2).all(|two| at_ms(two[1]) - at_ms(two[0]) >= 1_000), "{told:?}");
    let is_nobodys = |event: &&Value| event["kind"] == "decision" && event["client"].is_null() && !is_told(event);
    let nobodys: Vec<&Value> = on_disk.iter().filter(is_nobodys).collect();
    assert_eq!(nobodys.len(), judged.load(Ordering::SeqCst), "a decision each");
    let span_ms = at_ms(nobodys[nobodys.len() - 1]) - at_ms(nobodys[0]);
    let most = span_ms / TURN_MS + 1 + WAITING;
    assert!(u64::try_from(nobodys.len()).unwrap() <= most, "{} decisions in {span_ms} ms", nobodys.len());
}
