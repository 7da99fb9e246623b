//! A venue for the book: it trades, pays and moves money by itself, and its record is the truth. What it shows of it is paged as the
//! real one's is.

use super::super::fixture::*;
use crate::venue::history::{FILLS_A_PAGE, FILLS_DEPTH, FUNDINGS_A_PAGE};
use crate::venue::stream::data::Data;
use crate::venue::stream::frame::Frame;
use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Size and entry price.
type Held = (Decimal, Decimal);

pub(super) struct BookVenue {
    pub(super) now: u64,
    /// Every fill as the venue shows it, oldest first.
    pub(super) fills: Vec<Value>,
    /// Those that it never shows.
    pub(super) hidden: Vec<Value>,
    pub(super) fundings: Vec<Value>,
    pub(super) ledger: Vec<Value>,
    pub(super) held: BTreeMap<&'static str, Held>,
    /// What has happened so shortly before an answer is not in it.
    pub(super) lag_ms: u64,
    /// The marks of all that is held, in parts of the entry.
    pub(super) mark: Decimal,
    cash: Decimal,
    next_id: u64,
}

fn usd(amount: Decimal) -> String {
    amount.round_dp(6).normalize().to_string()
}

impl BookVenue {
    pub(super) fn new() -> Self {
        let (fills, hidden, fundings, ledger) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (held, lag_ms, cash, next_id) = (BTreeMap::new(), 0, dec!(10000), 1);
        Self { now: NOW, fills, hidden, fundings, ledger, held, lag_ms, mark: dec!(1.02), cash, next_id }
    }

    /// Trades so much at a price; the fill as it is shown.
    pub(super) fn trade(&mut self, coin: &'static str, signed: Decimal, px: Decimal, cloid: Option<&str>) -> Value {
        let (before, entry) = self.held.get(coin).copied().unwrap_or_default();
        let closes = !before.is_zero() && before.is_sign_positive() != signed.is_sign_positive();
        let closing = if closes { signed.abs().min(before.abs()) } else { Decimal::ZERO };
        let direction = if before.is_sign_positive() { dec!(1) } else { dec!(-1) };
        let closed = (closing * (px - entry) * direction).round_dp(6);
        let fee = (px * signed.abs() * dec!(0.00045)).trunc_with_scale(6) - dec!(0.0001);
        let after = before + signed;
        let entry = match (after.is_zero(), closes && after.is_sign_positive() == before.is_sign_positive()) {
            (true, _) => Decimal::ZERO,
            (_, true) => entry,
            _ if closes => px,
            _ => (before * entry + signed * px) / after,
        };
        self.held.insert(coin, (after, entry));
        self.held.retain(|_, (size, _)| !size.is_zero());
        self.cash += closed - fee;
        self.next_id += 1;
        let id = self.next_id;
        let fill = json!({"coin": coin, "px": px, "sz": signed.abs(), "side": if signed > dec!(0) { "B" } else { "A" },
            "time": self.now, "startPosition": before, "dir": "", "closedPnl": usd(closed), "hash": "0x", "oid": id / 3,
            "crossed": id.is_multiple_of(2), "fee": usd(fee), "tid": 7_919 * id % 1_000_003, "cloid": cloid, "feeToken": "USDC",
            "twapId": null});
        self.fills.push(fill.clone());
        fill
    }

    /// The last fill is none that the venue shows.
    pub(super) fn hide_last(&mut self) {
        self.hidden.extend(self.fills.pop());
    }

    pub(super) fn pay_funding(&mut self) -> Vec<Value> {
        let (now, mut paid) = (self.now, Vec::new());
        for (coin, (size, entry)) in &self.held {
            let usdc = (-*size * *entry * dec!(0.0000125)).round_dp(6);
            self.cash += usdc;
            paid.push(json!({"time": now, "coin": coin, "usdc": usd(usdc), "szi": size, "fundingRate": "0.0000125"}));
        }
        self.fundings.extend(paid.iter().cloned());
        paid
    }

    pub(super) fn deposit(&mut self, amount: Decimal) {
        self.cash += amount;
        let (time, usdc) = (self.now, usd(amount.abs()));
        let kind = if amount > dec!(0) { "deposit" } else { "withdraw" };
        self.ledger.push(json!({"time": time, "hash": "0x1", "delta": {"type": kind, "usdc": usdc, "fee": "0.0"}}));
    }

    pub(super) fn fills_by_time(&self, since_ms: u64) -> Value {
        let shown = self.fills.iter().skip(self.fills.len().saturating_sub(FILLS_DEPTH));
        let span = since_ms..=self.now - self.lag_ms;
        let since = shown.filter(|fill| span.contains(&fill["time"].as_u64().unwrap()));
        since.take(FILLS_A_PAGE).cloned().collect()
    }

    pub(super) fn since(rows: &[Value], since_ms: u64) -> Value {
        rows.iter().filter(|row| row["time"].as_u64() >= Some(since_ms)).cloned().collect()
    }

    /// `userFunding`.
    pub(super) fn funding_rows(&self, since_ms: u64) -> Value {
        let row = |row: &Value| json!({"time": row["time"], "hash": "0x", "delta": row});
        let span = since_ms..=self.now - self.lag_ms;
        self.fundings
            .iter()
            .filter(|row| span.contains(&row["time"].as_u64().unwrap()))
            .take(FUNDINGS_A_PAGE)
            .map(row)
            .collect()
    }

    /// What is held at its marks.
    pub(super) fn account(&self) -> (Value, Decimal) {
        let (mut equity, mut positions) = (self.cash, Vec::new());
        for (coin, (size, entry)) in &self.held {
            let won = (size * entry * (self.mark - dec!(1))).round_dp(6);
            equity += won;
            let value = (size * entry * self.mark).abs().round_dp(6);
            positions.push(json!({"position": {"coin": coin, "szi": size, "leverage": {"type": "cross", "value": 5},
                "positionValue": value, "unrealizedPnl": usd(won), "marginUsed": "0"}}));
        }
        let state = json!({"marginSummary": {"accountValue": usd(equity)}, "crossMaintenanceMarginUsed": "0",
            "assetPositions": positions, "time": self.now});
        (state, equity.round_dp(6))
    }
}

/// A frame of the feed.
pub(super) fn frame(channel: &str, data: Value) -> Box<Data> {
    let Ok(Frame::Data(data)) = Frame::read(&json!({"channel": channel, "data": data}).to_string()) else {
        panic!("no frame: {data}")
    };
    Box::new(data)
}
