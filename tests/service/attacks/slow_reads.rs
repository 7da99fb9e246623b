//! A venue that answers every question rightly, and each of them late, is seen late and not never.

use serde_json::json;

use crate::stand::{Mode, Stand};
use crate::watched::{WIDE, hold_covered, until_flat};

/// Later than another try begins.
const LATE_MS: u64 = 2_700;

#[test]
fn what_is_held_at_a_slow_venue_is_covered_and_closed() {
    covered_and_closed(&Stand::up(Mode::Testnet, WIDE));
}

#[test]
fn what_is_held_there_is_covered_and_closed_by_reads_alone() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    stand.without_feed();
    covered_and_closed(&stand);
}

fn covered_and_closed(stand: &Stand) {
    let slow = json!({"op": "fault", "on": "info", "kind": "delay", "times": 1_000_000, "ms": LATE_MS});
    stand.venue.control(&slow).unwrap();
    hold_covered(stand, "ETH", "0.4");
    std::fs::write(stand.home().join("kill"), "slow").unwrap();
    until_flat(stand);
}
