//! Fills that no read shows yet, of entries with stops of their own. Those stops may be shown already, and are no cover of what is
//! held: the entry counts with its stop by itself.

use super::{Exposure, MarketExposure, Stop};
use crate::guard::state::cover::{CoverSize, LinePart, total_size};
use crate::venue::side::{PositionSide, Side};
use rust_decimal::Decimal;

impl Exposure {
    /// Takes in what filled of an order that was added: what the venue told, and of that what the position does not show yet,
    /// signed; and what may be `arriving` with its own stop.
    pub(crate) fn add_fills(
        &mut self,
        asset: u32,
        is_buy: bool,
        [told, unshown]: [Decimal; 2],
        arriving: Option<LinePart>,
    ) {
        let Some(market) = self.markets.get_mut(&asset) else { return };
        market.told = market.told.saturating_add(unshown);
        let side = market.side_mut(PositionSide::opened_by(Side::of(is_buy)));
        side.told = side.told.saturating_add(told);
        side.arriving.extend(arriving);
        if arriving.is_some() {
            self.refresh(asset);
        }
    }
}

impl MarketExposure {
    /// The size of what may be arriving on one side.
    pub(super) fn arriving(&self, side: PositionSide) -> Decimal {
        total_size(&self.side(side).arriving)
    }

    /// The stops of one side in the order in which they cover what is held, the nearest in front: those that came with what is
    /// arriving only where no others are left.
    pub(super) fn stops_of_held(&self, side: PositionSide) -> Vec<Stop> {
        let mut arriving = self.side(side).arriving.clone();
        let (mut of_held, mut of_arriving) = (Vec::new(), Vec::new());
        for stop in self.stops(side) {
            let CoverSize::Part(mut size) = stop.size else {
                of_held.push(*stop);
                continue;
            };
            for part in arriving.iter_mut().filter(|part| part.px == stop.px) {
                let its = part.size.min(size);
                (part.size, size) = (part.size.saturating_sub(its), size.saturating_sub(its));
                of_arriving.push(Stop { size: CoverSize::Part(its), ..*stop });
            }
            of_held.push(Stop { size: CoverSize::Part(size), ..*stop });
        }
        of_held.extend(of_arriving);
        of_held
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rust_decimal::dec;

    fn stop(px: Decimal, size: Decimal) -> Stop {
        Stop { px, size: CoverSize::Part(size) }
    }

    #[test]
    fn what_is_arriving_lends_its_stop_last() {
        let mut market = MarketExposure::default();
        market.short.stops = vec![stop(dec!(2062), dec!(1.7)), stop(dec!(2093), dec!(2))];
        assert_eq!(market.stops_of_held(PositionSide::Short), market.short.stops);
        market.short.arriving = vec![LinePart { px: dec!(2062), size: dec!(1.5) }];
        let in_order = [stop(dec!(2062), dec!(0.2)), stop(dec!(2093), dec!(2)), stop(dec!(2062), dec!(1.5))];
        assert_eq!(market.stops_of_held(PositionSide::Short), in_order);
        // Its stop is not shown yet; and one of the whole position covers whatever comes.
        market.short.arriving = vec![LinePart { px: dec!(2070), size: dec!(1.5) }];
        assert_eq!(market.stops_of_held(PositionSide::Short), market.short.stops);
        market.short.stops = vec![Stop { px: dec!(2070), size: CoverSize::Whole }];
        assert_eq!(market.stops_of_held(PositionSide::Short), market.short.stops);
    }

    /// Short 2 with a stop 63 away, and 1.7 more that are not shown yet but for their stop, 32 away: those count as the entry that
    /// they are, and lower no loss of the position.
    #[test]
    fn the_position_loses_what_it_does_without_it() {
        let stops = vec![stop(dec!(2062), dec!(1.7)), stop(dec!(2093), dec!(2))];
        let mut market = MarketExposure { position: dec!(-2), mid: Some(dec!(2030)), ..MarketExposure::default() };
        market.short.stops = stops;
        assert_eq!(market.position_loss(PositionSide::Short, dec!(2)), dec!(73.3));
        market.short.arriving = vec![LinePart { px: dec!(2062), size: dec!(1.7) }];
        assert_eq!(market.position_loss(PositionSide::Short, dec!(2)), dec!(126));
    }
}
