//! One thing that may have moved a position between two reads of the account.

use super::order::SentOrder;
use crate::guard::state::cover;
use crate::guard::state::entry_leg::StopAt;
use crate::guard::state::view::Resting;
use rust_decimal::Decimal;

/// Where a cause is known from, with its place there.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    /// Open by the last reads, or a trigger that no read has shown.
    Open,
    /// An order that was sent.
    Sent(usize),
    /// A fill that the venue told of, which no read has shown for long.
    Unshown(usize),
    /// A trigger that is open no more.
    Gone(usize),
}

/// What may have moved a position between two reads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cause {
    /// Signed.
    pub(super) size: Decimal,
    /// At which price, or at its limit.
    pub(super) px: Decimal,
    pub(super) source: Source,
    /// The venue said that it filled.
    pub(super) is_told: bool,
    /// Of an entry, the stop that it was judged with.
    pub(super) judged_px: Option<Decimal>,
    /// It closes no more than is held.
    pub(super) is_closing: bool,
    /// It would have closed more than was held.
    pub(super) is_whole: bool,
}

impl Cause {
    /// Something that closes and may have filled, and of which nobody told.
    pub(super) fn untold(size: Decimal, source: Source) -> Self {
        Self { size, px: Decimal::ZERO, source, is_told: false, judged_px: None, is_closing: true, is_whole: false }
    }

    /// An order that was sent.
    pub(super) fn sent(order: &SentOrder, source: Source) -> Self {
        let judged_px = order.stop.filter(|_| !order.reduce_only).map(|stop| stop.px);
        let is_closing = order.reduce_only;
        let px = order.told_px().unwrap_or(order.px);
        Self { size: order.unmoved(), px, source, is_told: order.is_told(), judged_px, is_closing, is_whole: false }
    }

    /// An order that rested by the last reads, beside a position of so much, signed, of which a stop may be for the whole.
    pub(super) fn rested(order: &Resting, held: Decimal) -> Self {
        // It closes nothing of its own side.
        let whole = if order.is_buy { -held } else { held }.max(Decimal::ZERO);
        let size = cover::of_resting(order).map_or(order.size, |size| size.of(whole));
        let size = if order.is_buy { size } else { -size };
        let judged_px = StopAt::of(order).filter(|_| order.is_entry()).map(|stop| stop.px);
        Self { px: order.px, judged_px, is_closing: order.reduce_only, ..Self::untold(size, Source::Open) }
    }

    /// The same of a position of so much, signed: a stop that is larger than that closes all of it.
    pub(super) fn of_position(self, held: Decimal) -> Self {
        let is_larger = self.size.is_sign_negative() != held.is_sign_negative() && self.size.abs() > held.abs();
        if self.is_closing && is_larger { Self { size: -held, is_whole: true, ..self } } else { self }
    }
}

#[cfg(test)]
mod tests {
    use rust_decimal::dec;

    use super::*;

    #[test]
    fn a_stop_closes_no_more_than_there_is() {
        for (stop, held, closes) in [
            (dec!(-1), dec!(1), dec!(-1)),
            (dec!(-1.0001), dec!(1), dec!(-1)),
            (dec!(-0.9999), dec!(1), dec!(-0.9999)),
            (dec!(1.0001), dec!(-1), dec!(1)),
            (dec!(0.9999), dec!(-1), dec!(0.9999)),
            // What goes the same way closes nothing of it.
            (dec!(2), dec!(1), dec!(2)),
        ] {
            assert_eq!(Cause::untold(stop, Source::Open).of_position(held).size, closes, "{stop} of {held}");
        }
        let entry = Cause { is_closing: false, ..Cause::untold(dec!(-2), Source::Open) };
        assert_eq!(entry.of_position(dec!(1)).size, dec!(-2), "an entry of the other side goes on beyond it");
    }
}
