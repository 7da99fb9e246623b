//! A position in a coin listed since the markets were read has them read anew.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::stand::{Mode, Stand};
use crate::watched::{WIDE, hold, stops};

/// Well under the interval at which the markets are read anyway.
const SOON: Duration = Duration::from_secs(25);

#[test]
fn a_position_in_a_new_coin_is_covered() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    stand.without_feed();
    stand.venue.control(&json!({"op": "list", "coin": "NEWC", "px": "20"})).unwrap();
    hold(&stand, "NEWC", "30");
    let begun = Instant::now();
    while stops(&stand, "NEWC").is_empty() {
        assert!(begun.elapsed() < SOON, "waited in vain for a stop");
        std::thread::sleep(Duration::from_millis(20));
    }
}
