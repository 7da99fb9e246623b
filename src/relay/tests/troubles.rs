//! A venue that answers late, not at all, or out of turn: nobody hears what is another's, and nothing is lost for it.

use serde_json::{Value, json};

use super::{
    ACCOUNT, CLIENT, STRANGER, acknowledged, coins, ended, holding, relay, sent, sent_until, taken, tell, tell_on,
};
use crate::relay::line::OWN_LINE;
use crate::relay::messages::{Input, Output, Told};
use crate::relay::room::Relay;

const MIDS: &str = r#"{"type":"allMids"}"#;
const FAST: &str = r#"{"type":"fastAssetCtxs"}"#;

fn of(kind: &str, user: &str) -> String {
    json!({"type": kind, "user": user}).to_string()
}

fn other() -> String {
    format!("0x{}", "d4".repeat(20))
}

fn error(text: &str) -> String {
    json!({"channel": "error", "data": text}).to_string()
}

/// Opens every line that is wanted; what is sent on each.
fn open_lines(relay: &mut Relay, now_ms: u64) -> Vec<(usize, String)> {
    let mut all = Vec::new();
    for line in 0..4 {
        let mut outputs = relay.step(line, Input::Tick, now_ms);
        if outputs.contains(&Output::Connect) {
            outputs.extend(relay.step(line, Input::Connected, now_ms));
        }
        all.extend(sent(outputs).into_iter().map(|text| (line, text)));
    }
    all
}

