//! Where a stop may stand on one side of a market: on the losing side of the prices, on the tick, inside liquidation.
//!
//! The judge asks it for an entry's stop, protect for a position's; both get the same answer to the same question.

use crate::base::amount::percent_of;
use crate::guard::state::cover::side_covered;
use crate::venue::market::Market;
use crate::venue::order::{Order, OrderKind, TRIGGER_SLIPPAGE_PCT, Tpsl};
use crate::venue::side::PositionSide;
use rust_decimal::Decimal;

/// A stop keeps at least this share of the way to the liquidation price between itself and that price.
const LIQUIDATION_ROOM_PCT: Decimal = Decimal::TEN;

/// The prices that bound where a stop may stand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StopGeometry<'a> {
    pub(crate) market: &'a Market,
    pub(crate) side: PositionSide,
    /// The price that distances are measured from: an entry's limit price, a position's mark.
    pub(crate) from_px: Decimal,
    /// The price that would fire a trigger which it has reached: the mid or the mark.
    pub(crate) market_px: Decimal,
    /// `None` where no price liquidates the position.
    pub(crate) liquidation_px: Option<Decimal>,
}

impl StopGeometry<'_> {
    /// Whether a trigger is on the losing side of both prices: one that is not would fire at once.
    pub(crate) fn is_losing(&self, trigger_px: Decimal) -> bool {
        self.side.losing(trigger_px, self.from_px) && self.side.losing(trigger_px, self.market_px)
    }

    /// Whichever of the two prices is nearer to where the position is stopped out.
    pub(crate) fn far_px(&self) -> Decimal {
        self.side.further_of(self.from_px, self.market_px)
    }

    /// The trigger `percent` percent away, rounded toward the price. A price at the collar with a narrow stop would put
    /// it beyond the market's price, where it fires at once: then it is measured from there.
    pub(crate) fn at_distance(&self, percent: Decimal) -> Option<Decimal> {
        self.losing_px(self.from_px, percent).or_else(|| self.losing_px(self.far_px(), percent))
    }

    fn losing_px(&self, px: Decimal, percent: Decimal) -> Option<Decimal> {
        let away = self.side.away(px, percent_of(px, percent));
        Some(self.market.round_price(away, self.side.gaining_direction())).filter(|px| self.is_losing(*px))
    }

    /// The nearest trigger on the losing side; none under the lowest price.
    pub(crate) fn nearest(&self) -> Option<Decimal> {
        Some(self.market.next_price(self.far_px(), self.side.losing_direction())).filter(|px| self.is_losing(*px))
    }

    /// `trigger_px`, or the farthest trigger with room before the liquidation price; `None` where no trigger on the
    /// losing side has that.
    pub(crate) fn inside_liquidation(&self, trigger_px: Decimal) -> Option<Decimal> {
        let Some(liquidation_px) = self.liquidation_px else { return Some(trigger_px) };
        let room = percent_of(self.from_px.saturating_sub(liquidation_px), LIQUIDATION_ROOM_PCT);
        let limit = self.market.round_price(liquidation_px.saturating_add(room), self.side.gaining_direction());
        if !self.side.nearer(limit, trigger_px) {
            return Some(trigger_px);
        }
        self.is_losing(limit).then_some(limit)
    }
}

/// A reduce-only market stop that covers `size` of one side.
pub(crate) fn stop_order(market: &Market, side: PositionSide, trigger_px: Decimal, size: Decimal) -> Order {
    Order {
        asset: market.asset,
        is_buy: side.closing().is_buy(),
        limit_px: limit_beyond(market, side, trigger_px),
        size,
        reduce_only: true,
        kind: OrderKind::Trigger { is_market: true, trigger_px, tpsl: Tpsl::Sl },
        cloid: None,
    }
}

/// Moves a stop to another trigger, its limit price with it.
pub(crate) fn move_stop(market: &Market, side: PositionSide, stop: &mut Order, wanted_px: Decimal) {
    if let OrderKind::Trigger { trigger_px, .. } = &mut stop.kind
        && *trigger_px != wanted_px
    {
        *trigger_px = wanted_px;
        stop.limit_px = limit_beyond(market, side, wanted_px);
    }
}

/// Gives a market stop whose limit price does not lie beyond its trigger the guard's own: at the asked one it could
/// trigger and not fill. Returns that price where it was changed.
pub(crate) fn make_fillable(market: &Market, stop: &mut Order) -> Option<Decimal> {
    let (trigger_px, side) = (stop.market_stop_px()?, side_covered(stop.is_buy));
    let px = limit_beyond(market, side, trigger_px);
    let cannot_fill = side.nearer(stop.limit_px, trigger_px) && px != stop.limit_px;
    cannot_fill.then(|| stop.limit_px = px).map(|()| px)
}

/// The limit price of a market stop with this trigger: a tick beyond it at least, so that there is room to fill in, but
/// for the lowest price.
fn limit_beyond(market: &Market, side: PositionSide, trigger_px: Decimal) -> Decimal {
    let beyond = side.away(trigger_px, percent_of(trigger_px, TRIGGER_SLIPPAGE_PCT));
    let px = market.round_price(beyond, side.gaining_direction());
    let next = market.next_price(trigger_px, side.losing_direction());
    if px == trigger_px && market.is_price(next) { next } else { px }
}
