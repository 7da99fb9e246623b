//! `list_decisions`, `list_events`: the guard's record of its decisions and events.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::tool::{GUARD_READ, Tool, noted, read};
use crate::mcp::answer::Answer;
use crate::mcp::context::Context;
use crate::mcp::guard_client::GuardCallError;
use crate::mcp::outcome::{Kind, Outcome, Retry};
use crate::mcp::send::decisions_in;
use crate::mcp::settlement_view::Record;
use crate::mcp::{client_id, records, schema};
use crate::record::event::Event;
use crate::record::event_page::EventPage;

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
    let is_wanted = |event: &Event<'_>| {
        before.is_none_or(|before| event.seq < before)
            && coin.as_ref().is_none_or(|coin| records::is_about(event, coin, &universe))
    };
    let found: Vec<Value> = match client_id {
        Some(client_id) => of_trade(context, &client_id)?
            .iter()
            .rev()
            .filter(|record| is_wanted(&record.decision))
            .filter_map(|record| {
                let mut short = records::decision(&record.decision, &universe)?;
                short.insert("effects".to_owned(), records::effects(record));
                Some(Value::Object(short))
            })
            .take(limit)
            .collect(),
        None => newest(context, limit, before, |event, _| {
            is_wanted(event).then(|| records::decision(event, &universe).map(Value::Object)).flatten()
        })?,
    };
    Ok(noted(records::list("decisions", found)))
}

fn events(context: &Context, args: Option<&str>) -> Result<Answer, Outcome> {
    let args = read(args, &["limit", "before"])?;
    let (limit, before) = (args.limit(DEFAULT, MOST)?, args.whole("before", "a seq")?);
    context.admit()?;
    let found = newest(context, limit, before, |_, text| Some(records::event(text)))?;
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
    short: impl Fn(&Event<'_>, &Value) -> Option<Value>,
) -> Result<Vec<Value>, Outcome> {
    let (mut found, mut since) = (VecDeque::new(), 0);
    for _ in 0..PARTS {
        let path = format!("/guard/events?since={since}&limit={PART}");
        let answer = context.guard.get(&path).map_err(|error| Outcome::unreachable(&error))?;
        let Ok(page) = EventPage::<Value>::deserialize(answer) else { break };
        let (begun, last) = (since, page.last);
        for text in &page.events {
            let Some(event) = Event::of(text).filter(|event| event.seq > since) else { continue };
            since = event.seq;
            if before.is_none_or(|before| event.seq < before)
                && let Some(short) = short(&event, text)
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
fn of_trade(context: &Context, name: &str) -> Result<Vec<Record>, Outcome> {
    let Some(key) = &context.key else {
        let text =
            "This server has no client key, so it cannot tell which trades have this client_id. Leave client_id out.";
        return Err(Outcome::new(Kind::Unavailable, Retry::Never, text));
    };
    lookup(context, &client_id::cloid(key.address(), name).to_string()).map_err(|error| Outcome::unreachable(&error))
}

/// Every decision on a client order id, oldest first.
pub(super) fn lookup(context: &Context, cloid: &str) -> Result<Vec<Record>, GuardCallError> {
    match context.guard.get(&format!("/guard/decision?cloid={cloid}")) {
        Ok(found) => Ok(decisions_in(found)),
        Err(GuardCallError::Refused(404, ..)) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}
