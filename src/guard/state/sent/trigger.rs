//! A trigger order that was sent: it can fill only once its trigger is hit, so it reserves no exposure, but a market stop
//! counts as cover from here on.

use super::key::{Phase, SentKey};
use crate::base::address::Cloid;
use crate::guard::state::cover::CoverSize;
use crate::guard::state::view::{Resting, View};
use crate::venue::order::{Order, OrderKind, Tpsl};
use rust_decimal::Decimal;

/// A trigger order that no read has shown or missed yet.
#[derive(Debug, Clone)]
pub(crate) struct SentTrigger {
    pub(crate) key: SentKey,
    pub(crate) asset: u32,
    pub(crate) is_buy: bool,
    /// Trigger and size of a market stop; none where it covers nothing: a take profit, or the child of an entry, which
    /// waits for that to fill.
    pub(crate) stop: Option<(Decimal, CoverSize)>,
    pub(crate) size: Decimal,
    /// Where a market stop, also one that covers nothing yet, or a take profit fires: at this price, and below it or above.
    pub(crate) fires: Option<(Decimal, bool)>,
    pub(crate) cloid: Option<Cloid>,
    pub(crate) phase: Phase,
    /// As it rests, once the venue has said so.
    pub(crate) resting: Option<Resting>,
    sent_ms: u64,
    /// A read of the open orders that began after it was sent does not show it: whatever an answer says that comes later, it may
    /// have rested and fired before.
    is_missed: bool,
}

impl SentTrigger {
    /// One that is sent now.
    pub(crate) fn new(key: SentKey, order: &Order, stop: Option<(Decimal, CoverSize)>, now_ms: u64) -> Self {
        let (asset, is_buy, cloid) = (order.asset, order.is_buy, order.cloid);
        Self {
            key,
            asset,
            is_buy,
            stop,
            size: order.size,
            fires: order.market_stop_px().map(|px| (px, !order.is_buy)).or_else(|| profit_of(order)),
            cloid,
            phase: Phase::Unanswered,
            resting: None,
            sent_ms: now_ms,
            is_missed: false,
        }
    }

    /// Takes in a read of the open orders that began at `begun_ms`.
    pub(super) fn on_orders_read(&mut self, view: &View, begun_ms: u64) {
        let is_shown = self.cloid.is_some_and(|cloid| view.shows(&cloid));
        self.is_missed = !is_shown && (self.is_missed || self.phase == Phase::Unanswered && begun_ms >= self.sent_ms);
    }

    /// Since when the venue is known to have it; `None` where it may not.
    pub(crate) fn live_ms(&self) -> Option<u64> {
        match self.phase {
            Phase::Accepted(at_ms) if self.resting.is_some() && !self.is_missed => Some(at_ms),
            _ => None,
        }
    }
}

/// Where a take profit fires: where a limit order of its side would fill.
fn profit_of(order: &Order) -> Option<(Decimal, bool)> {
    match order.kind {
        OrderKind::Trigger { trigger_px, tpsl: Tpsl::Tp, .. } => Some((trigger_px, order.is_buy)),
        _ => None,
    }
}