/// A relay that holds this for client 1, and something for client 9 that keeps the line open.
fn beside_another(subscription: &str) -> Relay {
    let mut relay = holding(subscription);
    relay.subscribe(9, r#"{"type":"outcomeMetaUpdates"}"#, 0).unwrap();
    relay.step(0, Input::Tick, 0);
    tell(&mut relay, &acknowledged(&json!({"type": "outcomeMetaUpdates"})), 0);
    taken(&mut relay, 1);
    taken(&mut relay, 9);
    relay
}

const NOTE: &str = r#"{"channel":"notification","data":{"notification":"Resting order filled"}}"#;

#[test]
fn what_the_venue_goes_on_telling_of_is_told_to_nobody_else() {
    for refusal in [None, Some("Error parsing JSON into valid websocket request: ")] {
        let mut relay = beside_another(&of("notification", STRANGER));
        relay.unsubscribe(1, &of("notification", STRANGER), 100).unwrap();
        let end = sent(relay.step(0, Input::Tick, 100));
        assert_eq!(end.len(), 1);
        if let Some(refusal) = refusal {
            tell(&mut relay, &error(&format!("{refusal}{}", end[0])), 110);
        }
        relay.subscribe(2, &of("notification", &other()), 120).unwrap();
        let asked = open_lines(&mut relay, 120);
        let line = asked.iter().find(|(_, text)| text.contains(&other())).expect("it is asked for").0;
        tell_on(&mut relay, line, &acknowledged(&json!({"type": "notification", "user": other()})), 130);
        assert_eq!(taken(&mut relay, 2).len(), 1);
        tell_on(&mut relay, 0, NOTE, 140);
        assert_eq!(taken(&mut relay, 2), [""; 0], "another's");
        tell_on(&mut relay, line, NOTE, 150);
        assert_eq!(taken(&mut relay, 2), [NOTE]);
    }
}

#[test]
fn an_end_is_asked_for_until_the_venue_says_so_or_thrice() {
    let mut relay = beside_another(MIDS);
    relay.unsubscribe(1, MIDS, 100).unwrap();
    let ends = sent_until(&mut relay, 0, 100, 600_000);
    assert_eq!(ends.iter().map(|(ms, _)| *ms).collect::<Vec<_>>(), [100, 10_100, 20_100], "{ends:?}");
    assert!(ends.iter().all(|(_, text)| text.contains("unsubscribe")), "{ends:?}");
    assert_eq!(relay.counts().subscriptions, 2, "the venue may hold it");
    tell(&mut relay, &error(r#"Already unsubscribed: {"type":"allMids"}"#), 600_000);
    assert_eq!(relay.counts().subscriptions, 1);
    // Who wants it again meanwhile has it from its beginning, once the end is known.
    let mut relay = beside_another(MIDS);
    relay.unsubscribe(1, MIDS, 100).unwrap();
    assert_eq!(sent(relay.step(0, Input::Tick, 100)).len(), 1);
    taken(&mut relay, 1);
    relay.subscribe(2, MIDS, 110).unwrap();
    assert_eq!(sent(relay.step(0, Input::Tick, 110)), [""; 0]);
    let again = tell(&mut relay, &ended(&json!({"type": "allMids"})), 120);
    assert_eq!(again, [format!(r#"{{"method":"subscribe","subscription":{MIDS}}}"#)]);
    tell(&mut relay, &acknowledged(&json!({"type": "allMids"})), 130);
    assert_eq!((taken(&mut relay, 2).len(), relay.counts().subscriptions), (1, 2));
    // With its socket it is gone whatever was said.
    relay.unsubscribe(2, MIDS, 140).unwrap();
    relay.step(0, Input::Tick, 140);
    relay.step(0, Input::Closed, 150);
    assert_eq!(relay.counts().subscriptions, 1);
}

#[test]
fn a_frame_before_its_acknowledgement_comes_after_it() {
    let whole = |user: &str| {
        format!(r#"{{"channel":"userFills","data":{{"isSnapshot":true,"user":"{user}","fills":[{{"tid":1}}]}}}}"#)
    };
    let ctx = |user: &str| format!(r#"{{"channel":"spotState","data":{{"user":"{user}","spotState":{{}}}}}}"#);
    for (kind, frame) in [("userFills", whole(STRANGER)), ("spotState", ctx(STRANGER)), ("notification", NOTE.into())] {
        let mut relay = relay(1_200);
        relay.subscribe(1, &of(kind, STRANGER), 0).unwrap();
        open_lines(&mut relay, 0);
        tell(&mut relay, &frame, 10);
        let ack = acknowledged(&json!({"type": kind, "user": STRANGER}));
        let heard = taken(&mut relay, 1);
        tell(&mut relay, &ack, 20);
        let heard = [heard, taken(&mut relay, 1)].concat();
        assert_eq!(heard, [ack, frame], "{kind}");
        assert_eq!(sent_until(&mut relay, 0, 100, 11_000), [], "{kind}");
    }
}

#[test]
fn a_lost_acknowledgement_and_first_frame_are_had_again() {
    let mut relay = relay(1_200);
    let fills = json!({"type": "userFills", "user": STRANGER});
    relay.subscribe(1, &fills.to_string(), 0).unwrap();
    open_lines(&mut relay, 0);
    let again = sent_until(&mut relay, 0, 100, 10_100);
    assert_eq!(again.len(), 1, "{again:?}");
    let normal = format!(r#"{{"type":"userFills","user":"{STRANGER}","aggregateByTime":false}}"#);
    // The venue has it, and begins it no second time: it is begun anew.
    let end = tell(&mut relay, &error(&format!("Already subscribed: {normal}")), 10_100);
    assert!(end.len() == 1 && end[0].contains("unsubscribe"), "{end:?}");
    assert_eq!(taken(&mut relay, 1), [""; 0]);
    assert_eq!(tell(&mut relay, &ended(&fills), 10_110).len(), 1);
    let snapshot = format!(r#"{{"channel":"userFills","data":{{"isSnapshot":true,"user":"{STRANGER}","fills":[]}}}}"#);
    tell(&mut relay, &acknowledged(&fills), 10_120);
    tell(&mut relay, &snapshot, 10_120);
    assert_eq!(taken(&mut relay, 1), [acknowledged(&fills), snapshot]);
    // One that never answers is told of, and ended for the case that it heard.
    let mut relay = beside_another(&of("notification", STRANGER));
    relay.subscribe(1, &fills.to_string(), 100).unwrap();
    let asked = sent_until(&mut relay, 0, 100, 100_000);
    let tries = asked.iter().filter(|(_, text)| text.contains(r#""subscribe""#)).count();
    assert_eq!((tries, asked.len()), (3, 6), "{asked:?}");
    let heard = taken(&mut relay, 1);
    assert!(heard.len() == 1 && heard[0].contains("does not answer"), "{heard:?}");
    assert_eq!(relay.counts().held, 2);
}

#[test]
fn a_refusal_that_names_nobody_is_told_to_whom_it_is_meant_for() {
    let mut relay = relay(1_200);
    let of_asset = json!({"type": "activeAssetData", "user": STRANGER, "coin": "ETH"});
    relay.subscribe(1, &of_asset.to_string(), 0).unwrap();
    relay.subscribe(2, &of("spotState", &other()), 0).unwrap();
    relay.subscribe(2, &of("twapStates", &other()), 0).unwrap();
    let asked = open_lines(&mut relay, 0);
    assert!(asked.len() == 2 && asked[1].1.contains("spotState"), "one user at a time: {asked:?}");
    // Its coin is known by now, and it is the older wish.
    tell(&mut relay, &coins(1), 10);
    tell(&mut relay, &error("Cannot track more than 15 total users."), 20);
    let heard = taken(&mut relay, 2);
    assert!(heard.len() == 1 && heard[0].contains("15 total users"), "{heard:?}");
    assert_eq!(taken(&mut relay, 1), [""; 0]);
    tell(&mut relay, &acknowledged(&of_asset), 30);
    assert!(taken(&mut relay, 1)[0].contains("subscriptionResponse"));
    // The other's second feed is of the same user, and is asked for by itself.
    tell(&mut relay, &error("Cannot track more than 15 total users."), 40);
    assert!(taken(&mut relay, 2)[0].contains("15 total users"));
    assert_eq!((relay.counts().held, relay.counts().subscriptions), (1, 1), "nothing stays in the books");
}

/// Answers as the venue does: ends and subscriptions acknowledged, with a first frame.
fn serve(relay: &mut Relay, now_ms: u64, first: &str) -> usize {
    let mut count = 0;
    let mut waiting = sent(relay.step(0, Input::Tick, now_ms));
    while let Some(text) = waiting.pop() {
        let said: Value = serde_json::from_str(&text).unwrap();
        match said["method"].as_str().unwrap() {
            "ping" => waiting.extend(tell(relay, r#"{"channel":"pong"}"#, now_ms)),
            "unsubscribe" => {
                count += 1;
                waiting.extend(tell(relay, &ended(&said["subscription"]), now_ms));
            }
            _ => {
                count += 1;
                waiting.extend(tell(relay, &acknowledged(&said["subscription"]), now_ms));
                waiting.extend(tell(relay, first, now_ms));
            }
        }
    }
    count
}

#[test]
fn many_late_clients_cost_the_venue_no_more_than_one() {
    let whole = r#"{"channel":"fastAssetCtxs","data":"whole"}"#;
    let mut relay = holding(FAST);
    tell(&mut relay, whole, 0);
    let mut count = 0;
    for n in 0..100_u64 {
        relay.subscribe(10 + n, FAST, 100 + n * 100).unwrap();
        count += serve(&mut relay, 100 + n * 100, whole);
    }
    count += (0..60).map(|n| serve(&mut relay, 10_100 + n * 100, whole)).sum::<usize>();
    assert!(count <= 8, "{count} messages for 10 seconds");
    let ack = acknowledged(&json!({"type": "fastAssetCtxs"}));
    for n in 0..100 {
        assert_eq!(taken(&mut relay, 10 + n)[..2], [ack.as_str(), whole], "{n}");
    }
}

#[test]
fn a_feed_that_falls_silent_is_begun_anew_and_its_old_state_is_nobodys() {
    let state = |n: u64| format!(r#"{{"channel":"spotState","data":{{"user":"{STRANGER}","spotState":{{"n":{n}}}}}}}"#);
    let spot = json!({"type": "spotState", "user": STRANGER});
    let mut relay = beside_another(&spot.to_string());
    for n in 0..3 {
        tell(&mut relay, &state(n), n * 5_000);
    }
    taken(&mut relay, 1);
    // What it told last is old by now.
    let asked = sent_until(&mut relay, 0, 10_000, 26_000);
    assert!(asked.len() == 1 && asked[0].0 == 25_000 && asked[0].1.contains("unsubscribe"), "{asked:?}");
    relay.subscribe(2, &spot.to_string(), 26_000).unwrap();
    assert_eq!(taken(&mut relay, 2), [""; 0], "an old state is none");
    assert_eq!(tell(&mut relay, &ended(&spot), 26_010).len(), 1);
    tell(&mut relay, &acknowledged(&spot), 26_020);
    tell(&mut relay, &state(9), 26_020);
    assert_eq!(taken(&mut relay, 1), [state(9)]);
    assert_eq!(taken(&mut relay, 2), [acknowledged(&spot), state(9)]);
    // In vain it is tried for less and less often.
    let mut count = 0;
    for now_ms in (26_100..1_226_000).step_by(100) {
        count += serve(&mut relay, now_ms, r#"{"channel":"pong"}"#);
    }
    assert!((8..=24).contains(&count), "{count} messages in 20 minutes");
}

#[test]
fn a_state_of_the_guards_own_socket_is_not_told_late_once_it_is_old() {
    let spot = json!({"type": "spotState", "user": ACCOUNT});
    let mut relay = holding(&spot.to_string());
    let state = format!(r#"{{"channel":"spotState","data":{{"user":"{ACCOUNT}","spotState":{{}}}}}}"#);
    tell_on(&mut relay, OWN_LINE, &state, 1_000);
    relay.subscribe(2, &spot.to_string(), 15_900).unwrap();
    assert_eq!(taken(&mut relay, 2), [acknowledged(&spot), state.clone()]);
    relay.subscribe(3, &spot.to_string(), 16_000).unwrap();
    assert_eq!(taken(&mut relay, 3), [acknowledged(&spot)]);
    tell_on(&mut relay, OWN_LINE, &state, 16_100);
    assert_eq!(taken(&mut relay, 3), [state]);
}

#[test]
fn one_socket_has_the_account_and_the_clients_address_beside_each_other() {
    let own = CLIENT.to_uppercase().replace("0X", "0x");
    let spot = |user: &str| json!({"type": "spotState", "user": user});
    let mut relay = holding(&spot(ACCOUNT).to_string());
    relay.subscribe(1, &spot(&own).to_string(), 0).unwrap();
    let ack = acknowledged(&spot(ACCOUNT));
    assert_eq!(taken(&mut relay, 1), [ack.clone(), ack.replace(ACCOUNT, &own)]);
    relay.subscribe(1, &spot(CLIENT).to_string(), 0).unwrap();
    let again = taken(&mut relay, 1);
    assert!(again.len() == 1 && again[0].contains("Already subscribed") && again[0].contains(CLIENT), "{again:?}");
    let state = |user: &str| format!(r#"{{"channel":"spotState","data":{{"user":"{user}","spotState":{{}}}}}}"#);
    for now_ms in [10, 20] {
        tell_on(&mut relay, OWN_LINE, &state(ACCOUNT), now_ms);
    }
    assert_eq!(taken(&mut relay, 1), [state(ACCOUNT), state(&own)], "the newest of each");
    relay.unsubscribe(1, &spot(ACCOUNT).to_string(), 30).unwrap();
    assert!(taken(&mut relay, 1)[0].contains("unsubscribe"));
    tell_on(&mut relay, OWN_LINE, &state(ACCOUNT), 40);
    assert_eq!((taken(&mut relay, 1), relay.counts().held), (vec![state(&own)], 1));
    relay.leave(1, 0);
    tell_on(&mut relay, OWN_LINE, &state(ACCOUNT), 50);
    assert_eq!((taken(&mut relay, 1), relay.counts().held), (vec![], 0));
}

#[test]
fn a_coin_that_looks_like_the_account_stays_as_it_is_written() {
    let mut relay = holding(MIDS);
    taken(&mut relay, 1);
    let asked = json!({"type": "activeAssetData", "user": CLIENT, "coin": ACCOUNT});
    relay.subscribe(1, &asked.to_string(), 0).unwrap();
    relay.step(0, Input::Tick, 10);
    tell(&mut relay, &coins(1), 20);
    assert_eq!(taken(&mut relay, 1), [error(&format!("Invalid subscription {asked}"))]);
}

/// Opens, serves and closes sockets as a venue that answers at once; the lines on which one was opened.
fn serve_lines(relay: &mut Relay, now_ms: u64) -> Vec<usize> {
    let mut opened = Vec::new();
    for line in 0..4 {
        let mut outputs = relay.step(line, Input::Tick, now_ms);
        while let Some(output) = outputs.pop() {
            let text = match output {
                Output::Send(text) => text,
                Output::Connect => {
                    opened.push(line);
                    outputs.extend(relay.step(line, Input::Connected, now_ms));
                    continue;
                }
                Output::Close => continue,
            };
            let said: Value = serde_json::from_str(&text).unwrap();
            let answer = match said["method"].as_str().unwrap() {
                "ping" => r#"{"channel":"pong"}"#.to_owned(),
                "unsubscribe" => ended(&said["subscription"]),
                _ => acknowledged(&said["subscription"]),
            };
            outputs.extend(relay.step(line, Input::Frame(&Told::read(&answer, now_ms)), now_ms));
        }
    }
    opened
}

#[test]
fn who_comes_and_goes_leaves_others_their_new_sockets() {
    let mut relay = relay(1_200);
    relay.subscribe(1, r#"{"type":"outcomeMetaUpdates"}"#, 0).unwrap();
    let users = [STRANGER.to_owned(), other(), format!("0x{}", "e5".repeat(20))];
    let mut opened = 0;
    for now_ms in (0..40_000).step_by(100) {
        for user in &users {
            match now_ms % 7_000 {
                0 => relay.subscribe(2, &of("orderUpdates", user), now_ms).unwrap(),
                1_000 => relay.unsubscribe(2, &of("orderUpdates", user), now_ms).unwrap(),
                _ => {}
            }
        }
        opened += serve_lines(&mut relay, now_ms).len();
    }
    assert!((3..8).contains(&opened), "{opened}");
    relay.step(0, Input::Closed, 40_000);
    let again = (40_000..42_000).step_by(100).find(|now_ms| serve_lines(&mut relay, *now_ms).contains(&0));
    assert!(again.is_some(), "the first socket stays away");
}

#[test]
fn a_venue_that_is_away_is_tried_for_all_the_time() {
    let mut relay = relay(1_200);
    relay.subscribe(1, MIDS, 0).unwrap();
    let mut tried = Vec::new();
    for now_ms in (0..300_000).step_by(20) {
        if relay.step(0, Input::Tick, now_ms).contains(&Output::Connect) {
            tried.push(now_ms);
            assert_eq!(relay.step(0, Input::Closed, now_ms), []);
        }
    }
    let longest = tried.windows(2).map(|pair| pair[1] - pair[0]).max();
    assert!(longest.is_some_and(|longest| longest < 15_000), "{longest:?}: {tried:?}");
}
