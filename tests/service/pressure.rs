//! A bot in a hurry: it keeps trading, and whatever it sends, a flatten is served first.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http::Connection;
use crate::signing::{BTC, ETH, limit, place, signed};
use crate::stand::{ACCOUNT, Mode, Stand, run_with, until};
use crate::watched::{Ends, WIDE, covered, hold, hold_covered, until_flat};

/// So many orders are placed and cancelled without a pause: with a read of the account after each of these requests what
/// the minute has for clients, beside the floor of the guard's reads, would be spent. On a slow machine the guard reads more
/// often meanwhile, and the live feed leaves room for that.
const ROUNDS: u64 = 100;

/// Reads of the account are this far apart, however many requests call for them, but for those of a start that is just over.
const APART: Duration = Duration::from_millis(250);
const OF_THE_START: u128 = 4;

/// What is left of the minute then has room for the reads of so long a time and no more: a bot that takes longer is none in a hurry,
/// and of its reads alone is seen that they are not more for it.
const QUICK: Duration = Duration::from_secs(2);
const TRIES: u32 = 5;

#[test]
fn a_quick_bot_keeps_trading() {
    for _ in 0..TRIES {
        let stand = Stand::up(Mode::Testnet, WIDE);
        let reply = stand.send(&json!({"type": "updateLeverage", "asset": BTC, "isCross": true, "leverage": 5}));
        assert_eq!(reply["status"], "ok");
        let reads = |truth: &Value| u128::from(truth["reads"]["clearinghouseState"].as_u64().unwrap_or_default());
        let (begun, before) = (Instant::now(), reads(&stand.venue.truth()));
        let mut connection = stand.connect();
        let outcome = (0..ROUNDS).try_for_each(|round| trade(&stand, &mut connection, round));
        let took = begun.elapsed();
        let truth = stand.venue.truth();
        let requests = truth["requests"].as_array().unwrap();
        assert!(requests.iter().all(|request| request["verdict"] != "weight_exceeded"));
        let most = begun.elapsed().as_millis().div_ceil(APART.as_millis()) + OF_THE_START;
        assert!(reads(&truth) - before <= most, "{} reads of the account, at most {most}", reads(&truth) - before);
        match outcome {
            Ok(()) => return,
            Err(refusal) => assert!(took > QUICK && refusal.contains("venue_budget"), "{refusal}"),
        }
    }
    println!("this machine is too slow for a bot in a hurry");
}

/// Places an order and cancels it, or what the guard said to either. Small ones: what was just cancelled counts until the account
/// was read again, and all of them may come before that.
fn trade(stand: &Stand, connection: &mut Connection, round: u64) -> Result<(), String> {
    let mut post = |action: &Value| {
        let reply = connection.post("/exchange", &signed(&stand.client, action).to_string()).unwrap().json();
        let spent = || {
            let metrics = stand.get("/metrics").body;
            metrics.lines().filter(|line| line.contains("weight")).map(|line| format!("{line}\n")).collect::<String>()
        };
        if reply["status"] == "ok" { Ok(reply) } else { Err(format!("round {round}: {reply}\n{}", spent())) }
    };
    let reply = post(&place(&limit(BTC, true, &(59_000 + round).to_string(), "0.001")))?;
    let oid = &reply["response"]["data"]["statuses"][0]["resting"]["oid"];
    assert!(oid.is_u64(), "round {round}: {reply}");
    post(&json!({"type": "cancel", "cancels": [{"a": BTC, "o": oid}]})).map(drop)
}

#[test]
fn a_flood_does_not_hold_a_flatten_up() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "ETH", "0.4");
    flatten_under_flood(&stand);
}

/// Several guards share an address: each keeps to its part, and its own flatten has room in it.
#[test]
fn a_small_share_is_kept_to_and_is_enough() {
    std::thread::scope(|scope| {
        for (share, budget) in [("1/8", 150), ("1/3", 400)] {
            scope.spawn(move || {
                let mut stand = Stand::set_up(Mode::Testnet, WIDE);
                hold(&stand, "ETH", "0.4");
                let run = stand.run_args();
                stand.launch_as(stand.run_command(&[&run[..], &["--ip-share", share]].concat()));
                // At once, though a start takes most of a minute's weight.
                covered(&stand, "ETH", "0.4");
                // The venue forgets what setting up and starting took, which is no part of a running guard's share.
                let forget = json!({"op": "clock", "advance_ms": 61_000});
                let limit = json!({"op": "setting", "name": "weight_limit", "value": budget});
                stand.venue.control(&json!([forget, limit])).unwrap();
                flatten_under_flood(&stand);
                // Its words whole: a bare 429 stands in other figures too, such as a wait in milliseconds.
                let refused = |event: &Value| event.to_string().contains("the venue answered 429");
                let errors = stand.events_of("error");
                assert!(!errors.iter().any(refused), "{share}: over the share: {errors:?}");
                // What a start leaves no room for can wait: the limits, and the API wallet's approval.
                let steady = ["prices", "account", "open orders", "mode", "ledger"];
                let starved = |event: &Value| {
                    let text = event["text"].as_str().unwrap_or_default();
                    let is_read = steady.iter().any(|name| text.starts_with(&format!("reading the {name} fails")));
                    is_read && text.contains("no room for it beside")
                };
                assert!(!errors.iter().any(starved), "{share}: the guard's own reads: {errors:?}");
                let saw = stand.venue_saw();
                assert!(saw.iter().all(|request| request["verdict"] != "weight_exceeded"), "{share}: {saw:?}");
            });
        }
    });
}

/// Floods the guard, pulls the kill switch in the middle of it, and waits for the account to be flat.
fn flatten_under_flood(stand: &Stand) {
    let (over, asked, refused) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut connection = stand.connect();
                while !over.load(Ordering::SeqCst) {
                    let body = json!({"type": "userFills", "user": ACCOUNT}).to_string();
                    let response = connection.post("/info", &body).unwrap();
                    refused.fetch_add(usize::from(response.status == 429), Ordering::SeqCst);
                    asked.fetch_add(1, Ordering::SeqCst);
                }
            });
            scope.spawn(|| {
                let mut connection = stand.connect();
                while !over.load(Ordering::SeqCst) {
                    let body = signed(&stand.client, &place(&limit(ETH, true, "2400", "0.1"))).to_string();
                    connection.post("/exchange", &body).unwrap();
                    asked.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        // Dropped when this thread fails, so that the others end.
        let _ends = Ends(&over);
        until("a flood", || (asked.load(Ordering::SeqCst) > 200 && refused.load(Ordering::SeqCst) > 0).then_some(()));
        let done = run_with(&stand.home(), &["kill", "--reason", "enough"], "");
        assert_eq!(done.status.code(), Some(0));
        until_flat(stand);
    });
    // Memory may hold none of it any more: a flood makes a thousand events soon.
    let on_disk = |what: &str, is_it: &dyn Fn(&Value) -> bool| {
        until(what, || stand.on_disk().into_iter().find(|event| is_it(event)))
    };
    let told = on_disk("the flatten", &|event| event["kind"] == "flatten");
    on_disk("its end", &|event| event["intent"] == told["seq"]);
    let sent: Vec<Value> = stand.on_disk().into_iter().filter(|event| event["kind"] == "sent").collect();
    let own: Vec<&Value> = sent.iter().filter(|event| event["decision"] == told["seq"]).collect();
    assert!(!own.is_empty() && own.iter().all(|event| event["reply"]["status"] == "ok"), "{own:?}");
}
