//! `list_decisions`, `list_events`: what the guard did.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{GUARD_READ, Tool, noted, read};
use crate::mcp::answer::Answer;
use crate::mcp::desk::Desk;
use crate::mcp::fate::Record;
use crate::mcp::link::LinkError;
use crate::mcp::outcome::{Kind, Outcome, Retry};
use crate::mcp::{client_id, records, schema};

/// Records given where nothing is said.
const DEFAULT: usize = 20;
/// Most records given.
const MOST: usize = 100;

pub(super) const DECISIONS: Tool = Tool {
    name: "list_decisions",
    title: "Guard decisions",
    description: "The guard's last decisions, newest first: what was asked, the verdict, its code and text, and what was changed. \
                  With client_id: the decisions on that trade of yours, with what was sent for them and what came back, however \
                  old. Otherwise from the last 1000 events.",
    hints: GUARD_READ,
    input: || {
        let mut members = page();
        members.extend([("coin", schema::coin()), ("client_id", schema::client_id())]);
        schema::object(0, &members)
    },
    run: decisions,
};

pub(super) const EVENTS: Tool = Tool {
    name: "list_events",
    title: "Guard events",
    description: "The guard's last events of every kind, newest first: decisions, sends with the venue's replies, stops that the \
                  guard placed, halts, kill, errors.",
    hints: GUARD_READ,
    input: || schema::object(0, &page()),
    run: events,
};

fn page() -> Vec<(&'static str, Value)> {
    vec![
        ("limit", schema::whole(1, 100, "How many, at most 100. 20 when left out.")),
        (
            "before",
            json!({"type": "integer", "minimum": 1, "description": "Only those with a smaller seq: the next page."}),
        ),
    ]
}

fn decisions(desk: &Desk, args: Option<&str>) -> Result<Answer, Outcome> {
    let args = read(args, &["limit", "before", "coin", "client_id"])?;
    let (limit, before) = (args.limit(DEFAULT, MOST)?, args.whole("before", "a seq")?);
    let (coin, client_id) = (args.optional_coin("coin")?, args.optional_client_id()?);
    desk.admit()?;
    let universe = match (&coin, desk.known_universe()) {
        (_, Ok(universe)) => universe,
        (Some(_), Err(outcome)) => return Err(outcome),
        // Without the list coins stay unnamed, and nothing else is missing.
        (None, Err(_)) => Arc::default(),
    };
    let is_wanted = |event: &Value| {
        let seq = event.get("seq").and_then(Value::as_u64).unwrap_or_default();
        before.is_none_or(|before| seq < before)
            && coin.as_ref().is_none_or(|coin| records::is_about(event, coin, &universe))
    };
    let found: Vec<Value> = match client_id {
        Some(client_id) => of_trade(desk, &client_id)?
            .iter()
            .rev()
            .filter(|record| is_wanted(Record(record).decision()))
            .take(limit)
            .map(|record| {
                let mut short = records::decision(Record(record).decision(), &universe);
                if let Some(short) = short.as_object_mut() {
                    short.insert("effects".to_owned(), records::effects(record));
                }
                short
            })
            .collect(),
        None => kept(desk)?
            .iter()
            .rev()
            .filter(|event| event.get("kind").and_then(Value::as_str) == Some("decision") && is_wanted(event))
            .take(limit)
            .map(|event| records::decision(event, &universe))
            .collect(),
    };
    Ok(noted(records::list("decisions", found)))
}

fn events(desk: &Desk, args: Option<&str>) -> Result<Answer, Outcome> {
    let args = read(args, &["limit", "before"])?;
    let (limit, before) = (args.limit(DEFAULT, MOST)?, args.whole("before", "a seq")?);
    desk.admit()?;
    let is_before = |event: &&Value| {
        let seq = event.get("seq").and_then(Value::as_u64).unwrap_or_default();
        before.is_none_or(|before| seq < before)
    };
    let found = kept(desk)?.iter().rev().filter(is_before).take(limit).map(records::event).collect();
    Ok(noted(records::list("events", found)))
}

/// Answers that all kept events come in at most: long events come in several.
const PARTS: usize = 16;

/// The events that the guard keeps in memory, oldest first.
fn kept(desk: &Desk) -> Result<Vec<Value>, Outcome> {
    let mut events: Vec<Value> = Vec::new();
    for _ in 0..PARTS {
        let since = events.last().and_then(|event| event.get("seq")?.as_u64());
        let path = since.map_or_else(|| "/guard/events".to_owned(), |since| format!("/guard/events?since={since}"));
        let mut answer = desk.link.get(&path).map_err(|error| Outcome::unreachable(&error))?;
        match answer.get_mut("events").map(Value::take) {
            Some(Value::Array(more)) if !more.is_empty() => events.extend(more),
            _ => break,
        }
        if events.last().and_then(|event| event.get("seq")) == answer.get("last") {
            break;
        }
    }
    Ok(events)
}

/// Every decision on a trade of this server's key, oldest first.
fn of_trade(desk: &Desk, name: &str) -> Result<Vec<Value>, Outcome> {
    let Some(key) = &desk.key else {
        let text =
            "This server has no client key, so it cannot tell which trades have this client_id. Leave client_id out.";
        return Err(Outcome::new(Kind::Unavailable, Retry::Never, text));
    };
    lookup(desk, &client_id::cloid(key.address(), name).to_string()).map_err(|error| Outcome::unreachable(&error))
}

/// Every decision on a client order id, oldest first.
pub(super) fn lookup(desk: &Desk, cloid: &str) -> Result<Vec<Value>, LinkError> {
    match desk.link.get(&format!("/guard/decision?cloid={cloid}")) {
        Ok(mut found) => Ok(match found.get_mut("decisions").map(Value::take) {
            Some(Value::Array(decisions)) => decisions,
            _ => Vec::new(),
        }),
        Err(LinkError::Refused(404, ..)) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}
