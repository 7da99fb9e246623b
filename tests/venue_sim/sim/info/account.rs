//! Reads of what an account is worth and holds.

use super::super::engine::Summary;
use super::super::engine::account::{Leverage, Position};
use super::super::engine::settings::Abstraction;
use super::super::show::{num, usd};
use super::{Reader, core_dex};
use rust_decimal::Decimal;
use serde_json::{Value, json};

/// Decimals of ratios.
const RATIO_DECIMALS: u32 = 10;

pub(super) fn clearinghouse(reader: &Reader<'_>, request: &Value) -> Value {
    let engine = reader.engine;
    if !reader.known || !core_dex(request) {
        let zero = Summary {
            account_value: Decimal::ZERO,
            notional: Decimal::ZERO,
            raw_usd: Decimal::ZERO,
            margin_used: Decimal::ZERO,
        };
        return json!({
            "marginSummary": summary(&zero), "crossMarginSummary": summary(&zero),
            "crossMaintenanceMarginUsed": "0.0", "withdrawable": "0.0", "assetPositions": [],
            "time": engine.now_ms,
        });
    }
    let (mut all, mut cross) = (engine.summary(false), engine.summary(true));
    if pooled(engine.settings.abstraction) {
        // All balances are on the spot side then; what stands here is only what positions tie up.
        for sums in [&mut all, &mut cross] {
            sums.raw_usd -= sums.account_value - sums.margin_used;
            sums.account_value = sums.margin_used;
        }
    }
    let positions: Vec<Value> =
        engine.account.positions.iter().map(|(&asset, held)| position(reader, asset, held)).collect();
    json!({
        "marginSummary": summary(&all), "crossMarginSummary": summary(&cross),
        "crossMaintenanceMarginUsed": usd(engine.cross_maintenance()), "withdrawable": usd(engine.withdrawable()),
        "assetPositions": positions,
        "time": engine.now_ms.saturating_add(engine.settings.account_time_ahead_ms),
    })
}

/// Whether the mode keeps perp and spot money together.
fn pooled(mode: Abstraction) -> bool {
    matches!(mode, Abstraction::Unified | Abstraction::Portfolio)
}

fn summary(sums: &Summary) -> Value {
    json!({
        "accountValue": usd(sums.account_value), "totalNtlPos": usd(sums.notional),
        "totalRawUsd": usd(sums.raw_usd), "totalMarginUsed": usd(sums.margin_used),
    })
}

fn position(reader: &Reader<'_>, asset: u32, held: &Position) -> Value {
    let engine = reader.engine;
    let mark = engine.mark(asset);
    let set = engine.leverage(asset);
    let (decimals, max_leverage) =
        engine.market(asset).map_or((0, 1), |market| (market.px_decimals(), market.max_leverage));
    let pnl = held.unrealized_pnl(mark);
    let cost = held.szi.abs() * held.entry_px / Decimal::from(set.value);
    let roe = if cost.is_zero() { Decimal::ZERO } else { pnl / cost };
    let all_time = engine.account.funding.get(&asset).copied().unwrap_or_default();
    json!({"type": "oneWay", "position": {
        "coin": engine.coin(asset), "szi": num(held.szi), "leverage": leverage(set, held.isolated_usd),
        "entryPx": num(held.entry_px.round_dp(decimals)), "positionValue": usd((held.szi * mark).abs()),
        "unrealizedPnl": usd(pnl), "returnOnEquity": num(roe.round_dp(RATIO_DECIMALS)),
        "liquidationPx": engine.liquidation_px(asset, held).map(usd),
        "marginUsed": usd(engine.margin_used(asset, held)), "maxLeverage": max_leverage,
        "cumFunding": {"allTime": usd(all_time), "sinceOpen": usd(held.funding_since_open), "sinceChange": "0.0"},
    }})
}

fn leverage(set: Leverage, isolated_usd: Option<Decimal>) -> Value {
    match isolated_usd {
        Some(raw) => json!({"type": "isolated", "value": set.value, "rawUsd": usd(raw)}),
        None if set.is_cross => json!({"type": "cross", "value": set.value}),
        None => json!({"type": "isolated", "value": set.value, "rawUsd": "0.0"}),
    }
}

/// The spot side. In the pooled modes its USDC is the account: cash and the perps' unrealised profit.
pub(super) fn spot(reader: &Reader<'_>) -> Value {
    if !reader.known {
        return json!({"balances": []});
    }
    let engine = reader.engine;
    let mode = engine.settings.abstraction;
    let balance = |total: Decimal, hold: Decimal| {
        let (total, hold) = (usd(total), usd(hold));
        json!({"coin": "USDC", "token": 0, "total": total, "hold": hold, "entryNtl": "0.0"})
    };
    if !pooled(mode) {
        let total = engine.settings.spot_usdc;
        let balances = if total.is_zero() { json!([]) } else { json!([balance(total, Decimal::ZERO)]) };
        return json!({"balances": balances});
    }
    let all = engine.summary(false);
    let after_maintenance = all.account_value - engine.cross_maintenance();
    let balances = json!([balance(all.account_value, all.margin_used + engine.held_by_orders())]);
    let available = json!([[0, usd(after_maintenance)]]);
    if mode == Abstraction::Unified {
        return json!({"balances": balances, "tokenToAvailableAfterMaintenance": available});
    }
    json!({
        "portfolioMarginEnabled": true, "balances": balances, "portfolioMarginRatio": "0.0",
        "tokenToPortfolioBorrowRatio": [], "tokenToPortfolioSupplyRatio": [],
        "tokenToAvailableAfterMaintenance": available,
    })
}

pub(super) fn active_asset(reader: &Reader<'_>, request: &Value) -> Option<Value> {
    let engine = reader.engine;
    let coin = request.get("coin")?.as_str()?;
    let asset = engine.asset(coin)?;
    let market = engine.market(asset)?;
    let held = engine.account.positions.get(&asset).filter(|_| reader.known);
    let free = if reader.known { engine.free_margin().max(Decimal::ZERO) } else { Decimal::ZERO };
    let set = engine.leverage(asset);
    let available = |is_buy: bool| {
        let closes = held.filter(|position| position.is_long() != is_buy);
        free + closes.map_or(Decimal::ZERO, |position| engine.margin_used(asset, position) * Decimal::TWO)
    };
    let size = |usd: Decimal| num(market.floor_sz(usd * Decimal::from(set.value) / market.mark));
    Some(json!({
        "user": reader.user, "coin": coin, "leverage": leverage(set, held.and_then(|held| held.isolated_usd)),
        "maxTradeSzs": [size(available(true)), size(available(false))],
        "availableToTrade": [usd(available(true)), usd(available(false))], "markPx": num(market.mark),
    }))
}

/// One point in time: there is no equity history here.
pub(super) fn portfolio(reader: &Reader<'_>) -> Value {
    let engine = reader.engine;
    let value = if reader.known { engine.summary(false).account_value } else { Decimal::ZERO };
    let volume = if reader.known { engine.account.volume } else { Decimal::ZERO };
    let span = |name: &str| {
        json!([name, {"accountValueHistory": [[engine.now_ms, usd(value)]], "pnlHistory": [[engine.now_ms, "0.0"]],
            "vlm": usd(volume)}])
    };
    ["day", "week", "month", "allTime", "perpDay", "perpWeek", "perpMonth", "perpAllTime"]
        .into_iter()
        .map(span)
        .collect()
}
