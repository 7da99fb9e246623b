//! The journal held against the venue: each action happened exactly as it is told, none twice, and no position is bare; each fill is
//! on record once, as it was and with the event that caused it.

use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::Decimal;
use serde_json::Value;

/// An action that an event named.
pub(crate) struct Named {
    pub(crate) seq: u64,
    pub(crate) index: usize,
    pub(crate) nonce: u64,
    pub(crate) action: Value,
    /// The nonce of an action in doubt, burnt.
    pub(crate) is_burning: bool,
}

/// All actions that events named, in their order.
pub(crate) fn named(events: &[Value]) -> Vec<Named> {
    let mut named = Vec::new();
    for event in events.iter().filter(|event| event["nonces"].is_array()) {
        let list = |key: &str| event[key].as_array().cloned().unwrap_or_default();
        let single = |key: &str| Some(event[key].clone()).filter(Value::is_object);
        let first = list("actions").into_iter().chain(single("action").filter(|_| event["kind"] == "intent"));
        let actions = first.chain(list("pre")).chain(single("forward")).chain(list("post"));
        let nonces = list("nonces");
        for (index, (action, nonce)) in actions.zip(&nonces).enumerate() {
            let is_burning = event["kind"] == "intent" && action["type"] == "noop";
            let (seq, nonce) = (event["seq"].as_u64().unwrap(), nonce.as_u64().unwrap());
            named.push(Named { seq, index, nonce, action, is_burning });
        }
        assert_eq!(nonces.len(), named.iter().filter(|named| event["seq"] == named.seq).count(), "{event}");
    }
    named
}

/// The one event of this kind on an action, if there is one.
fn end<'a>(events: &'a [Value], named: &Named, kind: &str, of: &str) -> Option<&'a Value> {
    let is_on = |event: &&Value| event["kind"] == kind && event[of] == named.seq && event["index"] == named.index;
    let mut found = events.iter().filter(is_on);
    let first = found.next();
    if let Some(second) = found.next() {
        panic!("an action ends twice: {first:?} and {second}");
    }
    first
}

/// The actions of which no event tells yet what became of them.
pub(crate) fn open_ends(events: &[Value]) -> Vec<(u64, usize)> {
    let open = named(events).into_iter().filter(|named| {
        let sent = end(events, named, "sent", "decision");
        let is_answered = sent.is_some_and(|sent| sent["reply"].get("status").is_some());
        let is_done = events.iter().any(|event| event["kind"] == "done" && event["intent"] == named.seq);
        // A noop that burns a nonce is settled with what it was sent for.
        let is_over = is_done && (sent.is_none() || named.is_burning);
        !is_answered && !is_over && end(events, named, "recovered", "intent").is_none()
    });
    open.map(|named| (named.seq, named.index)).collect()
}

/// Whether the venue took any part of an action.
fn took(seen: &Value) -> bool {
    let reply = &seen["reply"];
    let statuses = reply.pointer("/response/data/statuses").and_then(Value::as_array);
    let all_failed = statuses.is_some_and(|all| all.iter().all(|status| status.get("error").is_some()));
    seen["verdict"] == "applied" && reply["status"] == "ok" && !all_failed
}

/// How the actions ended, counted.
pub(crate) type Ends = BTreeMap<String, usize>;

/// Holds the whole journal against all that the venue saw.
pub(crate) fn hold(events: &[Value], truth: &Value) -> Ends {
    let requests = truth["requests"].as_array().unwrap();
    let named = named(events);
    numbers_go_on(events);
    nonces_increase(&named);
    let mut used = BTreeSet::new();
    for seen in requests {
        let is_named = named.iter().any(|named| seen["nonce"] == named.nonce && seen["action"] == named.action);
        assert!(is_named, "the venue got what no event names: {seen}");
        assert!(seen["verdict"] != "applied" || used.insert(seen["nonce"].as_u64()), "a nonce twice: {seen}");
        assert!(
            seen["verdict"] != "bad_nonce" || seen["type"] == "noop" || came_late(seen, requests),
            "sent again: {seen}"
        );
    }
    let mut ends = Ends::new();
    for named in &named {
        *ends.entry(is_told_truly(events, requests, named)).or_default() += 1;
    }
    nothing_twice(requests);
    ends
}

/// What of a fill is told here and there: ids, amounts and the order's own id.
type Told = ([u64; 3], [Decimal; 3], String);

fn told([ids, amounts]: [[&str; 3]; 2], fill: &Value) -> Told {
    let amount = |key: &str| fill[key].as_str().unwrap().parse().unwrap();
    (ids.map(|key| fill[key].as_u64().unwrap()), amounts.map(amount), fill["cloid"].to_string())
}

/// The venue's fills, and those on record.
fn fills(events: &[Value], truth: &Value) -> [Vec<Told>; 2] {
    let ids = ["time", "tid", "oid"];
    let of = |fill: &Value| told([ids, ["sz", "px", "fee"]], fill);
    let mut venue: Vec<_> = truth["fills"].as_array().unwrap().iter().map(of).collect();
    let kept = events.iter().filter(|event| event["kind"] == "fill");
    let mut kept: Vec<_> = kept.map(|fill| told([ids, ["size", "px", "fee"]], fill)).collect();
    venue.sort();
    kept.sort();
    [venue, kept]
}

/// How many of the venue's fills are not on record yet.
pub(crate) fn unrecorded(events: &[Value], truth: &Value) -> usize {
    let [venue, kept] = fills(events, truth);
    venue.len().saturating_sub(kept.len())
}

