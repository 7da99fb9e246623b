//! The status: what the guard knows, for people and programs.

use crate::guard::flow::closing;
use crate::guard::report::{alerts, feed, gauges, headroom, if_away, open_entries, open_orders, problems};
use crate::guard::state::exposure::Exposure;
use crate::guard::state::guard::Guard;
use crate::guard::state::standing_stops::bare_size;
use crate::record::status::{IfAway, Position, RiskStatus, SCHEMA, Status, VenueStatus};
use crate::venue::side::PositionSide;
use rust_decimal::Decimal;

impl Guard {
    /// The status. `weight` is what the service knows of its request budget: a minute's and what is used.
    #[must_use]
    pub fn status(&self, now_ms: u64, weight: (u32, u32)) -> Status {
        let config = &self.config;
        let alerts = [problems::problems(self, now_ms), alerts::warnings(self, now_ms)].concat();
        let exposure = self.exposure();
        let age = |at_ms: Option<u64>| at_ms.map(|at_ms| now_ms.saturating_sub(at_ms));
        Status {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").into(),
            mode: config.mode.name().into(),
            account: config.account,
            account_network: config.account_network.name().into(),
            api_wallet: config.api_wallet,
            api_wallet_valid_until: self.api_wallet_valid_until_ms,
            killed: self.killed.clone(),
            kill_file: config.kill_file.clone(),
            life: config.life.clone(),
            rules: config.rules.to_code(),
            clients: config.clients.iter().copied().collect(),
            at_ms: now_ms,
            risk: risk(self, &exposure),
            headroom: headroom::headroom(self, &exposure, now_ms),
            equity: self.equity_now(),
            positions: positions(self, exposure),
            open_orders: open_orders::open_orders(self),
            unattended: open_entries::unattended(self),
            if_away: if_away::if_away(self).filter(|left| *left != IfAway::default()),
            closing: closing::closing(self, now_ms),
            alerts,
            venue: VenueStatus {
                url: config.venue_url.clone(),
                account_age_ms: age(self.view.account.as_ref().map(|account| account.shown_ms())),
                orders_age_ms: age(self.view.orders_known_ms()),
                prices_age_ms: age(self.view.mids_ms),
                weight_per_minute: weight.0,
                weight_used: weight.1,
                feed: feed::status(self, now_ms),
            },
            subscriptions: None,
            last_event: self.last_event.as_deref().and_then(|text| serde_json::from_str(text).ok()),
        }
    }
}

fn risk(guard: &Guard, exposure: &Exposure) -> RiskStatus {
    let money = gauges::money(guard, exposure);
    RiskStatus {
        state: guard.risk.state.name().into(),
        since_ms: guard.risk.since_ms,
        details: guard.risk.details.clone(),
        day: guard.risk.day().map(|day| day.to_string()),
        day_start_equity: money.day_start,
        day_pnl: money.day_pnl,
        daily_loss_limit: money.daily_loss_limit,
        peak_equity: money.peak,
        drawdown: money.drawdown,
        drawdown_limit: money.drawdown_limit,
        open_risk: money.open_risk,
        open_risk_limit: money.open_risk_limit,
        exposure: money.exposure,
        exposure_limit: money.exposure_limit,
    }
}

fn positions(guard: &Guard, mut exposure: Exposure) -> Vec<Position> {
    let positions = guard.view.account.iter().flat_map(|account| &account.positions);
    positions
        .filter_map(|(asset, position)| {
            let side = PositionSide::of(position.szi)?;
            let market = exposure.market_mut(&guard.view, *asset);
            let nearest = side.nearest(market.stops(side).iter().map(|stop| stop.px));
            let held = position.szi.abs();
            Some(Position {
                coin: position.coin.clone(),
                side: side.name().into(),
                size: held,
                entry_px: position.entry_px,
                mark_px: guard.view.mark(*asset),
                value: position.position_value,
                unrealized_pnl: position.unrealized_pnl,
                leverage: position.leverage.value,
                margin_mode: Some(position.leverage.mode),
                liquidation_px: position.liquidation_px,
                stop_px: nearest,
                covered_size: held.saturating_sub(bare_size(guard, *asset)),
                risk: market.position_loss(side, guard.config.rules.stop),
                funding: position.paid_funding.map(|paid| Decimal::ZERO.saturating_sub(paid)),
                opened_ms: guard.book.chains.opened_ms(&position.coin, position.szi),
            })
        })
        .collect()
}
