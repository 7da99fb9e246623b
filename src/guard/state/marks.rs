//! Marks: the prices by which the venue values positions and fires stops. Entries are priced by the mids, and in a thin market
//! whoever quotes there moves the mid alone: where both stand apart, an entry is judged by the worse of them.

use crate::base::amount::percent_of;
use crate::guard::state::view::View;
use crate::venue::side::PositionSide;
use rust_decimal::{Decimal, dec};
use std::collections::BTreeMap;

/// Within so much of the mid the mark counts as the same: a spread, and what moves between two reads.
const SAME_PCT: Decimal = dec!(0.2);

impl View {
    /// Takes in marks by coin, each unless a newer one is held. Those of a list that contradicts the known one may be of other
    /// markets.
    pub(crate) fn set_marks(&mut self, marks: &BTreeMap<String, Decimal>, begun_ms: u64) {
        if self.contradiction.is_some() {
            return;
        }
        for (coin, mark) in marks.iter().filter(|(_, mark)| **mark > Decimal::ZERO) {
            let Some(market) = self.universe.by_coin(coin) else { continue };
            let held = self.marks.entry(market.asset).or_insert((*mark, begun_ms));
            if held.1 <= begun_ms {
                *held = (*mark, begun_ms);
            }
        }
    }

    /// The newest mark, with when the read of it began.
    pub(crate) fn last_mark(&self, asset: u32) -> Option<(Decimal, u64)> {
        let of_position = self.mark(asset).filter(|mark| *mark > Decimal::ZERO);
        let of_position = of_position.zip(self.account.as_ref().map(|account| account.begun_ms));
        of_position.into_iter().chain(self.marks.get(&asset).copied()).max_by_key(|(_, begun_ms)| *begun_ms)
    }

    /// The newest mark where it stands apart from the mid.
    pub(crate) fn mark_apart(&self, asset: u32) -> Option<Decimal> {
        let mid = self.mids.get(&asset)?;
        self.last_mark(asset).map(|(mark, _)| mark).filter(|mark| is_apart(*mid, *mark))
    }

    /// How long ago the newest mark was read.
    pub(crate) fn mark_age_ms(&self, asset: u32, now_ms: u64) -> Option<u64> {
        self.last_mark(asset).map(|(_, begun_ms)| now_ms.saturating_sub(begun_ms))
    }

    /// Whether the mark is known well enough to judge an entry: read within `fresh_ms`, or within `at_mid_ms` and at the mid.
    /// The mid says nothing of where the mark went since: whoever quotes there can hold it.
    pub(crate) fn knows_mark(&self, asset: u32, now_ms: u64, fresh_ms: u64, at_mid_ms: u64) -> bool {
        let longest_ms = if self.mark_apart(asset).is_none() { fresh_ms.max(at_mid_ms) } else { fresh_ms };
        self.mark_age_ms(asset, now_ms).is_some_and(|age_ms| age_ms <= longest_ms)
    }

    /// The worse of mid and mark for who opens this side: what it would get for it at once.
    pub(crate) fn worse_px(&self, asset: u32, side: PositionSide, mid: Decimal) -> Decimal {
        self.mark_apart(asset).map_or(mid, |mark| side.further_of(mid, mark))
    }
}

/// Whether mid and mark are two prices.
pub(crate) fn is_apart(mid: Decimal, mark: Decimal) -> bool {
    mark.saturating_sub(mid).abs() > percent_of(mid, SAME_PCT)
}
