//! The venue's socket goes, sends nonsense or never opens; clients ask for nonsense.

use std::collections::BTreeSet;

use super::*;
use crate::signing::{BTC, limit};

#[test]
fn a_cut_upstream_leaves_the_clients_sockets() {
    let stand = stand();
    let mut client = Subscriber::at_guard(&stand);
    client.subscribed(&of_account("userFills"));
    client.hear_on("userFills");
    for round in 1..=3 {
        trouble(&stand, json!({"kind": "drop"}));
        let again = client.hear_on("userFills");
        assert!(again.contains("isSnapshot"), "{again}");
        let szi = format!("0.{round}");
        fill(&stand, &szi);
        while !client.hear_on("userFills").contains("\"fills\":[{\"coin\":\"BTC\"") {}
    }
    client.say(r#"{"method":"ping"}"#);
    client.hear_on("pong");
}

/// Numbers that look drawn, the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// What was heard of a feed that tells of rows: its own numbers of them, and of those that came as news.
#[derive(Default)]
struct Rows {
    all: BTreeSet<u64>,
    news: Vec<u64>,
}

impl Rows {
    fn take_in(&mut self, rows: &[Value], is_news: bool, id: &str) {
        let ids = rows.iter().map(|row| row.pointer(id).and_then(Value::as_u64).unwrap());
        ids.for_each(|id| {
            self.all.insert(id);
            self.news.extend(is_news.then_some(id));
        });
    }
}

/// Whatever socket to the venue goes, and when: a client keeps its own, and hears of every fill, of none twice as news.
#[test]
fn cuts_at_any_moment_lose_and_double_nothing() {
    /// More fills than a first frame shows.
    const ROUNDS: u64 = 40;
    /// Sockets for clients that may go: the relay opens eight a minute.
    const OF_CLIENTS: u64 = 6;
    let stand = stand();
    let mut client = Subscriber::at_guard(&stand);
    let kinds = [of_account("userFills"), of_account("userHistoricalOrders"), of_coin("trades", "BTC")];
    for subscription in &kinds {
        client.subscribed(subscription);
    }
    let (mut dice, mut cuts) = (Dice(7), 0);
    for round in 1..=ROUNDS {
        let cut = match dice.below(8) {
            0 if cuts < OF_CLIENTS => json!({"kind": "drop"}),
            1 if cuts < OF_CLIENTS => json!({"kind": "rotate", "on": "trades"}),
            2 if cuts < OF_CLIENTS => json!({"kind": "drop", "on": "userHistoricalOrders"}),
            3 | 4 => json!({"kind": "drop", "on": "userFills"}),
            _ => json!({"kind": "heal"}),
        };
        cuts += u64::from(cut["kind"] != "heal" && cut["on"] != "userFills");
        let order = limit(BTC, true, &(55_000 + round).to_string(), "0.0003");
        let happens = |at: u64| match at {
            0 => fill(&stand, &format!("0.{round:03}")),
            1 => drop(stand.venue.control(&json!({"op": "order", "order": order})).unwrap()),
            _ => trouble(&stand, cut.clone()),
        };
        // All of it in one of three turns, and each after a while of its own.
        let first = dice.below(3);
        for turn in 0..3 {
            happens((first + turn) % 3);
            std::thread::sleep(Duration::from_millis(dice.below(300)));
        }
    }
    let truth = stand.venue.truth();
    let done: BTreeSet<u64> =
        truth["fills"].as_array().unwrap().iter().map(|fill| fill["tid"].as_u64().unwrap()).collect();
    assert!(done.len() as u64 >= ROUNDS, "{done:?}");
    let is_by_hand = |order: &&Value| order["limitPx"].as_str().is_some_and(|px| px.starts_with("550"));
    let orders = truth["orders"].as_array().unwrap().iter().filter(is_by_hand);
    let placed: BTreeSet<u64> = orders.map(|order| order["oid"].as_u64().unwrap()).collect();
    assert_eq!(placed.len() as u64, ROUNDS);
    let [mut fills, mut trades, mut orders] = [(); 3].map(|()| Rows::default());
    while fills.all != done || trades.all != done || !orders.all.is_superset(&placed) {
        let frame = value(&client.hear());
        let (data, is_first) = (&frame["data"], frame["data"]["isSnapshot"] == true);
        match frame["channel"].as_str().unwrap() {
            "userFills" => fills.take_in(data["fills"].as_array().unwrap(), !is_first, "/tid"),
            "userHistoricalOrders" => {
                orders.take_in(data["orderHistory"].as_array().unwrap(), !is_first, "/order/oid");
            }
            // What a subscription begins with is not marked.
            "trades" => trades.take_in(data.as_array().unwrap(), false, "/tid"),
            _ => {}
        }
    }
    let once: BTreeSet<u64> = fills.news.iter().copied().collect();
    assert_eq!(once.len(), fills.news.len(), "told twice: {:?}", fills.news);
    client.say(r#"{"method":"ping"}"#);
    client.hear_on("pong");
}

#[test]
fn nonsense_of_the_venue_reaches_nobody() {
    let stand = stand();
    let mut client = Subscriber::at_guard(&stand);
    client.subscribed(&json!({"type": "candle", "coin": "BTC", "interval": "1m"}));
    client.hear_on("candle");
    for text in [
        "",
        "{",
        "null",
        r#"{"channel":"candle","data":{"s":7}}"#,
        r#"{"channel":"candle","data":{"s":"ETH","i":"1m"}}"#,
    ] {
        trouble(&stand, json!({"kind": "garbage", "on": "candle", "text": text}));
    }
    price(&stand, "60300");
    // A minute may end meanwhile, and another candle begin.
    while {
        let frame = client.hear();
        assert!(frame.contains("\"s\":\"BTC\""), "{frame}");
        !frame.contains("\"60300.0\"")
    } {}
    for form in [json!({"form": "binary"}), json!({"form": "wire", "hex": "ffff"})] {
        let mut garbage = json!({"kind": "garbage", "on": "candle"});
        form.as_object().unwrap().iter().for_each(|(key, value)| garbage[key] = value.clone());
        trouble(&stand, garbage);
        client.hear_on("candle");
    }
    assert_eq!(stand.get("/healthz").status, 200);
}

#[test]
fn nonsense_of_a_client_costs_the_others_nothing() {
    let stand = stand();
    let (mut client, mut odd) = (Subscriber::at_guard(&stand), Subscriber::at_guard(&stand));
    client.subscribed(&of_coin("bbo", "BTC"));
    client.hear_on("bbo");
    let sockets = || stand.venue.truth()["feed"]["sockets"].as_array().unwrap().len();
    let before = sockets();
    for subscription in [
        json!({"type": "bbo", "coin": "NOPE"}),
        json!({"type": "bbo", "coin": "no:SUCH"}),
        json!({"type": "candle", "coin": "BTC", "interval": "1y"}),
        json!({"type": "l2Book", "coin": "BTC", "nSigFigs": 77}),
        json!({"type": "userFills", "user": "nobody"}),
        json!({"type": "bbo", "coin": "x".repeat(10_000)}),
        json!([[[[]]]]),
    ] {
        odd.subscribe(&subscription);
        odd.hear_on("error");
    }
    assert_eq!(sockets(), before);
    price(&stand, "60400");
    client.hear_on("bbo");
    assert_eq!((count(&stand, "clients"), count(&stand, "held"), count(&stand, "at_venue")), (2, 1, 1));
}

/// The venue ends each socket on which a coin is asked for that it has no more. Who had it is told so, and the others hear on.
#[test]
fn a_coin_that_is_delisted_costs_the_others_nothing() {
    let stand = stand();
    stand.venue.control(&json!({"op": "list", "coin": "NEWC", "px": "20"})).unwrap();
    let (mut one, mut other) = (Subscriber::at_guard(&stand), Subscriber::at_guard(&stand));
    other.subscribed(&of_coin("bbo", "BTC"));
    one.subscribed(&of_coin("bbo", "NEWC"));
    one.subscribed(&of_coin("bbo", "ETH"));
    stand.venue.control(&json!({"op": "unlist", "coin": "NEWC"})).unwrap();
    // All of it is asked for anew on the next socket.
    trouble(&stand, json!({"kind": "drop", "on": "bbo", "coin": "NEWC"}));
    let refused = one.hear_on("error");
    assert!(refused.contains("NEWC") && refused.contains("Invalid subscription"), "{refused}");
    for (coin, client) in [("BTC", &mut other), ("ETH", &mut one)] {
        stand.venue.control(&json!({"op": "price", "coin": coin, "px": "60600"})).unwrap();
        while !client.hear_on("bbo").contains("606") {}
    }
    one.subscribe(&of_coin("bbo", "NEWC"));
    one.hear_on("error");
    price(&stand, "60700");
    while !other.hear_on("bbo").contains("607") {}
    until("two to be held", || ((count(&stand, "held"), count(&stand, "at_venue")) == (2, 2)).then_some(()));
}

#[test]
fn a_venue_that_is_away_is_waited_for() {
    let stand = stand();
    trouble(&stand, json!({"kind": "refuse", "times": 2}));
    let mut client = Subscriber::at_guard(&stand);
    client.subscribed(&json!({"type": "allMids"}));
    client.hear_on("allMids");
    until("the frames to be counted", || (count(&stand, "frames") > 0 && count(&stand, "passed") > 0).then_some(()));
    let metrics = stand.get("/metrics").body;
    assert!(metrics.contains("svc_guard_subscriptions 1\n"), "{metrics}");
}

/// What the metrics and the status say of subscriptions, once everything that is counted has happened.
#[test]
fn what_happens_is_counted() {
    let stand = stand();
    let (mut one, mut two) = (Subscriber::at_guard(&stand), Subscriber::at_guard(&stand));
    for client in [&mut one, &mut two] {
        client.subscribed(&of_account("userFills"));
        client.subscribed(&of_coin("bbo", "BTC"));
    }
    two.subscribed(&json!({"type": "candle", "coin": "BTC", "interval": "1m"}));
    for coin in ["NOPE", "NADA", "NIL"] {
        one.subscribe(&of_coin("bbo", coin));
        one.hear_on("error");
    }
    for _ in 0..2 {
        trouble(&stand, json!({"kind": "garbage", "on": "candle", "text": "{"}));
    }
    price(&stand, "60700");
    two.hear_on("candle");
    let series = ["subscribers", "subscriptions", "subscriptions_at_venue", "subscription_sockets"];
    let shown = || series.map(|name| metric(&stand, &format!("svc_guard_{name}")));
    until("two clients with five subscriptions, two of them at the venue", || (shown() == [2, 5, 2, 1]).then_some(()));
    until("what cannot be used", || {
        (metric(&stand, "svc_guard_relayed_frames_total{fate=\"unusable\"}") == 2).then_some(())
    });
    assert_eq!(metric(&stand, "svc_guard_subscriptions_refused_total"), 3);
    assert_eq!((metric(&stand, "svc_guard_slow_subscribers_total"), count(&stand, "slow")), (0, 0));
    assert_eq!(
        [count(&stand, "clients"), count(&stand, "held"), count(&stand, "at_venue"), count(&stand, "sockets")],
        [2, 5, 2, 1]
    );
    // They go on while they are looked at.
    for (fate, name) in [("came", "frames"), ("passed", "passed")] {
        let before = count(&stand, name);
        let counted = metric(&stand, &format!("svc_guard_relayed_frames_total{{fate=\"{fate}\"}}"));
        assert!(before >= 5 && counted >= before && count(&stand, name) >= counted, "{fate}: {before} {counted}");
    }
}
