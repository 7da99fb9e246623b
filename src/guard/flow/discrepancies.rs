//! Discrepancies: what was sent and answered and the account does not show, and what the live feed told otherwise. Nothing is done about them but telling: what
//! the account shows is what positions, cover and halts go by.

use crate::base::amount::to_wire;
use crate::guard::flow::step_context::Step;
use crate::guard::state::guard::Guard;
use crate::guard::state::sent::key::Moment;
use crate::guard::state::sent::unshown::Contradiction;

/// Compares an account read with what was told.
pub(crate) fn on_account_read(step: &mut Step<'_>, read: Moment) {
    let now_ms = step.now_ms;
    let Guard { sent, view, doubts, .. } = &mut *step.guard;
    let is_unclear = |asset: u32| doubts.values().any(|doubt| doubt.is_about(asset));
    sent.unshown.on_account_read(read, view, now_ms, is_unclear);
}

/// Each discrepancy: what it is about, where that is not the feed; the words, and since when.
pub(crate) fn told(guard: &Guard) -> impl Iterator<Item = (Option<String>, String, u64)> {
    let coin = |asset: u32| guard.view.market(asset).map_or_else(|| asset.to_string(), |market| market.coin.clone());
    let contradictions = guard.sent.unshown.contradictions().map(move |(contradiction, since_ms)| {
        let (about, text) = match contradiction {
            Contradiction::Fill { asset, size } => {
                let coin = coin(asset);
                let (size, done) = (to_wire(size.abs()), if size.is_sign_positive() { "bought" } else { "sold" });
                let text = format!("the venue said that {size} {coin} were {done}, and the account does not show it");
                (coin, text)
            }
            Contradiction::Cancel { asset, oid } => {
                let coin = coin(asset);
                let text = format!("the venue said that order {oid} in {coin} is cancelled, and goes on showing it");
                (format!("{coin} order {oid}"), text)
            }
        };
        (Some(about), text, since_ms)
    });
    let difference = guard.feed.difference.clone();
    contradictions.chain(difference.map(|(text, since_ms)| (None, text, since_ms)))
}
