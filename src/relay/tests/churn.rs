//! Who comes and goes, who does not read, and ends that the venue never answers: what others have stays theirs.

use serde_json::json;

use super::{CLIENT, acknowledged, ended, holding, relay, sent, sent_until, taken, tell};
use crate::relay::messages::Input;
use crate::relay::room::Relay;

const MIDS: &str = r#"{"type":"allMids"}"#;

fn mids(px: &str) -> String {
    format!(r#"{{"channel":"allMids","data":{{"mids":{{"BTC":"{px}"}}}}}}"#)
}

/// A relay whose end of `allMids` the venue has not answered three times, and that is asked for by client 2 again.
fn unended() -> Relay {
    let mut relay = holding(MIDS);
    relay.subscribe(9, r#"{"type":"outcomeMetaUpdates"}"#, 0).unwrap();
    relay.step(0, Input::Tick, 0);
    tell(&mut relay, &acknowledged(&json!({"type": "outcomeMetaUpdates"})), 0);
    tell(&mut relay, &mids("1"), 10);
    relay.unsubscribe(1, MIDS, 100).unwrap();
    assert_eq!(sent_until(&mut relay, 0, 100, 5_100).len(), 1);
    relay.subscribe(2, MIDS, 5_100).unwrap();
    let asked = sent_until(&mut relay, 0, 5_100, 31_100);
    assert!(asked.last().is_some_and(|(_, text)| text.contains(r#""subscribe""#)), "{asked:?}");
    assert_eq!(taken(&mut relay, 2), [""; 0]);
    relay
}

#[test]
fn what_comes_after_an_end_that_was_not_answered_is_a_beginning() {
    let mut relay = unended();
    tell(&mut relay, &mids("2"), 31_200);
    assert_eq!(taken(&mut relay, 2), [acknowledged(&json!({"type": "allMids"})), mids("2")]);
    for step in 0..10 {
        let now_ms = 32_000 + step * 5_000;
        assert!(sent_until(&mut relay, 0, now_ms, now_ms + 5_000).is_empty());
        tell(&mut relay, &mids("3"), now_ms + 5_000);
        assert_eq!(taken(&mut relay, 2), [mids("3")]);
    }
}

#[test]
fn an_old_state_is_no_beginning_after_an_end_that_was_not_answered() {
    let mut relay = unended();
    tell(&mut relay, &acknowledged(&json!({"type": "allMids"})), 31_200);
    assert_eq!(
        taken(&mut relay, 2),
        [acknowledged(&json!({"type": "allMids"}))],
        "not what was told half a minute ago"
    );
    tell(&mut relay, &mids("2"), 31_300);
    assert_eq!(taken(&mut relay, 2), [mids("2")]);
}

#[test]
fn who_comes_and_goes_has_one_part_of_the_messages() {
    let candle = |interval: &str| json!({"type": "candle", "coin": "BTC", "interval": interval});
    let mut relay = holding(&candle("1m").to_string());
    let (passing, mut asked, mut refused) = (candle("5m"), 0, 0);
    for visitor in 100..700 {
        relay.subscribe(visitor, &passing.to_string(), 10).unwrap();
        asked += sent(relay.step(0, Input::Tick, 10)).len();
        tell(&mut relay, &acknowledged(&passing), 10);
        refused += taken(&mut relay, visitor).iter().filter(|text| text.contains("messages per minute")).count();
        relay.leave(visitor, 10);
        asked += sent(relay.step(0, Input::Tick, 10)).len();
        tell(&mut relay, &ended(&passing), 10);
    }
    assert!((700..800).contains(&asked) && refused > 200, "{asked} were sent, {refused} refused");
    // The other's part is there all the while, and with the next minute everybody's.
    relay.subscribe(1, &candle("15m").to_string(), 20).unwrap();
    assert_eq!(sent(relay.step(0, Input::Tick, 20)).len(), 1);
    relay.subscribe(2_000, &passing.to_string(), 60_020).unwrap();
    assert!(!taken(&mut relay, 2_000).iter().any(|text| text.contains("messages per minute")));
}

#[test]
fn what_waits_for_a_client_is_told_in_bytes() {
    let mut relay = holding(MIDS);
    taken(&mut relay, 1);
    assert_eq!(relay.waiting(1), 0);
    tell(&mut relay, &mids("1"), 10);
    assert_eq!((relay.waiting(1), relay.waiting(2)), (mids("1").len(), 0));
    assert_eq!(taken(&mut relay, 1), [mids("1")]);
    assert_eq!(relay.waiting(1), 0);
}

/// Anybody can open sockets, and sign on none of them.
#[test]
fn who_opens_many_sockets_leaves_a_client_its_part() {
    const SOCKETS: u64 = 50;
    let candle = |coin: u64| json!({"type": "candle", "coin": format!("C{coin}"), "interval": "1m"}).to_string();
    let of_user = |user: u64| json!({"type": "spotState", "user": format!("0x{user:040x}")}).to_string();
    let book = |figures: u64| json!({"type": "l2Book", "coin": "BTC", "nSigFigs": figures}).to_string();
    let mut relay = relay(1_200);
    relay.vouch(1, CLIENT.parse().unwrap());
    for wish in 0..2_000 {
        let socket = 100 + wish % SOCKETS;
        for asked in [candle(wish), of_user(1_000 + wish), book(2 + wish % 4)] {
            relay.subscribe(socket, &asked, 0).unwrap();
        }
    }
    let before = relay.counts().held;
    for wish in 0..200 {
        relay.subscribe(1, &candle(10_000 + wish), 0).unwrap();
    }
    for asked in [of_user(1), r#"{"type":"l2Book","coin":"BTC"}"#.to_owned()] {
        relay.subscribe(1, &asked, 0).unwrap();
    }
    let refused: Vec<String> = taken(&mut relay, 1);
    assert!(refused.iter().all(|text| text.contains("total subscriptions.")), "{refused:?}");
    let held = relay.counts().held - before;
    assert!(held >= 175 && refused.len() == 202 - held, "{held} and {}", refused.len());
    // Its messages too: what they have asked for is more than three quarters of a minute's.
    assert_eq!(sent(relay.step(0, Input::Tick, 0)).len(), 0);
}

/// Megabytes of trades in a coin, which no other frame is like.
fn long_trades(coin: &str, number: usize) -> String {
    let padding = "x".repeat(1_000_000);
    json!({"channel": "trades", "data": [{"coin": coin, "n": number, "padding": padding}]}).to_string()
}

#[test]
fn what_waits_for_all_has_a_bound_and_who_keeps_most_of_it_is_closed() {
    let trades = |coin: &str| json!({"type": "trades", "coin": coin});
    let coins = ["BTC", "ETH", "SOL", "@107"];
    let mut relay = holding(&trades(coins[0]).to_string());
    for (client, coin) in (2..).zip(&coins[1..]) {
        relay.subscribe(client, &trades(coin).to_string(), 0).unwrap();
        relay.step(0, Input::Tick, 0);
        tell(&mut relay, &acknowledged(&trades(coin)), 0);
    }
    relay.vouch(4, CLIENT.parse().unwrap());
    // Each is less than may wait for one.
    for (coin, count) in [(coins[0], 3), (coins[3], 5), (coins[1], 4)] {
        (0..count).for_each(|number| drop(tell(&mut relay, &long_trades(coin, number), 0)));
    }
    assert_eq!(relay.take(2, 100_000).unwrap().len(), 2, "the acknowledgement, and a frame");
    assert_eq!((relay.counts().slow, relay.too_heavy(2)), (0, None));
    let reader = 9;
    relay.subscribe(reader, &trades(coins[0]).to_string(), 0).unwrap();
    tell(&mut relay, &long_trades(coins[0], 3), 2_000);
    assert!(relay.too_heavy(2).is_some(), "of those that did not sign most waits for it");
    assert_eq!([1, 4, reader].map(|client| relay.too_heavy(client)), [None; 3]);
    assert!(relay.take(2, 1).is_err_and(|reason| reason.starts_with("too slow")));
    // Frames that many wait for are there once: thirty more cost nothing.
    relay.leave(2, 0);
    taken(&mut relay, 1);
    for client in 100..130 {
        relay.subscribe(client, &trades(coins[0]).to_string(), 0).unwrap();
    }
    for number in 4..7 {
        tell(&mut relay, &long_trades(coins[0], number), 0);
    }
    assert_eq!(relay.counts().slow, 1);
    assert!((100..130).all(|client| taken(&mut relay, client).len() == 5));
}

/// Who has just been given something has written it as a rule, and not yet come back for more.
#[test]
fn who_reads_is_not_closed_for_what_it_took_a_moment_ago() {
    let trades = |coin: &str| json!({"type": "trades", "coin": coin});
    for (later_ms, closed) in [(0, 2), (1_999, 2), (2_000, 1)] {
        let mut relay = holding(&trades("BTC").to_string());
        relay.subscribe(2, &trades("ETH").to_string(), 0).unwrap();
        relay.step(0, Input::Tick, 0);
        tell(&mut relay, &acknowledged(&trades("ETH")), 0);
        (0..6).for_each(|number| drop(tell(&mut relay, &long_trades("BTC", number), 0)));
        let (_acknowledged, in_hand) = (relay.take(1, 1).unwrap(), relay.take(1, usize::MAX).unwrap());
        assert_eq!(in_hand.len(), 6);
        (0..6).for_each(|number| drop(tell(&mut relay, &long_trades("ETH", number), 0)));
        assert_eq!(relay.counts().slow, 0);
        tell(&mut relay, &long_trades("BTC", 6), later_ms);
        assert_eq!(
            [1, 2].map(|client| relay.too_heavy(client).is_some()),
            [closed == 1, closed == 2],
            "{later_ms} ms later"
        );
    }
}
