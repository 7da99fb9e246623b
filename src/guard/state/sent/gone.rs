//! Triggers that have left the open orders, or never came to be shown: one may have fired, and the price that tells so may be
//! read after the orders that miss it.

use super::trigger::SentTrigger;
use crate::guard::state::view::{Resting, View};
use rust_decimal::Decimal;

/// A trigger may explain a move of its position for so long after it left.
const CAUSE_FOR_MS: u64 = 5_000;

/// A trigger that is open no more.
#[derive(Debug, Clone, Copy)]
pub(super) struct GoneTrigger {
    pub(super) asset: u32,
    /// Signed.
    pub(super) size: Decimal,
    /// Where it fires: at this price, and below it or above.
    pub(super) fires: (Decimal, bool),
    at_ms: u64,
}

impl GoneTrigger {
    /// Takes in a read of the open orders that was taken in at `now_ms`: what has `left` them and nobody cancels, and what of those that were
    /// `sent` it should show and does not.
    pub(super) fn on_orders_read(
        gone: &mut Vec<Self>,
        view: &View,
        left: &[&Resting],
        sent: &[SentTrigger],
        now_ms: u64,
    ) {
        gone.retain(|gone| now_ms.saturating_sub(gone.at_ms) < CAUSE_FOR_MS);
        gone.extend(left.iter().filter_map(|order| {
            let stop = order.stop_px.map(|px| (px, !order.is_buy));
            let profit = || order.order.take_profit_px().map(|px| (px, order.is_buy));
            Some(Self::new(order.asset, order.is_buy, order.size, stop.or_else(profit)?, now_ms))
        }));
        let missed = sent.iter().filter(|sent| !sent.cloid.is_some_and(|cloid| view.shows(&cloid)));
        gone.extend(missed.filter_map(|sent| Some(Self::new(sent.asset, sent.is_buy, sent.size, sent.fires?, now_ms))));
    }

    fn new(asset: u32, is_buy: bool, size: Decimal, fires: (Decimal, bool), at_ms: u64) -> Self {
        Self { asset, size: if is_buy { size } else { -size }, fires, at_ms }
    }
}
