//! A position as fills of an earlier life have made it: what entries with a known stop hold of it, and what of it that life
//! remembered as covered. Facts of fills alone: what follows from them is its line's.

use crate::base::amount::percent_of;
use crate::guard::state::cover::{LinePart, sort_parts, take_front, total_size};
use crate::guard::state::held_now::ENTRY_ROUNDED_PCT;
use crate::record::risk_record::PositionLine;
use crate::venue::side::PositionSide;
use rust_decimal::Decimal;

/// The clock that a line was written by may be behind the venue's by so much.
const CLOCK_OFF_MS: u64 = 1_000;

/// A fill, as far as it matters here.
#[derive(Debug, Clone)]
pub(crate) struct Filled {
    /// When it was at the venue.
    pub(crate) time_ms: u64,
    /// The signed position before it, and by how much it moved that.
    pub(crate) before: Decimal,
    pub(crate) change: Decimal,
    pub(crate) px: Decimal,
    /// Where what its entry opens is stopped out, where that is known.
    pub(crate) stop_px: Option<Decimal>,
}

/// A position as its line was remembered.
#[derive(Debug, Clone)]
pub(crate) struct Remembered {
    /// Signed.
    size: Decimal,
    entry_px: Option<Decimal>,
    parts: Vec<LinePart>,
    /// When that was written down.
    at_ms: u64,
}

impl Remembered {
    pub(crate) fn of(line: &PositionLine, at_ms: u64) -> Self {
        let side = if line.is_long { PositionSide::Long } else { PositionSide::Short };
        let parts = line.parts.iter().map(|(px, size)| LinePart { px: *px, size: *size }).collect();
        Self { size: line.held.saturating_mul(side.sign()), entry_px: line.entry_px, parts, at_ms }
    }
}

/// The position.
#[derive(Debug, Default)]
pub(crate) struct HeldAway {
    /// Signed.
    pub(crate) size: Decimal,
    /// `None` where its fills are not told from its beginning.
    entry_px: Option<Decimal>,
    /// What entries with a known stop hold of it, by that.
    pub(crate) known: Vec<LinePart>,
    /// What of it was remembered, by what it was covered at.
    pub(crate) kept: Vec<LinePart>,
}

