//! The status: what the guard knows, for people and programs.

use crate::guard::report::amounts::{or_null, text};
use crate::guard::report::{alerts, gauges, headroom, open_orders, problems};
use crate::guard::state::exposure::Exposure;
use crate::guard::state::guard::Guard;
use crate::venue::side::PositionSide;
use serde_json::{Value, json};

impl Guard {
    /// The status as JSON. `weight` is what the service knows of its request budget: a minute's and what is used.
    #[must_use]
    pub fn status(&self, now_ms: u64, weight: (u32, u32)) -> Value {
        let config = &self.config;
        let alerts = [problems::problems(self, now_ms), alerts::warnings(self, now_ms)].concat();
        let exposure = self.exposure();
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
            "risk": risk(self, &exposure),
            "headroom": headroom::headroom(self, &exposure, now_ms),
            "equity": or_null(self.view.equity()),
            "positions": positions(self, exposure),
            "open_orders": open_orders::open_orders(self),
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
}

fn risk(guard: &Guard, exposure: &Exposure) -> Value {
    let money = gauges::money(guard, exposure);
    json!({
        "state": guard.risk.state.name(),
        "since_ms": guard.risk.since_ms,
        "details": guard.risk.details,
        "day": guard.risk.day().map(|day| day.to_string()),
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

fn positions(guard: &Guard, mut exposure: Exposure) -> Vec<Value> {
    let positions = guard.view.account.iter().flat_map(|account| &account.positions);
    positions
        .filter_map(|(asset, position)| {
            let side = PositionSide::of(position.szi)?;
            let market = exposure.market(&guard.view, *asset);
            let nearest = side.nearest(market.stops(side).iter().map(|stop| stop.px));
            let held = position.szi.abs();
            let covered = market.covered(side, held);
            Some(json!({
                "coin": position.coin,
                "side": side.name(),
                "size": text(held),
                "entry_px": or_null(position.entry_px),
                "mark_px": or_null(guard.view.mark(*asset)),
                "value": text(position.position_value),
                "unrealized_pnl": text(position.unrealized_pnl),
                "leverage": position.leverage.value,
                "margin_mode": position.leverage.mode,
                "liquidation_px": or_null(position.liquidation_px),
                "stop_px": or_null(nearest),
                "covered_size": text(covered),
                "risk": text(market.position_loss(side, guard.config.rules.stop)),
            }))
        })
        .collect()
}
