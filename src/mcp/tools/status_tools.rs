//! `get_status`, `get_positions`, `get_open_orders`: parts of the guard's status.

use serde_json::{Map, Value, json};

use super::tool::{GUARD_READ, Tool, VENUE_READ, noted, read};
use crate::mcp::answer::Answer;
use crate::mcp::context::Context;
use crate::mcp::outcome::Outcome;
use crate::mcp::{records, sanitize, schema};

pub(super) const STATUS: Tool = Tool {
    name: "get_status",
    title: "Guard status",
    description: "How the guard and the account stand: mode (paper, testnet, mainnet), whether the kill switch is pulled and \
                  why, risk state, equity, today's result, what is left of each limit, alerts, and whether guard and venue \
                  answer. Look here first.",
    hints: GUARD_READ,
    input: || schema::object(0, &[]),
    run: status,
};

pub(super) const POSITIONS: Tool = Tool {
    name: "get_positions",
    title: "Open positions",
    description: "The account's open positions: side, size in coins, entry and mark price, unrealised result, leverage, \
                  liquidation price, the stop that covers it and how much of it is covered.",
    hints: VENUE_READ,
    input: || schema::object(0, &[("coin", schema::coin())]),
    run: positions,
};

pub(super) const ORDERS: Tool = Tool {
    name: "get_open_orders",
    title: "Open orders",
    description: "The account's open orders with their ids, stops and take profits among them. `owner` says whose: bot (a \
                  client of the guard, such as you), guard (cannot be changed by you), other.",
    hints: VENUE_READ,
    input: || schema::object(0, &[("coin", schema::coin())]),
    run: orders,
};

fn status(context: &Context, args: Option<&str>) -> Result<Answer, Outcome> {
    read(args, &[])?;
    let snapshot = context.fresh_snapshot()?;
    let status = &snapshot.status;
    // An ill guard answers 503 with the problems, which the alerts tell as well.
    let healthy = context.guard.get("/healthz").is_ok();
    let mut shown = Map::new();
    for key in ["mode", "account", "account_network", "version", "at_ms", "equity", "risk", "alerts", "venue"] {
        let member = status.raw().get(key).map_or(Value::Null, sanitize::value);
        shown.insert(key.to_owned(), member);
    }
    let reason = status.killed();
    shown.insert("kill".to_owned(), json!({"pulled": reason.is_some(), "reason": reason}));
    shown.insert("headroom".to_owned(), super::rules::headroom(status));
    shown.insert("healthy".to_owned(), json!(healthy));
    shown.insert("read_only".to_owned(), json!(context.key.is_none()));
    for list in ["positions", "open_orders"] {
        let count = status.raw().get(list).and_then(Value::as_array).map_or(0, Vec::len);
        shown.insert(format!("{list}_count"), json!(count));
    }
    shown.insert("caution".to_owned(), json!(snapshot.caution()));
    Ok(noted(shown))
}

fn positions(context: &Context, args: Option<&str>) -> Result<Answer, Outcome> {
    of_coin(context, args, "positions")
}

fn orders(context: &Context, args: Option<&str>) -> Result<Answer, Outcome> {
    of_coin(context, args, "open_orders")
}

/// A list of the status, of one coin where one is named.
fn of_coin(context: &Context, args: Option<&str>, name: &str) -> Result<Answer, Outcome> {
    let coin = read(args, &["coin"])?.optional_coin("coin")?;
    let snapshot = context.fresh_snapshot()?;
    let status = &snapshot.status;
    let items = status.raw().get(name).and_then(Value::as_array).into_iter().flatten();
    let of_coin = |item: &&Value| {
        let named = item.get("coin").and_then(Value::as_str).unwrap_or_default();
        coin.as_ref().is_none_or(|coin| coin.eq_ignore_ascii_case(named))
    };
    let mut shown = records::list(name, items.filter(of_coin).map(sanitize::value).collect());
    let age = status.raw().pointer("/venue/account_age_ms").cloned().unwrap_or_default();
    shown.insert("account_age_ms".to_owned(), age);
    shown.insert("caution".to_owned(), json!(snapshot.caution()));
    Ok(noted(shown))
}
