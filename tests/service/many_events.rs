//! A start behind a million events: what it needs of memory, and what of them is still found.

use nix::sys::signal::Signal;
use serde_json::json;

use crate::history::{BATCH, fill};
use crate::signing::resting;
use crate::stand::{Mode, Stand, until};

const EVENTS: u64 = 1_000_000;
/// Events behind the last checkpoint, as a crash may leave them.
const TAIL: u64 = BATCH - 2;
/// What may be resident, KiB.
const MOST_KIB: u64 = 40 * 1_024;

fn resident_kib(stand: &Stand) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", stand.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn a_million_events_cost_little_memory() {
    let mut stand = Stand::up(Mode::Testnet, "");
    stand.send(&json!({"type": "updateLeverage", "asset": 3, "isCross": true, "leverage": 5}));
    assert_eq!(stand.send(&resting())["status"], "ok");
    until("the end of the order", || stand.events_of("done").pop());
    let (mut events, at_ms) = (stand.events(), stand.status()["at_ms"].as_u64().unwrap());
    let is_of_order = |event: &serde_json::Value| event["kind"] != "decision" || event["action"] == "order";
    events.retain(is_of_order);
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    let (nonces, events) = (at_ms - 2 * EVENTS, json!({"events": events}));
    fill(&stand.journal(), &events, nonces, (EVENTS / BATCH, BATCH), at_ms).unwrap();
    fill(&stand.journal(), &events, nonces + EVENTS, (1, TAIL), at_ms).unwrap();
    stand.start();
    until("the account", || stand.status()["positions"].is_array().then_some(()));
    let resident = resident_kib(&stand);
    assert!(resident < MOST_KIB, "{resident} KiB");
    // One of the oldest, one of the newest behind the last checkpoint, and one of none.
    for (nonce, status) in [(nonces + 1, 200), (nonces + EVENTS + 1, 200), (nonces - 1, 404)] {
        let found = stand.get(&format!("/guard/decision?nonce={nonce}"));
        assert_eq!(found.status, status, "{nonce}: {}", found.body);
    }
}
