//! Fills of orders that are none of those sent, as the live feed tells them: of a person's, or a TWAP order's, between two reads.

use super::key::Moment;
use rust_decimal::Decimal;

/// As many are remembered until a read shows them; the oldest go first.
const MOST: usize = 1_024;

/// One of them.
#[derive(Debug, Clone, Copy)]
struct Filled {
    asset: u32,
    oid: u64,
    /// Signed.
    size: Decimal,
    /// When it was at the venue.
    time_ms: u64,
}

/// All of them that no read has shown.
#[derive(Debug, Clone, Default)]
pub(crate) struct Elsewhere(Vec<Filled>);

impl Elsewhere {
    /// Takes note of a fill, signed, that the feed told of. Whose it is may only be known once what was sent is answered.
    pub(crate) fn note(&mut self, (asset, oid): (u32, u64), size: Decimal, time_ms: u64) {
        if self.0.len() >= MOST {
            self.0.remove(0);
        }
        self.0.push(Filled { asset, oid, size, time_ms });
    }

    /// By how much those that are surely of no order sent moved a position until this read, signed.
    pub(super) fn moved(&self, read: Moment, asset: u32, may_be_own: impl Fn(u64, Decimal) -> bool) -> Decimal {
        let fills = self.0.iter().filter(|fill| fill.asset == asset && fill.time_ms <= read.venue_ms);
        let others = fills.filter(|fill| !may_be_own(fill.oid, fill.size));
        others.fold(Decimal::ZERO, |sum, fill| sum.saturating_add(fill.size))
    }

    /// Lets go of what this read shows.
    pub(super) fn forget(&mut self, read: Moment) {
        self.0.retain(|fill| fill.time_ms > read.venue_ms);
    }
}
