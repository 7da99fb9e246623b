//! `list_decisions`, `list_events`: the guard's record of its decisions and events.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::{Value, json};

use super::tool::{GUARD_READ, Tool, noted, read};
use crate::mcp::answer::Answer;
use crate::mcp::context::Context;
use crate::mcp::guard_client::GuardCallError;
use crate::mcp::outcome::{Kind, Outcome, Retry};
use crate::mcp::settlement_view::DecisionRecord;
use crate::mcp::{client_id, records, schema};

/// Records given where no number is named.
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

fn decisions(context: &Context, args: Option<&str>) -> Result<Answer, Outcome> {
    let args = read(args, &["limit", "before", "coin", "client_id"])?;
    let (limit, before) = (args.limit(DEFAULT, MOST)?, args.whole("before", "a seq")?);
    let (coin, client_id) = (args.optional_coin("coin")?, args.optional_client_id()?);
    context.admit()?;
    let universe = match (&coin, context.known_universe()) {
        (_, Ok(universe)) => universe,
        (Some(_), Err(outcome)) => return Err(outcome),
        // Without the list coins stay unnamed, and nothing else is missing.
        (None, Err(_)) => Arc::default(),
    };
    let coin = coin.map(|coin| context.market(&coin)).transpose()?.map(|market| market.coin);
    let is_wanted = |event: &Value| {
        let seq = event.get("seq").and_then(Value::as_u64).unwrap_or_default();
        before.is_none_or(|before| seq < before)
            && coin.as_ref().is_none_or(|coin| records::is_about(event, coin, &universe))
    };
    let found: Vec<Value> = match client_id {
        Some(client_id) => of_trade(context, &client_id)?
            .iter()
            .rev()
            .filter(|record| is_wanted(DecisionRecord(record).decision()))
            .take(limit)
            .map(|record| {
                let mut short = records::decision(DecisionRecord(record).decision(), &universe);
                if let Some(short) = short.as_object_mut() {
                    short.insert("effects".to_owned(), records::effects(record));
                }
                short
            })
            .collect(),
        None => {
            let is_decision = |event: &Value| event.get("kind").and_then(Value::as_str) == Some("decision");
            newest(context, limit, before, |event| {
                (is_decision(event) && is_wanted(event)).then(|| records::decision(event, &universe))
            })?
        }
    };
    Ok(noted(records::list("decisions", found)))
}

fn events(context: &Context, args: Option<&str>) -> Result<Answer, Outcome> {
    let args = read(args, &["limit", "before"])?;
    let (limit, before) = (args.limit(DEFAULT, MOST)?, args.whole("before", "a seq")?);
    context.admit()?;
    let found = newest(context, limit, before, |event| Some(records::event(event)))?;
    Ok(noted(records::list("events", found)))
}

/// Events asked for at a time. All that the guard keeps would be more than an answer holds where they are long.
const PART: usize = 100;
/// Parts asked for at most: a guard that keeps a thousand events gives them in ten, or in a few more where they are long.
const PARTS: usize = 64;

/// The newest of the events that the guard keeps in memory, at most `limit`, newest first, in short. They are read oldest
/// first and part by part: an event that comes or goes meanwhile is listed once or not at all.
fn newest(
    context: &Context,
    limit: usize,
    before: Option<u64>,
    short: impl Fn(&Value) -> Option<Value>,
) -> Result<Vec<Value>, Outcome> {
    let seq = |event: &Value| event.get("seq").and_then(Value::as_u64);
    let (mut found, mut since) = (VecDeque::new(), 0);
    for _ in 0..PARTS {
        let path = format!("/guard/events?since={since}&limit={PART}");
        let mut answer = context.guard.get(&path).map_err(|error| Outcome::unreachable(&error))?;
        let Some(Value::Array(part)) = answer.get_mut("events").map(Value::take) else { break };
        let (begun, last) = (since, answer.get("last").and_then(Value::as_u64));
        for event in &part {
            let Some(seq) = seq(event).filter(|seq| *seq > since) else { continue };
            since = seq;
            if before.is_none_or(|before| seq < before)
                && let Some(short) = short(event)
            {
                found.push_front(short);
                found.truncate(limit);
            }
        }
        let is_over = last.is_none_or(|last| since >= last) || before.is_some_and(|before| since >= before);
        if is_over || since == begun {
            break;
        }
    }
    Ok(found.into())
}

/// Every decision on a trade of this server's key, oldest first.
fn of_trade(context: &Context, name: &str) -> Result<Vec<Value>, Outcome> {
    let Some(key) = &context.key else {
        let text =
            "This server has no client key, so it cannot tell which trades have this client_id. Leave client_id out.";
        return Err(Outcome::new(Kind::Unavailable, Retry::Never, text));
    };
    lookup(context, &client_id::cloid(key.address(), name).to_string()).map_err(|error| Outcome::unreachable(&error))
}

/// Every decision on a client order id, oldest first.
pub(super) fn lookup(context: &Context, cloid: &str) -> Result<Vec<Value>, GuardCallError> {
    match context.guard.get(&format!("/guard/decision?cloid={cloid}")) {
        Ok(mut found) => Ok(match found.get_mut("decisions").map(Value::take) {
            Some(Value::Array(decisions)) => decisions,
            _ => Vec::new(),
        }),
        Err(GuardCallError::Refused(404, ..)) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}
