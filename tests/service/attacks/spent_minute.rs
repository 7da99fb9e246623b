//! A restart leaves the next life little of the minute's weight: the exits of each client go all the same.

use crate::clients::{another, filled, send_as};
use crate::signing::{ETH, closing};
use crate::stand::{Mode, Stand};
use crate::watched::{WIDE, covered, held, hold};

#[test]
fn exits_of_two_clients_go_after_restarts_within_a_minute() {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    let second = another(&stand);
    hold(&stand, "ETH", "0.5");
    stand.start();
    covered(&stand, "ETH", "0.5");
    for _ in 0..3 {
        stand.kill();
        stand.start();
    }
    for reply in [stand.send(&closing(ETH, "2400", "0.1")), send_as(&stand, &second, &closing(ETH, "2400", "0.4"))] {
        assert!(filled(&reply).is_some(), "{} used: {reply}", stand.venue.truth()["weight_used"]);
    }
    assert_eq!(held(&stand, "ETH"), None);
}
