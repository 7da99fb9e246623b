//! Questions whose answers weigh by their length, many side by side and signed by nobody: they take what is left for such, and
//! nothing of what the guard keeps for itself. Told by what the venue counted.

use serde_json::json;

use crate::stand::{Mode, Stand};
use crate::watched::{WIDE, covered, hold, hold_covered, until_flat};

/// What 5,000 candles weigh.
const LONG: u64 = 20 + 5_000 / 60;
/// What questions of clients have in a minute at the whole budget beside a live feed.
const ROOM: u64 = 414;
/// What is kept for a flatten, and clients' exits and entries.
const KEPT: u64 = 141 + 66 + 109;
const QUESTIONS: u64 = 30;

#[test]
fn long_answers_side_by_side_leave_what_is_kept_for_the_guard() {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    hold(&stand, "ETH", "0.5");
    // What setting up took is past, for the venue and for the guard: a start alone leaves room for questions.
    stand.forget_spent_weight();
    stand.venue.control(&json!({"op": "clock", "advance_ms": 61_000})).unwrap();
    stand.start();
    covered(&stand, "ETH", "0.5");
    // Slow enough that none is here before the last is asked.
    stand
        .venue
        .control(&json!({"op": "fault", "on": "candleSnapshot", "kind": "delay", "times": QUESTIONS, "ms": 1_500}))
        .unwrap();
    let answered: Vec<u16> = std::thread::scope(|scope| {
        let ask = |number: u64| {
            let request =
                json!({"coin": "BTC", "interval": "1m", "startTime": number, "endTime": 4_000_000_000_000_u64});
            let body = json!({"type": "candleSnapshot", "req": request}).to_string();
            let stand = &stand;
            scope.spawn(move || stand.connect().post("/info", &body).map_or(0, |response| response.status))
        };
        let asked: Vec<_> = (0..QUESTIONS).map(ask).collect();
        asked.into_iter().map(|asked| asked.join().unwrap()).collect()
    });
    let truth = stand.venue.truth();
    let (long, used) = (truth["reads"]["candleSnapshot"].as_u64().unwrap(), truth["weight_used"].as_u64().unwrap());
    assert!(long > 0 && long * LONG <= ROOM, "{long} of {QUESTIONS}: {answered:?}");
    assert!(used + KEPT <= 1_200, "{used}");
    assert!(answered.iter().all(|status| [200, 429].contains(status)), "{answered:?}");
    assert_eq!(answered.iter().filter(|status| **status == 200).count() as u64, long, "{answered:?}");
    // What is bare is covered, and the kill ends it, in the same minute.
    hold_covered(&stand, "SOL", "4");
    stand.pull("enough");
    until_flat(&stand);
    assert!(!stand.venue_saw().iter().any(|request| request["verdict"] == "weight_exceeded"));
}
