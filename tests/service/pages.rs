//! The manual page `svc-guard-events(5)` held to what the service says: every kind and field of its events, every field
//! of its status.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::signing::{BTC, ETH, limit, resting};
use crate::stand::{Mode, Stand, run_with, until};

pub(crate) const PAGE: &str = include_str!("../../man/svc-guard-events.5");

/// The entries under a heading.
fn entries(heading: &str) -> BTreeSet<String> {
    let (_, part) = PAGE.split_once(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("no {heading}"));
    let part = format!("\n{part}");
    let end = part.find("\n.SH ").into_iter().chain(part.find("\n.SS ")).min().unwrap_or(part.len());
    let heads = part[..end].split("\n.TP\n.B ").skip(1).map(|entry| entry.split_once('\n').unwrap().0.to_owned());
    let listed: Vec<String> = heads.collect();
    let set: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(set.len(), listed.len(), "{heading}: an entry stands there twice");
    set
}

fn kinds() -> BTreeSet<String> {
    PAGE.lines().filter_map(|line| line.strip_prefix(".SS ")).map(str::to_owned).collect()
}

/// Fields that an event has only sometimes.
const SOMETIMES: [(&str, &str); 9] = [
    ("decision", "changes"),
    ("decision", "coins"),
    ("decision", "parts"),
    ("decision", "limit"),
    ("decision", "actual"),
    ("decision", "nonces"),
    ("intent", "nonces"),
    ("flatten", "nonces"),
    ("protect", "nonces"),
];

/// What other tests see: what only a full disk brings about, and what only some trades have.
const ELSEWHERE: [(&str, &str); 9] = [
    ("error", "lacks"),
    ("transfer", "why"),
    ("decision", "count"),
    ("fill", "builder_fee"),
    ("fill", "liquidation"),
    ("fill", "late"),
    ("funding", "late"),
    ("transfer", "late"),
    ("balance", "why"),
];

/// Holds events to the page: no field that is not on it, and none missing that always comes.
fn hold(events: &[Value]) -> BTreeMap<String, BTreeSet<String>> {
    let mut seen: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let every = entries(".SH EVERY EVENT");
    for event in events {
        let kind = event["kind"].as_str().unwrap();
        let listed = entries(&format!(".SS {kind}"));
        // The chain value and what was seen of the risk journal belong to the line on disk, not to the event.
        let is_field = |key: &&String| !["chain", "seen"].contains(&key.as_str());
        let fields: BTreeSet<String> = event.as_object().unwrap().keys().filter(is_field).cloned().collect();
        let own: BTreeSet<String> = fields.difference(&every).cloned().collect();
        assert!(every.is_subset(&fields), "{event}");
        let unknown: Vec<_> = own.difference(&listed).collect();
        assert!(unknown.is_empty(), "{kind}: {unknown:?} is not on the page");
        let is_rare = |field: &str| SOMETIMES.contains(&(kind, field)) || ELSEWHERE.contains(&(kind, field));
        let missing = listed.difference(&own).filter(|field| !is_rare(field));
        assert_eq!(missing.collect::<Vec<_>>(), Vec::<&String>::new(), "{kind}: {event}");
        seen.entry(kind.to_owned()).or_default().extend(own);
    }
    seen
}

