//! The venue as a client meets it: bodies, signers, faults, control and truth over real sockets.

use crate::sim::{Sim, SimConfig, SimHandle};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{SystemTime, UNIX_EPOCH};
use svc_guard::base::key::SecretKey;
use svc_guard::venue::envelope::body;
use svc_guard::venue::json;
use svc_guard::venue::signing::{Source, Terms};

const KEY: &str = "0x0123456789012345678901234567890123456789012345678901234567890123";
const ACCOUNT: &str = "0x5e9ee1089755c3435139848e47e6635505d5a13a";

pub(super) struct Client {
    pub(super) sim: SimHandle,
    key: SecretKey,
    nonce: u64,
}

/// A request that somebody signed who acts for nobody here.
pub(super) struct Stranger {
    pub(super) body: String,
    /// As the venue names its signer.
    pub(super) named: String,
}

fn client() -> Client {
    let key = SecretKey::parse(KEY).unwrap();
    client_of(Sim::start(SimConfig::new(ACCOUNT.parse().unwrap(), key.address())).unwrap())
}

/// A client of a venue at which it is an API wallet.
pub(super) fn client_of(sim: SimHandle) -> Client {
    let key = SecretKey::parse(KEY).unwrap();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    Client { sim, key, nonce: u64::try_from(now).unwrap() }
}

