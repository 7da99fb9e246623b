//! The sums of all entries of one side of a market, kept while entries are added and taken back: a request may bring a thousand, and the
//! last one is to cost no more than the first.

use super::{Figures, MarketExposure, SideExposure, Sum, unit_loss};
use crate::guard::state::entry_leg::EntryLeg;
use crate::venue::side::PositionSide;
use rust_decimal::Decimal;

impl MarketExposure {
    /// All entries of one side.
    pub(super) fn sum(&self, side: PositionSide) -> Sum {
        self.side(side).sums.last().copied().unwrap_or_default()
    }

    /// Sums up the entries of one side that were not: what each costs, whatever position it would close as things stand: that may be
    /// gone before it fills.
    pub(super) fn sum_up(&mut self, side: PositionSide, stop_pct: Decimal) {
        let mut sum = self.sum(side);
        let SideExposure { entries, sums, .. } = self.side(side);
        let new = entries.iter().skip(sums.len()).map(|leg| {
            let cost = self.cost(side, leg, stop_pct);
            sum.figures.notional = sum.figures.notional.saturating_add(cost.notional);
            sum.figures.loss = sum.figures.loss.saturating_add(cost.loss);
            if !leg.may_rest {
                sum.immediate = sum.immediate.saturating_add(leg.size);
            }
            if !leg.stop.is_some_and(|stop| stop.is_own) {
                sum.bare = sum.bare.saturating_add(leg.size);
            }
            sum
        });
        let new: Vec<Sum> = new.collect();
        self.side_mut(side).sums.extend(new);
    }

    /// What one entry could come to.
    fn cost(&self, side: PositionSide, leg: &EntryLeg, stop_pct: Decimal) -> Figures {
        // Who enters away from the mark loses that much at once, wherever its stop stands.
        let at_once = self.mark.map_or(Decimal::ZERO, |mark| side.loss(leg.px, mark));
        let loss = unit_loss(side, leg.px, leg.stop.map(|stop| stop.px), stop_pct).max(at_once);
        let value = self.unit_value(side.opening(), leg.px);
        Figures { notional: value.saturating_mul(leg.size), loss: loss.saturating_mul(leg.size) }
    }
}

#[cfg(test)]
mod tests {
    use crate::guard::state::entry_leg::{EntryLeg, StopAt};
    use crate::guard::state::exposure::Exposure;
    use crate::guard::state::view::View;
    use crate::venue::side::PositionSide;
    use proptest::prelude::*;
    use rust_decimal::Decimal;

    const ASSET: u32 = 1;

    /// What would be found by summing everything up again.
    fn anew(exposure: &Exposure) -> Exposure {
        let mut anew = exposure.clone();
        for market in anew.markets.values_mut() {
            market.long.sums.clear();
            market.short.sums.clear();
        }
        anew.refresh(ASSET);
        anew
    }

    fn leg((size, px, stop, may_rest): (u32, u32, u32, bool)) -> EntryLeg {
        let stop = (stop > 0).then(|| StopAt { px: Decimal::from(stop), is_own: stop.is_multiple_of(2) });
        EntryLeg { size: Decimal::new(i64::from(size), 1), px: Decimal::from(px), stop, may_rest }
    }

    proptest! {
        #[test]
        fn they_are_those_of_all_entries_whatever_comes_and_goes(
            steps in prop::collection::vec((0..5_u8, any::<bool>(), (1..9_u32, 90..110_u32, 0..9_u32, any::<bool>())), 1..40),
        ) {
            let (view, mut exposure) = (View::default(), Exposure { stop_pct: Decimal::TWO, ..Exposure::default() });
            let mut added = Vec::new();
            for (what, is_buy, of) in steps {
                match what {
                    0..3 => {
                        exposure.add(&view, ASSET, is_buy, false, leg(of));
                        added.push((is_buy, leg(of)));
                    }
                    3 => exposure.take_back(ASSET, is_buy),
                    _ => if let Some((is_buy, leg)) = added.pop() {
                        exposure.remove_entry(ASSET, is_buy, leg);
                    },
                }
                if let Some(market) = exposure.markets.get_mut(&ASSET).filter(|_| what == 2) {
                    market.mark = Some(Decimal::from(of.1));
                    market.long.sums.clear();
                    market.short.sums.clear();
                    exposure.refresh(ASSET);
                }
                let anew = anew(&exposure);
                prop_assert_eq!((exposure.figures(ASSET), exposure.totals()), (anew.figures(ASSET), anew.totals()));
                for side in PositionSide::BOTH {
                    let legs = exposure.markets.get(&ASSET).into_iter().flat_map(|market| &market.side(side).entries);
                    let (mut immediate, mut bare) = (Decimal::ZERO, Decimal::ZERO);
                    for leg in legs {
                        immediate += if leg.may_rest { Decimal::ZERO } else { leg.size };
                        bare += if leg.stop.is_some_and(|stop| stop.is_own) { Decimal::ZERO } else { leg.size };
                    }
                    let sum = exposure.markets.get(&ASSET).map(|market| market.sum(side)).unwrap_or_default();
                    prop_assert_eq!((sum.immediate, sum.bare), (immediate, bare), "{:?}", side);
                }
            }
        }
    }
}
