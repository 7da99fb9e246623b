//! `get_status`, `get_positions`, `get_open_orders`: parts of the guard's status.

use rust_decimal::Decimal;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::tool::{GUARD_READ, Tool, VENUE_READ, noted, read};
use crate::base::address::Address;
use crate::mcp::answer::Answer;
use crate::mcp::context::Context;
use crate::mcp::outcome::Outcome;
use crate::mcp::{records, sanitize, schema};
use crate::record::amounts;
use crate::record::status::{Alert, Closing, RiskStatus, Status, VenueStatus};

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
    let known = status.known();
    let members = json!(Members {
        mode: &known.mode,
        account: known.account,
        account_network: &known.account_network,
        version: &known.version,
        at_ms: known.at_ms,
        equity: known.equity,
        risk: &known.risk,
        closing: known.closing.clone(),
        alerts: &known.alerts,
        venue: &known.venue,
    });
    let members = members.as_object().into_iter().flatten();
    let mut shown: Map<String, Value> = members.map(|(key, member)| (key.clone(), sanitize::value(member))).collect();
    let reason = status.killed();
    shown.insert("kill".to_owned(), json!({"pulled": reason.is_some(), "reason": reason}));
    shown.insert("headroom".to_owned(), super::rules::headroom(status));
    shown.insert("healthy".to_owned(), json!(healthy));
    shown.insert("read_only".to_owned(), json!(context.key.is_none()));
    shown.insert("positions_count".to_owned(), json!(status.known().positions.len()));
    shown.insert("open_orders_count".to_owned(), json!(status.known().open_orders.len()));
    shown.insert("caution".to_owned(), json!(snapshot.caution()));
    Ok(noted(shown))
}

/// The members of the status that are shown as they are.
#[derive(Serialize)]
struct Members<'a> {
    mode: &'a str,
    account: Address,
    account_network: &'a str,
    version: &'a str,
    at_ms: u64,
    #[serde(with = "amounts::or_null")]
    equity: Option<Decimal>,
    risk: &'a RiskStatus,
    closing: Option<Closing>,
    alerts: &'a [Alert],
    venue: &'a VenueStatus,
}

fn positions(context: &Context, args: Option<&str>) -> Result<Answer, Outcome> {
    of_coin(context, args, "positions", |status| &status.positions, |position| &position.coin)
}

fn orders(context: &Context, args: Option<&str>) -> Result<Answer, Outcome> {
    of_coin(context, args, "open_orders", |status| &status.open_orders, |order| &order.coin)
}

/// A list of the status, of one coin where one is named.
fn of_coin<T: Serialize>(
    context: &Context,
    args: Option<&str>,
    name: &str,
    list: fn(&Status) -> &Vec<T>,
    coin_of: fn(&T) -> &String,
) -> Result<Answer, Outcome> {
    let coin = read(args, &["coin"])?.optional_coin("coin")?;
    let snapshot = context.fresh_snapshot()?;
    let status = &snapshot.status;
    let of_coin = |item: &&T| coin.as_ref().is_none_or(|coin| coin.eq_ignore_ascii_case(coin_of(item)));
    let items = list(status.known()).iter().filter(of_coin).map(|item| sanitize::value(&json!(item)));
    let mut shown = records::list(name, items.collect());
    shown.insert("account_age_ms".to_owned(), json!(status.age_ms()));
    shown.insert("caution".to_owned(), json!(snapshot.caution()));
    Ok(noted(shown))
}
