//! The size at which a position would be liquidated before any stop could be hit. An entry is cut below it; it has no
//! code of its own and counts as `loss_limit`, since such a position can lose more than its stop says.

use super::size_limit::{LimitBreach, SizedEntry, cut_cents};
use crate::base::amount::to_wire;
use crate::guard::code::Code;

pub(crate) fn check(sized: &SizedEntry<'_>) -> Option<LimitBreach> {
    let SizedEntry { guard, entry, stop, opening, .. } = *sized;
    if entry.inside_liquidation(guard, stop.px, opening).is_some() {
        return None;
    }
    let px = to_wire(entry.px);
    let liquidated_at = cut_cents(entry.liquidation_px(guard, opening).unwrap_or_default());
    let text = format!(
        "{} would be liquidated at {liquidated_at}, too near to the price {px} for a stop in between",
        entry.market.coin,
    );
    Some(LimitBreach::new(Code::LossLimit, text, px, liquidated_at))
}