/// Each fill on record is one of the venue's and is there once, and names an event that sent its order.
pub(crate) fn hold_fills(events: &[Value], truth: &Value) {
    let named = named(events);
    let [venue, kept] = fills(events, truth);
    assert!(kept.windows(2).all(|pair| pair[0] != pair[1]), "a fill is on record twice: {kept:?}");
    assert!(kept.iter().all(|fill| venue.contains(fill)), "on record: {kept:?}, at the venue: {venue:?}");
    for fill in events.iter().filter(|event| event["kind"] == "fill" && event["cloid"].is_string()) {
        let cloid = fill["cloid"].as_str().unwrap();
        let places =
            |action: &Value| action["type"] == "order" || action["type"] == "modify" || action["type"] == "batchModify";
        let sent_by = named.iter().filter(|named| places(&named.action) && named.action.to_string().contains(cloid));
        let seqs: Vec<u64> = sent_by.map(|named| named.seq).collect();
        assert!(seqs.iter().any(|seq| fill["intent"] == *seq), "of {seqs:?}: {fill}");
    }
}

/// Whether a request was sent once and only came after the noop that burnt its nonce: it was on its way when its sender
/// died, and the next life was quicker.
fn came_late(seen: &Value, requests: &[Value]) -> bool {
    let of_nonce = || requests.iter().filter(|other| other["nonce"] == seen["nonce"]);
    let times = of_nonce().filter(|other| other["action"] == seen["action"]).count();
    times == 1 && of_nonce().any(|other| other["type"] == "noop" && other["verdict"] == "applied")
}

fn numbers_go_on(events: &[Value]) {
    let seqs: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert!(seqs.windows(2).all(|pair| pair[1] == pair[0] + 1), "numbers go on without a gap: {seqs:?}");
}

fn nonces_increase(named: &[Named]) {
    let mut last = 0;
    for named in named.iter().filter(|named| !named.is_burning) {
        assert!(named.nonce > last, "nonce {} after {last}: {}", named.nonce, named.action);
        last = named.nonce;
    }
}

/// The end that is told of an action is the one that the venue knows.
fn is_told_truly(events: &[Value], requests: &[Value], named: &Named) -> String {
    let of_nonce = |seen: &&Value| seen["nonce"] == named.nonce && seen["action"] == named.action;
    let happened = requests.iter().filter(of_nonce).any(took);
    let sent = end(events, named, "sent", "decision");
    let recovered = end(events, named, "recovered", "intent");
    let told = format!("{} {} of {}: sent {sent:?} recovered {recovered:?}", named.index, named.action, named.seq);
    if let Some(sent) = sent {
        assert_eq!(sent["nonce"], named.nonce, "{told}");
        if sent["reply"].get("status").is_some() {
            assert!(requests.iter().filter(of_nonce).any(|seen| seen["reply"] == sent["reply"]), "{told}");
            assert!(recovered.is_none(), "{told}");
            return "sent".to_owned();
        }
    }
    let Some(recovered) = recovered else {
        assert!(named.is_burning || sent.is_none() && !happened, "lost: {told}");
        return "not sent".to_owned();
    };
    assert_eq!(recovered["action"], named.action);
    assert!(recovered["evidence"].as_array().is_some_and(|all| !all.is_empty()), "{told}");
    let outcome = recovered["outcome"].as_str().unwrap();
    match outcome {
        // One noop cannot be told from another with its nonce, and neither does anything.
        _ if named.action["type"] == "noop" => {}
        "happened" => assert!(happened, "{told}"),
        "did_not_happen" => assert!(!happened, "{told}"),
        // Whether it was this action that did it is left open by those that place nothing.
        "moot" => assert!(named.action.get("orders").is_none() && named.action["type"] != "modify", "{told}"),
        other => panic!("{other}: {told}"),
    }
    outcome.to_owned()
}

/// No order was placed under an id that was placed before.
fn nothing_twice(requests: &[Value]) {
    let mut placed = BTreeSet::new();
    for seen in requests.iter().filter(|seen| seen["type"] == "order" && seen["verdict"] == "applied") {
        let statuses = seen.pointer("/reply/response/data/statuses").and_then(Value::as_array).unwrap();
        for (order, status) in seen["action"]["orders"].as_array().unwrap().iter().zip(statuses) {
            let id = order["c"].as_str().unwrap_or_else(|| panic!("an order without an id: {seen}"));
            assert!(status.get("error").is_some() || placed.insert(id.to_owned()), "placed twice: {seen}");
        }
    }
}

/// The first position that market stops do not cover in full.
pub(crate) fn bare(truth: &Value) -> Option<String> {
    let amount = |value: &Value| value.as_str().unwrap().parse::<Decimal>().unwrap();
    let orders = truth["orders"].as_array().unwrap();
    truth["positions"].as_array().unwrap().iter().find_map(|position| {
        let szi = amount(&position["szi"]);
        let side = if szi > Decimal::ZERO { "A" } else { "B" };
        let covers = |order: &&Value| {
            order["coin"] == position["coin"]
                && order["side"] == side
                && order["orderType"] == "Stop Market"
                && order["stage"] != "waiting"
                && order["reduceOnly"] == true
        };
        let covered: Decimal = orders.iter().filter(covers).map(|order| amount(&order["sz"])).sum();
        (covered < szi.abs()).then(|| format!("{position} is covered for {covered} by {orders:?}"))
    })
}
