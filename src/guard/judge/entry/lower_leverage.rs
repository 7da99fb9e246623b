//! The `updateLeverage` that goes first: no entry under a setting above the rule.

use crate::guard::code::Code;
use crate::guard::judge::admission;
use crate::guard::judge::context::JudgeContext;
use crate::guard::judge::entry::market;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;
use crate::venue::action::Action;
use crate::venue::info::MarginMode;
use crate::venue::market::Market;

/// A setting learnt longer ago than this is read again before an entry relies on it.
const MAX_AGE_MS: u64 = 300_000;

/// Refuses an entry in a market whose setting was never learnt: any update might raise it.
pub(crate) fn check_learnt(guard: &Guard, market: &Market) -> Result<(), Veto> {
    if guard.view.leverage.contains_key(&market.asset) {
        return Ok(());
    }
    let text = format!("{}'s leverage setting is not read yet; ask again in a moment", market.coin);
    Err(Veto::new(Code::AccountStale, text))
}

/// Puts the update in front that an entry of this market needs, once for all entries of a request.
pub(crate) fn go_first(context: &mut JudgeContext<'_>, market: &Market) {
    if let Some((action, change)) = needed_update(context.guard, market, context.now_ms)
        && !context.pre.contains(&action)
    {
        context.pre.push(action);
        context.changes.push(change);
    }
}

/// The update that must go first, where the market's setting is above the rule or not known well enough.
fn needed_update(guard: &Guard, market: &Market, now_ms: u64) -> Option<(Action, String)> {
    let limit = guard.config.rules.leverage.min(market.max_leverage);
    let (learnt, _) = guard.view.leverage.get(&market.asset)?;
    let known = is_known(guard, market.asset, now_ms).then_some(learnt);
    if known.is_some_and(|leverage| leverage.value <= guard.config.rules.leverage) {
        return None;
    }
    let is_cross = learnt.mode == MarginMode::Cross;
    // A setting below the rule is not raised, also where it may have changed since it was learnt.
    let leverage = learnt.value.min(limit);
    let was = known.map_or_else(|| "an unknown setting".to_owned(), |leverage| leverage.value.to_string());
    let change = format!("{} leverage set from {was} to {leverage}", market.coin);
    Some((Action::UpdateLeverage { asset: market.asset, is_cross, leverage }, change))
}

/// Whether a market's setting was learnt recently enough to rely on.
pub(crate) fn is_known(guard: &Guard, asset: u32, now_ms: u64) -> bool {
    let learnt = guard.view.leverage.get(&asset);
    learnt.is_some_and(|(_, learnt_ms)| now_ms.saturating_sub(*learnt_ms) <= MAX_AGE_MS)
}

/// The markets that orders of `action` may enter; empty while nothing can be entered, since a close that is not marked
/// reduce-only must not wait for what an entry is judged by.
pub(crate) fn markets_entered<'a>(guard: &'a Guard, action: &Action, now_ms: u64) -> Vec<&'a Market> {
    let orders = action.orders();
    let mut assets: Vec<u32> = orders.filter(|order| !order.reduce_only).map(|order| order.asset).collect();
    if assets.is_empty() || admission::checks::check(guard, now_ms).is_err() {
        return Vec::new();
    }
    assets.sort_unstable();
    assets.dedup();
    // A market that may not be entered needs no reading.
    assets.into_iter().filter_map(|asset| market::check(guard, asset).ok().map(|(market, _)| market)).collect()
}
