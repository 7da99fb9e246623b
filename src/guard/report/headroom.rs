//! Headroom: what of each rule is used now, by the counts that the judge itself goes by. Rules that look at one order
//! alone (collar, stops, one order's value, markets, repeats) have none.

use crate::base::amount::percent_of;
use crate::guard::judge::limits::open_orders_limit::open_entries;
use crate::guard::judge::limits::order_rate_limit::entries_in_last_minute;
use crate::guard::state::exposure::Exposure;
use crate::guard::state::guard::Guard;
use crate::record::status::Headroom;
use rust_decimal::Decimal;

/// Each rule with a limit that fills up: its use, its limit, and the market that is nearest to it where there is one.
pub(crate) fn headroom(guard: &Guard, exposure: &Exposure, now_ms: u64) -> Vec<Headroom> {
    let rules = &guard.config.rules;
    let equity = guard.judged_equity();
    let base = equity.map(|equity| guard.config.base_equity(equity));
    let limit = |percent| base.map(|base| percent_of(base, percent));
    let figures = equity.and_then(|equity| guard.risk.figures(equity, &guard.config));
    let lost = figures.map(|figures| (-figures.day_pnl).max(Decimal::ZERO));
    let known = |amount: Decimal| base.map(|_| amount);
    // Orders that were never read may rest all the same: what counts them is not known then, and not zero.
    let with_orders = |amount: Decimal| known(amount).filter(|_| guard.view.orders_known_ms().is_some());
    let worst_loss = exposure.worst_market(|figures| figures.loss);
    let largest = exposure.worst_market(|figures| figures.notional);
    let highest = guard.view.account.iter().flat_map(|account| &account.positions);
    let highest = highest.map(|(asset, position)| (*asset, Decimal::from(position.leverage.value)));
    let highest = highest.max_by_key(|(asset, leverage)| (*leverage, std::cmp::Reverse(*asset)));
    let amount = |found: Option<(u32, Decimal)>| found.map_or(Decimal::ZERO, |(_, amount)| amount);
    let coin = |found: Option<(u32, Decimal)>| {
        let (asset, _) = found.filter(|(_, amount)| !amount.is_zero())?;
        guard.view.market(asset).map(|market| market.coin.clone())
    };
    let row = |rule: &'static str, unit: &'static str, coin, used, limit| Headroom {
        rule: rule.into(),
        unit: unit.into(),
        coin,
        used,
        limit,
    };
    vec![
        row("daily_loss", "usdc", None, lost, figures.map(|figures| figures.daily_loss_limit)),
        row("drawdown", "usdc", None, figures.map(|figures| figures.drawdown), figures.map(|f| f.drawdown_limit)),
        row("open_risk", "usdc", None, with_orders(exposure.totals().loss), limit(rules.open_risk)),
        row("loss_per_trade", "usdc", coin(worst_loss), with_orders(amount(worst_loss)), limit(rules.loss_per_trade)),
        row("exposure", "usdc", None, with_orders(exposure.totals().notional), limit(rules.exposure)),
        row("position", "usdc", coin(largest), with_orders(amount(largest)), limit(rules.position)),
        row("leverage", "times", coin(highest), known(amount(highest)), Some(rules.leverage.into())),
        row("open_orders", "orders", None, with_orders(open_entries(guard).into()), Some(rules.open_orders.into())),
        row(
            "orders_per_minute",
            "orders",
            None,
            known(entries_in_last_minute(guard, now_ms).into()),
            Some(rules.orders_per_minute.into()),
        ),
    ]
}
