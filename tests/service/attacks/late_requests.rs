//! Requests that reach the venue after their client's `expiresAfter` cost the account five times as much: the allowance cannot
//! be used up with them, and the kill switch still closes everything.

use serde_json::{Value, json};
use svc_guard::venue::signing::{Source, Terms};

use crate::signing::{ETH, clock_ms, fresh_nonce, signed_for};
use crate::stand::{Mode, Stand, run_with};
use crate::watched::{WIDE, hold_covered, until_flat};

const BATCH: usize = 20;
/// So many use up all that is left, 700, at five times their number.
const REQUESTS: usize = 9;
/// The life that the client gives each, and what the venue takes for it.
const LIFE_MS: u64 = 1_050;
const DELAY_MS: u64 = 1_200;

/// Exits at a price that nobody pays.
fn exits() -> Value {
    let order = json!({"a": ETH, "b": false, "p": "9000", "s": "0.001", "r": true, "t": {"limit": {"tif": "Ioc"}}});
    json!({"type": "order", "orders": vec![order; BATCH], "grouping": "na"})
}

#[test]
fn a_kill_flattens_after_requests_that_came_late() {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    stand.venue.control(&json!({"op": "setting", "name": "prior_requests", "value": 9_349})).unwrap();
    stand.start();
    hold_covered(&stand, "ETH", "0.02");
    let slow = json!({"op": "fault", "on": "order", "kind": "delay", "times": 1_000, "ms": DELAY_MS});
    stand.venue.control(&slow).unwrap();
    let mut late = 0;
    for _ in 0..REQUESTS {
        let terms = Terms { nonce: fresh_nonce(), vault: None, expires_after_ms: Some(clock_ms() + LIFE_MS) };
        let reply = stand.post("/exchange", &signed_for(&stand.client, &exits(), &terms, Source::Testnet)).json();
        late += usize::from(reply.to_string().contains("already expired"));
    }
    assert!(late > 0, "none came late");
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    let done = run_with(&stand.home(), &["kill", "--reason", "enough"], "");
    assert_eq!(done.status.code(), Some(0));
    until_flat(&stand);
}
