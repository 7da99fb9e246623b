//! The account's feeds come from the guard's own socket: what a client hears, the guard knows.

use super::*;
use crate::signing::{ETH, closing, limit, place};
use crate::watched::{held, hold, until_flat};

const OF_ACCOUNT: [&str; 9] = [
    "userFills",
    "orderUpdates",
    "userEvents",
    "userNonFundingLedgerUpdates",
    "userFundings",
    "clearinghouseState",
    "openOrders",
    "spotState",
    "webData3",
];

#[test]
fn the_venue_tells_them_once() {
    let stand = stand();
    let mut clients = [Subscriber::at_guard(&stand), Subscriber::at_guard(&stand)];
    for client in &mut clients {
        for kind in OF_ACCOUNT {
            client.subscribed(&of_account(kind));
        }
    }
    for kind in OF_ACCOUNT {
        assert_eq!(held_at_venue(&stand, kind), 1, "{kind}");
    }
    assert_eq!((count(&stand, "held"), count(&stand, "at_venue"), count(&stand, "sockets")), (18, 0, 0));
    drop(clients);
    until("the clients to be gone", || (count(&stand, "held") == 0).then_some(()));
    assert!(OF_ACCOUNT.iter().all(|kind| held_at_venue(&stand, kind) == 1), "the guard listens on");
    // In another form it is another feed, and comes as any.
    let mut client = Subscriber::at_guard(&stand);
    client.subscribed(&json!({"type": "userFills", "user": ACCOUNT, "aggregateByTime": true}));
    assert_eq!((held_at_venue(&stand, "userFills"), count(&stand, "at_venue")), (2, 1));
}

/// A bot that closes what it hears to have filled, with an order that is not marked: the fill is known to the guard by then, though no
/// read can show it.
#[test]
fn what_a_client_hears_of_is_closed_at_once() {
    let stand = stand();
    let mut bot = Subscriber::at_guard(&stand);
    bot.subscribed(&json!({"type": "userFills", "user": stand.client.address()}));
    bot.hear_on("userFills");
    let fault = |on: &str| json!({"op": "fault", "on": on, "kind": "http_502", "times": 100_000});
    for size in ["0.4", "0.7"] {
        until("nothing to be held", || stand.status()["positions"].as_array()?.is_empty().then_some(()));
        stand.venue.control(&json!([fault("clearinghouseState"), fault("frontendOpenOrders")])).unwrap();
        hold(&stand, "ETH", size);
        let fill = bot.hear_on("userFills");
        assert!(fill.contains(r#""coin":"ETH""#) && !fill.contains("isSnapshot"), "{fill}");
        let mut close = limit(ETH, false, "2400", size);
        close["t"] = json!({"limit": {"tif": "Ioc"}});
        let reply = stand.send(&place(&close));
        assert_eq!(reply["guard"]["text"], format!("sell of {size} only closes and goes as reduce-only"), "{reply}");
        bot.hear_on("userFills");
        assert_eq!(held(&stand, "ETH"), None, "{reply}");
        stand.venue.control(&json!({"op": "clear"})).unwrap();
        until_flat(&stand);
    }
}

/// A fill that does not follow on the last one is passed on before a read shows what is held: what closes it is an exit all the same.
#[test]
fn what_follows_on_a_lost_fill_is_closed_at_once() {
    let stand = stand();
    let mut bot = Subscriber::at_guard(&stand);
    bot.subscribed(&json!({"type": "userFills", "user": stand.client.address()}));
    bot.hear_on("userFills");
    until("reads that are audits", || (stand.status()["venue"]["feed"]["audited"] == true).then_some(()));
    let fault = |on: &str| json!({"op": "fault", "on": on, "kind": "http_502", "times": 100_000});
    stand.venue.control(&json!([fault("clearinghouseState"), fault("frontendOpenOrders")])).unwrap();
    for on in ["userFills", "userEvents"] {
        trouble(&stand, json!({"kind": "lose", "on": on, "times": 1}));
    }
    hold(&stand, "ETH", "0.4");
    hold(&stand, "ETH", "0.7");
    let fill = bot.hear_on("userFills");
    assert!(fill.contains(r#""startPosition":"0.4""#), "{fill}");
    let reply = stand.send(&closing(ETH, "2400", "0.7"));
    assert_eq!((&reply["guard"]["verdict"], &reply["guard"]["code"]), (&json!("allow"), &json!("reduces")), "{reply}");
    until("nothing to be held", || held(&stand, "ETH").is_none().then_some(()));
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    until_flat(&stand);
}

/// Answers are given again for a moment, but none of before what the client has heard.
#[test]
fn what_a_client_asks_for_is_no_older_than_what_it_heard() {
    let stand = stand();
    let mut bot = Subscriber::at_guard(&stand);
    bot.subscribed(&of_account("userFills"));
    bot.hear_on("userFills");
    let asked = || stand.post("/info", &json!({"type": "clearinghouseState", "user": ACCOUNT})).json();
    for size in ["0.1", "0.2", "0.3", "0.4"] {
        asked();
        fill(&stand, size);
        bot.hear_on("userFills");
        let positions = asked()["assetPositions"].clone();
        assert_eq!(positions[0]["position"]["szi"], size, "{positions}");
    }
}
