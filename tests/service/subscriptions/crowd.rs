//! Many clients at once, and one that does not read.

use super::*;

const CLIENTS: usize = 50;

/// Twenty feeds. The six of the account come on the guard's own socket, the others on one line.
fn feeds() -> Vec<Value> {
    let mut feeds = vec![json!({"type": "allMids"})];
    for coin in ["BTC", "ETH", "SOL"] {
        feeds.extend(["l2Book", "bbo", "trades", "activeAssetCtx"].map(|kind| of_coin(kind, coin)));
    }
    let of_user = [
        "orderUpdates",
        "userEvents",
        "userFills",
        "userFundings",
        "userNonFundingLedgerUpdates",
        "clearinghouseState",
    ];
    feeds.extend(of_user.map(of_account));
    feeds.push(json!({"type": "candle", "coin": "BTC", "interval": "1m"}));
    feeds
}

#[test]
fn the_venue_sees_one_of_fifty_clients() {
    let stand = stand();
    let feeds = feeds();
    let mut clients: Vec<Subscriber> = (0..CLIENTS).map(|_| Subscriber::at_guard(&stand)).collect();
    for client in &mut clients {
        feeds.iter().for_each(|feed| client.subscribe(feed));
    }
    for client in &mut clients {
        for _ in 0..feeds.len() {
            client.hear_on("subscriptionResponse");
        }
    }
    assert_eq!(count(&stand, "clients"), CLIENTS as u64);
    assert_eq!(count(&stand, "held"), (CLIENTS * feeds.len()) as u64);
    assert_eq!(count(&stand, "at_venue"), feeds.len() as u64 - 6);
    assert_eq!((held_at_venue(&stand, "l2Book"), held_at_venue(&stand, "userFills")), (3, 1));
    fill(&stand, "0.25");
    let frames: Vec<String> = clients
        .iter_mut()
        .map(|client| {
            loop {
                let frame = client.hear_on("userFills");
                if frame.contains("\"0.25\"") {
                    return frame;
                }
            }
        })
        .collect();
    assert!(frames.iter().all(|frame| *frame == frames[0]));
    drop(clients);
    until("nobody to subscribe", || (count(&stand, "clients") == 0).then_some(()));
    until("an end at the venue", || (held_at_venue(&stand, "l2Book") == 0).then_some(()));
    until("no socket", || (count(&stand, "sockets") == 0).then_some(()));
}

/// A frame of trades, as long as a venue's may be.
fn long_trades(number: usize) -> String {
    let row = json!({"coin": "BTC", "n": number, "padding": "x".repeat(100_000)});
    json!({"channel": "trades", "data": [row]}).to_string()
}

#[test]
fn a_client_that_reads_nothing_harms_nobody() {
    let stand = stand();
    let (mut deaf, mut other) = (Subscriber::at_guard(&stand), Subscriber::at_guard(&stand));
    for client in [&mut deaf, &mut other] {
        client.subscribed(&of_coin("trades", "BTC"));
    }
    assert_eq!(count(&stand, "clients"), 2);
    // More than its socket, and all that waits for it, can hold.
    for number in 0..400 {
        trouble(&stand, json!({"kind": "garbage", "text": long_trades(number), "on": "trades"}));
        while !other.hear_on("trades").contains(&format!("\"n\":{number},")) {}
    }
    until("the deaf one to be gone", || (count(&stand, "clients") == 1).then_some(()));
    assert_eq!(stand.get("/healthz").status, 200);
    price(&stand, "60200");
    other.subscribed(&of_coin("bbo", "BTC"));
    other.hear_on("bbo");
    drop(deaf);
}

/// Of a client that reads, but less than happens, more piles up than may wait: it hears why it is closed, and that is counted.
#[test]
fn a_client_that_reads_too_slowly_is_told_so() {
    let stand = stand();
    let (mut slow, mut other) = (Subscriber::at_guard(&stand), Subscriber::at_guard(&stand));
    for client in [&mut slow, &mut other] {
        client.subscribed(&of_coin("trades", "BTC"));
    }
    let mut end = None;
    for number in 0.. {
        assert!(number < 1_000, "it is never closed");
        trouble(&stand, json!({"kind": "garbage", "text": long_trades(number), "on": "trades"}));
        while !other.hear_on("trades").contains(&format!("\"n\":{number},")) {}
        if number % 8 == 0 {
            end = slow.end();
        }
        if end.is_some() || count(&stand, "slow") == 1 {
            break;
        }
    }
    let (code, reason) = end.unwrap_or_else(|| slow.closed());
    assert!(code == 1008 && reason.starts_with("too slow"), "{code} {reason}");
    until("it to be gone", || (count(&stand, "clients") == 1).then_some(()));
    let metrics = stand.get("/metrics").body;
    assert!(metrics.contains("svc_guard_slow_subscribers_total 1\n"), "{metrics}");
}

/// A book, as long as few are.
fn long_book(number: usize) -> String {
    let padding = "x".repeat(800_000);
    json!({"channel": "l2Book", "data": {"coin": "BTC", "n": number, "time": 1, "levels": [[], []], "padding": padding}})
        .to_string()
}

/// States take each other's place, so that no more than one waits, however little is read: who takes nothing at all is cut off, and
/// that is counted as well.
#[test]
fn a_client_that_is_stuck_counts_as_slow() {
    let stand = stand();
    let (mut deaf, mut other) = (Subscriber::at_guard(&stand), Subscriber::at_guard(&stand));
    for client in [&mut deaf, &mut other] {
        client.subscribed(&of_coin("l2Book", "BTC"));
    }
    for number in 0..40 {
        trouble(&stand, json!({"kind": "garbage", "text": long_book(number), "on": "l2Book"}));
        while !other.hear_on("l2Book").contains(&format!("\"n\":{number},")) {}
    }
    assert!(count(&stand, "replaced") > 0);
    until("the deaf one to be gone", || (count(&stand, "clients") == 1).then_some(()));
    assert_eq!(count(&stand, "slow"), 1);
    drop(deaf);
}