impl HeldAway {
    /// After these fills.
    pub(crate) fn after<'a>(fills: impl Iterator<Item = &'a Filled>, remembered: Option<&Remembered>) -> Self {
        let mut held = Self::default();
        let mut is_first = true;
        for fill in fills {
            if held.size != fill.before || is_first {
                // Something between is not told: nobody knows what is left of what was there.
                held = Self { size: fill.before, ..Self::default() };
                let is_it = |remembered: &&Remembered| remembered.size == fill.before;
                held.kept = remembered.filter(is_it).map(|remembered| remembered.parts.clone()).unwrap_or_default();
            }
            is_first = false;
            held.add(fill);
            if let Some(remembered) = remembered.filter(|remembered| held.is_it(remembered, fill.time_ms)) {
                held.kept = remembered.parts.clone();
                // The rest of it may be any of what entries opened: the nearer ones.
                let rest = held.size.abs().saturating_sub(total_size(&held.kept));
                let known = total_size(&held.known);
                held.known.reverse();
                take_front(&mut held.known, known.saturating_sub(rest));
                held.known.reverse();
            }
        }
        held
    }

    pub(crate) fn side(&self) -> Option<PositionSide> {
        PositionSide::of(self.size)
    }

    /// Whether it is, at this time, as it was remembered: what filled until then is in that. One that is as large and was opened at
    /// the same price later is another.
    fn is_it(&self, remembered: &Remembered, time_ms: u64) -> bool {
        let is_then = time_ms <= remembered.at_ms.saturating_add(CLOCK_OFF_MS) && self.size == remembered.size;
        let prices = self.entry_px.zip(remembered.entry_px).filter(|_| is_then);
        prices.is_some_and(|(px, known)| px.saturating_sub(known).abs() <= percent_of(known, ENTRY_ROUNDED_PCT))
    }

    fn add(&mut self, fill: &Filled) {
        let (before, after) = (self.size, self.size.saturating_add(fill.change));
        let is_same_side = !after.is_zero() && after.is_sign_positive() == before.is_sign_positive();
        let is_anew = before.is_zero() || !is_same_side;
        if is_anew {
            (self.known, self.kept) = (Vec::new(), Vec::new());
        }
        let opened = if is_anew { after.abs() } else { after.abs().saturating_sub(before.abs()) };
        self.size = after;
        if opened > Decimal::ZERO {
            let paid =
                self.entry_px.map(|px| px.saturating_mul(before.abs()).saturating_add(fill.px.saturating_mul(opened)));
            self.entry_px = if is_anew { Some(fill.px) } else { paid.and_then(|paid| paid.checked_div(after.abs())) };
            self.known.extend(fill.stop_px.map(|px| LinePart { px, size: opened }));
        } else {
            self.close(-opened);
        }
    }

    /// Takes away what was closed: the nearer stops are hit first.
    pub(crate) fn close(&mut self, size: Decimal) {
        let Some(side) = self.side() else { return };
        let mut left = size;
        let mut all: Vec<&mut LinePart> = self.known.iter_mut().chain(&mut self.kept).collect();
        all.sort_by_key(|part| -part.px.saturating_mul(side.sign()));
        for part in all {
            let gone = left.min(part.size);
            (part.size, left) = (part.size.saturating_sub(gone), left.saturating_sub(gone));
        }
        for parts in [&mut self.known, &mut self.kept] {
            parts.retain(|part| part.size > Decimal::ZERO);
            sort_parts(side, parts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rust_decimal::dec;

    /// A position that changes at these prices, by entries with these stops, from `before` on.
    fn after(before: Decimal, steps: &[(Decimal, Decimal, Option<Decimal>)], remembered: &Remembered) -> HeldAway {
        let mut held = before;
        let fills = (1..).zip(steps).map(|(second, (change, px, stop_px))| {
            let fill = Filled { time_ms: second * 1_000, before: held, change: *change, px: *px, stop_px: *stop_px };
            held += change;
            fill
        });
        HeldAway::after(fills.collect::<Vec<_>>().iter(), Some(remembered))
    }

    fn parts(parts: &[(Decimal, Decimal)]) -> Vec<LinePart> {
        parts.iter().map(|(px, size)| LinePart { px: *px, size: *size }).collect()
    }

    /// Twenty, bought at 99.2, and covered at 99; after the third fill at the latest.
    fn remembered() -> Remembered {
        Remembered { size: dec!(20), entry_px: Some(dec!(99.2)), parts: parts(&[(dec!(99), dec!(20))]), at_ms: 2_000 }
    }

    const FIRST: (Decimal, Decimal, Option<Decimal>) = (dec!(20), dec!(100), Some(dec!(97)));
    const STOPPED: (Decimal, Decimal, Option<Decimal>) = (dec!(-20), dec!(97), None);
    const AGAIN: (Decimal, Decimal, Option<Decimal>) = (dec!(20), dec!(99.2), Some(dec!(98)));
    const MORE: (Decimal, Decimal, Option<Decimal>) = (dec!(5), dec!(90), Some(dec!(89)));

    /// As large at another price before it was opened anew, and what came to it since.
    #[test]
    fn it_is_what_was_remembered_by_size_and_price() {
        let held = after(dec!(0), &[FIRST, STOPPED, AGAIN, MORE], &remembered());
        assert_eq!((held.kept, held.known), (parts(&[(dec!(99), dec!(20))]), parts(&[(dec!(89), dec!(5))])));
        let held = after(dec!(0), &[FIRST, MORE], &remembered());
        assert_eq!((held.kept, held.known), (parts(&[]), parts(&[(dec!(97), dec!(20)), (dec!(89), dec!(5))])));
    }

    #[test]
    fn it_is_another_once_all_of_it_was_closed() {
        for gone in [STOPPED, (dec!(-30), dec!(97), None)] {
            let held = after(dec!(0), &[AGAIN, gone, (dec!(30), dec!(98), Some(dec!(95)))], &remembered());
            assert_eq!(held.kept, parts(&[]), "{gone:?}");
            assert_eq!(held.known.iter().map(|part| part.px).collect::<Vec<_>>(), [dec!(95)], "{gone:?}");
        }
    }

    /// As large and at the same price, but later than it was written down.
    #[test]
    fn it_is_another_that_was_opened_later() {
        let held = after(dec!(0), &[AGAIN, STOPPED, AGAIN], &remembered());
        assert_eq!(held.kept.len(), 1, "within what clocks are off");
        let held = after(dec!(0), &[AGAIN, STOPPED, FIRST, STOPPED, AGAIN], &remembered());
        assert_eq!((held.kept, held.known), (parts(&[]), parts(&[(dec!(98), dec!(20))])));
    }

    /// Where its beginning is not told its size alone tells, once.
    #[test]
    fn it_goes_on_where_the_fills_begin() {
        assert_eq!(after(dec!(20), &[MORE], &remembered()).kept, parts(&[(dec!(99), dec!(20))]));
        assert_eq!(after(dec!(25), &[(dec!(-5), dec!(90), None)], &remembered()).kept, parts(&[]));
    }

    #[test]
    fn the_nearer_stops_were_hit_first() {
        let closed = |size: Decimal| after(dec!(20), &[MORE, (-size, dec!(88), None)], &remembered());
        let held = closed(dec!(8));
        assert_eq!((held.kept, held.known), (parts(&[(dec!(99), dec!(12))]), parts(&[(dec!(89), dec!(5))])));
        let held = closed(dec!(21));
        assert_eq!((held.kept, held.known), (parts(&[]), parts(&[(dec!(89), dec!(4))])));
    }

    /// What its line did not know yet may be any of what entries opened.
    #[test]
    fn of_what_was_not_covered_yet_the_nearer_stops_count() {
        let half = Remembered { parts: parts(&[(dec!(99), dec!(12))]), entry_px: Some(dec!(99.6)), ..remembered() };
        let two = [(dec!(10), dec!(99.2), Some(dec!(98))), (dec!(10), dec!(100), Some(dec!(97)))];
        let held = after(dec!(0), &two, &half);
        assert_eq!((held.kept, held.known), (parts(&[(dec!(99), dec!(12))]), parts(&[(dec!(98), dec!(8))])));
    }
}
