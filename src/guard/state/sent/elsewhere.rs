//! Fills of orders that are none of those sent, as the live feed tells them: of a person's, or a TWAP order's, between two reads.

use super::key::Moment;
use super::ledger::SentOrders;
use rust_decimal::Decimal;

/// As many are remembered until a read shows them; the oldest go first.
const MOST: usize = 1_024;

/// One of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Elsewhere {
    asset: u32,
    oid: u64,
    /// Signed.
    size: Decimal,
    /// When it was at the venue.
    time_ms: u64,
}

impl SentOrders {
    /// Takes note of a fill, signed, that the feed told of. Whose it is may only be known once what was sent is answered.
    pub(crate) fn note_elsewhere(&mut self, (asset, oid): (u32, u64), size: Decimal, time_ms: u64) {
        if self.elsewhere.len() >= MOST {
            self.elsewhere.remove(0);
        }
        self.elsewhere.push(Elsewhere { asset, oid, size, time_ms });
    }

    /// By how much such fills moved a position until this read, signed.
    pub(super) fn moved_elsewhere(&self, read: Moment, asset: u32) -> Decimal {
        let is_sent = |oid: u64| self.orders.iter().chain(&self.unshown.fills).any(|order| order.oid == Some(oid));
        let fills = self.elsewhere.iter().filter(|fill| fill.asset == asset && fill.time_ms <= read.venue_ms);
        fills.filter(|fill| !is_sent(fill.oid)).fold(Decimal::ZERO, |sum, fill| sum.saturating_add(fill.size))
    }

    /// Lets go of what this read shows.
    pub(super) fn forget_elsewhere(&mut self, read: Moment) {
        self.elsewhere.retain(|fill| fill.time_ms > read.venue_ms);
    }
}
