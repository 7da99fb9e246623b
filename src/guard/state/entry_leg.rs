//! The leg of an order that may open or enlarge a position: what it counts for, and where it is stopped out.

use crate::guard::state::view::Resting;
use rust_decimal::Decimal;

/// An order that may open or enlarge a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryLeg {
    pub(crate) size: Decimal,
    pub(crate) px: Decimal,
    /// Where it is stopped out, as far as is known.
    pub(crate) stop: Option<StopAt>,
    /// Whether it can wait for its price, and so outlive the opposite position.
    pub(crate) may_rest: bool,
}

/// Where an entry is stopped out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StopAt {
    pub(crate) px: Decimal,
    /// Whether that stop comes with the entry, rather than from cover that already rests.
    pub(crate) is_own: bool,
}

impl StopAt {
    /// Where an open order is stopped out.
    pub(crate) fn of(order: &Resting) -> Option<Self> {
        let own = order.child_stop_px.map(|px| Self { px, is_own: true });
        own.or(order.judged_px.map(|px| Self { px, is_own: false }))
    }
}

impl EntryLeg {
    /// The leg of an open order.
    pub(crate) fn of(order: &Resting) -> Self {
        Self { size: order.size, px: order.px, stop: StopAt::of(order), may_rest: true }
    }
}
