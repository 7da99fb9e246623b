//! Reads: who may read which path and how; and that reading changes nothing.

use serde_json::{Value, json};

use crate::events::is_error;
use crate::http::{Connection, bare};
use crate::signing::{BTC, limit, place, resting, signed};
use crate::stand::{ACCOUNT, Mode, Stand, until};

#[test]
fn events_since_a_number() {
    let stand = Stand::up(Mode::Paper, "");
    for _ in 0..5 {
        stand.send(&json!({"type": "noop"}));
    }
    let all = stand.get("/guard/events").json();
    let events = all["events"].as_array().unwrap();
    assert!(events.len() >= 6, "{all}");
    let last = u64::try_from(events.len()).unwrap();
    assert_eq!((&all["schema"], &all["oldest"], &all["last"]), (&json!(1), &json!(1), &json!(last)));
    let seqs = |answer: &Value| -> Vec<u64> {
        answer["events"].as_array().unwrap().iter().map(|event| event["seq"].as_u64().unwrap()).collect()
    };
    assert_eq!(seqs(&all), (1..=last).collect::<Vec<_>>());
    for (query, wanted) in [
        ("since=0".to_owned(), (1..=last).collect::<Vec<_>>()),
        ("since=3".to_owned(), (4..=last).collect()),
        ("since=1&limit=2".to_owned(), vec![2, 3]),
        ("limit=1".to_owned(), vec![1]),
        ("limit=0".to_owned(), vec![]),
        (format!("since={last}"), vec![]),
        (format!("since={}", u64::MAX), vec![]),
    ] {
        let answer = stand.get(&format!("/guard/events?{query}")).json();
        assert_eq!(seqs(&answer), wanted, "{query}");
        assert_eq!((&answer["oldest"], &answer["last"]), (&all["oldest"], &all["last"]), "{query}");
    }
    for query in ["since=", "since=x", "since=-1", "since=1.5", "since=18446744073709551616", "since=1&limit=x"] {
        is_error(&stand.get(&format!("/guard/events?{query}")), 400, "bad_request");
    }
}

#[test]
fn the_last_thousand_events_are_kept() {
    let stand = Stand::up(Mode::Paper, "");
    let mut connection = stand.connect();
    for _ in 0..1_010 {
        let body = signed(&stand.client, &json!({"type": "noop"})).to_string();
        assert_eq!(connection.post("/exchange", &body).unwrap().status, 200);
    }
    let answer = stand.get("/guard/events").json();
    let events = answer["events"].as_array().unwrap();
    assert_eq!(events.len(), 1_000);
    assert_eq!((&answer["oldest"], &answer["last"]), (&events[0]["seq"], &events[999]["seq"]));
    assert_eq!(answer["last"].as_u64().unwrap() - answer["oldest"].as_u64().unwrap(), 999);
    // What memory has forgotten the disk has not.
    let first = stand.on_disk().into_iter().find(|event| event["kind"] == "decision").unwrap();
    assert!(first["seq"].as_u64() < answer["oldest"].as_u64());
    let found = stand.get(&format!("/guard/decision?nonce={}", first["nonce"])).json();
    assert_eq!(found["decisions"][0]["decision"]["seq"], first["seq"]);
}

#[test]
fn decisions_by_nonce_and_by_cloid() {
    let stand = Stand::up(Mode::Testnet, "");
    let cloid = "0x000000000000000000000000000000aa";
    let mut order = limit(BTC, true, "59800", "0.01");
    order["c"] = json!(cloid);
    let body = signed(&stand.client, &place(&order));
    let reply = stand.post("/exchange", &body).json();
    until("the intent to be done", || stand.events_of("done").pop());
    let by_nonce = stand.get(&format!("/guard/decision?nonce={}", body["nonce"])).json();
    assert_eq!(by_nonce["nonce"], body["nonce"]);
    let entry = &by_nonce["decisions"][0];
    assert_eq!(entry["decision"], stand.event(&reply["guard"]["seq"]));
    assert_eq!(entry["sent"], json!(stand.events_of("sent")));
    assert_eq!(entry["done"], stand.events_of("done")[0]);
    assert_eq!((&entry["intents"], &entry["recovered"]), (&json!([]), &json!([])));
    assert_eq!(stand.get(&format!("/guard/decision?cloid={cloid}")).json()["decisions"], by_nonce["decisions"]);

    // Every decision on a nonce, oldest first.
    let again = stand.post("/exchange", &body).json();
    let found = stand.get(&format!("/guard/decision?nonce={}", body["nonce"])).json();
    let seqs: Vec<&Value> =
        found["decisions"].as_array().unwrap().iter().map(|entry| &entry["decision"]["seq"]).collect();
    assert_eq!(seqs, [&reply["guard"]["seq"], &again["guard"]["seq"]]);

    is_error(&stand.get("/guard/decision?nonce=1"), 404, "not_found");
    is_error(&stand.get("/guard/decision?cloid=0x000000000000000000000000000000bb"), 404, "not_found");
    for query in
        ["", "?", "?nonce=", "?nonce=x", "?nonce=-1", "?cloid=", "?cloid=0x12", "?nonce=1&cloid=0x12", "?seq=1"]
    {
        is_error(&stand.get(&format!("/guard/decision{query}")), 400, "bad_request");
    }
}