/// Every kind in one life, but for what is told of twice below.
#[test]
fn events_are_as_the_page_says() {
    let mut stand = Stand::up(Mode::Testnet, "");
    stand.send(&json!({"type": "updateLeverage", "asset": BTC, "isCross": true, "leverage": 5}));
    // A veto by a limit.
    stand.send(&json!({"type": "updateLeverage", "asset": BTC, "isCross": true, "leverage": 20}));
    // Without an answer: an intent that burns the nonce, and its end.
    stand.venue.fault("order", "drop_before", 1).unwrap();
    stand.send(&resting());
    until("the recovered event", || stand.events_of("recovered").pop());
    // A request that nobody signed, a read that fails, a position without cover.
    stand.post(
        "/exchange",
        &json!({"action": {"type": "noop"}, "nonce": 1, "signature": {"r": "0x1", "s": "0x1", "v": 27}}),
    );
    stand.venue.fault("allMids", "http_502", 1).unwrap();
    until("the error event", || stand.events_of("error").pop());
    stand.venue.control(&json!({"op": "position", "coin": "ETH", "szi": "0.4", "entry_px": "2500"})).unwrap();
    until("the protect event", || stand.events_of("protect").pop());
    // Money that moves.
    stand.venue.control(&json!([{"op": "funding", "rate": "0.0001"}, {"op": "deposit", "usd": "5"}])).unwrap();
    for kind in ["fill", "funding", "transfer", "balance"] {
        until(kind, || stand.events_of(kind).pop());
    }
    // More than one action for one request: what reduces goes by itself.
    let exit = json!({"a": ETH, "b": false, "p": "2400", "s": "0.1", "r": true, "t": {"limit": {"tif": "Ioc"}}});
    let orders = [exit, limit(BTC, true, "59700", "0.01")];
    stand.send(&json!({"type": "order", "orders": orders, "grouping": "na"}));
    run_with(&stand.home(), &["kill", "--reason", "end"], "");
    until("the flatten event", || stand.events_of("flatten").pop());
    until("a risk event", || stand.events_of("risk").pop());
    until("the flat event", || stand.events_of("flat").pop());
    assert_eq!(stand.stop(nix::sys::signal::Signal::SIGTERM), Some(0));
    let seen = hold(&stand.on_disk());
    assert_eq!(seen.keys().cloned().collect::<BTreeSet<_>>(), kinds(), "every kind of the page was seen");
    for (kind, field) in SOMETIMES {
        assert!(seen[kind].contains(field), "{kind}.{field} was never seen");
    }
}

/// The paths of all fields; what is inside of events and details has its own page.
fn paths(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) if !["last_event", "risk.details"].contains(&path) => {
            for (key, value) in fields {
                paths(value, &if path.is_empty() { key.clone() } else { format!("{path}.{key}") }, found);
            }
        }
        Value::Array(items) if items.first().is_some_and(Value::is_object) => {
            items.iter().for_each(|item| paths(item, &format!("{path}[]"), found));
        }
        _ => _ = found.insert(path.to_owned()),
    }
}

#[test]
fn the_status_is_as_the_page_says() {
    let stand = Stand::up(Mode::Testnet, "");
    // A position that gets no stop, an order, one by hand that no stop comes with, alerts, and a close that does not end.
    stand.send(&resting());
    stand.venue.control(&json!({"op": "fault", "on": "exchange", "kind": "http_502", "times": 1_000_000})).unwrap();
    stand.venue.control(&json!({"op": "position", "coin": "ETH", "szi": "0.4", "entry_px": "2500"})).unwrap();
    stand.venue.control(&json!({"op": "order", "order": limit(BTC, true, "59000", "0.01")})).unwrap();
    // Prices that are read no more are an alert in time.
    stand.without_prices();
    let has_about = |status: &Value| status["alerts"].as_array().unwrap().iter().any(|alert| alert["about"] == "ETH");
    until("the bare position", || has_about(&stand.status()).then_some(()));
    run_with(&stand.home(), &["kill", "--reason", "end"], "");
    let status = until("a status with something of everything", || {
        let status = stand.status();
        if status["closing"].is_null() || !has_about(&status) {
            return None;
        }
        let some = |key: &str| status.pointer(key).and_then(Value::as_array).is_some_and(|list| !list.is_empty());
        let lists = ["/positions", "/open_orders", "/alerts", "/closing/hindrances"];
        (lists.into_iter().all(some) && status["unattended"] == 1).then_some(status)
    });
    let mut found = BTreeSet::new();
    paths(&status, "", &mut found);
    assert_eq!(found, entries(".SH STATUS"));
}
