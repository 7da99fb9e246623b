//! Has the fills read, and again, that tell which entries of an earlier life have made what is held, until they explain it.

use crate::guard::flow::book;
use crate::guard::flow::step_context::Step;
use crate::guard::state::guard::Guard;
use crate::guard::state::held_away::Remembered;
use crate::guard::state::held_now::HeldNow;
use crate::venue::side::PositionSide;
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// Takes in the positions as the account shows them, before their lines follow, until the open orders are read as well.
pub(crate) fn on_positions(guard: &mut Guard, positions: &BTreeMap<u32, (PositionSide, HeldNow)>) {
    if guard.earlier_stops.is_empty() || guard.filled_away.has_begun() {
        return;
    }
    for (asset, (side, now)) in positions {
        let known = guard.lines.get(*asset).map(|line| line.record(*asset));
        let is_known = known.as_ref().is_some_and(|known| {
            (known.is_long, known.held, known.entry_px) == (side.is_long(), now.held, now.entry_px)
        });
        let recorded_ms = guard.lines.recorded_ms(*asset);
        let Guard { view, filled_away, .. } = &mut *guard;
        if let Some(market) = view.market(*asset) {
            let remembered = known.as_ref().map(|line| Remembered::of(line, recorded_ms));
            filled_away.on_held(&market.coin, (now.held.saturating_mul(side.sign()), is_known), remembered);
        }
    }
    if guard.view.orders_ms.is_some() {
        guard.filled_away.on_both(guard.clock.latest_ms());
    }
}

/// Takes in by how much positions have changed, signed.
pub(crate) fn on_changes(guard: &mut Guard, changes: &BTreeMap<u32, Decimal>) {
    for (asset, change) in changes {
        let Guard { view, filled_away, .. } = &mut *guard;
        let (now, market) = (view.position(*asset), view.market(*asset));
        let before = now.saturating_sub(*change);
        let is_same_side = !now.is_zero() && now.is_sign_positive() == before.is_sign_positive();
        let less = before.abs().saturating_sub(now.abs());
        let is_less = !before.is_zero() && (!is_same_side || less > Decimal::ZERO);
        if let Some(market) = market.filter(|_| is_less) {
            filled_away.on_less(&market.coin, is_same_side.then_some(less));
        }
    }
}

/// Asks for them where that is due.
pub(crate) fn ask(step: &mut Step<'_>) {
    if step.guard.filled_away.is_due(step.now_ms) {
        step.guard.filled_away.on_asked(step.now_ms);
        book::read_fills_for_cover(step);
    }
}