#[test]
fn the_status_tells_what_there_is() {
    let stand = Stand::up(Mode::Testnet, "");
    stand.venue.control(&json!({"op": "position", "coin": "ETH", "szi": "-0.4", "entry_px": "2500"})).unwrap();
    stand.send(&resting());
    let status = until("the position and the order to be seen", || {
        let status = stand.status();
        let seen = status["positions"].as_array().is_some_and(|held| !held.is_empty());
        let orders = status["open_orders"].as_array().is_some_and(|orders| orders.iter().any(|o| o["coin"] == "BTC"));
        (seen && orders).then_some(status)
    });
    let position = &status["positions"][0];
    assert_eq!(
        (&position["coin"], &position["side"], &position["size"]),
        (&json!("ETH"), &json!("short"), &json!("0.4"))
    );
    let own = |order: &&Value| order["coin"] == "BTC" && order["owner"] == "bot";
    let order = status["open_orders"].as_array().unwrap().iter().find(own).unwrap().clone();
    assert_eq!((&order["side"], &order["size"], &order["px"]), (&json!("buy"), &json!("0.01"), &json!("59800")));
    assert_eq!((&order["trigger_px"], &order["reduce_only"]), (&Value::Null, &json!(false)));
    assert_eq!(
        (&status["schema"], &status["mode"], &status["account"]),
        (&json!(1), &json!("testnet"), &json!(ACCOUNT))
    );
    assert_eq!((&status["killed"], &status["risk"]["state"]), (&Value::Null, &json!("active")));
    assert_eq!(status["kill_file"], json!(stand.home().join("kill")));
    assert_eq!(status["clients"], json!([stand.client.address()]));
}

#[test]
fn healthy_is_who_sees_the_venue() {
    let stand = Stand::up(Mode::Paper, "");
    let healthy = stand.get("/healthz");
    assert_eq!((healthy.status, healthy.json()), (200, json!({"ok": true})));
    stand.venue.fault("info", "drop_before", 1_000_000).unwrap();
    stand.without_feed();
    let ill = until("an ill service", || Some(stand.get("/healthz")).filter(|response| response.status == 503));
    let body = ill.json();
    assert_eq!((&body["ok"], &body["data"]), (&json!(false), &Value::Null));
    assert!(body["problems"].as_array().is_some_and(|problems| !problems.is_empty()), "{body}");
    assert!(body["code"].is_string() && body["msg"].is_string(), "{body}");
    let alerts = stand.status()["alerts"].clone();
    let codes: Vec<&str> = alerts.as_array().unwrap().iter().filter_map(|alert| alert["code"].as_str()).collect();
    assert!(codes.contains(&"price_stale") || codes.contains(&"account_stale"), "{alerts}");
    until("each failure to be told once, not at every try", || {
        let logged = stand.log().matches(" fails: ").count();
        (stand.events_of("error").len() == logged).then_some(())
    });
    // Reading goes on, entries do not, exits do.
    until("both reads to be stale", || (stand.status()["alerts"].as_array()?.len() >= 2).then_some(()));
    let reply = stand.send(&resting());
    let code = reply["guard"]["code"].as_str().unwrap();
    assert!(["account_stale", "price_stale"].contains(&code), "{reply}");
    assert_ne!(stand.send(&crate::signing::closing(BTC, "50000", "0.01"))["guard"]["verdict"], "veto");
    is_error(&stand.post("/info", &json!({"type": "openOrders", "user": ACCOUNT})), 502, "venue_away");
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    until("a healthy service", || (stand.get("/healthz").status == 200).then_some(()));
    assert_ne!(stand.send(&resting())["guard"]["verdict"], "veto");
}

