//! Reads of what has happened to the account: fills, funding, ledger, TWAP orders.

use super::super::engine::Engine;
use super::super::engine::fill::{Fill, Funding, LedgerEntry};
use super::super::engine::twap::Twap;
use super::super::show::{num, usd};
use super::orders::side;
use super::{Reader, moment};
use serde_json::{Value, json};
use svc_guard::base::address::Address;

pub(crate) const NO_HASH: &str = "0x0000000000000000000000000000000000000000000000000000000000000000";

/// Fills in one answer.
const FILLS_A_PAGE: usize = 2_000;
/// Fills that can be read at all: the newest.
const FILLS_DEPTH: usize = 10_000;
/// Payments of funding in one answer.
const FUNDING_A_PAGE: usize = 500;
/// Lines of the ledger in one answer.
const LEDGER_A_PAGE: usize = 500;

/// Newest first.
pub(super) fn fills(reader: &Reader<'_>) -> Value {
    let fills = reader.engine.fills.iter().rev().filter(|_| reader.known);
    fills.take(FILLS_A_PAGE).map(|entry| fill(reader.engine, entry)).collect()
}

/// Oldest first, bounds inclusive: a page of the newest ones.
pub(super) fn fills_by_time(reader: &Reader<'_>, request: &Value) -> Option<Value> {
    let start_ms = moment(request, "startTime")?;
    let end_ms = moment(request, "endTime").unwrap_or(u64::MAX);
    let too_old = reader.engine.fills.len().saturating_sub(FILLS_DEPTH);
    let fills = reader.engine.fills.iter().skip(too_old).filter(|_| reader.known);
    let within = fills.filter(|fill| (start_ms..=end_ms).contains(&fill.at_ms));
    Some(within.take(FILLS_A_PAGE).map(|entry| fill(reader.engine, entry)).collect())
}

/// A fill in the venue's key order.
pub(crate) fn fill(engine: &Engine, fill: &Fill) -> Value {
    let mut entry = json!({
        "coin": engine.coin(fill.asset), "px": num(fill.px), "sz": num(fill.sz), "side": side(fill.is_buy),
        "time": fill.at_ms, "startPosition": num(fill.start_position), "dir": fill.dir,
        "closedPnl": usd(fill.closed_pnl), "hash": NO_HASH, "oid": fill.oid, "crossed": fill.crossed,
        "fee": num(fill.fee), "tid": fill.tid,
    });
    if let Some(members) = entry.as_object_mut() {
        if let Some(cloid) = &fill.cloid {
            members.insert("cloid".into(), json!(cloid));
        }
        if let Some(mark) = fill.liquidation_mark {
            members.insert("liquidation".into(), json!({"markPx": num(mark), "method": "market"}));
        }
        members.insert("feeToken".into(), json!("USDC"));
        if let Some(elsewhere) = &fill.elsewhere {
            members.insert("coin".into(), json!(elsewhere.coin));
            members.insert("feeToken".into(), json!(elsewhere.fee_token));
            let builder_fee = elsewhere.builder_fee.map(|fee| json!(num(fee)));
            builder_fee.into_iter().for_each(|fee| _ = members.insert("builderFee".into(), fee));
        }
        members.insert("twapId".into(), json!(fill.twap_id));
    }
    entry
}

pub(super) fn funding(reader: &Reader<'_>, request: &Value) -> Option<Value> {
    let start_ms = moment(request, "startTime")?;
    let end_ms = moment(request, "endTime").unwrap_or(u64::MAX);
    let entries = reader.engine.funding.iter().filter(|_| reader.known);
    let within = entries.filter(|entry| (start_ms..=end_ms).contains(&entry.at_ms));
    Some(within.take(FUNDING_A_PAGE).map(|entry| funding_row(reader.engine, entry)).collect())
}

/// A payment of funding.
pub(crate) fn funding_row(engine: &Engine, entry: &Funding) -> Value {
    json!({"time": entry.at_ms, "hash": NO_HASH, "delta": {
        "type": "funding", "coin": engine.coin(entry.asset), "usdc": usd(entry.usd), "szi": num(entry.szi),
        "fundingRate": num(entry.rate), "nSamples": null,
    }})
}

/// Deposits and withdrawals that the ledger shows by now: the oldest of them where they are too many.
pub(super) fn ledger(reader: &Reader<'_>, request: &Value) -> Value {
    let start_ms = moment(request, "startTime").unwrap_or(0);
    let end_ms = moment(request, "endTime").unwrap_or(u64::MAX);
    let now_ms = reader.engine.now_ms;
    let shown = reader.engine.ledger.iter().filter(|entry| reader.known && entry.visible_ms <= now_ms);
    let within = shown.filter(|entry| (start_ms..=end_ms).contains(&entry.at_ms));
    within.take(LEDGER_A_PAGE).map(ledger_row).collect()
}

/// A line of the ledger.
pub(crate) fn ledger_row(entry: &LedgerEntry) -> Value {
    let delta = if let Some(delta) = &entry.delta {
        delta.clone()
    } else if entry.usd.is_sign_negative() {
        json!({"type": "withdraw", "usdc": usd(entry.usd.abs()), "nonce": entry.at_ms, "fee": "0.0"})
    } else {
        json!({"type": "deposit", "usdc": usd(entry.usd)})
    };
    json!({"time": entry.at_ms, "hash": NO_HASH, "delta": delta})
}

pub(super) fn twaps(reader: &Reader<'_>) -> Value {
    let engine = reader.engine;
    let known = engine.twaps.iter().rev().filter(|_| reader.known);
    known.map(|(&id, twap)| twap_row(engine, reader.user, id, twap)).collect()
}

/// A line of the TWAP orders' history; its `time` is in seconds.
pub(crate) fn twap_row(engine: &Engine, user: Address, id: u64, twap: &Twap) -> Value {
    json!({"time": twap.started_ms / 1000, "state": twap_state(engine, user, twap), "status": {"status": twap.status},
        "twapId": id})
}

/// How far a TWAP order has come.
pub(crate) fn twap_state(engine: &Engine, user: Address, twap: &Twap) -> Value {
    json!({
        "coin": engine.coin(twap.spec.asset), "user": user, "side": side(twap.spec.is_buy), "sz": num(twap.spec.sz),
        "executedSz": num(twap.executed_sz), "executedNtl": usd(twap.executed_usd), "minutes": twap.spec.minutes,
        "reduceOnly": twap.spec.reduce_only, "randomize": twap.spec.randomize, "timestamp": twap.started_ms,
        "trigger": null, "stopPx": null,
    })
}

pub(super) fn twap_fills(reader: &Reader<'_>) -> Value {
    let fills = reader.engine.fills.iter().rev().filter(|fill| reader.known && fill.twap_id.is_some());
    fills.map(|entry| json!({"fill": fill(reader.engine, entry), "twapId": entry.twap_id})).collect()
}
