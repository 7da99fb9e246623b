//! A position as a read shows it, with all that is known of how it came to that: facts, and nothing that decides.

use crate::base::amount::percent_of;
use crate::guard::state::cover::LinePart;
use crate::guard::state::judged_stops::JudgedStops;
use rust_decimal::{Decimal, dec};

/// The venue rounds an entry price by no more than this.
pub(crate) const ENTRY_ROUNDED_PCT: Decimal = dec!(0.01);

/// A position as the last reads show it.
#[derive(Debug, Clone)]
pub(crate) struct HeldNow {
    /// Without its sign.
    pub(crate) held: Decimal,
    pub(crate) entry_px: Option<Decimal>,
    pub(crate) mark: Option<Decimal>,
    /// Where it trades: in a thin market far from the mark.
    pub(crate) mid: Option<Decimal>,
    pub(crate) by: Enlarged,
}

impl HeldNow {
    /// Whether it is, in size and price, what was told to have begun from nothing since the read before: none of it was held then.
    pub(crate) fn is_begun(&self) -> bool {
        let is_it = |begun: Told| {
            let off =
                |entry_px: Decimal| entry_px.saturating_sub(begun.px).abs() <= percent_of(entry_px, ENTRY_ROUNDED_PCT);
            begun.size == self.held && self.entry_px.is_some_and(off)
        };
        self.by.begun.is_some_and(is_it)
    }
}

/// As much as the venue told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) size: Decimal,
    /// The mean price.
    pub(crate) px: Decimal,
}

/// What may have enlarged a position since the read before, or opened it anew.
#[derive(Debug, Clone, Default)]
pub(crate) struct Enlarged {
    /// The stops that it was judged with.
    pub(crate) judged: JudgedStops,
    /// The entries that the venue told to have filled.
    pub(crate) told: Option<Told>,
    /// What is held by the fills that were told, where these began from nothing.
    pub(crate) begun: Option<Told>,
    /// As much as entries may have filled that no read has shown, told or not.
    pub(crate) most: Decimal,
    /// What was sent, where that comes to all that changed.
    pub(crate) moved: Option<Moved>,
    /// Where nothing does, what stops that fired leave of what they would have closed.
    pub(crate) fired: Vec<LinePart>,
}

impl Enlarged {
    /// How much was surely closed in the same moment.
    pub(crate) fn surely_closed(&self) -> Decimal {
        self.moved.map_or(Decimal::ZERO, |moved| moved.surely_closed)
    }
}

/// Orders that come to just the size of a move of a position together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Moved {
    /// How much of the position they closed.
    pub(crate) closed: Decimal,
    /// Of that, what the venue told of, or what would have closed more than was held and did not.
    pub(crate) surely_closed: Decimal,
    /// How much they opened on its side.
    pub(crate) opened: Decimal,
    /// What was paid for that.
    pub(crate) paid: Decimal,
}

/// The price at which a position grew, by what its entry price was and is.
pub(crate) fn added_at(
    (before, before_px): (Decimal, Option<Decimal>),
    (now, now_px): (Decimal, Option<Decimal>),
) -> Option<Decimal> {
    let paid = now.saturating_mul(now_px?).saturating_sub(before.saturating_mul(before_px?));
    paid.checked_div(now.saturating_sub(before)).filter(|px| *px > Decimal::ZERO)
}
