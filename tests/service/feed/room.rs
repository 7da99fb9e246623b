//! The room that the feed has for its reads.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{audited, listening, proved, trouble, unproved};
use crate::stand::ACCOUNT;

/// Well under the time in which a spent minute comes back.
const SOON: Duration = Duration::from_secs(10);

/// Clients that ask all they may keep no new socket from what it waits for.
#[test]
fn a_cut_socket_is_back_soon_in_a_minute_that_clients_spent() {
    let stand = listening();
    audited(&stand);
    let ask = |since_ms: u64| {
        let question = json!({"type": "userFillsByTime", "user": ACCOUNT, "startTime": since_ms});
        stand.post("/info", &question).status == 200
    };
    let answered = (1..100).take_while(|since_ms| ask(*since_ms)).count();
    assert!(answered < 60, "{answered} answers of 20 weight in one minute");
    trouble(&stand, json!({"kind": "drop"}));
    unproved(&stand);
    let begun = Instant::now();
    proved(&stand);
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}
