//! Fills of one order at one moment as one fill, for whoever asks for `aggregateByTime`.

use super::super::engine::fill::Fill;

/// The fills with those of one order at one moment put together, at their average price.
pub(super) fn merged<'a>(fills: impl Iterator<Item = &'a Fill>) -> Vec<Fill> {
    let mut out: Vec<Fill> = Vec::new();
    for fill in fills {
        match out.last_mut().filter(|last| last.oid == fill.oid && last.at_ms == fill.at_ms) {
            None => out.push(fill.clone()),
            Some(last) => {
                let sz = last.sz + fill.sz;
                last.px = ((last.px * last.sz + fill.px * fill.sz) / sz).round_dp(fill.px.scale().max(1));
                last.sz = sz;
                last.fee += fill.fee;
                last.closed_pnl += fill.closed_pnl;
            }
        }
    }
    out
}
