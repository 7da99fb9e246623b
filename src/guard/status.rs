//! The status: what the guard knows, for people and programs.

use rust_decimal::Decimal;
use serde_json::{Value, json};

use super::book::Book;
use super::paper::PaperOrder;
use super::pending::is_derived;
use super::state::Guard;
use super::view::Resting;
use crate::venue::info::{OpenOrder, Side};
use crate::venue::order::Tif;

fn text(amount: Decimal) -> String {
    amount.normalize().to_string()
}

pub(super) fn or_null(amount: Option<Decimal>) -> Value {
    amount.map_or(Value::Null, |amount| json!(text(amount)))
}

impl Guard {
    /// The status as JSON. `weight` is what the service knows of its request budget: a minute's and what is used.
    #[must_use]
    pub fn status(&self, now_ms: u64, weight: (u32, u32)) -> Value {
        let config = &self.config;
        let alerts = [self.alerts(now_ms), self.warnings(now_ms)].concat();
        let book = Book::of(self);
        let age = |at_ms: Option<u64>| at_ms.map(|at_ms| now_ms.saturating_sub(at_ms));
        json!({
            "schema": 1,
            "version": env!("CARGO_PKG_VERSION"),
            "mode": config.mode.name(),
            "account": config.account,
            "account_network": config.account_network.name(),
            "api_wallet": config.api_wallet,
            "api_wallet_valid_until": self.api_wallet_valid_until_ms,
            "killed": self.killed,
            "kill_file": config.kill_file,
            "rules": config.rules.to_code(),
            "clients": config.clients.iter().collect::<Vec<_>>(),
            "at_ms": now_ms,
            "risk": self.risk_shown(&book),
            "headroom": self.headroom(&book, now_ms),
            "equity": or_null(self.view.equity()),
            "positions": self.positions(book),
            "open_orders": self.open_orders(),
            "alerts": alerts,
            "venue": {
                "url": config.venue_url,
                "account_age_ms": age(self.view.account.as_ref().map(|account| account.begun_ms)),
                "prices_age_ms": age(self.view.mids_ms),
                "weight_per_minute": weight.0,
                "weight_used": weight.1,
            },
            "last_event": self.last_event.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok()),
        })
    }

    fn risk_shown(&self, book: &Book) -> Value {
        let money = self.money(book);
        json!({
            "state": self.risk.state.name(),
            "since_ms": self.risk.since_ms,
            "details": self.risk.details,
            "day": self.risk.day().map(|day| day.to_string()),
            "day_start_equity": or_null(money.day_start),
            "day_pnl": or_null(money.day_pnl),
            "daily_loss_limit": or_null(money.daily_loss_limit),
            "peak_equity": or_null(money.peak),
            "drawdown": or_null(money.drawdown),
            "drawdown_limit": or_null(money.drawdown_limit),
            "open_risk": or_null(money.open_risk),
            "open_risk_limit": or_null(money.open_risk_limit),
            "exposure": or_null(money.exposure),
            "exposure_limit": or_null(money.exposure_limit),
        })
    }

    fn positions(&self, mut book: Book) -> Vec<Value> {
        let positions = self.view.account.iter().flat_map(|account| &account.positions);
        positions
            .map(|(asset, position)| {
                let is_long = position.szi > Decimal::ZERO;
                let market = book.market(self, *asset);
                let stops = market.stops(is_long);
                let nearest = stops.iter().map(|stop| stop.px);
                let nearest = if is_long { nearest.max() } else { nearest.min() };
                let held = position.szi.abs();
                let covered = market.covered(is_long, held);
                json!({
                    "coin": position.coin,
                    "side": if is_long { "long" } else { "short" },
                    "size": text(held),
                    "entry_px": or_null(position.entry_px),
                    "mark_px": or_null(self.view.mark(*asset)),
                    "value": text(position.position_value),
                    "unrealized_pnl": text(position.unrealized_pnl),
                    "leverage": position.leverage.value,
                    "margin_mode": position.leverage.mode,
                    "liquidation_px": or_null(position.liquidation_px),
                    "stop_px": or_null(nearest),
                    "covered_size": text(covered),
                    "risk": text(market.position_loss(is_long, self.config.rules.stop)),
                })
            })
            .collect()
    }

    fn open_orders(&self) -> Vec<Value> {
        let core = self.view.orders.values().map(|order| describe(&order.order, self.owner(order)));
        // Accepted since the last read: whoever placed it looks for it here at once.
        let placed = self.view.placed().filter(|order| !self.view.orders.contains_key(&order.oid));
        let core = core.chain(placed.map(|order| describe(&order.order, self.owner(order))));
        let foreign = self.view.foreign_orders.iter().map(|order| describe(order, "other"));
        let paper = self.paper.resting_by_id().filter_map(|(oid, order)| {
            let coin = &self.view.market(order.asset)?.coin;
            Some(describe_paper(oid, order, coin))
        });
        core.chain(foreign).chain(paper).collect()
    }

    /// The owner of each open order.
    pub(super) fn order_owners(&self) -> Vec<&'static str> {
        let core = self.view.orders.values();
        let placed = self.view.placed().filter(|order| !self.view.orders.contains_key(&order.oid));
        let foreign = self.view.foreign_orders.iter().map(|_| "other");
        let paper = self.paper.resting_by_id().map(|_| "bot");
        core.chain(placed).map(|order| self.owner(order)).chain(foreign).chain(paper).collect()
    }

    fn owner(&self, order: &Resting) -> &'static str {
        match &order.cloid {
            _ if order.is_guards() => "guard",
            Some(cloid) if is_derived(cloid) || self.client_cloids.contains(cloid) => "bot",
            _ => "other",
        }
    }

    pub(super) fn alerts(&self, now_ms: u64) -> Vec<Value> {
        let mut alerts = Vec::new();
        let mut alert = |code: &str, text: String, since_ms: Option<u64>| {
            alerts.push(json!({"code": code, "text": text, "since_ms": since_ms}));
        };
        for (code, what, at_ms, limit_ms) in [
            (
                "account_stale",
                "the account",
                self.view.account.as_ref().map(|view| view.begun_ms),
                self.config.account_max_age_ms,
            ),
            ("price_stale", "prices", self.view.mids_ms, self.config.prices_max_age_ms),
        ] {
            match at_ms {
                Some(at_ms) if now_ms.saturating_sub(at_ms) <= limit_ms => {}
                Some(at_ms) => alert(
                    code,
                    format!("{what}: last read over {limit_ms} ms ago"),
                    Some(at_ms.saturating_add(limit_ms)),
                ),
                None => alert(code, format!("{what}: not read yet"), None),
            }
        }
        if self.unsettled > 0 {
            let text = format!("{} actions whose outcome could not be settled; look at the account", self.unsettled);
            alert("unsettled", text, None);
        }
        if let Some((text, since_ms)) = self.unknown_signer_text() {
            alert("signer_unknown", text, Some(since_ms));
        }
        if let Some(problem) = &self.journal_error {
            alert("journal_error", format!("decisions cannot be written: {problem}"), None);
        }
        alerts
    }

    /// What keeps the guard from being healthy. A pulled kill switch is none of it.
    #[must_use]
    pub fn problems(&self, now_ms: u64) -> Vec<String> {
        let texts = self.alerts(now_ms).into_iter();
        texts.filter_map(|alert| alert.get("text").and_then(Value::as_str).map(str::to_owned)).collect()
    }
}

fn describe(order: &OpenOrder, owner: &str) -> Value {
    json!({
        "coin": order.coin,
        "oid": order.oid,
        "cloid": order.cloid,
        "side": if order.side == Side::Buy { "buy" } else { "sell" },
        "size": text(order.sz),
        "px": text(order.limit_px),
        "trigger_px": or_null(order.is_trigger.then_some(order.trigger_px)),
        "is_market_trigger": order.is_trigger && order.order_type.ends_with("Market"),
        "order_type": order.order_type.to_ascii_lowercase().replace(' ', "_"),
        "tif": order.tif,
        "reduce_only": order.reduce_only,
        "owner": owner,
    })
}

/// An order that paper mode pretends to have placed; only clients' orders that are no triggers rest there.
fn describe_paper(oid: u64, order: &PaperOrder, coin: &str) -> Value {
    json!({
        "coin": coin,
        "oid": oid,
        "cloid": order.cloid,
        "side": if order.is_buy { "buy" } else { "sell" },
        "size": text(order.size),
        "px": text(order.px),
        "trigger_px": null,
        "is_market_trigger": false,
        "order_type": "limit",
        "tif": order.tif.map(Tif::name),
        "reduce_only": order.reduce_only,
        "owner": "bot",
    })
}
