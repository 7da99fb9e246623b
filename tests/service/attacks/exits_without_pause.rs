//! A client that trades down step by step is not held up while the venue has room: what the guard reads after each send
//! leaves exits their weight.

use std::time::Duration;

use crate::clients::{another, filled, send_as};
use crate::signing::{ETH, closing};
use crate::stand::{Mode, Stand};
use crate::watched::{WIDE, covered, held, hold};

const EXITS: usize = 40;

#[test]
fn forty_exits_within_a_minute_pass() {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    let second = another(&stand);
    hold(&stand, "ETH", "0.4");
    stand.start();
    covered(&stand, "ETH", "0.4");
    for number in 0..EXITS {
        let reply = send_as(&stand, &second, &closing(ETH, "2400", "0.01"));
        assert!(filled(&reply).is_some(), "exit {number}, {} used: {reply}", stand.venue.truth()["weight_used"]);
        // Each is followed by reads of its own.
        std::thread::sleep(Duration::from_millis(250));
    }
    assert_eq!(held(&stand, "ETH"), None);
}