/// One request on its own connection; none when the venue closed it without an answer.
fn send(sim: &SimHandle, method: &str, path: &str, content_type: &str, body: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(sim.addr()).unwrap();
    let len = body.len();
    let head =
        format!("{method} {path} HTTP/1.1\r\nhost: x\r\ncontent-type: {content_type}\r\ncontent-length: {len}\r\n");
    stream.write_all(format!("{head}connection: close\r\n\r\n{body}").as_bytes()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    let (head, body) = reply.split_once("\r\n\r\n")?;
    Some((head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned()))
}

fn post(sim: &SimHandle, path: &str, body: &str) -> Option<(u16, String)> {
    send(sim, "POST", path, "application/json", body)
}

fn info(sim: &SimHandle, request: &Value) -> Value {
    let (status, body) = post(sim, "/info", &request.to_string()).unwrap();
    assert_eq!(status, 200, "{body}");
    serde_json::from_str(&body).unwrap()
}

impl Client {
    fn signed(&mut self, action: &Value, expires_after_ms: Option<u64>) -> String {
        self.nonce += 1;
        let action = json::parse(action.to_string().as_bytes()).unwrap();
        let terms = Terms { nonce: self.nonce, vault: None, expires_after_ms };
        let signature = svc_guard::venue::signing::sign_action(&self.key, &action, &terms, Source::Testnet).unwrap();
        body(&action, &terms, &signature)
    }

    pub(super) fn signed_by_stranger(&mut self, action: &Value) -> Stranger {
        let own = std::mem::replace(&mut self.key, SecretKey::parse(&KEY.replace("01", "02")).unwrap());
        let body = self.signed(action, None);
        let stranger = std::mem::replace(&mut self.key, own);
        Stranger { body, named: format!("Wallet {}", stranger.address()) }
    }

    pub(super) fn act(&mut self, action: &Value) -> Value {
        let body = self.signed(action, None);
        let (status, reply) = post(&self.sim, "/exchange", &body).unwrap();
        assert_eq!(status, 200, "{reply}");
        serde_json::from_str(&reply).unwrap()
    }
}

/// A buy of 0.01 BTC, which testnet lists as asset 3.
fn order(px: &str, tif: &str) -> Value {
    json!({"type": "order", "orders": [{"a": 3, "b": true, "p": px, "s": "0.01", "r": false,
        "t": {"limit": {"tif": tif}}}], "grouping": "na"})
}

#[test]
fn a_signed_order_trades_and_shows_everywhere() {
    let mut client = client();
    let reply = client.act(&order("60500", "Ioc"));
    let filled = &reply["response"]["data"]["statuses"][0]["filled"];
    assert_eq!((&filled["totalSz"], &filled["avgPx"]), (&json!("0.01"), &json!("60001.0")));
    let state = info(&client.sim, &json!({"type": "clearinghouseState", "user": ACCOUNT}));
    assert_eq!(state["assetPositions"][0]["position"]["szi"], "0.01");
    let truth = client.sim.truth();
    assert_eq!(truth["positions"][0]["coin"], "BTC");
    assert_eq!(truth["requests"][0]["verdict"], "applied");
    assert_eq!(truth["requests"][0]["signer"], json!(client.key.address()));
    let stranger = json!({"type": "clearinghouseState", "user": client.key.address()});
    assert_eq!(info(&client.sim, &stranger)["assetPositions"], json!([]));
}

#[test]
fn sorted_keys_and_padded_amounts_recover_the_same_signer() {
    let mut client = client();
    let canonical = client.signed(&order("59000", "Gtc"), None);
    let mut sorted: Value = serde_json::from_str(&canonical).unwrap();
    sorted["action"] = json!({"grouping": "na", "orders": [{"t": {"limit": {"tif": "Gtc"}}, "s": "0.010", "r": false,
        "p": "59000.0", "b": true, "a": 3}], "type": "order"});
    let (_, reply) = post(&client.sim, "/exchange", &sorted.to_string()).unwrap();
    assert!(reply.contains("resting"), "{reply}");
}

#[test]
fn unreadable_bodies_get_plain_text() {
    let client = client();
    let sim = &client.sim;
    for (content_type, body, status) in [
        ("application/json", "{", 400),
        ("application/json", "{}", 422),
        ("application/json", "[]", 422),
        ("text/plain", "{}", 415),
    ] {
        for path in ["/exchange", "/info"] {
            let (got, text) = send(sim, "POST", path, content_type, body).unwrap();
            assert_eq!(got, status, "{path} {body}: {text}");
            assert!(!text.starts_with('{'));
        }
    }
    assert_eq!(send(sim, "GET", "/info", "", "").unwrap().0, 405);
    assert_eq!(post(sim, "/nowhere", "{}").unwrap().0, 404);
}

#[test]
fn strangers_old_nonces_and_late_actions_are_refused() {
    let mut client = client();
    let body = client.signed(&json!({"type": "noop"}), None);
    assert!(post(&client.sim, "/exchange", &body).unwrap().1.contains("\"ok\""));
    let again = post(&client.sim, "/exchange", &body).unwrap().1;
    assert!(again.contains(&format!("Invalid nonce: duplicate nonce {}", client.nonce)), "{again}");
    let late = client.signed(&json!({"type": "noop"}), Some(client.nonce - 1_000));
    assert!(post(&client.sim, "/exchange", &late).unwrap().1.contains("Action already expired"));
    client.key = SecretKey::parse(&KEY.replace("01", "02")).unwrap();
    let stranger = client.act(&json!({"type": "noop"}));
    let text = format!("User or API Wallet {} does not exist.", client.key.address());
    assert_eq!(stranger, json!({"status": "err", "response": text}));
}

#[test]
fn a_removed_agent_is_nobody() {
    let mut client = client();
    client.sim.setting("agent_registered", false).unwrap();
    assert_eq!(client.act(&json!({"type": "noop"}))["status"], "err");
}

#[test]
fn unmodelled_actions_are_answered_and_recorded() {
    let mut client = client();
    let action = json!({"type": "setReferrer", "code": "X"});
    assert_eq!(client.act(&action), json!({"status": "ok", "response": {"type": "default"}}));
    assert_eq!(client.sim.truth()["requests"][0]["action"], action);
    let body = client.signed(&json!({"type": "somethingNew"}), None);
    assert_eq!(post(&client.sim, "/exchange", &body).unwrap().0, 422);
}

#[test]
fn faults_hit_what_they_name_as_often_as_they_say() {
    let mut client = client();
    for (kind, applied) in [("drop_before", false), ("apply_then_drop", true)] {
        client.sim.fault("order", kind, 1).unwrap();
        client.act(&json!({"type": "noop"}));
        let body = client.signed(&order("59000", "Gtc"), None);
        assert_eq!(post(&client.sim, "/exchange", &body), None, "{kind}");
        assert_eq!(!client.sim.truth()["orders"].as_array().unwrap().is_empty(), applied, "{kind}");
    }
    for (kind, status) in [
        ("http_502", 502),
        ("http_429", 429),
        ("http_403", 403),
        ("http_404", 404),
        ("http_422", 422),
        ("garbage", 200),
    ] {
        client.sim.fault("exchange", kind, 1).unwrap();
        let body = client.signed(&json!({"type": "noop"}), None);
        let (got, text) = post(&client.sim, "/exchange", &body).unwrap();
        assert_eq!(got, status);
        assert!(kind != "garbage" || serde_json::from_str::<Value>(&text).is_err());
    }
    let told = json!([{"op": "fault", "on": "order", "kind": "error", "text": "no"},
        {"op": "fault", "on": "exchange", "kind": "error", "text": "never"}]);
    client.sim.control(&told).unwrap();
    let statuses = json!([{"error": "no"}]);
    assert_eq!(client.act(&order("59000", "Gtc"))["response"]["data"]["statuses"], statuses);
    assert_eq!(client.act(&order("59000", "Gtc")), json!({"status": "err", "response": "never"}));
    assert_eq!(client.sim.truth()["faults"], json!([]));
}

#[test]
fn stale_reads_show_the_past() {
    let client = client();
    let sim = &client.sim;
    sim.fault("allMids", "stale", 1).unwrap();
    sim.price("BTC", "61000").unwrap();
    assert_eq!(info(sim, &json!({"type": "allMids"}))["BTC"], "60000.0");
    assert_eq!(info(sim, &json!({"type": "allMids"}))["BTC"], "61000.0");
}

#[test]
fn a_reordered_action_is_done_after_the_next() {
    let mut client = client();
    client.sim.control(&json!({"op": "fault", "on": "order", "kind": "reorder", "ms": 60_000})).unwrap();
    let first = client.signed(&order("59000", "Gtc"), None);
    let second = client.signed(&json!({"type": "noop"}), None);
    std::thread::scope(|scope| {
        let sim = &client.sim;
        scope.spawn(move || post(sim, "/exchange", &first));
        while sim.truth()["faults"] != json!([]) {
            std::thread::yield_now();
        }
        post(sim, "/exchange", &second).unwrap();
    });
    let requests = client.sim.truth()["requests"].clone();
    assert_eq!((&requests[0]["type"], &requests[1]["type"]), (&json!("noop"), &json!("order")));
}

#[test]
fn a_reordered_read_arrives_after_a_newer_one() {
    let client = client();
    let sim = &client.sim;
    sim.control(&json!({"op": "fault", "on": "allMids", "kind": "reorder", "ms": 60_000})).unwrap();
    let mids = json!({"type": "allMids"});
    std::thread::scope(|scope| {
        let held = scope.spawn(|| info(sim, &mids));
        while sim.truth()["reads"]["allMids"] != 1 {
            std::thread::yield_now();
        }
        sim.price("BTC", "61000").unwrap();
        assert_eq!(info(sim, &mids)["BTC"], "61000.0");
        assert_eq!(held.join().unwrap()["BTC"], "60000.0");
    });
}

#[test]
fn a_websocket_posts_pings_and_subscribes() {
    let mut client = client();
    let order = client.signed(&order("59000", "Gtc"), None);
    let stream = TcpStream::connect(client.sim.addr()).unwrap();
    let (mut socket, _) = tungstenite::client(format!("ws://{}/ws", client.sim.addr()), stream).unwrap();
    let mut ask = |frame: &str| -> Value {
        socket.send(tungstenite::Message::text(frame)).unwrap();
        serde_json::from_str(socket.read().unwrap().to_text().unwrap()).unwrap()
    };
    assert_eq!(ask("{\"method\":\"ping\"}"), json!({"channel": "pong"}));
    let posted =
        ask(&format!("{{\"method\":\"post\",\"id\":5,\"request\":{{\"type\":\"action\",\"payload\":{order}}}}}"));
    assert_eq!(posted["data"]["id"], 5);
    assert!(posted["data"]["response"]["payload"]["response"]["data"]["statuses"][0]["resting"].is_object());
    assert_eq!(client.sim.truth()["requests"][0]["via"], "websocket");
    let subscription = json!({"type": "orderUpdates", "user": ACCOUNT});
    let subscribe = json!({"method": "subscribe", "subscription": subscription}).to_string();
    assert_eq!(ask(&subscribe)["channel"], "subscriptionResponse");
    assert_eq!(ask(&subscribe)["data"], format!("Already subscribed: {subscription}"));
    assert_eq!(ask("nothing")["channel"], "error");
}

#[test]
fn weight_over_the_limit_is_429_and_null() {
    let client = client();
    client.sim.setting("weight_limit", 3).unwrap();
    let request = json!({"type": "allMids"}).to_string();
    assert_eq!(post(&client.sim, "/info", &request).unwrap().0, 200);
    assert_eq!(post(&client.sim, "/info", &request), Some((429, "null".into())));
    client.sim.control(&json!({"op": "clock", "advance_ms": 60_000})).unwrap();
    assert_eq!(post(&client.sim, "/info", &request).unwrap().0, 200);
}

#[test]
fn the_balance_moves_before_the_ledger_shows_why() {
    let client = client();
    let deposit = json!({"op": "deposit", "usd": "500", "ledger_delay_ms": 5_000});
    let (status, _) = post(&client.sim, "/sim", &deposit.to_string()).unwrap();
    assert_eq!(status, 200);
    assert_eq!(client.sim.truth()["account"]["account_value"], "10500.0");
    let ledger = json!({"type": "userNonFundingLedgerUpdates", "user": ACCOUNT, "startTime": 0});
    assert_eq!(info(&client.sim, &ledger), json!([]));
    client.sim.control(&json!({"op": "clock", "advance_ms": 5_000})).unwrap();
    assert_eq!(info(&client.sim, &ledger)[0]["delta"], json!({"type": "deposit", "usdc": "500.0"}));
}

/// The next page begins at the time of the last line.
#[test]
fn the_ledger_is_a_page_of_its_oldest_lines() {
    let client = client();
    let flow = json!([{"op": "deposit", "usd": "1"}, {"op": "clock", "advance_ms": 1}]);
    let flows: Vec<Value> = (0..700).flat_map(|_| flow.as_array().unwrap().clone()).collect();
    client.sim.control(&json!(flows)).unwrap();
    let page = |start: &Value| {
        let answer =
            info(&client.sim, &json!({"type": "userNonFundingLedgerUpdates", "user": ACCOUNT, "startTime": start}));
        answer.as_array().unwrap().clone()
    };
    let (first, all) = (page(&json!(0)), client.sim.truth()["ledger"].as_array().unwrap().clone());
    assert_eq!((first.as_slice(), all.len()), (&all[..500], 700));
    assert_eq!(page(&first[499]["time"]), all[499..]);
}

#[test]
fn control_that_cannot_be_done_says_why() {
    let client = client();
    for (op, text) in [
        (json!({"op": "price", "coin": "XYZ", "px": "1"}), "op 0: no coin `XYZ` is listed"),
        (json!({"op": "price", "coin": "BTC", "px": "0"}), "op 0: `px`: more than zero"),
        (json!([{"op": "clear"}, {"op": "position", "coin": "BTC"}]), "op 1: `szi`: a string"),
        (json!({"op": "fault", "on": "info", "kind": "stall", "times": "2"}), "op 0: `times`: a whole number"),
    ] {
        let (status, body) = post(&client.sim, "/sim", &op.to_string()).unwrap();
        assert_eq!(status, 400);
        assert_eq!(serde_json::from_str::<Value>(&body).unwrap()["error"], text);
    }
}

#[test]
fn orders_by_hand_come_whole_or_in_groups() {
    let client = client();
    let entry = json!({"a": 3, "b": true, "p": "59000", "s": "0.01", "r": false, "t": {"limit": {"tif": "Gtc"}}});
    let stop = json!({"a": 3, "b": false, "p": "50000", "s": "0.01", "r": true,
        "t": {"trigger": {"isMarket": true, "triggerPx": "57000", "tpsl": "sl"}}});
    let mut bare = entry.clone();
    bare["op"] = json!("order");
    let group = json!({"op": "order", "order": [entry, stop], "grouping": "normalTpsl"});
    let results = client.sim.control(&json!([bare, group])).unwrap();
    assert!(results[0][0]["resting"].is_object() && results[1][1] == "waitingForFill", "{results:?}");
    let truth = client.sim.truth();
    let stages: Vec<_> = truth["orders"].as_array().unwrap().iter().map(|order| order["stage"].clone()).collect();
    assert_eq!(stages, ["resting", "resting", "waiting"]);
    assert_eq!(truth["requests"], json!([]), "nothing came over the wire");
    let oid = &truth["orders"][0]["oid"];
    let status = json!({"type": "orderStatus", "user": ACCOUNT, "oid": oid});
    assert_eq!(info(&client.sim, &status)["order"]["status"], "open");
    client.sim.setting("order_status_lag_ms", 60_000).unwrap();
    assert_eq!(info(&client.sim, &status), json!({"status": "unknownOid"}));
}

#[test]
fn only_loopback_is_listened_on() {
    let key = SecretKey::parse(KEY).unwrap();
    let config =
        SimConfig { listen: "0.0.0.0:0".parse().unwrap(), ..SimConfig::new(ACCOUNT.parse().unwrap(), key.address()) };
    assert!(Sim::start(config).is_err());
}

#[test]
fn a_dropped_venue_lets_stalled_requests_go() {
    let client = client();
    client.sim.fault("info", "stall", 1).unwrap();
    let mut stream = TcpStream::connect(client.sim.addr()).unwrap();
    let body = "{\"type\":\"meta\"}";
    let head =
        format!("POST /info HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    while client.sim.truth()["faults"] != json!([]) {
        std::thread::yield_now();
    }
    drop(client);
    let mut reply = Vec::new();
    // Ended either way; a reset is an end as well.
    let _ = stream.read_to_end(&mut reply);
    assert!(reply.is_empty());
}
