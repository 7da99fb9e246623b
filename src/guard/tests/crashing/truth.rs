//! The journal held against the model venue.

use std::collections::BTreeMap;

use serde_json::Value;

use super::venue::{Taken, Venue};

/// An action as an event named it.
#[derive(Debug, Clone)]
pub(super) struct Named {
    pub(super) seq: u64,
    pub(super) index: usize,
    pub(super) nonce: u64,
    pub(super) action: Value,
    pub(super) is_burning: bool,
}

/// The actions that an event names.
pub(super) fn named(event: &Value) -> Vec<Named> {
    let Some(nonces) = event["nonces"].as_array() else { return Vec::new() };
    let list = |key: &str| event[key].as_array().cloned().unwrap_or_default();
    let single = |key: &str| Some(event[key].clone()).filter(Value::is_object);
    let first = list("actions").into_iter().chain(single("action")).chain(list("pre"));
    let actions = first.chain(single("forward")).chain(list("post"));
    let named = actions.zip(nonces).enumerate().map(|(index, (action, nonce))| Named {
        seq: event["seq"].as_u64().unwrap(),
        index,
        nonce: nonce.as_u64().unwrap(),
        is_burning: event["kind"] == "intent" && action["type"] == "noop",
        action,
    });
    named.collect()
}

/// How many actions ended in which way; an error names the first that is told wrongly.
pub(super) fn hold(events: &[Value], venue: &Venue) -> Result<BTreeMap<String, u64>, String> {
    let mut last_nonce = 0;
    for (at, event) in events.iter().enumerate() {
        if event["seq"] != at + 1 {
            return Err(format!("number {} in place {}", event["seq"], at + 1));
        }
    }
    let mut ends = BTreeMap::new();
    for named in events.iter().flat_map(named) {
        if !named.is_burning {
            if named.nonce <= last_nonce {
                return Err(format!("nonce {} after {last_nonce}", named.nonce));
            }
            last_nonce = named.nonce;
        }
        *ends.entry(end(events, venue, &named)?).or_default() += 1;
    }
    Ok(ends)
}

/// How an action ended, if that is true.
fn end(events: &[Value], venue: &Venue, named: &Named) -> Result<String, String> {
    let of = |kind: &str, key: &str| -> Vec<&Value> {
        let is_on = |event: &&Value| event["kind"] == kind && event[key] == named.seq && event["index"] == named.index;
        events.iter().filter(is_on).collect()
    };
    let (sent, recovered) = (of("sent", "decision"), of("recovered", "intent"));
    let wrong = |what: &str| Err(format!("{what}: {named:?} sent {sent:?} recovered {recovered:?}"));
    if sent.len() > 1 || recovered.len() > 1 {
        return wrong("two ends");
    }
    let taken: Option<&Taken> =
        venue.taken.iter().find(|taken| taken.nonce == named.nonce && taken.action == named.action);
    let happened = taken.is_some_and(Taken::happened);
    if let Some(sent) = sent.first().filter(|sent| sent["reply"].get("status").is_some()) {
        // A noop finds its nonce used by what it was sent for.
        if !named.is_burning && taken.is_none_or(|taken| taken.reply != sent["reply"]) {
            return wrong("an answer that was not given");
        }
        return if recovered.is_empty() { Ok("sent".to_owned()) } else { wrong("two ends") };
    }
    let Some(recovered) = recovered.first() else {
        let is_done = events.iter().any(|event| event["kind"] == "done" && event["intent"] == named.seq);
        return match (is_done, named.is_burning, happened || !sent.is_empty()) {
            (false, _, _) => wrong("no end"),
            (true, false, true) => wrong("lost"),
            _ => Ok("not sent".to_owned()),
        };
    };
    let outcome = recovered["outcome"].as_str().unwrap_or_default();
    let places = named.action.get("orders").is_some() || named.action["type"] == "modify";
    match (outcome, happened) {
        // One noop cannot be told from another with its nonce, and neither does anything.
        _ if named.action["type"] == "noop" => Ok(format!("{outcome} noop")),
        ("happened", false) | ("did_not_happen", true) => wrong("not the truth"),
        ("moot", _) if places => wrong("an order cannot be moot"),
        _ => Ok(outcome.to_owned()),
    }
}
