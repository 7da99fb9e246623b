//! Paper mode: nothing is ever sent, and what a client hears of the account is what the venue tells of it.

use super::*;
use crate::signing::{BTC, closing, limit, place, resting};

const KINDS: [&str; 7] = [
    "orderUpdates",
    "userEvents",
    "userFills",
    "userNonFundingLedgerUpdates",
    "userFundings",
    "userHistoricalOrders",
    "notification",
];
const CHANNELS: [&str; 7] = [
    "orderUpdates",
    "user",
    "userFills",
    "userNonFundingLedgerUpdates",
    "userFundings",
    "userHistoricalOrders",
    "notification",
];

fn paper() -> Stand {
    let mut stand = Stand::set_up(Mode::Paper, "");
    stand.venue.control(&json!({"op": "setting", "name": "feed_state_ms", "value": 1_000})).unwrap();
    stand.start();
    stand
}

/// One at the venue and one at the guard, who asks with an address of its own.
fn both(stand: &Stand) -> (Subscriber, Subscriber) {
    let (mut direct, mut through) = (Subscriber::at_venue(stand), Subscriber::at_guard(stand));
    for kind in KINDS {
        let said = direct.subscribed(&of_account(kind));
        let own = through.subscribed(&json!({"type": kind, "user": spelled(stand)}));
        assert_eq!(own.to_string().replace(&spelled(stand), ACCOUNT), said.to_string());
    }
    (direct, through)
}

#[test]
fn what_happens_at_the_venue_is_heard_as_there() {
    let stand = paper();
    let (mut direct, mut through) = both(&stand);
    fill(&stand, "0.3");
    stand.venue.control(&json!({"op": "order", "order": limit(BTC, true, "59000", "0.01")})).unwrap();
    // It fills, and that is notified.
    price(&stand, "58900");
    stand.venue.control(&json!({"op": "funding", "rate": "0.0001"})).unwrap();
    fill(&stand, "-0.1");
    deposit(&stand, "7");
    let heard = direct.streams(&CHANNELS, |heard| is_told(heard, "\"7.0\""));
    assert_eq!(heard.len(), CHANNELS.len(), "{heard:?}");
    assert_eq!(heard["userFills"].len(), 3, "{heard:?}");
    same_streams(&mut through, &heard, &spelled(&stand));
    for kind in ["clearinghouseState", "openOrders", "spotState", "webData3"] {
        same_state(&stand, &of_account(kind), &spelled(&stand));
    }
    assert_eq!(stand.venue_saw(), [Value::Null; 0], "nothing is sent");
}

#[test]
fn what_only_paper_knows_is_heard_of_by_nobody() {
    let stand = paper();
    fill(&stand, "0.01");
    until("the position", || stand.status()["positions"].as_array().filter(|held| !held.is_empty()).map(drop));
    let (mut direct, mut through) = both(&stand);
    let rests = stand.send(&resting());
    assert_eq!(rests["guard"]["paper"], true, "{rests}");
    assert_eq!(stand.status()["open_orders"].as_array().unwrap().len(), 1, "{rests}");
    let mut taker = limit(BTC, true, "60600", "0.001");
    taker["t"] = json!({"limit": {"tif": "Ioc"}});
    for action in [place(&taker), closing(BTC, "59400", "0.01")] {
        let filled = stand.send(&action);
        assert_eq!(filled["guard"]["paper"], true, "{filled}");
    }
    // What is heard next is what happens next at the venue.
    deposit(&stand, "7");
    for subscriber in [&mut direct, &mut through] {
        let heard = subscriber.streams(&CHANNELS, |heard| is_told(heard, "\"7.0\""));
        assert_eq!(heard.keys().collect::<Vec<_>>(), ["userNonFundingLedgerUpdates"], "{heard:?}");
    }
    for kind in ["clearinghouseState", "openOrders"] {
        same_state(&stand, &of_account(kind), &spelled(&stand));
    }
    assert_eq!(stand.venue_saw(), [Value::Null; 0], "nothing is sent");
}
