//! A fill needs its cover from then on, not only once a read shows it: a cancel that would take the cover of one that was
//! only answered puts the guard's own stop first.

use serde_json::json;

use super::loosened_stop::{cancel, sell_stop, stays_covered, stop_at};
use crate::signing::{ETH, place};
use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, held, hold_covered, is_same, stops};

#[test]
fn the_cover_of_a_fill_that_no_read_has_shown_survives_a_cancel() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    stand.without_feed();
    hold_covered(&stand, "ETH", "0.1");
    stand.send(&place(&sell_stop("2470", "5")));
    until("the guard's own stop to go", || (stops(&stand, "ETH").len() == 1).then_some(()));
    let large = stop_at(&stand, "2470");
    until("it to be read", || (stand.status()["open_orders"][0]["oid"] == large).then_some(()));
    // From here on the account is read as it was.
    stand.venue.fault("clearinghouseState", "stale", 1_000).unwrap();
    let entry = json!({"a": ETH, "b": true, "p": "2510", "s": "3.8", "r": false, "t": {"limit": {"tif": "Ioc"}}});
    let reply = stand.send(&place(&entry));
    assert!(reply["response"]["data"]["statuses"][0].get("filled").is_some(), "{reply}");
    let size = held(&stand, "ETH").unwrap();
    assert!(is_same(&size, "3.9"), "{size}");
    stand.send(&cancel(large));
    stays_covered(&stand, "2450", "3.9", 4);
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    stays_covered(&stand, "2450", "3.9", 4);
}
