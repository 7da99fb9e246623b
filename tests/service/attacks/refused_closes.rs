//! Closes that nobody refused are tried again soon: pauses grow by what the venue decided, not by what never reached it.

use crate::stand::{Mode, Stand, run_with};
use crate::watched::{WIDE, fault, hold_covered, until_flat};

/// Tries in vain. With a pause that doubles each time the next one would come after two minutes.
const IN_VAIN: u64 = 8;

#[test]
fn closes_that_were_not_sent_are_soon_tried_again() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "ETH", "0.4");
    fault(&stand, "order", "http_429", IN_VAIN, "");
    assert_eq!(run_with(&stand.home(), &["kill", "--reason", "enough"], "").status.code(), Some(0));
    until_flat(&stand);
}