#[test]
fn paths_and_methods() {
    let stand = Stand::up(Mode::Paper, "");
    for path in [
        "/guard",
        "/guard/",
        "/guard/status/",
        "/healthz/x",
        "/exchange/",
        "/metrics/",
        "/monitor",
        "/index.html",
        "/Guard/status",
    ] {
        is_error(&stand.get(path), 404, "not_found");
    }
    let ask = |method: &str, path: &str| stand.connect().exchange(&bare(method, path), method != "HEAD").unwrap();
    for (method, path, allow) in [
        ("POST", "/guard/status", "GET, HEAD"),
        ("PUT", "/guard/events", "GET, HEAD"),
        ("DELETE", "/guard/decision", "GET, HEAD"),
        ("POST", "/healthz", "GET, HEAD"),
        ("GET", "/guard/kill", "POST"),
        ("GET", "/info", "POST"),
        ("OPTIONS", "/exchange", "POST"),
    ] {
        let response = ask(method, path);
        is_error(&response, 405, "method_not_allowed");
        assert_eq!(response.header("allow"), Some(allow), "{method} {path}");
    }
    for path in ["/guard/status", "/guard/events", "/healthz"] {
        let (head, get) = (ask("HEAD", path), ask("GET", path));
        assert_eq!((head.status, head.header("content-type")), (200, get.header("content-type")), "{path}");
        assert!(head.header("content-length").is_some_and(|length| length != "0"), "{head:?}");
    }
    // A page of another origin is no way in, and is never told that it might be.
    let foreign = |headers: &str| {
        let text = format!("GET /guard/status HTTP/1.1\r\n{headers}\r\n");
        Connection::open(stand.address()).exchange(text.as_bytes(), true).unwrap()
    };
    let refused = foreign("Host: host.docker.internal:8547\r\n");
    is_error(&refused, 403, "host_not_allowed");
    let said = refused.json()["msg"].as_str().unwrap().to_owned();
    for part in ["host host.docker.internal", "allowed_hosts in guard.toml", "`listen` be an address", "restart"] {
        assert!(said.contains(part), "{said}");
    }
    let answer = foreign("Host: localhost\r\nOrigin: http://evil.example\r\n");
    assert!(answer.headers.iter().all(|(name, _)| !name.starts_with("access-control-")), "{answer:?}");
}

/// Where the venue turns the guard's address away, who asks through it reads whose it is to share, and how.
#[test]
fn a_read_that_the_venue_turns_away_names_the_share() {
    let stand = Stand::up(Mode::Paper, "");
    stand.venue.fault("userFees", "http_429", 1).unwrap();
    let refused = stand.post("/info", &json!({"type": "userFees", "user": ACCOUNT}));
    is_error(&refused, 429, "rate_limited");
    let command = format!("`svc-guard --home {} config set ip_share SHARE`", stand.home().display());
    let said = refused.json()["msg"].as_str().unwrap().to_owned();
    assert!(said.contains("too many requests from this address") && said.contains(&command), "{said}");
}

/// The three reads under `/guard/` and the health check leave the service as it was.
#[test]
fn reading_changes_nothing() {
    let stand = Stand::up(Mode::Paper, "");
    stand.send(&resting());
    let before = stand.events();
    for path in ["/guard/events?since=1", "/guard/decision?nonce=1", "/guard/status", "/healthz"] {
        stand.get(path);
    }
    assert_eq!(stand.events(), before);
    assert!(stand.venue_saw().is_empty());
}

/// What the venue said is cancelled is no open order of the status, however long the next read takes.
#[test]
fn a_cancelled_order_is_not_shown_until_the_next_read() {
    let stand = Stand::up(Mode::Testnet, "");
    let reply = stand.send(&resting());
    let oid = reply["response"]["data"]["statuses"][0]["resting"]["oid"].clone();
    let shows = || stand.status()["open_orders"].as_array().unwrap().iter().any(|order| order["oid"] == oid);
    stand.without_feed();
    let reads = || stand.venue.truth()["reads"]["frontendOpenOrders"].as_u64().unwrap();
    let before = reads();
    until("a read that shows it", || (reads() > before && shows()).then_some(()));
    stand.without("frontendOpenOrders");
    let reply = stand.send(&json!({"type": "cancel", "cancels": [{"a": BTC, "o": oid}]}));
    assert_eq!(reply["status"], "ok", "{reply}");
    assert!(!shows(), "{}", stand.status()["open_orders"]);
}
